//! Bulk stores below the seam: when the engine reads its sources and writes, and what must come
//! before and after.

use core::ptr::null;

use super::*;
use crate::isa::{BoxShape, PendingGroups, RawTensor};

/// So many groups may be in flight.
enum But<const GROUPS: usize> {}

impl<const GROUPS: usize> PendingGroups for But<GROUPS> {
    const GROUPS: usize = GROUPS;
}

/// Rows of 32 bytes, swizzled within 256.
const SHAPE: BoxShape = BoxShape { dimensions: 2, extents: [8, 4, 1, 1, 1], element: 4, mask: 1 };
const BYTES: usize = 128;
/// Rows and elements of a row of the tensor, and elements from one row's start to the next one's.
const TENSOR: [usize; 3] = [6, 13, 16];
const NOTHING: u32 = 7;

/// Runs `body`, which may store to the tensor; returns what it holds in the end.
fn with_tensor(schedule: Schedule, body: impl FnOnce(&RawTensor, *const u32)) -> (Result<(), KernelPanic>, Vec<u32>) {
    let [rows, columns, pitch] = TENSOR;
    let mut memory = vec![NOTHING; rows * pitch];
    let first = memory.as_mut_ptr();
    let mut map = [0; 16];
    (map[0], map[1]) = (first as u64, 4 * pitch as u64);
    let tensor = RawTensor { map, rows: rows as u32, columns: columns as u32, outer: [1; 3], reserved: [0; 11] };
    let result = run(schedule, || body(&tensor, first));
    (result, memory)
}

/// What the store of row and column `at` of numbers from `first` on leaves in the tensor.
fn expected(at: [i32; 2], first: u32) -> Vec<u32> {
    let [rows, columns, pitch] = TENSOR;
    let mut memory = vec![NOTHING; rows * pitch];
    for (index, value) in (0..32).zip(first..) {
        let (row, column) = (at[0] + index / 8, at[1] + index % 8);
        // The engine writes the piece in which a row ends as a whole.
        if (0..rows as i32).contains(&row) && (0..columns.next_multiple_of(4) as i32).contains(&column) {
            memory[row as usize * pitch + column as usize] = value;
        }
    }
    memory
}

/// Writes the numbers from `first` on to the tile at an offset of shared memory, as threads do.
fn fill(offset: usize, first: u32) {
    for (index, value) in (0..32).zip(first..) {
        let place = byte(offset + crate::isa::swizzled(4 * index, 1));
        // SAFETY: 4 bytes in shared memory, aligned to 4.
        unsafe { store_shared(place.cast(), value) };
    }
}

/// Stores the tile at an offset, in a group of its own.
fn send(tensor: &RawTensor, at: [i32; 2], offset: usize) {
    // SAFETY: the tile lies in shared memory and the tensor lives on; the model checks the rest.
    unsafe { tensor_store(tensor, [at[1], at[0], 0, 0, 0], byte(offset), SHAPE) };
    bulk_commit_group();
}

fn sync() {
    // SAFETY: block-level code of the tests.
    unsafe { barrier() };
}

/// Fills a tile, as one must, and stores it.
fn publish(tensor: &RawTensor, at: [i32; 2], offset: usize, first: u32) {
    fill(offset, first);
    fence_proxy_async();
    sync();
    send(tensor, at, offset);
}

#[test]
fn a_box_is_stored_where_it_lies_in_the_tensor() {
    for schedule in schedules() {
        for at in [[0, 0], [1, 4], [3, 8], [5, 12], [6, 0], [0, 16]] {
            let (result, memory) = with_tensor(schedule, |tensor, _| {
                publish(tensor, at, 1024, 100);
                bulk_wait_group_read::<But<0>>();
            });
            assert_eq!((result, memory), (Ok(()), expected(at, 100)), "{schedule:?}, {at:?}");
        }
    }
}

#[test]
fn a_box_that_the_engine_would_fail_at_is_refused() {
    let message = |at| {
        let (result, _) = with_tensor(Schedule::Lazy, |tensor, _| publish(tensor, at, 1024, 100));
        result.err().map(|panic| panic.message)
    };
    let between = "the copy engine begins no box at column 6: it is no multiple of 4";
    assert_eq!(message([0, 6]).as_deref(), Some(between));
    for at in [[-1, 0], [0, -4]] {
        let before =
            format!("the copy engine stores no box from {:?} on: it begins before the tensor", [at[1], at[0], 0, 0, 0]);
        assert_eq!(message(at), Some(before));
    }
}

#[test]
fn a_wait_for_reads_frees_the_source_and_a_full_wait_has_written() {
    for schedule in schedules() {
        let mut early = NOTHING;
        let (result, memory) = with_tensor(schedule, |tensor, first| {
            // SAFETY: the tensor's first element; only this OS thread accesses it.
            let stored = || unsafe { first.read() };
            publish(tensor, [0, 0], 1024, 100);
            bulk_wait_group_read::<But<0>>();
            early = stored();
            // Free: other numbers there harm nobody.
            fill(1024, 500);
            bulk_wait_all();
            assert_eq!(stored(), 100);
        });
        assert_eq!((result, memory), (Ok(()), expected([0, 0], 100)), "{schedule:?}");
        assert!(schedule != Schedule::Lazy || early == NOTHING, "what was read is not yet written");
    }
}

#[test]
fn a_wait_leaves_the_youngest_groups_in_flight() {
    let message = |groups: fn()| {
        let (result, _) = with_tensor(Schedule::Lazy, |tensor, _| {
            publish(tensor, [0, 0], 1024, 100);
            publish(tensor, [4, 0], 2048, 200);
            groups();
            fill(1024, 300);
            bulk_wait_group_read::<But<0>>();
        });
        result.err().map(|panic| panic.message)
    };
    let race = "race: a write to shared memory that the copy engine may still be reading for a bulk store";
    assert_eq!(message(bulk_wait_group_read::<But<1>>), None);
    assert_eq!(message(bulk_wait_group_read::<But<2>>).as_deref(), Some(race));
    assert_eq!(message(|| ()).as_deref(), Some(race));
}

#[test]
fn a_thread_waits_for_its_own_stores() {
    const TWO: Members = Members { first: 0, stride: 1, count: 256 };
    let message = |wait: fn(usize)| {
        let (result, _) = with_tensor(Schedule::Lazy, |tensor, _| {
            for offset in [1024, 2048] {
                fill(offset, 100);
            }
            fence_proxy_async();
            sync();
            // The first thread of each warpgroup stores a tile.
            // SAFETY: block-level code of the tests.
            unsafe {
                for_first_of_warpgroups_from::<false>(TWO, None, null(), |group, _| {
                    send(tensor, [4 * group as i32, 0], 1024 * (1 + group))
                })
            };
            // SAFETY: as above.
            unsafe { for_first_of_warpgroups_from::<false>(TWO, None, null(), |group, _| wait(group)) };
            fill(2048, 300);
            bulk_wait_group_read::<But<0>>();
        });
        result.err().map(|panic| panic.message)
    };
    let race = "race: a write to shared memory that the copy engine may still be reading for a bulk store";
    assert_eq!(message(|_| bulk_wait_group_read::<But<0>>()), None, "each for itself");
    let first_alone = |group| (group == 0).then(bulk_wait_group_read::<But<0>>).unwrap_or_default();
    assert_eq!(message(first_alone).as_deref(), Some(race), "the second one's is still read");
}

#[test]
fn every_way_to_overwrite_a_source_too_early_is_a_race() {
    static NUMBER: u32 = 5;
    let ways: [fn(); 4] = [
        || fill(1024, 300),
        || copy(1024, &NUMBER),
        || store(1024, &NUMBER),
        || {
            init(0, 1);
            // SAFETY: as in `init`; the source is a constant.
            unsafe { mbarrier_expect_tx(mbarrier(0), 16) };
            // SAFETY: within shared memory; the source has 1024 bytes.
            unsafe { bulk_copy(byte(1040), bulk_zeros(), 16, mbarrier(0)) };
        },
    ];
    for way in ways {
        let (result, _) = with_tensor(Schedule::Lazy, |tensor, _| {
            publish(tensor, [0, 0], 1024, 100);
            way();
        });
        let message = result.unwrap_err().message;
        assert!(message.starts_with("race: a write to shared memory that the copy engine"), "{message}");
    }
}

#[test]
fn a_store_wants_a_fence_and_a_barrier_after_the_threads_writes() {
    for (way, missing) in [
        ((|| sync()) as fn(), "without `fence.proxy.async` in each of them"),
        (|| fence_proxy_async(), "and fenced, without a barrier since"),
        (
            || {
                sync();
                fence_proxy_async();
            },
            "and fenced, without a barrier since",
        ),
    ] {
        for schedule in schedules() {
            let (result, _) = with_tensor(schedule, |tensor, _| {
                fill(1024, 100);
                way();
                send(tensor, [0, 0], 1024);
            });
            let message = result.unwrap_err().message;
            assert!(message.starts_with("race between the proxies: ") && message.ends_with(missing), "{message}");
        }
    }
}

#[test]
fn a_block_does_not_end_before_the_sources_were_read() {
    let (result, _) = with_tensor(Schedule::Lazy, |tensor, _| publish(tensor, [0, 0], 1024, 100));
    let message = result.unwrap_err().message;
    assert!(message.starts_with("race: a block ends while the copy engine may still be reading"), "{message}");
}

#[test]
fn a_random_schedule_reads_at_different_times() {
    let early = (0..64).filter(|seed| {
        // An overwritten source is an error unless it was read before.
        let (result, _) = with_tensor(Schedule::Random { seed: *seed }, |tensor, _| {
            publish(tensor, [0, 0], 1024, 100);
            (0..12).for_each(|_| sync());
            fill(1024, 300);
            bulk_wait_group_read::<But<0>>();
        });
        result.is_ok()
    });
    let early = early.count();
    assert!((4..60).contains(&early), "{early}");
}

#[test]
fn a_swizzled_source_starts_at_a_whole_period() {
    let (result, _) = with_tensor(Schedule::Eager, |tensor, _| send(tensor, [0, 0], 1024 + BYTES));
    assert_eq!(result.unwrap_err().message, "a box whose swizzle has a period of 256 bytes starts elsewhere");
}
