//! Small kernels that take values of every kind, and larger ones as constants.

pub mod constants;

use tilepipe::{Block, Element, F32x4, TilesMut, bf16, f16, kernel};

/// Threads of a block, and elements of an output tile.
pub const THREADS: usize = 64;

/// A struct of a kernel author's own, of fields of several sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Element)]
#[repr(C)]
pub struct Line {
    /// Multiplied by the place.
    pub slope: f32,
    /// Added.
    pub offset: u32,
    /// The place where the line begins.
    pub first: u16,
    /// What the result is shifted by.
    pub shift: u8,
    /// Nothing.
    pub unused: u8,
    /// The result's limit.
    pub limit: u32,
}

/// Writes `yes` to every element if the flag is set, and else `no`.
#[kernel(instances(
    T = [u8, i8, u16, i16, u32, i32, u64, i64, u128, i128, f16, bf16, f32, f64, F32x4, [u8; 3], [f32; 4], [[u16; 2]; 2]]
))]
pub fn chosen<T: Element>(block: Block<THREADS>, flag: bool, yes: T, no: T, mut out: TilesMut<T, THREADS>) {
    let value = if flag { yes } else { no };
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let dst = results.get_mut(i);
        block.threads(|t| dst.set(&t, value));
    }
}

/// Writes for each place the line's value there, the last place first. The parameters lie side by
/// side with different alignments.
#[kernel]
pub fn drawn(
    block: Block<THREADS>,
    line: Line,
    step: i8,
    places: usize,
    origin: isize,
    mut out: TilesMut<u32, THREADS>,
) {
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = THREADS * (i * block.grid() + block.index());
        let dst = results.get_mut(i);
        block.threads(|t| {
            let place = places.wrapping_sub(1 + first + t.rank());
            dst.set(&t, height(line, step, origin, place));
        });
    }
}

/// What [`drawn`](fn@drawn) writes for a place.
pub fn height(line: Line, step: i8, origin: isize, place: usize) -> u32 {
    let along = place.wrapping_add_signed(origin).wrapping_sub(usize::from(line.first)) as u32;
    let whole = line.slope as u32;
    let height = along.wrapping_mul(whole).wrapping_add(line.offset).wrapping_add_signed(i32::from(step));
    (height >> (line.shift & 31)).min(line.limit)
}
