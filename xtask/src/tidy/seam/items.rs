//! The functions and types that a file of a backend has for the crate.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::super::source::RustFile;
use super::super::tokens::{Token, closed, tokens};

/// A function, a method or a type that is `pub(crate)`, or a method of a trait that is.
pub struct Item {
    pub file: PathBuf,
    pub line: usize,
    /// The line of its keyword, below its documentation. `line` is that of its name, which a macro
    /// may take from elsewhere.
    pub begin: usize,
    /// Its signature, if it is a function or a method.
    pub function: Option<Function>,
    /// The type that it stands for, if it is a name for one.
    pub stands_for: Option<String>,
    /// Whether it is a trait or a method of one.
    pub of_trait: bool,
}

/// A signature, in which single spaces stand between tokens.
#[derive(Debug)]
pub struct Function {
    /// Up to the parameters, without the name.
    pub begin: String,
    /// Names and types; a receiver is a name without a type.
    pub parameters: Vec<(String, String)>,
    /// What follows the parameters.
    pub end: String,
}

impl Function {
    pub fn is_unsafe(&self) -> bool {
        self.begin.split(' ').take_while(|word| *word != "fn").any(|word| word == "unsafe")
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |(name, of): &(String, String)| if of.is_empty() { name.clone() } else { format!("{name}: {of}") };
        let parameters: Vec<String> = self.parameters.iter().map(one).collect();
        write!(f, "{} ({})", self.begin, parameters.join(", "))?;
        if self.end.is_empty() { Ok(()) } else { write!(f, " {}", self.end) }
    }
}

/// The items of a file by their names, those of its macros' invocations among them. A method is
/// named `Type::method`, or `Trait::method`.
pub fn items(file: &RustFile) -> impl Iterator<Item = (String, Item)> {
    let tokens = tokens(&file.code);
    let macros = macros(&tokens);
    let mut found = Vec::new();
    collect(&tokens, "", &macros, &mut found);
    for (_, item) in &mut found {
        // Until here they are places in the file.
        item.line = file.line(item.line);
        item.begin = file.line(item.begin);
        item.file.clone_from(&file.path);
    }
    found.into_iter()
}

/// An item as it is collected, with its name: without its file, and with places for its lines.
type Found = (String, Item);

/// A macro of one arm: what it takes and what it becomes.
type Macros<'a> = BTreeMap<&'a str, (&'a [Token<'a>], &'a [Token<'a>])>;

/// Adds the items of a file, or of the body of `impl` of a type, whose name and `::` is `of`.
fn collect<'a>(tokens: &[Token<'a>], of: &str, macros: &Macros<'a>, found: &mut Vec<Found>) {
    let text = |place: usize| tokens.get(place).map_or("", |token| token.text);
    let mut place = 0;
    while place < tokens.len() {
        place = match text(place) {
            "pub" if text(place + 1) == "(" && text(place + 2) == "crate" => {
                let body = place + 4 + item(&tokens[place + 4..], of, found);
                let declared = tokens[place + 4..body].iter().position(|token| token.text == "trait");
                let end = declared.map_or(body, |_| closed(tokens, body));
                if let Some(name) = declared.map(|at| text(place + 4 + at + 1)) {
                    methods(&tokens[(body + 1).min(end)..end.max(1) - 1], &format!("{name}::"), found);
                }
                end
            }
            "impl" => {
                let body = (place..tokens.len()).find(|place| text(*place) == "{").unwrap_or(tokens.len());
                let end = closed(tokens, body);
                if let Some(name) = inherent(&tokens[place + 1..body]) {
                    collect(&tokens[(body + 1).min(end)..end.max(1) - 1], &format!("{name}::"), macros, found);
                }
                end
            }
            "macro_rules" => closed(tokens, place + 3),
            name if text(place + 1) == "!" && macros.contains_key(name) => {
                let end = closed(tokens, place + 2);
                let (takes, becomes) = macros[name];
                if let Some(made) = expanded(takes, becomes, &tokens[place + 3..end - 1]) {
                    collect(&made, of, macros, found);
                }
                end
            }
            "{" | "(" | "[" => closed(tokens, place),
            _ => place + 1,
        };
    }
}

/// Adds the methods of a trait, given its body.
fn methods(tokens: &[Token<'_>], of: &str, found: &mut Vec<Found>) {
    let mut place = 0;
    while let Some(token) = tokens.get(place) {
        let collected = found.len();
        place = match token.text {
            "const" | "unsafe" | "fn" => place + item(&tokens[place..], of, found),
            "{" | "(" | "[" => closed(tokens, place),
            _ => place + 1,
        };
        found[collected..].iter_mut().for_each(|(_, item)| item.of_trait = true);
    }
}

/// Adds the item that begins there, after its visibility, and returns its length up to its body.
fn item(tokens: &[Token<'_>], of: &str, found: &mut Vec<Found>) -> usize {
    let joined = |part: &[Token<'_>]| part.iter().map(|token| token.text).collect::<Vec<_>>().join(" ");
    let is_end = |token: &Token<'_>| matches!(token.text, "{" | ";");
    let keyword = tokens.iter().take_while(|token| matches!(token.text, "const" | "unsafe")).count();
    if !tokens.get(keyword).is_some_and(|token| matches!(token.text, "fn" | "struct" | "enum" | "type" | "trait")) {
        return keyword;
    }
    let (kind, Some(name)) = (tokens[keyword].text, tokens.get(keyword + 1)) else { return keyword };
    let full = format!("{of}{}", name.text);
    let (begin, of_trait) = (tokens[keyword].at, kind == "trait");
    let mut made = Item { file: PathBuf::new(), line: name.at, begin, function: None, stands_for: None, of_trait };
    // The semicolon of an array's type is within brackets.
    let mut end = keyword + 2;
    while tokens.get(end).is_some_and(|token| !is_end(token)) {
        end = if matches!(tokens[end].text, "(" | "[") { closed(tokens, end) } else { end + 1 };
    }
    let rest = &tokens[keyword + 2..end];
    if kind == "fn" {
        let open = keyword + 2 + list(rest);
        let close = closed(tokens, open);
        let begin = joined(&[&tokens[..=keyword], &tokens[keyword + 2..open]].concat());
        let parameters = split(&tokens[open + 1..close - 1], ",").into_iter().filter(|part| !part.is_empty());
        let parameters = parameters.map(|part| {
            let colon = part.iter().position(|token| token.text == ":");
            let (name, of) = colon.map_or((part, &[][..]), |colon| (&part[..colon], &part[colon + 1..]));
            (joined(name).trim_start_matches("mut ").to_owned(), joined(of))
        });
        let function = Function { begin, parameters: parameters.collect(), end: joined(&tokens[close..end]) };
        made.function = Some(function);
    } else {
        made.stands_for = (kind == "type").then(|| split(rest, "=").last().map(|of| joined(of))).flatten();
    }
    found.push((full, made));
    end
}

/// The place of a function's parameters after its name: behind the generic ones, if there are any.
fn list(rest: &[Token<'_>]) -> usize {
    let mut depth = 0;
    for (place, token) in rest.iter().enumerate() {
        match token.text {
            "<" => depth += 1,
            ">" => depth -= 1,
            "(" if depth == 0 => return place,
            _ => {}
        }
    }
    0
}

/// The parts between marks that stand in no brackets.
fn split<'t, 'a>(tokens: &'t [Token<'a>], mark: &str) -> Vec<&'t [Token<'a>]> {
    let mut depth = 0;
    tokens
        .split(|token| {
            match token.text {
                "(" | "[" | "{" | "<" => depth += 1,
                ")" | "]" | "}" | ">" => depth -= 1,
                _ => {}
            }
            depth == 0 && token.text == mark
        })
        .collect()
}

/// The name of the type, given the head of an `impl` that is not of a trait.
fn inherent<'a>(head: &[Token<'a>]) -> Option<&'a str> {
    if head.iter().any(|token| token.text == "for") {
        return None;
    }
    let mut depth = 0;
    let name = head.iter().find(|token| {
        let is_outside = depth == 0;
        depth += i32::from(token.text == "<") - i32::from(token.text == ">");
        is_outside && token.text != "<"
    });
    name.map(|token| token.text)
}

/// The macros of one arm that a file declares, by their names.
fn macros<'a>(tokens: &'a [Token<'a>]) -> Macros<'a> {
    let declared = tokens.iter().enumerate().filter(|(_, token)| token.text == "macro_rules");
    let arms = declared.filter_map(|(place, _)| {
        // macro_rules ! name { ( takes ) = > { becomes } ; }
        let takes = closed(tokens, place + 4);
        let becomes = closed(tokens, takes + 2);
        let name = tokens.get(place + 2)?.text;
        Some((name, (tokens.get(place + 5..takes - 1)?, tokens.get(takes + 3..becomes - 1)?)))
    });
    arms.collect()
}

/// What a macro becomes for arguments; none if it takes more than single tokens.
fn expanded<'a>(takes: &[Token<'a>], becomes: &[Token<'a>], arguments: &[Token<'a>]) -> Option<Vec<Token<'a>>> {
    let mut values: BTreeMap<&str, Token<'a>> = BTreeMap::new();
    let (mut taken, mut given) = (0, 0);
    while let Some(pattern) = takes.get(taken) {
        let argument = arguments.get(given)?;
        if pattern.text.len() > 1 && pattern.text.starts_with('$') {
            values.insert(pattern.text, *argument);
            // The name, a colon and the kind.
            taken += 3;
        } else if pattern.text == argument.text {
            taken += 1;
        } else {
            return None;
        }
        given += 1;
    }
    let value = |token: &Token<'a>| values.get(token.text).copied().unwrap_or(*token);
    Some(becomes.iter().map(value).collect())
}
