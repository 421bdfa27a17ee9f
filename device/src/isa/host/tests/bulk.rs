//! Bulk copies below the seam: bytes, their mbarriers, and the fences between the proxies.

use super::*;

/// What the tests copy: 256 bytes of numbers, aligned to 16.
#[repr(align(16))]
struct Source([u32; 64]);

static SOURCE: Source = {
    let mut numbers = [0; 64];
    let mut index = 0;
    while index < numbers.len() {
        numbers[index] = 1 + index as u32;
        index += 1;
    }
    Source(numbers)
};

const ALL: u32 = 256;

fn expect(index: usize, bytes: u32) {
    // SAFETY: as in `init`; the model checks the rest.
    unsafe { mbarrier_expect_tx(mbarrier(index), bytes) };
}

fn arrive_expecting(index: usize, bytes: u32) {
    // SAFETY: as in `expect`.
    unsafe { mbarrier_arrive_expect_tx(mbarrier(index), bytes) };
}

/// Starts a bulk copy of so many bytes to an offset in shared memory.
fn bulk(offset: usize, bytes: u32, index: usize) {
    // SAFETY: the source lives on, and tests copy within shared memory; the model checks the rest.
    unsafe { bulk_copy(byte(offset), SOURCE.0.as_ptr().cast(), bytes, mbarrier(index)) };
}

fn sync() {
    // SAFETY: block-level code of the tests.
    unsafe { barrier() };
}

fn read_stage(offset: usize, bytes: usize, empty: usize) {
    // SAFETY: as in `acquire`.
    unsafe { stage_read(byte(offset), bytes, mbarrier(empty)) };
}

fn landed(offset: usize) -> usize {
    (0..64).filter(|index| load(offset + 4 * index) == 1 + *index as u32).count()
}

/// One thread, for arrivals.
const ONE: Members = Members { first: 0, stride: 1, count: 1 };

#[test]
fn a_wait_sees_all_bytes_however_late_they_land() {
    for schedule in schedules() {
        let body = || {
            init(0, 1);
            for lap in 0..6 {
                expect(0, ALL);
                bulk(1024, ALL, 0);
                assert!(lap > 0 || schedule != Schedule::Lazy || landed(1024) == 0, "it lands at the wait");
                arrive(0, ONE);
                wait(0, lap % 2);
                assert_eq!(landed(1024), 64);
            }
            inval(0);
        };
        assert_eq!(run(schedule, body), Ok(()), "{schedule:?}");
    }
}

#[test]
fn an_arrival_with_the_announcement_is_over_when_the_bytes_have_landed() {
    for schedule in schedules() {
        let body = || {
            init(0, 1);
            for lap in 0..6 {
                bulk(1024, 64, 0);
                clock();
                bulk(1280, 192, 0);
                assert!(!test_wait(0, lap % 2));
                arrive_expecting(0, ALL);
                wait(0, lap % 2);
                assert_eq!((landed(1024), landed(1280)), (16, 48));
            }
            arrive_expecting(0, 0);
            wait(0, 0);
            inval(0);
        };
        assert_eq!(run(schedule, body), Ok(()), "{schedule:?}");
    }
}

#[test]
fn a_copy_after_the_arrival_may_come_after_the_phase() {
    let message = message_of(Schedule::Lazy, || {
        init(0, 1);
        arrive_expecting(0, 64);
        bulk(1024, 64, 0);
    });
    assert!(message.contains("whose phase may end before it: no arrival is left"), "{message}");
}

#[test]
fn bytes_may_land_before_they_are_announced_while_an_arrival_is_left() {
    for schedule in schedules() {
        let body = || {
            init(0, 1);
            bulk(1024, 128, 0);
            clock();
            bulk(1152, 128, 0);
            assert!(!test_wait(0, 0));
            expect(0, ALL);
            arrive(0, ONE);
            wait(0, 0);
            assert_eq!(landed(1024), 32);
        };
        assert_eq!(run(schedule, body), Ok(()), "{schedule:?}");
    }
}

#[test]
fn a_random_schedule_lands_parts_of_a_copy_at_different_times() {
    let partial = (0..64).filter(|seed| {
        let mut partial = false;
        let body = || {
            init(0, 1);
            expect(0, ALL);
            bulk(1024, ALL, 0);
            for _ in 0..6 {
                partial |= (1..64).contains(&landed(1024));
                clock();
            }
            arrive(0, ONE);
            wait(0, 0);
        };
        run(Schedule::Random { seed: *seed }, body).unwrap();
        partial
    });
    assert!(partial.count() > 16);
}

#[test]
fn a_second_announcement_of_the_same_bytes_is_never_met() {
    let message = message_of(Schedule::Lazy, || {
        init(0, 1);
        expect(0, ALL);
        expect(0, ALL);
        bulk(1024, ALL, 0);
        arrive(0, ONE);
        wait(0, 0);
    });
    assert!(message.starts_with("deadlock: the block waits for phase 0 of mbarrier 0"), "{message}");
}

#[test]
fn bytes_without_an_announcement_end_a_phase_that_is_not_theirs() {
    let message = message_of(Schedule::Eager, || {
        init(0, 1);
        expect(0, 16);
        bulk(1024, 32, 0);
        arrive(0, ONE);
        inval(0);
    });
    assert!(message.starts_with("mbarrier.inval while copies that arrive there are under way"), "{message}");
}

#[test]
fn misuse_of_sizes_addresses_and_phases() {
    let cases: [(&str, fn()); 4] = [
        ("a bulk copy of 24 bytes: its size and both addresses are multiples of 16", || bulk(1024, 24, 0)),
        ("a bulk copy of 16 bytes: its size and both addresses are multiples of 16", || bulk(1032, 16, 0)),
        ("memory of an initialised mbarrier is used again: mbarrier 0", || bulk(0, 16, 0)),
        ("cp.async.bulk where no mbarrier is initialised: at byte 8", || bulk(1024, 16, 1)),
    ];
    for (expected, misuse) in cases {
        let message = message_of(Schedule::Lazy, || {
            init(0, 1);
            misuse();
        });
        assert!(message.starts_with(expected), "{message}");
    }
    let message = message_of(Schedule::Lazy, || {
        init(0, 1);
        expect(0, 1 << 20);
    });
    assert!(message.contains("would wait for 1048576 bytes (at most 1048575)"), "{message}");
}

#[test]
fn the_end_of_an_mbarrier_waits_for_its_bytes() {
    let message = message_of(Schedule::Lazy, || {
        init(0, 1);
        expect(0, ALL);
        bulk(1024, ALL, 0);
        arrive(0, ONE);
        inval(0);
    });
    assert!(message.starts_with("mbarrier.inval while copies that arrive there are under way"), "{message}");
}

/// The message where a bulk copy goes to memory after `before`; none if it may.
fn after(before: impl Fn()) -> Option<String> {
    let body = || {
        init(0, 1);
        before();
        expect(0, 16);
        bulk(1024, 16, 0);
        arrive(0, ONE);
        wait(0, 0);
    };
    run(Schedule::Lazy, body).err().map(|panic| panic.message)
}

const PROXIES: &str =
    "race between the proxies: a bulk copy (async proxy) to memory that threads have accessed (generic proxy)";

#[test]
fn accesses_of_threads_want_a_fence_of_each_and_then_a_barrier() {
    let read = || {
        // SAFETY: the tests read this memory no more.
        unsafe { released(byte(1024), 64, Readers::Block) };
    };
    let value = 7;
    let accesses: [&dyn Fn(); 4] = [
        &read,
        &|| store(1028, &value),
        &|| {
            copy(1024, &value);
            cp_async_wait_all();
            sync();
        },
        // SAFETY: 4 bytes of shared memory that nobody else accesses.
        &|| unsafe { store_shared(byte(1024).cast(), 7_u32) },
    ];
    for access in accesses {
        let fails = |then: &dyn Fn()| {
            let message = after(|| {
                access();
                then();
            });
            message.is_some_and(|message| message.starts_with(PROXIES) || message.starts_with("race: "))
        };
        assert!(fails(&|| {}));
        assert!(fails(&sync), "a barrier alone");
        assert!(fails(&fence_proxy_async), "a fence alone");
        assert!(
            fails(&|| {
                sync();
                fence_proxy_async();
            }),
            "a fence behind the barrier"
        );
        assert!(
            fails(&|| {
                for_first_member(PRODUCER, fence_proxy_async);
                sync();
            }),
            "a fence of one thread"
        );
        assert!(!fails(&|| {
            fence_proxy_async();
            sync();
        }));
    }
}

#[test]
fn a_thread_that_issues_fences_what_it_wrote_itself() {
    let value = 7;
    assert!(
        after(|| for_first_member(ONE, || store(1024, &value))).is_some_and(|message| message.starts_with(PROXIES))
    );
    let fenced = || {
        for_first_member(ONE, || {
            store(1024, &value);
            fence_proxy_async();
        });
    };
    assert_eq!(after(fenced), None);
}

#[test]
fn a_reader_of_another_role_fences_before_it_hands_the_stage_back() {
    let hand_over = |fences: bool| {
        run(Schedule::Lazy, || {
            init(0, 1);
            init(1, 32);
            let fill = || {
                for lap in 0..2 {
                    wait(1, 1 ^ lap);
                    expect(0, ALL);
                    bulk(1024, ALL, 0);
                    arrive(0, ONE);
                }
                wait(0, 1);
            };
            let read = || {
                wait(0, 0);
                read_stage(1024, ALL as usize, 1);
                assert_eq!(landed(1024), 64);
                if fences {
                    fence_proxy_async();
                }
                arrive(1, CONSUMER);
            };
            divide(((PRODUCER, fill), (CONSUMER, read)));
        })
    };
    assert_eq!(hand_over(true), Ok(()));
    let message = hand_over(false).expect_err("a race").message;
    assert!(message.starts_with(PROXIES), "{message}");
}

#[test]
fn a_wait_for_copies_of_threads_lands_no_bulk_copy() {
    let body = || {
        init(0, 1);
        expect(0, ALL);
        bulk(1024, ALL, 0);
        cp_async_wait_all();
        sync();
        assert_eq!(landed(1024), 0);
        arrive(0, ONE);
        wait(0, 0);
        assert_eq!(landed(1024), 64);
    };
    assert_eq!(run(Schedule::Lazy, body), Ok(()));
}
