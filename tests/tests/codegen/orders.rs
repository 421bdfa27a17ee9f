//! Loops by hand: the barriers that follow from the order of the steps and the number of stages.

use tilepipe_tests::ptx::{is_block_barrier, is_commit, is_wait, is_warp_barrier};

use crate::kernel::Kernel;

/// What a round of one loop executes.
struct Round {
    kernel: &'static str,
    /// Barriers of the block.
    block: usize,
    /// Barriers of the warp.
    warp: usize,
    /// Groups that the wait leaves in flight.
    pending: usize,
}

const fn round(kernel: &'static str, [block, warp]: [usize; 2], pending: usize) -> Round {
    Round { kernel, block, warp, pending }
}

/// Acquire, copy, commit, wait, compute, release.
const GUIDE_ORDER: [Round; 8] = [
    round("guide_order_one_stage", [2, 0], 0),
    round("guide_order_two_stages", [2, 0], 1),
    round("guide_order_three_stages", [1, 0], 1),
    round("guide_order_two_stages_of_warps", [0, 2], 1),
    round("guide_order_three_stages_of_warps", [0, 1], 1),
    round("guide_order_two_stages_of_threads", [0, 0], 1),
    round("guide_order_two_stages_published", [2, 0], 1),
    round("guide_order_three_stages_published", [1, 0], 1),
];

/// Wait, acquire, copy, commit, compute, release.
const WAIT_FIRST: [Round; 2] = [round("wait_first_two_stages", [1, 0], 0), round("wait_first_three_stages", [1, 0], 1)];

/// The kernels that are checked here.
pub fn checked() -> Vec<&'static str> {
    GUIDE_ORDER.iter().chain(&WAIT_FIRST).map(|round| round.kernel).collect()
}

fn check(expected: &Round) {
    for kernel in Kernel::of_tests_named(expected.kernel) {
        kernel.check_round("barriers of the block", is_block_barrier, expected.block);
        kernel.check_round("barriers of the warp", is_warp_barrier, expected.warp);
        kernel.check_round("commits", is_commit, 1);
        kernel.check_round("waits", is_wait, 1);
        kernel.check_pending(expected.pending);
    }
}

#[test]
fn the_guides_order_needs_two_barriers_a_round_with_two_stages_and_one_with_three() {
    GUIDE_ORDER.iter().for_each(check);
}

#[test]
fn waiting_first_needs_one_barrier_a_round() {
    WAIT_FIRST.iter().for_each(check);
}
