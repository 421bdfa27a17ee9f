//! Task by task: our fastest kernel beside the fastest of every other form.
//!
//! The best of all others is the fastest contestant with right results that neither races nor is
//! our kernel's twin in unsafe Rust.

use crate::record::{Class, PeerRow, Report, Row, Timing};
use crate::statistics::interval;

/// Contestants that are no others: our kernels in other shapes, and their twins in unsafe Rust.
const OURS: [Class; 2] = [Class::Tilepipe, Class::UnsafeRust];

/// What is computed of which data, and who is how fast.
pub struct Task<'a> {
    /// The task, the element type and, where tasks differ in it, the size of the data.
    pub name: String,
    /// What must be the same for all contestants.
    pub key: Key,
    /// Our fastest kernel; none if none of ours is right.
    pub ours: Option<&'a Row>,
    /// The fastest right contestant of each class, the best of all first.
    pub others: Vec<Other<'a>>,
    /// The best other's time over ours, if both have one: above 1 ours is faster.
    pub ratio: Option<Ratio>,
    /// The time of our kernel's twin in unsafe Rust over ours.
    pub twin: Option<Ratio>,
}

/// A contestant that is not ours.
pub struct Other<'a> {
    /// What it is.
    pub peer: &'a PeerRow,
    /// Its class.
    pub class: Class,
    /// Its blocks.
    pub grid: u32,
    /// Its time.
    pub milliseconds: f64,
    /// How many times as fast as the best of all others it is: at most 1.
    pub speed: f64,
}

/// A time over ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The median.
    pub value: f64,
    /// Where the median lies with 95 % confidence; none where there are no samples.
    pub interval: Option<[f64; 2]>,
}

impl Ratio {
    /// Whether ours is slower, and by more than the interval.
    pub fn is_below(&self) -> bool {
        self.interval.is_some_and(|[_, upper]| upper < 1.0)
    }
}

impl<'a> Task<'a> {
    /// Returns the fastest right contestant of some classes.
    pub fn fastest_of(&self, classes: &[Class]) -> Option<&Other<'a>> {
        self.others.iter().find(|other| classes.contains(&other.class))
    }

    /// Returns the time of another contestant over ours; none where ours is wrong.
    pub fn over_ours(&self, other: &Other<'_>) -> Option<Ratio> {
        ratio(self.ours?, other.peer, other.grid)
    }

    /// Whether ours is slower than another form by more than the interval, or none of ours is
    /// right.
    pub fn is_below(&self) -> bool {
        self.ours.is_none() || self.ratio.is_some_and(|ratio| ratio.is_below())
    }
}

/// Returns all tasks of a record: those in which ours is wrong first, then by rising ratio, then
/// those that nobody else has.
pub fn tasks(report: &Report) -> Vec<Task<'_>> {
    let mut groups: Vec<(Key, Vec<&Row>)> = Vec::new();
    for row in &report.comparisons {
        let key = Key::of(report, row);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    let keys: Vec<Key> = groups.iter().map(|(key, _)| key.clone()).collect();
    let mut tasks: Vec<Task<'_>> = groups.iter().map(|(key, rows)| task(key, key.name(&keys), rows)).collect();
    let rank = |task: &Task<'_>| match (task.ours, task.ratio) {
        (None, _) => f64::NEG_INFINITY,
        (Some(_), ratio) => ratio.map_or(f64::INFINITY, |ratio| ratio.value),
    };
    tasks.sort_by(|one, other| rank(one).total_cmp(&rank(other)));
    tasks
}

/// What rows must have in common to be compared.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    /// The task's text, or the kernel's name in a record without tasks.
    pub task: String,
    /// The element type.
    pub dtype: String,
    /// Bytes that a launch reads and writes.
    pub bytes: u64,
}

impl Key {
    fn of(report: &Report, row: &Row) -> Key {
        let task = if row.task.is_empty() { &row.kernel } else { &row.task };
        // A record has the bytes of a row only as its rate.
        let moved = |timing: &Timing| (timing.gigabytes_per_second * timing.milliseconds.median * 1e6).round() as u64;
        let timing = row.timing.iter().chain(row.peers.iter().filter_map(|peer| peer.timing.as_ref())).next();
        let bytes = timing.map_or(report.bytes * (row.inputs as u64 + 1), moved);
        Key { task: task.clone(), dtype: row.dtype.clone(), bytes }
    }

    fn name(&self, all: &[Key]) -> String {
        let alike = |other: &&Key| other.task == self.task && other.dtype == self.dtype;
        let size = if all.iter().filter(alike).count() > 1 { format!(", {}", size(self.bytes)) } else { String::new() };
        format!("{}, {}{size}", self.task, self.dtype)
    }
}

/// Bytes with two digits and more.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(power, _)| bytes >= 1 << power) {
        Some((power, unit)) => {
            let tenths = (bytes as f64 / f64::from(1 << power) * 10.0).round() / 10.0;
            format!("{tenths} {unit}")
        }
        None => format!("{bytes} bytes"),
    }
}

fn task<'a>(key: &Key, name: String, rows: &[&'a Row]) -> Task<'a> {
    let timed = rows.iter().filter_map(|row| Some((row.right_milliseconds()?, *row)));
    let ours = timed.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, row)| row);
    let peers = rows.iter().flat_map(|row| row.peers.iter().map(|peer| (row.grid, peer)));
    let right = peers.filter_map(|(grid, peer)| Some((peer.right_milliseconds()?, peer.grid.unwrap_or(grid), peer)));
    let mut others: Vec<Other<'a>> = Vec::new();
    for (milliseconds, grid, peer) in right.filter(|(_, _, peer)| !OURS.contains(&peer.class())) {
        let class = peer.class();
        let other = Other { peer, class, grid, milliseconds, speed: 1.0 };
        match others.iter_mut().find(|known| known.class == class) {
            Some(known) if milliseconds < known.milliseconds => *known = other,
            Some(_) => {}
            None => others.push(other),
        }
    }
    others.sort_by(|one, other| one.milliseconds.total_cmp(&other.milliseconds));
    let least = others.first().map(|best| best.milliseconds);
    for other in &mut others {
        other.speed = least.map_or(1.0, |least| least / other.milliseconds);
    }
    let ratio = ours.zip(others.first()).and_then(|(ours, best)| ratio(ours, best.peer, best.grid));
    // A twin is one of its own row's kernel; of another one it says nothing.
    let twin = ours.and_then(|ours| {
        let twin = ours.peers.iter().find(|peer| peer.class() == Class::UnsafeRust)?;
        self::ratio(ours, twin, twin.grid.unwrap_or(ours.grid))
    });
    Task { name, key: key.clone(), ours, others, ratio, twin }
}

/// The time over ours of a peer that has so many blocks: by pairs where both were measured beside
/// one another, else that of the medians.
fn ratio(ours: &Row, peer: &PeerRow, grid: u32) -> Option<Ratio> {
    let is_it = |other: &&PeerRow| {
        other.symbol == peer.symbol && other.name == peer.name && other.grid.unwrap_or(ours.grid) == grid
    };
    let paired = ours.peers.iter().find(is_it).filter(|peer| peer.right_milliseconds().is_some());
    if let Some((paired, ratio)) = paired.and_then(|paired| Some((paired, paired.ratio?))) {
        return Some(Ratio { value: ratio.median, interval: paired.interval });
    }
    let value = peer.right_milliseconds()? / ours.right_milliseconds()?;
    Some(Ratio { value, interval: interval::of_ratio(&peer.samples, &ours.samples) })
}

/// Returns a ratio as it is read: three decimals near 1, two elsewhere.
pub fn times(ratio: f64) -> String {
    if (0.9..=1.1).contains(&ratio) { format!("{ratio:.3}") } else { format!("{ratio:.2}") }
}

/// Returns a ratio with its interval, if it has one.
pub fn with_interval(ratio: f64, interval: Option<[f64; 2]>) -> String {
    let range = interval.map_or_else(String::new, |[lower, upper]| format!(" ({} to {})", times(lower), times(upper)));
    times(ratio) + &range
}

#[cfg(test)]
mod tests;
