//! Rounds of the kernels in `kernels/`: barriers, commits and waits.

use std::collections::BTreeSet;

use tilepipe_tests::flow::MANY;
use tilepipe_tests::ptx::{
    is_block_barrier, is_commit, is_copy, is_shared_store, is_wait, is_wait_for_all, is_warp_barrier,
};

use crate::kernel::{Kernel, Scope};

/// The kernels whose rounds one of the drivers makes (`for_each`, `map_tiles`, ..) for the whole
/// block.
fn driven() -> Vec<Kernel> {
    const BY_HAND: [&str; 8] = [
        "with_staging",
        "with_staging_wide",
        "with_memcpy_async",
        "with_memcpy_async_wide",
        "with_memcpy_async_prior",
        "with_memcpy_async_prior_wide",
        "sum_by_warps",
        "sum_by_threads",
    ];
    let mut kernels = Kernel::unified();
    kernels.retain(|kernel| !BY_HAND.contains(&kernel.instance.kernel()));
    kernels
}

fn stages(kernel: &Kernel) -> usize {
    kernel.number("STAGES").unwrap_or(match kernel.instance.kernel() {
        "example_kernel" => 2,
        _ => 1,
    })
}

/// Whether the block's threads read one another's elements, so that rounds have barriers of the
/// block.
fn is_shared_by_block(kernel: &Kernel) -> bool {
    kernel.scope() == Scope::Block || kernel.instance.kernel().starts_with("with_staging_scope_thread")
}

/// Whether a round fills before it waits: with one stage, where that costs no barrier of the block,
/// and where otherwise no more than 8 bytes a thread would be in flight.
fn fills_first(kernel: &Kernel) -> bool {
    // Tiles here are multiples of 16 bytes, so that nothing lies between stages.
    let bytes_of_stage = kernel.instance.shared_bytes() / stages(kernel);
    let in_flight = (stages(kernel) - 1) * bytes_of_stage;
    stages(kernel) == 1 || !is_shared_by_block(kernel) || in_flight <= 8 * kernel.threads()
}

#[test]
fn a_round_has_the_barriers_that_its_scope_and_its_order_require_and_no_other() {
    for kernel in driven() {
        let barriers = if fills_first(&kernel) { 2 } else { 1 };
        let (of_block, of_warp) = match kernel.scope() {
            _ if is_shared_by_block(&kernel) => (barriers, 0),
            Scope::Warp => (0, barriers),
            _ => (0, 0),
        };
        // Those of the scan of a tile.
        let of_scan = if kernel.instance.kernel() == "exclusive_scan" { 2 } else { 0 };
        kernel.check_round("barriers of the block", is_block_barrier, of_block + of_scan);
        kernel.check_round("barriers of the warp", is_warp_barrier, of_warp);
    }
}

/// A run without a tile has the barriers of the reduction before the first round, if there is one,
/// and each round adds its own. (A convolution with one stage has two of them a round, and one in
/// the last, which fills nothing.)
#[test]
fn a_run_has_the_barriers_of_its_rounds_and_of_what_comes_before_them() {
    for (name, before, of_round) in [("exclusive_scan", 2, 2), ("convolution", 0, 1)] {
        let expected: BTreeSet<usize> = (before..MANY).step_by(of_round).chain([MANY]).collect();
        for kernel in Kernel::named(name) {
            assert_eq!(kernel.entry.executions(is_block_barrier), expected, "{}", kernel.name());
        }
    }
}

#[test]
fn a_round_commits_one_group_and_waits_for_the_oldest() {
    for kernel in driven() {
        let groups = usize::from(kernel.is_asynchronous());
        kernel.check_round("commits", is_commit, groups);
        kernel.check_round("waits", is_wait, groups);
        kernel.check_pending(if fills_first(&kernel) { stages(&kernel) - 1 } else { stages(&kernel) - 2 });
    }
}

#[test]
fn both_orders_of_a_round_are_built_at_block_scope_and_published() {
    for name in ["with_staging_unified", "with_staging_scope_thread"] {
        let kernels = Kernel::named(name);
        let first: Vec<bool> = kernels.iter().filter(|kernel| stages(kernel) > 1).map(fills_first).collect();
        assert!(first.contains(&true) && first.contains(&false), "{name}");
    }
}

#[test]
fn staging_by_hand_has_two_barriers_a_round_where_it_fills_first_and_one_where_it_waits_first() {
    for kernel in Kernel::named("with_staging") {
        let fills_first = kernel.element_bytes() <= 8;
        let (barriers, pending) = if fills_first { (2, 1) } else { (1, 0) };
        check_by_hand(&kernel, barriers, pending);
    }
    for kernel in Kernel::named("with_staging_wide") {
        check_by_hand(&kernel, 1, 0);
    }
}

#[test]
fn a_single_copy_has_two_barriers_a_round_and_waits_for_all_groups() {
    for kernel in ["with_memcpy_async", "with_memcpy_async_wide"].into_iter().flat_map(Kernel::named) {
        check_by_hand(&kernel, 2, 0);
    }
}

#[test]
fn a_queue_of_two_copies_has_two_barriers_a_round_and_leaves_one_group_in_flight() {
    for kernel in ["with_memcpy_async_prior", "with_memcpy_async_prior_wide"].into_iter().flat_map(Kernel::named) {
        check_by_hand(&kernel, 2, 1);
    }
}

fn check_by_hand(kernel: &Kernel, barriers: usize, pending: usize) {
    kernel.check_round("barriers of the block", is_block_barrier, barriers);
    kernel.check_round("barriers of the warp", is_warp_barrier, 0);
    kernel.check_round("commits", is_commit, 1);
    kernel.check_round("waits", is_wait, 1);
    kernel.check_pending(pending);
}

#[test]
fn the_synchronous_engine_copies_through_registers_and_commits_nothing() {
    let mut synchronous = Kernel::unified();
    synchronous.retain(|kernel| !kernel.is_asynchronous());
    assert!(synchronous.len() > 50, "{} synchronous instances", synchronous.len());
    for kernel in synchronous {
        for (what, wanted) in [("copies", is_copy as fn(&_) -> bool), ("commits", is_commit), ("waits", is_wait)] {
            kernel.check_run(what, wanted, 0);
        }
        for steady in kernel.steady_states() {
            assert!(steady.count(|one| one.is("ld.global")) >= 1, "{}: nothing is loaded", kernel.name());
            // What only the thread itself reads need not go through memory.
            let through_memory = kernel.scope() != Scope::Thread;
            assert!(!through_memory || steady.count(is_shared_store) >= 1, "{}: nothing is stored", kernel.name());
        }
    }
}

/// With one stage a round has waited for the one copy; with several the last rounds have left
/// groups in flight, of which the instructions do not tell that they are empty.
#[test]
fn a_kernel_waits_for_all_copies_at_its_end_where_one_may_be_under_way() {
    let mut seen = BTreeSet::new();
    for kernel in driven() {
        let may_be_under_way = kernel.is_asynchronous() && stages(&kernel) > 1;
        seen.insert((kernel.is_asynchronous(), may_be_under_way));
        kernel.check_run("waits for all copies", is_wait_for_all, usize::from(may_be_under_way));
    }
    assert_eq!(seen.len(), 3, "engines and stages: {seen:?}");
}

#[test]
fn a_kernel_of_bulk_copies_does_not_wait_for_copies_of_threads() {
    let kernels = Kernel::of_bulk_copies();
    assert!(kernels.len() > 50, "{} kernels", kernels.len());
    for kernel in kernels {
        kernel.check_run("waits for all copies", is_wait_for_all, 0);
    }
}
