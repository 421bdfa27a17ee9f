//! The barriers and collectives of roles, and steps that poll.

use std::collections::BTreeSet;

use tilepipe_tests::flow::Instruction;
use tilepipe_tests::ptx::{is_block_barrier, is_mbarrier_poll, is_mbarrier_wait, is_shuffle};

use crate::kernel::Kernel;

/// What the members of one role execute: the barrier with its operands, how often, and shuffles.
struct Collective {
    kernel: &'static str,
    opcode: &'static str,
    barriers: usize,
    shuffles: usize,
}

const fn collective(kernel: &'static str, opcode: &'static str, barriers: usize, shuffles: usize) -> Collective {
    Collective { kernel, opcode, barriers, shuffles }
}

/// Those of the second of two roles, with 96 threads behind 32.
const COLLECTIVES: [Collective; 8] = [
    collective("role_sync", "barrier.sync", 1, 0),
    collective("role_reduce", "barrier.sync", 2, 5),
    collective("role_scan", "barrier.sync", 2, 5),
    collective("role_scan_with_total", "barrier.sync", 2, 5),
    collective("role_exclusive_scan", "barrier.sync", 2, 6),
    collective("role_broadcast", "barrier.sync", 2, 0),
    collective("role_any", "barrier.red.or.pred", 1, 0),
    collective("role_all", "barrier.red.and.pred", 1, 0),
];

/// The kernels that are checked here.
pub fn checked() -> Vec<&'static str> {
    let others = ["roles_sync_side_by_side", "role_result", "role_polls"];
    COLLECTIVES.iter().map(|one| one.kernel).chain(others).collect()
}

/// Whether it is a barrier of the whole block: the aligned ones of block-level code, and the one at
/// which the roles meet.
fn is_of_block(one: &Instruction) -> bool {
    one.is("bar.sync") || one.opcode == "barrier.sync" && one.operands == "0"
}

/// The number of a role's barrier and of the threads that it counts.
fn of_role(one: &Instruction) -> Option<(u32, u32)> {
    let numbers: Vec<u32> = one.operands.split(", ").filter_map(|part| part.trim().parse().ok()).collect();
    let &[number, threads] = &numbers[..] else { return None };
    (is_block_barrier(one) && !is_of_block(one)).then_some((number, threads))
}

#[test]
fn a_collective_of_a_role_costs_barriers_of_the_role_alone() {
    for expected in &COLLECTIVES {
        for kernel in Kernel::of_tests_named(expected.kernel) {
            let entry = kernel.entry;
            let own: Vec<&Instruction> = entry.code.instructions().filter(|one| of_role(one).is_some()).collect();
            assert_eq!(own.len(), expected.barriers, "{}: {own:?}", expected.kernel);
            for one in own {
                let opcode = one.opcode.replace("barrier.cta", "barrier");
                assert_eq!((opcode.as_str(), of_role(one)), (expected.opcode, Some((2, 96))), "{}", expected.kernel);
            }
            // The first role's threads pass none.
            let executed = entry.executions(|one| of_role(one).is_some());
            assert_eq!(executed, [0, expected.barriers].into(), "{}: barriers", expected.kernel);
            assert_eq!(entry.executions(is_shuffle), [0, expected.shuffles].into(), "{}: shuffles", expected.kernel);
        }
    }
}

#[test]
fn roles_that_synchronise_side_by_side_have_barriers_of_different_numbers() {
    for kernel in Kernel::of_tests_named("roles_sync_side_by_side") {
        let own: Vec<_> = kernel.entry.code.instructions().filter_map(of_role).collect();
        assert_eq!(BTreeSet::from_iter(own.iter().copied()), [(1, 32), (2, 64), (3, 128)].into());
        assert_eq!(own.len(), 3);
        // One each; the way of threads in none of the roles, of which a block has none, passes no
        // barrier.
        assert_eq!(kernel.entry.executions(|one| of_role(one).is_some()), [0, 1].into());
    }
}

#[test]
fn a_role_has_no_aligned_barrier_and_none_of_the_block() {
    for kernel in Kernel::all().into_iter().chain(Kernel::of_tests()).filter(Kernel::is_partitioned) {
        let name = kernel.name();
        for one in kernel.entry.code.instructions().filter(|one| is_block_barrier(one)) {
            let is_known = is_of_block(one) || of_role(one).is_some();
            assert!(is_known, "{name}: {} {}", one.opcode, one.operands);
        }
        // On every way one of the block before the roles, and if the kernel goes on behind them the
        // one at which they meet and another one of the block.
        let goes_on = crate::roles::goes_on(&kernel);
        let pick = |one: &Instruction| is_block_barrier(one).then(|| one.opcode.replace("barrier.cta", "barrier"));
        for trace in kernel.entry.code.traces(pick, |one| one.is("ret")) {
            let aligned: Vec<usize> = (0..trace.len()).filter(|at| trace[*at].starts_with("bar.")).collect();
            let expected = if goes_on { vec![0, trace.len() - 1] } else { vec![0] };
            assert_eq!(aligned, expected, "{name}: {trace:?}");
        }
        let expected = if goes_on { 3 } else { 1 };
        assert_eq!(kernel.entry.executions(is_of_block), [expected].into(), "{name}: barriers of the block");
    }
}

#[test]
fn the_result_of_a_role_costs_no_barrier() {
    for kernel in Kernel::of_tests_named("role_result") {
        assert_eq!(kernel.entry.executions(|one| of_role(one).is_some()), [0].into());
    }
}

#[test]
fn a_step_that_polls_tests_once_in_the_first_thread_and_waits_for_its_answer() {
    for kernel in Kernel::of_tests_named("role_polls") {
        assert_eq!(kernel.entry.executions(is_mbarrier_poll), [0, 1].into());
        assert_eq!(kernel.entry.code.loops_with(&[is_mbarrier_poll]).len(), 0);
        // On the way from the test to the block's barrier there is a wait.
        let pick = |one: &Instruction| {
            let names =
                [("poll", is_mbarrier_poll as fn(&_) -> bool), ("wait", is_mbarrier_wait), ("meet", is_of_block)];
            names.iter().find(|(_, kind)| kind(one)).map(|(name, _)| (*name).to_owned())
        };
        let traces = kernel.entry.code.traces(pick, |one| one.is("ret"));
        assert!(traces.iter().any(|trace| trace.contains(&"poll".to_owned())), "{traces:?}");
        for trace in traces {
            let at = trace.iter().position(|step| step == "poll");
            assert!(at.is_none_or(|at| trace[at + 1] == "wait"), "{trace:?}");
        }
    }
}
