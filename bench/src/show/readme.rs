//! `tilepipe-bench readme`: a record's table in README.md and its chart in docs/bench.svg.
//!
//! Only what stands between [`BEGIN`] and [`END`] is written. It names its record, from which a
//! test makes it again.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use tilepipe_runner::stdout::print;

use crate::record::{Class, PeerRow, Report, Row, Timing};
use crate::show::chart::{Bar, Group, Overview, class_name};
use crate::show::table::percent;

/// The line before the section.
const BEGIN: &str = "<!-- bench:begin -->";
/// The line after the section.
const END: &str = "<!-- bench:end -->";
/// Where the chart goes, from the repository's root.
const CHART: &str = "docs/bench.svg";

/// The kernels of CUDA's programming guide, in the order of the table.
const GUIDE: [&str; 10] = [
    "without_memcpy_async",
    "with_memcpy_async",
    "with_memcpy_async_prior",
    "with_single_stage",
    "with_staging",
    "with_staging_unified",
    "with_staging_scope_thread",
    "example_kernel",
    "with_specialized_staging_unified",
    "with_specialized_staging_warps",
];

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
/// A record that is not below the root, a README.md without the section, or a file that cannot be
/// written.
pub fn run(options: &Options) -> Result<()> {
    let absolute = |path: &Path| path.canonicalize().with_context(|| format!("cannot read {}", path.display()));
    let (root, file) = (absolute(&options.root)?, absolute(&options.file)?);
    let Ok(name) = file.strip_prefix(&root) else {
        anyhow::bail!("{} is not in the repository; README.md can only name a record that is", file.display());
    };
    let name = name.to_string_lossy().replace('\\', "/");
    let report = Report::read(&file)?;
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
    let copy = report.copy.as_ref();
    let copy = copy.map_or_else(String::new, |copy| {
        format!("; the driver's own copy moves {:.0} GB/s", copy.gigabytes_per_second)
    });
    let mut text = format!(
        "Made from [`{name}`]({name}): {}{copy}.\n\n\
         | kernel | elements | stages | GB/s | of the copy | C++ `cuda::pipeline` or cooperative groups | best hand-written |\n\
         |---|---|---|---|---|---|---|\n",
        report.head()
    );
    for row in rows(report) {
        let no_time = if row.fault.is_some() { "wrong" } else { "" };
        let rate =
            row.timing.as_ref().map_or(no_time.to_owned(), |timing| format!("{:.0}", timing.gigabytes_per_second));
        let share = report.share(row.timing.as_ref()).map_or_else(String::new, percent);
        let library = library(row)
            .map_or_else(String::new, |peer| ratio(peer) + if peer.wrong.is_some() { " (it races)" } else { "" });
        let hand = best_by_hand(row).map_or_else(String::new, ratio);
        let (stages, elements) = (row.stages.as_deref().unwrap_or(""), elements(row));
        text += &format!("| `{}` | {elements} | {stages} | {rate} | {share} | {library} | {hand} |\n", row.kernel);
    }
    text + &format!("\n![GB/s of each kernel beside C++ on CUDA's library and the best kernel by hand]({CHART})\n")
}

/// The chart of the same rows.
fn chart(report: &Report) -> String {
    let bar = |name: &str, timing: &Option<Timing>, fault: &Option<String>, class| Bar {
        name: name.to_owned(),
        rate: timing.as_ref().map(|timing| timing.gigabytes_per_second),
        note: if fault.is_some() { "WRONG".to_owned() } else { String::new() },
        class,
        races: false,
    };
    let groups = rows(report).into_iter().map(|row| {
        let stages = row.stages.as_ref().map_or_else(String::new, |stages| format!(", {stages} stages"));
        let peers = [library(row), best_by_hand(row)].into_iter().flatten();
        let bars = peers.map(|peer| Bar {
            races: peer.wrong.is_some(),
            ..bar(&peer.name, &peer.timing, &peer.fault, peer.class())
        });
        let bars = std::iter::once(bar("tilepipe", &row.timing, &row.fault, Class::Tilepipe)).chain(bars).collect();
        Group { name: format!("{}, {}{stages}", row.kernel, elements(row).replace('`', "")), bars }
    });
    let copy = report.copy.as_ref().map(|copy| (copy.gigabytes_per_second, "the driver's copy"));
    Overview {
        title: "GB/s of each kernel beside C++ on CUDA's library and the best kernel by hand",
        legend: &[
            (Class::Tilepipe, "tilepipe, GB/s"),
            (Class::Guide, "C++ on CUDA's library"),
            (Class::Pipeline, "C++ on CUDA's library, fastest"),
            (Class::Hand, "best by hand"),
            (Class::Plain, "without asynchronous copies"),
            (Class::Library, class_name(Class::Library)),
            (Class::PyTorch, class_name(Class::PyTorch)),
            (Class::UnsafeRust, class_name(Class::UnsafeRust)),
        ],
        mark: copy,
        groups: &groups.collect::<Vec<_>>(),
    }
    .svg()
}

/// The guide's kernels, each shape at its largest grid.
fn rows(report: &Report) -> Vec<&Row> {
    let is_largest = |row: &&Row| {
        let shape = |row: &Row| (row.kernel.clone(), row.dtype.clone(), row.stages.clone());
        let alike = report.comparisons.iter().filter(|other| shape(other) == shape(row));
        alike.map(|other| other.grid).max() == Some(row.grid)
    };
    let of_kernel = |name| report.comparisons.iter().filter(move |row| row.kernel == name).filter(is_largest);
    GUIDE.into_iter().flat_map(of_kernel).collect()
}

fn library(row: &Row) -> Option<&PeerRow> {
    row.peers.iter().find(|peer| peer.is_library() && peer.fault.is_none())
}

/// The fastest kernel by hand.
fn best_by_hand(row: &Row) -> Option<&PeerRow> {
    let milliseconds = |peer: &PeerRow| peer.timing.as_ref().map(|timing| timing.milliseconds.median);
    let by_hand = row.peers.iter().filter(|peer| !peer.is_library() && peer.wrong.is_none());
    let timed = by_hand.filter_map(|peer| Some((milliseconds(peer)?, peer)));
    timed.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, peer)| peer)
}

fn ratio(peer: &PeerRow) -> String {
    peer.ratio.map_or_else(String::new, |ratio| format!("{:.2}", ratio.median))
}

fn elements(row: &Row) -> String {
    if row.dtype == "i32x4" { "16 bytes".to_owned() } else { format!("`{}`", row.dtype) }
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
