//! The page's tables. The ratio stands first in each.

use maud::{Markup, html};

use crate::balance::Balance;
use crate::record::{Line, PeerRow, Point, Report, Resources, Row, Sweep, Timing};
use crate::show::table;
use crate::show::tasks::{Ratio, Task, times, with_interval};

/// What the balance of copy and arithmetic is.
pub const BALANCE: &str = "The tables have times over ours. At the balance the arithmetic takes as long as the copies: the straight line through our times \
    with the two largest numbers of multiply-adds comes to our time with none. The ratios there are of times that are interpolated \
    between the two neighbouring places.";

/// Returns every task with its best other form.
pub fn tasks(tasks: &[Task<'_>]) -> Markup {
    let ratio = |ratio: Option<Ratio>| ratio.map_or_else(String::new, |one| with_interval(one.value, one.interval));
    let headings = [
        "best other / ours",
        "twin / ours",
        "task",
        "our fastest kernel",
        "shape",
        "ms",
        "GB/s",
        "best other",
        "ms",
        "GB/s",
    ];
    html! {
        div.wide { table {
            thead { tr { @for name in headings { th { (name) } } } }
            tbody { @for task in tasks { tr {
                td.number.short[task.is_below()] { (task.ours.map_or_else(|| "WRONG".to_owned(), |_| ratio(task.ratio))) }
                td.number { (ratio(task.twin)) }
                td { (task.name) }
                @let ours = task.ours;
                td { @if let Some(row) = ours { code { (row.symbol) } } }
                td { (ours.map_or_else(String::new, Row::shape)) }
                (rate(ours.and_then(|row| row.timing.as_ref())))
                @let best = task.others.first().map(|other| other.peer);
                td { (best.map_or("", |best| best.name.as_str())) }
                (rate(best.and_then(|best| best.timing.as_ref())))
            } } }
        } }
    }
}

/// Returns every kernel with its peers.
pub fn comparisons(report: &Report) -> Markup {
    let with_resources = table::has_resources(report);
    let has_intervals = report.comparisons.iter().flat_map(|row| &row.peers).any(|peer| peer.interval.is_some());
    let headings = ["peer / ours", "kernel", "entry", "shape", "ms", "spread", "GB/s", "of the copy", "wanted", ""];
    html! {
        p.soft {
            @if has_intervals { "In parentheses: where the ratio's median lies with 95 % confidence." }
            @else { "In parentheses: the 10th and the 90th percentile of the ratio. This record has no intervals." }
        }
        div.wide { table {
            thead { tr {
                @for name in headings { th { (name) } }
                @if with_resources { @for name in table::RESOURCES { th { (name) } } }
            } }
            tbody {
                @if let Some(copy) = &report.copy {
                    tr { td {} td { "copy by the driver" } td {} td {} (table_times(report, Some(copy))) td {} td {}
                        @if with_resources { (resources(None)) } }
                }
                @for row in &report.comparisons {
                    tr.ours {
                        td {} td { (row.kernel) } td { code { (row.symbol) } } td { (row.shape()) }
                        (table_times(report, row.timing.as_ref()))
                        td {} td.short[row.fault.is_some()] { (row.fault.as_ref().map_or("", |_| "WRONG")) }
                        @if with_resources { (resources(row.resources.as_ref())) }
                    }
                    @for peer in &row.peers { (peer_row(report, row, peer, with_resources)) }
                }
            }
        } }
    }
}

fn peer_row(report: &Report, row: &Row, peer: &PeerRow, with_resources: bool) -> Markup {
    let ratio = peer
        .ratio
        .map_or_else(String::new, |ratio| with_interval(ratio.median, peer.interval.or(Some([ratio.low, ratio.high]))));
    let is_short = peer.fault.is_some() || peer.is_short();
    let grid = peer.grid.filter(|grid| *grid != row.grid);
    html! {
        tr {
            td.number.short[is_short] { (ratio) }
            td.peer { (peer.name) } td { code { (peer.symbol) } }
            td { (grid.map_or_else(String::new, |grid| format!("{grid} blocks"))) }
            (table_times(report, peer.timing.as_ref()))
            td.number { (peer.wanted.map_or_else(String::new, |wanted| format!("{wanted:.2}"))) }
            td.short[is_short].races[!is_short && peer.wrong.is_some()] { (peer.state()) }
            @if with_resources { (resources(peer.resources.as_ref())) }
        }
    }
}

/// Returns what stands below the chart of a sweep: what is wrong in it, its balance if it is over
/// arithmetic, and its figures.
pub fn sweep(sweep: &Sweep) -> Markup {
    let points = || sweep.lines.iter().flat_map(|line| line.points.iter().map(move |point| (line, point)));
    html! {
        @for (line, point) in points() {
            @if let Some(fault) = &point.fault { p.short { (line.name) " at " (point.x) ": " (fault) } }
        }
        @if let Some(of_sweep) = Balance::of(sweep) { (balance(&of_sweep)) }
        details {
            summary { "figures" }
            div.wide { table {
                thead { tr { @for name in ["its time / ours", "kernel", &sweep.axis, "ms", "GB/s"] { th { (name) } } } }
                tbody { @for (line, point) in points() { tr {
                    td.number { (over_first(sweep, line, point).map_or_else(String::new, times)) }
                    td { (line.name) }
                    td.number { (point.x) }
                    (rate(point.timing.as_ref()))
                } } }
            } }
        }
    }
}

/// The time of a line's point over that of the first line, which is ours, at the same place.
fn over_first(sweep: &Sweep, line: &Line, point: &Point) -> Option<f64> {
    let ours = sweep.lines.first().filter(|first| first.name != line.name)?;
    Some(point.milliseconds()? / ours.at(point.x)?.milliseconds()?).filter(|ratio| ratio.is_finite())
}

/// The ratios of a sweep over arithmetic, and where its balance is.
fn balance(balance: &Balance) -> Markup {
    let [place, synchronous, by_hand, wanted, state] = table::BALANCE;
    html! {
        @if balance.balance.is_none() { p.short { (table::NO_BALANCE) } }
        div.wide { table {
            thead { tr { @for name in [synchronous, by_hand, wanted, place, state] { th { (name) } } } }
            tbody { @for [place, synchronous, by_hand, wanted, state] in table::balance_texts(balance) { tr {
                @for number in [synchronous, by_hand, wanted, place] { td.number { (number) } }
                td.short[!state.is_empty()] { (state) }
            } } }
        } }
    }
}

/// Milliseconds and GB/s.
fn rate(timing: Option<&Timing>) -> Markup {
    let text = |text: fn(&Timing) -> String| timing.map_or_else(String::new, text);
    html! {
        td.number { (text(|one| format!("{:.4}", one.milliseconds.median))) }
        td.number { (text(|one| format!("{:.0}", one.gigabytes_per_second))) }
    }
}

fn table_times(report: &Report, timing: Option<&Timing>) -> Markup {
    html! { @for text in table::times(report, timing) { td.number { (text) } } }
}

fn resources(resources: Option<&Resources>) -> Markup {
    html! { @for text in table::resource_texts(resources) { td.number { (text) } } }
}
