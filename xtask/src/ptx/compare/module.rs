//! PTX text as entries, functions and variables.

use std::collections::HashMap;
use std::iter;

/// What the names of the variables that hold kernels' contracts begin with.
const CONTRACT: &str = "__tilepipe_contract__";

/// Lines of a module that belong to no function and no variable.
const OF_NO_ITEM: [&str; 4] = [".version", ".target", ".address_size", ".file"];

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A kernel.
    Entry,
    /// Another function.
    Function,
    /// A variable of the module.
    Variable,
    /// A variable that holds the place of a panic: file, line and column.
    Place,
    /// A variable that holds the contract of a kernel.
    Contract,
}

/// A function or a variable of a module.
pub struct Item<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its symbol.
    pub name: &'a str,
    /// Its lines without comments, blank ones left out.
    pub lines: Vec<&'a str>,
}

/// All that a module's text declares.
pub struct Module<'a> {
    /// Functions and variables in the order of the text. A function that is declared first and
    /// defined later is here twice.
    pub items: Vec<Item<'a>>,
    /// The item of each symbol: the definition, where there is one.
    pub symbols: HashMap<&'a str, usize>,
}

impl<'a> Module<'a> {
    /// Takes a module's text apart.
    pub fn parse(text: &'a str) -> Self {
        let mut items: Vec<Item<'a>> = Vec::new();
        let (mut lines, mut depth) = (Vec::new(), 0);
        for line in text.lines().map(without_comment).filter(|line| !line.is_empty()) {
            let word = line.split([' ', '\t']).next().unwrap_or_default();
            if word == ".loc" || lines.is_empty() && OF_NO_ITEM.contains(&word) {
                continue;
            }
            depth += depth_change(line);
            lines.push(line);
            if depth == 0 && (line.ends_with(';') || line.ends_with('}')) {
                items.extend(item(std::mem::take(&mut lines)));
            }
        }
        let mut symbols = HashMap::new();
        for (index, one) in items.iter().enumerate() {
            let kept = symbols.entry(one.name).or_insert(index);
            if !items[*kept].has_body() {
                *kept = index;
            }
        }
        let mut module = Self { items, symbols };
        module.mark_places();
        module
    }

    /// Marks the variables that hold places: `{generic(file), length, line and column}`, where the
    /// file's name is a string that ends in a zero byte. Rust's other strings do not.
    fn mark_places(&mut self) {
        let is_place = |one: &Item<'_>| -> Option<()> {
            let [file, length, _] = one.values()?.collect::<Vec<_>>().try_into().ok()?;
            let file = file.strip_prefix("generic(")?.strip_suffix(')')?;
            let name = self.items[*self.symbols.get(file)?].bytes()?;
            (name.len() == length.parse::<usize>().ok()? + 1 && name.ends_with(&[0])).then_some(())
        };
        let places: Vec<usize> = (0..self.items.len())
            .filter(|index| self.items[*index].kind == Kind::Variable && is_place(&self.items[*index]).is_some())
            .collect();
        for index in places {
            self.items[index].kind = Kind::Place;
        }
    }
}

impl<'a> Item<'a> {
    /// Whether it is defined here, and not only declared.
    pub fn has_body(&self) -> bool {
        self.lines.last().is_some_and(|line| line.ends_with('}')) || self.lines.iter().any(|line| line.contains('='))
    }

    /// The values that a variable begins with, if it is on one line and says so.
    fn values(&self) -> Option<impl Iterator<Item = &'a str> + use<'a>> {
        let [line] = self.lines[..] else { return None };
        let (_, values) = line.split_once(" = {")?;
        Some(values.strip_suffix("};")?.split(',').map(str::trim))
    }

    /// The content of a variable of bytes.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        if self.kind != Kind::Variable || !self.lines[0].contains(" .b8 ") {
            return None;
        }
        let mut bytes = self.values()?.map(str::parse).collect::<Result<Vec<u8>, _>>().ok()?;
        // Zeros at the end are left out.
        let (_, size) = self.lines[0].split_once('[')?;
        bytes.resize(size.split_once(']')?.0.parse().ok()?, 0);
        Some(bytes)
    }
}

/// The line up to a comment, without space at its ends.
fn without_comment(line: &str) -> &str {
    line.split_once("//").map_or(line, |(before, _)| before).trim_ascii()
}

/// By how many brackets of any kind more are open after the line than before it.
fn depth_change(line: &str) -> i32 {
    let change = |byte| match byte {
        b'{' | b'(' => 1,
        b'}' | b')' => -1,
        _ => 0,
    };
    line.bytes().map(change).sum()
}

/// What these lines declare, if that has a name.
fn item(lines: Vec<&str>) -> Option<Item<'_>> {
    let head = lines[0];
    let is = |word| head.split([' ', '\t']).any(|one| one == word);
    let kind = if is(".entry") {
        Kind::Entry
    } else if is(".func") {
        Kind::Function
    } else {
        Kind::Variable
    };
    // A function's result stands before its name.
    let result =
        if kind == Kind::Function { head.split_once(".func").map(|(_, rest)| rest.trim_ascii_start()) } else { None };
    let after_result = result.filter(|rest| rest.starts_with('(')).and_then(|rest| rest.split_once(')'));
    let name = identifiers(after_result.map_or(head, |(_, rest)| rest)).next()?;
    let kind = if kind == Kind::Variable && name.starts_with(CONTRACT) { Kind::Contract } else { kind };
    Some(Item { kind, name, lines })
}

/// The names in a line, in order: no directives, no numbers, nothing in quotes.
pub fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    iter::from_fn(move || {
        loop {
            let (before, token, after) = next_token(rest)?;
            rest = after;
            if is_identifier(token) && !before.ends_with('.') {
                return Some(token);
            }
        }
    })
}

/// The next word, number or text in quotes, with what stands before it and what follows.
pub fn next_token(text: &str) -> Option<(&str, &str, &str)> {
    let bytes = text.as_bytes();
    let start = bytes.iter().position(|byte| is_part(*byte) || matches!(byte, b'%' | b'"'))?;
    let rest = &bytes[start + 1..];
    let length = match bytes[start] {
        b'"' => rest.iter().position(|byte| *byte == b'"').map_or(rest.len(), |end| end + 1),
        _ => rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len()),
    };
    let (before, from) = text.split_at(start);
    let (token, after) = from.split_at(1 + length);
    Some((before, token, after))
}

/// Whether a token is a name, and no number and no text in quotes.
pub fn is_identifier(token: &str) -> bool {
    !token.starts_with(|first: char| first.is_ascii_digit() || first == '"')
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}
