//! Small kernels that write tensors through a ring of output stages. Each writes three times the
//! number that it reads, but for those that say otherwise.

use tilepipe::{
    Block, Element, Extents2, NoSwizzle, Outputs, Shared, Stages, Swizzle, Swizzle32, Swizzle64, Swizzle128, Tensor,
    TensorMap, TensorMut, TensorTile, Tile2D, Tiles2D, kernel,
};

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
