//! The state of the GPU while something is measured, as the driver's tool `nvidia-smi` reports it.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use crate::record::Conditions;

/// What the tool is asked for, in the order of the columns of [`parse`].
const QUERY: &str = "--query-gpu=clocks.sm,clocks.mem,power.draw,temperature.gpu,clocks_event_reasons.active";
/// The columns that are numbers. The reasons, as a mask of bits, come after them.
const NUMBERS: usize = 4;
/// Milliseconds between two looks.
const BETWEEN: &str = "500";

/// The bit of a GPU without work, which is no reason that holds clocks back.
const IDLE: u64 = 0x1;
/// The reasons that hold clocks back, by their bits.
const REASONS: [(u64, &str); 8] = [
    (0x2, "applications clocks"),
    (0x4, "power cap"),
    (0x8, "hardware slowdown"),
    (0x10, "sync boost"),
    (0x20, "software thermal slowdown"),
    (0x40, "hardware thermal slowdown"),
    (0x80, "power brake"),
    (0x100, "display clock setting"),
];

/// A process that looks at the GPU until it is finished or dropped.
pub struct Watch {
    child: Child,
    reader: Option<JoinHandle<String>>,
}

impl Watch {
    /// Begins to look at a GPU, by its number; none where the driver's tool is not there.
    pub fn start(gpu: u32) -> Option<Watch> {
        let id = format!("--id={gpu}");
        Watch::spawn(Command::new("nvidia-smi").args([&id, QUERY, "--format=csv,noheader,nounits", "-lms", BETWEEN]))
    }

    fn spawn(command: &mut Command) -> Option<Watch> {
        let quiet = command.stdin(Stdio::null()).stderr(Stdio::null());
        let mut child = quiet.stdout(Stdio::piped()).spawn().ok()?;
        let reader = child.stdout.take().map(|mut output| {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                // What came before an error is kept.
                let _ = output.read_to_end(&mut text);
                String::from_utf8_lossy(&text).into_owned()
            })
        });
        Some(Watch { child, reader })
    }

    /// Ends the looking, and returns what was seen; none where the tool had nothing to say.
    pub fn finish(mut self) -> Option<Conditions> {
        self.stop();
        parse(&self.reader.take()?.join().ok()?)
    }

    fn stop(&mut self) {
        // An error says that it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop();
    }
}

/// One line of the tool.
struct Look {
    /// None where the tool prints `[N/A]`.
    numbers: [Option<f64>; NUMBERS],
    reasons: u64,
}

impl Look {
    /// Reads a line; none if it has not all columns.
    fn of(line: &str) -> Option<Look> {
        let columns: Vec<&str> = line.split(',').map(str::trim).collect();
        let (reasons, numbers) = columns.split_last()?;
        let numbers: &[&str; NUMBERS] = numbers.try_into().ok()?;
        let numbers = numbers.map(|number| number.parse::<f64>().ok().filter(|number| number.is_finite()));
        let digits = reasons.trim_start_matches("0x");
        Some(Look { numbers, reasons: u64::from_str_radix(digits, 16).unwrap_or(0) })
    }
}

/// Reads the tool's lines; none if one of the numbers is in none of them.
///
/// Looks at a GPU without work say nothing of a measurement: they count only where there are no
/// others. The last line counts only if it is whole.
fn parse(text: &str) -> Option<Conditions> {
    let whole = &text[..=text.rfind('\n')?];
    let looks: Vec<Look> = whole.lines().filter_map(Look::of).collect();
    let (mut seen, idle): (Vec<Look>, Vec<Look>) = looks.into_iter().partition(|look| look.reasons & IDLE == 0);
    if seen.is_empty() {
        seen = idle;
    }
    let range = |column: usize| {
        let numbers = || seen.iter().filter_map(|look| look.numbers[column]);
        Some([numbers().min_by(f64::total_cmp)?, numbers().max_by(f64::total_cmp)?])
    };
    let reasons = seen.iter().fold(0, |all, look| all | look.reasons);
    Some(Conditions {
        looks: seen.len(),
        clock_mhz: range(0)?,
        memory_mhz: range(1)?,
        power_watts: range(2)?,
        celsius: range(3)?,
        throttled: names(reasons),
    })
}

/// The reasons of a mask, one without a name by its bit.
fn names(mask: u64) -> Vec<String> {
    let bits = (0..u64::BITS).map(|place| 1 << place).filter(|bit| mask & bit != 0 && *bit != IDLE);
    bits.map(|bit| match REASONS.iter().find(|(known, _)| *known == bit) {
        Some((_, name)) => (*name).to_owned(),
        None => format!("reason {bit:#x}"),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALM: &str = "1980, 3201, 612.34, 52, 0x0000000000000000\n";

    #[test]
    fn the_least_and_the_greatest_of_all_looks_are_kept() {
        let text = format!("{CALM}1755, 3201, 698.50, 61, 0x0000000000000004\n");
        let conditions = parse(&text).unwrap();
        assert_eq!((conditions.looks, conditions.clock_mhz, conditions.memory_mhz), (2, [1755.0, 1980.0], [3201.0; 2]));
        assert_eq!((conditions.power_watts, conditions.celsius), ([612.34, 698.5], [52.0, 61.0]));
        assert_eq!(conditions.throttled, ["power cap"]);
    }

    #[test]
    fn a_cut_last_line_does_not_count() {
        // A temperature of 5 instead of 52, and a mask that lacks its end.
        for cut in ["1980, 3201, 612.34, 5", "1980, 3201, 612.34, 5, 0x00", "19"] {
            assert_eq!(parse(&format!("{CALM}{cut}")), parse(CALM), "{cut}");
        }
        assert!(parse(CALM).is_some());
        assert_eq!(parse(CALM.trim_end()), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn what_is_not_available_does_not_count() {
        let lines = format!("1200, 3201, [N/A], 40, [N/A]\n{CALM}");
        let conditions = parse(&lines).unwrap();
        assert_eq!(
            (conditions.looks, conditions.clock_mhz, conditions.power_watts),
            (2, [1200.0, 1980.0], [612.34; 2])
        );
        assert_eq!(conditions.throttled, [""; 0]);
        assert_eq!(parse("1980, 3201, [N/A], 52, 0x0\n"), None, "power is in no line");
        assert_eq!(parse("Field \"clocks_event_reasons.active\" is not a valid field to query.\n"), None);
    }

    #[test]
    fn looks_at_an_idle_gpu_count_only_where_there_are_no_others() {
        let idle = "345, 3201, 75.10, 30, 0x0000000000000001\n";
        assert_eq!(parse(&format!("{idle}{CALM}")), parse(CALM));
        let conditions = parse(idle).unwrap();
        assert_eq!((conditions.looks, conditions.clock_mhz), (1, [345.0; 2]));
        assert_eq!(conditions.throttled, [""; 0], "an idle GPU is not held back");
    }

    #[test]
    fn every_bit_of_the_mask_has_a_name() {
        assert_eq!(names(0), [""; 0]);
        assert_eq!(names(0x64), ["power cap", "software thermal slowdown", "hardware thermal slowdown"]);
        assert_eq!(names(0x1ff), REASONS.map(|(_, name)| name));
        assert_eq!(names(0x201), ["reason 0x200"]);
    }

    #[test]
    #[cfg(unix)]
    fn what_a_process_prints_until_it_is_ended_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let printed = folder.path().join("printed");
        let script = format!("printf '{CALM}19'; : >\"$0\"; exec sleep 600");
        let watch = Watch::spawn(Command::new("sh").args(["-c", &script]).arg(&printed)).unwrap();
        while !printed.exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(watch.finish(), parse(CALM));
        assert!(Watch::spawn(&mut Command::new("tilepipe-no-such-program")).is_none());
    }
}
