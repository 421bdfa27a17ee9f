//! Deadlocks, panics in roles, and what the caller learns of them.

use std::cell::Cell;

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

#[test]
fn operations_of_an_unwinding_role_do_nothing() {
    /// Synchronises when it is dropped.
    struct Arrives;
    impl Drop for Arrives {
        fn drop(&mut self) {
            arrive(0, PRODUCER);
            wait(0, 1);
            wait(7, 0);
        }
    }
    let message = message_of(Schedule::Lazy, || {
        init(0, 1);
        let panics = || {
            let _arrives = Arrives;
            panic!("the first");
        };
        divide(((PRODUCER, panics), (CONSUMER, || wait(0, 0))));
    });
    assert_eq!(message, "the first");
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
