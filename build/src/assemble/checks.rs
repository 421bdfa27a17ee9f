//! One change to the linked PTX: checks that end in a report of a panic stay in the path of the
//! warp.
//!
//! LLVM puts the call of a report (`tilepipe::fault`) at the kernel's end, and each failed check
//! jumps there. `ptxas` takes such a jump for the end of what a warp's threads do together: from
//! there on no number lies in the warp's own registers. A kernel that looks up an index it cannot
//! bound then takes 40 registers instead of 22, and runs with fewer warps (docs/decisions/80).
//!
//! Here a check writes its report in line, without a jump, a loop or a call that `ptxas` would take
//! for one, and those threads whose check failed leave by an `exit` under its predicate:
//!
//! - The first thread that claims the record writes where it is, the message's numbers and which
//!   check it was, completes the record and stops the grid by `brkpt`. Without a debugger that is
//!   what `trap` is (`BPT.TRAP`), but `ptxas` does not end the path there.
//! - The others leave. They do not trap, which could end the grid before the record is whole.
//! - The texts are comments behind the module, `// tilepipe.panic`, which the host finds by the
//!   number in the record (`PanicRecord::site`).
//!
//! That is for checks that threads make for themselves. Where all threads of a warp compare the
//! same numbers, such as how many tiles there are, `ptxas` sees that, and the check stays as it is.
//! So do all checks of a kernel that has a thread's own check of another kind, which calls.
//!
//! A module that nobody has given a record ends by an access to the address 0 instead of a trap.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::lines::{ARITHMETIC, PURE, code, is_entry, parts};

#[cfg(test)]
mod tests;

/// What a line behind the module begins with that says what a number in a record stands for: the
/// number, line, column, file and message follow, with tabs between them.
const SITE: &str = "// tilepipe.panic";

/// How the names of the two functions end that write a record, which have the same parameters: the
/// message and its length, the place, how many of two numbers belong to the message, and these.
const REPORTS: [&str; 2] = ["8tilepipe5fault3gpu6report", "8tilepipe5fault3gpu4fail"];

/// An entry with more checks than this is left as it is, for the size of its code.
const MOST: usize = 32;

/// What differs from thread to thread.
const THREADS_OWN: [&str; 4] = ["%tid.x", "%laneid", "%warpid", "%clock"];

/// Where the record has what a check writes: `tilepipe::panic_record::PanicRecord`.
struct Offsets {
    block: usize,
    thread: usize,
    count: usize,
    values: usize,
    site: usize,
}

/// A test of what is built compares them with the record.
const OFFSETS: Offsets = Offsets { block: 12, thread: 16, count: 28, values: 32, site: 832 };

/// The module with checks in line; none if it has none that can be.
pub(crate) fn in_line(module: &str) -> Option<String> {
    let lines: Vec<&str> = module.lines().collect();
    let constants = Constants::read(&lines);
    let (mut out, mut sites) = (String::with_capacity(module.len()), Vec::new());
    for part in parts(&lines) {
        let changed = if is_entry(part) { entry(part, &constants, &mut sites) } else { None };
        match changed {
            Some(text) => out += &text,
            None => part.iter().for_each(|line| out.extend([line, "\n"])),
        }
    }
    sites.sort();
    sites.dedup();
    for site in &sites {
        let Site { line, column, file, message } = site;
        let _ = writeln!(out, "{SITE}\t{:016x}\t{line}\t{column}\t{file}\t{message}", site.number());
    }
    (!sites.is_empty()).then_some(out)
}

/// A message and its place in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Site {
    line: u32,
    column: u32,
    file: String,
    message: String,
}

impl Site {
    /// What stands for it in a record: FNV-1a of 64 bits, and never zero.
    fn number(&self) -> u64 {
        let Site { line, column, file, message } = self;
        let text = format!("{line}\t{column}\t{file}\t{message}");
        text.bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
            | 1
    }
}

/// The constants of a module, as it writes their contents.
struct Constants<'m>(HashMap<&'m str, Vec<&'m str>>);

impl<'m> Constants<'m> {
    fn read(lines: &[&'m str]) -> Self {
        let constant = |line: &&'m str| {
            let (declared, content) = line.strip_prefix(".global ")?.split_once(" = {")?;
            let name = declared.rsplit(' ').next()?.split('[').next()?;
            let content = content.strip_suffix("};")?;
            Some((name, content.split(',').map(str::trim).collect()))
        };
        Self(lines.iter().filter_map(constant).collect())
    }

    /// The first `length` bytes of a constant as a text without control characters. Zeros at the
    /// end may be left out.
    fn text(&self, name: &str, length: usize) -> Option<String> {
        let written = self.0.get(name)?;
        let bytes: Option<Vec<u8>> = written.iter().take(length).map(|byte| byte.parse().ok()).collect();
        let text = String::from_utf8(bytes?).ok()?;
        (text.len() == length && !text.contains(char::is_control)).then_some(text)
    }

    /// Line, column and file of a constant `core::panic::Location`.
    fn place(&self, name: &str) -> Option<(u32, u32, String)> {
        let [file, length, place] = self.0.get(name)?.as_slice() else {
            return None;
        };
        let file = file.strip_prefix("generic(")?.strip_suffix(')')?;
        // The file's name ends with a zero, which its length does not count.
        let file = self.text(file, length.parse().ok()?)?;
        let place: u64 = place.parse().ok()?;
        Some((place as u32, (place >> 32) as u32, file))
    }
}

/// A call of a report at an entry's end.
struct Report<'m> {
    label: &'m str,
    /// Its lines: those from the first one on, as many.
    lines: std::ops::Range<usize>,
    site: Site,
    /// What computes the numbers.
    setup: Vec<&'m str>,
    count: &'m str,
    values: [&'m str; 2],
}

/// An entry with its checks in line; none if there is none, or more than there may be. Adds what
/// they stand for.
fn entry(lines: &[&str], constants: &Constants<'_>, sites: &mut Vec<Site>) -> Option<String> {
    let reports: HashMap<&str, Report<'_>> =
        (0..lines.len()).filter_map(|at| report(lines, at, constants)).map(|report| (report.label, report)).collect();
    let codes: Vec<String> = lines.iter().map(|line| code(line)).collect();
    if codes.iter().any(|code| code.contains(".branchtargets")) {
        return None;
    }
    let (own, ends) = (of_threads(&codes), calls_at_the_end(&codes));
    let (mut checks, mut kept) = (HashMap::new(), HashSet::new());
    for (at, code) in codes.iter().enumerate() {
        let Some((condition, target)) = jump(code) else { continue };
        if !ends.contains(target) {
            continue;
        }
        // A jump that always goes there follows one that goes on.
        let before = at.checked_sub(1).and_then(|before| jump(&codes[before]));
        let check = match (condition, before) {
            (Some(condition), _) => Some((condition.to_string(), None)),
            (None, Some((Some(condition), goes_on))) if !ends.contains(goes_on) => {
                Some((negated(condition), Some(goes_on)))
            }
            _ => None,
        };
        let of_threads = check.filter(|(condition, _)| own.contains(condition.trim_start_matches('!')));
        match (of_threads, reports.get(target)) {
            (Some((condition, goes_on)), Some(report)) => {
                checks.insert(at, (condition, goes_on, report));
            }
            // With another way out of the warp's path nothing is gained.
            (Some(_), None) => return None,
            (None, _) => {
                kept.insert(target);
            }
        }
    }
    if checks.is_empty() || checks.len() > MOST {
        return None;
    }
    // The jump that goes on comes after the check instead.
    let moved: HashSet<usize> =
        checks.iter().filter(|(_, (_, goes_on, _))| goes_on.is_some()).map(|(at, _)| at - 1).collect();
    let gone = reports.values().filter(|report| !kept.contains(report.label));
    let gone: HashSet<usize> = gone.flat_map(|report| report.lines.clone()).collect();
    let body = codes.iter().position(|code| code == "{")?;
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        if let Some((condition, goes_on, report)) = checks.get(&at) {
            write_check(&mut out, at, condition, report);
            if let Some(label) = goes_on {
                let _ = writeln!(out, "\tbra.uni \t{label};");
            }
            sites.push(report.site.clone());
        } else if !moved.contains(&at) && !gone.contains(&at) {
            out.extend([line, "\n"]);
        }
        if at == body {
            out += BLOCK;
        }
    }
    Some(out)
}

/// What an entry with checks begins with: its block's index in a register that nothing else is
/// computed from. `ptxas` would keep `%ctaid.x` itself out of the warp's own registers, with all
/// that follows from it, if a thread alone used it; it cannot know that this adds zero, which it is
/// until the clock has counted 2^63 cycles.
const BLOCK: &str = "\t.reg .b32 tilepipe_block, tilepipe_zero;
\tmov.u32 tilepipe_zero, %clock_hi;
\tshr.u32 tilepipe_zero, tilepipe_zero, 31;
\tmov.u32 tilepipe_block, %ctaid.x;
\tor.b32 tilepipe_block, tilepipe_block, tilepipe_zero;
";

/// The check in line `at`, which fails where `condition` holds. Of the orders that were tried this
/// one takes the fewest registers. The record begins a page, so that its two numbers are 16 aligned
/// bytes.
fn write_check(out: &mut String, at: usize, condition: &str, report: &Report<'_>) {
    let passes = negated(condition);
    let setup: String = report.setup.iter().flat_map(|line| [line, "\n"]).collect();
    let [first, second] = report.values;
    let (number, count, global) = (report.site.number(), report.count, crate::ir::check::PANIC_RECORD);
    let Offsets { block, thread, count: count_at, values, site } = OFFSETS;
    let _ = write!(
        out,
        "\t{{
\t.reg .pred tilepipe_first;
\t.reg .b32 tilepipe_word;
\t.reg .b64 tilepipe_record, tilepipe_value, tilepipe_other;
\t@{passes} bra tilepipe_checked_{at};
{setup}\
\tld.volatile.global.b64 tilepipe_record, [{global}];
\tatom.sys.cas.b32 tilepipe_word, [tilepipe_record], 0, 1;
\tsetp.eq.b32 tilepipe_first, tilepipe_word, 0;
\tmov.u32 tilepipe_word, %tid.x;
\t@tilepipe_first st.volatile.b32 [tilepipe_record+{block}], tilepipe_block;
\t@tilepipe_first st.volatile.b32 [tilepipe_record+{thread}], tilepipe_word;
\tmov.b64 tilepipe_value, {first};
\tmov.b64 tilepipe_other, {second};
\t@tilepipe_first st.volatile.b64 [tilepipe_record+{site}], 0x{number:016x};
\t@tilepipe_first st.volatile.b32 [tilepipe_record+{count_at}], {count};
\t@tilepipe_first st.volatile.v2.b64 [tilepipe_record+{values}], {{tilepipe_value, tilepipe_other}};
\tfence.sc.sys;
\t@tilepipe_first st.volatile.b32 [tilepipe_record], 2;
\tfence.sc.sys;
\t@tilepipe_first brkpt;
\ttilepipe_checked_{at}:
\t@{condition} exit;
\t}}
"
    );
}

/// The report whose label stands in this line, if it is a call with constants for its message and
/// place, and nothing runs into it.
fn report<'m>(lines: &[&'m str], first: usize, constants: &Constants<'_>) -> Option<Report<'m>> {
    let label = lines[first].split("//").next()?.trim().strip_suffix(':')?;
    let before = lines[..first].iter().rev().map(|line| code(line)).find(|code| !code.is_empty())?;
    let ends = ["ret;", "exit;", "trap;"].contains(&before.as_str()) || before.starts_with("bra");
    let (mut operands, mut defined) = (HashMap::new(), HashMap::new());
    let (mut setup, mut called) = (Vec::new(), false);
    let mut last = first + 1;
    loop {
        let line = *lines.get(last)?;
        last += 1;
        let code = code(line);
        let mut words = code.split([' ', ',']).filter(|word| !word.is_empty());
        let opcode = words.next().unwrap_or_default();
        match opcode {
            "" | "{" | "}" | ".param" => {}
            "exit;" if called => break,
            _ if called => return None,
            _ if opcode.starts_with("st.param.") => {
                let place = words.next()?.strip_prefix("[param")?.strip_suffix(']')?;
                operands.insert(place.parse::<usize>().ok()?, line.rsplit(',').next()?.trim().strip_suffix(';')?);
            }
            "call.uni" => {
                let name = words.next()?;
                called = true;
                REPORTS.iter().any(|report| name.ends_with(report)).then_some(())?;
            }
            _ if PURE.contains(&opcode.split('.').next()?) => {
                let operand = line.rsplit(',').next()?.trim().strip_suffix(';')?;
                let to = line.split_once('%')?.1.split(',').next()?.trim();
                defined.insert(to, operand);
                setup.push((to, line));
            }
            _ => return None,
        }
    }
    // What lies behind the end of an inline assembly is a comment.
    let end = last + usize::from(lines.get(last).is_some_and(|line| line.trim() == "// end inline asm"));
    // A constant whose address a register has, and the registers between them.
    let constant = |number: usize| {
        let register = operands.get(&number)?.strip_prefix('%')?;
        let generic = defined.get(register)?.strip_prefix('%')?;
        Some((*defined.get(generic)?, [register, generic]))
    };
    let ((message, of_message), length) = (constant(0)?, operands.get(&1)?.parse().ok()?);
    let (place, of_place) = constant(2)?;
    let (line, column, file) = constants.place(place)?;
    // The numbers have no use for these.
    setup.retain(|(to, _)| !of_message.contains(to) && !of_place.contains(to));
    let setup = setup.into_iter().map(|(_, line)| line).collect();
    let message = constants.text(message, length)?;
    let count = operands.get(&3)?;
    let _: u32 = count.parse().ok()?;
    let values = [operands.get(&4)?, operands.get(&5)?];
    let site = Site { line, column, file, message };
    let report = Report { label, lines: first..end, site, setup, count, values: values.map(|value| *value) };
    ends.then_some(report)
}

/// The labels of an entry behind which a call and an `exit` follow.
fn calls_at_the_end(codes: &[String]) -> HashSet<&str> {
    let (mut found, mut label, mut called) = (HashSet::new(), None, false);
    for code in codes {
        match code.strip_suffix(':') {
            Some(next) => (label, called) = (Some(next), false),
            None if code.starts_with("call") => called = true,
            None if code == "exit;" && called => found.extend(label),
            None => {}
        }
    }
    found
}

/// The registers of an entry that threads of a warp may have different numbers in: what a thread's
/// index, memory or other threads have given them, and what is computed from that. Where a jump
/// alone decides which number it is, that is not seen, and a check stays as it is.
fn of_threads(codes: &[String]) -> HashSet<&str> {
    let (mut found, mut rest) = (HashSet::new(), Vec::new());
    for code in codes.iter().filter(|code| !code.starts_with('.')) {
        let (guard, instruction) = match code.strip_prefix('@').and_then(|code| code.split_once(' ')) {
            Some((guard, instruction)) => (guard.trim_start_matches('!'), instruction),
            None => ("", code.as_str()),
        };
        let Some((opcode, operands)) = instruction.split_once(' ') else { continue };
        // Several instructions in a line, of inline assembly.
        if operands.trim_end_matches(['}', ' ', ';']).contains(';') {
            found.extend(registers(instruction));
            continue;
        }
        let end = if operands.starts_with('{') { operands.find('}') } else { operands.find(',') };
        let (to, from) = operands.split_at(end.unwrap_or(operands.len()));
        let (to, mut from) = (registers(to), registers(from));
        from.extend(Some(guard).filter(|guard| !guard.is_empty()));
        let first = opcode.split('.').next().unwrap_or_default();
        let is_number = PURE.contains(&first) || opcode.starts_with("ld.param") || ARITHMETIC.contains(&first);
        if !is_number || from.iter().any(|register| THREADS_OWN.contains(register)) {
            found.extend(to);
        } else {
            rest.push((to, from));
        }
    }
    loop {
        let before = found.len();
        for (to, from) in &rest {
            if from.iter().any(|register| found.contains(register)) {
                found.extend(to.iter().copied());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The registers in a text, special ones included.
fn registers(text: &str) -> Vec<&str> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || "%_.".contains(char);
    text.split(|char| !is_part(char)).filter(|word| word.starts_with('%')).collect()
}

/// What a jump goes by, if it does not always go, and where it goes to.
fn jump(code: &str) -> Option<(Option<&str>, &str)> {
    let words: Vec<&str> = code.split(' ').collect();
    match words.as_slice() {
        [condition, "bra" | "bra.uni", target] => Some((Some(condition.strip_prefix('@')?), target.strip_suffix(';')?)),
        ["bra" | "bra.uni", target] => Some((None, target.strip_suffix(';')?)),
        _ => None,
    }
}

/// The opposite of a predicate.
fn negated(condition: &str) -> String {
    condition.strip_prefix('!').map_or_else(|| format!("!{condition}"), str::to_string)
}
