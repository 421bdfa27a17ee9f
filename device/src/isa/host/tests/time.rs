//! The order in which roles run, polls, and virtual time.

use std::cell::RefCell;

use super::*;

#[test]
fn time_starts_at_0_and_every_operation_takes_a_microsecond() {
    let operations = || {
        assert_eq!(clock(), 0);
        assert_eq!(clock(), 1_000);
        init(0, 64);
        arrive(0, PRODUCER);
        assert_eq!(clock(), 4_000);
    };
    for schedule in schedules() {
        assert_eq!(run(schedule, operations), Ok(()), "{schedule:?}");
    }
}

/// Polls mbarrier 0 for a phase that never ends, until `limit` nanoseconds are over, and returns
/// how often.
fn poll_for(limit: u64) -> u32 {
    let deadline = clock() + limit;
    let mut polls = 0;
    while !test_wait(0, 0) && clock() < deadline {
        polls += 1;
    }
    polls
}

#[test]
fn a_timed_wait_of_seconds_ends_after_a_few_dozen_polls() {
    for schedule in schedules() {
        let outcome = run(schedule, || {
            init(0, 1);
            init(1, 1);
            let times_out = || {
                let polls = poll_for(10_000_000_000);
                arrive_first(1, PRODUCER);
                polls
            };
            let (polls, _) = divide(((PRODUCER, times_out), (CONSUMER, || wait(1, 0))));
            assert!(polls.is_some_and(|polls| (20..60).contains(&polls)), "{polls:?} polls");
            assert!((20..60).contains(&poll_for(10_000_000_000)), "in block-level code");
        });
        assert_eq!(outcome, Ok(()), "{schedule:?}");
    }
}

#[test]
fn two_roles_that_poll_in_vain_both_time_out() {
    for schedule in schedules() {
        let outcome = run(schedule, || {
            init(0, 1);
            let times_out = || poll_for(3_000_000_000);
            let (first, second) = divide(((PRODUCER, times_out), (CONSUMER, times_out)));
            assert!(first.unwrap() + second.unwrap() < 200);
        });
        assert_eq!(outcome, Ok(()), "{schedule:?}");
    }
}

#[test]
fn time_does_not_leap_while_another_role_can_go_on() {
    for schedule in schedules() {
        let outcome = run(schedule, || {
            init(0, 1);
            let works = || {
                for _ in 0..50 {
                    // SAFETY: nothing is asked for here.
                    unsafe { role_barrier(1, CONSUMER) };
                }
                arrive_first(0, CONSUMER);
            };
            let polls = || while !test_wait(0, 0) {};
            divide(((PRODUCER, polls), (CONSUMER, works)));
            assert!(clock() < 1_000_000, "a leap of time");
        });
        assert_eq!(outcome, Ok(()), "{schedule:?}");
    }
}

#[test]
fn a_role_that_polls_sees_copies_land() {
    let value = 6;
    for schedule in schedules() {
        let outcome = run(schedule, || {
            init(0, 64);
            init(1, 1);
            let produce = || {
                copy(1024, &value);
                arrive_when_landed(0, PRODUCER);
                wait(1, 0);
            };
            let poll = || {
                while !test_wait(0, 0) {}
                arrive_first(1, CONSUMER);
                load(1024)
            };
            assert_eq!(divide(((PRODUCER, produce), (CONSUMER, poll))).1, Some(6));
        });
        assert_eq!(outcome, Ok(()), "{schedule:?}");
    }
}

#[test]
fn lazy_copies_land_when_every_role_is_blocked_or_their_issuer_waits_for_them() {
    let value = 6;
    let outcome = run(Schedule::Lazy, || {
        init(0, 64);
        let produce = || {
            copy(1024, &value);
            arrive_when_landed(0, PRODUCER);
            assert!((0..100).all(|_| clock() < 1_000_000));
            assert_eq!(load(1024), POISONED);
            cp_async_wait_all();
            assert_eq!(load(1024), 6);
            assert!(test_wait(0, 0));
        };
        divide(((PRODUCER, produce), (CONSUMER, || wait(0, 0))));
    });
    assert_eq!(outcome, Ok(()));
}

/// Who ran when: three roles that each do six operations.
fn order(schedule: Schedule, rounds: usize) -> String {
    let order = RefCell::new(String::new());
    let body = |name: char| {
        let order = &order;
        move || {
            for _ in 0..6 {
                order.borrow_mut().push(name);
                clock();
            }
        }
    };
    let outcome = run(schedule, || {
        for _ in 0..rounds {
            divide(((warps(0, 1), body('a')), (warps(1, 1), body('b')), (warps(2, 1), body('c'))));
        }
    });
    assert_eq!(outcome, Ok(()));
    order.into_inner()
}

#[test]
fn eager_hands_the_baton_round_and_lazy_keeps_it() {
    assert_eq!(order(Schedule::Eager, 1), "abcabcabcabcabcabc");
    assert_eq!(order(Schedule::Lazy, 1), "aaaaaabbbbbbcccccc");
}

#[test]
fn lazy_hands_the_baton_to_the_role_that_has_waited_longest() {
    let order = RefCell::new(String::new());
    let noted = |name| order.borrow_mut().push(name);
    let outcome = run(Schedule::Lazy, || {
        init(0, 1);
        init(1, 1);
        let a = || {
            noted('a');
            wait(0, 0);
            noted('a');
            arrive_first(1, PRODUCER);
        };
        let b = || {
            noted('b');
            arrive_first(0, CONSUMER);
            wait(1, 0);
            noted('b');
        };
        divide(((PRODUCER, a), (CONSUMER, b), (warps(3, 1), || noted('c'))));
    });
    assert_eq!(outcome, Ok(()));
    assert_eq!(order.into_inner(), "abcab", "when the second waits, the third has never run");
}

#[test]
fn random_orders_are_the_same_for_the_same_seed_and_differ_between_seeds() {
    let orders: Vec<String> = (0..16).map(|seed| order(Schedule::Random { seed }, 2)).collect();
    for (seed, first) in orders.iter().enumerate() {
        assert_eq!(*first, order(Schedule::Random { seed: seed as u64 }, 2), "seed {seed}");
    }
    let mut distinct = orders.clone();
    distinct.sort();
    distinct.dedup();
    assert!(distinct.len() > 8, "{orders:?}");
    assert!(orders.iter().any(|order| order.starts_with('b') || order.starts_with('c')));
    assert!(
        orders.iter().any(|order| order[..18] != order[18..]),
        "the second division goes on with the same sequence"
    );
}

#[test]
fn copies_of_roles_land_at_the_same_moments_for_the_same_seed_and_differ_between_roles() {
    let value = 3;
    let landed = |seed| {
        let mut early = (Vec::new(), Vec::new());
        let outcome = run(Schedule::Random { seed }, || {
            let copies = |offset: usize, early: &mut Vec<bool>| {
                for index in 0..64 {
                    copy(offset + index * 4, &value);
                    early.push(load(offset + index * 4) == 3);
                }
            };
            let (first, second) = (&mut early.0, &mut early.1);
            divide(((PRODUCER, || copies(1024, first)), (CONSUMER, || copies(2048, second))));
        });
        assert_eq!(outcome, Ok(()));
        early
    };
    let (first, second) = landed(3);
    assert_eq!((first.clone(), second.clone()), landed(3));
    assert_ne!(first, second);
}
