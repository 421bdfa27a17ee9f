//! Each step of a pipeline by itself: which instructions it becomes.

use std::collections::BTreeSet;

use tilepipe_tests::ptx::{is_block_barrier, is_commit, is_copy, is_wait, is_wait_for_all, is_warp_barrier};

use crate::kernel::Kernel;

/// What a run of one kernel executes.
struct Run {
    kernel: &'static str,
    /// Barriers of the block.
    block: usize,
    /// Barriers of the warp.
    warp: usize,
    /// Groups committed.
    commits: usize,
    /// What each wait leaves in flight.
    waits: &'static [&'static str],
    /// Waits for all copies: one where some may be under way, behind a scope or at the end.
    drains: usize,
}

const fn run(kernel: &'static str, barriers: [usize; 2], commits: usize, waits: &'static [&'static str]) -> Run {
    Run { kernel, block: barriers[0], warp: barriers[1], commits, waits, drains: 0 }
}

const fn in_flight(run: Run) -> Run {
    Run { drains: 1, ..run }
}

/// Block scope: `acquire` costs a barrier only where nothing but dirty stages is left, `wait` one,
/// and the others none.
const AT_BLOCK_SCOPE: [Run; 18] = [
    in_flight(run("acquire_free", [0, 0], 1, &[])),
    in_flight(run("acquire_free_beside_dirty", [0, 0], 1, &[])),
    in_flight(run("acquire_dirty", [1, 0], 1, &[])),
    in_flight(run("acquire_behind_a_wait", [2, 0], 3, &["0", "0"])),
    run("wait_for_one", [1, 0], 1, &["0"]),
    in_flight(run("wait_for_the_oldest_of_two", [1, 0], 2, &["1"])),
    in_flight(run("wait_for_the_oldest_of_three", [1, 0], 3, &["2"])),
    run("release", [1, 0], 1, &["0"]),
    run("weaken", [0, 0], 0, &[]),
    run("finish", [1, 0], 0, &[]),
    in_flight(run("finish_in_flight", [1, 0], 1, &[])),
    run("two_tiles_a_stage", [1, 0], 1, &["0"]),
    run("an_empty_stage", [1, 0], 1, &["0"]),
    run("through_registers", [1, 0], 0, &[]),
    run("single_copy", [1, 0], 1, &["0"]),
    run("single_copy_released", [2, 0], 1, &["0"]),
    in_flight(run("queue_of_two", [2, 0], 3, &["1"])),
    run("sync", [1, 0], 0, &[]),
];

/// Warp scope has the warp's barriers where block scope has the block's, thread scope has none
/// unless a tile is published.
const BELOW_BLOCK_SCOPE: [Run; 10] = [
    run("warp_wait", [0, 1], 1, &["0"]),
    in_flight(run("warp_acquire_dirty", [0, 1], 1, &[])),
    run("thread_wait", [0, 0], 1, &["0"]),
    in_flight(run("thread_release_and_acquire", [0, 0], 2, &["0"])),
    run("publish", [1, 0], 1, &["0"]),
    in_flight(run("published_release_and_acquire", [2, 0], 2, &["0"])),
    run("private_to_warps", [0, 1], 1, &["0"]),
    in_flight(run("private_to_warps_acquire_dirty", [0, 1], 1, &[])),
    in_flight(run("private_to_threads", [0, 0], 2, &["0"])),
    in_flight(run("reclaim", [1, 0], 1, &[])),
];

fn check(expected: &Run) {
    for kernel in Kernel::of_tests_named(expected.kernel) {
        kernel.check_run("barriers of the block", is_block_barrier, expected.block);
        kernel.check_run("barriers of the warp", is_warp_barrier, expected.warp);
        kernel.check_run("commits", is_commit, expected.commits);
        kernel.check_run("waits", is_wait, expected.waits.len());
        kernel.check_run("waits for all copies", is_wait_for_all, expected.drains);
        let waits = kernel.entry.code.instructions().filter(|one| is_wait(one)).map(|one| one.operands.as_str());
        assert_eq!(waits.collect::<Vec<_>>(), expected.waits, "{}: groups left in flight", expected.kernel);
    }
}

#[test]
fn steps_at_block_scope_become_the_instructions_that_their_state_requires() {
    AT_BLOCK_SCOPE.iter().for_each(check);
}

#[test]
fn steps_below_block_scope_become_the_instructions_that_their_state_requires() {
    BELOW_BLOCK_SCOPE.iter().for_each(check);
}

#[test]
fn copies_are_what_was_written_and_an_empty_stage_has_none() {
    for (name, copies) in [
        ("acquire_free", 1),
        ("acquire_behind_a_wait", 3),
        ("two_tiles_a_stage", 2),
        ("an_empty_stage", 0),
        ("weaken", 0),
    ] {
        for kernel in Kernel::of_tests_named(name) {
            let found = kernel.entry.code.instructions().filter(|one| is_copy(one)).count();
            assert_eq!(found, copies, "{name}: copies");
        }
    }
}

#[test]
fn every_kernel_of_the_tests_is_checked() {
    let here = AT_BLOCK_SCOPE.iter().chain(&BELOW_BLOCK_SCOPE).map(|run| run.kernel);
    let elsewhere = crate::orders::checked().into_iter().chain(crate::collectives::checked());
    let elsewhere = elsewhere.chain(crate::role_barriers::checked()).chain(crate::bulk::checked());
    let checked: BTreeSet<&str> = here.chain(elsewhere).collect();
    let built: BTreeSet<&str> = Kernel::of_tests().iter().map(|kernel| kernel.instance.kernel()).collect();
    assert_eq!(checked, built);
}
