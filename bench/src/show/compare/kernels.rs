//! The kernels of two records and their peers.

use comfy_table::{Cell, Table};

use super::change::{self, Change, Pair};
use crate::record::{PeerRow, Report, Row};
use crate::show::table::headed;

/// One kernel, or one peer of a kernel, in both records.
#[derive(Debug)]
pub struct Entry {
    /// Its entry and grid.
    pub name: String,
    /// Whether it is a peer of the kernel above it.
    pub is_peer: bool,
    /// Its time in both, and where its result is wrong.
    pub change: Change,
    /// Its time over ours in both; for a peer.
    pub ratio: Pair,
    /// What it takes of a multiprocessor, where that differs.
    pub resources: Option<String>,
    /// For a kernel of ours: it has ratios in both, and none of them changed.
    ratios_stay: bool,
}

impl Entry {
    /// Whether its time, its ratio, its correctness or its resources changed.
    pub fn has_changed(&self) -> bool {
        self.change.has_changed() || self.ratio.beyond_noise().is_some() || self.resources.is_some()
    }

    /// What changed, in words; empty if nothing did and its result is right.
    pub fn verdict(&self) -> String {
        let peers = if self.ratios_stay { ", and its peers too" } else { "" };
        let time = self.change.direction().map(|direction| format!("{direction}{peers}"));
        let ratio = self.ratio.beyond_noise();
        let ratio = ratio.map(|percent| if percent > 0.0 { "ratio up" } else { "ratio down" }.to_owned());
        let correctness = self.change.correctness().map(str::to_owned);
        let words: Vec<String> = [correctness, time, ratio, self.resources.clone()].into_iter().flatten().collect();
        words.join("; ")
    }
}

/// Returns every kernel that both records have, each with the peers that both have.
pub fn entries(before: &Report, after: &Report) -> Vec<Entry> {
    let both = before.comparisons.iter().filter_map(|old| Some((old, same_row(old, after)?)));
    both.flat_map(|(old, new)| of_kernel(old, new)).collect()
}

/// Returns the kernels and peers that `other` lacks.
pub fn only(one: &Report, other: &Report) -> Vec<String> {
    let lacking = |row: &Row| match same_row(row, other) {
        None => vec![name(row)],
        Some(same) => {
            let lost = row.peers.iter().filter(|peer| same_peer(peer, same).is_none());
            lost.map(|peer| name_of_peer(peer, row)).collect()
        }
    };
    one.comparisons.iter().flat_map(lacking).collect()
}

/// Returns a row for each entry.
pub fn table(entries: &[Entry]) -> Table {
    let headings = ["", "ms, first", "second", "change", "peer / ours, first", "second", "change", ""];
    let mut table = headed(headings);
    for entry in entries {
        let indent = if entry.is_peer { "  " } else { "" };
        let mut cells = vec![Cell::new(format!("{indent}{}", entry.name))];
        cells.extend(entry.change.time.cells(4));
        cells.extend(entry.ratio.cells(3));
        cells.push(Cell::new(entry.verdict()));
        table.add_row(cells);
    }
    table
}

fn same_row<'a>(row: &Row, report: &'a Report) -> Option<&'a Row> {
    // A kernel may be measured for several tasks. Old records do not name them.
    let same_task = |other: &&Row| other.task.is_empty() || row.task.is_empty() || other.task == row.task;
    let same = |other: &&Row| other.symbol == row.symbol && other.grid == row.grid && same_task(other);
    report.comparisons.iter().find(same)
}

fn same_peer<'a>(peer: &PeerRow, row: &'a Row) -> Option<&'a PeerRow> {
    // One may be measured with several grids.
    row.peers.iter().find(|other| other.symbol == peer.symbol && other.grid == peer.grid)
}

fn name(row: &Row) -> String {
    format!("{} at {} blocks", row.symbol, row.grid)
}

fn name_of_peer(peer: &PeerRow, row: &Row) -> String {
    format!("{} beside {}", peer.symbol, name(row))
}

/// Our kernel and the peers that both records have.
fn of_kernel(old: &Row, new: &Row) -> Vec<Entry> {
    let peers = old.peers.iter().filter_map(|old_peer| Some(of_peer(old_peer, same_peer(old_peer, new)?, old)));
    let peers: Vec<Entry> = peers.collect();
    let mut ratios = peers.iter().filter(|peer| peer.ratio.percent().is_some()).peekable();
    let ours = Entry {
        name: name(old),
        is_peer: false,
        change: Change::between((&old.timing, &old.fault), (&new.timing, &new.fault)),
        ratio: Pair::default(),
        resources: change::resources(old.resources.as_ref(), new.resources.as_ref()),
        ratios_stay: ratios.peek().is_some() && ratios.all(|peer| peer.ratio.beyond_noise().is_none()),
    };
    std::iter::once(ours).chain(peers).collect()
}

fn of_peer(old: &PeerRow, new: &PeerRow, row: &Row) -> Entry {
    Entry {
        name: name_of_peer(old, row),
        is_peer: true,
        change: Change::between((&old.timing, &old.fault), (&new.timing, &new.fault)),
        ratio: Pair { before: old.ratio, after: new.ratio },
        resources: change::resources(old.resources.as_ref(), new.resources.as_ref()),
        ratios_stay: false,
    }
}
