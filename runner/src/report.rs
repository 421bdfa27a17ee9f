//! Tables for people, and a last line for programs.

use std::fmt::Display;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, Table};

use crate::stdout::counted;

use crate::attention;
use crate::execute::{Outcome, Row};
use crate::plan::axis;
use crate::plan::catalog::Kernel;
use crate::product;

/// The kernels with what they take and the values of their generic arguments.
pub fn list(kernels: &[Kernel]) -> String {
    let mut table = new_table(["kernel", "inputs", "types", "blocks", "stages", "variants"]);
    for kernel in kernels {
        let variants = &kernel.instances;
        let stages = values(variants.iter().filter_map(|variant| variant.stages));
        let names = kernel.variant_names().map(|name| format!("{name}={}", kernel.variant_values(name).join(", ")));
        let arrays = kernel.kind().inputs() + usize::from(kernel.kind().takes_indices());
        let inputs = match (arrays, kernel.kind().dimensions()) {
            (count, 1) => counted(count, "row"),
            (1, 2) => "1 matrix".to_owned(),
            (count, 2) => format!("{count} matrices"),
            (1, _) => "1 batch".to_owned(),
            (count, _) => format!("{count} batches"),
        };
        table.add_row([
            kernel.name.to_owned(),
            inputs,
            values(variants.iter().map(|variant| variant.dtype)),
            values(variants.iter().map(|variant| variant.block)),
            if stages.is_empty() { "fixed".to_owned() } else { stages },
            names.collect::<Vec<_>>().join("\n"),
        ]);
    }
    let types = values(product::DTYPES.into_iter());
    table.add_row([product::KERNEL, "2 matrices", &types, &product::THREADS.to_string(), "fixed", ""]);
    table.add_row([attention::KERNEL, "3 matrices", &types, "fixed", "fixed", "HEAD=.., SEQUENCES=.., CAUSAL=.."]);
    table.to_string()
}

/// The results, and under them each failure's message in full; `quiet` leaves out what is verified.
pub fn table(rows: &[Row], quiet: bool) -> String {
    let mut table =
        new_table(["kernel", "type", "block", "stages", "variant", "device", "elements", "time", "GB/s", "result"]);
    let mut notes = String::new();
    for row in rows.iter().filter(|row| !(quiet && row.outcome.is_verified())) {
        let (milliseconds, result) = match &row.outcome {
            Outcome::Verified { milliseconds } => (Some(*milliseconds), "verified".to_owned()),
            Outcome::Different { milliseconds, difference } => {
                notes += &format!("\n{}: {difference}", row.name);
                (Some(*milliseconds), format!("DIFFERS at {}", difference.index))
            }
            Outcome::Failed(message) => {
                notes += &format!("\n{}: {message}", row.name);
                (None, "FAILED".to_owned())
            }
            Outcome::NotRun => (None, "not run".to_owned()),
        };
        let bytes = row.bytes as f64;
        table.add_row([
            Cell::new(row.kernel),
            Cell::new(row.dtype),
            number(Some(row.block)),
            number(row.stages),
            Cell::new(&row.text),
            Cell::new(row.device),
            number(Some(row.shape)),
            number(milliseconds.map(duration)),
            number(milliseconds.map(|milliseconds| format!("{:.1}", bytes / (milliseconds * 1e6)))),
            Cell::new(result),
        ]);
    }
    if rows.iter().any(|row| matches!(row.outcome, Outcome::NotRun)) {
        notes += "\nnot run: the GPU is unusable since the failure above; run them alone with --kernel";
    }
    format!("{table}{notes}")
}

/// How many came out how: the last line of a run.
pub fn summary(rows: &[Row]) -> String {
    let count = |matches: fn(&Outcome) -> bool| rows.iter().filter(|row| matches(&row.outcome)).count();
    let different = count(|outcome| matches!(outcome, Outcome::Different { .. }));
    format!(
        "{}: {} verified, {different} {}, {} failed, {} not run",
        counted(rows.len(), "configuration"),
        count(Outcome::is_verified),
        if different == 1 { "differs" } else { "differ" },
        count(|outcome| matches!(outcome, Outcome::Failed(_))),
        count(|outcome| matches!(outcome, Outcome::NotRun)),
    )
}

fn new_table<const COLUMNS: usize>(header: [&str; COLUMNS]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(header);
    table
}

fn number(value: Option<impl Display>) -> Cell {
    Cell::new(value.map_or_else(|| "-".to_owned(), |value| value.to_string())).set_alignment(CellAlignment::Right)
}

fn duration(milliseconds: f64) -> String {
    if milliseconds < 1.0 { format!("{:.1} us", milliseconds * 1e3) } else { format!("{milliseconds:.2} ms") }
}

/// The distinct values in order, separated by commas.
fn values<T: Ord + Display>(values: impl Iterator<Item = T>) -> String {
    axis::join(axis::distinct(values))
}
