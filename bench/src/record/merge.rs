//! `tilepipe-bench merge`: one record of several processes that measured the same.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::record::costs::{self, Launches};
use crate::record::small::{self, AtGrid, Contestant, Small};
use crate::record::{Line, PeerRow, Point, Process, Report, Row, Sweep, Timing};
use crate::torch::{self, Measured};

/// Which records become one, and where it goes.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Records that `measure` has written, of the same commit, GPU, driver and size
    #[arg(value_name = "FILE.json", required = true)]
    files: Vec<PathBuf>,

    /// Where to write the record
    #[arg(long, value_name = "FILE.json")]
    output: PathBuf,

    /// What `torch_peers.py` has written, of the same commit and GPU; several are processes that
    /// measured the same
    #[arg(long, value_name = "FILE.json", num_args = 1..)]
    torch: Vec<PathBuf>,

    /// What `launches --bare` has written, of the same commit and GPU, by several processes
    #[arg(long, value_name = "FILE.json", num_args = 1..)]
    launches: Vec<PathBuf>,

    /// What `compile` has written, on any machine
    #[arg(long, value_name = "FILE.json")]
    compile: Option<PathBuf>,
}

/// Merges the records and writes the one that they become.
///
/// # Errors
///
/// A file that cannot be read or written; records that differ in more than what was measured, or
/// that lack samples.
pub fn run(options: &Options) -> Result<Report> {
    let reports = options.files.iter().map(|path| Ok((path.display().to_string(), Report::read(path)?)));
    let mut report = merge(reports.collect::<Result<_>>()?)?;
    append(&mut report, options.torch.iter().map(|path| read_torch(path)).collect::<Result<_>>()?)?;
    for path in &options.launches {
        add_launches(&mut report, costs::read(path)?).with_context(|| path.display().to_string())?;
    }
    if let Some(path) = &options.compile {
        report.costs.compile = Some(costs::read(path)?);
    }
    report.write(&options.output)?;
    Ok(report)
}

/// Adds a process that timed launches to those that were read before.
fn add_launches(whole: &mut Report, process: Launches) -> Result<()> {
    is_same("GPU", &whole.gpu, &process.gpu)?;
    is_same("commit", &whole.commit, &process.commit)?;
    ensure!(!whole.costs.launches.contains(&process), "its process is there already");
    if let Some(first) = whole.costs.launches.first() {
        let names = |process: &Launches| process.kernels.iter().map(|one| one.kernel.clone()).collect::<Vec<_>>();
        is_same("kernels", &names(first).join("; "), &names(&process).join("; "))?;
        is_same("number of launches", &first.launches, &process.launches)?;
    }
    whole.costs.launches.push(process);
    Ok(())
}

fn read_torch(path: &Path) -> Result<(String, Measured)> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    let measured = torch::rows(&text).with_context(|| name.clone())?;
    Ok((name, measured))
}

/// Makes one record of several, each with its name.
fn merge(reports: Vec<(String, Report)>) -> Result<Report> {
    let mut reports = reports.into_iter();
    let (name, mut whole) = reports.next().context("there is no record to merge")?;
    check(&whole).with_context(|| name.clone())?;
    for (name, other) in reports {
        check(&other).and_then(|()| join(&mut whole, other)).with_context(|| name)?;
    }
    let samples: Vec<f64> = whole.processes.iter().flat_map(|process| process.copy.iter().copied()).collect();
    whole.copy = Timing::of(&samples, 2 * whole.bytes);
    derive(&mut whole.comparisons)?;
    points(&mut whole).for_each(Point::derive);
    derive_sizes(&mut whole.sizes)?;
    Ok(whole)
}

/// Appends the rows of PyTorch's part, whose processes are others.
fn append(whole: &mut Report, runs: Vec<(String, Measured)>) -> Result<()> {
    let (mut processes, mut rows) = (Vec::new(), Vec::new());
    for (name, run) in runs {
        add_run(whole, &mut processes, &mut rows, run).context(name)?;
    }
    derive(&mut rows)?;
    // Each process has its place among the samples of all.
    let (before, after) = (vec![Vec::new(); whole.processes.len()], vec![Vec::new(); processes.len()]);
    rows.iter_mut().flat_map(series).for_each(|samples| drop(samples.splice(..0, before.iter().cloned())));
    whole.comparisons.iter_mut().flat_map(series).for_each(|samples| samples.extend_from_slice(&after));
    points(whole).for_each(|point| point.samples.extend_from_slice(&after));
    grids(&mut whole.sizes).for_each(|at| at.samples.extend_from_slice(&after));
    whole.comparisons.extend(rows);
    whole.processes.extend(processes);
    Ok(())
}

/// Adds a run to those of the same rows that were read before.
fn add_run(whole: &Report, processes: &mut Vec<Process>, rows: &mut Vec<Row>, run: Measured) -> Result<()> {
    is_same("GPU", &whole.gpu, &run.gpu)?;
    is_same("commit", &whole.commit, &run.process.commit)?;
    let mut all = whole.processes.iter().chain(processes.iter());
    ensure!(all.all(|process| *process != run.process), "its process is there already");
    if processes.is_empty() {
        *rows = run.rows;
    } else {
        join_rows(rows, run.rows)?;
    }
    processes.push(run.process);
    Ok(())
}

/// Checks that a record has what a merged one is worked out from.
fn check(report: &Report) -> Result<()> {
    let count = report.processes.len();
    ensure!(count > 0, "its processes are not on record: an older program has written it");
    let of_rows = report.comparisons.iter().map(|row| (row_name(row), row.moved, all_samples(row)));
    let all_points = report.sweeps.iter().flat_map(|sweep| sweep.lines.iter().flat_map(|line| &line.points));
    let of_points = all_points.map(|point| (format!("x = {}", point.x), point.moved, vec![&point.samples]));
    let of_sizes = report.sizes.iter().flat_map(|size| {
        size.all()
            .map(|(one, at)| (format!("{} of {}", grid_name(one, at), size_name(size)), size.moved, vec![&at.samples]))
    });
    for (name, moved, samples) in of_rows.chain(of_points).chain(of_sizes) {
        ensure!(moved > 0, "{name} does not say how many bytes a launch moves");
        let is_whole = samples.iter().all(|samples| samples.len() == count);
        ensure!(is_whole, "{name} has not the samples of its {count} processes");
    }
    Ok(())
}

/// Adds what another record has measured.
fn join(whole: &mut Report, other: Report) -> Result<()> {
    is_same("commit", &whole.commit, &other.commit)?;
    is_same("GPU", &whole.gpu, &other.gpu)?;
    is_same("compute capability", &whole.compute_capability, &other.compute_capability)?;
    is_same("driver", &whole.driver, &other.driver)?;
    is_same("number of bytes", &whole.bytes, &other.bytes)?;
    let is_new = other.processes.iter().all(|process| !whole.processes.contains(process));
    ensure!(is_new, "a process of it is there already: the same record was named twice");
    join_rows(&mut whole.comparisons, other.comparisons)?;
    let of_sweep = |sweep: &Sweep| format!("the sweep `{}`", sweep.title);
    for (own, other) in pair(&mut whole.sweeps, other.sweeps, of_sweep)? {
        let title = of_sweep(own);
        for (own, other) in
            pair(&mut own.lines, other.lines, |line: &Line| line.name.clone()).with_context(|| title.clone())?
        {
            join_points(own, other).with_context(|| title.clone())?;
        }
    }
    join_sizes(&mut whole.sizes, other.sizes)?;
    whole.repetitions += other.repetitions;
    whole.processes.extend(other.processes);
    for process in other.costs.launches {
        add_launches(whole, process)?;
    }
    whole.costs.compile = whole.costs.compile.take().or(other.costs.compile);
    Ok(())
}

fn join_rows(whole: &mut [Row], other: Vec<Row>) -> Result<()> {
    for (own, other) in pair(whole, other, row_name)? {
        let name = row_name(own);
        is_same("number of bytes moved", &own.moved, &other.moved).with_context(|| name.clone())?;
        own.samples.extend(other.samples);
        join_fault(&mut own.fault, other.fault);
        for (own, other) in pair(&mut own.peers, other.peers, peer_name).with_context(|| name.clone())? {
            own.samples.extend(other.samples);
            join_fault(&mut own.fault, other.fault);
            own.wrong = match (own.wrong, other.wrong) {
                (Some(one), Some(two)) => Some([one[0].max(two[0]), one[1].max(two[1])]),
                (one, two) => one.or(two),
            };
        }
    }
    Ok(())
}

fn join_points(own: &mut Line, other: Line) -> Result<()> {
    let name = own.name.clone();
    let place = |point: &Point| format!("{name} at x = {}", point.x);
    for (own, other) in pair(&mut own.points, other.points, place)? {
        is_same("number of bytes moved", &own.moved, &other.moved).with_context(|| place(own))?;
        own.samples.extend(other.samples);
        join_fault(&mut own.fault, other.fault);
    }
    Ok(())
}

fn join_sizes(whole: &mut [Small], other: Vec<Small>) -> Result<()> {
    for (own, other) in pair(whole, other, size_name)? {
        let name = size_name(own);
        is_same("number of launches in a graph", &own.launches, &other.launches).with_context(|| name.clone())?;
        is_same("number of buffers", &own.buffers, &other.buffers).with_context(|| name.clone())?;
        is_same("ratio that is wanted", &own.wanted, &other.wanted).with_context(|| name.clone())?;
        let contestants = pair(&mut own.contestants, other.contestants, |one| one.name.clone());
        for (own, other) in contestants.with_context(|| name.clone())? {
            let of_grid = |at: &AtGrid| at.grid.map_or_else(|| at.blocks.clone(), |grid| format!("grid {grid}"));
            let grids = pair(&mut own.grids, other.grids, of_grid);
            for (at, other) in grids.with_context(|| format!("{} of {name}", own.name))? {
                at.samples.extend(other.samples);
                join_fault(&mut at.fault, other.fault);
            }
        }
    }
    Ok(())
}

/// Keeps what is wrong in any process, each fault once.
fn join_fault(own: &mut Option<String>, other: Option<String>) {
    match (own, other) {
        (Some(own), Some(other)) if !own.contains(&other) => *own = format!("{own}; in another process: {other}"),
        (own @ None, other) => *own = other,
        _ => {}
    }
}

/// Works out what follows from the samples of all processes.
fn derive(rows: &mut [Row]) -> Result<()> {
    for row in rows {
        // Ratios are taken pair by pair, and pairs are counted from process to process.
        let rounds = |samples: &[Vec<f64>]| samples.iter().map(Vec::len).collect::<Vec<_>>();
        let ours = rounds(&row.samples);
        for peer in row.peers.iter().filter(|peer| peer.fault.is_none() && row.fault.is_none()) {
            is_same("number of samples", &format!("{ours:?}"), &format!("{:?}", rounds(&peer.samples)))
                .with_context(|| format!("{} of {}", peer_name(peer), row_name(row)))?;
        }
        row.derive();
    }
    Ok(())
}

/// The same of small sizes, whose contestants were all measured in the same rounds.
fn derive_sizes(sizes: &mut [Small]) -> Result<()> {
    for size in sizes {
        let rounds = |at: &AtGrid| format!("{:?}", at.samples.iter().map(Vec::len).collect::<Vec<_>>());
        let right = || size.all().filter(|(_, at)| at.fault.is_none());
        if let Some(first) = right().next().map(|(_, at)| rounds(at)) {
            for (one, at) in right() {
                is_same("number of samples", &first, &rounds(at))
                    .with_context(|| format!("{} of {}", grid_name(one, at), size_name(size)))?;
            }
        }
        size.derive();
    }
    Ok(())
}

/// Pairs what two records have, by name and in their order; what only one of them has is named.
fn pair<T>(
    own: &mut [T],
    mut others: Vec<T>,
    name: impl Fn(&T) -> String,
) -> Result<impl Iterator<Item = (&mut T, T)>> {
    let (mut pairs, mut alone) = (Vec::new(), Vec::new());
    for one in own {
        let wanted = name(one);
        match others.iter().position(|other| name(other) == wanted) {
            Some(place) => pairs.push((one, others.remove(place))),
            None => alone.push(wanted),
        }
    }
    alone.extend(others.iter().map(name));
    ensure!(alone.is_empty(), "not in all files: {}", alone.join("; "));
    Ok(pairs.into_iter())
}

fn row_name(row: &Row) -> String {
    let task = if row.task.is_empty() { String::new() } else { format!(" ({})", row.task) };
    format!("{} at grid {}{task}", row.symbol, row.grid)
}

fn peer_name(peer: &PeerRow) -> String {
    let grid = peer.grid.map(|grid| format!(" at grid {grid}")).unwrap_or_default();
    format!("{} `{}`{grid}", peer.name, peer.symbol)
}

fn size_name(size: &Small) -> String {
    format!("{} at {}", size.task, small::size(size.bytes))
}

fn grid_name(contestant: &Contestant, at: &AtGrid) -> String {
    format!("{}, {}", contestant.name, at.blocks)
}

fn all_samples(row: &Row) -> Vec<&Vec<Vec<f64>>> {
    std::iter::once(&row.samples).chain(row.peers.iter().map(|peer| &peer.samples)).collect()
}

fn series(row: &mut Row) -> impl Iterator<Item = &mut Vec<Vec<f64>>> {
    std::iter::once(&mut row.samples).chain(row.peers.iter_mut().map(|peer| &mut peer.samples))
}

fn points(report: &mut Report) -> impl Iterator<Item = &mut Point> {
    report.sweeps.iter_mut().flat_map(|sweep| &mut sweep.lines).flat_map(|line| &mut line.points)
}

fn grids(sizes: &mut [Small]) -> impl Iterator<Item = &mut AtGrid> {
    sizes.iter_mut().flat_map(|size| &mut size.contestants).flat_map(|contestant| &mut contestant.grids)
}

fn is_same<T: PartialEq + Display>(what: &str, one: &T, other: &T) -> Result<()> {
    ensure!(one == other, "the {what} is {other}, and {one} in what was read before");
    Ok(())
}

#[cfg(test)]
mod tests;
