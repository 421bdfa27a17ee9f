//! A module taken apart into what it defines, to write out again what some of it needs.
//!
//! What is written depends on nothing but the definitions that are asked for. The kernel crate's
//! own functions stand in its order, those of its dependencies by their names, as the order in
//! which these are linked is that in which any kernel needs them. Private constants, values and
//! blocks with names, groups of attributes and metadata are numbered in the order in which they are
//! named, and line tables are left out. So a kernel's text does not change with the kernels around
//! it, and can be a key of what is made of it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use rayon::prelude::*;

use super::kernels::bounds;
use super::module::names;
use super::needs::{self, Needs};
use super::{global_name, is_name};

#[cfg(test)]
mod tests;

/// A module's definitions.
pub(crate) struct Items<'a> {
    /// The data layout and the target.
    header: Vec<&'a str>,
    /// Named types.
    types: Vec<&'a str>,
    items: Vec<Item<'a>>,
    by_name: HashMap<&'a str, usize>,
    /// Groups of attributes by their numbers.
    attributes: HashMap<&'a str, &'a str>,
    /// Metadata by its numbers.
    metadata: HashMap<&'a str, &'a str>,
}

/// A global, or a function that is defined or declared.
struct Item<'a> {
    name: &'a str,
    text: &'a str,
    kind: Kind,
    /// What it names.
    uses: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Global,
    Defined,
    Declared,
}

impl Item<'_> {
    fn needs(&self) -> Needs {
        if self.kind == Kind::Defined { needs::of_function(self.text) } else { Needs::LEAST }
    }
}

impl<'a> Items<'a> {
    /// Takes a module apart. Aliases and named metadata are left out: rustc writes none that
    /// kernels need.
    pub(crate) fn read(module: &'a str) -> Self {
        let mut items = Items {
            header: Vec::new(),
            types: Vec::new(),
            items: Vec::new(),
            by_name: HashMap::new(),
            attributes: HashMap::new(),
            metadata: HashMap::new(),
        };
        let (mut at, mut function) = (0, None);
        for line in module.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let text = line.trim_end();
            if let Some((name, first)) = function {
                if text == "}" {
                    items.add(name, &module[first..at], Kind::Defined);
                    function = None;
                }
            } else if text.starts_with("define ") {
                function = bounds::defined_name(text).map(|name| (name, start));
            } else if text.starts_with("declare ") {
                if let Some(name) = bounds::defined_name(text) {
                    items.add(name, text, Kind::Declared);
                }
            } else if let Some((name, _)) = global_name(text) {
                items.add(name, text, Kind::Global);
            } else if let Some((number, _)) = numbered(text, '!') {
                items.metadata.insert(number, text);
            } else if let Some((number, _)) = text.strip_prefix("attributes ").and_then(|rest| numbered(rest, '#')) {
                items.attributes.insert(number, text);
            } else if text.starts_with('%') {
                items.types.push(text);
            } else if text.starts_with("target ") {
                items.header.push(text);
            }
        }
        items.find_uses();
        items
    }

    fn add(&mut self, name: &'a str, text: &'a str, kind: Kind) {
        self.by_name.insert(name, self.items.len());
        self.items.push(Item { name, text, kind, uses: Vec::new() });
    }

    fn find_uses(&mut self) {
        let by_name = &self.by_name;
        self.items.par_iter_mut().enumerate().for_each(|(at, item)| {
            let mut seen = HashSet::new();
            let named = item.text.lines().filter(|line| line.contains('@')).flat_map(names);
            let uses = named.filter_map(|name| by_name.get(name).copied());
            item.uses = uses.filter(|one| *one != at && seen.insert(*one)).collect();
        });
    }

    /// The places of what is defined and named from `roots` on, in the module's order. Roots that
    /// are not there are left out.
    fn reached<'n>(&self, roots: impl IntoIterator<Item = &'n str>) -> Vec<usize> {
        let mut left: Vec<usize> = roots.into_iter().filter_map(|name| self.by_name.get(name).copied()).collect();
        let mut reached = BTreeSet::new();
        while let Some(at) = left.pop() {
            if reached.insert(at) {
                left.extend(&self.items[at].uses);
            }
        }
        reached.into_iter().collect()
    }

    /// Whether something of such a name is reached from the root.
    pub(crate) fn reaches(&self, root: &str, is: impl Fn(&str) -> bool) -> bool {
        self.reached([root]).into_iter().any(|at| is(self.items[at].name))
    }

    /// What everything that is reached from each of the roots needs of a GPU.
    pub(crate) fn needs<'n>(&self, roots: impl IntoIterator<Item = &'n str>) -> Vec<Needs> {
        let own: Vec<Needs> = self.items.par_iter().map(Item::needs).collect();
        let of = |root| self.reached([root]).into_iter().map(|at| own[at]).fold(Needs::LEAST, Needs::and);
        roots.into_iter().map(of).collect()
    }

    /// The module without what the roots do not need. Line tables stay, and so do names and
    /// numbers.
    pub(crate) fn needed<'n>(&self, roots: impl IntoIterator<Item = &'n str>) -> String {
        let order = self.reached(roots);
        let mut out = String::with_capacity(order.iter().map(|at| self.items[*at].text.len() + 1).sum());
        for at in order {
            out.push_str(self.items[at].text.trim_end());
            out.push('\n');
        }
        // Numbers count up for whoever reads them.
        let mut metadata: Vec<(usize, &str)> =
            self.metadata.iter().filter_map(|(number, line)| Some((number.parse().ok()?, *line))).collect();
        metadata.sort_unstable();
        for (_, line) in metadata {
            out.push_str(line);
            out.push('\n');
        }
        out
    }

    /// A module of its own with what the roots need, and the names of the functions in it that must
    /// not be inlined.
    pub(crate) fn part<'n>(
        &self,
        crate_name: &str,
        roots: impl IntoIterator<Item = &'n str> + Clone,
    ) -> (String, Vec<&'a str>) {
        let order = self.ordered(crate_name, roots);
        let mut writer = Writer::empty(self);
        for line in self.header.iter().chain(&self.types) {
            writer.out.push_str(line);
            writer.out.push('\n');
        }
        let head = std::mem::take(&mut writer.out);
        for kind in [Kind::Defined, Kind::Declared, Kind::Global] {
            for item in order.iter().map(|at| &self.items[*at]).filter(|item| item.kind == kind) {
                if !self.is_private_constant(item) {
                    writer.item(item);
                }
            }
        }
        // Each may name others.
        let mut at = 0;
        while let Some(name) = writer.constants.order.get(at).copied() {
            writer.line(self.items[self.by_name[name]].text);
            at += 1;
        }
        writer.finish();
        writer.out.insert_str(0, &head);
        let defined = order.iter().map(|at| &self.items[*at]).filter(|item| item.kind == Kind::Defined);
        let apart = defined.filter(|item| self.is_never_inlined(item)).map(|item| item.name).collect();
        (writer.out, apart)
    }

    /// What the roots need, in the order in which it is written.
    fn ordered<'n>(&self, crate_name: &str, roots: impl IntoIterator<Item = &'n str> + Clone) -> Vec<usize> {
        let entries: HashSet<&str> = roots.clone().into_iter().collect();
        // As it stands in the symbols of all functions that are compiled with the crate.
        let own = format!("{}{}", crate_name.len(), crate_name.replace('-', "_"));
        let is_own = |name: &str| entries.contains(name) || name.contains(&own);
        let mut order = self.reached(roots);
        order.sort_by_key(|at| {
            let name = self.items[*at].name;
            if is_own(name) { (0, *at, "") } else { (1, 0, name) }
        });
        order
    }

    /// Whether it is a constant whose name is of no importance.
    fn is_private_constant(&self, item: &Item<'_>) -> bool {
        let head = item.text.split_once(" constant ").map(|(head, _)| head);
        item.kind == Kind::Global && head.is_some_and(|head| head.split(' ').any(|word| word == "private"))
    }

    /// Whether a function is compiled apart from those that call it, because its source says so.
    fn is_never_inlined(&self, item: &Item<'_>) -> bool {
        let head = item.text.lines().next().unwrap_or_default();
        let mut words = head.split([' ', '{']).filter(|word| word.starts_with('#'));
        let has = |attributes: &str| attributes.split([' ', '}']).any(|word| word == "noinline");
        has(head) || words.any(|group| self.attributes.get(&group[1..]).is_some_and(|line| has(line)))
    }
}

/// A module in which the functions of these names are internal.
pub(crate) fn internal(module: &str, names: &[String]) -> String {
    /// Linkages and visibilities, which stand before everything else.
    const LINKAGE: [&str; 9] =
        ["default", "dso_local", "external", "hidden", "linkonce", "linkonce_odr", "protected", "weak", "weak_odr"];
    let mut out = String::with_capacity(module.len() + 16 * names.len());
    for line in module.split_inclusive('\n') {
        let definition = line
            .strip_prefix("define ")
            .filter(|_| bounds::defined_name(line).is_some_and(|name| names.iter().any(|internal| internal == name)));
        match definition {
            Some(mut rest) if !rest.starts_with("internal ") => {
                while let Some((_, after)) = rest.split_once(' ').filter(|(word, _)| LINKAGE.contains(word)) {
                    rest = after;
                }
                out.push_str("define internal ");
                out.push_str(rest);
            }
            _ => out.push_str(line),
        }
    }
    out
}

/// Writes lines with names and numbers of its own.
struct Writer<'i, 'a> {
    items: &'i Items<'a>,
    out: String,
    constants: Numbers<'a>,
    /// Named values and blocks of the function that is being written.
    locals: Numbers<'a>,
    attributes: Numbers<'a>,
    metadata: Numbers<'a>,
}

/// Numbers given anew, in the order in which they are asked for.
#[derive(Default)]
struct Numbers<'a> {
    new: HashMap<&'a str, usize>,
    order: Vec<&'a str>,
}

impl<'a> Numbers<'a> {
    fn of(&mut self, old: &'a str) -> usize {
        *self.new.entry(old).or_insert_with(|| {
            self.order.push(old);
            self.order.len() - 1
        })
    }
}

impl<'i, 'a> Writer<'i, 'a> {
    fn empty(items: &'i Items<'a>) -> Self {
        Writer {
            items,
            out: String::new(),
            constants: Numbers::default(),
            locals: Numbers::default(),
            attributes: Numbers::default(),
            metadata: Numbers::default(),
        }
    }

    /// Writes a definition.
    fn item(&mut self, item: &Item<'a>) {
        self.locals = Numbers::default();
        for line in item.text.lines() {
            // `block:  ; preds = ..`
            match line.split_once(':').filter(|(name, _)| name.chars().all(is_name) && self.is_named(name)) {
                Some((name, rest)) => {
                    let _ = write!(self.out, "v.{}:", self.locals.of(name));
                    self.line(rest);
                }
                None => self.line(line),
            }
        }
    }

    /// Whether a value's or block's name is more than its number. A module with named types, which
    /// look alike, keeps its names.
    fn is_named(&self, name: &str) -> bool {
        !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && self.items.types.is_empty()
    }

    /// Writes a line of a definition.
    fn line(&mut self, line: &'a str) {
        let bytes = line.as_bytes();
        let (mut at, mut written) = (0, 0);
        while at < bytes.len() {
            let rest = &line[at..];
            let (end, new) = match bytes[at] {
                b'"' => {
                    at += 1 + rest[1..].find('"').map_or(rest.len() - 1, |end| end + 1);
                    continue;
                }
                b'@' => match self.global(rest) {
                    Some((length, new)) => (at + length, new),
                    None => {
                        at += global_name(rest).map_or(1, |(_, after)| (rest.len() - after.len()).max(1));
                        continue;
                    }
                },
                b'%' => {
                    let name = &rest[1..];
                    let name = &name[..name.find(|c: char| !is_name(c)).unwrap_or(name.len())];
                    if !self.is_named(name) {
                        at += 1 + name.len();
                        continue;
                    }
                    (at + 1 + name.len(), format!("%v.{}", self.locals.of(name)))
                }
                b'#' if bytes[..at].last() == Some(&b' ') => match numbered(rest, '#') {
                    Some((number, _)) => (at + 1 + number.len(), format!("#{}", self.attributes.of(number))),
                    None => {
                        at += 1;
                        continue;
                    }
                },
                b',' | b' ' => match debug_attachment(rest) {
                    Some(length) => (at + length, String::new()),
                    None => {
                        at += 1;
                        continue;
                    }
                },
                b'!' => match numbered(rest, '!') {
                    Some((number, _)) => (at + 1 + number.len(), format!("!{}", self.metadata.of(number))),
                    None => {
                        at += 1;
                        continue;
                    }
                },
                _ => {
                    at += 1;
                    continue;
                }
            };
            self.out.push_str(&line[written..at]);
            self.out.push_str(&new);
            (at, written) = (end, end);
        }
        self.out.push_str(&line[written..]);
        self.out.push('\n');
    }

    /// The new name of a private constant at the beginning of `text`, and how long the old one is.
    fn global(&mut self, text: &'a str) -> Option<(usize, String)> {
        let (name, rest) = global_name(text)?;
        if !self.items.is_private_constant(&self.items.items[*self.items.by_name.get(name)?]) {
            return None;
        }
        let number = self.constants.of(name);
        Some((text.len() - rest.len(), format!("@constant.{number}")))
    }

    /// Writes the groups of attributes and the metadata that the lines so far refer to.
    fn finish(&mut self) {
        let mut at = 0;
        while let Some(number) = self.attributes.order.get(at).copied() {
            let text = self.items.attributes.get(number).and_then(|line| line.split_once(" = "));
            let _ = writeln!(self.out, "attributes #{at} = {}", text.map_or("{}", |(_, text)| text));
            at += 1;
        }
        let mut at = 0;
        while let Some(number) = self.metadata.order.get(at).copied() {
            let text = self.items.metadata.get(number).and_then(|line| line.split_once(" = "));
            let _ = write!(self.out, "!{at} = ");
            // Which may refer to more of it.
            self.line(text.map_or("!{}", |(_, text)| text));
            at += 1;
        }
    }
}

/// The number after `sign` at the beginning of a text, and what follows it.
fn numbered(text: &str, sign: char) -> Option<(&str, &str)> {
    let rest = text.strip_prefix(sign)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, after) = rest.split_at(end);
    (!number.is_empty() && !after.starts_with(is_name)).then_some((number, after))
}

/// How long an attachment at the beginning of a text is that says where in the source something
/// stands: `, !dbg !7`, ` !dbg !7` or `, !srcloc !7`.
fn debug_attachment(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(',').unwrap_or(text);
    let rest = rest.strip_prefix(" !dbg ").or_else(|| rest.strip_prefix(" !srcloc "))?;
    let (_, after) = numbered(rest, '!')?;
    Some(text.len() - after.len())
}
