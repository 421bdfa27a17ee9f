//! `tilepipe-bench compare`: two records side by side, and which differences are more than noise.
//!
//! A time has changed if the intervals between the 10th and the 90th percentile have no value in
//! common and the medians differ by more than [`LEAST`] percent; a ratio to a peer likewise. The
//! machine of the day moves times, but ratios little. Resources do not vary from run to run: any
//! difference counts.

mod change;
mod kernels;
mod sweeps;

use crate::record::Report;
use change::{LEAST, down_and_up};
use kernels::Entry;
use sweeps::Place;

/// With fewer repetitions the percentiles say little.
const FEW: usize = 5;

/// What two records have in common, and what they have not.
pub struct Comparison {
    /// What makes the comparison doubtful.
    pub warnings: Vec<String>,
    /// Every kernel and peer in both, those that changed first.
    pub entries: Vec<Entry>,
    /// Every place of a sweep's line in both.
    pub places: Vec<Place>,
    /// What only the first record has.
    pub only_before: Vec<String>,
    /// What only the second record has.
    pub only_after: Vec<String>,
}

/// Compares two records: kernels are matched by entry and grid, peers by entry, sweeps by title,
/// line and place.
pub fn compare(before: &Report, after: &Report) -> Comparison {
    let mut entries = kernels::entries(before, after);
    entries.sort_by_key(|entry| !entry.has_changed());
    let only = |one, other| [kernels::only(one, other), sweeps::only(one, other)].concat();
    Comparison {
        warnings: warnings(before, after),
        entries,
        places: sweeps::places(before, after),
        only_before: only(before, after),
        only_after: only(after, before),
    }
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
    /// Returns warnings, the kernels, the places of sweeps that changed, the summary, and what is
    /// in one record only.
    pub fn text(&self) -> String {
        let mut text: String = self.warnings.iter().map(|warning| format!("warning: {warning}\n")).collect();
        text += &format!("{}\n", kernels::table(&self.entries));
        let mut changed = self.changed_places().peekable();
        if changed.peek().is_some() {
            text += &format!("{}\n", sweeps::table(changed));
        }
        text += &format!("{}\n", self.summary());
        for (names, record) in [(&self.only_before, "first"), (&self.only_after, "second")] {
            if !names.is_empty() {
                text += &format!("only in the {record}:\n");
                text.extend(names.iter().map(|name| format!("  {name}\n")));
            }
        }
        text
    }

    /// Returns how many kernels and peers changed, and in which direction; in a second line the
    /// same of places of sweeps, if there are any.
    pub fn summary(&self) -> String {
        let entries = || self.entries.iter();
        let [faster, slower] = down_and_up(entries().map(|entry| &entry.change.time));
        let [down, up] = down_and_up(entries().map(|entry| &entry.ratio));
        let mut summary = format!(
            "{} of {} changed beyond the noise ({LEAST} %, and no overlap from the 10th to the 90th percentile): \
             {faster} faster, {slower} slower; {up} ratios to a peer up, {down} down; {} with other resources",
            entries().filter(|entry| entry.has_changed()).count(),
            self.entries.len(),
            entries().filter(|entry| entry.resources.is_some()).count(),
        );
        if !self.places.is_empty() {
            let (changed, all) = (self.changed_places().count(), self.places.len());
            let [faster, slower] = down_and_up(self.places.iter().map(|place| &place.change.time));
            summary += &format!("\n{changed} of {all} places of sweeps changed: {faster} faster, {slower} slower");
        }
        summary
    }

    fn changed_places(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| place.change.has_changed())
    }
}

#[cfg(test)]
mod tests;
