//! Products below the seam: when they read their operands, and what must not come before the wait.

use super::*;
use crate::isa::PendingGroups;
use crate::isa::product::{Columns, Factor, Onto, Operand, Start, place_of_sum};

/// So many products may be in flight.
enum But<const PRODUCTS: usize> {}

impl<const PRODUCTS: usize> PendingGroups for But<PRODUCTS> {
    const GROUPS: usize = PRODUCTS;
}

const GROUP: Members = Members { first: 0, stride: 1, count: 128 };
/// Elements along K: a row of 32 bytes.
const DEEP: usize = 16;
/// Where the operands lie, of 64 and of 8 rows.
const OPERANDS: [(usize, usize); 2] = [(1024, 64), (3072, 8)];

fn at(offset: usize) -> Start {
    Start { origin: None, offset: offset as u32 }
}

fn operand(nth: usize) -> Operand {
    let (offset, rows) = OPERANDS[nth];
    Operand { start: at(offset), further: 0, rows, deep: DEEP, across: false, row_bytes: 2 * DEEP }
}

fn put(nth: usize, value: f32) {
    let (offset, rows) = OPERANDS[nth];
    for at in 0..rows * DEEP {
        let to = byte(offset + 2 * at).cast();
        // SAFETY: two bytes in shared memory, aligned to 2, which no thread accesses meanwhile.
        unsafe { store_shared(to, half::bf16::from_f32(value).to_bits()) };
    }
}

/// Fills both operands, as one must.
fn fill(values: [f32; 2]) {
    put(0, values[0]);
    put(1, values[1]);
    fence_proxy_async();
    // SAFETY: block-level code of the tests.
    unsafe { barrier() };
}

fn start(sums: &mut Sums<Columns<8>>, add: bool) {
    // SAFETY: the operands lie in shared memory.
    let operands = unsafe { Operands::new(GROUP, [operand(0), operand(1)]) };
    // SAFETY: they were filled; the model checks the rest.
    unsafe { sums.multiply(Factor::Bf16, &operands, 0, add) };
}

fn wait<const PRODUCTS: usize>(sums: &mut Sums<Columns<8>>) {
    // SAFETY: code of the group.
    unsafe { sums.wait::<But<PRODUCTS>>() };
}

/// All sums, by the registers of all threads.
fn all(sums: &Sums<Columns<8>>) -> Vec<f32> {
    let registers = (0..128).flat_map(|rank| (0..4).map(move |register| (rank, register)));
    // SAFETY: all products were waited for.
    registers.map(|(rank, register)| unsafe { sums.get(rank, register) }).collect()
}

#[test]
fn each_thread_has_sums_of_its_own_and_all_have_all() {
    let mut places: Vec<_> = (0..256).flat_map(|rank| (0..8).map(move |at| place_of_sum(rank, at))).collect();
    places.sort_unstable();
    let expected: Vec<_> = (0..128).flat_map(|row| (0..16).map(move |column| (row, column))).collect();
    assert_eq!(places, expected);
}

#[test]
fn products_add_up_and_the_first_ignores_what_was_there() {
    for schedule in schedules() {
        let result = run(schedule, || {
            fill([2.0, 3.0]);
            let mut sums = Sums::new(GROUP);
            start(&mut sums, false);
            start(&mut sums, true);
            wait::<1>(&mut sums);
            wait::<0>(&mut sums);
            assert_eq!(all(&sums), [2.0 * 16.0 * 6.0; 512]);
        });
        assert!(result.is_ok(), "{result:?}");
    }
}

#[test]
fn a_lazy_product_multiplies_what_its_operands_hold_when_it_is_waited_for() {
    for (schedule, expected) in [(Schedule::Eager, 16.0), (Schedule::Lazy, 32.0)] {
        let result = run(schedule, || {
            fill([1.0, 1.0]);
            let mut sums = Sums::new(GROUP);
            start(&mut sums, false);
            for at in 0..64 * DEEP {
                let to = byte(OPERANDS[0].0 + 2 * at).cast::<u16>();
                // SAFETY: two bytes in shared memory. The model is not told.
                unsafe { to.write(half::bf16::from_f32(2.0).to_bits()) };
            }
            wait::<0>(&mut sums);
            assert_eq!(all(&sums), [expected; 512]);
        });
        assert!(result.is_ok(), "{result:?}");
    }
}

#[test]
fn an_operand_written_before_the_wait_is_a_race() {
    let message = message_of(Schedule::Lazy, || {
        fill([1.0, 1.0]);
        let mut sums = Sums::new(GROUP);
        start(&mut sums, false);
        put(1, 2.0);
    });
    assert!(message.contains("race: a write to a tile that a product of the tensor cores may still read"), "{message}");
}

#[test]
fn an_operand_without_a_fence_between_the_proxies_is_a_race() {
    let message = message_of(Schedule::Eager, || {
        put(0, 1.0);
        put(1, 1.0);
        // SAFETY: block-level code of the tests.
        unsafe { barrier() };
        start(&mut Sums::new(GROUP), false);
    });
    assert!(message.contains("prox"), "{message}");
}

#[test]
fn a_stage_handed_back_before_the_wait_is_a_race() {
    let hand_back = |waits: bool| {
        move || {
            fill([1.0, 1.0]);
            init(0, 4);
            let mut sums = Sums::new(GROUP);
            // SAFETY: the block has the memory of both operands.
            unsafe { stage_multiplied(byte(1024), 3072, mbarrier(0)) };
            start(&mut sums, false);
            if waits {
                wait::<0>(&mut sums);
            }
            // SAFETY: the phase counts an arrival of each of the four warps.
            unsafe { mbarrier_arrive_warps(mbarrier(0), GROUP) };
            inval(0);
        }
    };
    assert!(run(Schedule::Lazy, hand_back(true)).is_ok());
    let message = message_of(Schedule::Lazy, hand_back(false));
    assert!(message.contains("race: a stage is handed over while a product"), "{message}");
}

/// A pair of numbers as the bits of `bf16`.
fn rounded([low, high]: [f32; 2]) -> u32 {
    let bits = |x| u32::from(half::bf16::from_f32(x).to_bits());
    bits(low) | bits(high) << 16
}

#[test]
fn steps_along_k_go_on_in_the_next_panel() {
    let body = || {
        // Panels of 16 elements along K, two of them: one of ones, and one of twos.
        let panels = |first: usize, rows: usize| {
            for at in 0..rows * 2 * DEEP {
                let value = if at < rows * DEEP { 1.0 } else { 2.0 };
                // SAFETY: two bytes in shared memory, aligned to 2, which no thread accesses
                // meanwhile.
                unsafe { store_shared(byte(first + 2 * at).cast(), half::bf16::from_f32(value).to_bits()) };
            }
            Operand { start: at(first), further: 0, rows, deep: 2 * DEEP, across: false, row_bytes: 2 * DEEP }
        };
        let both = [panels(1024, 64), panels(5120, 8)];
        fence_proxy_async();
        // SAFETY: block-level code of the tests.
        unsafe { barrier() };
        let mut sums = Sums::new(GROUP);
        // SAFETY: the operands lie in shared memory.
        let operands = unsafe { Operands::new(GROUP, both) };
        // SAFETY: code of the group; they were filled.
        unsafe { sums.start(Factor::Bf16, &operands, Onto::Nothing) };
        wait::<0>(&mut sums);
        assert_eq!(all(&sums), [16.0 + 16.0 * 4.0; 512]);
    };
    let result = run_body(body, 8192, 8, 3, Schedule::Lazy);
    assert!(result.is_ok(), "{result:?}");
}

#[test]
fn sums_become_the_left_factor_of_a_product_that_is_added() {
    for schedule in schedules() {
        let result = run(schedule, || {
            fill([2.0, 3.0]);
            let mut factor = Sums::<Columns<16>>::new(GROUP);
            // SAFETY: code of the group.
            unsafe { factor.fill(GROUP, 1.0) };
            // Each thread's own, by the place of the sum.
            // SAFETY: as above; all have values.
            unsafe { factor.update(GROUP, |rank, register, sum| sum + place_of_sum(rank, register).0 as f32) };
            // SAFETY: as above.
            let factor = unsafe { factor.rounded(GROUP, rounded) };
            let mut sums = Sums::<Columns<8>>::new(GROUP);
            // SAFETY: as above.
            unsafe { sums.fill(GROUP, 0.5) };
            // SAFETY: as above; the operand was filled.
            unsafe { sums.start_by(GROUP, Factor::Bf16, &factor, operand(1)) };
            wait::<0>(&mut sums);
            for (at, sum) in all(&sums).into_iter().enumerate() {
                let (row, _) = place_of_sum(at / 4, at % 4);
                assert_eq!(sum, 0.5 + 16.0 * 3.0 * (1 + row) as f32, "row {row}");
            }
        });
        assert!(result.is_ok(), "{result:?}");
    }
}

#[test]
fn a_write_to_the_operand_of_a_product_with_a_factor_in_registers_is_a_race() {
    let result = run(Schedule::Lazy, || {
        fill([2.0, 3.0]);
        let mut factor = Sums::<Columns<16>>::new(GROUP);
        // SAFETY: code of the group.
        unsafe { factor.fill(GROUP, 1.0) };
        // SAFETY: as above.
        let factor = unsafe { factor.rounded(GROUP, rounded) };
        let mut sums = Sums::<Columns<8>>::new(GROUP);
        // SAFETY: as above.
        unsafe { sums.fill(GROUP, 0.0) };
        // SAFETY: as above.
        unsafe { sums.start_by(GROUP, Factor::Bf16, &factor, operand(1)) };
        // The first operand's place is free, and the second one's is not.
        put(0, 1.0);
        put(1, 1.0);
    });
    let message = result.unwrap_err().message;
    assert!(message.contains("race: a write to a tile that a product of the tensor cores may still read"), "{message}");
}

#[test]
fn rows_of_sums_are_scaled_and_quads_are_combined() {
    let result = run(Schedule::Eager, || {
        let mut sums = Sums::<Columns<8>>::new(GROUP);
        // SAFETY: code of the group.
        unsafe { sums.fill(GROUP, 2.0) };
        // SAFETY: as above.
        let ranks = unsafe { PerThread::<[f32; 2], 128>::of_members(GROUP, |rank| [rank as f32, -(rank as f32)]) };
        // SAFETY: as above: four whole warps.
        let sums_of_quads = unsafe { ranks.of_quads(|one, other| one + other) };
        // SAFETY: as above.
        unsafe { sums.scale(GROUP, &sums_of_quads) };
        for (at, sum) in all(&sums).into_iter().enumerate() {
            let (quad, second) = (at / 4 / 4 * 4, at % 4 >= 2);
            let of_quad = (4 * quad + 6) as f32;
            assert_eq!(sum, 2.0 * if second { -of_quad } else { of_quad });
        }
    });
    assert!(result.is_ok(), "{result:?}");
}
