//! Matrices, and batches of them, in boxes that the copy engine finds by a map, loaded and stored.

use tilepipe::reduce::Add;
use tilepipe::{
    Block, Extents2, Extents3, Halo2, NoSwizzle, Operation, Outputs, Shared, Stages, Swizzle128, Tensor, TensorMap,
    TensorMut, TensorTile, TileReduction, kernel,
};

use crate::compute::Number;

/// Stages of boxes with the swizzle of 128 bytes, and output stages of the same boxes.
type Swizzled<T, const ROWS: usize, const COLUMNS: usize, const STAGES: usize, const COUNT: usize> = (
    Stages<TensorTile<T, Extents2<ROWS, COLUMNS>, Swizzle128>, STAGES, TensorMap>,
    Outputs<TensorTile<T, Extents2<ROWS, COLUMNS>, Swizzle128>, COUNT>,
);

/// The same of boxes that each lie in one matrix of a batch.
type OfBatch<T, const SIDE: usize, const STAGES: usize, const COUNT: usize> = (
    Stages<TensorTile<T, Extents3<1, SIDE, SIDE>, Swizzle128>, STAGES, TensorMap>,
    Outputs<TensorTile<T, Extents3<1, SIDE, SIDE>, Swizzle128>, COUNT>,
);

/// Stages of boxes with their neighbours, and output stages of the boxes alone.
type WithNeighbours<
    T,
    const ROWS: usize,
    const COLUMNS: usize,
    const N: usize,
    const STAGES: usize,
    const COUNT: usize,
> = (
    Stages<TensorTile<T, Halo2<ROWS, COLUMNS, 1, N>, NoSwizzle>, STAGES, TensorMap>,
    Outputs<TensorTile<T, Extents2<ROWS, COLUMNS>, NoSwizzle>, COUNT>,
);

/// Stages of boxes, and output stages for a row of sums.
type WithSums<T, const ROWS: usize, const COLUMNS: usize, const STAGES: usize, const COUNT: usize> = (
    Stages<TensorTile<T, Extents2<ROWS, COLUMNS>, NoSwizzle>, STAGES, TensorMap>,
    Outputs<TensorTile<T, Extents2<1, COLUMNS>, NoSwizzle>, COUNT>,
);

/// Copies a matrix: the copy engine loads each box, and stores it from where it has landed. No
/// thread touches an element.
#[kernel(
    instances(T = [i32], THREADS = [32, 64], ROWS = [32, 128], COLUMNS = [32], STAGES = [2, 4]),
    instances(T = [u8], THREADS = [32], ROWS = [128], COLUMNS = [128], STAGES = [4]),
)]
pub fn copy_tma<T: Number, const THREADS: usize, const ROWS: usize, const COLUMNS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tensor<T, Extents2<ROWS, COLUMNS>, Swizzle128>,
    out: TensorMut<T, Extents2<ROWS, COLUMNS>, Swizzle128>,
    shared: Shared<Swizzled<T, ROWS, COLUMNS, STAGES, 0>>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&boxes, &mut results, |tile, draft| draft.store(tile));
}

/// Writes the transpose of a matrix: `out[c][r] = input[r][c]`. A box has `SIDE` rows of 128 bytes,
/// and threads transpose it in patches of `N` by `N` elements, of 16 bytes a row, from one swizzled
/// tile into another.
#[kernel(
    instances(T = [i32, f32], THREADS = [64], SIDE = [32], N = [4], STAGES = [1, 2, 4], COUNT = [1, 2]),
    instances(T = [f64], THREADS = [64], SIDE = [16], N = [2], STAGES = [2], COUNT = [2]),
    instances(T = [u8], THREADS = [64], SIDE = [128], N = [16], STAGES = [1, 2], COUNT = [1, 2]),
)]
pub fn transpose_tma<
    T: Number,
    const THREADS: usize,
    const SIDE: usize,
    const N: usize,
    const STAGES: usize,
    const COUNT: usize,
>(
    block: Block<THREADS>,
    input: Tensor<T, Extents2<SIDE, SIDE>, Swizzle128>,
    out: TensorMut<T, Extents2<SIDE, SIDE>, Swizzle128>,
    shared: Shared<Swizzled<T, SIDE, SIDE, STAGES, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let mut results = outputs.outputs(&block, out);
    let places = results.places();
    let _ = stages.pipeline(&block).for_each(
        places.len(),
        |stage, i| {
            let (row, column) = places.get(i);
            stage.copy(input.at((column * SIDE) as i32, (row * SIDE) as i32))
        },
        |tile, i| results.tile(i).fill_patches(&block, |row, column| tile.transposed::<N>(column, row)),
    );
}

/// Writes the transpose of each matrix of a batch: `out[m][c][r] = input[m][r][c]`. A box ends with
/// its matrix, whatever the matrices' size; it is transposed as in
/// [`transpose_tma`](fn@transpose_tma).
#[kernel(
    instances(T = [i32, f32], THREADS = [64], SIDE = [32], N = [4], STAGES = [1, 2], COUNT = [1, 2]),
    instances(T = [u8], THREADS = [64], SIDE = [128], N = [16], STAGES = [1], COUNT = [1]),
)]
pub fn batched_transpose<
    T: Number,
    const THREADS: usize,
    const SIDE: usize,
    const N: usize,
    const STAGES: usize,
    const COUNT: usize,
>(
    block: Block<THREADS>,
    input: Tensor<T, Extents3<1, SIDE, SIDE>, Swizzle128>,
    out: TensorMut<T, Extents3<1, SIDE, SIDE>, Swizzle128>,
    shared: Shared<OfBatch<T, SIDE, STAGES, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    // No tensor is empty; the compiler does not know, and would check each division.
    let down = out.box_rows().max(1) as u32;
    let mut results = outputs.outputs(&block, out);
    let places = results.places();
    let _ = stages.pipeline(&block).for_each(
        places.len(),
        |stage, i| {
            // Rows of boxes are counted through the matrices.
            let (row, column) = places.get(i);
            let (matrix, row) = (row as u32 / down, row as u32 % down);
            stage.copy(input.at(matrix as i32, (column * SIDE) as i32, row as i32 * SIDE as i32))
        },
        |tile, i| results.tile(i).fill_patches(&block, |row, column| tile.transposed::<N>(column, row)),
    );
}

/// Adds three times each element and its four neighbours; beyond the edges there are zeros, which
/// the engine fills in. A thread computes patches of `N` by `N` elements, of 16 bytes a row, so
/// that most of what it reads it uses more than once.
#[kernel(
    instances(T = [i32, f32], THREADS = [128], ROWS = [32], COLUMNS = [64], N = [4], STAGES = [1, 2], COUNT = [1, 2]),
    instances(T = [i32], THREADS = [128], ROWS = [16], COLUMNS = [128], N = [4], STAGES = [2], COUNT = [2]),
)]
pub fn stencil_2d_tma<
    T: Number,
    const THREADS: usize,
    const ROWS: usize,
    const COLUMNS: usize,
    const N: usize,
    const STAGES: usize,
    const COUNT: usize,
>(
    block: Block<THREADS>,
    input: Tensor<T, Halo2<ROWS, COLUMNS, 1, N>, NoSwizzle>,
    out: TensorMut<T, Extents2<ROWS, COLUMNS>, NoSwizzle>,
    shared: Shared<WithNeighbours<T, ROWS, COLUMNS, N, STAGES, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&boxes, &mut results, |tile, draft| {
        // The tile's own part begins at row 1 and column `N`.
        draft.fill_patches(&block, |row, column| -> [[T; N]; N] {
            let line = |row: usize| -> [T; N] { tile.vector(row, column + N) };
            core::array::from_fn(|below| {
                let (above, own, under) = (line(row + below), line(row + below + 1), line(row + below + 2));
                let left = tile[(row + below + 1, column + N - 1)];
                let right = tile[(row + below + 1, column + 2 * N)];
                core::array::from_fn(|beside| {
                    let before = if beside == 0 { left } else { own[beside - 1] };
                    let after = if beside == N - 1 { right } else { own[beside + 1] };
                    own[beside].triple().plus(above[beside]).plus(before).plus(after).plus(under[beside])
                })
            })
        });
    });
}

/// Adds three times each element and its eight neighbours, row by row; beyond the edges there are
/// zeros, which the engine fills in. Patches as in [`stencil_2d_tma`](fn@stencil_2d_tma).
#[kernel(instances(T = [i32, f32], THREADS = [128], ROWS = [32], COLUMNS = [64], N = [4], STAGES = [1, 2], COUNT = [1]))]
pub fn stencil_3x3_tma<
    T: Number,
    const THREADS: usize,
    const ROWS: usize,
    const COLUMNS: usize,
    const N: usize,
    const STAGES: usize,
    const COUNT: usize,
>(
    block: Block<THREADS>,
    input: Tensor<T, Halo2<ROWS, COLUMNS, 1, N>, NoSwizzle>,
    out: TensorMut<T, Extents2<ROWS, COLUMNS>, NoSwizzle>,
    shared: Shared<WithNeighbours<T, ROWS, COLUMNS, N, STAGES, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&boxes, &mut results, |tile, draft| {
        draft.fill_patches(&block, |row, column| -> [[T; N]; N] {
            // A row of the patch, and the elements on either side of it.
            let line = |row: usize| -> (T, [T; N], T) {
                let own = tile.vector(row, column + N);
                (tile[(row, column + N - 1)], own, tile[(row, column + 2 * N)])
            };
            // What an element has on its left, at its place and on its right.
            let three = |&(left, own, right): &(T, [T; N], T), at: usize| {
                let before = if at == 0 { left } else { own[at - 1] };
                (before, own[at], if at == N - 1 { right } else { own[at + 1] })
            };
            core::array::from_fn(|below| {
                let lines = [line(row + below), line(row + below + 1), line(row + below + 2)];
                core::array::from_fn(|at| {
                    let [above, (left, own, right), under] = [0, 1, 2].map(|nth| three(&lines[nth], at));
                    let sum = own.triple().plus(above.0).plus(above.1).plus(above.2);
                    sum.plus(left).plus(right).plus(under.0).plus(under.1).plus(under.2)
                })
            })
        });
    });
}

/// Adds the sums of a matrix's columns to a row that has one number for each: `out[0][c]` becomes
/// `out[0][c] + input[0][c] + input[1][c] + ..`.
///
/// A block has every so many boxes of one column of boxes, so that all blocks together read rows
/// from end to end (`parts_of_columns`). Each thread sums `N` columns, 16 bytes of a row, and at
/// the end of the block's share of a column of boxes the copy engine adds its sums to the row.
#[kernel(instances(T = [i32], O = [Add], THREADS = [64], ROWS = [16, 32], COLUMNS = [256], N = [4], STAGES = [2, 4], COUNT = [1]))]
pub fn column_sums<
    T: Number,
    O: Operation<T>,
    const THREADS: usize,
    const ROWS: usize,
    const COLUMNS: usize,
    const N: usize,
    const STAGES: usize,
    const COUNT: usize,
>(
    block: Block<THREADS>,
    input: Tensor<T, Extents2<ROWS, COLUMNS>, NoSwizzle>,
    out: TileReduction<T, O, Extents2<1, COLUMNS>, NoSwizzle>,
    shared: Shared<WithSums<T, ROWS, COLUMNS, STAGES, COUNT>>,
) {
    const { assert!(COLUMNS == N * THREADS) };
    let (stages, outputs) = shared.split();
    // A box is 256 bytes of memory or more: there are fewer than 2^32. No tensor and no grid is
    // empty; the compiler does not know, and would check each division.
    let (down, across) = (input.box_rows().max(1) as u32, input.box_columns().max(1) as u32);
    let grid = block.grid().max(1) as u32;
    let parts = parts_of_columns(down, across, grid).max(1);
    let mut results = outputs.outputs(&block, out);
    let mut pipe = stages.pipeline(&block);
    let mut share = block.index() as u32;
    while share < across * parts {
        let (part, column) = (share / across, share % across);
        let mut sums = block.map(|_| [T::ZERO; N]);
        pipe = pipe
            .for_each(
                (down - part).div_ceil(parts) as usize,
                |stage, i| {
                    let row = part + i as u32 * parts;
                    stage.copy(input.at(row as i32 * ROWS as i32, column as i32 * COLUMNS as i32))
                },
                |tile, _| {
                    block.update(&mut sums, |t, sums| {
                        for row in 0..ROWS {
                            let values: [T; N] = tile.vector(row, N * t.rank());
                            *sums = core::array::from_fn(|lane| sums[lane].plus(values[lane]));
                        }
                    });
                },
            )
            .idle();
        results.tile_at(0, column as usize).fill_own(&block, |t| sums.get(&t));
        share = share.saturating_add(grid);
    }
}

/// Returns into how many parts each column of boxes is divided: as few as keep nearly all blocks
/// busy until the end, and at most one for each box.
///
/// All blocks together take so many parts in rounds. Of one to sixteen rounds these are the first
/// after which at most a sixteenth of the blocks was idle in the last one.
fn parts_of_columns(down: u32, across: u32, grid: u32) -> u32 {
    let mut parts = 1;
    for rounds in 1..=16 {
        let places = grid.saturating_mul(rounds);
        if places >= across {
            parts = (places / across).min(down);
            if parts == down || (places - parts * across) <= places / 16 {
                break;
            }
        }
    }
    parts
}
