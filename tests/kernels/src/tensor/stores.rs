//! Small kernels that write tensors through a ring of output stages. Each writes three times the
//! number that it reads, but for those that say otherwise.

use tilepipe::reduce::{Add, And, Max, Min, Or, Unordered, Xor};
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{
    Block, Element, Extents2, NoSwizzle, Operation, Outputs, Shared, Stages, Swizzle, Swizzle32, Swizzle64, Swizzle128,
    Tensor, TensorMap, TensorMut, TensorTile, Tile2D, TileReduction, Tiles2D, bf16, f16, kernel,
};
use tilepipe_kernel_elements::Number;

/// Rows of the boxes.
const ROWS: usize = 8;
/// What a stage holds.
type Box<W, const COLUMNS: usize> = TensorTile<u32, Extents2<ROWS, COLUMNS>, W>;
/// Input stages and output stages.
type Both<W, const COLUMNS: usize, const STAGES: usize, const COUNT: usize> =
    (Stages<Box<W, COLUMNS>, STAGES, TensorMap>, Outputs<Box<W, COLUMNS>, COUNT>);

/// Stages and output stages of square boxes, two of each.
type Squares<T, W, const SIDE: usize> =
    (Stages<TensorTile<T, Extents2<SIDE, SIDE>, W>, 2, TensorMap>, Outputs<TensorTile<T, Extents2<SIDE, SIDE>, W>, 2>);
/// Room for a tile that threads copy, and output stages.
type TileAndOutputs<const COUNT: usize> = (Stages<Tile2D<u32, ROWS, 16>, 1>, Outputs<Box<Swizzle64, 16>, COUNT>);

/// The driver, with rings of one to four output stages.
#[kernel(
    instances(W = [NoSwizzle], COLUMNS = [4, 12], THREADS = [96], STAGES = [2], COUNT = [1, 3]),
    instances(W = [Swizzle32], COLUMNS = [8], THREADS = [96], STAGES = [1, 2], COUNT = [1, 2]),
    instances(W = [Swizzle64], COLUMNS = [16], THREADS = [32], STAGES = [2], COUNT = [2, 4]),
    instances(W = [Swizzle128], COLUMNS = [32], THREADS = [96], STAGES = [1, 3], COUNT = [1, 2, 3]),
)]
pub fn boxes_through_a_ring<
    W: Swizzle,
    const COLUMNS: usize,
    const THREADS: usize,
    const STAGES: usize,
    const COUNT: usize,
>(
    block: Block<THREADS>,
    input: Tensor<u32, Extents2<ROWS, COLUMNS>, W>,
    out: TensorMut<u32, Extents2<ROWS, COLUMNS>, W>,
    shared: Shared<Both<W, COLUMNS, STAGES, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&boxes, &mut results, |tile, draft| {
        draft.fill(&block, |row, column| tile[(row, column)].wrapping_mul(3));
    });
}

/// Stores the loaded boxes as they are: it writes what it reads.
#[kernel(
    instances(W = [NoSwizzle, Swizzle64], STAGES = [1, 3], COUNT = [1]),
    instances(W = [Swizzle64], STAGES = [2], COUNT = [2]),
)]
pub fn boxes_stored_as_loaded<W: Swizzle, const STAGES: usize, const COUNT: usize>(
    block: Block<64>,
    input: Tensor<u32, Extents2<ROWS, 16>, W>,
    out: TensorMut<u32, Extents2<ROWS, 16>, W>,
    shared: Shared<Both<W, 16, STAGES, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&boxes, &mut results, |tile, draft| draft.store(tile));
}

/// Writes the transpose, patch by patch.
#[kernel(
    instances(T = [u8], W = [Swizzle128], SIDE = [128], N = [16]),
    instances(T = [u8], W = [NoSwizzle], SIDE = [48], N = [16]),
    instances(T = [u16], W = [Swizzle128], SIDE = [64], N = [8]),
    instances(T = [u32], W = [Swizzle128], SIDE = [32], N = [4]),
    instances(T = [u32], W = [Swizzle32], SIDE = [8], N = [4]),
    instances(T = [u64], W = [Swizzle128], SIDE = [16], N = [2]),
)]
pub fn transposed_by_patches<T: Element, W: Swizzle, const SIDE: usize, const N: usize>(
    block: Block<64>,
    input: Tensor<T, Extents2<SIDE, SIDE>, W>,
    out: TensorMut<T, Extents2<SIDE, SIDE>, W>,
    shared: Shared<Squares<T, W, SIDE>>,
) {
    let (stages, outputs) = shared.split();
    let mut results = outputs.outputs(&block, out);
    let places = results.places();
    let _ = stages.pipeline(&block).for_each(
        results.len(),
        |stage, i| {
            let (row, column) = places.get(i);
            stage.copy(input.at((column * SIDE) as i32, (row * SIDE) as i32))
        },
        |tile, i| {
            results.tile(i).fill_patches(&block, |row, column| tile.transposed::<N>(column, row));
        },
    );
}

/// A ring by hand: each box is written twice, then the view and the memory come back, and a second
/// ring, which is dropped, writes each box once more.
#[kernel(instances(COUNT = [1, 2, 3]))]
pub fn boxes_written_again<const COUNT: usize>(
    block: Block<64>,
    input: Tiles2D<u32, ROWS, 16>,
    out: TensorMut<u32, Extents2<ROWS, 16>, Swizzle64>,
    shared: Shared<TileAndOutputs<COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let tiles = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    for i in 0..results.len() {
        results.tile(i).fill(&block, |row, column| (row + column) as u32);
        results.tile(i).fill(&block, |_, _| 5);
    }
    let (out, outputs) = results.finish(&block);
    let mut results = outputs.outputs(&block, out);
    let mut memory = stages;
    for i in 0..tiles.len() {
        let tile = memory.copy(&block, tiles.get(i)).wait();
        results.tile(i).fill(&block, |row, column| tile[(row, column)].wrapping_mul(3));
        memory = tile.release(&block);
    }
    drop(results);
}

/// Stages of boxes, and output stages of boxes that may be others.
type Reduced<T, X, W, const ROWS: usize, const COLUMNS: usize, const COUNT: usize> =
    (Stages<TensorTile<T, Extents2<ROWS, COLUMNS>, W>, 2, TensorMap>, Outputs<TensorTile<T, X, W>, COUNT>);

/// Combines all boxes of a tensor with the one box of another one, as they are loaded.
#[kernel(
    instances(T = [u32], O = [Add, Min, Max, And, Or, Xor], W = [Swizzle32], COLUMNS = [8]),
    instances(T = [i32], O = [Add, Min, Max, And, Or, Xor], W = [NoSwizzle], COLUMNS = [8]),
    instances(T = [u64], O = [Add, Min, Max, And, Or, Xor], W = [NoSwizzle], COLUMNS = [6]),
    instances(T = [i64], O = [Add, Min, Max, And, Or, Xor], W = [Swizzle64], COLUMNS = [8]),
    instances(T = [f32], O = [Unordered<Add>], W = [Swizzle32], COLUMNS = [8]),
    instances(T = [f64], O = [Unordered<Add>], W = [Swizzle64], COLUMNS = [8]),
    instances(T = [f16, bf16], O = [Unordered<Add>], W = [Swizzle32], COLUMNS = [16]),
)]
pub fn boxes_combined<T: Element, O: Operation<T>, W: Swizzle, const COLUMNS: usize>(
    block: Block<32>,
    input: Tensor<T, Extents2<ROWS, COLUMNS>, W>,
    out: TileReduction<T, O, Extents2<ROWS, COLUMNS>, W>,
    shared: Shared<Reduced<T, Extents2<ROWS, COLUMNS>, W, ROWS, COLUMNS, 0>>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.for_block(&block);
    let mut sums = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).for_each_tile(&boxes, |tile, _| sums.tile_at(0, 0).store(tile));
}

/// Adds the sums of a tensor's columns to a row. A block takes boxes in a column of them one after
/// the other, and adds what it has when the next one is in another column.
#[kernel(
    instances(T = [i32], O = [Add], THREADS = [32], COLUMNS = [4 * THREADS], COUNT = [1, 2]),
    instances(T = [f32], O = [Unordered<Add>], THREADS = [64], COLUMNS = [4 * THREADS], COUNT = [2]),
)]
pub fn sums_of_columns<T: Number, O: Operation<T>, const THREADS: usize, const COLUMNS: usize, const COUNT: usize>(
    block: Block<THREADS>,
    input: Tensor<T, Extents2<ROWS, COLUMNS>, NoSwizzle>,
    out: TileReduction<T, O, Extents2<1, COLUMNS>, NoSwizzle>,
    shared: Shared<Reduced<T, Extents2<1, COLUMNS>, NoSwizzle, ROWS, COLUMNS, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let (down, across) = (input.box_rows(), input.box_columns());
    let share = (down * across).div_ceil(block.grid());
    let first = (block.index() * share).min(down * across);
    let count = share.min(down * across - first);
    let mut results = outputs.outputs(&block, out);
    let mut sums = block.map(|_| [T::ZERO; 4]);
    let _ = stages.pipeline(&block).for_each(
        count,
        |stage, i| {
            let (row, column) = ((first + i) % down, (first + i) / down);
            stage.copy(input.at((row * ROWS) as i32, (column * COLUMNS) as i32))
        },
        |tile, i| {
            block.update(&mut sums, |t, sums| {
                for row in 0..ROWS {
                    let values: [T; 4] = tile.vector(row, 4 * t.rank());
                    for lane in 0..4 {
                        sums[lane] = sums[lane].plus(values[lane]);
                    }
                }
            });
            if i + 1 == count || (first + i + 1) % down == 0 {
                results.tile_at(0, (first + i) / down).fill_own(&block, |t| sums.get(&t));
                sums = block.map(|_| [T::ZERO; 4]);
            }
        },
    );
}

/// Stages between two roles, and output stages of one of them.
type OfRoles<W, const STAGES: usize, const COUNT: usize> =
    (Partitioned<Stages<Box<W, 16>, STAGES, TensorMap>>, Outputs<Box<W, 16>, COUNT>);

/// One role loads, and the other writes through a ring of its own.
#[kernel(instances(W = [NoSwizzle, Swizzle64], STAGES = [1, 3], COUNT = [1, 2]))]
pub fn boxes_of_a_role<W: Swizzle, const STAGES: usize, const COUNT: usize>(
    block: Block<96>,
    input: Tensor<u32, Extents2<ROWS, 16>, W>,
    out: TensorMut<u32, Extents2<ROWS, 16>, W>,
    shared: Shared<OfRoles<W, STAGES, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.for_block(&block);
    let _ = block
        .partition::<WarpRoles<32, 64>>()
        .pipeline(stages)
        .role((), |_, producer, ()| {
            let _ = producer.for_each(boxes.len(), |stage, i| stage.copy(boxes.get(i)));
        })
        .role((outputs, out), |group, consumer, (outputs, out)| {
            let mut results = outputs.outputs(&group, out);
            consumer.for_each(|tile, i| {
                results.tile(i).fill(&group, |row, column| tile[(row, column)].wrapping_mul(3));
            });
        })
        .run();
}

/// As [`boxes_of_a_role`](fn@boxes_of_a_role), by the driver.
#[kernel(instances(W = [Swizzle64], STAGES = [1, 3], COUNT = [1, 2]))]
pub fn boxes_driven_to_a_role<W: Swizzle, const STAGES: usize, const COUNT: usize>(
    block: Block<96>,
    input: Tensor<u32, Extents2<ROWS, 16>, W>,
    out: TensorMut<u32, Extents2<ROWS, 16>, W>,
    shared: Shared<OfRoles<W, STAGES, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.for_block(&block);
    let roles = block.partition::<WarpRoles<32, 64>>().pipeline(stages);
    let _ = roles.map_tiles(&boxes, (outputs, out), |group, tile, draft| {
        draft.fill(group, |row, column| tile[(row, column)].wrapping_mul(3));
    });
}

/// As [`boxes_of_a_role`](fn@boxes_of_a_role), but boxes are stored as they were loaded.
#[kernel(instances(W = [NoSwizzle, Swizzle64], STAGES = [1, 3]))]
pub fn boxes_of_a_role_as_loaded<W: Swizzle, const STAGES: usize>(
    block: Block<96>,
    input: Tensor<u32, Extents2<ROWS, 16>, W>,
    out: TensorMut<u32, Extents2<ROWS, 16>, W>,
    shared: Shared<OfRoles<W, STAGES, 0>>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.for_block(&block);
    let _ = block
        .partition::<WarpRoles<32, 64>>()
        .pipeline(stages)
        .role((), |_, producer, ()| {
            let _ = producer.for_each(boxes.len(), |stage, i| stage.copy(boxes.get(i)));
        })
        .role((outputs, out), |group, mut consumer, (outputs, out)| {
            let mut results = outputs.outputs(&group, out);
            for i in 0..results.len() {
                let Ok(tile) = consumer.wait() else { return };
                results.tile(i).store(&tile);
                consumer = tile.release();
            }
        })
        .run();
}
