//! Two-dimensional tiles: a transpose and a stencil.

use core::array::from_fn;

use tilepipe::{
    Block, HaloTile2D, Halos2D, I32x4, Micro, Runs, Scratch, Shared, Stages, Tile2D, Tiles2D, TilesMut2D, Vec4,
    VectorLane, hoist_bounds, kernel,
};

use crate::compute::Number;

/// Writes the transpose of a matrix: `out[c][r] = input[r][c]`. Tiles are square, and in shared
/// memory their rows are padded by `PAD` elements, so that a column's elements lie in different
/// banks.
#[kernel(
    instances(T = [i32, u32, f32], THREADS = [256], SIDE = [32], PAD = [0, 1], STAGES = [1, 2, 3]),
    instances(T = [f64], THREADS = [128], SIDE = [16], PAD = [1, 2], STAGES = [2]),
    instances(T = [I32x4], THREADS = [256], SIDE = [16], PAD = [0, 1], STAGES = [2]),
)]
pub fn transpose<T: Number, const THREADS: usize, const SIDE: usize, const PAD: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles2D<T, SIDE, SIDE, PAD>,
    mut out: TilesMut2D<T, SIDE, SIDE>,
    shared: Shared<Stages<Tile2D<T, SIDE, SIDE, PAD>, STAGES>>,
) {
    let mut results = out.for_block(&block);
    let places = results.places();
    let _ = shared.pipeline(&block).for_each(
        places.len(),
        |stage, i| {
            let (row, column) = places.get(i);
            stage.copy(input.tile(column, row))
        },
        |tile, i| {
            let dst = results.get_mut(i);
            block.threads(|t| dst.set_each(&t, |row, column| tile[(column, row)]));
        },
    );
}

/// [`transpose`](fn@crate::transpose) in squares of 4 by 4 elements, one a thread: it reads four
/// elements of a row of the input's tile in one access, and stores four of a row of the result in
/// another. A tile of the result has `ROWS` rows of `COLUMNS` elements, and one of the input
/// `COLUMNS` rows. With a `PAD` of 4 copies have 16 bytes, and reads have no conflicts of banks.
#[kernel(
    instances(T = [i32, f32], THREADS = [256], ROWS = [64], COLUMNS = [64], PAD = [4], STAGES = [1, 2]),
    instances(T = [i32], THREADS = [128], ROWS = [32], COLUMNS = [64], PAD = [4], STAGES = [1, 2]),
    instances(T = [i32], THREADS = [128], ROWS = [64], COLUMNS = [32], PAD = [4], STAGES = [1, 2]),
)]
pub fn transpose_wide<
    T: Number,
    const THREADS: usize,
    const ROWS: usize,
    const COLUMNS: usize,
    const PAD: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles2D<T, COLUMNS, ROWS, PAD>,
    mut out: TilesMut2D<T, ROWS, COLUMNS, Micro<4, 4>>,
    shared: Shared<Stages<Tile2D<T, COLUMNS, ROWS, PAD>, STAGES>>,
) {
    let tiles = input.by_columns().for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| tile[(column, row)]));
    });
}

/// Copies a matrix without stages: a thread reads a run of `RUN` elements and stores it.
#[kernel(
    instances(T = [i32], THREADS = [128], ROWS = [4], COLUMNS = [128], RUN = [4]),
    instances(T = [u8], THREADS = [128], ROWS = [4], COLUMNS = [512], RUN = [16]),
)]
pub fn copy_rows_reads<T: Number, const THREADS: usize, const ROWS: usize, const COLUMNS: usize, const RUN: usize>(
    block: Block<THREADS>,
    input: Tiles2D<T, ROWS, COLUMNS>,
    mut out: TilesMut2D<T, ROWS, COLUMNS, Runs<RUN>>,
) {
    const { assert!(ROWS * COLUMNS == THREADS * RUN) };
    let is_small = input.height().max(input.width()) <= u32::MAX as usize;
    let mut results = out.for_block(&block);
    let places = results.places();
    for i in 0..results.len() {
        let (down, right) = places.get(i);
        let dst = results.get_mut(i);
        block.threads(|t| {
            let (row, column) = dst.place(&t, 0);
            let (row, column) = (down * ROWS + row, right * COLUMNS + column);
            // Of numbers of 32 bits the compiler sees that the sums don't wrap.
            let (near, left) = (row as u32 as usize, column as u32 as usize);
            let is_inside = is_small
                && dst.rows() == ROWS
                && dst.columns() == COLUMNS
                && near < input.height()
                && left / RUN < input.width() / RUN;
            if is_inside {
                dst.set_run(&t, 0, input.run::<RUN>(near, left / RUN).0);
            } else {
                dst.set_each(&t, |below, across| {
                    input.get(down * ROWS + below, right * COLUMNS + across).unwrap_or(T::ZERO)
                });
            }
        });
    }
}

/// [`transpose`](fn@crate::transpose) without stages: each thread reads a square of 4 by 4 elements
/// where it lies, transposes it in its registers, and leaves its `RUNS / THREADS` rows in shared
/// memory to the threads that store them. All accesses have 16 bytes. A tile has `SIDE` rows and
/// columns, and as many squares as the block has threads.
#[kernel(instances(T = [i32, f32], THREADS = [256], SIDE = [64], RUNS = [4 * THREADS]))]
pub fn transpose_reads<T: Number + VectorLane<4>, const THREADS: usize, const SIDE: usize, const RUNS: usize>(
    block: Block<THREADS>,
    input: Tiles2D<T, SIDE, SIDE>,
    mut out: TilesMut2D<T, SIDE, SIDE, Runs<4>>,
    shared: Shared<Scratch<[Vec4<T>; RUNS]>>,
) {
    const { assert!(SIDE >= 32 && SIDE.is_power_of_two() && 16 * THREADS == SIDE * SIDE && RUNS == 4 * THREADS) };
    let is_small = input.height().max(input.width()) <= u32::MAX as usize;
    let mut scratch = shared.scratch(&block);
    let mut results = out.for_block(&block);
    let places = results.places();
    for i in 0..results.len() {
        let (down, right) = places.get(i);
        let squares = block.map(|t| {
            let (below, across) = square::<SIDE>(t.rank());
            let (row, column) = (right * SIDE + 4 * across, down * SIDE + 4 * below);
            // One check for all reads, which then are under way together.
            // Of numbers of 32 bits the compiler sees that the sums don't wrap.
            let (near, left) = (row as u32 as usize, column as u32 as usize);
            let is_inside = is_small && near + 3 < input.height() && left / 4 < input.width() / 4;
            if is_inside { four_columns(&input, near, left) } else { four_columns(&input, row, column) }
        });
        let runs = scratch.fill(&block, |t, nth| squares.get(&t)[nth / THREADS % 4]);
        let dst = results.get_mut(i);
        block.threads(|t| {
            for nth in 0..4 {
                let (row, column) = dst.place(&t, 4 * nth);
                dst.set_run(&t, nth, runs[row % 4 * THREADS + thread_of::<SIDE>(row / 4, column / 4)].0);
            }
        });
    }
}

/// The row and column, among the squares of a tile of the result, of that which a thread reads.
/// Threads side by side have squares below one another, which lie side by side in the input. Eight
/// of one row have numbers that differ modulo 8, so that their rows lie in different banks.
#[inline(always)]
fn square<const SIDE: usize>(thread: usize) -> (usize, usize) {
    let across = thread / (SIDE / 4);
    ((thread % (SIDE / 4)) ^ (across % 8), across)
}

/// The thread that reads a square: [`square`] says of which.
#[inline(always)]
fn thread_of<const SIDE: usize>(below: usize, across: usize) -> usize {
    let across = across % (SIDE / 4);
    across * (SIDE / 4) + ((below % (SIDE / 4)) ^ (across % 8))
}

/// The columns of a square of 4 by 4 elements. Beyond the edges there are zeros.
#[inline(always)]
fn four_columns<T: Number + VectorLane<4>, const ROWS: usize, const COLUMNS: usize>(
    input: &Tiles2D<'_, T, ROWS, COLUMNS>,
    row: usize,
    column: usize,
) -> [Vec4<T>; 4] {
    let rows: [[T; 4]; 4] = from_fn(|down| input.run::<4>(row + down, column / 4).0);
    from_fn(|column| Vec4(from_fn(|row| rows[row][column])))
}

/// A five-point stencil: `3 * centre + above + left + right + below`, in this order; beyond the
/// edges there are zeros.
#[kernel(
    instances(T = [i32, u32, f32], THREADS = [256], ROWS = [16], COLUMNS = [64], HALO = [1, 4], STAGES = [1, 2, 3]),
    instances(T = [f64, I32x4], THREADS = [128], ROWS = [8], COLUMNS = [32], HALO = [1, 2], STAGES = [2]),
)]
pub fn stencil_2d<
    T: Number,
    const THREADS: usize,
    const ROWS: usize,
    const COLUMNS: usize,
    const HALO: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Halos2D<T, ROWS, COLUMNS, HALO>,
    mut out: TilesMut2D<T, ROWS, COLUMNS>,
    shared: Shared<Stages<HaloTile2D<T, ROWS, COLUMNS, HALO>, STAGES>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| five_points(tile, row, column)));
    });
}

/// [`stencil_2d`](fn@crate::stencil_2d) with four elements of a row a thread, or four of each of
/// several rows: they are stored in accesses of 16 bytes. With a `HALO` of 4 copies and loads have
/// 16 bytes too; with one of 1 fewer elements are copied, each on its own.
#[kernel(
    instances(T = [i32, f32], THREADS = [256], ROWS = [16], COLUMNS = [64], HALO = [1, 4], STAGES = [1, 2]),
    instances(T = [i32], THREADS = [256], ROWS = [8], COLUMNS = [128], HALO = [1, 4], STAGES = [1, 2]),
    instances(T = [i32], THREADS = [512], ROWS = [16], COLUMNS = [128], HALO = [1, 4], STAGES = [1, 2]),
    instances(T = [i32], THREADS = [256], ROWS = [32], COLUMNS = [128], HALO = [4], STAGES = [1, 2]),
)]
pub fn stencil_2d_wide<
    T: Number,
    const THREADS: usize,
    const ROWS: usize,
    const COLUMNS: usize,
    const HALO: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Halos2D<T, ROWS, COLUMNS, HALO>,
    mut out: TilesMut2D<T, ROWS, COLUMNS, Runs<4>>,
    shared: Shared<Stages<HaloTile2D<T, ROWS, COLUMNS, HALO>, STAGES>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| five_points(tile, row, column)));
    });
}

/// [`stencil_2d`](fn@crate::stencil_2d) without stages: each thread has four rows of four elements,
/// and reads them, the rows above and below, and the elements beside them where they lie; most of
/// these the L1 cache has. The tiles of the input say how it is aligned.
#[kernel(instances(T = [i32, f32], THREADS = [128], ROWS = [16], COLUMNS = [128]), min_blocks = 10)]
pub fn stencil_2d_reads<T: Number, const THREADS: usize, const ROWS: usize, const COLUMNS: usize>(
    block: Block<THREADS>,
    input: Tiles2D<T, ROWS, COLUMNS>,
    mut out: TilesMut2D<T, ROWS, COLUMNS, Micro<4, 4>>,
) {
    let is_small = out.height().max(out.width()) <= u32::MAX as usize;
    hoist_bounds(out.for_block(&block), |mut results| {
        let places = results.places();
        for i in 0..results.len() {
            let (down, right) = places.get(i);
            let dst = results.get_mut(i);
            block.threads(|t| {
                let (row, column) = dst.place(&t, 0);
                let (row, column) = (down * ROWS + row, right * COLUMNS + column);
                // One check for all reads, which then are under way together.
                // Of numbers of 32 bits the compiler sees that the sums don't wrap.
                let (near, left) = (row as u32 as usize, column as u32 as usize);
                let is_inside = is_small
                    && 0 < near
                    && near + 4 < input.height()
                    && 0 < left
                    && left + 4 < input.width()
                    && left / 4 < input.width() / 4;
                let sums = if is_inside { four_rows(&input, near, left) } else { four_rows(&input, row, column) };
                dst.set_own(&t, |nth| sums[nth / 4][nth % 4]);
            });
        }
    });
}

/// [`five_points`] of four rows of four elements. Beyond the edges there are zeros.
#[inline(always)]
fn four_rows<T: Number, const ROWS: usize, const COLUMNS: usize>(
    input: &Tiles2D<'_, T, ROWS, COLUMNS>,
    row: usize,
    column: usize,
) -> [[T; 4]; 4] {
    // The number of the row above the first one wraps, and so does the column's.
    let rows: [_; 6] = from_fn(|down| input.run::<4>((row + down).wrapping_sub(1), column / 4).0);
    let beside = |row, column| input.get(row, column).unwrap_or_else(T::zeroed);
    let left: [_; 4] = from_fn(|down| beside(row + down, column.wrapping_sub(1)));
    let right: [_; 4] = from_fn(|down| beside(row + down, column + 4));
    from_fn(|down| {
        let [above, centre, below] = [rows[down], rows[down + 1], rows[down + 2]];
        from_fn(|nth| {
            let left = if nth == 0 { left[down] } else { centre[nth - 1] };
            let right = if nth == 3 { right[down] } else { centre[nth + 1] };
            centre[nth].triple().plus(above[nth]).plus(left).plus(right).plus(below[nth])
        })
    })
}

/// `3 * centre + above + left + right + below`, in this order.
#[inline(always)]
pub(crate) fn five_points<T: Number, const ROWS: usize, const COLUMNS: usize, const HALO: usize>(
    tile: &HaloTile2D<T, ROWS, COLUMNS, HALO>,
    row: usize,
    column: usize,
) -> T {
    let around = |down, right| tile.neighbour(row, column, down, right);
    let sum = tile[(row, column)].triple().plus(around(-1, 0)).plus(around(0, -1));
    sum.plus(around(0, 1)).plus(around(1, 0))
}
