//! Stores by the copy engine: in a round one store of a box, by the thread that loads, behind the
//! fence of every thread that filled it and a barrier; and no thread leaves before its stores were
//! read.

use std::collections::BTreeSet;

use tilepipe_test_kernels::tails;
use tilepipe_test_kernels::tensor::stores;
use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::{Instruction, Loop};
use tilepipe_tests::ptx::{is_block_barrier, is_mbarrier_wait, is_shared_load, is_shared_store};

use crate::bulk::{is_expect, is_fence, of_thread};
use crate::kernel::Kernel;

/// The load of a box, of whatever number of dimensions ([`opcodes`]), or of a tile.
fn is_load(one: &Instruction) -> bool {
    one.is("cp.async.bulk") && one.has("shared::cluster") && one.has("mbarrier::complete_tx::bytes")
}

/// The store of a box, or of a tile, likewise.
fn is_store(one: &Instruction) -> bool {
    one.is("cp.async.bulk") && one.has("shared::cta") && one.has("bulk_group")
}

/// What the copies of a kernel begin with, and what a load goes on with, and a store.
fn opcodes(kernel: &Kernel) -> [String; 2] {
    let all: BTreeSet<Option<u32>> =
        kernel.instance.parameters().map(|(_, info)| info.boxes.map(|boxes| boxes.dimensions)).collect();
    assert_eq!(all.len(), 1, "{}: tensors of one number of dimensions, or none", kernel.name());
    let of = match all.into_iter().flatten().next() {
        Some(dimensions) => format!("cp.async.bulk.tensor.{dimensions}d"),
        None => "cp.async.bulk".to_owned(),
    };
    [format!("{of}.shared::cluster.global"), format!("{of}.global.shared::cta")]
}

/// The addition of a box.
fn is_addition(one: &Instruction) -> bool {
    one.is("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add")
}

/// The end of a group of stores.
fn is_commit(one: &Instruction) -> bool {
    one.is("cp.async.bulk.commit_group")
}

/// A wait until sources were read.
fn is_read(one: &Instruction) -> bool {
    one.is("cp.async.bulk.wait_group.read")
}

/// The end of a kernel that has not failed.
fn is_end(one: &Instruction) -> bool {
    one.is("ret")
}

/// A kind of instructions.
type Kind = fn(&Instruction) -> bool;

/// The kernels with a ring that store a box, or a tile, in each round.
fn all() -> Vec<Kernel> {
    let mut found = Kernel::all();
    found.retain(|kernel| {
        kernel.is_stored_in_a_row() || kernel.is_of_tensors() && kernel.instance.kernel() != "column_sums"
    });
    let of_tests = [
        &stores::boxes_through_a_ring::INSTANCES[..],
        &stores::boxes_stored_as_loaded::INSTANCES,
        &stores::transposed_by_patches::INSTANCES,
        &tails::tails_stored::INSTANCES,
        &tails::tails_stored_as_loaded::INSTANCES,
    ];
    found.extend(of_tests.into_iter().flatten().map(|instance| Kernel::new(Module::TestKernels, instance)));
    assert!(found.len() > 40);
    found
}

/// The output stages that threads fill; none of a kernel that stores what it has loaded.
fn filled(kernel: &Kernel) -> Option<usize> {
    match kernel.instance.kernel() {
        "copy_tma" | "copy_stored_bulk" | "boxes_stored_as_loaded" | "tails_stored_as_loaded" => None,
        _ => Some(kernel.number("COUNT").unwrap_or(2)),
    }
}

#[test]
fn a_round_loads_a_box_and_stores_one_by_the_first_thread_alone() {
    for kernel in all() {
        let (code, name) = (&kernel.entry.code, kernel.name());
        let first = of_thread(code, 0);
        let rounds = first.loops_with(&[is_mbarrier_wait, is_store]);
        let mut whole = false;
        for round in rounds {
            // Of a partial tile in a row the engine may have nothing to store.
            let stores = round.executions(is_store);
            let in_a_row = kernel.instance.parameters().all(|(_, info)| info.boxes.is_none());
            assert!(stores == [1].into() || in_a_row && stores == [0, 1].into(), "{name}: stores of a round");
            whole |= stores == [1].into();
            assert_eq!(round.executions(is_commit), [1].into(), "{name}: commits of a round");
            for (what, wanted) in [("loads", is_load as Kind), ("announcements", is_expect)] {
                let found = round.executions(wanted);
                // Of a partial tile in a row the zeros are copied, too.
                let once = found.iter().all(|count| *count <= 1) || what == "loads" && stores != [1].into();
                assert!(found.contains(&1) && once, "{name}: {what}: {found:?}");
            }
        }
        assert!(whole, "{name}: no loop of a steady state that stores whole tiles");
        for rank in (1..kernel.threads() as u32).filter(|rank| [1, 31, 32, 33].contains(rank)) {
            let other = of_thread(code, rank);
            let engine = |one: &&Instruction| is_load(one) || is_store(one) || is_commit(one) || is_expect(one);
            assert_eq!(other.instructions().find(engine), None, "{name}: thread {rank}");
        }
    }
}

#[test]
fn loads_and_stores_have_as_many_dimensions_as_the_boxes() {
    let mut found = BTreeSet::new();
    for kernel in all() {
        let (name, [load, store]) = (kernel.name(), opcodes(&kernel));
        for (wanted, opcode) in [(is_load as Kind, &load), (is_store, &store)] {
            let mut all = kernel.entry.code.instructions().filter(|one| wanted(one)).peekable();
            assert!(all.peek().is_some(), "{name}: no {opcode}");
            assert!(all.all(|one| one.is(opcode)), "{name}: another instruction than {opcode}");
        }
        found.insert(store);
    }
    let wanted = ["cp.async.bulk", "cp.async.bulk.tensor.2d", "cp.async.bulk.tensor.3d"];
    assert_eq!(found, wanted.map(|of| format!("{of}.global.shared::cta")).into());
}

#[test]
fn sums_are_added_by_the_first_thread_once_a_column_of_boxes_and_a_round_costs_what_a_load_does() {
    let mut kernels = Kernel::all();
    kernels.retain(|kernel| kernel.instance.kernel() == "column_sums");
    assert!(!kernels.is_empty());
    for kernel in kernels {
        let (code, name) = (&kernel.entry.code, kernel.name());
        let first = of_thread(code, 0);
        let columns = first.loops_with(&[is_mbarrier_wait, is_addition]);
        assert!(!columns.is_empty(), "{name}: no loop over columns of boxes");
        for column in columns {
            for (what, wanted) in [("additions", is_addition as Kind), ("commits", is_commit)] {
                assert_eq!(column.executions(wanted), [1].into(), "{name}: {what} of a column");
            }
        }
        let other = of_thread(code, 1);
        let engine = |one: &&Instruction| is_load(one) || is_addition(one) || is_commit(one) || is_expect(one);
        assert_eq!(other.instructions().find(engine), None, "{name}: the second thread");
        let columns = other.loops_with(&[is_mbarrier_wait, is_shared_load]);
        let mut rounds: Vec<_> = columns.iter().flat_map(Loop::inner).collect();
        rounds.retain(|round| round.count(is_mbarrier_wait) > 0);
        assert!(!rounds.is_empty(), "{name}: no loop of a steady state");
        for round in rounds {
            for (what, wanted) in
                [("fences", is_fence as Kind), ("barriers", is_block_barrier), ("waits", is_mbarrier_wait)]
            {
                assert_eq!(round.executions(wanted), [1].into(), "{name}: {what} of a round");
            }
        }
    }
}

#[test]
fn a_round_has_a_fence_and_a_barrier_for_the_stage_and_both_for_the_output_stage() {
    for kernel in all() {
        let (name, filled) = (kernel.name(), filled(&kernel));
        let other = of_thread(&kernel.entry.code, 1);
        // With one output stage all threads wait for its reads, too.
        let (fences, barriers) = match filled {
            None => (1, 1),
            Some(1) => (2, 3),
            Some(_) => (2, 2),
        };
        let rounds = other.loops_with(&[is_mbarrier_wait, is_block_barrier]);
        assert!(!rounds.is_empty(), "{name}: no loop of a steady state");
        for round in rounds {
            for (what, wanted, count) in [
                ("fences", is_fence as Kind, fences),
                ("barriers", is_block_barrier, barriers),
                ("waits", is_mbarrier_wait, 1),
            ] {
                assert_eq!(round.executions(wanted), [count].into(), "{name}: {what} of a round");
            }
        }
    }
}

#[test]
fn a_wait_leaves_all_but_the_next_output_stage_in_flight_and_the_last_one_none() {
    for kernel in all() {
        let (code, name) = (of_thread(&kernel.entry.code, 0), kernel.name());
        let wanted = filled(&kernel).unwrap_or(0).saturating_sub(2).to_string();
        for round in code.loops_with(&[is_mbarrier_wait, is_store]) {
            assert_eq!(round.executions(is_read), [1].into(), "{name}: waits for reads of a round");
            for wait in round.instructions().filter(|one| is_read(one)) {
                assert_eq!(wait.operands, wanted, "{name}: groups that a wait leaves in flight");
            }
        }
    }
}

/// What a thread executes of all kinds that count for stores, on each way; equal ones in a row are
/// one.
fn ways(kernel: &Kernel, rank: u32) -> BTreeSet<Vec<String>> {
    let kinds: [(Kind, &str); 7] = [
        (is_shared_load, "read"),
        (is_shared_store, "write"),
        (is_fence, "fence"),
        (is_block_barrier, "barrier"),
        (is_store, "store"),
        (is_read, "wait"),
        (is_end, "end"),
    ];
    let pick = |one: &Instruction| kinds.iter().find(|(is, _)| is(one)).map(|(_, kind)| (*kind).to_owned());
    of_thread(&kernel.entry.code, rank).traces(pick, is_end)
}

#[test]
fn a_store_comes_behind_the_fence_of_each_thread_and_a_barrier_and_the_end_behind_its_reads() {
    let of_one_box = |kernel: &&Kernel| {
        ["transposed_by_patches", "transpose_tma", "batched_transpose"].contains(&kernel.instance.kernel())
    };
    let kernels = all();
    let mut checked = 0;
    for kernel in kernels.iter().filter(of_one_box) {
        for rank in [0, 1] {
            let ways = ways(kernel, rank);
            let name = kernel.name();
            assert!(!ways.is_empty(), "{name}: thread {rank}");
            for way in &ways {
                let steps: Vec<&str> = way.iter().map(String::as_str).collect();
                for (place, step) in steps.iter().enumerate() {
                    let before = |wanted: &str| steps[..place].iter().rposition(|one| *one == wanted);
                    match *step {
                        "store" => {
                            let (write, fence) = (before("write"), before("fence"));
                            let barrier = before("barrier");
                            assert!(write < fence && fence < barrier && write.is_some(), "{name}: {steps:?}");
                        }
                        "barrier" => {
                            // What a thread wrote is fenced before it meets the others.
                            assert!(before("write") <= before("fence"), "{name}: {steps:?}");
                        }
                        _ => {}
                    }
                }
                let last = steps.iter().rposition(|one| *one == "wait");
                assert!(
                    steps.iter().all(|one| *one != "store") || last > steps.iter().rposition(|one| *one == "store"),
                    "{name}"
                );
                checked += steps.iter().filter(|one| **one == "store").count();
            }
        }
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn maps_are_read_where_the_launch_has_put_them() {
    for kernel in all() {
        let name = kernel.name();
        assert_eq!(kernel.entry.local_declarations, [""; 0], "{name}: a copy of a map, or other local memory");
    }
}
