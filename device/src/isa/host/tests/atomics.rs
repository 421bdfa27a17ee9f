//! Atomic operations below the seam: what they compute, and which accesses they race with.

use half::f16;

use super::*;
use crate::isa::{ElementKind, ReduceAdd, ReduceCode, ReduceMax, ReduceMin, ReduceXor};

const BINS: usize = 64;
/// Where the bins of these tests start.
const OFFSET: usize = 2048;

/// Clears the bins, as their owners do.
fn clear(value: u32) {
    for piece in 0..BINS / 4 {
        // SAFETY: 16 bytes in shared memory, aligned to 16.
        unsafe { store_shared_row(byte(OFFSET + 16 * piece).cast(), [value; 4]) };
    }
}

fn add<R: ReduceCode>(index: usize, value: u32) {
    // SAFETY: bins in shared memory, which `clear` has written; the model checks the rest.
    unsafe { reduce_shared::<R, u32>(byte(OFFSET).cast(), BINS, index, value, ElementKind::U32) };
}

fn meet() {
    // SAFETY: the whole block is one OS thread.
    unsafe { barrier() };
}

fn read() {
    bins_read(byte(OFFSET), 4 * BINS);
}

#[test]
fn adds_between_two_barriers_race_with_no_add() {
    for schedule in schedules() {
        let body = || {
            clear(0);
            meet();
            for rank in 0..256 {
                add::<ReduceAdd>(rank % BINS, rank as u32);
            }
            meet();
            read();
            assert_eq!((load(OFFSET), load(OFFSET + 4 * (BINS - 1))), (64 + 128 + 192, 4 * 63 + 64 + 128 + 192));
            meet();
            clear(u32::MAX);
            meet();
            add::<ReduceMin>(3, 7);
            add::<ReduceMin>(3, 9);
            meet();
            read();
            assert_eq!((load(OFFSET + 12), load(OFFSET)), (7, u32::MAX));
        };
        assert_eq!(run(schedule, body), Ok(()));
    }
}

#[test]
fn an_access_without_a_barrier_from_an_add_is_a_race() {
    for schedule in schedules() {
        let ready = || {
            clear(0);
            meet();
        };
        let after_an_add = |access: fn()| {
            message_of(schedule, || {
                ready();
                add::<ReduceAdd>(5, 1);
                access();
            })
        };
        let message = after_an_add(read);
        assert!(message.contains("race: a read of bins that other threads may still be adding to"), "{message}");
        let message = after_an_add(|| clear(0));
        assert!(message.contains("race: a store to bins that other threads may still be adding to"), "{message}");
        let message = after_an_add(|| store(OFFSET + 4, &1));
        assert!(message.contains("race: a copy into bins that other threads may still be adding to"), "{message}");
        let message = message_of(schedule, || {
            clear(0);
            add::<ReduceAdd>(5, 1);
        });
        assert!(message.contains("race: an add to bins that other threads may still be storing to"), "{message}");
        let before = |access: fn()| {
            message_of(schedule, || {
                ready();
                read();
                access();
            })
        };
        let message = before(|| add::<ReduceAdd>(0, 1));
        assert!(message.contains("race: an add to bins that other threads may still be reading"), "{message}");
        let message = before(|| clear(0));
        assert!(message.contains("race: a store to bins that other threads may still be reading"), "{message}");
    }
}

#[test]
fn two_roles_add_to_the_same_bins_and_the_block_reads_them_after_both() {
    for schedule in schedules() {
        let adds = |by: Members| for_each_member(by, |rank| add::<ReduceAdd>(rank % 2, 1));
        let roles = || {
            clear(0);
            meet();
            divide(((PRODUCER, || adds(PRODUCER)), (CONSUMER, || adds(CONSUMER))));
        };
        let body = || {
            roles();
            meet();
            read();
            assert_eq!([load(OFFSET), load(OFFSET + 4)], [48, 48]);
        };
        assert_eq!(run(schedule, body), Ok(()));
        let message = message_of(schedule, || {
            roles();
            read();
        });
        assert!(message.contains("race: a read of bins"), "{message}");
    }
}

/// What `value` makes of `old` in global memory.
fn global<R: ReduceCode, T: bytemuck::Pod>(mut old: T, value: T, kind: ElementKind) -> T {
    // SAFETY: a local variable of that kind.
    unsafe { reduce_global::<R, T>(&raw mut old, value, kind) };
    old
}

#[test]
fn global_memory_holds_what_the_operation_says() {
    assert_eq!(global::<ReduceAdd, u32>(u32::MAX, 3, ElementKind::U32), 2);
    assert_eq!(global::<ReduceMax, i32>(-3, 2, ElementKind::I32), 2);
    assert_eq!(global::<ReduceMax, u32>(-3_i32 as u32, 2, ElementKind::U32), -3_i32 as u32);
    assert_eq!(global::<ReduceMin, i64>(-3, 2, ElementKind::I64), -3);
    assert_eq!(global::<ReduceXor, u64>(0xFF << 40, 1 << 40, ElementKind::U64), 0xFE << 40);
    assert_eq!(global::<ReduceAdd, f64>(f64::from_bits(1), f64::from_bits(2), ElementKind::F64), f64::from_bits(3));
}

#[test]
fn sums_of_f16_are_rounded_to_even_and_keep_subnormal_numbers_in_both_memories() {
    let least = f16::from_bits(1);
    let number = f16::from_f32;
    let cases = [
        (number(1.5), number(2.25), number(3.75)),
        (number(2048.0), number(1.0), number(2048.0)),
        (number(2048.0), number(3.0), number(2052.0)),
        (f16::MAX, number(16.0), f16::INFINITY),
        (f16::MAX, least, f16::MAX),
        (least, least, f16::from_bits(2)),
        (f16::MIN_POSITIVE, -least, f16::from_bits(0x3FF)),
        (f16::ZERO, -least, -least),
        (least, -least, f16::ZERO),
        (f16::NEG_ZERO, f16::NEG_ZERO, f16::NEG_ZERO),
    ];
    for (old, value, sum) in cases {
        let found = global::<ReduceAdd, f16>(old, value, ElementKind::F16);
        assert_eq!(found.to_bits(), sum.to_bits(), "{old} and {value} in global memory");
        let in_shared = || {
            let bins = byte(OFFSET).cast::<f16>();
            // SAFETY: 16 bytes in shared memory, aligned to 16.
            unsafe {
                store_shared_row(bins, [f16::ONE, old, f16::ONE, f16::ONE, f16::ONE, f16::ONE, f16::ONE, f16::ONE])
            };
            meet();
            // SAFETY: three of the initialised bins; the model checks the rest.
            unsafe { reduce_shared::<ReduceAdd, f16>(bins, 3, 1, value, ElementKind::F16) };
            meet();
            let neighbours = f16::ONE.to_bits();
            let all = [load(OFFSET), load(OFFSET + 4)].map(|word| [word as u16, (word >> 16) as u16]);
            assert_eq!(all, [[neighbours, sum.to_bits()], [neighbours; 2]], "{old} and {value} in shared memory");
        };
        assert_eq!(run(Schedule::Lazy, in_shared), Ok(()));
    }
}

#[test]
fn sums_of_f32_flush_subnormal_numbers_in_global_and_not_in_shared_memory() {
    let (small, least) = (f32::from_bits(5), f32::MIN_POSITIVE);
    let sum = |old, value| global::<ReduceAdd, f32>(old, value, ElementKind::F32).to_bits();
    assert_eq!(sum(small, 0.0), 0);
    assert_eq!(sum(0.0, -small), 0);
    assert_eq!(sum(-0.0, -small), (-0.0_f32).to_bits());
    assert_eq!(sum(-1.5 * least, least), (-0.0_f32).to_bits());
    assert_eq!(sum(1.5, 2.25), 3.75_f32.to_bits());
    let in_shared = || {
        // SAFETY: aligned shared memory; the barrier orders both.
        unsafe { store_shared(byte(OFFSET).cast(), 1.5 * least) };
        meet();
        // SAFETY: one initialised bin; the model checks the rest.
        unsafe { reduce_shared::<ReduceAdd, f32>(byte(OFFSET).cast(), 1, 0, -least, ElementKind::F32) };
        meet();
        assert_eq!(load(OFFSET), (0.5 * least).to_bits());
    };
    assert_eq!(run(Schedule::Lazy, in_shared), Ok(()));
}
