//! One change to PTX for `sm_90` and newer: a kernel may start before the one before it in its
//! stream has ended, and waits for that one's end where it first touches memory of the GPU.
//!
//! The host makes a launch of such a kernel a dependent one. Then its blocks start as soon as all
//! blocks of the kernel before have ended, or have let it start (`Block::launch_dependents`). What
//! a kernel does before it reads or writes global memory, such as to make its mbarriers, and the
//! launch itself no longer add to the time of both (docs/decisions/96). One instruction does it, in
//! each thread of each block:
//!
//! ```text
//! griddepcontrol.wait;  // the kernel before has ended, and its writes are here
//! ```
//!
//! It stands behind the last barrier of the block that every path passes before anything that may
//! touch global memory and before the kernel's end, and that no loop repeats. Where there is none
//! it is a kernel's first instruction. So:
//!
//! - No access comes before the wait. What is not known to be something else counts as an access.
//!   Only a report of a panic is none, which writes to the panic record alone: blocks of one grid
//!   write to it at the same time as well.
//! - Each thread that ends has waited, so a kernel ends after the one before it: a kernel waits for
//!   all that came before in the stream, not only for the one before it.
//!
//! While a kernel runs, the one before it may still write what the kernel reads later. So loads
//! through the path for memory that nobody writes (`ld.global.nc`) become plain ones.
//!
//! Without a dependent launch the instruction does nothing. A constant beside each kernel says that
//! it waits, and the host launches no other kernel that way. PTX ISA 9.0, section "Parallel
//! Synchronization and Communication Instructions: griddepcontrol".

use std::collections::HashSet;
use std::fmt::Write;

use super::flow::{Next, Statement, statements};
use super::lines::{ARITHMETIC, PURE, code, is_entry, parts};
use crate::architecture::Architecture;

/// What a kernel does before its first access.
const WAIT: &str = "\tgriddepcontrol.wait;\n";
/// The names of the constants: this and the entry's symbol. `tilepipe-host` looks for them.
const PREFIX: &str = "__tilepipe_dependent__";
/// A barrier of all threads of a block.
const BARRIERS: [&str; 2] = ["bar.sync", "barrier.sync"];

/// The first words of instructions that touch no memory, beside those that compute numbers.
const WITHOUT_MEMORY: [&str; 9] =
    ["griddepcontrol", "prmt", "bar", "barrier", "fence", "vote", "elect", "setmaxnreg", "bra"];

/// What the symbols of functions have that write to the panic record.
const REPORTS: &str = "8tilepipe5fault";

/// Memory of a block or of a thread, and what the launch hands over.
const OWN_MEMORY: [&str; 4] = ["shared", "shared::cta", "local", "param"];

/// The module, for an architecture, with kernels that wait; none if it is to be used as it is.
pub(crate) fn waiting(module: &str, architecture: &Architecture) -> Option<String> {
    // A kernel that already waits knows what it does, and a comment that goes over lines, which
    // LLVM does not write, is not read.
    let is_left = ["griddepcontrol.wait", "/*"].iter().any(|part| module.contains(part));
    if is_left || !architecture.has_dependent_launches() {
        return None;
    }
    let lines: Vec<&str> = module.lines().collect();
    let reports: HashSet<&str> = parts(&lines).filter_map(report).collect();
    let mut out = String::with_capacity(module.len() + module.len() / 64);
    let mut found = false;
    for part in parts(&lines) {
        let name = if is_entry(part) { name(part) } else { None };
        let last_before = name.map(|_| last_before(part, &reports));
        if let Some(name) = name {
            let _ = writeln!(out, ".visible .global .align 1 .b8 {PREFIX}{name}[1] = {{1}};");
            found = true;
        }
        for (number, line) in part.iter().enumerate() {
            out.extend([&line.replace("ld.global.nc.", "ld.global."), "\n"]);
            if last_before == Some(number) {
                out += WAIT;
            }
        }
    }
    found.then_some(out)
}

/// The symbol of an entry.
fn name<'m>(part: &[&'m str]) -> Option<&'m str> {
    let (_, rest) = part.first()?.split_once(".entry ")?;
    Some(rest.split(['(', ' ']).next().unwrap_or(rest).trim())
}

/// The symbol of a function that writes to the panic record and does not return, if this is one.
fn report<'m>(part: &[&'m str]) -> Option<&'m str> {
    let (_, rest) = part.first()?.split_once(".func ")?;
    let name = rest.split(['(', ' ']).next()?;
    let mut head = part.iter().take_while(|line| !line.starts_with('{'));
    (name.contains(REPORTS) && head.any(|line| line.starts_with(".noreturn"))).then_some(name)
}

/// The number of the line of a kernel behind which it waits.
fn last_before(part: &[&str], reports: &HashSet<&str>) -> usize {
    let statements = &statements(part)[..];
    let doomed = doomed(statements, reports);
    let is_barrier = |statement: &Statement<'_>| {
        let of_all = BARRIERS.contains(&statement.opcode) && statement.operands == "0";
        of_all && statement.alone && !statement.predicated
    };
    let must_not_precede =
        |statement: &Statement<'_>| matches!(statement.next, Next::End | Next::Unknown) || may_touch_memory(statement);
    let is_place = |barrier: &usize| {
        let before = reached(statements, &doomed, 0, Some(*barrier));
        let is_on_each_path = before.contains(barrier)
            && before.iter().all(|number| number == barrier || !must_not_precede(&statements[*number]));
        is_on_each_path && !reached(statements, &doomed, barrier + 1, None).contains(barrier)
    };
    let mut barriers = (0..statements.len()).rev().filter(|number| is_barrier(&statements[*number]));
    match barriers.find(is_place) {
        Some(barrier) => statements[barrier].line,
        None => {
            let body = part.iter().position(|line| line.starts_with('{')).unwrap_or(0);
            let code = part[body + 1..].iter().map(|line| code(line));
            body + code.take_while(|code| code.is_empty() || code.starts_with('.')).count()
        }
    }
}

/// The instructions on paths from one of them, which end at `last` and where all is lost.
fn reached(statements: &[Statement<'_>], doomed: &[bool], first: usize, last: Option<usize>) -> HashSet<usize> {
    let (mut reached, mut todo) = (HashSet::new(), vec![first]);
    while let Some(number) = todo.pop() {
        // Behind the last instruction of all nothing follows.
        let Some(statement) = statements.get(number).filter(|_| !doomed[number]) else { continue };
        if reached.insert(number) && last != Some(number) {
            todo.extend(statement.following(number));
        }
    }
    reached
}

/// The instructions from which every path ends in a trap or in a report of a panic.
fn doomed(statements: &[Statement<'_>], reports: &HashSet<&str>) -> Vec<bool> {
    let ends = |statement: &Statement<'_>| {
        let is_report = statement.opcode.starts_with("call") && reports.contains(statement.operand());
        !statement.predicated && (statement.opcode == "trap" || is_report)
    };
    let mut doomed: Vec<bool> = statements.iter().map(ends).collect();
    loop {
        let mut is_done = true;
        for (number, statement) in statements.iter().enumerate().rev() {
            let mut following = statement.following(number).map(|next| doomed.get(next).copied().unwrap_or(false));
            let first = following.next();
            let goes_on = !matches!(statement.next, Next::End | Next::Unknown);
            if !doomed[number] && goes_on && first == Some(true) && following.all(|next| next) {
                (doomed[number], is_done) = (true, false);
            }
        }
        if is_done {
            return doomed;
        }
    }
}

/// Whether an instruction may read or write memory that other blocks have as well.
fn may_touch_memory(statement: &Statement<'_>) -> bool {
    let mut words = statement.opcode.split('.');
    let first = words.next().unwrap_or_default();
    match first {
        // A directive.
        "" | "ret" | "exit" => false,
        "mbarrier" | "ld" | "st" | "atom" | "red" => !words.any(|word| OWN_MEMORY.contains(&word)),
        _ => ![&PURE[..], &ARITHMETIC, &WITHOUT_MEMORY].iter().any(|words| words.contains(&first)),
    }
}

#[cfg(test)]
mod tests {
    use super::waiting;
    use crate::architecture::Architecture;

    const REPORT: &str = "\
.func _RNvNtCs1_8tilepipe5fault4fail
(
\t.param .b64 p
)
.noreturn;
";
    const BARRIER: &str = "\tbar.sync \t0;\n";
    const LOAD: &str = "\tld.global.b32 \t%r1, [%rd1];\n";
    const PANIC: &str = "\tcall.uni _RNvNtCs1_8tilepipe5fault4fail, (p);\n\texit;\n";

    /// A kernel with this body, in a module for `sm_90` with a function that reports panics.
    fn module(body: &str) -> String {
        format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n\n{REPORT}.visible .entry k(\n\t.param .align 64 .b8 k_param_0[192],\n\t.param .b64 \
             k_param_1\n)\n.reqntid 384, 1, 1\n{{\n\t.reg .pred \t%p<2>;\n// %bb.0:\n{body}}}\n"
        )
    }

    fn on(module: &str, architecture: &str) -> Option<String> {
        waiting(module, &Architecture::parse(architecture).unwrap())
    }

    /// The body as it becomes, behind the checks of what is around it.
    fn becomes(body: &str) -> String {
        let (before, out) = (module(body), on(&module(body), "sm_90").expect("it waits"));
        let constant = ".visible .global .align 1 .b8 __tilepipe_dependent__k[1] = {1};\n";
        assert_eq!(out.matches("griddepcontrol.wait").count(), 1, "{out}");
        let (head, rest) = before.split_once(".visible .entry").unwrap();
        let start = format!("{head}{constant}.visible .entry{}", rest.split_once("0:\n").unwrap().0);
        out.strip_prefix(&start).and_then(|rest| rest.strip_prefix("0:\n")).expect("the same head").to_string()
    }

    const WAITS: &str = super::WAIT;

    #[track_caller]
    fn waits_behind(first: &str, then: &str) {
        let (first, then) = (first.to_string(), format!("{then}\tret;\n"));
        assert_eq!(becomes(&[&*first, &then].concat()), [&first, WAITS, &then, "}\n"].concat());
    }

    #[track_caller]
    fn waits_at_first(body: &str) {
        waits_behind("", body);
    }

    #[test]
    fn a_kernel_waits_behind_its_last_barrier_before_an_access() {
        let own = "\tld.param.b64 \t%rd1, [k_param_1];\n\tst.shared.v4.b32 \t[%r1], {0, %r1, 0, 0};\n\
            \tmbarrier.init.shared.b64 [%r1], %r2;\n\tfence.mbarrier_init.release.cluster;\n\
            \t{ .reg .pred p; setp.eq.b32 p, %r1, 0; @p bra L; L: }\n\tfence.proxy.async.shared::cta;\n";
        waits_behind(&[own, BARRIER].concat(), LOAD);
        waits_behind(&[BARRIER, own, BARRIER].concat(), LOAD);
        waits_behind(BARRIER, &[LOAD, BARRIER].concat());
        waits_behind("\tbarrier.sync 0;\n", LOAD);
        waits_behind(&["\tgriddepcontrol.launch_dependents;\n", BARRIER].concat(), LOAD);
    }

    #[test]
    fn a_kernel_waits_at_first_where_an_access_comes_before_each_barrier() {
        for access in [
            LOAD,
            "\tld.b32 \t%r1, [%rd1];\n",
            "\tst.global.b32 \t[%rd1], %r1;\n",
            "\tatom.add.u32 \t%r1, [%rd1], %r2;\n",
            "\tred.global.add.u32 \t[%rd1], %r2;\n",
            "\tcp.async.cg.shared.global [%r1], [%rd1], 16;\n",
            "\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2];\n",
            "\tst.shared::cluster.b32 [%r1], %r2;\n",
            "\tprefetch.global.L2 [%rd1];\n",
            "\tcall.uni other, (p);\n",
            "\t@%p1 ld.global.b32 \t%r1, [%rd1];\n",
            "\t{ mov.b32 %r1, %r2; ld.global.b32 %r1, [%rd1]; }\n",
            "\tsome.new.instruction %r1;\n",
            "\tbrx.idx \t%r1, TABLE;\n",
        ] {
            waits_at_first(&[access, BARRIER].concat());
        }
        waits_at_first("");
        waits_at_first("\tmov.b32 \t%r1, 0;\n");
    }

    #[test]
    fn every_path_to_an_access_or_to_the_end_passes_the_wait() {
        let skipped = |what: &str| ["\t@%p1 bra \t$L__BB0_1;\n", what, "$L__BB0_1:\n"].concat();
        waits_at_first(&[&skipped(BARRIER), LOAD].concat());
        waits_at_first(&skipped(&[BARRIER, LOAD].concat()));
        waits_at_first(&["\t@%p1 ret;\n", BARRIER, LOAD].concat());
        waits_at_first(&["\t@%p1 exit;\n", BARRIER, LOAD].concat());
        waits_at_first(&["\t@%p1 bra \tELSEWHERE;\n", BARRIER, LOAD].concat());
        waits_at_first(&["\t@%p1 bar.sync \t0;\n", LOAD].concat());
        waits_behind(&[&skipped(LOAD).replace(LOAD, "\tmov.b32 \t%r1, 0;\n"), BARRIER].concat(), LOAD);
    }

    #[test]
    fn some_threads_of_a_block_and_a_loop_are_no_place_to_wait() {
        waits_at_first(&["\tbar.sync \t1, 64;\n", LOAD].concat());
        waits_at_first(&["\tbar.sync \t0, 64;\n", LOAD].concat());
        waits_at_first(&["\tbar.arrive \t0, 64;\n", LOAD].concat());
        waits_at_first(&["\tbar.warp.sync \t0xffffffff;\n", LOAD].concat());
        let again = ["$L__BB0_1:\n", BARRIER, "\t@%p1 bra \t$L__BB0_1;\n"].concat();
        waits_at_first(&[&again, LOAD].concat());
        waits_behind(&[&again, BARRIER].concat(), LOAD);
        // The jump that ends the loop ends the block that the barrier is in as well.
        waits_behind(BARRIER, &["$L__BB0_1:\n", LOAD, "\t@%p1 bra \t$L__BB0_1;\n"].concat());
    }

    #[test]
    fn a_panic_may_come_before_the_wait() {
        let checked = ["\t@%p1 bra \t$L__BB0_2;\n\tbra.uni \t$L__BB0_1;\n$L__BB0_2:\n", BARRIER].concat();
        let report = ["\tret;\n$L__BB0_1:\n\tst.param.b64 \t[p], 0;\n", PANIC].concat();
        let body = [&checked, LOAD, &report].concat();
        assert_eq!(becomes(&body), [&checked, WAITS, LOAD, &report, "}\n"].concat());
        let trap = body.replace(PANIC, "\ttrap;\n");
        assert!(becomes(&trap).starts_with(&[&checked, WAITS].concat()));
        // One that comes back, or ends without a trap, or is not sure to come.
        for other in [
            PANIC.replace("tilepipe5fault", "somebody6others"),
            "\texit;\n".to_string(),
            "\t@%p0 trap;\n\tret;\n".to_string(),
            "\t@%p0 exit;\n\ttrap;\n".to_string(),
            "$L__BB0_3:\n\tst.global.b32 [%rd1], %r1;\n\tbra.uni \t$L__BB0_3;\n".to_string(),
        ] {
            let body = body.replace(PANIC, &other);
            assert_eq!(becomes(&body), [WAITS, &body, "}\n"].concat(), "{other}");
        }
        let returning = module(&body).replace(".noreturn;\n", ";\n");
        let out = on(&returning, "sm_90").unwrap();
        assert!(out.contains(&["// %bb.0:\n", WAITS].concat()), "{out}");
    }

    #[test]
    fn memory_that_the_kernel_before_may_write_is_read_as_such() {
        let body = "\tld.global.nc.b32 \t%r1, [%rd1];\n\tld.global.nc.L1::no_allocate.v4.b32 \t{%r1, %r2, %r3, %r4}, [%rd1];\n\tret;\n";
        assert_eq!(becomes(body), [WAITS, &body.replace(".nc", ""), "}\n"].concat());
    }

    #[test]
    fn older_gpus_and_kernels_with_instructions_of_their_own_stay() {
        let body = [BARRIER, LOAD, "\tret;\n"].concat();
        assert!(on(&module(&body), "sm_90a").is_some());
        assert!(on(&module(&body), "sm_100").is_some());
        assert_eq!(on(&module(&body), "sm_89"), None);
        assert_eq!(on(&module(&["\tgriddepcontrol.wait;\n", &body].concat()), "sm_90"), None);
        assert_eq!(on(&module(&["/* ", BARRIER, "*/", BARRIER, LOAD].concat()), "sm_90"), None);
        assert_eq!(on(".version 7.8\n.target sm_90\n", "sm_90"), None, "no kernels");
    }
}
