//! Deadlocks, panics in roles, and what the caller learns of them.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::random::Random;
use super::scheduler::Scheduler;
use super::*;

#[test]
fn a_forgotten_arrival_is_a_deadlock_that_names_both_roles() {
    let (producer, consumer) = (warps(0, 2), warps(2, 6));
    for schedule in schedules() {
        let message = message_of(schedule, || {
            init(0, 64);
            mbarrier_name(mbarrier(0), "full", 2);
            init(1, 6);
            let produce = || {
                arrive(0, producer);
                wait(1, 0);
            };
            let consume = || {
                wait(0, 0);
                wait(0, 1);
            };
            divide(((producer, produce), (consumer, consume)));
        });
        assert_eq!(
            message,
            "deadlock: role 0 (threads 0..64) waits for phase 0 of mbarrier 1 (at byte 8 of shared memory); \
             role 1 (threads 64..256) waits until stage 2 is full (phase 1 of mbarrier 0 at byte 0 of shared memory)",
            "{schedule:?}"
        );
    }
}

#[test]
fn a_role_that_ended_without_arriving_is_named_too() {
    let odd = Members { first: 1, stride: 2, count: 64 };
    let message = message_of(Schedule::Lazy, || {
        init(0, 1);
        divide(((odd, || wait(0, 0)), (PRODUCER, || ())));
    });
    assert_eq!(
        message,
        "deadlock: role 0 (64 threads from 1 on, 2 apart) waits for phase 0 of mbarrier 0 (at byte 0 of shared memory); \
         role 1 (threads 0..64) has ended"
    );
}

#[test]
fn the_block_itself_can_wait_in_vain() {
    let message = message_of(Schedule::Lazy, || {
        init(0, 1);
        wait(0, 1);
        wait(0, 0);
    });
    assert_eq!(message, "deadlock: the block waits for phase 0 of mbarrier 0 (at byte 0 of shared memory)");
}

#[test]
fn a_deadlock_unwinds_every_role_one_at_a_time() {
    /// Notes that it is dropped, and who else is just being dropped.
    struct Noted<'a>(&'a Cell<u32>, &'a Cell<bool>);
    impl Drop for Noted<'_> {
        fn drop(&mut self) {
            assert!(!self.1.replace(true), "two roles unwind at once");
            std::thread::yield_now();
            self.0.set(self.0.get() + 1);
            self.1.set(false);
        }
    }
    for schedule in schedules() {
        let (dropped, dropping) = (Cell::new(0), Cell::new(false));
        let body = || {
            let _noted = Noted(&dropped, &dropping);
            wait(0, 0);
        };
        let message = message_of(schedule, || {
            init(0, 1);
            divide(((warps(0, 1), body), (warps(1, 1), body), (warps(2, 1), body)));
        });
        assert!(message.starts_with("deadlock: role 0 (threads 0..32) waits for phase 0"), "{message}");
        assert_eq!(dropped.get(), 3);
    }
}

#[test]
fn a_panic_in_a_role_is_reported_with_its_place() {
    for schedule in schedules() {
        let line = line!() + 2;
        let panics = || {
            for_each_member(CONSUMER, |rank| assert!(rank != 5, "rank {rank} is not to be"));
        };
        let failure = run(schedule, || {
            init(0, 1);
            divide(((PRODUCER, || wait(0, 0)), (CONSUMER, panics), (warps(3, 1), || wait(0, 0))));
        })
        .expect_err("a role panics");
        assert_eq!(failure.message, "rank 5 is not to be");
        assert!(failure.file.ends_with("failures.rs"), "{}", failure.file);
        assert_eq!((failure.line, failure.block, failure.thread), (line, 3, Some(64 + 5)));
    }
}

#[test]
fn after_a_panic_the_other_roles_go_no_further_than_to_their_next_operation() {
    for schedule in schedules() {
        let went_on = Cell::new(false);
        let message = message_of(schedule, || {
            init(0, 1);
            let waits = || {
                wait(0, 0);
                went_on.set(true);
            };
            divide(((PRODUCER, waits), (CONSUMER, || panic!("the first"))));
        });
        assert_eq!(message, "the first");
        assert!(!went_on.get());
    }
}

/// Takes a step when it is dropped, and notes the message of the panic that it ends with.
struct Steps<'a, F: Fn()>(F, &'a Cell<Option<String>>);

impl<F: Fn()> Drop for Steps<'_, F> {
    fn drop(&mut self) {
        let outcome = catch_unwind(AssertUnwindSafe(&self.0));
        self.1.set(outcome.err().and_then(|payload| payload.downcast_ref::<String>().cloned()));
    }
}

/// Runs `step` in the destructor of something that a panic drops, in the block and in a role;
/// returns what each made of it.
fn steps_while_unwinding(schedule: Schedule, step: impl Fn() + Copy) -> [Option<String>; 2] {
    let (in_block, in_role) = (Cell::new(None), Cell::new(None));
    let block = || {
        let _steps = Steps(step, &in_block);
        panic!("the first");
    };
    assert_eq!(message_of(schedule, block), "the first");
    let role = || {
        init(0, 1);
        let panics = || {
            let _steps = Steps(step, &in_role);
            panic!("the first");
        };
        divide(((PRODUCER, panics), (CONSUMER, || wait(0, 0))));
    };
    assert_eq!(message_of(schedule, role), "the first");
    [in_block.take(), in_role.take()]
}

#[test]
fn a_step_of_an_unwinding_block_or_role_panics_and_the_first_panic_is_reported() {
    let steps: [(&str, fn()); 12] = [
        ("wait", || wait(0, 0)),
        ("poll", || assert!(!test_wait(0, 0))),
        ("arrive", || arrive(0, PRODUCER)),
        ("arrive when landed", || arrive_when_landed(0, PRODUCER)),
        ("init", || init(1, 1)),
        ("inval", || inval(0)),
        ("copy", || copy(2048, &1)),
        ("store", || store(2048, &1)),
        ("commit", cp_async_commit_group),
        ("wait for all", cp_async_wait_all),
        ("acquire", || acquire(2048, 16)),
        ("clock", || assert!(clock() > 0)),
    ];
    for schedule in schedules() {
        for (name, step) in steps {
            for message in steps_while_unwinding(schedule, step) {
                let message = message.unwrap_or_default();
                assert!(message.contains("a step in a destructor while"), "{name}, {schedule:?}: {message}");
            }
        }
    }
    // SAFETY: none is asked for here.
    let barriers: [fn(); 3] = [|| unsafe { barrier() }, || unsafe { warp_barrier() }, own_copies_landed];
    for barrier in barriers {
        let [message, _] = steps_while_unwinding(Schedule::Lazy, barrier);
        assert!(message.unwrap_or_default().contains("a step in a destructor while"));
    }
}

#[test]
fn a_step_in_a_destructor_without_a_panic_is_one_like_any_other() {
    let (outcome, message) = (Cell::new(None), Cell::new(None));
    let body = || {
        init(0, 1);
        drop(Steps(|| outcome.set(Some(test_wait(0, 1))), &message));
    };
    assert_eq!(run(Schedule::Lazy, body), Ok(()));
    assert_eq!((outcome.take(), message.take()), (Some(true), None));
}

#[test]
fn in_a_destructor_of_an_unwinding_thread_no_block_begins() {
    struct Runs<'a>(&'a Cell<Option<String>>);
    impl Drop for Runs<'_> {
        fn drop(&mut self) {
            self.0.set(run(Schedule::Lazy, || ()).err().map(|error| error.message));
        }
    }
    let message = Cell::new(None);
    let unwinds = catch_unwind(AssertUnwindSafe(|| {
        let _runs = Runs(&message);
        std::panic::resume_unwind(Box::new("quiet"));
    }));
    assert!(unwinds.is_err());
    assert!(message.take().is_some_and(|message| message.contains("while its OS thread unwinds")));
}

/// A panic's payload that panics when it is dropped.
struct Bad;

impl Drop for Bad {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            std::panic::panic_any(Bad);
        }
    }
}

#[test]
fn a_payload_that_panics_in_drop_is_a_failure_like_any_other() {
    for schedule in schedules() {
        assert_eq!(message_of(schedule, || std::panic::panic_any(Bad)), "a panic without a message");
        let both = || {
            // Each role fails, whether or not the other one has: what a stopped role unwinds with
            // is caught.
            let fails = || {
                let _ = catch_unwind(|| wait(0, 0));
                std::panic::panic_any(Bad);
            };
            init(0, 1);
            divide(((PRODUCER, fails), (CONSUMER, fails)));
        };
        // The first failure is that neither can go on; the payloads of their panics after it are
        // dropped.
        assert!(message_of(schedule, both).starts_with("deadlock"));
    }
}

#[test]
fn the_next_block_of_the_thread_begins_anew_after_a_failure() {
    let fails = || {
        init(0, 1);
        divide(((PRODUCER, || arrive_when_landed(0, warps(0, 2))), (CONSUMER, || wait(0, 0))));
    };
    assert!(message_of(Schedule::Lazy, fails).starts_with("more arrivals than counted"));
    let works = || {
        assert_eq!(clock(), 0);
        init(0, 64);
        divide(((PRODUCER, || arrive(0, PRODUCER)), (CONSUMER, || wait(0, 0))));
    };
    assert_eq!(run(Schedule::Lazy, works), Ok(()));
}

#[test]
fn without_an_os_thread_for_one_role_the_others_unwind_in_turn() {
    let mut scheduler = Scheduler::new();
    scheduler.begin(Schedule::Lazy, Random::new(0), 0);
    scheduler.divide(&[warps(0, 1), warps(1, 1), warps(2, 1)]);
    scheduler.remove(0);
    scheduler.stop();
    scheduler.start();
    for role in [Some(1), Some(2), None] {
        assert!(scheduler.is_stopped());
        assert_eq!(scheduler.running(), role);
        scheduler.end();
    }
}
