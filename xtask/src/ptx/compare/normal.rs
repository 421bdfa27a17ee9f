//! Functions and variables without what two builds may name differently.

use std::collections::HashMap;
use std::fmt::Write;

use super::module::{Item, Kind, Module, is_identifier, next_token};

/// An item's text in which registers, labels, parameters and other local names are numbered in the
/// order of their first use, and each name of another item is only marked.
pub struct Normal {
    /// The text.
    pub text: String,
    /// The items at the marks, in order.
    pub references: Vec<usize>,
}

/// A line of an item for a reader.
pub struct Line {
    /// As in the PTX, except for the names of other items.
    pub shown: String,
    /// Without the numbers of registers and labels: by this, lines are matched.
    pub shape: String,
    /// With all local names numbered in the order of their first use.
    pub numbered: String,
}

impl Normal {
    /// Normalises one item.
    pub fn of(module: &Module<'_>, item: &Item<'_>) -> Self {
        let mut names = Names::of(item);
        let mut normal = Self { text: String::new(), references: Vec::new() };
        for line in item.lines.iter().filter(|line| !is_register_declaration(line)) {
            rewrite(line, &mut normal.text, |word, text| {
                if word == item.name && names.in_head {
                    text.push_str("self");
                } else if let Some((class, number)) = names.local(word) {
                    let _ = write!(text, "{class}_{number}");
                } else if let Some(index) = module.symbols.get(word) {
                    text.push_str(mark(&module.items[*index]));
                    if !matches!(module.items[*index].kind, Kind::Place | Kind::Contract) {
                        normal.references.push(*index);
                    }
                } else {
                    text.push_str(word);
                }
            });
            normal.text.push('\n');
            names.in_head &= !line.starts_with('{');
        }
        normal
    }
}

/// The lines of an item; `label` says how another one is called.
pub fn lines(module: &Module<'_>, item: &Item<'_>, label: impl Fn(usize) -> String) -> Vec<Line> {
    let mut names = Names::of(item);
    let mut lines = Vec::new();
    for line in item.lines.iter().filter(|line| !is_register_declaration(line)) {
        let [mut shown, mut shape, mut numbered] = [const { String::new() }; 3];
        let symbol = |word: &str, text: &mut String| match module.symbols.get(word) {
            Some(index) => text.push_str(&label(*index)),
            None => text.push_str(word),
        };
        let in_head = names.in_head;
        let name = |word: &str| (word == item.name && in_head).then_some("self");
        rewrite(line, &mut shown, |word, text| match (name(word), names.class(word)) {
            (Some(own), _) => text.push_str(own),
            (None, Some("param")) => {
                let own = word.strip_prefix(item.name).and_then(|rest| rest.strip_prefix('_'));
                text.push_str(own.unwrap_or(word));
            }
            (None, Some(_)) => text.push_str(word),
            (None, None) => symbol(word, text),
        });
        rewrite(line, &mut shape, |word, text| match (name(word), names.class(word)) {
            (Some(own), _) | (None, Some(own)) => text.push_str(own),
            (None, None) => symbol(word, text),
        });
        rewrite(line, &mut numbered, |word, text| match (name(word), names.local(word)) {
            (Some(own), _) => text.push_str(own),
            (None, Some((class, number))) => {
                let _ = write!(text, "{class}_{number}");
            }
            (None, None) => symbol(word, text),
        });
        names.in_head &= !line.starts_with('{');
        lines.push(Line { shown, shape, numbered });
    }
    lines
}

/// What stands for the name of an item.
fn mark(item: &Item<'_>) -> &'static str {
    match item.kind {
        Kind::Place => "<place>",
        Kind::Contract => "<contract>",
        Kind::Entry | Kind::Function | Kind::Variable => "<symbol>",
    }
}

/// The local names of an item.
struct Names<'a> {
    /// The class of each name but the numbered registers: `label`, `param`, a register's type, ..
    declared: HashMap<&'a str, &'a str>,
    /// The type of numbered registers by what their names begin with.
    prefixes: HashMap<&'a str, &'a str>,
    /// The numbers that were given.
    given: HashMap<&'a str, (&'a str, usize)>,
    /// How many names of each class have a number.
    counts: HashMap<&'a str, usize>,
    /// Whether the lines are those before the body.
    in_head: bool,
}

impl<'a> Names<'a> {
    /// Finds what an item declares.
    fn of(item: &Item<'a>) -> Self {
        let mut names = Self {
            declared: HashMap::new(),
            prefixes: HashMap::new(),
            given: HashMap::new(),
            counts: HashMap::new(),
            in_head: true,
        };
        if matches!(item.kind, Kind::Entry | Kind::Function) {
            for line in &item.lines[1..] {
                if line.starts_with(['.', '{']) || line.contains(':') {
                    line.split([';', '{', '}']).for_each(|statement| names.declare(statement.trim_ascii()));
                }
            }
        }
        names
    }

    fn declare(&mut self, statement: &'a str) {
        if let Some(rest) = statement.strip_prefix(".reg") {
            let (kind, list) = rest.trim_ascii().trim_start_matches('.').split_once([' ', '\t']).unwrap_or_default();
            for one in list.split(',').map(str::trim_ascii) {
                match one.split_once('<') {
                    Some((prefix, _)) => self.prefixes.insert(prefix, kind),
                    None => self.declared.insert(one, kind),
                };
            }
        } else if let Some((space, rest)) = statement.strip_prefix('.').and_then(|rest| rest.split_once([' ', '\t'])) {
            if matches!(space, "param" | "local" | "shared" | "global" | "const") {
                self.declared.extend(super::module::identifiers(rest).next().map(|name| (name, space)));
            }
        } else if let Some((name, _)) = statement.split_once(':') {
            let name = name.trim_ascii();
            if next_token(name).is_some_and(|(_, token, _)| token == name && is_identifier(name)) {
                self.declared.insert(name, "label");
            }
        }
    }

    /// The class of a local name.
    fn class(&self, word: &str) -> Option<&'a str> {
        let of_register = || {
            let prefix = word.trim_end_matches(|last: char| last.is_ascii_digit());
            (prefix.len() < word.len()).then(|| self.prefixes.get(prefix))?
        };
        self.declared.get(word).or_else(of_register).copied()
    }

    /// The class of a local name, and its number.
    fn local(&mut self, word: &'a str) -> Option<(&'a str, usize)> {
        if let Some(given) = self.given.get(word) {
            return Some(*given);
        }
        let class = self.class(word)?;
        let count = self.counts.entry(class).or_default();
        *count += 1;
        self.given.insert(word, (class, *count));
        Some((class, *count))
    }
}

/// Whether a line only declares registers; which there are follows from their use.
fn is_register_declaration(line: &str) -> bool {
    line.starts_with(".reg") && line.find(';') == Some(line.len() - 1)
}

/// Copies a line with single spaces; `name` writes something for each name in it.
fn rewrite<'a>(line: &'a str, text: &mut String, mut name: impl FnMut(&'a str, &mut String)) {
    let mut rest = line;
    while let Some((before, token, after)) = next_token(rest) {
        push_spaced(text, before);
        if is_identifier(token) && !before.ends_with('.') {
            name(token, text);
        } else {
            text.push_str(token);
        }
        rest = after;
    }
    push_spaced(text, rest);
}

fn push_spaced(text: &mut String, between: &str) {
    if between.len() < 2 || !between.contains(['\t', ' ']) {
        text.push_str(if between == "\t" { " " } else { between });
        return;
    }
    let mut is_space = false;
    for one in between.chars() {
        if !one.is_ascii_whitespace() {
            text.push(one);
        } else if !is_space {
            text.push(' ');
        }
        is_space = one.is_ascii_whitespace();
    }
}
