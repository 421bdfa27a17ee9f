//! Small kernels that read inputs anywhere: gathers, searches, and rows read as columns.

use tilepipe::{Block, Element, Tiles, Tiles2D, TilesMut, TilesMut2D, kernel};

/// Threads of a block, and elements of an output tile.
pub const THREADS: usize = 64;

/// Writes `table[indices[i]]` for each `i`.
#[kernel(instances(T = [u8, i16, f32, u64, u128]))]
pub fn gathered<T: Element>(
    block: Block<THREADS>,
    indices: Tiles<u32, THREADS>,
    table: Tiles<T, 1>,
    mut out: TilesMut<T, THREADS>,
) {
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = THREADS * (i * block.grid() + block.index());
        let dst = results.get_mut(i);
        block.threads(|t| {
            if let Some(index) = indices.get(first + t.rank()) {
                dst.set(&t, table.at(index as usize));
            }
        });
    }
}

/// Writes for each value how many of the keys, which rise, are less than it. Blocks look at the
/// first and the last key themselves, and search only where the answer is not the same for all.
#[kernel]
pub fn ranked(
    block: Block<THREADS>,
    values: Tiles<u32, THREADS>,
    keys: Tiles<u32, 1>,
    mut out: TilesMut<u32, THREADS>,
) {
    let (least, greatest) = (keys.at(0), keys.at(keys.len() - 1));
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = THREADS * (i * block.grid() + block.index());
        let dst = results.get_mut(i);
        if least == greatest {
            block.threads(|t| {
                let Some(value) = values.get(first + t.rank()) else { return };
                dst.set(&t, if value > least { keys.len() as u32 } else { 0 });
            });
            continue;
        }
        block.threads(|t| {
            let Some(value) = values.get(first + t.rank()) else { return };
            let (mut from, mut to) = (0, keys.len());
            while from < to {
                let middle = (from + to) / 2;
                if keys.at(middle) < value {
                    from = middle + 1;
                } else {
                    to = middle;
                }
            }
            dst.set(&t, from as u32);
        });
    }
}

/// Writes the transpose, and 7 where the input has no such row or column.
#[kernel]
pub fn columns_read(block: Block<THREADS>, input: Tiles2D<u32, 1, 4>, mut out: TilesMut2D<u32, 8, 8>) {
    let mut results = out.for_block(&block);
    let places = results.places();
    for i in 0..results.len() {
        let (top, left) = places.get(i);
        let dst = results.get_mut(i);
        block.threads(|t| {
            dst.set_each(&t, |row, column| input.get(8 * left + column, 8 * top + row).unwrap_or(7));
        });
    }
}

/// Adds the corners of the input to each element, which all threads read at block level.
#[kernel]
pub fn corners_added(block: Block<THREADS>, input: Tiles2D<u32, 8, 8>, mut out: TilesMut2D<u32, 8, 8>) {
    let (bottom, right) = (input.height() - 1, input.width() - 1);
    let corners = [input.at(0, 0), input.at(0, right), input.at(bottom, 0), input.at(bottom, right)];
    let sum = corners.iter().fold(0_u32, |sum, corner| sum.wrapping_add(*corner));
    let mut results = out.for_block(&block);
    let places = results.places();
    for i in 0..results.len() {
        let (top, left) = places.get(i);
        let dst = results.get_mut(i);
        block.threads(|t| {
            let element = |row, column| input.get(8 * top + row, 8 * left + column).unwrap_or(0);
            dst.set_each(&t, |row, column| element(row, column).wrapping_add(sum));
        });
    }
}
