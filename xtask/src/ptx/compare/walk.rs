//! Two builds' entries side by side, with all that they call and use.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt::Write;

use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

use super::module::{Item, Kind, Module};
use super::normal::{self, Line, Normal};

/// The most lines shown of an entry.
const LINES: usize = 40;

/// The most characters shown of a text or a name in a line.
const WIDTH: usize = 160;

/// A module with its normalised items.
pub struct Build<'a> {
    module: Module<'a>,
    normals: Vec<Normal>,
}

impl<'a> Build<'a> {
    /// Reads a module's text.
    pub fn new(text: &'a str) -> Self {
        let module = Module::parse(text);
        let normals = module.items.iter().map(|item| Normal::of(&module, item)).collect();
        Self { module, normals }
    }

    /// The entries' names and places.
    fn entries(&self) -> impl Iterator<Item = (&'a str, usize)> {
        let items = self.module.items.iter().enumerate();
        items.filter(|(_, item)| item.kind == Kind::Entry).map(|(index, item)| (item.name, index))
    }

    /// What an item is called in a message.
    fn label(&self, index: usize) -> String {
        let item = &self.module.items[index];
        match item.kind {
            Kind::Place => "<place>".to_owned(),
            Kind::Contract => "<contract>".to_owned(),
            Kind::Entry => without_crate(item.name).to_owned(),
            Kind::Function => format!("{:#}", rustc_demangle::demangle(item.name)),
            Kind::Variable => match item.bytes() {
                Some(bytes) if bytes.iter().any(|byte| *byte != 0) => {
                    format!("\"{}\"", shortened(&bytes.escape_ascii().to_string()))
                }
                _ => item.name.to_owned(),
            },
        }
    }
}

/// An entry's name without that of its crate, which stands before the first `$`.
fn without_crate(name: &str) -> &str {
    name.split_once('$').map_or(name, |(_, rest)| rest)
}

fn shortened(text: &str) -> String {
    text.char_indices().nth(WIDTH).map_or_else(|| text.to_owned(), |(end, _)| format!("{}..", &text[..end]))
}

/// What the comparison of two modules found.
#[derive(Default)]
pub struct Found {
    /// What differs, as text.
    pub text: String,
    /// How many entries are the same.
    pub same: usize,
    /// How many are in both builds and differ.
    pub different: usize,
    /// How many are in the new build only.
    pub added: usize,
    /// How many are in the old build only.
    pub removed: usize,
}

/// All entries of some modules by their names without the crate, but with it where it alone tells
/// two of them apart.
fn entries<'b, 'a>(builds: &'b [Build<'a>], ambiguous: &HashSet<&'a str>) -> BTreeMap<&'a str, (&'b Build<'a>, usize)> {
    let key = |name| if ambiguous.contains(without_crate(name)) { name } else { without_crate(name) };
    let of_one = |build: &'b Build<'a>| build.entries().map(move |(name, index)| (name, (build, index)));
    builds.iter().flat_map(of_one).map(|(name, place)| (key(name), place)).collect()
}

/// The names without the crate that two entries have.
fn ambiguous<'a>(builds: &[Build<'a>]) -> HashSet<&'a str> {
    let mut seen = HashSet::new();
    let names = builds.iter().flat_map(Build::entries).map(|(name, _)| without_crate(name));
    names.filter(|name| !seen.insert(*name)).collect()
}

/// Compares all entries of the modules of two builds.
pub fn compare(old: &[Build<'_>], new: &[Build<'_>]) -> Found {
    let ambiguous = &ambiguous(old) | &ambiguous(new);
    let (of_old, of_new) = (entries(old, &ambiguous), entries(new, &ambiguous));
    let mut found = Found::default();
    for name in of_old.keys().filter(|name| !of_new.contains_key(*name)) {
        let _ = writeln!(found.text, "removed: {name}");
        found.removed += 1;
    }
    let mut shown = HashMap::new();
    for (name, (new, index)) in &of_new {
        let Some((old, before)) = of_old.get(name) else {
            let _ = writeln!(found.text, "added: {name}");
            found.added += 1;
            continue;
        };
        let differences = Walk::new(old, new).run(*before, *index);
        if differences.is_empty() {
            found.same += 1;
            continue;
        }
        found.different += 1;
        let _ = writeln!(found.text, "differs: {name}");
        for difference in differences {
            describe(old, new, name, difference, &mut shown, &mut found.text);
        }
    }
    found
}

/// One thing that differs between two entries.
#[derive(Clone, Copy)]
enum Difference {
    /// The text of the entry itself, or of what it calls or uses: the item of the old build, and
    /// that of the new.
    Text(usize, usize),
    /// Where the old one has this item, the new one has that, though one of them stood with another
    /// item before.
    Identity(usize, usize),
}

/// One entry of both builds and what it reaches, in lockstep.
struct Walk<'a> {
    old: &'a Build<'a>,
    new: &'a Build<'a>,
    /// The new item of each old one that was reached.
    forth: HashMap<usize, usize>,
    /// The old item of each new one.
    back: HashMap<usize, usize>,
    waiting: VecDeque<(usize, usize)>,
}

impl<'a> Walk<'a> {
    fn new(old: &'a Build<'a>, new: &'a Build<'a>) -> Self {
        Self { old, new, forth: HashMap::new(), back: HashMap::new(), waiting: VecDeque::new() }
    }

    fn run(mut self, old: usize, new: usize) -> Vec<Difference> {
        let mut differences = Vec::new();
        self.pair(old, new);
        while let Some((old, new)) = self.waiting.pop_front() {
            let (of_old, of_new) = (&self.old.normals[old], &self.new.normals[new]);
            if of_old.text == of_new.text {
                for (before, after) in of_old.references.iter().zip(&of_new.references) {
                    if !self.pair(*before, *after) {
                        differences.push(Difference::Identity(*before, *after));
                    }
                }
            } else {
                differences.push(Difference::Text(old, new));
                self.pair_by_label(of_old, of_new);
            }
        }
        differences
    }

    /// Whether the two may stand for each other; where neither was reached before, they are
    /// compared later.
    fn pair(&mut self, old: usize, new: usize) -> bool {
        match (self.forth.get(&old), self.back.get(&new)) {
            (None, None) => {
                self.forth.insert(old, new);
                self.back.insert(new, old);
                self.waiting.push_back((old, new));
                true
            }
            (Some(forth), Some(back)) => (*forth, *back) == (new, old),
            _ => false,
        }
    }

    /// Pairs what two different texts refer to under one label.
    fn pair_by_label(&mut self, old: &Normal, new: &Normal) {
        let labels: HashMap<String, usize> =
            new.references.iter().map(|index| (self.new.label(*index), *index)).collect();
        for before in &old.references {
            if let Some(after) = labels.get(&self.old.label(*before)) {
                self.pair(*before, *after);
            }
        }
    }
}

/// Writes what differs; what many entries use only at the first of them, whose name is kept in
/// `shown`.
fn describe(
    old: &Build<'_>,
    new: &Build<'_>,
    entry: &str,
    difference: Difference,
    shown: &mut HashMap<(usize, usize), String>,
    text: &mut String,
) {
    let (before, after) = match difference {
        Difference::Text(before, after) => (before, after),
        Difference::Identity(before, after) => {
            let _ = writeln!(text, "    another one of several alike: {}, now {}", old.label(before), new.label(after));
            return;
        }
    };
    let (of_old, of_new) = (&old.module.items[before], &new.module.items[after]);
    if of_new.kind != Kind::Entry || of_old.kind != Kind::Entry {
        let (was, is) = (old.label(before), new.label(after));
        let what = if was == is { is } else { format!("{was}, now {is}") };
        if let Some(first) = shown.get(&(before, after)) {
            let _ = writeln!(text, "    in {what}: as {first}");
            return;
        }
        shown.insert((before, after), entry.to_owned());
        let _ = writeln!(text, "    in {what}:");
    }
    let lines = |build: &Build<'_>, item: &Item<'_>| normal::lines(&build.module, item, |index| build.label(index));
    let parts = difference_of(&lines(old, of_old), &lines(new, of_new));
    for line in parts.iter().take(LINES) {
        let _ = writeln!(text, "    {line}");
    }
    if parts.len() > LINES {
        let _ = writeln!(text, "    .. and {} lines more", parts.len() - LINES);
    }
}

/// The unified difference of two items' lines.
fn difference_of(old: &[Line], new: &[Line]) -> Vec<String> {
    let by = |key: fn(&Line) -> &str, show: fn(&Line) -> &str| {
        let keys = [old, new].map(|lines| lines.iter().map(key).collect::<Vec<&str>>());
        let operations = capture_diff_slices(Algorithm::Myers, &keys[0], &keys[1]);
        let mut parts = Vec::new();
        for group in group_diff_ops(operations, 2) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let (of_old, of_new) = (first.old_range().start, first.new_range().start);
            let (to_old, to_new) = (last.old_range().end, last.new_range().end);
            parts.push(format!("@@ -{},{} +{},{} @@", of_old + 1, to_old - of_old, of_new + 1, to_new - of_new));
            for operation in group {
                let mut push = |sign, lines: &[Line]| {
                    parts.extend(lines.iter().map(|line| format!("{sign} {}", shortened(show(line)))));
                };
                if operation.tag() == DiffTag::Equal {
                    push(' ', &old[operation.old_range()]);
                } else {
                    push('-', &old[operation.old_range()]);
                    push('+', &new[operation.new_range()]);
                }
            }
        }
        parts
    };
    // A register more at the top gives others to all that follows: only where nothing else differs,
    // that is shown.
    let parts = by(|line| &line.shape, |line| &line.shown);
    if parts.is_empty() { by(|line| &line.numbered, |line| &line.numbered) } else { parts }
}
