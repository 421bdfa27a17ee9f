//! `tilepipe-bench readme`: a record's table in README.md and its chart in docs/bench.svg.
//!
//! Only what stands between [`BEGIN`] and [`END`] is written. It names its record, from which a
//! test makes it again.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use tilepipe_runner::stdout::print;

use crate::record::{Class, Report, Row};
use crate::show::chart::{DOTS_TITLE, Width, class_name, dots};
use crate::show::table::percent;
use crate::show::tasks::{self, Other, Ratio, Task, times, with_interval};

/// The line before the section.
const BEGIN: &str = "<!-- bench:begin -->";
/// The line after the section.
const END: &str = "<!-- bench:end -->";
/// Where the chart goes, from the repository's root.
const CHART: &str = "docs/bench.svg";

/// The tasks of the table, in its order, and for those that have fast C++ beside them only since
/// there is a certain kernel of ours, that kernel: a record must have it.
const TASKS: [(&str, Option<&str>); 8] = [
    ("neighbour sum in groups of 256", None),
    ("three times each element", None),
    ("two inputs in groups of 256", None),
    ("moving average", Some("moving_average_wide")),
    ("transpose", Some("transpose_wide")),
    ("stencil", Some("stencil_2d_wide")),
    ("sum", None),
    ("dot product", None),
];
/// How many rows a record without tasks gets at most.
const KERNELS: usize = 5;
/// Their element type.
const DTYPE: &str = "i32";
/// Contestants in C++.
const CPP: [Class; 5] = [Class::Guide, Class::Pipeline, Class::Hand, Class::Plain, Class::Library];

/// What is written, and where.
#[derive(Args, Debug)]
pub struct Options {
    /// A record of the repository
    #[arg(value_name = "FILE.json")]
    file: PathBuf,

    /// The repository's root
    #[arg(long, value_name = "DIR")]
    root: PathBuf,
}

/// Writes both files.
///
/// # Errors
///
/// A record that is not below the root or has none of the tasks, a README.md without the section,
/// or a file that cannot be written.
pub fn run(options: &Options) -> Result<()> {
    let absolute = |path: &Path| path.canonicalize().with_context(|| format!("cannot read {}", path.display()));
    let (root, file) = (absolute(&options.root)?, absolute(&options.file)?);
    let Ok(name) = file.strip_prefix(&root) else {
        anyhow::bail!("{} is not in the repository; README.md can only name a record that is", file.display());
    };
    let name = name.to_string_lossy().replace('\\', "/");
    let report = Report::read(&file)?;
    ensure!(!rows(&report).is_empty(), "{name} has none of the tasks of README.md's table with elements of {DTYPE}");
    let readme = root.join("README.md");
    let old = fs::read_to_string(&readme).with_context(|| format!("cannot read {}", readme.display()))?;
    let files = [(readme, with_section(&old, &section(&report, &name))?), (root.join(CHART), chart(&report))];
    for (path, text) in files {
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        print(format_args!("wrote {}", path.display()))?;
    }
    Ok(())
}

/// The text between the two marks, from a record whose path from the root is `name`.
fn section(report: &Report, name: &str) -> String {
    let rows = rows(report);
    // Rows of a record without tasks are compared only with the peers of their own kernel.
    let (one, best) =
        if has_tasks(report) { ("task", "best C++ of any shape") } else { ("kernel", "best C++ beside it") };
    let sentence = sentence(&rows, one, best).map_or_else(String::new, |sentence| sentence + "\n\n");
    let copy = report.copy.as_ref();
    let copy = copy.map_or_else(String::new, |copy| {
        format!("; the driver's own copy moves {:.0} GB/s", copy.gigabytes_per_second)
    });
    let has_intervals = rows.iter().filter_map(|row| row.best).any(|(_, ratio)| ratio.interval.is_some());
    let intervals = if has_intervals { " In parentheses: where a ratio lies with 95 % confidence." } else { "" };
    let mut text = format!(
        "{sentence}Made from [`{name}`]({name}): {}{copy}.{intervals}\n\n\
         | {one} | our kernel | ms | GB/s | of the copy | {best} | the guide's code as printed | twin in unsafe Rust |\n\
         |---|---|---|---|---|---|---|---|\n",
        report.head()
    );
    for row in &rows {
        let [kernel, milliseconds, rate, share] = ours(report, &row.task);
        let best = row.best.map_or_else(String::new, |(whose, ratio)| {
            format!("{}: {whose}", with_interval(ratio.value, ratio.interval))
        });
        let [guide, twin] =
            [row.guide, row.task.twin].map(|ratio| ratio.map_or_else(String::new, |ratio| times(ratio.value)));
        let name = &row.task.name;
        text += &format!("| {name} | {kernel} | {milliseconds} | {rate} | {share} | {best} | {guide} | {twin} |\n");
    }
    text + &format!("\n![{DOTS_TITLE}]({CHART})\n")
}

/// The chart of the same rows.
fn chart(report: &Report) -> String {
    let tasks: Vec<Task<'_>> = rows(report).into_iter().map(|row| row.task).collect();
    dots(&tasks, Width::Column)
}

/// A row of the table.
struct Line<'a> {
    task: Task<'a>,
    /// What the fastest contestant in C++ is, and its time over ours.
    best: Option<(&'a str, Ratio)>,
    /// The time over ours of the fastest form that the guide prints.
    guide: Option<Ratio>,
}

/// The record's tasks of [`TASKS`], each at its largest size. Of a record without tasks, where a
/// kernel stands for its task, the first kernels.
fn rows(report: &Report) -> Vec<Line<'_>> {
    let has = |kernel: &str| report.comparisons.iter().any(|row| row.kernel == kernel);
    let mut wanted: Vec<&str> = Vec::new();
    if has_tasks(report) {
        let shown = TASKS.into_iter().filter(|(_, kernel)| kernel.is_none_or(has));
        wanted.extend(shown.map(|(task, _)| task));
    } else {
        for row in report.comparisons.iter().filter(|row| row.dtype == DTYPE) {
            if !wanted.contains(&row.kernel.as_str()) {
                wanted.push(&row.kernel);
            }
        }
        wanted.truncate(KERNELS);
    }
    let mut tasks = tasks::tasks(report);
    tasks.sort_by_key(|task| Reverse(task.key.bytes));
    let largest = |wanted: &str| {
        let at = tasks.iter().position(|task| task.key.task == wanted && task.key.dtype == DTYPE)?;
        Some(Line::of(tasks.remove(at)))
    };
    wanted.into_iter().filter_map(largest).collect()
}

/// Whether a record says what its kernels compute.
fn has_tasks(report: &Report) -> bool {
    report.comparisons.iter().any(|row| !row.task.is_empty())
}

impl<'a> Line<'a> {
    fn of(task: Task<'a>) -> Line<'a> {
        let beside = |classes: &[Class]| {
            let other = task.fastest_of(classes)?;
            Some((called(other), task.over_ours(other)?))
        };
        let (best, guide) = (beside(&CPP), beside(&[Class::Guide]).map(|(_, ratio)| ratio));
        Line { task, best, guide }
    }
}

/// What the table shows, in a sentence; none where a task has no right kernel of ours, of which the
/// others' ratios would say nothing.
fn sentence(rows: &[Line<'_>], one: &str, best: &str) -> Option<String> {
    if rows.iter().any(|row| row.task.ours.is_none()) {
        return None;
    }
    let best = speeds(rows.iter().map(|row| row.best.map(|(_, ratio)| ratio)), best);
    let guide = speeds(rows.iter().map(|row| row.guide), "guide's code as printed");
    let parts: Vec<String> = [best, guide].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("At its fastest each {one} runs {}.", parts.join(", and ")))
}

/// The least and the greatest ratio to one contestant; none where it is nowhere.
fn speeds(ratios: impl Iterator<Item = Option<Ratio>> + Clone, whose: &str) -> Option<String> {
    let values = ratios.clone().flatten().map(|ratio| ratio.value);
    let ends = [values.clone().min_by(f64::total_cmp)?, values.max_by(f64::total_cmp)?];
    let [least, most] = ends.map(times);
    let range = if least == most { least } else { format!("{least} to {most}") };
    let where_it_is = if ratios.clone().any(|ratio| ratio.is_none()) { ", where there is any" } else { "" };
    Some(format!("at {range} times the speed of the {whose}{where_it_is}"))
}

/// Our kernel with its stages, its milliseconds, its rate and the rate's share of the copy.
fn ours(report: &Report, task: &Task<'_>) -> [String; 4] {
    let Some((row, timing)) = task.ours.and_then(|row| Some((row, row.timing.as_ref()?))) else {
        return ["wrong", "", "", ""].map(str::to_owned);
    };
    let share = report.share(Some(timing)).map_or_else(String::new, percent);
    let rate = format!("{:.0}", timing.gigabytes_per_second);
    [kernel(row), format!("{:.4}", timing.milliseconds.median), rate, share]
}

fn kernel(row: &Row) -> String {
    let stages = match row.stages.as_deref() {
        None => String::new(),
        Some("1") => ", 1 stage".to_owned(),
        Some(stages) => format!(", {stages} stages"),
    };
    format!("`{}`{stages}", row.kernel)
}

/// What a contestant is.
fn called<'a>(other: &Other<'a>) -> &'a str {
    // Its own name is "plain", which says little without the others.
    if other.class == Class::Plain { class_name(Class::Plain) } else { &other.peer.name }
}

/// Replaces what stands between the two marks.
fn with_section(readme: &str, section: &str) -> Result<String> {
    let (from, to) = marks(readme)?;
    Ok(format!("{}\n{section}{}", &readme[..from], &readme[to..]))
}

/// Where the first mark ends and where the second begins.
fn marks(readme: &str) -> Result<(usize, usize)> {
    let place = |mark: &str| readme.find(mark).with_context(|| format!("README.md has no line `{mark}`"));
    let (from, to) = (place(BEGIN)? + BEGIN.len(), place(END)?);
    ensure!(from <= to, "`{END}` stands before `{BEGIN}` in README.md");
    Ok((from, to))
}

#[cfg(test)]
mod tests;
