//! Which functions a line of IR was written in.
//!
//! rustc inlines before it writes IR, also from one crate into another, so the function around a
//! line need not be the one whose source has it. The line tables keep that: a location is in a
//! function, and inlined at another location.

/// How many entries may be left out in a row, and how deep functions may be inlined into each
/// other: more than ever occurs.
const GAP: usize = 1000;
const DEEPEST: usize = 1000;

/// The functions of every location of a module.
pub(crate) struct Scopes<'a> {
    /// The entries' definitions by their numbers, which are dense; read when they are asked for, as
    /// there are millions.
    entries: Vec<&'a str>,
}

/// One entry of the line tables.
enum Node<'a> {
    Location { scope: u32, inlined_at: Option<u32> },
    Block { scope: u32 },
    Function { symbol: &'a str },
}

impl<'a> Scopes<'a> {
    /// Reads the line tables of a module.
    pub(crate) fn read(module: &'a str) -> Self {
        let mut entries = Vec::new();
        for line in module.lines() {
            let Some((number, definition)) = line.strip_prefix('!').and_then(|line| line.split_once(" = ")) else {
                continue;
            };
            // Numbers count up. One that leaves many out is none of this module's.
            let Some(number) = number.parse::<usize>().ok().filter(|number| *number <= entries.len() + GAP) else {
                continue;
            };
            entries.resize(entries.len().max(number + 1), "");
            entries[number] = definition;
        }
        Scopes { entries }
    }

    /// The symbols of the functions that an instruction was written in: first the one whose source
    /// has it, then the one that this was inlined into, and so on. Empty if the instruction has no
    /// location, or one that is not understood.
    pub(crate) fn of(&self, instruction: &str) -> Vec<&'a str> {
        self.chain(location(instruction)).unwrap_or_default()
    }

    fn chain(&self, mut location: Option<u32>) -> Option<Vec<&'a str>> {
        let mut chain = Vec::new();
        while let Some(at) = location {
            let Node::Location { scope, inlined_at } = self.node(at)? else { return None };
            chain.push(self.function(scope)?);
            if chain.len() > DEEPEST {
                return None;
            }
            location = inlined_at;
        }
        Some(chain)
    }

    fn function(&self, mut scope: u32) -> Option<&'a str> {
        for _ in 0..DEEPEST {
            match self.node(scope)? {
                Node::Function { symbol } => return Some(symbol),
                Node::Block { scope: outer } => scope = outer,
                Node::Location { .. } => return None,
            }
        }
        None
    }

    fn node(&self, number: u32) -> Option<Node<'a>> {
        node(self.entries.get(number as usize)?)
    }
}

/// The number of an instruction's location: `.., !dbg !7, ..` after its last string, as a string
/// can hold anything.
fn location(instruction: &str) -> Option<u32> {
    let attachments = &instruction[instruction.rfind('"').unwrap_or(0)..];
    let (_, rest) = attachments.split_once(", !dbg !")?;
    number(rest)
}

/// The definition `distinct !DISubprogram(..)`, or one of the others that matter.
fn node(definition: &str) -> Option<Node<'_>> {
    let (kind, fields) =
        definition.strip_prefix("distinct ").unwrap_or(definition).strip_prefix('!')?.split_once('(')?;
    let (mut scope, mut inlined_at, mut plain, mut linkage) = (None, None, None, None);
    for field in fields_of(fields) {
        match field.split_once(": ") {
            Some(("scope", value)) => scope = value.strip_prefix('!').and_then(number),
            Some(("inlinedAt", value)) => inlined_at = Some(value.strip_prefix('!').and_then(number)?),
            Some(("name", value)) => plain = string(value),
            Some(("linkageName", value)) => linkage = string(value),
            _ => {}
        }
    }
    match kind {
        "DILocation" => Some(Node::Location { scope: scope?, inlined_at }),
        "DILexicalBlock" | "DILexicalBlockFile" => Some(Node::Block { scope: scope? }),
        // A function whose symbol is its name has no other entry for it.
        "DISubprogram" => Some(Node::Function { symbol: linkage.or(plain)? }),
        _ => None,
    }
}

/// The fields of an entry, split at the commas outside of strings.
fn fields_of(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |c| {
        quoted ^= c == '"';
        !quoted && matches!(c, ',' | ')')
    })
    .map(str::trim_start)
}

/// The content of a string.
fn string(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.strip_suffix('"')
}

/// The number at the beginning of a text.
fn number(text: &str) -> Option<u32> {
    text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::Scopes;

    const TABLES: &str = r#"
!1 = distinct !DISubprogram(name: "kernel", scope: !9, file: !8, line: 1, unit: !7)
!2 = distinct !DISubprogram(name: "step<scope: !1, \22>", linkageName: "_Rstep", scope: !9, file: !8, line: 2, unit: !7)
!3 = !DILexicalBlock(scope: !2, file: !8, line: 3, column: 9)
!4 = !DILocation(line: 4, column: 5, scope: !1)
!5 = distinct !DILocation(line: 5, column: 5, scope: !3, inlinedAt: !4)
!6 = !DILocation(line: 6, column: 5, scope: !6)
!7 = !DILocation(line: 6, column: 5, scope: !1, inlinedAt: !7)
!8 = !DIFile(filename: "scope: !1", directory: "")
"#;

    #[test]
    fn a_line_is_in_the_function_that_wrote_it_and_in_those_around() {
        let scopes = Scopes::read(TABLES);
        assert_eq!(scopes.of("  call void @f() #1, !dbg !5, !srcloc !4"), ["_Rstep", "kernel"]);
        assert_eq!(scopes.of("  call void asm \", !dbg !5\", \"r\"(i32 1) #1, !dbg !4"), ["kernel"]);
    }

    #[test]
    fn lines_without_a_known_place_are_in_none() {
        let scopes = Scopes::read(TABLES);
        for line in
            ["  ret void", "  ret void, !dbg !6", "  ret void, !dbg !7", "  ret void, !dbg !3", "  ret void, !dbg !99"]
        {
            assert!(scopes.of(line).is_empty(), "{line}");
        }
        assert!(scopes.of("  call void asm \"// , !dbg !5\", \"\"()").is_empty());
    }
}
