//! What of one kernel differs from one record to another.

use comfy_table::Cell;

use crate::record::{Resources, Timing};
use crate::show::table::number;
use crate::statistics::Summary;

/// A change of fewer percent does not count.
pub const LEAST: f64 = 1.0;

/// The same figure in two records.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair {
    /// In the first record.
    pub before: Option<Summary>,
    /// In the second one.
    pub after: Option<Summary>,
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

    /// The two medians with so many digits, and the change in percent.
    pub fn cells(&self, digits: usize) -> [Cell; 3] {
        let median = |one: Option<Summary>| one.map_or_else(String::new, |one| format!("{:.digits$}", one.median));
        let percent = self.percent().map_or_else(String::new, |percent| format!("{percent:+.1} %"));
        [number(median(self.before)), number(median(self.after)), number(percent)]
    }
}

/// How many figures went down and how many up, by more than noise.
pub fn down_and_up<'a>(pairs: impl Iterator<Item = &'a Pair>) -> [usize; 2] {
    let (up, down): (Vec<f64>, Vec<f64>) = pairs.filter_map(Pair::beyond_noise).partition(|percent| *percent > 0.0);
    [down.len(), up.len()]
}

/// The time of one kernel in two records, and whether its result is right.
#[derive(Debug)]
pub struct Change {
    /// Its milliseconds.
    pub time: Pair,
    wrong: [bool; 2],
}

impl Change {
    /// Compares a kernel's time, and what is wrong with its result, in the first record and in the
    /// second one.
    pub fn between(before: (&Option<Timing>, &Option<String>), after: (&Option<Timing>, &Option<String>)) -> Change {
        let milliseconds = |timing: &Option<Timing>| timing.as_ref().map(|timing| timing.milliseconds);
        let time = Pair { before: milliseconds(before.0), after: milliseconds(after.0) };
        Change { time, wrong: [before.1.is_some(), after.1.is_some()] }
    }

    /// Whether the time changed by more than noise, or the result became wrong or right.
    pub fn has_changed(&self) -> bool {
        self.wrong[0] != self.wrong[1] || self.time.beyond_noise().is_some()
    }

    /// Says how the time changed by more than noise.
    pub fn direction(&self) -> Option<&'static str> {
        self.time.beyond_noise().map(|percent| if percent > 0.0 { "slower" } else { "faster" })
    }

    /// Says where the result is wrong.
    pub fn correctness(&self) -> Option<&'static str> {
        match self.wrong {
            [false, true] => Some("WRONG now"),
            [true, false] => Some("right now"),
            [true, true] => Some("WRONG in both"),
            [false, false] => None,
        }
    }
}

/// Says what a kernel takes of a multiprocessor now and took before, as far as both records know it
/// and it differs.
pub fn resources(before: Option<&Resources>, after: Option<&Resources>) -> Option<String> {
    let figures = |one: &Resources| {
        [
            (one.registers, "registers"),
            (one.shared_bytes, "bytes of shared memory"),
            (one.blocks_per_multiprocessor, "blocks a multiprocessor"),
        ]
    };
    let differing = figures(before?).into_iter().zip(figures(after?)).filter(|(old, new)| old != new);
    let words: Vec<String> = differing.map(|((old, what), (new, _))| format!("{old} to {new} {what}")).collect();
    (!words.is_empty()).then(|| words.join(", "))
}
