//! Data from role to role.

use super::*;

const STAGES: usize = 3;
const TILES: usize = 20;
/// Numbers per tile.
const LEN: usize = 64;
const STAGE_BYTES: usize = LEN * 4;

/// A ring of stages between two roles: the full mbarriers from `first` on, the empty ones after
/// them, the stages at `offset`.
#[derive(Clone, Copy)]
struct Ring {
    first: usize,
    offset: usize,
}

impl Ring {
    fn begin(self, producer: Members, consumer_arrivals: u32) {
        for stage in 0..STAGES {
            init(self.first + stage, producer.count as u32);
            mbarrier_name(mbarrier(self.first + stage), "full", stage as u32);
            init(self.first + STAGES + stage, consumer_arrivals);
            mbarrier_name(mbarrier(self.first + STAGES + stage), "empty", stage as u32);
        }
    }

    fn end(self) {
        (0..2 * STAGES).for_each(|index| inval(self.first + index));
    }

    /// Waits until the tile's stage is empty and returns where it is.
    fn acquire(self, tile: usize) -> usize {
        let stage = tile % STAGES;
        wait(self.first + STAGES + stage, (tile / STAGES + 1) as u32 % 2);
        let offset = self.offset + stage * STAGE_BYTES;
        acquire(offset, STAGE_BYTES);
        offset
    }

    fn full(self, tile: usize) -> usize {
        self.first + tile % STAGES
    }

    fn empty(self, tile: usize) -> usize {
        self.full(tile) + STAGES
    }

    /// Waits until the tile is there and returns its numbers.
    fn read(self, tile: usize) -> Vec<u32> {
        wait(self.full(tile), (tile / STAGES) as u32 % 2);
        let offset = self.offset + tile % STAGES * STAGE_BYTES;
        (0..LEN).map(|index| load(offset + index * 4)).collect()
    }

    /// Copies or stores a tile, and arrives.
    fn fill(self, tile: usize, from: &[u32], by: Members, asynchronous: bool) {
        let offset = self.acquire(tile);
        for_each_member(by, |rank| {
            for index in (rank..LEN).step_by(by.count) {
                let to = offset + index * 4;
                if asynchronous { copy(to, &from[index]) } else { store(to, &from[index]) }
            }
        });
        if asynchronous {
            arrive_when_landed(self.full(tile), by);
        } else {
            arrive(self.full(tile), by);
        }
    }
}

fn numbers() -> Vec<u32> {
    (0..TILES * LEN).map(|index| index as u32 * 7 + 1).collect()
}

const FIRST: Ring = Ring { first: 0, offset: 1024 };
const SECOND: Ring = Ring { first: 2 * STAGES, offset: 1024 + STAGES * STAGE_BYTES };

#[test]
fn tiles_reach_the_consumer_in_order_over_several_laps() {
    let input = numbers();
    for (schedule, asynchronous) in schedules().into_iter().flat_map(|schedule| [(schedule, true), (schedule, false)]) {
        let mut output = Vec::new();
        let outcome = run(schedule, || {
            FIRST.begin(PRODUCER, CONSUMER.count as u32);
            let produce = || {
                for tile in 0..TILES {
                    FIRST.fill(tile, &input[tile * LEN..][..LEN], PRODUCER, asynchronous);
                }
                cp_async_wait_all();
            };
            let consume = || {
                for tile in 0..TILES {
                    output.extend(FIRST.read(tile));
                    arrive(FIRST.empty(tile), CONSUMER);
                }
                output.len()
            };
            assert_eq!(divide(((PRODUCER, produce), (CONSUMER, consume))), (Some(()), Some(TILES * LEN)));
            FIRST.end();
        });
        assert_eq!(outcome, Ok(()), "{schedule:?}, asynchronous: {asynchronous}");
        assert_eq!(output, input, "{schedule:?}, asynchronous: {asynchronous}");
    }
}

#[test]
fn three_roles_in_a_chain_hand_tiles_through() {
    let input = numbers();
    let middle = warps(2, 2);
    let last = warps(4, 1);
    for schedule in schedules() {
        let mut output = Vec::new();
        let outcome = run(schedule, || {
            FIRST.begin(PRODUCER, middle.count as u32);
            SECOND.begin(middle, last.count as u32);
            let produce = || (0..TILES).for_each(|tile| FIRST.fill(tile, &input[tile * LEN..][..LEN], PRODUCER, true));
            let double = || {
                for tile in 0..TILES {
                    let doubled: Vec<u32> = FIRST.read(tile).iter().map(|number| number * 2).collect();
                    arrive(FIRST.empty(tile), middle);
                    SECOND.fill(tile, &doubled, middle, false);
                }
            };
            let consume = || {
                for tile in 0..TILES {
                    output.extend(SECOND.read(tile));
                    arrive(SECOND.empty(tile), last);
                }
            };
            divide(((PRODUCER, produce), (middle, double), (last, consume)));
        });
        assert_eq!(outcome, Ok(()), "{schedule:?}");
        let doubled: Vec<u32> = input.iter().map(|number| number * 2).collect();
        assert_eq!(output, doubled, "{schedule:?}");
    }
}

#[test]
fn four_roles_see_one_block_and_one_scratch_memory() {
    let outcome = run(Schedule::Eager, || {
        let memory = (shared_base().addr(), scratch().addr());
        let body = || (block_index(), grid_blocks(), shared_base().addr(), scratch().addr());
        let [a, b, c, d] = [0, 1, 2, 3].map(|warp| (warps(warp, 1), body));
        let (a, b, c, d) = divide((a, b, c, d));
        assert_eq!([a, b, c, d], [Some((3, 8, memory.0, memory.1)); 4]);
    });
    assert_eq!(outcome, Ok(()));
}

#[test]
fn members_have_ranks_in_their_role_and_values_of_their_own() {
    let odd = Members { first: 1, stride: 2, count: 64 };
    let outcome = run(Schedule::Lazy, || {
        let rank_of = |rank| {
            assert_eq!(block::current_thread(), Some(1 + 2 * rank as u32));
            rank
        };
        // SAFETY: none is asked for here.
        let mut values = unsafe { PerThread::<usize, 64>::of_members(odd, rank_of) };
        // SAFETY: none is asked for here.
        unsafe { values.update_members(odd, |rank, value| *value += 100 * rank) };
        for_each_member(odd, |rank| {
            assert_eq!(block::current_thread(), Some(1 + 2 * rank as u32));
            assert_eq!(values.get(rank), 101 * rank);
        });
        assert_eq!(block::current_thread(), None);
    });
    assert_eq!(outcome, Ok(()));
}

#[test]
fn a_role_barrier_reduces_over_the_role_and_shows_its_stores() {
    let value = 5;
    let outcome = run(Schedule::Lazy, || {
        let reduce = || {
            store(1024, &value);
            assert_eq!(load(1024), POISONED, "no barrier yet");
            // SAFETY: none is asked for here.
            let one = unsafe { PerThread::<bool, 64>::of_members(PRODUCER, |rank| rank == 40) };
            // SAFETY: nothing is asked for here.
            let any = unsafe { role_barrier_any(1, PRODUCER, &one) };
            assert_eq!(load(1024), 5);
            // SAFETY: nothing is asked for here.
            let all = unsafe { role_barrier_all(1, PRODUCER, &one) };
            (any, all)
        };
        assert_eq!(divide(((PRODUCER, reduce), (CONSUMER, || ()))).0, Some((true, false)));
    });
    assert_eq!(outcome, Ok(()));
}

/// What the consumer reads after the producer has stored one number, copied another, and arrived in
/// that way.
fn seen_after(schedule: Schedule, arrivals: u32, arrive: impl FnOnce()) -> (u32, u32) {
    let (stored, copied) = (11, 22);
    let mut seen = (0, 0);
    let outcome = run(schedule, || {
        init(0, arrivals);
        let produce = || {
            store(1024, &stored);
            copy(1028, &copied);
            arrive();
        };
        let consume = || {
            wait(0, 0);
            seen = (load(1024), load(1028));
        };
        divide(((PRODUCER, produce), (CONSUMER, consume)));
    });
    assert_eq!(outcome, Ok(()));
    seen
}

#[test]
fn an_arrival_of_copies_does_not_cover_ordinary_stores() {
    for schedule in [Schedule::Lazy, Schedule::Random { seed: 1 }] {
        assert_eq!(seen_after(schedule, 64, || arrive_when_landed(0, PRODUCER)), (POISONED, 22));
    }
}

#[test]
fn an_ordinary_arrival_covers_stores_and_no_copies_under_way() {
    assert_eq!(seen_after(Schedule::Lazy, 64, || arrive(0, PRODUCER)), (11, POISONED));
}

#[test]
fn an_ordinary_arrival_covers_copies_that_were_waited_for() {
    for schedule in schedules() {
        let waits_then_arrives = || {
            cp_async_wait_all();
            arrive(0, PRODUCER);
        };
        assert_eq!(seen_after(schedule, 64, waits_then_arrives), (11, 22), "{schedule:?}");
    }
}

#[test]
fn an_arrival_of_the_first_thread_does_not_cover_what_the_others_stored() {
    assert_eq!(seen_after(Schedule::Lazy, 1, || arrive_first(0, PRODUCER)), (POISONED, POISONED));
    let behind_a_barrier = || {
        // SAFETY: nothing is asked for here.
        unsafe { role_barrier(1, PRODUCER) };
        arrive_first(0, PRODUCER);
    };
    assert_eq!(seen_after(Schedule::Lazy, 1, behind_a_barrier), (11, POISONED));
}

#[test]
fn what_roles_leave_under_way_is_the_blocks_to_wait_for() {
    let (stored, copied, arriving) = (1, 2, 3);
    let outcome = run(Schedule::Lazy, || {
        init(0, 64);
        let leaves_copies = || {
            copy(1032, &arriving);
            arrive_when_landed(0, PRODUCER);
            copy(1028, &copied);
            store(1024, &stored);
        };
        divide(((CONSUMER, || ()), (PRODUCER, leaves_copies)));
        assert_eq!([load(1024), load(1028), load(1032)], [POISONED; 3]);
        cp_async_wait_all();
        // SAFETY: nothing is asked for here.
        unsafe { barrier() };
        assert_eq!([load(1024), load(1028), load(1032)], [1, 2, 3]);
        assert!(test_wait(0, 0));
        inval(0);
    });
    assert_eq!(outcome, Ok(()));
}

#[test]
fn an_acquired_stage_is_poisoned_unless_eager() {
    let value = 9;
    for (schedule, expected) in [(Schedule::Lazy, POISONED), (Schedule::Eager, 9)] {
        let outcome = run(schedule, || {
            let role = || {
                store(1024, &value);
                // SAFETY: nothing is asked for here.
                unsafe { role_barrier(1, PRODUCER) };
                acquire(1024, 16);
                assert_eq!(load(1024), expected);
            };
            divide(((PRODUCER, role), (CONSUMER, || ())));
        });
        assert_eq!(outcome, Ok(()));
    }
}

#[test]
fn a_wait_for_groups_covers_copies_that_arrive_at_mbarriers() {
    /// No group may still be in flight.
    struct NoGroups;
    impl PendingGroups for NoGroups {
        const GROUPS: usize = 0;
    }
    let value = 4;
    for schedule in schedules() {
        let outcome = run(schedule, || {
            init(0, 64);
            let role = || {
                copy(1024, &value);
                cp_async_commit_group();
                arrive_when_landed(0, PRODUCER);
                cp_async_wait_group::<NoGroups>();
                assert_eq!(load(1024), 4);
            };
            divide(((PRODUCER, role), (CONSUMER, || wait(0, 0))));
        });
        assert_eq!(outcome, Ok(()), "{schedule:?}");
    }
}
