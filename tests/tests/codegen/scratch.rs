//! Tiles that threads compute in shared memory: two barriers a fill, and plain loads and stores.

use std::collections::BTreeSet;

use tilepipe_test_kernels::scratch::{
    above_the_rows_least, computed_from_the_held, less_the_least, less_the_least_of_a_role, sums_in_rounds,
    tiles_of_warps, transposed_in_scratch, turned, turned_in_a_ring,
};
use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::Instruction;
use tilepipe_tests::ptx::{is_block_barrier, is_shared_load};

use crate::kernel::Kernel;

/// A barrier of a role, whose number is not the block's.
fn is_role_barrier(one: &Instruction) -> bool {
    one.is("barrier.sync") && !one.operands.starts_with('0')
}

/// How many instructions of a kind an instance of a kernel has.
fn count(kernel: &Kernel, wanted: impl Fn(&Instruction) -> bool) -> usize {
    kernel.entry.code.instructions().filter(|one| wanted(one)).count()
}

#[test]
fn a_fill_and_an_update_are_two_barriers_each() {
    // The loop over a block's tiles is there once. `sums_in_rounds` has a fill that is forgotten,
    // one of the sums, and in its seven rounds a fill and an update; and two `finish`, of a barrier
    // each.
    let barriers = [
        (&turned::INSTANCES[..], 2),
        (&transposed_in_scratch::INSTANCES[..], 2 + 2),
        (&sums_in_rounds::INSTANCES[..], 2 + 2 + 7 * (2 + 2) + 2),
    ];
    for (instance, expected) in barriers.into_iter().flat_map(|(all, number)| all.iter().map(move |one| (one, number)))
    {
        let kernel = Kernel::new(Module::TestKernels, instance);
        assert_eq!(count(&kernel, is_block_barrier), expected, "{}", kernel.name());
    }
}

#[test]
fn a_fill_in_a_role_costs_no_barrier_of_the_block() {
    let kernel = Kernel::new(Module::TestKernels, &less_the_least_of_a_role::INSTANCES[0]);
    // In the role's loop, which is there once.
    assert_eq!(count(&kernel, is_role_barrier), 2, "{}", kernel.name());
}

#[test]
fn a_ring_of_computed_tiles_has_one_barrier_a_round() {
    // With one stage `acquire` waits for the readers as well, and the driver has the second barrier
    // too where at most 8 bytes a thread would be filled ahead (64 threads, tiles of 100 elements).
    for instance in turned_in_a_ring::INSTANCES.iter().chain(&computed_from_the_held::INSTANCES) {
        let kernel = Kernel::new(Module::TestKernels, instance);
        let ahead = kernel.number("STAGES").map(|stages| (stages - 1) * 100 * kernel.element_bytes());
        let expected = if ahead.is_some_and(|ahead| ahead <= 8 * 64) { 2 } else { 1 };
        let rounds = kernel.entry.code.loops_with(&[|one| one.is("st.shared"), is_shared_load]);
        assert!(!rounds.is_empty(), "{}: no loop fills and reads", kernel.name());
        for round in rounds {
            let barriers = round.executions(is_block_barrier);
            assert_eq!(barriers, BTreeSet::from([expected]), "{}: barriers of a round", kernel.name());
        }
    }
}

#[test]
fn warps_with_memory_of_their_own_wait_for_no_other_warp() {
    for instance in &tiles_of_warps::INSTANCES {
        let kernel = Kernel::new(Module::TestKernels, instance);
        // Two `reclaim`.
        assert_eq!(count(&kernel, is_block_barrier), 2, "{}", kernel.name());
        assert!(count(&kernel, |one| one.is("bar.warp.sync")) > 0, "{}", kernel.name());
    }
    for instance in &above_the_rows_least::INSTANCES {
        let kernel = Kernel::new(Module::TestKernels, instance);
        assert_eq!(count(&kernel, is_block_barrier), 0, "{}", kernel.name());
    }
}

#[test]
fn a_tile_in_shared_memory_takes_no_local_memory_and_no_fence() {
    let all = turned::INSTANCES.iter().chain(&sums_in_rounds::INSTANCES).chain(&transposed_in_scratch::INSTANCES);
    let rings = turned_in_a_ring::INSTANCES.iter().chain(&computed_from_the_held::INSTANCES);
    let all = all.chain(rings).chain(&tiles_of_warps::INSTANCES);
    for instance in all.chain(&less_the_least::INSTANCES).chain(&less_the_least_of_a_role::INSTANCES) {
        let kernel = Kernel::new(Module::TestKernels, instance);
        let name = kernel.name();
        assert!(count(&kernel, |one| one.is("st.shared")) > 0, "{name}: nothing is written");
        assert!(count(&kernel, |one| one.is("ld.shared")) > 0, "{name}: nothing is read");
        for other in ["ld.local", "st.local", "fence", "membar", "atom"] {
            assert_eq!(count(&kernel, |one| one.is(other)), 0, "{name}: `{other}`");
        }
        assert_eq!(kernel.entry.local_declarations, [""; 0], "{name}: local memory");
    }
}
