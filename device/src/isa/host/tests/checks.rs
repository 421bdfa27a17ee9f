//! Misuse of mbarriers and roles, and the message that names the rule.

use super::*;

/// Runs two roles after the initialisation of mbarrier 0, which counts 64 arrivals, and returns the
/// message they fail with.
#[track_caller]
fn fails(schedule: Schedule, first: impl FnOnce(), second: impl FnOnce()) -> String {
    message_of(schedule, || {
        init(0, 64);
        mbarrier_name(mbarrier(0), "full", 2);
        divide(((PRODUCER, first), (CONSUMER, second)));
    })
}

#[track_caller]
fn assert_starts(message: &str, expected: &str) {
    assert!(message.starts_with(expected), "got: {message}");
}

#[test]
fn more_arrivals_than_the_phase_counts() {
    let message = fails(Schedule::Lazy, || arrive(0, warps(0, 3)), || ());
    assert_starts(
        &message,
        "more arrivals than counted at mbarrier 0 (`full` of stage 2, at byte 0 of shared memory): 96 by",
    );
}

#[test]
fn an_arrival_in_the_place_of_one_that_copies_under_way_will_make() {
    let both = || {
        arrive_when_landed(0, PRODUCER);
        arrive(0, PRODUCER);
    };
    assert_starts(&fails(Schedule::Lazy, both, || ()), "more arrivals than counted at mbarrier 0");
}

#[test]
fn operations_where_no_mbarrier_is_initialised() {
    let where_none = "where no mbarrier is initialised: at byte 8 of shared memory";
    let operations: [(&str, fn()); 5] = [
        ("mbarrier.arrive", || arrive(1, PRODUCER)),
        ("cp.async.mbarrier.arrive", || arrive_when_landed(1, PRODUCER)),
        ("mbarrier.test_wait", || wait(1, 0)),
        ("mbarrier.test_wait", || assert!(test_wait(1, 0))),
        ("mbarrier.inval", || inval(1)),
    ];
    for (name, operation) in operations {
        assert_eq!(fails(Schedule::Lazy, operation, || ()), format!("{name} {where_none}"));
        assert_eq!(message_of(Schedule::Lazy, operation), format!("{name} {where_none}"), "in block-level code");
    }
}

#[test]
fn an_mbarrier_after_its_invalidation_is_none() {
    let message = message_of(Schedule::Lazy, || {
        init(0, 1);
        inval(0);
        arrive_first(0, PRODUCER);
    });
    assert_starts(&message, "mbarrier.arrive where no mbarrier is initialised");
}

#[test]
fn initialisation_of_an_initialised_mbarrier() {
    let twice = || {
        init(1, 2);
        init(1, 2);
    };
    let expected = "mbarrier.init of an mbarrier that is already initialised: mbarrier 0 (at byte 8 of shared memory)";
    assert_eq!(message_of(Schedule::Eager, twice), expected);
    let again = || {
        init(1, 2);
        inval(1);
        init(1, 2);
    };
    assert_eq!(run(Schedule::Eager, again), Ok(()));
}

#[test]
fn an_mbarrier_counts_at_least_one_arrival_and_is_aligned() {
    assert_starts(&message_of(Schedule::Eager, || init(0, 0)), "mbarrier.init with 0 arrivals");
    // SAFETY: the model refuses it.
    let askew = || unsafe { mbarrier_init(byte(4).cast(), 1) };
    assert_starts(&message_of(Schedule::Eager, askew), "mbarrier.init at an address that is no multiple of 8");
}

#[test]
fn invalidation_while_an_arrival_of_copies_is_pending() {
    let message = fails(
        Schedule::Lazy,
        || {
            arrive_when_landed(0, PRODUCER);
            inval(0);
        },
        || (),
    );
    assert_starts(&message, "mbarrier.inval while copies that arrive there are under way: mbarrier 0");
}

#[test]
fn invalidation_while_a_role_waits() {
    // Eager: the baton goes on after each operation, so that the second role waits before the first
    // one's second.
    let message = fails(
        Schedule::Eager,
        || {
            clock();
            inval(0);
        },
        || wait(0, 0),
    );
    assert_starts(&message, "mbarrier.inval while a role waits there: mbarrier 0 (`full` of stage 2");
}

#[test]
fn memory_of_an_mbarrier_used_again() {
    let stage = fails(Schedule::Lazy, || acquire(0, 64), || wait(0, 0));
    assert_starts(&stage, "memory of an initialised mbarrier is used again: mbarrier 0");
    let value = 1;
    let copied = message_of(Schedule::Lazy, || {
        init(0, 1);
        copy(4, &value);
    });
    assert_starts(&copied, "memory of an initialised mbarrier is used again: mbarrier 0");
    let stored = message_of(Schedule::Lazy, || {
        init(0, 1);
        store(0, &value);
    });
    assert_starts(&stored, "memory of an initialised mbarrier is used again: mbarrier 0");
}

#[test]
fn a_stage_acquired_while_copies_into_it_are_under_way() {
    let value = 1;
    let early = || {
        copy(1040, &value);
        arrive_when_landed(0, PRODUCER);
        acquire(1024, 16);
        acquire(1040, 16);
    };
    assert_eq!(fails(Schedule::Lazy, early, || ()), "race: a stage is filled again while copies into it are under way");
}

#[test]
fn a_stage_outside_of_shared_memory() {
    let message = message_of(Schedule::Lazy, || acquire(4088, 16));
    assert_eq!(message, "a stage outside of the block's shared memory");
}

#[test]
fn a_barrier_of_the_block_inside_a_role() {
    // SAFETY: the model refuses it.
    let message = fails(Schedule::Lazy, || unsafe { barrier() }, || ());
    assert_starts(&message, "a barrier of the whole block inside a role");
}

#[test]
fn a_role_barrier_of_the_blocks_barrier_or_of_half_a_warp() {
    // SAFETY: the model refuses it.
    let zero = || unsafe { role_barrier(0, PRODUCER) };
    assert_starts(&fails(Schedule::Lazy, zero, || ()), "barrier.sync 0 in a role");
    // SAFETY: the model refuses it.
    let half = || unsafe { role_barrier(1, Members { first: 0, stride: 1, count: 16 }) };
    assert_starts(&fails(Schedule::Lazy, half, || ()), "barrier.sync of 16 threads");
}

#[test]
fn roles_inside_roles() {
    let nested = || {
        divide(((PRODUCER, || ()), (CONSUMER, || ())));
    };
    assert_eq!(fails(Schedule::Lazy, nested, || ()), "a block divided into roles inside a role: roles don't nest");
}

#[test]
#[should_panic(expected = "a block divided into roles outside a kernel")]
fn roles_outside_of_a_kernel() {
    divide(((PRODUCER, || ()), (CONSUMER, || ())));
}
