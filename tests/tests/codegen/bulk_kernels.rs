//! What the kernels of `kernels/` have of the copy engine's mbarriers, stage by stage, and the end
//! of a kernel whose roles are its last step.

use std::collections::BTreeSet;

use tilepipe_tests::flow::{Code, Instruction, Loop};
use tilepipe_tests::ptx::{
    is_arrival, is_block_barrier, is_mbarrier_init, is_mbarrier_inval, is_mbarrier_wait, is_shared_load,
};

use crate::bulk::{executed, is_bulk, is_expect, is_fence, of_thread, offset, one_of, operand};
use crate::kernel::Kernel;
use crate::roles::is_by_hand;

/// A kind of instructions.
type Kind = fn(&Instruction) -> bool;

/// The kernels with bulk copies whose threads have roles, or those whose threads all do the same.
fn of_bulk_copies(partitioned: bool) -> Vec<Kernel> {
    let mut found = Kernel::of_bulk_copies();
    found.retain(|kernel| kernel.is_partitioned() == partitioned);
    assert!(found.len() > 3, "{} kernels", found.len());
    found
}

fn number(kernel: &Kernel, generic: &str) -> usize {
    kernel.number(generic).unwrap_or_else(|| panic!("{}: no {generic}", kernel.name()))
}

/// The arrivals that each mbarrier counts, as the first thread makes them.
fn counts(code: &Code) -> Vec<Option<u32>> {
    let inits: Vec<_> = code.instructions().filter(|one| is_mbarrier_init(one)).collect();
    inits.into_iter().map(|one| operand(code, one, 1)).collect()
}

#[test]
fn a_kernel_whose_threads_all_read_has_one_mbarrier_for_each_stage() {
    for kernel in of_bulk_copies(false) {
        let (first, stages, name) = (of_thread(&kernel.entry.code, 0), number(&kernel, "STAGES"), kernel.name());
        assert_eq!(counts(&first), vec![Some(1); stages], "{name}: arrivals that the mbarriers count");
        let made = executed(&first, is_mbarrier_init);
        assert!(made.is_subset(&[0, stages].into()) && made.contains(&stages), "{name}: {made:?} mbarriers");
        let by_another = executed(&of_thread(&kernel.entry.code, 1), is_mbarrier_init);
        assert_eq!(by_another, [0].into(), "{name}: mbarriers that another thread makes");
    }
}

/// The kernel whose middle role hands on what it computes, through a second pipeline without bulk
/// copies.
const HANDS_ON: &str = "load_compute_store";

/// The threads that arrive when a stage of each pipeline is filled, and when it is given back.
fn ends(kernel: &Kernel) -> Vec<[usize; 2]> {
    // Even and odd ranks are as many.
    let consumers = || kernel.number("CONSUMERS").unwrap_or_else(|| kernel.threads() / 2);
    match kernel.instance.kernel() {
        HANDS_ON => vec![[32, 128], [128, 32]],
        "producer_consumer_sum" => vec![[32, consumers()]],
        // By hand all producers arrive, and of a driver's the one that issues.
        _ if is_by_hand(kernel) => vec![[number(kernel, "PRODUCERS"), consumers()]],
        _ => vec![[1, consumers()]],
    }
}

/// A thread that reads what the copy engine brings, and that is not the first one of its role.
fn reader(kernel: &Kernel) -> Code {
    let last = kernel.threads() as u32 - 1;
    of_thread(&kernel.entry.code, if kernel.instance.kernel() == HANDS_ON { 65 } else { last })
}

/// How many stages a round of each loop of a role takes: by hand there is one loop, and a driver
/// has laps of all stages for tiles that are all whole, and loops that take those behind the last
/// lap and tiles that are not.
fn stages_of_loops(kernel: &Kernel) -> Vec<usize> {
    if is_by_hand(kernel) { vec![1] } else { vec![1, 1, number(kernel, "STAGES")] }
}

#[test]
fn between_roles_a_stage_counts_the_threads_that_fill_it_and_then_each_consumer() {
    for kernel in of_bulk_copies(true) {
        let (name, stages) = (kernel.name(), number(&kernel, "STAGES"));
        // By hand each end has an mbarrier of its decisions.
        let of_pipeline = |ends: [usize; 2]| ends.repeat(stages + usize::from(is_by_hand(&kernel)));
        let expected: Vec<_> = ends(&kernel).into_iter().flat_map(of_pipeline).collect();
        let expected: Vec<_> = expected.into_iter().map(|count| Some(count as u32)).collect();
        assert_eq!(counts(&of_thread(&kernel.entry.code, 0)), expected, "{name}: arrivals that the mbarriers count");
        assert_eq!(counts(&reader(&kernel)), [], "{name}: mbarriers that a consumer makes");
    }
}

#[test]
fn between_roles_each_consumer_fences_between_its_wait_and_its_arrival() {
    for kernel in of_bulk_copies(true) {
        let (code, name) = (reader(&kernel), kernel.name());
        // A role of several ends leaves them in a loop in which a round may have nothing to do.
        let mut rounds = code.loops_with(&[is_mbarrier_wait, is_shared_load]);
        rounds.retain(|round| !round.executions(is_mbarrier_wait).contains(&0));
        let stages: Vec<usize> = sorted(rounds.iter().map(|round| of_round(name, round, is_fence)));
        assert_eq!(stages, stages_of_loops(&kernel), "{name}: fences of each loop");
        let hands_on = kernel.instance.kernel() == HANDS_ON;
        for round in &rounds {
            // What is handed on has a wait and an arrival, too.
            let steps = of_round(name, round, is_fence) + usize::from(hands_on);
            assert_eq!(round.executions(is_mbarrier_wait), [steps].into(), "{name}: waits of a round");
            assert_eq!(round.executions(is_arrival), [steps].into(), "{name}: arrivals of a round");
        }
        if hands_on {
            continue;
        }
        let kinds: [(Kind, &str); 4] =
            [(is_fence, "fence"), (is_block_barrier, "barrier"), (is_mbarrier_wait, "wait"), (is_arrival, "arrive")];
        let pick = |one: &Instruction| kinds.iter().find(|(is, _)| is(one)).map(|(_, kind)| (*kind).to_owned());
        let ways = code.traces(pick, |one| one.is("ret"));
        assert!(ways.iter().any(|way| way.iter().any(|step| step == "arrive")), "{name}: {ways:?}");
        for way in &ways {
            let unfenced = way.windows(2).find(|two| two[1] == "arrive" && two[0] != "fence");
            assert_eq!(unfenced, None, "{name}: {way:?}");
        }
    }
}

#[test]
fn between_roles_each_fill_waits_announces_and_arrives_once() {
    for kernel in of_bulk_copies(true) {
        let (code, name) = (of_thread(&kernel.entry.code, 0), kernel.name());
        let rounds = code.loops_with(&[is_expect]);
        let stages: Vec<usize> = sorted(rounds.iter().map(|round| of_round(name, round, is_expect)));
        assert_eq!(stages, stages_of_loops(&kernel), "{name}: announcements of each loop");
        for round in &rounds {
            let filled = round.executions(is_expect);
            for (what, wanted) in [("waits", is_mbarrier_wait as Kind), ("arrivals", is_arrival)] {
                assert_eq!(round.executions(wanted), filled, "{name}: {what} of a round");
            }
        }
        // A loop of tiles that are all whole has one copy for each.
        let whole = rounds.iter().filter(|round| round.executions(is_bulk) == round.executions(is_expect)).count();
        assert!(whole + 1 >= rounds.len(), "{name}: {whole} of {} loops copy whole tiles", rounds.len());
    }
}

/// How many such instructions a round executes, which is the same on each way.
fn of_round(name: &str, round: &Loop<'_>, wanted: Kind) -> usize {
    let executed: Vec<usize> = round.executions(wanted).into_iter().collect();
    let &[executed] = &executed[..] else { panic!("{name}: {executed:?} of a round") };
    executed
}

fn sorted(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut numbers: Vec<usize> = numbers.collect();
    numbers.sort_unstable();
    numbers
}

/// The copies from which a thread can get to its end without a wait at their mbarrier.
fn copies_that_may_outlive_their_thread(code: &Code) -> Vec<&Instruction> {
    let blocks: Vec<_> = code.blocks().collect();
    // Whether a way from this instruction of a block leads to an end.
    let gets_to_an_end = |block: usize, behind: usize, mbarrier: u32| {
        let is_wait = |one: &Instruction| is_mbarrier_wait(one) && offset(code, one, 0) == Some(mbarrier);
        let (mut open, mut seen) = (vec![(block, behind)], BTreeSet::new());
        while let Some((block, from)) = open.pop() {
            let (instructions, successors) = blocks[block];
            if instructions[from..].iter().any(is_wait) {
                continue;
            }
            if successors.is_empty() {
                return true;
            }
            open.extend(successors.iter().filter(|next| seen.insert(**next)).map(|next| (*next, 0)));
        }
        false
    };
    let mut found = Vec::new();
    for (block, (instructions, _)) in blocks.iter().enumerate() {
        for (place, copy) in instructions.iter().enumerate().filter(|(_, one)| is_bulk(one)) {
            let mbarrier = offset(code, copy, 3).expect("the mbarrier's place is a constant");
            if gets_to_an_end(block, place + 1, mbarrier) {
                found.push(copy);
            }
        }
    }
    found
}

#[test]
fn where_a_kernel_ends_with_its_roles_the_issuing_thread_still_waits_for_each_copy() {
    let code = of_thread(one_of("bulk_ends_with_roles"), 0);
    // What ends a partition is left out here; with it this would show nothing.
    for rank in [0, 1, 33] {
        let barriers = executed(&of_thread(one_of("bulk_ends_with_roles"), rank), is_block_barrier);
        assert_eq!(barriers, [1].into(), "barriers of thread {rank}");
    }
    assert_eq!(code.instructions().find(|one| is_mbarrier_inval(one)), None);
    assert!(code.instructions().any(is_bulk));
    assert_eq!(copies_that_may_outlive_their_thread(&code), [] as [&Instruction; 0]);
    // The same where the kernel goes on.
    let code = of_thread(one_of("bulk_between_roles"), 0);
    assert_eq!(copies_that_may_outlive_their_thread(&code), [] as [&Instruction; 0]);
}
