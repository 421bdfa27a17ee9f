//! Small sizes on record: times of launches in graphs, and what follows from them.

use serde::{Deserialize, Serialize};

use super::{Class, Line, Point, Sweep, Timing};
use crate::statistics::{Summary, interval};

/// What one size varies over, as an axis says it.
pub const AXIS: &str = "size of the input";

/// One task at one small size. Each contestant is a graph of several launches, each launch on the
/// next of a ring of buffers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Small {
    /// What all contestants compute, for people.
    pub task: String,
    /// Bytes of the input of a launch.
    pub bytes: u64,
    /// Bytes that a launch reads and writes.
    pub moved: u64,
    /// Launches of a graph.
    pub launches: usize,
    /// Buffers of the ring, each an input and an output.
    pub buffers: usize,
    /// Ours and the others.
    pub contestants: Vec<Contestant>,
    /// The fastest of ours at its best grid; none if none of ours is right.
    pub ours: Option<Pick>,
    /// The fastest of the others at its best grid.
    pub other: Option<Pick>,
    /// The time of the fastest other over that of the fastest of ours, round by round: above 1 ours
    /// is faster.
    pub ratio: Option<Summary>,
    /// Where the ratio's median lies with 95 % confidence, lower and upper end.
    pub interval: Option<[f64; 2]>,
    /// The least ratio wanted.
    pub wanted: f64,
    /// Whether the median ratio is at least that.
    pub met: bool,
}

/// A contestant in one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contestant {
    /// What it is.
    pub name: String,
    /// What it is, which fixes its colour.
    pub class: Class,
    /// Its entry.
    pub symbol: String,
    /// Every grid that it was measured with.
    pub grids: Vec<AtGrid>,
    /// The grid that it is fastest with; none if none of its results are right.
    pub best: Option<String>,
}

/// A contestant with one grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AtGrid {
    /// What the grid follows from.
    pub blocks: String,
    /// Blocks; none where a library chooses them.
    pub grid: Option<u32>,
    /// The time of a launch; none if its results are wrong.
    pub timing: Option<Timing>,
    /// What is wrong with its results.
    pub fault: Option<String>,
    /// Milliseconds of a launch by each replay of a graph, process by process, in the order of the
    /// rounds.
    pub samples: Vec<Vec<f64>>,
}

/// A contestant at its best grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pick {
    /// The contestant.
    pub name: String,
    /// What its grid follows from.
    pub blocks: String,
    /// Its blocks; none where a library chooses them.
    pub grid: Option<u32>,
    /// The median time of a launch.
    pub microseconds: f64,
}

impl AtGrid {
    /// Returns the median time of a launch, if its results are right.
    pub fn milliseconds(&self) -> Option<f64> {
        self.timing.as_ref().map(|timing| timing.milliseconds.median)
    }
}

impl Contestant {
    /// Returns what was measured with the grid that it is fastest with.
    pub fn at_best(&self) -> Option<&AtGrid> {
        let right = self.grids.iter().filter_map(|at| Some((at, at.milliseconds()?)));
        right.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(at, _)| at)
    }

    fn pick(&self) -> Option<Pick> {
        let at = self.at_best()?;
        let microseconds = 1000.0 * at.milliseconds()?;
        Some(Pick { name: self.name.clone(), blocks: at.blocks.clone(), grid: at.grid, microseconds })
    }
}

impl Small {
    /// Returns the fastest contestant of some classes, and what was measured of it with its best
    /// grid.
    pub fn fastest(&self, wanted: impl Fn(Class) -> bool) -> Option<(&Contestant, &AtGrid)> {
        let all = self.contestants.iter().filter(|one| wanted(one.class));
        let timed = all.filter_map(|one| one.at_best().and_then(|at| Some((one, at, at.milliseconds()?))));
        timed.min_by(|one, other| one.2.total_cmp(&other.2)).map(|(one, at, _)| (one, at))
    }

    /// Returns the classes of the contestants that have a time, each once and in their order.
    pub fn classes(&self) -> Vec<Class> {
        let mut classes: Vec<Class> =
            self.contestants.iter().filter(|one| one.at_best().is_some()).map(|one| one.class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Returns every contestant with every grid.
    pub fn all(&self) -> impl Iterator<Item = (&Contestant, &AtGrid)> {
        self.contestants.iter().flat_map(|one| one.grids.iter().map(move |at| (one, at)))
    }

    /// Works out what follows from the samples.
    pub fn derive(&mut self) {
        for contestant in &mut self.contestants {
            for at in &mut contestant.grids {
                at.timing = if at.fault.is_none() { Timing::of(&at.samples.concat(), self.moved) } else { None };
            }
            contestant.best = contestant.at_best().map(|at| at.blocks.clone());
        }
        let ours = self.fastest(|class| class == Class::Tilepipe);
        let other = self.fastest(|class| class != Class::Tilepipe);
        let samples = ours.zip(other).map(|((_, ours), (_, other))| (&other.samples, &ours.samples));
        let ratio = samples.and_then(|(other, ours)| Summary::of_ratios(&other.concat(), &ours.concat()));
        let interval = samples.and_then(|(other, ours)| interval::of_pairs(other, ours));
        let [ours, other] = [ours, other].map(|one| one.and_then(|(contestant, _)| contestant.pick()));
        (self.ours, self.other, self.ratio, self.interval) = (ours, other, ratio, interval);
        self.met = ratio.is_some_and(|ratio| ratio.median >= self.wanted);
    }

    /// Returns a line for each wrong result.
    pub fn faults(&self) -> Vec<String> {
        let size = size(self.bytes);
        let line = |one: &Contestant, at: &AtGrid, fault: &str| {
            format!("{} is wrong at {size} of `{}` with {}: {fault}", one.symbol, self.task, at.blocks)
        };
        self.all().filter_map(|(one, at)| Some(line(one, at, at.fault.as_ref()?))).collect()
    }

    /// Returns what is wrong, or slower than wanted.
    pub fn failures(&self) -> Vec<String> {
        let mut lines = self.faults();
        if let (Some(ratio), Some(ours), Some(other), false) = (self.ratio, &self.ours, &self.other, self.met) {
            lines.push(format!(
                "{} is {:.3}x as fast as {} at {} of `{}`; {:.2}x is wanted",
                ours.name,
                ratio.median,
                other.name,
                size(self.bytes),
                self.task,
                self.wanted
            ));
        }
        lines
    }

    /// Whether ours is slower than the fastest other, and by more than the interval.
    pub fn is_below(&self) -> bool {
        self.interval.is_some_and(|[_, upper]| upper < 1.0)
    }
}

/// Returns the tasks of some sizes, each with its sizes.
pub fn by_task(sizes: &[Small]) -> Vec<(&str, Vec<&Small>)> {
    let mut tasks: Vec<(&str, Vec<&Small>)> = Vec::new();
    for one in sizes {
        match tasks.iter_mut().find(|(task, _)| *task == one.task) {
            Some((_, of_task)) => of_task.push(one),
            None => tasks.push((&one.task, vec![one])),
        }
    }
    tasks
}

/// Returns each task as a sweep over sizes, with a line for each contestant and grid.
pub fn sweeps(sizes: &[Small]) -> Vec<Sweep> {
    let of_task = |(task, sizes): (&str, Vec<&Small>)| {
        let mut lines: Vec<Line> = Vec::new();
        for one in sizes {
            for (contestant, at) in one.all() {
                let point = Point {
                    x: one.bytes as f64,
                    timing: at.timing.clone(),
                    fault: at.fault.clone(),
                    moved: one.moved,
                    samples: at.samples.clone(),
                };
                let name = format!("{}, {}", contestant.name, at.blocks);
                match lines.iter_mut().find(|line| line.name == name) {
                    Some(line) => line.points.push(point),
                    None => lines.push(Line { name, points: vec![point] }),
                }
            }
        }
        Sweep { title: format!("{task}, in graphs"), axis: AXIS.to_owned(), unit: "bytes".to_owned(), lines }
    };
    by_task(sizes).into_iter().map(of_task).collect()
}

/// Returns a number of bytes as people write it.
pub fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

#[cfg(test)]
pub mod tests;
