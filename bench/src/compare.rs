//! `tilepipe-bench compare`: two records side by side, and which differences are more than noise.
//!
//! A time has changed if the intervals between the 10th and the 90th percentile have no value in common and the medians differ by
//! more than [`LEAST`] percent; a ratio to a peer likewise. The machine of the day moves times, but ratios little.

use comfy_table::{Cell, Table};

use crate::record::{Report, Row, Timing};
use crate::statistics::Summary;
use crate::table::{headed, number};

/// A change of fewer percent does not count.
pub const LEAST: f64 = 1.0;
/// With fewer repetitions the percentiles say little.
const FEW: usize = 5;

/// What two records have in common, and what they have not.
pub struct Comparison {
    /// What makes the comparison doubtful.
    pub warnings: Vec<String>,
    /// Every kernel and peer in both, those that changed first.
    pub entries: Vec<Entry>,
    /// What only the first record has.
    pub only_before: Vec<String>,
    /// What only the second record has.
    pub only_after: Vec<String>,
}

/// One kernel, or one peer of a kernel, in both records.
#[derive(Debug)]
pub struct Entry {
    /// Its entry and grid.
    pub name: String,
    /// Whether it is a peer of the kernel above it.
    pub is_peer: bool,
    /// Its time in both.
    pub time: Pair,
    /// Its time over ours in both; for a peer.
    pub ratio: Pair,
    /// Whether its result is wrong before and after.
    wrong: [bool; 2],
    /// For a kernel of ours: it has ratios in both, and none of them changed.
    ratios_stay: bool,
}

/// The same figure in two records.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair {
    before: Option<Summary>,
    after: Option<Summary>,
}

impl Pair {
    /// The change of the median in percent, where both have one.
    pub fn percent(&self) -> Option<f64> {
        let percent = (self.after?.median / self.before?.median - 1.0) * 100.0;
        percent.is_finite().then_some(percent)
    }

    /// The change in percent if it is more than noise.
    pub fn beyond_noise(&self) -> Option<f64> {
        let apart = !self.before?.overlaps(&self.after?);
        self.percent().filter(|percent| apart && percent.abs() > LEAST)
    }

    fn cells(&self, digits: usize) -> [Cell; 3] {
        let median = |one: Option<Summary>| one.map_or_else(String::new, |one| format!("{:.digits$}", one.median));
        let percent = self.percent().map_or_else(String::new, |percent| format!("{percent:+.1} %"));
        [number(median(self.before)), number(median(self.after)), number(percent)]
    }
}

impl Entry {
    /// Whether its time, its ratio or its correctness changed.
    pub fn has_changed(&self) -> bool {
        self.wrong[0] != self.wrong[1] || self.time.beyond_noise().is_some() || self.ratio.beyond_noise().is_some()
    }

    /// What changed, in words; empty if nothing did.
    pub fn verdict(&self) -> String {
        match self.wrong {
            [false, true] => return "WRONG now".to_owned(),
            [true, false] => return "right now".to_owned(),
            [true, true] => return "WRONG in both".to_owned(),
            [false, false] => {}
        }
        let mut words = Vec::new();
        if let Some(percent) = self.time.beyond_noise() {
            let direction = if percent > 0.0 { "slower" } else { "faster" };
            let peers = if self.ratios_stay { ", and its peers too" } else { "" };
            words.push(format!("{direction}{peers}"));
        }
        if let Some(percent) = self.ratio.beyond_noise() {
            words.push(if percent > 0.0 { "ratio up" } else { "ratio down" }.to_owned());
        }
        words.join("; ")
    }
}

/// Compares two records, matched by entry and grid.
pub fn compare(before: &Report, after: &Report) -> Comparison {
    let (mut entries, mut only_before) = (Vec::new(), Vec::new());
    for old in &before.comparisons {
        match after.comparisons.iter().find(|new| is_same(old, new)) {
            Some(new) => entries.extend(of_kernel(old, new)),
            None => only_before.push(name(old)),
        }
    }
    let mut only_after: Vec<String> = Vec::new();
    for new in &after.comparisons {
        match before.comparisons.iter().find(|old| is_same(old, new)) {
            Some(old) => {
                only_before.extend(lost_peers(old, new));
                only_after.extend(lost_peers(new, old));
            }
            None => only_after.push(name(new)),
        }
    }
    entries.sort_by_key(|entry| !entry.has_changed());
    Comparison { warnings: warnings(before, after), entries, only_before, only_after }
}

fn is_same(one: &Row, other: &Row) -> bool {
    one.symbol == other.symbol && one.grid == other.grid
}

fn name(row: &Row) -> String {
    format!("{} at {} blocks", row.symbol, row.grid)
}

/// Our kernel and the peers that both records have.
fn of_kernel(old: &Row, new: &Row) -> Vec<Entry> {
    let peers = old.peers.iter().filter_map(|old_peer| {
        let new_peer = new.peers.iter().find(|peer| peer.symbol == old_peer.symbol)?;
        Some(Entry {
            name: format!("{} beside {}", old_peer.symbol, name(old)),
            is_peer: true,
            time: times(old_peer.timing.as_ref(), new_peer.timing.as_ref()),
            ratio: Pair { before: old_peer.ratio, after: new_peer.ratio },
            wrong: [old_peer.fault.is_some(), new_peer.fault.is_some()],
            ratios_stay: false,
        })
    });
    let peers: Vec<Entry> = peers.collect();
    let mut ratios = peers.iter().filter(|peer| peer.ratio.percent().is_some()).peekable();
    let ours = Entry {
        name: name(old),
        is_peer: false,
        time: times(old.timing.as_ref(), new.timing.as_ref()),
        ratio: Pair::default(),
        wrong: [old.fault.is_some(), new.fault.is_some()],
        ratios_stay: ratios.peek().is_some() && ratios.all(|peer| peer.ratio.beyond_noise().is_none()),
    };
    std::iter::once(ours).chain(peers).collect()
}

fn times(before: Option<&Timing>, after: Option<&Timing>) -> Pair {
    let milliseconds = |timing: Option<&Timing>| timing.map(|timing| timing.milliseconds);
    Pair { before: milliseconds(before), after: milliseconds(after) }
}

/// The peers of `one` that `other` lacks.
fn lost_peers(one: &Row, other: &Row) -> Vec<String> {
    let is_lost = |symbol: &str| other.peers.iter().all(|peer| peer.symbol != symbol);
    let lost = one.peers.iter().filter(|peer| is_lost(&peer.symbol));
    lost.map(|peer| format!("{} beside {}", peer.symbol, name(one))).collect()
}

fn warnings(before: &Report, after: &Report) -> Vec<String> {
    let facts = |report: &Report| {
        [
            ("GPU", report.gpu.clone()),
            ("compute capability", report.compute_capability.clone()),
            ("driver", report.driver.clone()),
            ("size in bytes", report.bytes.to_string()),
            ("number of repetitions", report.repetitions.to_string()),
        ]
    };
    let differing = facts(before).into_iter().zip(facts(after)).filter(|(old, new)| old != new);
    let mut warnings: Vec<String> =
        differing.map(|((what, old), (_, new))| format!("the {what} differs: {old} and {new}")).collect();
    let least = before.repetitions.min(after.repetitions);
    if least < FEW {
        warnings.push(format!("with so few repetitions ({least}) the spread says little, and noise counts as change"));
    }
    warnings
}

impl Comparison {
    /// Returns warnings, the table, the summary, and what is in one record only.
    pub fn text(&self) -> String {
        let mut text: String = self.warnings.iter().map(|warning| format!("warning: {warning}\n")).collect();
        text += &format!("{}\n{}\n", self.table(), self.summary());
        for (names, record) in [(&self.only_before, "first"), (&self.only_after, "second")] {
            if !names.is_empty() {
                text += &format!("only in the {record}:\n");
                text.extend(names.iter().map(|name| format!("  {name}\n")));
            }
        }
        text
    }

    /// Returns one line: how many changed, and in which direction.
    pub fn summary(&self) -> String {
        let changed = self.entries.iter().filter(|entry| entry.has_changed()).count();
        let count = |pair: fn(&Entry) -> &Pair, up: bool| {
            let changes = self.entries.iter().filter_map(|entry| pair(entry).beyond_noise());
            changes.filter(|percent| (*percent > 0.0) == up).count()
        };
        format!(
            "{changed} of {} changed beyond the noise ({LEAST} %, and no overlap from the 10th to the 90th percentile): \
             {} faster, {} slower; {} ratios to a peer up, {} down",
            self.entries.len(),
            count(|entry| &entry.time, false),
            count(|entry| &entry.time, true),
            count(|entry| &entry.ratio, true),
            count(|entry| &entry.ratio, false),
        )
    }

    fn table(&self) -> Table {
        let headings = ["", "ms, first", "second", "change", "peer / ours, first", "second", "change", ""];
        let mut table = headed(headings);
        for entry in &self.entries {
            let mut cells =
                vec![Cell::new(if entry.is_peer { format!("  {}", entry.name) } else { entry.name.clone() })];
            cells.extend(entry.time.cells(4));
            cells.extend(entry.ratio.cells(3));
            cells.push(Cell::new(entry.verdict()));
            table.add_row(cells);
        }
        table
    }
}

#[cfg(test)]
mod tests;
