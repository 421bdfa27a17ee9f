//! Roles and mbarriers below the seam: what `role/` relies on.

mod atomics;
mod bulk;
mod checks;
mod failures;
mod handover;
mod phases;
mod products;
mod stores;
mod time;

use super::*;
use crate::cpu::{KernelPanic, Schedule, run_body};
use crate::isa::{Members, Part};

/// Threads of a role of whole warps.
const fn warps(first: usize, count: usize) -> Members {
    Members { first: first * 32, stride: 1, count: count * 32 }
}

const PRODUCER: Members = warps(0, 2);
const CONSUMER: Members = warps(2, 1);

/// Every schedule, and the random one from some seeds.
fn schedules() -> Vec<Schedule> {
    let random = (0..24).map(|seed| Schedule::Random { seed });
    [Schedule::Eager, Schedule::Lazy].into_iter().chain(random).collect()
}

/// Runs `body` as a block with 4 KiB of shared memory.
fn run(schedule: Schedule, body: impl FnOnce()) -> Result<(), KernelPanic> {
    run_body(body, 4096, 8, 3, schedule)
}

/// The message of the panic that `body` ends with.
#[track_caller]
fn message_of(schedule: Schedule, body: impl FnOnce()) -> String {
    run(schedule, body).expect_err("the block should have failed").message
}

/// The mbarrier of that index, from the start of shared memory on.
fn mbarrier(index: usize) -> *mut u64 {
    shared_base().cast::<u64>().wrapping_add(index)
}

/// The byte of that offset in shared memory.
fn byte(offset: usize) -> *mut u8 {
    shared_base().wrapping_add(offset)
}

fn init(index: usize, arrivals: u32) {
    // SAFETY: tests keep the first 1024 bytes of shared memory for mbarriers.
    unsafe { mbarrier_init(mbarrier(index), arrivals) };
}

fn inval(index: usize) {
    // SAFETY: as in `init`; the model checks the rest.
    unsafe { mbarrier_inval(mbarrier(index)) };
}

/// Roles that are taken together: members and bodies.
trait Pairs {
    type Parts: roles::Parts;
    fn parts(self) -> Self::Parts;
}

fn together<F>((members, body): (Members, F)) -> Part<F> {
    Part { members, apart: false, body }
}

macro_rules! pairs {
    ($($body:ident $result:ident $index:tt),*) => {
        impl<$($body: FnOnce() -> $result, $result),*> Pairs for ($((Members, $body),)*) {
            type Parts = ($(Part<$body>,)*);
            fn parts(self) -> Self::Parts {
                ($(together(self.$index),)*)
            }
        }
    };
}
pairs!(A R 0, B S 1);
pairs!(A R 0, B S 1, C T 2);
pairs!(A R 0, B S 1, C T 2, D U 3);

/// As the function of this name: the bodies of these tests capture plain data.
#[track_caller]
fn divide<P: Pairs>(pairs: P) -> <P::Parts as roles::Parts>::Results {
    // SAFETY: as said.
    unsafe { roles::divide(pairs.parts()) }
}

/// As the function of this name.
fn for_each_member(by: Members, body: impl Fn(usize)) {
    // SAFETY: none is asked for here.
    unsafe { threads::for_each_member(by, body) };
}

fn arrive(index: usize, by: Members) {
    // SAFETY: as in `inval`.
    unsafe { mbarrier_arrive(mbarrier(index), by) };
}

fn arrive_first(index: usize, by: Members) {
    // SAFETY: as in `inval`.
    unsafe { mbarrier_arrive_first(mbarrier(index), by) };
}

fn arrive_when_landed(index: usize, by: Members) {
    // SAFETY: as in `inval`.
    unsafe { cp_async_mbarrier_arrive(mbarrier(index), by) };
}

fn wait(index: usize, parity: u32) {
    // SAFETY: as in `inval`.
    unsafe { mbarrier_wait(mbarrier(index), parity) };
}

fn test_wait(index: usize, parity: u32) -> bool {
    // SAFETY: as in `inval`.
    unsafe { mbarrier_poll(mbarrier(index), parity) }
}

/// Starts an asynchronous copy of a number to an offset in shared memory.
fn copy(offset: usize, from: &u32) {
    // SAFETY: 4 bytes in shared memory, aligned to 4; tests keep what they copy from until the
    // block ends.
    unsafe { cp_async(byte(offset), std::ptr::from_ref(from).cast(), 4, 4) };
}

/// Stores a number at an offset in shared memory, as `LoadStore` does.
fn store(offset: usize, value: &u32) {
    // SAFETY: as in `copy`.
    unsafe { copy_through_register(byte(offset).cast(), std::ptr::from_ref(value), true) };
}

/// Notes that the running role has the stage at an offset in shared memory.
fn acquire(offset: usize, bytes: usize) {
    // SAFETY: tests acquire what no other role uses then; the model checks the rest.
    unsafe { stage_acquired(byte(offset), bytes) };
}

/// Reads the number at an offset in shared memory.
fn load(offset: usize) -> u32 {
    // SAFETY: initialised memory of the arena, aligned to 4; only the role with the baton accesses
    // it.
    unsafe { byte(offset).cast::<u32>().read() }
}

/// What a number in memory in flight reads as.
const POISONED: u32 = u32::from_ne_bytes([model::POISON; 4]);
