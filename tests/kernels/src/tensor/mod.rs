//! Small kernels over tensors, whose boxes the copy engine finds by a map. But for
//! [`sums_around`](fn@sums_around) each writes three times the number that it reads.

pub mod apart;
pub mod chained;
pub mod dimensions;
pub mod products;
pub mod steps;
pub mod stores;
pub mod written;

use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{
    Block, Element, Extents2, Halo2, NoSwizzle, Optional, Shared, Stages, Swizzle, Swizzle32, Swizzle64, Swizzle128,
    Tensor, TensorMap, TensorTile, TilesMut2D, Zeros, kernel,
};

/// Rows of the boxes.
const ROWS: usize = 8;
/// What a stage holds.
type Box<W, const COLUMNS: usize> = TensorTile<u32, Extents2<ROWS, COLUMNS>, W>;
/// Two boxes a stage, and one that may be missing.
type PairsAndGaps<W> = (Stages<(Box<W, 16>, Box<W, 16>), 2, TensorMap>, Stages<Optional<Box<W, 16>>, 1, TensorMap>);

/// The driver, with rows as long as the swizzles' spans.
#[kernel(
    instances(W = [NoSwizzle], COLUMNS = [4, 12, 32], THREADS = [96], STAGES = [1, 3]),
    instances(W = [Swizzle32], COLUMNS = [8], THREADS = [96], STAGES = [1, 3]),
    instances(W = [Swizzle64], COLUMNS = [16], THREADS = [96], STAGES = [1, 3]),
    instances(W = [Swizzle128], COLUMNS = [32], THREADS = [96], STAGES = [1, 3]),
)]
pub fn mapped_boxes<W: Swizzle, const COLUMNS: usize, const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tensor<u32, Extents2<ROWS, COLUMNS>, W>,
    mut out: TilesMut2D<u32, ROWS, COLUMNS>,
    shared: Shared<Stages<TensorTile<u32, Extents2<ROWS, COLUMNS>, W>, STAGES, TensorMap>>,
) {
    let boxes = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&boxes, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| tile[(row, column)].wrapping_mul(3)));
    });
}

/// The driver, a thread reading 16 bytes at a time of a swizzled tile.
#[kernel(instances(STAGES = [2]))]
pub fn vectors_of_boxes<const STAGES: usize>(
    block: Block<64>,
    input: Tensor<u32, Extents2<ROWS, 32>, Swizzle128>,
    mut out: TilesMut2D<u32, ROWS, 32, tilepipe::Runs<4>>,
    shared: Shared<Stages<TensorTile<u32, Extents2<ROWS, 32>, Swizzle128>, STAGES, TensorMap>>,
) {
    let boxes = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&boxes, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| {
            let place = dst.place(&t, 0);
            let vector: [u32; 4] = tile.vector(place.0, place.1);
            dst.set_each(&t, |_, column| vector[column % 4].wrapping_mul(3));
        });
    });
}

/// The driver, a thread reading 16 bytes and as many rows of a column of a part of a swizzled tile.
#[kernel(instances(STAGES = [2]))]
pub fn parts_of_boxes<const STAGES: usize>(
    block: Block<64>,
    input: Tensor<u32, Extents2<{ 2 * ROWS }, 32>, Swizzle128>,
    mut out: TilesMut2D<u32, { 2 * ROWS }, 32, tilepipe::Runs<4>>,
    shared: Shared<Stages<TensorTile<u32, Extents2<{ 2 * ROWS }, 32>, Swizzle128>, STAGES, TensorMap>>,
) {
    let boxes = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&boxes, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| {
            dst.set_each(&t, |row, column| {
                let part = tile.part::<ROWS>(row / ROWS * ROWS);
                let vector: [u32; 4] = part.row(row % ROWS).vector(column / 4 * 4);
                vector[column % 4].wrapping_add(part.column(column)[row % ROWS].wrapping_mul(2))
            });
        });
    });
}

/// The driver between two roles.
#[kernel(instances(W = [NoSwizzle, Swizzle128], STAGES = [1, 3]))]
pub fn boxes_between_roles<W: Swizzle, const STAGES: usize>(
    block: Block<96>,
    input: Tensor<u32, Extents2<ROWS, 32>, W>,
    mut out: TilesMut2D<u32, ROWS, 32>,
    shared: Shared<Partitioned<Stages<Box<W, 32>, STAGES, TensorMap>>>,
) {
    let boxes = input.for_block(&block);
    let pipeline = block.partition::<WarpRoles<32, 64>>().pipeline(shared);
    let _ = pipeline.map_tiles(&boxes, &mut out, |group, tile, dst| {
        group.threads(|t| dst.set_each(&t, |row, column| tile[(row, column)].wrapping_mul(3)));
    });
}

/// Two boxes a stage, and stages of zeros and of nothing, by hand: each box comes twice, by its
/// number and by its coordinates.
#[kernel(instances(W = [NoSwizzle, Swizzle64]))]
pub fn boxes_by_hand<W: Swizzle>(
    block: Block<64>,
    input: Tensor<u32, Extents2<ROWS, 16>, W>,
    mut out: TilesMut2D<u32, ROWS, 16>,
    shared: Shared<PairsAndGaps<W>>,
) {
    let (boxes, mut results) = (input.for_block(&block), out.for_block(&block));
    let places = boxes.places();
    let (pairs, gaps) = shared.split();
    let _ = pairs.with_pipeline(&block, |pairs| {
        let _ = gaps.with_pipeline(&block, |gaps| {
            let (mut pairs, mut gaps) = (pairs.weaken(), gaps.weaken());
            for i in 0..boxes.len() {
                let (row, column) = places.get(i);
                let again = input.at((row * ROWS) as i32, (column * 16) as i32);
                let (p, pair) = pairs.acquire().copy((boxes.get(i), again)).commit().wait();
                let acquired = gaps.acquire();
                let filled =
                    if i % 3 == 1 { acquired.copy(Some(Zeros)) } else { acquired.copy((i % 3 == 2).then_some(Zeros)) };
                let (g, gap) = filled.commit().wait();
                let (one, two) = pair.tiles();
                let dst = results.get_mut(i);
                let there = gap.get();
                block.threads(|t| {
                    dst.set_each(&t, |row, column| {
                        let nothing = there.map_or(0, |zeros| zeros[(row, column)]);
                        one[(row, column)].wrapping_add(two[(row, column)].wrapping_mul(2)).wrapping_add(nothing)
                    });
                });
                (pairs, gaps) = (p.release(pair), g.release(gap));
            }
        });
    });
}

/// Copies the box that begins at a row and a column, which may lie outside of the tensor.
#[kernel(
    instances(T = [u8], W = [Swizzle32], COLUMNS = [32]),
    instances(T = [u8], W = [Swizzle64], COLUMNS = [64]),
    instances(T = [u8], W = [Swizzle128], COLUMNS = [128]),
    instances(T = [u16], W = [Swizzle32], COLUMNS = [16]),
    instances(T = [u16], W = [Swizzle64], COLUMNS = [32]),
    instances(T = [u16], W = [Swizzle128], COLUMNS = [64]),
    instances(T = [u32], W = [Swizzle32], COLUMNS = [8]),
    instances(T = [u32], W = [Swizzle64], COLUMNS = [16]),
    instances(T = [u32], W = [Swizzle128], COLUMNS = [32]),
    instances(T = [u64], W = [Swizzle32], COLUMNS = [4]),
    instances(T = [u64], W = [Swizzle64], COLUMNS = [8]),
    instances(T = [u64], W = [Swizzle128], COLUMNS = [16]),
    instances(T = [u8, u16, u32, u64], W = [NoSwizzle], COLUMNS = [16, 48]),
)]
pub fn box_anywhere<T: Element, W: Swizzle, const COLUMNS: usize>(
    block: Block<128>,
    input: Tensor<T, Extents2<{ 3 * ROWS }, COLUMNS>, W>,
    row: i32,
    column: i32,
    mut out: TilesMut2D<T, { 3 * ROWS }, COLUMNS>,
    shared: Shared<Stages<TensorTile<T, Extents2<{ 3 * ROWS }, COLUMNS>, W>, 1, TensorMap>>,
) {
    let mut results = out.for_block(&block);
    let _ = shared.with_pipeline(&block, |pipe| {
        let (pipe, tile) = pipe.acquire().copy(input.at(row, column)).commit().wait();
        let dst = results.get_mut(0);
        block.threads(|t| dst.set_each(&t, |row, column| tile[(row, column)]));
        let _ = pipe.release(tile);
    });
}

/// The sum of the five elements around each one, zeros beyond the edges: of boxes with a halo of
/// one row and four columns.
#[kernel(instances(STAGES = [2]))]
pub fn sums_around<const STAGES: usize>(
    block: Block<128>,
    input: Tensor<u32, Halo2<ROWS, 24, 1, 4>, NoSwizzle>,
    mut out: TilesMut2D<u32, ROWS, 24>,
    shared: Shared<Stages<TensorTile<u32, Halo2<ROWS, 24, 1, 4>, NoSwizzle>, STAGES, TensorMap>>,
) {
    let boxes = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&boxes, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| {
            dst.set_each(&t, |row, column| {
                let (row, column) = (row + 1, column + 4);
                let beside = tile[(row, column - 1)].wrapping_add(tile[(row, column + 1)]);
                let above = tile[(row - 1, column)].wrapping_add(tile[(row + 1, column)]);
                tile[(row, column)].wrapping_add(beside).wrapping_add(above)
            });
        });
    });
}
