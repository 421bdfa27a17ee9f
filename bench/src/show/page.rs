//! A record as one HTML page that needs nothing else, and its charts as files.

mod conditions;
mod costs;
mod tables;

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::plan::sweeps::MULTIPLY_ADDS;
use crate::record::{Class, Report, Row, Sweep, Timing};
use crate::show::chart::{self, Bar, Bars, Group, Width};
use crate::show::small;
use crate::show::tasks::{self, Task, times, with_interval};

/// What is measured and how.
const METHOD: &str = "Every kernel reads its inputs and writes its output once; GB/s counts both. Ours and its peers do the \
    same work on the same data, and are launched by the same code. One or several processes measure, each of them all; the conditions \
    of each stand at the end. In a process, after three rounds of warm-up, each round launches every contestant once, in an order \
    that is drawn at random, with an event of the GPU between any two launches; CUB's turns are of ten launches, and PyTorch's part \
    replays graphs of several. Before the timed launches and after them each kernel runs over an output filled with poison, which \
    is compared element by element with a reference; before them also at a length that is no multiple of a tile. A \
    kernel whose result is wrong in any process has no time. Times are medians over the launches of all processes, the spread is the \
    distance between the 10th and the 90th percentile in percent of the median, and a ratio is the median of the peer's time over \
    ours, taken pair by pair within a round: above 1 ours is faster. Its 95 % interval is a bootstrap's: a thousand times processes \
    are drawn with replacement, and of each its launches, so that what differs from process to process widens it. A peer that is \
    known to race is timed all the same, and its wrong elements are counted.";

/// When a pipeline is no gain.
const WHEN: &str = "A pipeline does not always pay: a synchronous kernel with loads of 16 bytes and all warps resident streams as \
    fast as any pipeline. Pipelines pay where few warps are resident, tiles are large, elements are small, or there is \
    arithmetic to overlap with the copies.";

/// What the chart of tasks shows.
const DOTS: &str = "A line for each task: what is right of 1 is faster than the best other form, what is left of it slower. Ours \
    is our fastest kernel of the task, and each other point the fastest contestant of its kind with right results that does not \
    race; one with an arrow lies beyond the axis, at the number beside it. A line is red where ours is slower by more than its 95 % \
    interval, or wrong. The twin is our kernel in unsafe Rust, as its time over ours; it does not count as another form.";

/// What the charts of kernels show.
const KERNELS: &str =
    "GB/s, all on one scale; before it the peer's time over ours. The bar of a peer that races is an outline.";

/// The file of the chart of tasks.
const TASKS: &str = "00-tasks.svg";

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
    let charts = charts(report);
    let tasks = tasks::tasks(report);
    let files = charts
        .iter()
        .filter(|chart| !chart.svg.is_empty())
        .map(|chart| (format!("{}.svg", chart.file), chart.svg.clone()));
    let first = (!tasks.is_empty()).then(|| (TASKS.to_owned(), chart::dots(&tasks, Width::Wide)));
    let page = ("index.html".to_owned(), page(report, &tasks, &charts).into_string());
    for (name, text) in files.chain(first).chain([page]) {
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
    title: Cow<'a, str>,
    of: Of<'a>,
    svg: String,
}

/// What a chart is of.
#[derive(Clone, Copy)]
enum Of<'a> {
    Kernel,
    SmallSizes,
    Sweep(&'a Sweep),
}

impl<'a> Chart<'a> {
    fn sweep(&self) -> Option<&'a Sweep> {
        if let Of::Sweep(sweep) = self.of { Some(sweep) } else { None }
    }
}

/// One chart of bars for each kernel function, two of lines for each task of small sizes, and one
/// for each sweep that has a time.
fn charts(report: &Report) -> Vec<Chart<'_>> {
    let mut charts: Vec<Chart<'_>> = Vec::new();
    let rows = || report.comparisons.iter();
    let peers = rows().flat_map(|row| row.peers.iter().map(|peer| peer.timing.as_ref()));
    let timings = rows().map(|row| row.timing.as_ref()).chain(peers).chain([report.copy.as_ref()]);
    let most = timings.flatten().map(|timing| timing.gigabytes_per_second).fold(0.0, f64::max);
    for row in rows() {
        if charts.iter().all(|chart| chart.title != row.kernel) {
            let of_kernel: Vec<&Row> = rows().filter(|one| one.kernel == row.kernel).collect();
            let svg = bars(report, &row.kernel, &of_kernel, most).svg();
            let title = Cow::from(&row.kernel);
            charts.push(Chart { file: file(charts.len(), &row.kernel), title, of: Of::Kernel, svg });
        }
    }
    for (title, svg) in small::charts(report) {
        charts.push(Chart { file: file(charts.len(), &title), title: title.into(), of: Of::SmallSizes, svg });
    }
    for sweep in &report.sweeps {
        let svg = chart::lines(sweep).unwrap_or_default();
        let title = Cow::from(&sweep.title);
        charts.push(Chart { file: file(charts.len(), &sweep.title), title, of: Of::Sweep(sweep), svg });
    }
    charts
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
        let ours = Bar {
            name: format!("tilepipe: {kernel}"),
            rate: rate(&row.timing),
            note: if row.timing.is_some() { String::new() } else { no_time(&row.fault) },
            class: Class::Tilepipe,
            races: false,
        };
        let peers = row.peers.iter().map(|peer| {
            let races = peer.wrong.is_some();
            let note = match (peer.ratio, peer.timing.is_some()) {
                (_, false) => no_time(&peer.fault),
                (None, true) => String::new(),
                (Some(ratio), true) if races => format!("races, {}x", times(ratio.median)),
                (Some(ratio), true) => format!("{}x", times(ratio.median)),
            };
            let grid =
                peer.grid.filter(|grid| *grid != row.grid).map_or_else(String::new, |grid| format!(", {grid} blocks"));
            Bar { name: peer.name.clone() + &grid, rate: rate(&peer.timing), note, class: peer.class(), races }
        });
        Group { name, bars: std::iter::once(ours).chain(peers).collect() }
    });
    let mark = report.copy.as_ref().map(|copy| {
        let rate = copy.gigabytes_per_second;
        (rate, format!("dashed: the driver's copy, {rate:.0} GB/s"))
    });
    Bars { title: format!("{kernel}: GB/s of ours and of each peer"), most, mark, groups: groups.collect() }
}

/// The generic arguments in an entry's name.
fn instance(row: &Row) -> &str {
    row.symbol.split_once("__").map_or(row.symbol.as_str(), |(_, arguments)| arguments)
}

fn page(report: &Report, tasks: &[Task<'_>], charts: &[Chart<'_>]) -> Markup {
    let sweeps = |wanted: Range| {
        let belongs = |chart: &&Chart<'_>| match chart.of {
            Of::Kernel => false,
            Of::SmallSizes => wanted == Range::Sizes,
            Of::Sweep(sweep) => Range::of(sweep) == wanted,
        };
        let has_sizes = wanted == Range::Sizes && !report.sizes.is_empty();
        let text = if has_sizes { Some(small::TEXT) } else { wanted.text() };
        let below = if has_sizes { small::tables(report) } else { Markup::default() };
        figures(wanted.heading(), text, charts.iter().filter(belongs).collect(), &below)
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "tilepipe on " (report.gpu) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { "tilepipe beside CUDA C++" }
                    p { (report.head()) }
                }
                main {
                    (first_screen(tasks))
                    (failures(report))
                    @for range in [Range::Sizes, Range::Stages, Range::Arithmetic, Range::Others] { (sweeps(range)) }
                    @if !report.comparisons.is_empty() { (kernels(charts.iter().filter(|chart| matches!(chart.of, Of::Kernel)))) }
                    (costs::section(&report.costs))
                    section { h2 { "All figures" } (tables::tasks(tasks)) (tables::comparisons(report)) }
                    section { h2 { "What is measured" } p { (METHOD) } p { (WHEN) } }
                    (conditions::section(report))
                }
            }
        }
    }
}

/// The chart of tasks, below a list of those in which another form is faster: so the list is on the
/// first screen however long the chart is.
fn first_screen(tasks: &[Task<'_>]) -> Markup {
    let below: Vec<&Task<'_>> = tasks.iter().filter(|task| task.is_below()).collect();
    html! {
        @if !tasks.is_empty() {
            section {
                h2 { "Beside the best other form" }
                @if !below.is_empty() {
                    ul.below { @for task in below { li.short { (task.name) ": " (slower(task)) } } }
                }
                figure.wide-screen { (PreEscaped(chart::dots(tasks, Width::Wide))) }
                figure.narrow-screen { (PreEscaped(chart::dots(tasks, Width::Narrow))) }
                p.soft { (DOTS) }
            }
        }
    }
}

/// How much slower ours is, and than what.
fn slower(task: &Task<'_>) -> String {
    let best = task.others.first().map_or("", |best| best.peer.name.as_str());
    match (task.ours, task.ratio) {
        (Some(_), Some(ratio)) => format!("{} times as fast as {best}", with_interval(ratio.value, ratio.interval)),
        _ => "WRONG".to_owned(),
    }
}

/// What a sweep varies, in the order of the page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Range {
    Sizes,
    Stages,
    Arithmetic,
    Others,
}

impl Range {
    fn of(sweep: &Sweep) -> Range {
        match (sweep.axis.as_str(), sweep.unit.as_str()) {
            ("stages", _) => Range::Stages,
            (MULTIPLY_ADDS, _) => Range::Arithmetic,
            // The size of an element is no size of data.
            (axis, "bytes") if !axis.contains("element") => Range::Sizes,
            _ => Range::Others,
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Range::Sizes => "Sizes",
            Range::Stages => "Stages",
            Range::Arithmetic => "Arithmetic",
            Range::Others => "Other ranges",
        }
    }

    fn text(self) -> Option<&'static str> {
        (self == Range::Arithmetic).then_some(tables::BALANCE)
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

/// The section of kernels. Their charts differ much in height, and are packed.
fn kernels<'a>(charts: impl Iterator<Item = &'a Chart<'a>>) -> Markup {
    html! {
        section {
            h2 { "Kernels" }
            p { (KERNELS) }
            div.charts.packed { @for chart in charts { (figure(chart)) } }
        }
    }
}

/// A section of charts, and of what stands below them; nothing where there are none.
fn figures(heading: &str, text: Option<&str>, charts: Vec<&Chart<'_>>, below: &Markup) -> Markup {
    html! {
        @if !charts.is_empty() {
            section {
                h2 { (heading) }
                @if let Some(text) = text { p { (text) } }
                div.charts { @for chart in charts { (figure(chart)) } }
                (below)
            }
        }
    }
}

fn figure(chart: &Chart<'_>) -> Markup {
    html! {
        figure {
            figcaption { (chart.title) }
            (PreEscaped(&chart.svg))
            @if let Some(sweep) = chart.sweep() { (tables::sweep(sweep)) }
        }
    }
}

#[cfg(test)]
mod tests;
