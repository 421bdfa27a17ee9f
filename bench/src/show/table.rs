//! Records as tables for a terminal.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, Table};

use crate::balance::{Balance, Ratios, WANTED};
use crate::plan::sweeps::MULTIPLY_ADDS;
use crate::record::small::by_task;
use crate::record::{PeerRow, Report, Resources, Sweep, Timing};
use crate::show::costs;
use crate::show::small;
use crate::show::tasks::with_interval;

/// Columns of what a kernel takes of a multiprocessor, for records that have it.
pub const RESOURCES: [&str; 5] = ["registers", "shared bytes", "blocks/SM", "occupancy", "bytes in flight/SM"];

/// The column of ratios with their intervals, and without.
const RATIO: [&str; 2] = ["peer / ours (95 %)", "peer / ours (p10 to p90)"];

/// Columns of a balance of copy and arithmetic.
pub const BALANCE: [&str; 5] = [MULTIPLY_ADDS, "no asynchronous copy / ours", "cp.async by hand / ours", "wanted", ""];

/// What is said where there is none.
pub const NO_BALANCE: &str = "no balance of copy and arithmetic: a time is missing, or these times have none";

/// Makes an empty table with these headings.
pub fn headed<'a>(headings: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(headings);
    table
}

/// Makes a cell for a number.
pub fn number(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// Returns a whole record: its head, all comparisons, small sizes, all sweeps.
pub fn report(report: &Report) -> String {
    let mut text = format!("{}\n{}", report.head(), comparisons(report));
    for (task, sizes) in by_task(&report.sizes) {
        text += &format!("\n\n{task}: {}\n{}", small::TITLE, small::table(&sizes));
    }
    for one in &report.sweeps {
        text += &format!("\n\n{}, GB/s\n{}", one.title, sweep(one));
        if let Some(of_sweep) = Balance::of(one) {
            text += &format!("\n{}, times over ours\n{}", one.title, balance(&of_sweep));
            if of_sweep.balance.is_none() {
                text += &format!("\n{NO_BALANCE}");
            }
        }
    }
    text + &costs::text(&report.costs)
}

/// Returns all comparisons: under each of our kernels its peers, each with the ratio of its time to
/// ours. In parentheses stands the ratio's interval or, in a record without intervals, its spread.
pub fn comparisons(report: &Report) -> Table {
    let with_resources = has_resources(report);
    let has_intervals = report.comparisons.iter().flat_map(|row| &row.peers).any(|peer| peer.interval.is_some());
    let mut headings = vec!["kernel", "type", "stages", "grid", "ms", "spread", "GB/s", "of copy"];
    headings.extend([if has_intervals { RATIO[0] } else { RATIO[1] }, "wanted", ""]);
    if with_resources {
        headings.extend(RESOURCES);
    }
    let mut table = headed(headings);
    let mut add = |what: [&str; 4], timing: Option<&Timing>, result: [&str; 3], resources: Option<&Resources>| {
        let mut cells: Vec<Cell> = what.into_iter().map(Cell::new).collect();
        cells.extend(times(report, timing).map(number));
        cells.extend(result.into_iter().map(Cell::new));
        if with_resources {
            cells.extend(resource_texts(resources).map(number));
        }
        table.add_row(cells);
    };
    if let Some(copy) = &report.copy {
        add(["copy by the driver", "", "", ""], Some(copy), [""; 3], None);
    }
    for row in &report.comparisons {
        let (grid, stages) = (row.grid.to_string(), row.stages.as_deref().unwrap_or(""));
        let state = if row.fault.is_some() { "WRONG" } else { "" };
        let what = [&row.kernel, &row.dtype, stages, &grid];
        add(what, row.timing.as_ref(), ["", "", state], row.resources.as_ref());
        for peer in &row.peers {
            let ratio = ratio(peer, has_intervals);
            let wanted = peer.wanted.map_or_else(String::new, |wanted| format!("{wanted:.2}"));
            let name = format!("  {}: {}", peer.name, peer.symbol);
            let result = [ratio.as_str(), &wanted, &peer.state()];
            add([&name, "", "", ""], peer.timing.as_ref(), result, peer.resources.as_ref());
        }
    }
    table
}

/// Returns a peer's ratio, empty where there is none.
fn ratio(peer: &PeerRow, has_intervals: bool) -> String {
    peer.ratio.map_or_else(String::new, |ratio| {
        let spread = (!has_intervals).then_some([ratio.low, ratio.high]);
        with_interval(ratio.median, peer.interval.or(spread))
    })
}

/// Returns a sweep: a row for each place and a column of GB/s for each kernel.
pub fn sweep(sweep: &Sweep) -> Table {
    let axis = axis(sweep);
    let names = sweep.lines.iter().map(|line| line.name.as_str());
    let mut table = headed(std::iter::once(axis.as_str()).chain(names));
    for x in sweep.places() {
        let rates = sweep.lines.iter().map(|line| {
            let point = line.at(x);
            let rate = point.and_then(|point| point.timing.as_ref());
            match (rate, point.and_then(|point| point.fault.as_ref())) {
                (Some(timing), _) => format!("{:.0}", timing.gigabytes_per_second),
                (None, Some(fault)) => fault.clone(),
                (None, None) => String::new(),
            }
        });
        table.add_row(std::iter::once(format!("{x}")).chain(rates).map(number));
    }
    table
}

/// Returns what a sweep varies, with its unit.
pub fn axis(sweep: &Sweep) -> String {
    with_unit(&sweep.axis, &sweep.unit)
}

/// Returns the name of a quantity with its unit, where it has one.
pub fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name} ({unit})") }
}

/// Returns the balance of a sweep over arithmetic.
pub fn balance(balance: &Balance) -> Table {
    let mut table = headed(BALANCE);
    for row in balance_texts(balance) {
        table.add_row(row.map(number));
    }
    table
}

/// Returns the rows of a balance in the order of the columns: one for each place that was measured,
/// and the balance itself last.
pub fn balance_texts(balance: &Balance) -> Vec<[String; 5]> {
    let row = |place: String, ratios: &Ratios, wanted: &str, state: &str| {
        let [synchronous, by_hand] = [ratios.synchronous, ratios.by_hand]
            .map(|ratio| ratio.map_or_else(String::new, |ratio| format!("{ratio:.3}")));
        [place, synchronous, by_hand, wanted.to_owned(), state.to_owned()]
    };
    let measured = balance.measured.iter().map(|ratios| row(ratios.multiply_adds.to_string(), ratios, "", ""));
    let mut rows: Vec<[String; 5]> = measured.collect();
    if let Some(ratios) = &balance.balance {
        let (place, wanted) = (format!("balance: {:.1}", ratios.multiply_adds), format!("{WANTED:.2}"));
        rows.push(row(place, ratios, &wanted, if balance.short().is_some() { "BELOW" } else { "" }));
    }
    rows
}

/// Whether any kernel or peer has resources on record.
pub fn has_resources(report: &Report) -> bool {
    report
        .comparisons
        .iter()
        .any(|row| row.resources.is_some() || row.peers.iter().any(|peer| peer.resources.is_some()))
}

/// Returns resources in the order of the columns, empty where there are none.
pub fn resource_texts(resources: Option<&Resources>) -> [String; 5] {
    resources.map_or_else(Default::default, |resources| {
        let in_flight = resources.bytes_in_flight.map_or_else(String::new, |bytes| bytes.to_string());
        [
            resources.registers.to_string(),
            resources.shared_bytes.to_string(),
            resources.blocks_per_multiprocessor.to_string(),
            percent(resources.occupancy),
            in_flight,
        ]
    })
}

/// Returns a share as whole percent.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Returns milliseconds, spread, rate and the rate's share of the copy; empty where there is no
/// time.
pub fn times(report: &Report, timing: Option<&Timing>) -> [String; 4] {
    timing.map_or_else(Default::default, |timing| {
        let Timing { milliseconds, gigabytes_per_second } = timing;
        let (median, spread) = (milliseconds.median, milliseconds.spread_percent());
        let share = report.share(Some(timing)).map_or_else(String::new, percent);
        [format!("{median:.4}"), format!("{spread:.1} %"), format!("{gigabytes_per_second:.0}"), share]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::tests::{invented, short};
    use crate::record::tests::example;

    #[test]
    fn shares_of_the_copy_and_resources_stand_beside_the_rates() {
        let text = comparisons(&example()).to_string();
        let line = |name: &str| text.lines().find(|line| line.contains(name)).unwrap();
        assert!(line("first_kernel").contains("80 %") && line("first_kernel").contains("24576"), "{text}");
        assert!(line("plain_i32").contains("WRONG") && line("twin_i32_2").contains("BELOW"), "{text}");
        assert!(line("thread_scope").contains("RACES: 13 and 210 wrong"), "{text}");
        assert!(!line("prior_i32x4").contains("BELOW"), "ours is wrong, so there is nothing to be below: {text}");
    }

    #[test]
    fn a_record_without_copy_and_resources_has_empty_cells_and_no_columns_for_them() {
        let mut report = example();
        report.copy = None;
        for row in &mut report.comparisons {
            row.resources = None;
            row.peers.iter_mut().for_each(|peer| peer.resources = None);
        }
        let text = comparisons(&report).to_string();
        assert!(!text.contains("registers") && !text.contains("80 %") && text.contains("1.0050"), "{text}");
    }

    #[test]
    fn a_ratio_has_its_interval_or_the_spread_where_the_record_has_no_intervals() {
        let mut report = example();
        let text = comparisons(&report).to_string();
        let line = |text: &str, name| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
        assert!(text.contains("peer / ours (p10 to p90)"), "{text}");
        assert!(line(&text, "twin_i32_2").contains("0.900 (0.900 to 0.900)"), "{text}");
        report.comparisons[0].peers[0].interval = Some([1.95, 2.25]);
        let text = comparisons(&report).to_string();
        assert!(text.contains("peer / ours (95 %)"), "{text}");
        assert!(line(&text, "pipeline_i32_2").contains("2.00 (1.95 to 2.25)"), "{text}");
        let without = line(&text, "twin_i32_2");
        assert!(without.contains("0.900") && !without.contains('('), "{text}");
    }

    #[test]
    fn a_sweep_has_a_row_for_each_place_and_says_what_is_wrong() {
        let text = sweep(&example().sweeps[0]).to_string();
        let line = text.lines().find(|line| line.contains("65536")).unwrap();
        assert!(line.contains("element 3 is <1>") && line.contains("712"), "{text}");
        assert!(text.contains("size (bytes)") && text.contains("C++ & co"), "{text}");
    }

    #[test]
    fn the_balance_stands_below_a_sweep_over_arithmetic_and_says_what_is_short() {
        let with = |one: Sweep| report(&Report { sweeps: vec![one], ..example() });
        let line = |text: String| text.lines().find(|line| line.contains("balance: 16.0")).map(str::to_owned);
        let met = line(with(invented())).unwrap();
        assert!(met.contains("1.500") && met.contains("1.100") && !met.contains("BELOW"), "{met}");
        let below = line(with(short())).unwrap();
        assert!(below.contains("1.400") && below.contains("1.50 ") && below.contains("BELOW"), "{below}");
        let mut without = invented();
        without.lines[0].points[4].timing = None;
        let text = with(without);
        assert!(text.contains("1.600") && !text.contains("balance: 1") && text.contains(NO_BALANCE), "{text}");
        let text = report(&example());
        assert!(!text.contains("by hand / ours") && !text.contains(NO_BALANCE), "a sweep over sizes: {text}");
    }
}
