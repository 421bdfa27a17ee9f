//! The instructions of a function of PTX, and where each of them goes on.

use std::collections::HashMap;

/// Where a path goes on behind an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// At the instruction behind it.
    Behind,
    /// At the one of this number.
    Jump(usize),
    /// Nowhere.
    End,
    /// It is not known.
    Unknown,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statement<'m> {
    /// The number of its line.
    pub line: usize,
    /// Whether it is alone there, so that the line can go.
    pub alone: bool,
    /// Whether it may be skipped.
    pub predicated: bool,
    pub opcode: &'m str,
    /// All that stands behind the opcode.
    pub operands: &'m str,
    pub next: Next,
}

impl<'m> Statement<'m> {
    /// What stands behind the opcode, up to the first comma or space.
    pub(super) fn operand(&self) -> &'m str {
        word(self.operands)
    }

    /// The instructions that may come behind this one, which has this number.
    pub(super) fn following(&self, number: usize) -> impl Iterator<Item = usize> {
        let next = match self.next {
            Next::Behind => Some(number + 1),
            Next::Jump(target) => Some(target),
            Next::End | Next::Unknown => None,
        };
        let skipped = (self.predicated && self.next != Next::Behind).then_some(number + 1);
        next.into_iter().chain(skipped)
    }
}

/// The instructions in the body of a function, which these are the lines of.
pub(super) fn statements<'m>(lines: &[&'m str]) -> Vec<Statement<'m>> {
    // A label is known in its scope and in those within: number, and where it is.
    let mut scopes: Vec<HashMap<&str, usize>> = vec![HashMap::new()];
    let (mut open, mut found, mut jumps) = (vec![0], Vec::new(), Vec::new());
    let body = lines.iter().enumerate().skip_while(|(_, line)| !line.starts_with('{'));
    for (line, text) in body {
        let mut rest = text.split_once("//").map_or(*text, |(code, _)| code);
        let first_of_line = found.len();
        while !rest.is_empty() {
            let end = end_of_part(rest);
            let (part, mark) = (rest[..end].trim(), rest[end..].chars().next());
            let scope = open.last().copied().unwrap_or_default();
            if mark == Some(':') && !part.contains(' ') {
                scopes[scope].insert(part, found.len());
            } else if !part.is_empty() {
                let (statement, target) = statement(line, part);
                jumps.extend(target.map(|target| (found.len(), open.clone(), target)));
                found.push(statement);
            }
            if mark == Some('{') {
                open.push(scopes.len());
                scopes.push(HashMap::new());
            } else if mark == Some('}') {
                open.pop();
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        if found.len() != first_of_line + 1 {
            found[first_of_line..].iter_mut().for_each(|statement| statement.alone = false);
        }
    }
    for (number, open, target) in jumps {
        let target = open.iter().rev().find_map(|scope| scopes[*scope].get(target));
        found[number].next = target.map_or(Next::Unknown, |target| Next::Jump(*target));
    }
    found
}

/// Where an instruction or a label ends, or a scope begins or ends, whichever comes first. Names of
/// instructions have `::` in them, and operands have braces.
fn end_of_part(text: &str) -> usize {
    let (bytes, mut in_braces) = (text.as_bytes(), false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if !text[..at].trim().is_empty() => in_braces = true,
            b'}' if in_braces => in_braces = false,
            b':' if bytes.get(at + 1) == Some(&b':') || text[..at].ends_with(':') => {}
            b';' | b'{' | b'}' | b':' => return at,
            _ => {}
        }
    }
    bytes.len()
}

/// An instruction, and the label that it jumps to.
fn statement(line: usize, text: &str) -> (Statement<'_>, Option<&str>) {
    let predicated = text.starts_with('@');
    let text = if predicated { text[word(text).len()..].trim_start() } else { text };
    let opcode = word(text);
    let operands = text[opcode.len()..].trim_start();
    let (next, target) = match opcode {
        "ret" | "exit" | "trap" => (Next::End, None),
        "bra" | "bra.uni" => (Next::Unknown, Some(word(operands))),
        _ if opcode.starts_with("brx") => (Next::Unknown, None),
        _ => (Next::Behind, None),
    };
    (Statement { line, alone: true, predicated, opcode, operands, next }, target)
}

/// A text up to its first comma or space.
fn word(text: &str) -> &str {
    text.split([' ', '\t', ',']).next().unwrap_or_default()
}
