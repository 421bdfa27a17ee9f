//! PTX text as entries with their control flow.

use std::collections::BTreeSet;

use crate::flow::{Code, Instruction, Item, Next};

/// Returns whether it is a barrier of the block, a reducing one included.
pub fn is_block_barrier(one: &Instruction) -> bool {
    (one.is("bar") || one.is("barrier")) && !one.is("bar.warp")
}

/// Returns the number of a barrier of the block or of a role.
pub fn block_barrier_number(one: &Instruction) -> Option<u64> {
    let place = usize::from(one.has("red"));
    one.operands.split(',').nth(place)?.trim().parse().ok()
}

/// Returns whether it is a barrier of the warp.
pub fn is_warp_barrier(one: &Instruction) -> bool {
    one.is("bar.warp")
}

/// Returns whether it is an asynchronous copy.
pub fn is_copy(one: &Instruction) -> bool {
    one.is("cp.async.cg") || one.is("cp.async.ca")
}

/// Returns whether it closes a group of copies.
pub fn is_commit(one: &Instruction) -> bool {
    one.is("cp.async.commit_group")
}

/// Returns whether it waits for groups of copies.
pub fn is_wait(one: &Instruction) -> bool {
    one.is("cp.async.wait_group")
}

/// Returns whether it waits for all copies.
pub fn is_wait_for_all(one: &Instruction) -> bool {
    one.is("cp.async.wait_all")
}

/// Returns whether it exchanges words between lanes.
pub fn is_shuffle(one: &Instruction) -> bool {
    one.is("shfl")
}

/// Returns whether it is a vote of a warp.
pub fn is_vote(one: &Instruction) -> bool {
    one.is("vote")
}

/// Returns whether it reads shared memory.
pub fn is_shared_load(one: &Instruction) -> bool {
    one.is("ld.shared")
}

/// Returns whether it writes shared memory.
pub fn is_shared_store(one: &Instruction) -> bool {
    one.is("st.shared")
}

/// Returns whether it writes global memory that is not the record of a panic.
pub fn is_global_store(one: &Instruction) -> bool {
    one.is("st.global") && !one.has("volatile")
}

/// Returns whether it makes an mbarrier.
pub fn is_mbarrier_init(one: &Instruction) -> bool {
    one.is("mbarrier.init")
}

/// Returns whether it ends an mbarrier.
pub fn is_mbarrier_inval(one: &Instruction) -> bool {
    one.is("mbarrier.inval")
}

/// Returns whether it waits for a phase of an mbarrier: [`MBARRIER_WAIT`].
pub fn is_mbarrier_wait(one: &Instruction) -> bool {
    one.opcode == MBARRIER_WAIT
}

/// Returns whether it looks once whether a phase of an mbarrier is complete.
pub fn is_mbarrier_poll(one: &Instruction) -> bool {
    one.is("mbarrier.test_wait") || one.is("mbarrier.try_wait")
}

/// Returns whether it arrives at an mbarrier at once.
pub fn is_arrival(one: &Instruction) -> bool {
    one.is("mbarrier.arrive") || one.is("mbarrier.arrive_drop")
}

/// Returns whether it arrives at an mbarrier when the thread's copies have landed.
pub fn is_arrival_of_copies(one: &Instruction) -> bool {
    one.is("cp.async.mbarrier.arrive")
}

/// Returns the bytes of an asynchronous copy, as its third operand says.
pub fn bytes_of_copy(one: &Instruction) -> Option<usize> {
    one.operands.split(',').nth(2)?.trim().parse().ok()
}

/// Returns whether an asynchronous copy says how many bytes of its source there are: its fourth
/// operand.
pub fn is_bounded_copy(one: &Instruction) -> bool {
    is_copy(one) && one.operands.split(',').count() == 4
}

/// What stands in an entry's code for a loop that does nothing but test whether a phase of an
/// mbarrier is complete, until it is: one instruction with the operands of the test, so that ways
/// through the kernel pass it once. Those are the barrier, the parity and perhaps a suspend time
/// hint.
pub const MBARRIER_WAIT: &str = "mbarrier.wait.parity.shared.b64";

/// One kernel of a PTX module.
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Threads a block, as `.reqntid` says, if it does.
    pub required_threads: Option<u32>,
    /// The lines that declare memory local to a thread: spills and stacks.
    pub local_declarations: Vec<String>,
    /// Its code.
    pub code: Code,
}

impl Entry {
    /// Returns how often a thread that returns executes `wanted` instructions: one number for each
    /// possible way through the kernel.
    pub fn executions(&self, wanted: impl Fn(&Instruction) -> bool) -> BTreeSet<usize> {
        self.code.executions(wanted, |one| one.is("ret"))
    }
}

/// Reads all entries of a module's text.
///
/// # Errors
///
/// What was not understood, with the entry's name.
pub fn entries(text: &str) -> Result<Vec<Entry>, String> {
    let parts = text.split("\n.visible .entry ").skip(1);
    parts.map(entry).collect()
}

/// Reads one entry, from its name to the end of its body (whatever follows is left alone).
fn entry(text: &str) -> Result<Entry, String> {
    let name = text.split('(').next().unwrap_or_default().trim().to_owned();
    let fail = |what: &str| format!("entry `{name}`: {what}");
    let start = text.find("\n{").ok_or_else(|| fail("no body"))?;
    let body = &text[start + 2..];
    let body = &without_checks(&body[..body.find("\n}").ok_or_else(|| fail("the body has no end"))?]);
    let body = &with_waits_in_one(body);
    let head = &text[..start];
    let required_threads = head.split(".reqntid").nth(1).and_then(|rest| {
        let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    let items = fold_waits(items(body));
    let local_declarations = body.lines().filter(|line| line.trim_start().starts_with(".local")).map(str::to_owned);
    Ok(Entry {
        required_threads,
        local_declarations: local_declarations.collect(),
        code: Code::new(&items, next).map_err(|error| fail(&error))?,
        name,
    })
}

/// Leaves out the checks that the builder writes in line (docs/decisions/80): for a thread that
/// passes them they are a comparison, which stays.
fn without_checks(body: &str) -> String {
    let (mut out, mut rest) = (String::new(), body);
    while let Some((before, check)) = rest.split_once("\t{\n\t.reg .pred tilepipe_first;\n") {
        out += before;
        rest = check.split_once("\n\t}\n").map_or("", |(_, behind)| behind);
    }
    out + rest
}

/// Puts [`MBARRIER_WAIT`] in the place of each wait that ends for a mark too and is one instruction
/// for LLVM, and behind it the move of what it returns where no mark ends it.
///
/// The labels of its loop are local to a block in braces and all the same.
fn with_waits_in_one(body: &str) -> String {
    let (mut out, mut rest) = (String::new(), body);
    while let Some((before, wait)) = rest.split_once("\t{\n\t.reg .pred complete, marked, all") {
        let (wait, behind) = wait.split_once("\n\t}\n").unwrap_or((wait, ""));
        let line = |begin: &str| wait.lines().find_map(|line| line.trim().strip_prefix(begin)).unwrap_or_default();
        let (result, place) = (line("mov.b32 %"), line("mbarrier.try_wait.parity.shared.b64 complete, "));
        out += &format!("{before}\t{MBARRIER_WAIT} {place}\n");
        // A wait that leads out returns nothing.
        if !result.is_empty() {
            out += &format!("\tmov.b32 %{result}\n");
        }
        rest = behind;
    }
    out + rest
}

/// Reads the labels and instructions of a body; declarations are left out.
fn items(body: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut statement = String::new();
    for line in body.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if let (Some(label), true) = (line.strip_suffix(':'), statement.is_empty()) {
            items.push(Item::Label(label.to_owned()));
        } else if !(statement.is_empty() && (line == "{" || line == "}")) {
            // A block of its own on one line, as around `mov.b64 {%r1, %r2}, %rd1;`.
            let block = line.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            let line = block.filter(|inner| inner.contains(';')).unwrap_or(line);
            for part in line.split_inclusive(';') {
                statement.push_str(part.trim());
                statement.push(' ');
                if part.ends_with(';') {
                    let text = std::mem::take(&mut statement);
                    let text = text.trim().trim_end_matches(';').trim_start_matches(['{', '}']).trim();
                    if !text.is_empty() && !text.starts_with('.') {
                        items.push(Item::Instruction(instruction(text)));
                    }
                }
            }
            if statement.trim().is_empty() {
                statement.clear();
            }
        }
    }
    items
}

/// Puts [`MBARRIER_WAIT`] in the place of each
/// `again: test_wait p, [barrier], parity; @!p bra again;`, and of the same with `try_wait`.
///
/// The labels of these loops are local to a block in braces and all the same; with the loops they
/// are gone.
fn fold_waits(items: Vec<Item>) -> Vec<Item> {
    let mut folded = Vec::with_capacity(items.len());
    let mut rest = &items[..];
    while let Some((first, behind)) = rest.split_first() {
        match folded_wait(rest) {
            Some(wait) => {
                folded.push(Item::Instruction(wait));
                rest = &rest[3..];
            }
            None => {
                folded.push(first.clone());
                rest = behind;
            }
        }
    }
    folded
}

/// The wait that the next three items are, if they are one.
fn folded_wait(items: &[Item]) -> Option<Instruction> {
    let [Item::Label(again), Item::Instruction(test), Item::Instruction(branch), ..] = items else { return None };
    let (predicate, operands) = test.operands.split_once(',')?;
    // A kernel that is built for sm_90 alone has the second one.
    let opcodes = ["mbarrier.test_wait.parity.shared.b64", "mbarrier.try_wait.parity.shared.b64"];
    let tests = test.guard.is_none() && opcodes.contains(&test.opcode.as_str());
    let repeats = branch.is("bra") && branch.guard.as_deref()?.strip_prefix('!') == Some(predicate);
    let is_wait = tests && repeats && branch.operands == *again;
    is_wait.then(|| Instruction { guard: None, opcode: MBARRIER_WAIT.to_owned(), operands: operands.trim().to_owned() })
}

fn instruction(text: &str) -> Instruction {
    let guard = text.strip_prefix('@').and_then(|rest| rest.split_once(char::is_whitespace));
    let (guard, text) = guard.map_or((None, text), |(guard, rest)| (Some(guard.to_owned()), rest.trim()));
    let (opcode, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    Instruction { guard, opcode: opcode.to_owned(), operands: operands.trim().to_owned() }
}

fn next(instruction: &Instruction) -> Next<'_> {
    if instruction.is("bra") {
        Next::Label(&instruction.operands)
    } else if ["ret", "exit", "trap"].iter().any(|name| instruction.is(name)) {
        Next::End
    } else {
        Next::Following
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_instructions_are_told_apart() {
        let mbarrier = |text| {
            let one = instruction(text);
            let kinds: [fn(&Instruction) -> bool; 6] = [
                is_mbarrier_init,
                is_mbarrier_inval,
                is_mbarrier_wait,
                is_mbarrier_poll,
                is_arrival,
                is_arrival_of_copies,
            ];
            kinds.iter().position(|kind| kind(&one))
        };
        let texts = [
            "mbarrier.init.shared.b64 [%r1], 128",
            "mbarrier.inval.shared.b64 [%r1]",
            "mbarrier.wait.parity.shared.b64 [%r1], 0",
            "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0",
            "mbarrier.arrive.shared.b64 _, [%r1]",
            "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1]",
            "bar.sync 0",
        ];
        assert_eq!(texts.map(mbarrier), [Some(0), Some(1), Some(2), Some(3), Some(4), Some(5), None]);
        let kinds = |text| {
            let one = instruction(text);
            [is_block_barrier, is_warp_barrier, is_copy, is_wait, is_wait_for_all].map(|kind| kind(&one))
        };
        assert_eq!(kinds("bar.sync \t0"), [true, false, false, false, false]);
        assert_eq!(kinds("bar.red.or.pred \t%p1, 0, %p2"), [true, false, false, false, false]);
        assert_eq!(kinds("bar.warp.sync \t-1"), [false, true, false, false, false]);
        assert_eq!(kinds("cp.async.ca.shared.global [%rd1], [%rd2], 4, %r1"), [false, false, true, false, false]);
        assert_eq!(kinds("cp.async.wait_group 2"), [false, false, false, true, false]);
        assert_eq!(kinds("cp.async.wait_all"), [false, false, false, false, true]);
        let (bounded, whole) =
            ("cp.async.ca.shared.global [%rd1], [%rd2], 4, %r1", "cp.async.cg.shared.global [%rd1], [%rd2], 16");
        let copies = [bounded, whole].map(instruction);
        assert_eq!([bytes_of_copy(&copies[0]), bytes_of_copy(&copies[1])], [Some(4), Some(16)]);
        assert_eq!([is_bounded_copy(&copies[0]), is_bounded_copy(&copies[1])], [true, false]);
    }

    const TEXT: &str = "
.version 7.1
.visible .entry one(
\t.param .align 8 .b8 one_param_0[32]
)
.reqntid 128, 1, 1   // @one
{
\t.reg .pred \t%p<2>;
\tmov.u32 \t%r1, %tid.x;
$L__BB0_1:     // =>Loop
\tbar.sync \t0;
\t// begin inline asm
\tcp.async.wait_group 2;
\t// end inline asm
\t{ .reg .b32 tmp; mov.b64 {tmp, %r2}, %rd1; }
\t@%p1 bra \t$L__BB0_1;
\t{ // callseq 0, 0
\t.param .b64 param0;
\tcall.uni (retval0),
\t_RNv5panic,
\t(param0);
\t} // callseq 0
\ttrap;
}
.visible .entry two(
)
{
\tret;
}
";

    const WAITS: &str = "
.visible .entry k(
)
{
\t{
\t.reg .pred blocking;
\tagain:
\tmbarrier.test_wait.parity.shared.b64 blocking, [%r1], %r2;
\t@!blocking bra again;
\t}
$L__BB0_1:
\t{
\t.reg .pred blocking;
\tagain:
\tmbarrier.test_wait.parity.shared.b64 blocking, [%r3], 1;
\t@!blocking bra again;
\t}
\tmbarrier.test_wait.parity.shared.b64 %p2, [%r3], 1;
\t@%p1 bra \t$L__BB0_1;
\tret;
}
";

    #[test]
    fn a_wait_at_an_mbarrier_is_one_instruction_however_often_it_tests() {
        let code = &entries(WAITS).unwrap()[0].code;
        let waits: Vec<_> = code.instructions().filter(|one| is_mbarrier_wait(one)).collect();
        let operands: Vec<_> = waits.iter().map(|one| one.operands.as_str()).collect();
        assert_eq!(operands, ["[%r1], %r2", "[%r3], 1"]);
        let steady = code.loops_with(&[is_mbarrier_wait]);
        assert_eq!(steady[0].executions(is_mbarrier_wait), [1].into());
        assert_eq!(steady[0].executions(is_mbarrier_poll), [1].into());
    }

    #[test]
    fn a_loop_that_does_more_than_wait_or_tests_something_else_stays_a_loop() {
        for (from, to) in [
            ("@!blocking bra again", "@blocking bra again"),
            ("@!blocking bra again", "@!%p1 bra again"),
            ("\t@!blocking", "\tadd.s32 %r1, %r1, 1;\n\t@!blocking"),
        ] {
            let read = entries(&WAITS.replacen(from, to, 1)).unwrap();
            assert_eq!(read[0].code.instructions().filter(|one| is_mbarrier_poll(one)).count(), 2, "{to}");
        }
    }

    #[test]
    fn entries_are_read_with_their_bounds_and_loops() {
        let entries = entries(TEXT).unwrap();
        let names: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.required_threads)).collect();
        assert_eq!(names, [("one", Some(128)), ("two", None)]);
        let steady = entries[0].code.loops_with(&[is_block_barrier]);
        let opcodes: Vec<_> = steady[0].instructions().map(|one| one.opcode.as_str()).collect();
        assert_eq!(opcodes, ["bar.sync", "cp.async.wait_group", "mov.b64", "bra"]);
        let call = entries[0].code.instructions().find(|one| one.is("call")).unwrap();
        assert!(call.operands.contains("_RNv5panic"));
        assert_eq!(entries[1].executions(is_block_barrier), [0].into());
    }
}
