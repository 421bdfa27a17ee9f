//! A module taken apart into what it defines, to write out again what some of it needs.
//!
//! What is written depends on nothing but the definitions that are asked for and their order: private
//! constants, groups of attributes and metadata are numbered anew, and line tables are left out. So a
//! kernel's text does not change with the kernels around it, and can be a key of what is made of it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use super::module::names;
use super::{bounds, global_name, is_name};

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

impl<'a> Items<'a> {
    /// Takes a module apart. Aliases and named metadata are left out: rustc writes none that kernels
    /// need.
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
        for at in 0..self.items.len() {
            let mut seen = HashSet::new();
            let text = self.items[at].text;
            let named = text.lines().filter(|line| line.contains('@')).flat_map(names);
            let uses = named.filter_map(|name| self.by_name.get(name).copied());
            self.items[at].uses = uses.filter(|one| *one != at && seen.insert(*one)).collect();
        }
    }

    /// The places of what is defined and named from `roots` on, in the module's order. Roots that are
    /// not there are left out.
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

    /// The module without what the roots do not need. Line tables stay, and so do names and numbers.
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
    pub(crate) fn part<'n>(&self, roots: impl IntoIterator<Item = &'n str>) -> (String, Vec<&'a str>) {
        let order = self.reached(roots);
        let mut writer = Writer::empty(self);
        for line in self.header.iter().chain(&self.types) {
            writer.out.push_str(line);
            writer.out.push('\n');
        }
        for kind in [Kind::Global, Kind::Defined, Kind::Declared] {
            for item in order.iter().map(|at| &self.items[*at]).filter(|item| item.kind == kind) {
                item.text.lines().for_each(|line| writer.line(line));
            }
        }
        writer.finish();
        let defined = order.iter().map(|at| &self.items[*at]).filter(|item| item.kind == Kind::Defined);
        let apart = defined.filter(|item| self.is_never_inlined(item)).map(|item| item.name).collect();
        (writer.out, apart)
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
    /// Private constants.
    names: HashMap<&'a str, usize>,
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
            names: HashMap::new(),
            attributes: Numbers::default(),
            metadata: Numbers::default(),
        }
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
        let item = &self.items.items[*self.items.by_name.get(name)?];
        let is_private = item.kind == Kind::Global
            && item.text[..item.text.find(" constant ")?].split(' ').any(|word| word == "private");
        if !is_private {
            return None;
        }
        let next = self.names.len();
        let number = *self.names.entry(name).or_insert(next);
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

/// The number behind `sign` at the beginning of a text, and what follows it.
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

#[cfg(test)]
mod tests {
    use super::{Items, internal};

    const MODULE: &str = r##"; ModuleID = 'x'
source_filename = "x"
target triple = "nvptx64-nvidia-cuda"

@anon.1 = private unnamed_addr constant [9 x i8] c"@b #1 !2\00", align 1
@anon.2 = private unnamed_addr constant <{ ptr }> <{ ptr @anon.1 }>, align 8
@shared = external addrspace(3) global [0 x i8], align 128

define void @other() #1 !dbg !9 {
  ret void
}

define void @"k$one"(ptr %0) unnamed_addr #7 !dbg !9 {
  %2 = load ptr, ptr %0, align 8, !dbg !10, !nonnull !5, !align !6
  call void asm sideeffect "bar; // @other #1 !5", "~{memory}"() #1, !srcloc !11
  call void @apart(ptr @anon.2, ptr @shared) #7, !dbg !10
  ret void
}

define internal void @apart(ptr %0, ptr %1) #1 {
  ret void
}

declare void @llvm.trap() #7

attributes #1 = { cold noinline nounwind }
attributes #7 = { nounwind }

!llvm.module.flags = !{!4}

!4 = !{i32 7, !"Dwarf Version", i32 4}
!5 = !{!6}
!6 = !{i64 8}
!9 = distinct !DISubprogram(name: "one")
!10 = !DILocation(line: 1, scope: !9)
!11 = !{i64 77}
"##;

    const PART: &str = r##"target triple = "nvptx64-nvidia-cuda"
@constant.0 = private unnamed_addr constant [9 x i8] c"@b #1 !2\00", align 1
@constant.1 = private unnamed_addr constant <{ ptr }> <{ ptr @constant.0 }>, align 8
@shared = external addrspace(3) global [0 x i8], align 128
define void @"k$one"(ptr %0) unnamed_addr #0 {
  %2 = load ptr, ptr %0, align 8, !nonnull !0, !align !1
  call void asm sideeffect "bar; // @other #1 !5", "~{memory}"() #1
  call void @apart(ptr @constant.1, ptr @shared) #0
  ret void
}
define internal void @apart(ptr %0, ptr %1) #1 {
  ret void
}
attributes #0 = { nounwind }
attributes #1 = { cold noinline nounwind }
!0 = !{!1}
!1 = !{i64 8}
"##;

    #[test]
    fn a_part_has_what_its_roots_need_with_numbers_of_its_own() {
        let items = Items::read(MODULE);
        let (part, apart) = items.part(["k$one", "not there"]);
        assert_eq!(part, PART);
        assert_eq!(apart, ["apart"]);
        let (again, _) = Items::read(&part).part(["k$one"]);
        assert_eq!(again, PART, "a part is a part of itself");
    }

    #[test]
    fn a_part_does_not_change_with_what_it_does_not_need() {
        let (part, _) = Items::read(MODULE).part(["k$one"]);
        let more = MODULE
            .replace("define void @other() #1", "@anon.0 = private constant i8 0\ndefine void @other() #2")
            .replace("attributes #7", "attributes #2 = { cold }\nattributes #7")
            .replace("!dbg !10", "!dbg !12")
            .replace("anon.", "anon.abc.");
        assert_ne!(more, MODULE);
        assert_eq!(Items::read(&more).part(["k$one"]).0, part);
        let (changed, _) = Items::read(&MODULE.replace("i64 8}", "i64 16}")).part(["k$one"]);
        assert_ne!(changed, part);
    }

    #[test]
    fn functions_become_internal() {
        let module = "define void @a() {\n}\ndefine weak_odr hidden noundef i1 @\"b c\"() #1 {\n}\n\
            define internal void @d() {\n}\ndefine void @e() {\n}\n";
        let names = ["a", "b c", "d"].map(str::to_string);
        assert_eq!(
            internal(module, &names),
            "define internal void @a() {\n}\ndefine internal noundef i1 @\"b c\"() #1 {\n}\n\
             define internal void @d() {\n}\ndefine void @e() {\n}\n"
        );
    }

    #[test]
    fn what_is_needed_keeps_its_line_tables() {
        let needed = Items::read(MODULE).needed(["k$one"]);
        assert!(needed.contains("!dbg !10, !nonnull !5") && needed.contains("!9 = distinct !DISubprogram"));
        assert!(!needed.contains("define void @other()") && !needed.contains("llvm.trap"));
    }
}
