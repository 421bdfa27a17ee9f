//! Makes `core`'s panics as cheap as our own: a call of our report with constants.
//!
//! A panic of `core` puts a message together, in arrays on the stack, and hands it to the panic
//! handler by reference. `core` keeps its functions from being inlined, so a kernel with one index
//! that the compiler cannot bound had a stack, and the registers of formatting code. Here the
//! functions between the place of a panic and the report are marked to be inlined, with which the
//! optimiser removes all that the report does not read. The functions whose message has numbers or
//! another text in it get a body that reports these. What is not named here stays as it is: another
//! panic of `core` costs what it did.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use super::convergent::{arguments, call_instruction};
use super::global_name;
use super::kernels::bounds;
use super::mangling::{self, CrateId};
use super::module::types;

#[cfg(test)]
mod tests;

/// The crate whose panics these are.
const CORE: &str = "core";

/// Functions of `core` on the way from a panic to the panic handler, as symbols spell their paths.
const INLINED: [&str; 5] = [
    "6option13unwrap_failed",
    "9panicking13assert_failed",
    "9panicking19assert_failed_inner",
    "9panicking5panic",
    "9panicking9panic_fmt",
];

/// The module of `core`'s panics of constant messages: all are inlined.
const CONSTANT: &str = "9panicking11panic_const";

/// The panic handler, which `tilepipe` defines and rustc names.
const HANDLER: (&str, &str) = ("__rustc", "17rust_begin_unwind");

/// Our report: message, length, place, how many of the two numbers belong to the message.
const REPORT: (&str, &str) = ("tilepipe", "5fault3gpu6report");
const REPORT_TYPES: [&str; 6] = ["ptr", "i64", "ptr", "i32", "i64", "i64"];

/// A function whose body is replaced.
struct Replaced {
    path: &'static str,
    types: &'static [&'static str],
    /// The messages, whose constants are `@tilepipe.panic.{name}`.
    messages: &'static [(&'static str, &'static str)],
    /// What stands before the call of the report, and the call's arguments: `$name` and `#name` are
    /// a message and its length.
    body: &'static str,
    arguments: &'static str,
}

/// Functions of `core` that report numbers or a text, of rustc 1.96. One of another type is left as
/// it is.
const REPLACED: [Replaced; 5] = [
    Replaced {
        path: "9panicking18panic_bounds_check",
        types: &["i64", "i64", "ptr"],
        messages: &[("bounds", "index out of bounds: the len is {} but the index is {}")],
        body: "",
        arguments: "ptr $bounds, i64 #bounds, ptr %2, i32 2, i64 %1, i64 %0",
    },
    Replaced {
        path: "5slice5index16slice_index_fail",
        types: &["i64", "i64", "i64", "ptr"],
        messages: &[
            ("start", "range start index {} out of range for slice of length {}"),
            ("end", "range end index {} out of range for slice of length {}"),
            ("order", "slice index starts at {} but ends at {}"),
        ],
        body: "  %late = icmp ugt i64 %0, %2
  %long = icmp ugt i64 %1, %2
  %turned = icmp ugt i64 %0, %1
  %short = xor i1 %long, true
  %order = and i1 %short, %turned
  %second.only = xor i1 %late, true
  %both = and i1 %second.only, %order
  %has.start = or i1 %late, %order
  %text.0 = select i1 %order, ptr $order, ptr $end
  %text = select i1 %late, ptr $start, ptr %text.0
  %length.0 = select i1 %order, i64 #order, i64 #end
  %length = select i1 %late, i64 #start, i64 %length.0
  %first = select i1 %has.start, i64 %0, i64 %1
  %second = select i1 %both, i64 %1, i64 %2
",
        arguments: "ptr %text, i64 %length, ptr %3, i32 2, i64 %first, i64 %second",
    },
    // A message that the kernel's author gave, which `core` formats.
    Replaced {
        path: "6option13expect_failed",
        types: &["ptr", "i64", "ptr"],
        messages: &[],
        body: "",
        arguments: "ptr %0, i64 %1, ptr %2, i32 0, i64 0, i64 0",
    },
    // What is said before the error, which is not formatted.
    Replaced {
        path: "6result13unwrap_failed",
        types: &["ptr", "i64", "ptr", "ptr", "ptr"],
        messages: &[],
        body: "",
        arguments: "ptr %0, i64 %1, ptr %4, i32 0, i64 0, i64 0",
    },
    Replaced {
        path: "5slice20copy_from_slice_impl17len_mismatch_fail",
        types: &["i64", "i64", "ptr"],
        messages: &[(
            "lengths",
            "copy_from_slice: source slice length ({}) does not match destination slice length ({})",
        )],
        body: "",
        arguments: "ptr $lengths, i64 #lengths, ptr %2, i32 2, i64 %0, i64 %1",
    },
];

/// The module with cheap panics. None if it has no report of ours, or if two crates are called
/// `core`, one of which is not rustc's.
pub(crate) fn cheapen<'m>(module: &'m str) -> Option<String> {
    let report = module.lines().filter(|line| line.starts_with("define ")).find(|line| is_report(line));
    let report = bounds::defined_name(report?)?;
    let owners = bounds::definitions(module).filter_map(mangling::owner).filter(|owner| owner.name == CORE);
    if owners.map(CrateId::disambiguator).collect::<BTreeSet<&str>>().len() != 1 {
        return None;
    }
    let defined = |line: &'m str| line.strip_prefix("define ").and_then(bounds::defined_name);
    let change = |line| Some((defined(line)?, Change::of(line)?));
    let changes: HashMap<&str, Change> = module.lines().filter_map(change).collect();
    let mut out = String::with_capacity(module.len() + module.len() / 64);
    let mut groups = Groups::read(module);
    let mut messages = BTreeSet::new();
    let mut skipping = false;
    for line in module.split_inclusive('\n') {
        if skipping {
            skipping = line.trim_end() != "}";
            continue;
        }
        let change = defined(line).and_then(|symbol| changes.get(symbol));
        match change.and_then(|change| Some((change, groups.inlined(line)?))) {
            Some((Change::Body(replaced), head)) => {
                // Without its place in the source, which its calls would have to have too.
                let end = head.find(" !dbg ").or_else(|| head.rfind(" {")).unwrap_or(head.len());
                let _ = writeln!(out, "{} {{\n{}", &head[..end], replaced.code(report));
                messages.extend(replaced.messages);
                skipping = true;
            }
            Some((Change::Inline, head)) => out.push_str(&head),
            // rustc marks the calls, too.
            None => {
                let is_of_one = called(line).is_some_and(|callee| changes.contains_key(callee));
                let call = if is_of_one { groups.inlined(line) } else { None };
                out.push_str(call.as_deref().unwrap_or(line));
            }
        }
    }
    for (name, text) in messages {
        let length = text.len();
        let _ = writeln!(
            out,
            "@tilepipe.panic.{name} = private unnamed_addr constant [{length} x i8] c\"{text}\", align 1"
        );
    }
    out.push_str(&groups.new);
    Some(out)
}

/// The function that a line calls.
fn called(line: &str) -> Option<&str> {
    let call = arguments(&line[call_instruction(line)?..])?;
    global_name(call.callee).map(|(name, _)| name)
}

/// What is done to a definition.
enum Change {
    Body(&'static Replaced),
    Inline,
}

impl Change {
    /// What is done to the definition that a line begins.
    fn of(line: &str) -> Option<Self> {
        let symbol = line.strip_prefix("define ").and_then(bounds::defined_name)?;
        if path_in(symbol, HANDLER.0) == Some(HANDLER.1) {
            return Some(Change::Inline);
        }
        let path = path_in(symbol, CORE)?;
        if let Some(replaced) = REPLACED.iter().find(|one| one.path == path) {
            return has_types(line, replaced.types).then_some(Change::Body(replaced));
        }
        // What follows the path of a generic function are its arguments.
        let is_generic = symbol.starts_with("_RI");
        let is_of = |known: &&str| path.strip_prefix(*known).is_some_and(|rest| rest.is_empty() || is_generic);
        (path.starts_with(CONSTANT) || INLINED.iter().any(is_of)).then_some(Change::Inline)
    }
}

impl Replaced {
    /// The body after the line with the parameters.
    fn code(&self, report: &str) -> String {
        let mut code = format!("{}  call void @{report}({})\n  unreachable\n}}", self.body, self.arguments);
        for (name, text) in self.messages {
            code = code.replace(&format!("${name}"), &format!("@tilepipe.panic.{name}"));
            code = code.replace(&format!("#{name}"), &text.len().to_string());
        }
        code
    }
}

/// Groups of attributes, and those that were made of them.
struct Groups<'a> {
    old: Vec<(&'a str, &'a str)>,
    made: HashMap<String, usize>,
    new: String,
}

impl<'a> Groups<'a> {
    fn read(module: &'a str) -> Self {
        let group =
            |line: &'a str| line.strip_prefix("attributes #")?.trim_end().strip_suffix(" }")?.split_once(" = { ");
        Groups { old: module.lines().filter_map(group).collect(), made: HashMap::new(), new: String::new() }
    }

    /// A line of a definition or a call, to be inlined. None if it has no group of attributes.
    fn inlined(&mut self, line: &str) -> Option<String> {
        // The arguments of a call stand behind its type, those of a definition behind its name.
        let start = call_instruction(line).unwrap_or(0);
        let end = start + arguments(&line[start..])?.end;
        let at = end + line[end..].find(" #")? + 2;
        let after = at + line[at..].find(|c: char| !c.is_ascii_digit())?;
        let number = self.without_noinline(&line[at..after])?;
        Some(format!("{}{number}{}", &line[..at], &line[after..]))
    }

    /// The number of the group that is as this one, but for what is said of inlining.
    fn without_noinline(&mut self, old: &str) -> Option<usize> {
        if let Some(number) = self.made.get(old) {
            return Some(*number);
        }
        let (_, group) = self.old.iter().find(|(number, _)| *number == old)?;
        let kept = group.split(' ').filter(|word| !["noinline", "minsize", "optsize", "alwaysinline"].contains(word));
        let kept: Vec<&str> = kept.collect();
        let number =
            self.old.iter().filter_map(|(number, _)| number.parse::<usize>().ok()).max()? + 1 + self.made.len();
        let _ = writeln!(self.new, "attributes #{number} = {{ alwaysinline {} }}", kept.join(" "));
        self.made.insert(old.to_string(), number);
        Some(number)
    }
}

fn is_report(line: &str) -> bool {
    let symbol = bounds::defined_name(line).unwrap_or_default();
    path_in(symbol, REPORT.0) == Some(REPORT.1) && has_types(line, &REPORT_TYPES)
}

/// The path of a function in its crate, as its symbol spells it, if the crate has this name.
fn path_in<'a>(symbol: &'a str, name: &str) -> Option<&'a str> {
    let owner = mangling::owner(symbol).filter(|owner| owner.name == name)?;
    let separator = if name.starts_with('_') { "_" } else { "" };
    let root = format!("C{}{}{separator}{name}", owner.disambiguator(), name.len());
    symbol.split_once(&root).map(|(_, path)| path)
}

fn has_types(line: &str, expected: &[&str]) -> bool {
    arguments(line).and_then(|call| types(call.list)).is_some_and(|found| found == expected)
}
