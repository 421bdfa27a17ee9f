//! The sweeps and the small sizes of two records.

use std::borrow::Cow;

use comfy_table::{Cell, Table};

use super::change::Change;
use crate::record::small;
use crate::record::{Line, Point, Report, Sweep};
use crate::show::table::{headed, number};

/// One kernel at one place of a sweep, in both records.
#[derive(Debug)]
pub struct Place {
    /// The sweep's title.
    pub sweep: String,
    /// The kernel.
    pub line: String,
    /// The place.
    pub x: f64,
    /// Its time in both, and where its result is wrong.
    pub change: Change,
}

impl Place {
    fn new(sweep: &Sweep, line: &Line, old: &Point, new: &Point) -> Place {
        let change = Change::between((&old.timing, &old.fault), (&new.timing, &new.fault));
        Place { sweep: sweep.title.clone(), line: line.name.clone(), x: old.x, change }
    }

    /// What changed, in words; empty if nothing did and its result is right.
    pub fn verdict(&self) -> &'static str {
        self.change.correctness().or(self.change.direction()).unwrap_or("")
    }
}

/// Returns every place that both records have.
pub fn places(before: &Report, after: &Report) -> Vec<Place> {
    let mut places = Vec::new();
    let theirs = all(after);
    for sweep in all(before).iter() {
        let Some(same) = same_sweep(sweep, &theirs) else { continue };
        for line in &sweep.lines {
            let both = line.points.iter().filter_map(|old| Some((old, same.line(&line.name)?.at(old.x)?)));
            places.extend(both.map(|(old, new)| Place::new(sweep, line, old, new)));
        }
    }
    places
}

/// Returns the sweeps that `other` lacks; of those that it has the lines, and of those the places.
pub fn only(one: &Report, other: &Report) -> Vec<String> {
    let mut names = Vec::new();
    let theirs = all(other);
    for sweep in all(one).iter() {
        let title = &sweep.title;
        let Some(same_sweep) = same_sweep(sweep, &theirs) else {
            names.push(format!("the sweep `{title}`"));
            continue;
        };
        for line in &sweep.lines {
            let name = &line.name;
            let Some(same_line) = same_sweep.line(name) else {
                names.push(format!("{name} of the sweep `{title}`"));
                continue;
            };
            let lost = line.points.iter().filter(|point| same_line.at(point.x).is_none());
            names.extend(lost.map(|point| format!("{name} at {} of the sweep `{title}`", point.x)));
        }
    }
    names
}

/// Returns a row for each place.
pub fn table<'a>(places: impl Iterator<Item = &'a Place>) -> Table {
    let mut table = headed(["sweep", "kernel", "at", "ms, first", "second", "change", ""]);
    for place in places {
        let mut cells = vec![Cell::new(&place.sweep), Cell::new(&place.line), number(place.x)];
        cells.extend(place.change.time.cells(4));
        cells.push(Cell::new(place.verdict()));
        table.add_row(cells);
    }
    table
}

/// The sweeps of a record, and its small sizes.
fn all(report: &Report) -> Vec<Cow<'_, Sweep>> {
    let sizes = small::sweeps(&report.sizes).into_iter().map(Cow::Owned);
    report.sweeps.iter().map(Cow::Borrowed).chain(sizes).collect()
}

fn same_sweep<'a>(sweep: &Sweep, others: &'a [Cow<'_, Sweep>]) -> Option<&'a Sweep> {
    others.iter().map(Cow::as_ref).find(|other| other.title == sweep.title)
}
