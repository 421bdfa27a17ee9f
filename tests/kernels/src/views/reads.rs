//! Small kernels that read inputs anywhere: gathers, searches, and rows read as columns.

use tilepipe::{Block, Element, Halos, Halos2D, Input, Input2D, Tiles, Tiles2D, TilesMut, TilesMut2D, kernel};

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

/// Writes each run of `RUN` elements, and how many of them the input has.
#[kernel(
    instances(T = [u8, i16, f32], RUN = [4]),
    instances(T = [u8], RUN = [3]),
    instances(T = [u64], RUN = [2]),
    instances(T = [u128], RUN = [1]),
)]
pub fn runs<T: Element, const RUN: usize>(
    block: Block<THREADS>,
    input: Input<T>,
    mut out: TilesMut<[T; RUN], THREADS>,
    mut counts: TilesMut<u32, THREADS>,
) {
    let (mut results, mut numbers) = (out.for_block(&block), counts.for_block(&block));
    for i in 0..results.len() {
        let first = THREADS * results.number(i);
        let (dst, number) = (results.get_mut(i), numbers.get_mut(i));
        block.threads(|t| {
            let (values, valid) = input.run::<RUN>(first + t.rank());
            dst.set(&t, values);
            number.set(&t, valid as u32);
        });
    }
}

/// The same of an input that is known to be aligned to 16 bytes.
#[kernel(instances(T = [u8, f32], RUN = [4]), instances(T = [u128], RUN = [1]))]
pub fn aligned_runs<T: Element, const RUN: usize>(
    block: Block<THREADS>,
    input: Tiles<T, 64>,
    mut out: TilesMut<[T; RUN], THREADS>,
    mut counts: TilesMut<u32, THREADS>,
) {
    let (mut results, mut numbers) = (out.for_block(&block), counts.for_block(&block));
    for i in 0..results.len() {
        let first = THREADS * results.number(i);
        let (dst, number) = (results.get_mut(i), numbers.get_mut(i));
        block.threads(|t| {
            let (values, valid) = input.run::<RUN>(first + t.rank());
            dst.set(&t, values);
            number.set(&t, valid as u32);
        });
    }
}

/// The sum of each row's runs of three, two at a time: the second one lies beyond the row's end in
/// most rows, and the last row is none of the view's.
#[kernel]
pub fn row_runs(block: Block<THREADS>, input: Input2D<u32>, mut out: TilesMut<u32, THREADS>) {
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = THREADS * results.number(i);
        let dst = results.get_mut(i);
        block.threads(|t| {
            let row = first + t.rank();
            let (mut sum, mut nth) = (0_u32, 0);
            loop {
                let ([a, b, c], valid) = input.run::<3>(row, nth);
                let (more, also) = input.run::<3>(row, nth + 1);
                sum = more.iter().fold(sum, |sum, value| sum.wrapping_add(*value));
                sum = sum.wrapping_add(a).wrapping_add(b).wrapping_add(c).wrapping_add((valid + also) as u32);
                if also == 0 {
                    break;
                }
                nth += 2;
            }
            dst.set(&t, sum);
        });
    }
}

/// Writes which rows and columns of each tile with its halo lie in the input, as the ends of two
/// ranges, and how many elements those are.
#[kernel]
pub fn valid_parts(
    block: Block<THREADS>,
    input: Halos2D<u32, 4, 8, 4>,
    line: Halos<u32, 64, 4>,
    mut parts: TilesMut<[u32; 4], 1>,
    mut elements: TilesMut<u32, 1>,
    mut of_line: TilesMut<[u32; 3], 1>,
) {
    let tiles = input.for_block(&block);
    let (mut results, mut numbers) = (parts.for_block(&block), elements.for_block(&block));
    for i in 0..results.len() {
        let tile = tiles.get(i);
        let (rows, columns) = (tile.valid_rows(), tile.valid_columns());
        let part = [rows.start, rows.end, columns.start, columns.end].map(|number| number as u32);
        let valid = tile.valid() as u32;
        let (dst, number) = (results.get_mut(i), numbers.get_mut(i));
        block.threads(|t| {
            dst.set_each(&t, |_| part);
            number.set_each(&t, |_| valid);
        });
    }
    let tiles = line.for_block(&block);
    let mut results = of_line.for_block(&block);
    for i in 0..results.len() {
        let (tile, dst) = (tiles.get(i), results.get_mut(i));
        let columns = tile.valid_columns();
        let part = [columns.start as u32, columns.end as u32, tile.valid() as u32];
        block.threads(|t| dst.set_each(&t, |_| part));
    }
}
