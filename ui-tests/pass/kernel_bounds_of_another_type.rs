//! The accepted neighbour of `fail/kernel_bounds_of_another_type.rs`: constants, functions, generic
//! parameters and their constants.
#![forbid(unsafe_code)]
use tilepipe::{Block, Element, TilesMut, kernel};

const SHARE: usize = 2;

pub trait Weight {
    const REGISTERS: usize;
}

impl Weight for f32 {
    const REGISTERS: usize = 64;
}

impl Weight for i32 {
    const REGISTERS: usize = 4 * 8;
}

const fn blocks(threads: usize) -> usize {
    if threads > 128 { 2 } else { SHARE * 2 }
}

#[kernel(
    min_blocks = blocks(THREADS),
    instances(T = [f32, i32], THREADS = [128, 256]),
    max_registers = { T::REGISTERS / SHARE },
)]
fn generic<T, const THREADS: usize>(block: Block<THREADS>, out: TilesMut<T, THREADS>)
where
    T: Element + Weight,
{
    let _ = (block, out);
}

const REGISTERS: u32 = 64;

#[kernel(max_registers = REGISTERS as usize)]
fn plain(block: Block<128>, out: TilesMut<i32, 128>) {
    let _ = (block, out);
}

fn main() {}
