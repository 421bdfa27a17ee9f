//! A record as one HTML page that needs nothing else, and its charts as files.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::balance::Balance;
use crate::record::{PeerRow, Report, Resources, Row, Sweep, Timing};
use crate::show::chart::{self, Bar, Bars, Group, Kind};
use crate::show::table;

/// What is measured and how.
const METHOD: &str = "Every kernel reads its inputs and writes its output once; GB/s counts both. Ours and its peers do the \
    same work on the same data in one run, and are launched by the same code. After three rounds of warm-up the launches are \
    interleaved, each round beginning with another kernel, with an event of the GPU between any two. Before the timed launches \
    and after them each kernel runs over an output filled with poison, which is compared element by element with a reference \
    on the CPU; before them also at a length that is no multiple of a tile. A kernel whose result is wrong has no time. Times \
    are medians, the spread is the distance between the 10th and the 90th percentile in percent of the median, and a ratio is \
    the median of the peer's time over ours, taken pair by pair within a round: above 1 ours is faster. A peer that is known to \
    race is timed all the same, and its wrong elements are counted.";

/// When a pipeline is no gain.
const WHEN: &str = "A pipeline does not always pay: a synchronous kernel with loads of 16 bytes and all warps resident streams as \
    fast as any pipeline. Pipelines pay where few warps are resident, tiles are large, elements are small, or there is \
    arithmetic to overlap with the copies.";

/// What the balance of copy and arithmetic is.
const BALANCE: &str = "Times over ours. At the balance the arithmetic takes as long as the copies: the straight line through our times \
    with the two largest numbers of multiply-adds comes to our time with none. The ratios there are of times that are interpolated \
    between the two neighbouring places.";

const STYLE: &str = include_str!("page/style.css");

/// Writes `index.html` and one SVG file for each chart into a folder, which is made where there is
/// none. Charts that an earlier page left there are removed.
///
/// # Errors
///
/// A file that cannot be written or removed.
pub fn write(report: &Report, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    remove_charts(folder)?;
    let charts = charts(report)?;
    let files = charts
        .iter()
        .filter(|chart| !chart.svg.is_empty())
        .map(|chart| (format!("{}.svg", chart.file), chart.svg.clone()));
    for (name, text) in files.chain([("index.html".to_owned(), page(report, &charts).into_string())]) {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Removes the files of a folder that are named as [`file()`] names charts.
fn remove_charts(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read the folder {}", folder.display()))? {
        let path = entry?.path();
        if is_chart(&path) {
            fs::remove_file(&path).with_context(|| format!("cannot remove the old chart {}", path.display()))?;
        }
    }
    Ok(())
}

/// Whether a file is named by a number of at least two digits, a hyphen, and the ending of an SVG
/// file.
fn is_chart(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let number = name.and_then(|name| name.strip_suffix(".svg")?.split_once('-')).map(|(number, _)| number);
    number.is_some_and(|number| number.len() >= 2 && number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// A chart, and the name of its file without the ending. Its text is empty where there is nothing
/// to draw.
struct Chart<'a> {
    file: String,
    title: &'a str,
    sweep: Option<&'a Sweep>,
    svg: String,
}

/// One chart of bars for each kernel function, and one of lines for each sweep that has a time.
fn charts(report: &Report) -> Result<Vec<Chart<'_>>> {
    let mut charts: Vec<Chart<'_>> = Vec::new();
    let rows = || report.comparisons.iter();
    let peers = rows().flat_map(|row| row.peers.iter().map(|peer| peer.timing.as_ref()));
    let timings = rows().map(|row| row.timing.as_ref()).chain(peers).chain([report.copy.as_ref()]);
    let most = timings.flatten().map(|timing| timing.gigabytes_per_second).fold(0.0, f64::max);
    for row in rows() {
        if charts.iter().all(|chart| chart.title != row.kernel) {
            let of_kernel: Vec<&Row> = rows().filter(|one| one.kernel == row.kernel).collect();
            let svg = bars(report, &row.kernel, &of_kernel, most).svg()?;
            charts.push(Chart { file: file(charts.len(), &row.kernel), title: &row.kernel, sweep: None, svg });
        }
    }
    for sweep in &report.sweeps {
        let svg = chart::lines(sweep)?.unwrap_or_default();
        charts.push(Chart { file: file(charts.len(), &sweep.title), title: &sweep.title, sweep: Some(sweep), svg });
    }
    Ok(charts)
}

/// A name for a file that any system takes.
fn file(number: usize, title: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    format!("{:02}-{}", number + 1, title.chars().map(plain).collect::<String>())
}

fn bars(report: &Report, kernel: &str, rows: &[&Row], most: f64) -> Bars {
    let rate = |timing: &Option<Timing>| timing.as_ref().map(|timing| timing.gigabytes_per_second);
    let groups = rows.iter().map(|row| {
        let alike = rows.iter().filter(|other| other.shape() == row.shape()).count();
        let name = if alike > 1 { format!("{}, {}", instance(row), row.shape()) } else { row.shape() };
        let no_time = |fault: &Option<String>| if fault.is_some() { "WRONG" } else { "no time" }.to_owned();
        let name_of_ours = format!("tilepipe: {kernel}");
        let note = if row.timing.is_some() { String::new() } else { no_time(&row.fault) };
        let ours = Bar { name: name_of_ours, rate: rate(&row.timing), note, kind: Kind::Ours };
        let peers = row.peers.iter().map(|peer| {
            let note = match (peer.ratio, peer.timing.is_some()) {
                (_, false) => no_time(&peer.fault),
                (None, true) => String::new(),
                (Some(ratio), true) if peer.wrong.is_some() => format!("races, {:.2}x", ratio.median),
                (Some(ratio), true) => format!("{:.2}x", ratio.median),
            };
            Bar { name: peer.name.clone(), rate: rate(&peer.timing), note, kind: kind(peer) }
        });
        Group { name, bars: std::iter::once(ours).chain(peers).collect() }
    });
    let mark = report.copy.as_ref().map(|copy| {
        let rate = copy.gigabytes_per_second;
        (rate, format!("dashed: the driver's copy, {rate:.0} GB/s"))
    });
    Bars { title: format!("{kernel}: GB/s of ours and of each peer"), most, mark, groups: groups.collect() }
}

/// What a peer's bar stands for.
pub fn kind(peer: &PeerRow) -> Kind {
    match (peer.wrong.is_some(), peer.is_library()) {
        (true, _) => Kind::Racing,
        (false, true) => Kind::Library,
        (false, false) => Kind::Hand,
    }
}

/// The generic arguments in an entry's name.
fn instance(row: &Row) -> &str {
    row.symbol.split_once("__").map_or(row.symbol.as_str(), |(_, arguments)| arguments)
}

fn page(report: &Report, charts: &[Chart<'_>]) -> Markup {
    let Report { gpu, driver, date, commit, command, .. } = report;
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "tilepipe on " (gpu) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { "tilepipe beside CUDA C++" }
                    p { (report.head()) }
                    dl {
                        @for (name, value) in [("GPU", gpu), ("driver", driver), ("date", date), ("commit", commit)] {
                            div { dt { (name) } dd { (value) } }
                        }
                        div { dt { "command" } dd { code { (command) } } }
                    }
                }
                main {
                    section { h2 { "What is measured" } p { (METHOD) } p { (WHEN) } }
                    (failures(report))
                    section {
                        h2 { "Kernels" }
                        p.legend {
                            span.ours { "tilepipe" } span.library { "CUDA C++ libraries" } span.hand { "by hand" }
                            span.racing { "races" }
                        }
                        p { "GB/s, all on one scale; before it the peer's time over ours." }
                        div.charts { @for chart in charts.iter().filter(|chart| chart.sweep.is_none()) { (figure(chart)) } }
                    }
                    @if !report.sweeps.is_empty() {
                        section {
                            h2 { "Over a range" }
                            div.charts { @for chart in charts.iter().filter(|chart| chart.sweep.is_some()) { (figure(chart)) } }
                        }
                    }
                    section { h2 { "All figures" } (comparisons(report)) }
                }
            }
        }
    }
}

fn failures(report: &Report) -> Markup {
    let failures = report.failures();
    html! {
        section {
            h2 { "What falls short" }
            @if failures.is_empty() {
                p { "Every result is right, and every ratio at least what is wanted." }
            } @else {
                ul { @for failure in failures { li.short { (failure) } } }
            }
        }
    }
}

fn figure(chart: &Chart<'_>) -> Markup {
    html! {
        figure {
            figcaption { (chart.title) }
            (PreEscaped(&chart.svg))
            @if let Some(sweep) = chart.sweep {
                @if let Some(of_sweep) = Balance::of(sweep) { (balance(&of_sweep)) }
                (points(sweep))
            }
        }
    }
}

/// The ratios of a sweep over arithmetic, and where its balance is.
fn balance(balance: &Balance) -> Markup {
    html! {
        p { (BALANCE) }
        @if balance.balance.is_none() { p.short { (table::NO_BALANCE) } }
        div.wide { table {
            thead { tr { @for name in table::BALANCE { th { (name) } } } }
            tbody { @for [place, synchronous, by_hand, wanted, state] in table::balance_texts(balance) { tr {
                @for number in [place, synchronous, by_hand, wanted] { td.number { (number) } }
                td.short[!state.is_empty()] { (state) }
            } } }
        } }
    }
}

/// The figures of a sweep, and what is wrong in it.
fn points(sweep: &Sweep) -> Markup {
    let points = || sweep.lines.iter().flat_map(|line| line.points.iter().map(move |point| (line, point)));
    html! {
        @for (line, point) in points() {
            @if let Some(fault) = &point.fault { p.short { (line.name) " at " (point.x) ": " (fault) } }
        }
        details {
            summary { "figures" }
            div.wide { table {
                thead { tr { th { (sweep.axis) } th { "kernel" } th { "ms" } th { "GB/s" } } }
                tbody { @for (line, point) in points() { tr {
                    td.number { (point.x) }
                    td { (line.name) }
                    @let timing = point.timing.as_ref();
                    td.number { (timing.map_or_else(String::new, |one| format!("{:.4}", one.milliseconds.median))) }
                    td.number { (timing.map_or_else(String::new, |one| format!("{:.0}", one.gigabytes_per_second))) }
                } } }
            } }
        }
    }
}

fn comparisons(report: &Report) -> Markup {
    let with_resources = table::has_resources(report);
    html! {
        div.wide { table {
            thead { tr {
                @for name in ["kernel", "entry", "shape", "ms", "spread", "GB/s", "of the copy", "peer / ours", "wanted", ""] {
                    th { (name) }
                }
                @if with_resources { @for name in table::RESOURCES { th { (name) } } }
            } }
            tbody {
                @if let Some(copy) = &report.copy {
                    tr { td { "copy by the driver" } td {} td {} (times(report, Some(copy))) td {} td {} td {}
                        @if with_resources { (resources(None)) } }
                }
                @for row in &report.comparisons {
                    tr.ours {
                        td { (row.kernel) } td { code { (row.symbol) } } td { (row.shape()) }
                        (times(report, row.timing.as_ref()))
                        td {} td {} td.short[row.fault.is_some()] { (row.fault.as_ref().map_or("", |_| "WRONG")) }
                        @if with_resources { (resources(row.resources.as_ref())) }
                    }
                    @for peer in &row.peers { (peer_row(report, peer, with_resources)) }
                }
            }
        } }
    }
}

fn peer_row(report: &Report, peer: &PeerRow, with_resources: bool) -> Markup {
    let ratio = peer
        .ratio
        .map_or_else(String::new, |ratio| format!("{:.3} ({:.3} to {:.3})", ratio.median, ratio.low, ratio.high));
    let is_short = peer.fault.is_some() || peer.is_short();
    html! {
        tr {
            td.peer { (peer.name) } td { code { (peer.symbol) } } td {}
            (times(report, peer.timing.as_ref()))
            td.number.short[is_short] { (ratio) }
            td.number { (peer.wanted.map_or_else(String::new, |wanted| format!("{wanted:.2}"))) }
            td.short[is_short].races[!is_short && peer.wrong.is_some()] { (peer.state()) }
            @if with_resources { (resources(peer.resources.as_ref())) }
        }
    }
}

fn times(report: &Report, timing: Option<&Timing>) -> Markup {
    html! { @for text in table::times(report, timing) { td.number { (text) } } }
}

fn resources(resources: Option<&Resources>) -> Markup {
    html! { @for text in table::resource_texts(resources) { td.number { (text) } } }
}

#[cfg(test)]
mod tests;
