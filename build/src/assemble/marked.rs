//! Two changes to the linked PTX: where a wait leads that finds its phase marked, and one that has
//! to wait longer.
//!
//! A wait of a stage of operand tiles ends because the phase came, or because the other role marked
//! it as one that does not (docs/decisions/94). It is one piece of inline assembly, which answers
//! by a number, and LLVM branches on that number behind it. So a wait that succeeds, on the path
//! that counts, branches a second time. Here the piece leads straight to where that branch would
//! (docs/decisions/97):
//!
//! ```text
//! loop:                         loop:
//!     computes                      computes
//!     r = 0                         @!came bra look
//!     @came bra over                moves
//! look:                             ..
//!     r = marked                look:
//!     @marked bra over              @marked bra out
//!     @!came bra look               bra loop
//! over:                         out:
//!     p = r != 0                    moves
//!     moves                         bra left
//!     @p bra left
//!     ..
//! ```
//!
//! It is done where the number and the predicate are used for nothing else, and only moves stand
//! between the piece and the branch.
//!
//! And a wait that did not come in its first time, with what it looks at then, goes behind the
//! kernel's code, and tries again from the label before the wait: `ptxas` keeps what is between two
//! waits of one loop on the path that counts, and takes what begins a loop anew for another round.
//! That is done where nothing stands between the label and the wait but what computes the same
//! again. Everything else stays as it is.

use std::collections::HashSet;

use super::flow::{Statement, statements};
use super::lines::{ARITHMETIC, PURE, code, is_entry, parts};

/// What the piece ends with, as the device crate writes it.
const OVER: &str = "\ttilepipe_over:";
/// Where it goes if the phase came.
const CAME: &str = "\t@complete bra tilepipe_over;";
/// What it does if not.
const LOOK: &str = "\ttilepipe_look:";
/// How it says that the phase is marked, behind the line that makes a number of it.
const ANSWER: &str = "\t@all bra tilepipe_over;";

/// The module with waits that lead where their answers would; none if there are no such waits.
pub(crate) fn led_out(module: &str) -> Option<String> {
    let lines: Vec<&str> = module.lines().collect();
    let (mut out, mut changed) = (String::with_capacity(module.len()), false);
    for part in parts(&lines) {
        match if is_entry(part) { entry(part) } else { None } {
            Some(led) => {
                led.iter().for_each(|line| out.extend([line, "\n"]));
                changed = true;
            }
            None => part.iter().for_each(|line| out.extend([line, "\n"])),
        }
    }
    changed.then_some(out)
}

/// A wait, and what is done with its answer.
struct Wait<'m> {
    /// The lines that go.
    gone: Vec<usize>,
    /// The line that leads on where the phase came, in place of the branch; none if what comes then
    /// stands behind it.
    on: Option<(usize, String)>,
    /// The line in the piece that is to lead out.
    leads: usize,
    moves: Vec<&'m str>,
    /// Where it leads.
    out: &'m str,
    /// How it tries again from a label; none if it does so by itself.
    again: Option<Again<'m>>,
}

/// How a wait tries again from a label.
struct Again<'m> {
    from: &'m str,
    /// The line that goes on if the phase came.
    came: usize,
    /// What the piece declares.
    declared: Vec<&'m str>,
    /// What it looks at otherwise, up to where it leads out.
    looked: Vec<&'m str>,
    /// The line that the piece ends with.
    over: usize,
}

/// The lines of an entry; none if they are as they were.
fn entry(part: &[&str]) -> Option<Vec<String>> {
    let statements = statements(part);
    let waits: Vec<Wait<'_>> = (0..part.len()).filter_map(|line| wait(part, &statements, line)).collect();
    let last = part.iter().rposition(|line| *line == "}")?;
    if waits.is_empty() {
        return None;
    }
    let mut led: Vec<Option<String>> = part.iter().map(|line| Some(line.to_string())).collect();
    let mut behind = Vec::new();
    for (index, wait) in waits.iter().enumerate() {
        let marked = format!("$tilepipe_marked_{index}");
        let leads_out = format!("\t@all bra {marked};");
        wait.gone.iter().for_each(|line| led[*line] = None);
        if let Some((line, on)) = &wait.on {
            led[*line] = Some(on.clone());
        }
        match &wait.again {
            Some(Again { from, came, declared, looked, over }) => {
                let look = format!("$tilepipe_look_{index}");
                led[*came] = Some(format!("\t@!complete bra {look};"));
                led[came + 1..=*over].iter_mut().for_each(|line| *line = None);
                behind.extend([format!("{look}:"), "\t{".to_string()]);
                behind.extend(declared.iter().chain(looked).map(|line| line.to_string()));
                behind.extend([leads_out, format!("\tbra.uni {from};"), "\t}".to_string()]);
            }
            None => led[wait.leads] = Some(leads_out),
        }
        behind.push(format!("{marked}:"));
        behind.extend(wait.moves.iter().map(|line| line.to_string()));
        behind.push(format!("\tbra.uni \t{};", wait.out));
    }
    led[last] = Some(behind.into_iter().chain(["}".to_string()]).collect::<Vec<_>>().join("\n"));
    Some(led.into_iter().flatten().collect())
}

/// The wait whose piece ends in this line.
fn wait<'m>(part: &[&'m str], statements: &[Statement<'m>], over: usize) -> Option<Wait<'m>> {
    if part[over] != OVER || part.get(over + 1..over + 3)? != ["\t}", "\t// end inline asm"] {
        return None;
    }
    let piece = part[..over].iter().rposition(|line| *line == "\t{")?;
    let leads = (piece..over).find(|line| part[*line] == ANSWER)?;
    // The answer: zero at first, and one if the phase is marked.
    let answer = operands(part[leads - 1], "selp.b32", 4)?;
    let [answer, "1", "0", "all"] = answer[..] else { return None };
    let zero = (piece..leads).find(|line| operands(part[*line], "mov.b32", 2).as_deref() == Some(&[answer, "0"]))?;

    let test = over + 3;
    let (predicate, goes_out) =
        match (operands(part.get(test)?, "setp.ne.b32", 3), operands(part[test], "setp.eq.b32", 3)) {
            (Some(words), _) if words[1..] == [answer, "0"] => (words[0], true),
            (_, Some(words)) if words[1..] == [answer, "0"] => (words[0], false),
            _ => return None,
        };
    let moves: Vec<&str> = part[test + 1..].iter().take_while(|line| is_move(line, predicate)).copied().collect();
    let branch = test + 1 + moves.len();
    let target = part.get(branch)?.strip_prefix(&format!("\t@{predicate} bra \t"))?.strip_suffix(';')?;
    let mut gone = vec![zero, leads - 1, test];
    let (out, on) = if goes_out {
        gone.push(branch);
        (target, None)
    } else {
        let out = part.get(branch + 1)?.strip_prefix("\tbra.uni \t")?.strip_suffix(';')?;
        gone.push(branch + 1);
        (out, Some((branch, format!("\tbra.uni \t{target};"))))
    };
    let lines = [zero, leads - 1, test, branch];
    let elsewhere = |name: &str| (0..part.len()).any(|line| !lines.contains(&line) && names(part[line], name));
    if elsewhere(answer) || elsewhere(predicate) {
        return None;
    }
    let again = again(part, statements, [piece, leads, over], &gone);
    Some(Wait { gone, on, leads, moves, out, again })
}

/// How a wait can try again from the label before it, if what is between computes the same again.
fn again<'m>(
    part: &[&'m str],
    statements: &[Statement<'m>],
    [piece, leads, over]: [usize; 3],
    gone: &[usize],
) -> Option<Again<'m>> {
    let came = (piece..leads).find(|line| part[*line] == CAME)?;
    if part[came + 1] != LOOK {
        return None;
    }
    let label = part[..piece].iter().rposition(|line| code(line).ends_with(':'))?;
    let from = part[label].split(':').next()?;
    let between = statements.iter().filter(|statement| (label + 1..piece).contains(&statement.line));
    is_repeatable(between).then_some(())?;
    let declared = part[piece + 1..came].iter().filter(|line| line.starts_with("\t.reg ")).copied().collect();
    let looked = (came + 2..leads).filter(|line| !gone.contains(line)).map(|line| part[line]).collect();
    Some(Again { from, came, declared, looked, over })
}

/// Whether instructions do nothing but compute, and the same if they do it twice.
fn is_repeatable<'m>(statements: impl Iterator<Item = &'m Statement<'m>>) -> bool {
    let (mut read, mut written) = (HashSet::new(), HashSet::new());
    for statement in statements {
        let word = statement.opcode.split('.').next().unwrap_or_default();
        let is_known = [&PURE[..], &ARITHMETIC].iter().any(|words| words.contains(&word));
        let mut operands = statement.operands.split(',').map(str::trim);
        if statement.predicated || !is_known || !operands.clone().all(is_plain) {
            return false;
        }
        let result = operands.next();
        read.extend(operands.filter(|operand| !written.contains(operand)));
        written.extend(result);
    }
    read.is_disjoint(&written)
}

/// Whether an operand is a register of the program's, or a number or a name. (A clock is another
/// number each time.)
fn is_plain(operand: &str) -> bool {
    let kinds = ["%p", "%rs", "%r", "%rd", "%rq", "%f", "%fd"];
    !operand.contains('%') || kinds.contains(&operand.trim_end_matches(|digit: char| digit.is_ascii_digit()))
}

/// The operands of an instruction, if the line is one of this kind with so many.
fn operands<'m>(line: &'m str, opcode: &str, count: usize) -> Option<Vec<&'m str>> {
    let rest = line.trim().strip_prefix(opcode)?.strip_suffix(';')?;
    let words: Vec<&str> = rest.split(',').map(str::trim).collect();
    (rest.starts_with([' ', '\t']) && words.len() == count).then_some(words)
}

/// Whether a line copies a register or a number to a register other than this one.
fn is_move(line: &str, predicate: &str) -> bool {
    let kinds = ["mov.pred", "mov.b16", "mov.b32", "mov.b64"];
    kinds.iter().any(|kind| operands(line, kind, 2).is_some_and(|words| !words.contains(&predicate)))
}

/// Whether a line names a register, and not one whose name goes on.
fn names(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| !line[at + name.len()..].starts_with(|next: char| next.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::led_out;

    /// A kernel with a wait, what follows it and what stands behind all, and another function.
    fn kernel(zero: &str, one: &str, marked: &str, answer: &str, behind: &str) -> String {
        format!(
            "\
.visible .entry k(
)
{{
$L__BB0_2:
\tbar.warp.sync \t-1;
\t// begin inline asm
\t{{
\t.reg .pred complete, marked, all;
{zero}\ttry_wait complete, [%r2], %r3;
\t@complete bra tilepipe_over;
\ttilepipe_look:
{one}\t@all bra {marked};
\t@!complete bra tilepipe_look;
\ttilepipe_over:
\t}}
\t// end inline asm
{answer}$L__BB0_3:
\tret;
{behind}}}
.func f()
{{
\tret;
}}
"
        )
    }

    /// The same with a loop that begins at this label and computes this before its wait.
    fn in_loop(before: &str) -> [String; 2] {
        let answer = "\tsetp.ne.b32 \t%p1, %r1, 0;\n\t@%p1 bra \t$L__BB0_3;\n\tbra.uni \t$L__BB0_2;\n";
        let begins = "$L__BB0_2:\n\tbar.warp.sync \t-1;\n";
        let changed = |module: String| module.replace(begins, &format!("$L__BB0_2:        // a loop\n{before}"));
        let led = led("\tbra.uni \t$L__BB0_2;\n", "\tbra.uni \t$L__BB0_3;\n").unwrap();
        [changed(module(answer)), changed(led)]
    }

    /// The kernel with a wait that answers.
    fn module(answer: &str) -> String {
        kernel("\tmov.b32 %r1, 0;\n", "\tselp.b32 %r1, 1, 0, all;\n", "tilepipe_over", answer, "")
    }

    /// With one that leads on.
    fn led(on: &str, out: &str) -> Option<String> {
        Some(kernel("", "", "$tilepipe_marked_0", on, &format!("$tilepipe_marked_0:\n{out}")))
    }

    #[test]
    fn a_wait_leads_where_its_answer_would() {
        let moves = "\tmov.pred \t%p64, %p14;\n\tmov.b32 \t%r290, %r255;\n";
        for moves in ["", moves] {
            let out = format!("{moves}\tbra.uni \t$L__BB0_3;\n");
            let answer = format!(
                "\tsetp.ne.b32 \t%p1, %r1, 0;\n{moves}\t@%p1 bra \t$L__BB0_3;\n\tst.shared.b32 \t[%r4], %r5;\n"
            );
            assert_eq!(led_out(&module(&answer)), led(&format!("{moves}\tst.shared.b32 \t[%r4], %r5;\n"), &out));
            let answer =
                format!("\tsetp.eq.b32 \t%p1, %r1, 0;\n{moves}\t@%p1 bra \t$L__BB0_2;\n\tbra.uni \t$L__BB0_3;\n");
            assert_eq!(led_out(&module(&answer)), led(&format!("{moves}\tbra.uni \t$L__BB0_2;\n"), &out));
        }
    }

    #[test]
    fn a_wait_tries_again_from_where_its_loop_begins() {
        // The wait that leads out by itself, and what it becomes.
        let tries = |led: &str| {
            let look =
                "\ttilepipe_look:\n\t@all bra $tilepipe_marked_0;\n\t@!complete bra tilepipe_look;\n\ttilepipe_over:\n";
            let behind = "$tilepipe_look_0:\n\t{\n\t.reg .pred complete, marked, all;\n\t@all bra $tilepipe_marked_0;\n\tbra.uni $L__BB0_2;\n\t}\n";
            let led =
                led.replace(look, "").replace("\t@complete bra tilepipe_over;", "\t@!complete bra $tilepipe_look_0;");
            led.replace("$tilepipe_marked_0:\n", &[behind, "$tilepipe_marked_0:\n"].concat())
        };
        for before in [
            "",
            "\tadd.s32 \t%r9, %r8, 1;\n\tshl.b32 \t%r2, %r9, 3;   // a comment\n",
            "\t// begin inline asm\n\t// end inline asm\n\tsetp.gt.u32 \t%p7, %r8, 7;\n\tselp.b32 \t%r9, 1, 0, %p7;\n",
        ] {
            let [module, led] = in_loop(before);
            assert_eq!(led_out(&module), Some(tries(&led)), "{before}");
        }
        // What has an effect, goes elsewhere, or would compute something else the second time.
        for before in [
            "\tst.shared.b32 \t[%r4], %r5;\n",
            "\tld.shared.b32 \t%r4, [%r5];\n",
            "\tbar.sync \t0;\n",
            "\t@%p3 bra \t$L__BB0_3;\n",
            "\t@%p3 add.s32 \t%r9, %r8, 1;\n",
            "\tadd.s32 \t%r8, %r8, 1;\n",
            "\tadd.s32 \t%r9, %r8, 1;\n\tmov.b32 \t%r8, 0;\n",
            "\tmov.b64 \t{%r8, %r9}, %rd1;\n",
            "\tadd.s32 \t%r9, %r8, 1; mov.b32 \t%r8, 0;\n",
            "\tsome.new.instruction \t%r9, %r8;\n",
            // Another number the second time, or not known to be the same register.
            "\tmov.u64 \t%rd9, %globaltimer;\n",
            "\tmov.u64 \t%rd9, %clock64;\n",
            "\tsetp.eq.and.b32 \t%p8, %r9, 0, !%p9;\n\tmov.pred \t%p9, 0;\n",
        ] {
            let [module, led] = in_loop(before);
            assert_eq!(led_out(&module), Some(led), "{before}");
        }
    }

    #[test]
    fn a_wait_whose_answer_does_more_stays() {
        let answer = "\tsetp.ne.b32 \t%p1, %r1, 0;\n\t@%p1 bra \t$L__BB0_3;\n";
        assert!(led_out(&module(answer)).is_some());
        // Numbers that begin alike are others.
        assert!(
            led_out(&module(&[answer, "\tadd.s32 \t%r10, %r11, 1;\n\t@%p12 bra \t$L__BB0_3;\n"].concat())).is_some()
        );
        for other in [
            "",
            "\tsetp.ne.b32 \t%p1, %r2, 0;\n\t@%p1 bra \t$L__BB0_3;\n",
            "\tsetp.ne.b32 \t%p1, %r1, 1;\n\t@%p1 bra \t$L__BB0_3;\n",
            "\tsetp.gt.b32 \t%p1, %r1, 0;\n\t@%p1 bra \t$L__BB0_3;\n",
            "\tsetp.ne.b32 \t%p1, %r1, 0;\n\t@!%p1 bra \t$L__BB0_3;\n",
            "\tsetp.ne.b32 \t%p1, %r1, 0;\n\tst.shared.b32 \t[%r4], %r5;\n\t@%p1 bra \t$L__BB0_3;\n",
            "\tsetp.ne.b32 \t%p1, %r1, 0;\n\tmov.pred \t%p2, %p1;\n\t@%p1 bra \t$L__BB0_3;\n",
            "\tsetp.ne.b32 \t%p1, %r1, 0;\n\tmov.b32 \t%r7, %r1;\n\t@%p1 bra \t$L__BB0_3;\n",
            "\tsetp.ne.b32 \t%p1, %r1, 0;\n\t@%p1 bra \t$L__BB0_3;\n\tadd.s32 \t%r7, %r1, 1;\n",
            "\tsetp.ne.b32 \t%p1, %r1, 0;\n\t@%p1 bra \t$L__BB0_3;\n\t@%p1 bra \t$L__BB0_2;\n",
            "\tsetp.eq.b32 \t%p1, %r1, 0;\n\t@%p1 bra \t$L__BB0_3;\n\tst.shared.b32 \t[%r4], %r5;\n",
        ] {
            assert_eq!(led_out(&module(other)), None, "{other}");
        }
        assert_eq!(led_out(&module(answer).replace(".visible .entry k(", ".func k(")), None);
        assert_eq!(led_out(&module(answer).replace("1, 0, all", "0, 1, all")), None);
        assert_eq!(led_out(&module(answer).replace("\tmov.b32 %r1, 0;\n", "")), None);
    }
}
