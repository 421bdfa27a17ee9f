//! Kernels below block scope, and pipelines of a warp's or a thread's own.

use tilepipe_tests::flow::Instruction;
use tilepipe_tests::ptx::{is_block_barrier, is_commit, is_shared_load, is_wait, is_wait_for_all, is_warp_barrier};

use crate::kernel::{Kernel, Scope};

#[test]
fn a_kernel_whose_threads_keep_to_their_own_elements_has_no_barrier_anywhere() {
    let kernels = Kernel::named("scale_own").into_iter().filter(|kernel| kernel.scope() == Scope::Thread);
    for kernel in kernels {
        kernel.check_run("barriers of the block", is_block_barrier, 0);
        kernel.check_run("barriers of the warp", is_warp_barrier, 0);
        // Beside the counts of executions: no barrier stands where no way was followed either.
        let found = kernel.entry.code.instructions().find(|one| is_block_barrier(one) || is_warp_barrier(one));
        assert_eq!(found, None, "{}", kernel.name());
    }
}

#[test]
fn a_kernel_whose_warps_keep_to_their_own_elements_has_no_barrier_of_the_block() {
    let kernels = Kernel::named("scale_own").into_iter().filter(|kernel| kernel.scope() == Scope::Warp);
    for kernel in kernels {
        let found = kernel.entry.code.instructions().find(|one| is_block_barrier(one));
        assert_eq!(found, None, "{}", kernel.name());
    }
}

/// The instances of a kernel whose threads copy for themselves.
fn of_threads(name: &str) -> impl Iterator<Item = Kernel> {
    Kernel::named(name).into_iter().filter(|kernel| !kernel.is_of_copy_engine())
}

#[test]
fn sums_have_the_barriers_of_one_reduction_and_none_in_a_loop() {
    for name in ["sum", "dot", "argmax", "largest_key", "part_sums", "sum_by_threads", "sum_by_warps"] {
        for kernel in of_threads(name) {
            kernel.check_round("barriers of the block", is_block_barrier, 0);
            kernel.check_run("barriers of the block", is_block_barrier, 2);
        }
    }
}

#[test]
fn the_largest_element_is_found_by_wide_loads_and_keys_are_made_of_elements_that_are_larger_alone() {
    for kernel in of_threads("argmax") {
        kernel.check_round("loads of 16 bytes", is_shared_load, 1);
        kernel.check_round("comparisons of elements", |one| one.is("setp") && one.has("f32"), 4);
        // A round in which no element is above the largest so far has no key.
        let rounds = kernel.entry.code.loops_with(&[is_shared_load]);
        let keys = |one: &Instruction| one.opcode == "max.u64";
        assert!(rounds.iter().all(|round| round.executions(keys).contains(&0)), "{}", kernel.name());
    }
    for kernel in of_threads("largest_key") {
        kernel.check_round("loads of 16 bytes", is_shared_load, 1);
        kernel.check_round("comparisons of keys", |one| one.opcode == "max.u64", 2);
    }
}

#[test]
fn pipelines_of_warps_wait_for_their_warp_and_those_of_threads_for_nobody() {
    for (name, barriers) in [("sum_by_warps", 2), ("sum_by_threads", 0)] {
        for kernel in of_threads(name) {
            kernel.check_round("barriers of the warp", is_warp_barrier, barriers);
            kernel.check_round("commits", is_commit, 1);
            kernel.check_round("waits", is_wait, 1);
            kernel.check_pending(kernel.number("STAGES").map_or(0, |stages| stages - 1));
        }
    }
}

#[test]
fn private_pipelines_are_drained_once_behind_their_loop_and_not_again_at_the_kernels_end() {
    for name in ["sum_by_warps", "sum_by_threads"] {
        for kernel in of_threads(name) {
            kernel.check_run("waits for all copies", is_wait_for_all, 1);
            for one in kernel.entry.code.loops() {
                assert_eq!(one.count(is_wait_for_all), 0, "{}: a drain in a loop", kernel.name());
            }
        }
    }
}
