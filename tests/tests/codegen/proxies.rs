//! Copies by the copy engine, thread by thread: what comes before what where one thread, or one
//! piece of memory, changes from ordinary accesses to bulk copies.

use std::collections::BTreeSet;

use tilepipe_tests::flow::{Code, Instruction};
use tilepipe_tests::ptx::{
    is_arrival, is_block_barrier, is_mbarrier_init, is_mbarrier_inval, is_mbarrier_wait, is_shared_store,
};

use crate::bulk::{checked, is_bulk, is_expect, is_fence, is_init_fence, of_thread, offset, one_of, operand};
use crate::kernel::Kernel;

/// A kind of instructions, with its name.
type Kind = (fn(&Instruction) -> bool, &'static str);

const INIT: Kind = (is_mbarrier_init, "init");
const INIT_FENCE: Kind = (is_init_fence, "init fence");
const FENCE: Kind = (is_fence, "fence");
const BARRIER: Kind = (is_block_barrier, "barrier");
/// Before `EXPECT` and `ARRIVE`, both of which it is.
const ARRIVE_WITH_BYTES: Kind = (|one| is_expect(one) && is_arrival(one), "announce and arrive");
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
fn the_end_of_a_view_is_stored_fenced_and_then_announced_and_arrived_for() {
    const ARRIVE: &str = ARRIVE_WITH_BYTES.1;
    let ways = ways(&of_thread(one_of("bulk_tile"), 0), &[FENCE, ARRIVE_WITH_BYTES, EXPECT, STORE, self::ARRIVE]);
    let of = |steps: &[&str]| steps.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>();
    let (whole, ragged) = (of(&["fence", ARRIVE]), of(&["fence", "store", "fence", ARRIVE]));
    assert!(ways.contains(&whole) && ways.contains(&ragged), "{ways:?}");
    for way in ways {
        // Both a store and the fence follow from how the view ends: what has no fence is no way.
        let of_fill: Vec<&str> = way[1..].iter().map(String::as_str).filter(|step| *step != "fence").collect();
        assert!([&[ARRIVE][..], &["store", ARRIVE]].contains(&&of_fill[..]), "{way:?}");
        let place = |wanted: &str| way.iter().rposition(|step| step == wanted);
        assert!(place("fence") < place(ARRIVE), "{way:?}");
        assert!(place("store").is_none() || place("fence") == Some(0) || place("fence") > place("store"), "{way:?}");
    }
    let other = of_thread(one_of("bulk_tile"), 1);
    assert_eq!(other.instructions().find(|one| is_shared_store(one)), None, "another thread stores");
}

#[test]
fn all_copies_of_a_stage_complete_at_the_mbarrier_that_its_readers_wait_for() {
    let kinds = [INIT, ARRIVE_WITH_BYTES, EXPECT, COPY, ARRIVE, WAIT, INVAL];
    let place = |code: &Code, one: &Instruction| match kind(&kinds, one) {
        Some("copy") => offset(code, one, 3),
        // The first operand is what the arrival returns.
        Some("announce and arrive") => offset(code, one, 1),
        _ => offset(code, one, 0),
    };
    // The first byte behind the stages, of 512 and 64 bytes each.
    let [first, second] = [1152, 1160].map(Some);
    let fill = |at| [("copy", at), ("copy", at), ("announce and arrive", at)];
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
    let kinds = [INIT, INIT_FENCE, FENCE, BARRIER, ARRIVE_WITH_BYTES, EXPECT, COPY, ARRIVE, WAIT, INVAL];
    let (begin, fill) = (["init", "init fence", "fence", "barrier"], ["copy", "announce and arrive"]);
    let end = ["wait", "barrier", "inval", "barrier"];
    let once = [&begin[..], &fill, &end].concat();
    let expected = |once: &[&str]| BTreeSet::from([once.repeat(2).into_iter().map(str::to_owned).collect::<Vec<_>>()]);
    assert_eq!(ways(&of_thread(one_of("bulk_twice"), 0), &kinds), expected(&once));
    // The last barrier of one pipeline and the fence of the next: other threads end no mbarriers.
    assert_eq!(ways(&of_thread(one_of("bulk_twice"), 1), &kinds), expected(&["fence", "barrier", "wait", "barrier"]));
}

/// The kernels with roles, and whether a role fills or reads by hand.
const OF_ROLES: [(&str, bool); 3] =
    [("bulk_between_roles", true), ("bulk_gap_between_roles", true), ("bulk_driven_between_roles", false)];

#[test]
fn memory_of_roles_is_used_again_after_all_have_met_and_the_mbarriers_have_ended() {
    let kinds = [BARRIER, ARRIVE, WAIT, INVAL];
    for (name, by_hand) in OF_ROLES {
        for way in ways(&of_thread(one_of(name), 0), &kinds) {
            let (before, end) = way.split_at(way.len() - 3);
            assert_eq!(end, ["barrier", "inval", "barrier"], "{name}: {way:?}");
            // A role that fills waits for what it has handed over, if nobody is sure to have.
            let last = before.last().map(String::as_str);
            assert!(!by_hand || last == Some("wait"), "{name}: {way:?}");
        }
        for rank in [0, 1, 33] {
            let barriers = of_thread(one_of(name), rank).executions(is_block_barrier, |one| one.is("ret"));
            assert_eq!(barriers, [3].into(), "{name}: barriers of thread {rank}");
        }
        assert_eq!(of_thread(one_of(name), 33).instructions().find(|one| is_mbarrier_inval(one)), None, "{name}");
    }
}

/// The word by which the producers close the stage of a pipeline between roles whose one stage has
/// 512 bytes.
const CLOSED_BY_PRODUCERS: u32 = 544;
/// The same of the consumers.
const CLOSED_BY_CONSUMERS: u32 = 548;
/// The word that says whether the stage has a tile.
const PRESENT: u32 = 560;

#[test]
fn the_thread_that_issues_writes_the_words_of_a_stage_and_then_arrives() {
    let code = one_of("bulk_gap_between_roles");
    let kinds = [BARRIER, EXPECT, COPY, STORE, FENCE, ARRIVE];
    let steps_of = |rank| {
        let code = of_thread(code, rank);
        let pick = |one: &Instruction| {
            let name = kind(&kinds, one)?;
            Some(if name == "store" { format!("store {:?}", offset(&code, one, 0)) } else { name.to_owned() })
        };
        let all = code.traces(pick, |one| one.is("ret"));
        // Of the roles alone: between the first barrier and the next.
        let of_role = |way: &Vec<String>| {
            let steps = way.iter().skip_while(|step| *step != "barrier").skip(1);
            steps.take_while(|step| *step != "barrier").cloned().collect::<Vec<_>>()
        };
        all.iter().map(of_role).collect::<BTreeSet<_>>()
    };
    let of = |steps: &[&str]| steps.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>();
    let store = |word: u32| format!("store {:?}", Some(word));
    let (present, closed, left) = (store(PRESENT), store(CLOSED_BY_PRODUCERS), store(CLOSED_BY_CONSUMERS));
    let (filled, empty) = (["copy", "announce", present.as_str(), "arrive"], [present.as_str(), "arrive"]);
    let close = [closed.as_str(), "arrive"];
    // The consumers may have left before the first stage, or before the one that closes.
    let expected = [
        of(&[]),
        of(&close),
        of(&filled),
        of(&empty),
        [of(&filled), of(&close)].concat(),
        [of(&empty), of(&close)].concat(),
    ];
    let (first, another) = (steps_of(0), steps_of(1));
    assert!(expected[2..].iter().all(|way| first.contains(way)), "{first:?}");
    assert!(first.iter().all(|way| expected.contains(way)), "{first:?}");
    assert!(another.iter().flatten().all(|step| step == "arrive"), "another producer: {another:?}");
    // Of the consumers the first one closes, with a fence of each before its arrival.
    let (first, another) = (steps_of(32), steps_of(33));
    assert!(first.contains(&of(&["fence", "arrive", left.as_str(), "fence", "arrive"])), "{first:?}");
    assert!(another.iter().flatten().all(|step| step == "fence" || step == "arrive"), "another consumer: {another:?}");
}

#[test]
fn arrivals_release_what_a_thread_has_stored_and_waits_acquire_it() {
    // Zeros and the end of a view are stored by the thread that issues: the copies' bytes order
    // nothing but the copies. An arrival and a wait that don't say otherwise release and acquire
    // (PTX "mbarrier.arrive", "mbarrier.try_wait").
    let of_tests = checked().into_iter().flat_map(Kernel::of_tests_named);
    let mut looked_at = 0;
    for kernel in of_tests.chain(Kernel::of_bulk_copies()) {
        let orders_nothing = |one: &&Instruction| one.is("mbarrier") && one.has("relaxed") && !is_expect(one);
        let found = kernel.entry.code.instructions().find(orders_nothing);
        assert_eq!(found, None, "{}", kernel.name());
        for one in kernel.entry.code.instructions().filter(|one| is_arrival(one)) {
            let opcodes = ["mbarrier.arrive.shared.b64", "mbarrier.arrive.expect_tx.shared::cta.b64"];
            assert!(opcodes.contains(&&*one.opcode), "{}: {}", kernel.name(), one.opcode);
            looked_at += 1;
        }
    }
    assert!(looked_at > 30, "{looked_at}");
}
