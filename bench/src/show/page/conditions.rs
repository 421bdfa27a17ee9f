//! Under which conditions a record was measured.

use maud::{Markup, html};

use crate::record::{Conditions, Process, Report};

/// Returns the page's last section: the GPU, and each process that measured.
pub fn section(report: &Report) -> Markup {
    let Report { gpu, compute_capability, driver, date, commit, command, .. } = report;
    let facts = [("GPU", gpu), ("compute capability", compute_capability), ("driver", driver), ("date", date)];
    html! {
        section {
            h2 { "Conditions" }
            dl {
                @for (name, value) in facts { (fact(name, value)) }
                (fact("commit", commit))
                div { dt { "command" } dd { code { (command) } } }
            }
            @if report.processes.is_empty() {
                p.soft { "This record does not say more of the processes that measured." }
            }
            @for (at, process) in report.processes.iter().enumerate() {
                h3 { "Process " (at + 1) " of " (report.processes.len()) }
                (of_process(process))
            }
        }
    }
}

fn of_process(process: &Process) -> Markup {
    let Process { date, commit, command, seed, conditions, versions, copy: _ } = process;
    html! {
        dl {
            (fact("date", date))
            (fact("commit", commit))
            div { dt { "command" } dd { code { (command) } } }
            (fact("seed", &seed.to_string()))
            @match conditions {
                Some(conditions) => (of_gpu(conditions)),
                None => (fact("GPU's state", "not on record")),
            }
            @if !versions.is_empty() {
                @let versions: Vec<String> = versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
                (fact("versions", &versions.join(", ")))
            }
        }
    }
}

fn of_gpu(conditions: &Conditions) -> Markup {
    let Conditions { looks, clock_mhz, memory_mhz, power_watts, celsius, throttled } = conditions;
    html! {
        (fact("clock", &range(clock_mhz, "MHz")))
        (fact("memory's clock", &range(memory_mhz, "MHz")))
        (fact("power", &range(power_watts, "W")))
        (fact("temperature", &range(celsius, "°C")))
        div {
            dt { "held back" }
            @if throttled.is_empty() { dd { "at none of " (looks) " looks" } }
            @else { dd.short { (throttled.join(", ")) } }
        }
    }
}

/// The least and the greatest of several looks, or the one that they all saw.
fn range([least, greatest]: &[f64; 2], unit: &str) -> String {
    if least == greatest { format!("{least} {unit}") } else { format!("{least} to {greatest} {unit}") }
}

fn fact(name: &str, value: &str) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}
