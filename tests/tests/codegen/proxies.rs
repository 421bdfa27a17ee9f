//! Copies by the copy engine, thread by thread: what comes before what where one thread, or one
//! piece of memory, changes from ordinary accesses to bulk copies.

use std::collections::BTreeSet;

use tilepipe_tests::flow::{Code, Instruction};
use tilepipe_tests::ptx::{
    is_arrival, is_block_barrier, is_mbarrier_init, is_mbarrier_inval, is_mbarrier_wait, is_shared_store,
};

use crate::bulk::{is_bulk, is_expect, is_fence, is_init_fence, of_thread, offset, one_of, operand};

/// A kind of instructions, with its name.
type Kind = (fn(&Instruction) -> bool, &'static str);

const INIT: Kind = (is_mbarrier_init, "init");
const INIT_FENCE: Kind = (is_init_fence, "init fence");
const FENCE: Kind = (is_fence, "fence");
const BARRIER: Kind = (is_block_barrier, "barrier");
const EXPECT: Kind = (is_expect, "announce");
const COPY: Kind = (is_bulk, "copy");
const STORE: Kind = (is_shared_store, "store");
const ARRIVE: Kind = (is_arrival, "arrive");
const WAIT: Kind = (is_mbarrier_wait, "wait");
const INVAL: Kind = (is_mbarrier_inval, "inval");

fn kind<'a>(kinds: &'a [Kind], one: &Instruction) -> Option<&'a str> {
    kinds.iter().find(|(is, _)| is(one)).map(|(_, name)| *name)
}

/// What a thread executes of these kinds, on each way; equal ones in a row are one.
fn ways(code: &Code, kinds: &[Kind]) -> BTreeSet<Vec<String>> {
    code.traces(|one| kind(kinds, one).map(str::to_owned), |one| one.is("ret"))
}

#[test]
fn the_end_of_a_view_is_announced_stored_fenced_and_then_arrived_for() {
    let ways = ways(&of_thread(one_of("bulk_tile"), 0), &[FENCE, EXPECT, STORE, ARRIVE]);
    let of = |steps: &[&str]| steps.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>();
    let (whole, ragged) =
        (of(&["fence", "announce", "arrive"]), of(&["fence", "announce", "store", "fence", "arrive"]));
    assert!(ways.contains(&whole) && ways.contains(&ragged), "{ways:?}");
    for way in ways {
        // Both a store and the fence follow from how the view ends: what has no fence is no way.
        let of_fill: Vec<&str> = way[1..].iter().map(String::as_str).filter(|step| *step != "fence").collect();
        assert!([&["announce", "arrive"][..], &["announce", "store", "arrive"]].contains(&&of_fill[..]), "{way:?}");
        let place = |wanted: &str| way.iter().rposition(|step| step == wanted);
        assert!(place("fence") < place("arrive"), "{way:?}");
        assert!(place("store").is_none() || place("fence") == Some(0) || place("fence") > place("store"), "{way:?}");
    }
    let other = of_thread(one_of("bulk_tile"), 1);
    assert_eq!(other.instructions().find(|one| is_shared_store(one)), None, "another thread stores");
}

#[test]
fn all_copies_of_a_stage_complete_at_the_mbarrier_that_its_readers_wait_for() {
    let kinds = [INIT, EXPECT, COPY, ARRIVE, WAIT, INVAL];
    let place = |code: &Code, one: &Instruction| match kind(&kinds, one) {
        Some("copy") => offset(code, one, 3),
        // The first operand is what the arrival returns.
        Some("arrive") => offset(code, one, 1),
        _ => offset(code, one, 0),
    };
    // The first byte behind the stages, of 512 and 64 bytes each.
    let [first, second] = [1152, 1160].map(Some);
    let fill = |at| [("announce", at), ("copy", at), ("copy", at), ("arrive", at)];
    let both = |what| [(what, first), (what, second)];
    let expected =
        [&both("init")[..], &fill(first), &fill(second), &[("wait", first)], &both("wait"), &both("inval")].concat();
    let code = of_thread(one_of("bulk_two_stages"), 0);
    let steps: Vec<_> = code.instructions().filter_map(|one| Some((kind(&kinds, one)?, place(&code, one)))).collect();
    assert_eq!(steps, expected);
}

#[test]
fn a_phase_counts_the_issuing_thread_alone_and_between_roles_each_thread_of_the_other_end() {
    // Of a pipeline by hand: decisions of either end, then `full` and `empty` of the one stage.
    for (kernel, counts) in [
        ("bulk_fill", &[1][..]),
        ("bulk_two_stages", &[1, 1]),
        ("bulk_of_warps", &[1]),
        ("bulk_between_roles", &[32, 96, 32, 96]),
        ("bulk_driven_between_roles", &[1, 96, 1, 96]),
    ] {
        let code = one_of(kernel);
        let inits: Vec<_> = code.instructions().filter(|one| is_mbarrier_init(one)).collect();
        let found: Vec<Option<u32>> = inits.into_iter().map(|one| operand(code, one, 1)).collect();
        assert_eq!(found, counts.iter().copied().map(Some).collect::<Vec<_>>(), "{kernel}");
    }
}

#[test]
fn the_copy_engine_knows_mbarriers_of_roles_before_the_block_meets() {
    for name in ["bulk_between_roles", "bulk_driven_between_roles"] {
        let kinds = [INIT, INIT_FENCE, FENCE, BARRIER, COPY];
        let begins = |rank, with: &[&str]| {
            for way in ways(&of_thread(one_of(name), rank), &kinds) {
                assert_eq!(&way[..with.len()], with, "{name}: thread {rank} of {way:?}");
            }
        };
        begins(0, &["init", "init fence", "fence", "barrier"]);
        begins(33, &["fence", "barrier"]);
    }
}

#[test]
fn memory_is_used_again_after_its_mbarriers_ended_and_a_fence_of_each_thread() {
    let kinds = [INIT, INIT_FENCE, FENCE, BARRIER, EXPECT, COPY, ARRIVE, WAIT, INVAL];
    let (begin, fill) = (["init", "init fence", "fence", "barrier"], ["announce", "copy", "arrive"]);
    let end = ["wait", "barrier", "inval", "barrier"];
    let once = [&begin[..], &fill, &end].concat();
    let expected = |once: &[&str]| BTreeSet::from([once.repeat(2).into_iter().map(str::to_owned).collect::<Vec<_>>()]);
    assert_eq!(ways(&of_thread(one_of("bulk_twice"), 0), &kinds), expected(&once));
    // The last barrier of one pipeline and the fence of the next: other threads end no mbarriers.
    assert_eq!(ways(&of_thread(one_of("bulk_twice"), 1), &kinds), expected(&["fence", "barrier", "wait", "barrier"]));
}
