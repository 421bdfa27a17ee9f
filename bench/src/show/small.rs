//! Small sizes: their tables, and their charts over sizes.

use comfy_table::Table;
use maud::{Markup, html};

use crate::record::small::{AXIS, AtGrid, Contestant, Pick, Small, by_task, size};
use crate::record::{Class, Report};
use crate::show::chart::{Chart, Curve, Scale, class_name, class_style};
use crate::show::table::{headed, number};
use crate::show::tasks::with_interval;

/// What is measured.
pub const TITLE: &str = "small sizes, in graphs";

/// How it is measured.
pub const TEXT: &str = "Launches of a small size are put into CUDA graphs of a hundred. Each launch reads and writes the next of a ring of buffers, which \
    together have three times the bytes of the L2 cache at least: so nothing stays there until its next use. In a process each round replays one graph of \
    every contestant with every grid, in an order that is drawn at random, with an event between any two; a time is that of a graph over its launches. Before \
    the timed rounds and after them every graph runs over outputs filled with poison, all of which are compared with a reference. Every contestant counts with the \
    grid that it is fastest with (a block for each tile, or as many as run at once), and every kind with its fastest contestant.";

/// Columns of the table of a task.
const HEADINGS: [&str; 8] =
    ["best other / ours", "size", "ours, µs", "our fastest", "best other, µs", "best other", "wanted", ""];

/// Returns a task's sizes as a table for a terminal.
pub fn table(sizes: &[&Small]) -> Table {
    let mut table = headed(HEADINGS);
    for one in sizes {
        table.add_row(cells(one).map(number));
    }
    table
}

/// The row of one size, in the order of the columns.
fn cells(one: &Small) -> [String; 8] {
    let ratio = one.ratio.map_or_else(String::new, |ratio| with_interval(ratio.median, one.interval));
    let time = |pick: &Option<Pick>| pick.as_ref().map_or_else(String::new, |pick| micro(pick.microseconds));
    let name = |pick: &Option<Pick>| {
        let text = |pick: &Pick| format!("{}, {}", pick.name, grid(&pick.blocks, pick.grid));
        pick.as_ref().map_or_else(String::new, text)
    };
    [
        ratio,
        size(one.bytes),
        time(&one.ours),
        name(&one.ours),
        time(&one.other),
        name(&one.other),
        format!("{:.2}", one.wanted),
        state(one).to_owned(),
    ]
}

/// What is to be known of a size: that results are wrong, or ours is slower than wanted.
fn state(one: &Small) -> &'static str {
    match (one.all().any(|(_, at)| at.fault.is_some()), one.ratio.is_some() && !one.met) {
        (true, _) => "WRONG",
        (false, true) => "BELOW",
        (false, false) => "",
    }
}

fn micro(microseconds: f64) -> String {
    format!("{microseconds:.3}")
}

fn grid(blocks: &str, grid: Option<u32>) -> String {
    grid.map_or_else(|| blocks.to_owned(), |number| format!("{blocks} ({number})"))
}

/// Returns two charts for each task, each with its title: microseconds of a launch, and speeds over
/// that of the fastest.
pub fn charts(report: &Report) -> Vec<(String, String)> {
    let mut charts = Vec::new();
    for (task, sizes) in by_task(&report.sizes) {
        for (what, quantity, digits, scale, value) in [
            ("time of a launch", "µs", 3, Scale::Doubling, microseconds as Value),
            ("speed, of the fastest", "of the fastest", 3, Scale::Near, speed),
        ] {
            let title = format!("{task}: {what}");
            let chart = Chart {
                title: &title,
                axis: AXIS,
                unit: "bytes",
                quantity,
                digits,
                scale,
                curves: classes(&sizes).into_iter().map(|class| curve(&sizes, class, value)).collect(),
            };
            charts.extend(chart.svg().map(|svg| (title.clone(), svg)));
        }
    }
    charts
}

/// What a chart draws of a class at one size.
type Value = fn(&Small, Class) -> Option<f64>;

fn microseconds(one: &Small, class: Class) -> Option<f64> {
    let (_, at) = one.fastest(|other| other == class)?;
    Some(1000.0 * at.milliseconds()?)
}

/// How many times as fast as the fastest of all it is: at most 1.
fn speed(one: &Small, class: Class) -> Option<f64> {
    let (_, best) = one.fastest(|_| true)?;
    Some(1000.0 * best.milliseconds()? / microseconds(one, class)?)
}

/// The classes of a task, ours first.
fn classes(sizes: &[&Small]) -> Vec<Class> {
    let mut classes: Vec<Class> = sizes.iter().flat_map(|one| one.classes()).collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}

fn curve(sizes: &[&Small], class: Class, value: Value) -> Curve {
    Curve {
        name: class_name(class).to_owned(),
        style: class_style(class),
        points: sizes.iter().map(|one| (one.bytes as f64, value(one, class))).collect(),
    }
}

/// Returns the tables of the page: of each task its sizes, and below them all contestants.
pub fn tables(report: &Report) -> Markup {
    html! {
        @for (task, sizes) in by_task(&report.sizes) {
            h3 { (task) }
            @for one in &sizes { @for fault in one.faults() { p.short { (fault) } } }
            div.wide { table {
                thead { tr { @for name in HEADINGS { th { (name) } } } }
                tbody { @for one in &sizes { tr {
                    @let [ratio, size, ours, our_name, other, other_name, wanted, state] = cells(one);
                    @let is_short = !state.is_empty() || one.is_below();
                    td.number.short[is_short] { (ratio) } td.number { (size) }
                    td.number { (ours) } td { (our_name) } td.number { (other) } td { (other_name) }
                    td.number { (wanted) } td.short { (state) }
                } } }
            } }
            details {
                summary { "all contestants" }
                div.wide { table {
                    thead { tr { @for name in ["its time / ours", "size", "contestant", "blocks", "µs", "GB/s"] { th { (name) } } } }
                    tbody { @for one in &sizes { @for (contestant, at) in sorted(one) { (row(one, contestant, at)) } } }
                } }
            }
        }
    }
}

/// All contestants with all grids, the fastest first; those without a time are the last.
fn sorted(one: &Small) -> Vec<(&Contestant, &AtGrid)> {
    let mut all: Vec<(&Contestant, &AtGrid)> = one.all().collect();
    let time = |at: &AtGrid| at.milliseconds().unwrap_or(f64::INFINITY);
    all.sort_by(|(_, one), (_, other)| time(one).total_cmp(&time(other)));
    all
}

fn row(one: &Small, contestant: &Contestant, at: &AtGrid) -> Markup {
    let ours = one.ours.as_ref().map(|ours| ours.microseconds);
    let time = at.milliseconds().map(|milliseconds| 1000.0 * milliseconds);
    let ratio = time.zip(ours).map(|(time, ours)| with_interval(time / ours, None));
    html! {
        tr.ours[contestant.class == Class::Tilepipe] {
            td.number.short[at.fault.is_some()] { (ratio.unwrap_or_else(|| "WRONG".to_owned())) }
            td.number { (size(one.bytes)) }
            td { (contestant.name) }
            td { (grid(&at.blocks, at.grid)) }
            td.number { (time.map_or_else(String::new, micro)) }
            td.number { (at.timing.as_ref().map_or_else(String::new, |timing| format!("{:.0}", timing.gigabytes_per_second))) }
        }
    }
}

#[cfg(test)]
mod tests;
