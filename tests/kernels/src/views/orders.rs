//! Small kernels whose blocks take tiles in a row, or whole rows of tiles.

use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{
    Block, Bulk, BulkTilesMut, Consecutive, Extents2, Outputs, Shared, Stages, Striped, Swizzle128, Tensor, TensorMap,
    TensorMut, TensorTile, Tile2D, Tiles, Tiles2D, TilesMut, TilesMut2D, WholeRows, hoist_bounds, kernel,
};

/// Threads of a block, and elements of a tile.
pub const THREADS: usize = 64;
/// Rows and columns of a tile of a matrix.
pub const EXTENTS: [usize; 2] = [4, 16];

type Row = [u32; THREADS];
type Box = Extents2<8, 32>;
type Room = TensorTile<u32, Box, Swizzle128>;

/// Writes the sum of both inputs, times the number of the block plus one.
#[kernel]
pub fn in_a_row(
    block: Block<THREADS>,
    left: Tiles<u32, THREADS>,
    right: Tiles<u32, THREADS>,
    mut out: TilesMut<u32, THREADS, Striped, Consecutive>,
    shared: Shared<Stages<([u32; THREADS], [u32; THREADS]), 3>>,
) {
    let (lefts, rights) = (left.in_order::<Consecutive>(&block), right.in_order::<Consecutive>(&block));
    let factor = block.index() as u32 + 1;
    let _ = shared.pipeline(&block).map_tiles((&lefts, &rights), &mut out.for_block(&block), |tiles, dst| {
        let (left, right) = tiles.tiles();
        block.threads(|t| dst.set(&t, factor.wrapping_mul(left[t.rank()].wrapping_add(right[t.rank()]))));
    });
}

/// Writes each element, times the number of the block plus one, plus its tile's number, in a loop
/// by hand.
#[kernel]
pub fn in_a_row_by_hand(
    block: Block<THREADS>,
    input: Tiles<u32, THREADS>,
    mut out: TilesMut<u32, THREADS, Striped, Consecutive>,
    shared: Shared<Stages<[u32; THREADS], 1>>,
) {
    let factor = block.index() as u32 + 1;
    hoist_bounds((input.in_order::<Consecutive>(&block), out.for_block(&block)), |(tiles, mut results)| {
        let mut memory = shared;
        for i in 0..tiles.len() {
            let number = results.number(i) as u32;
            let tile = memory.copy(&block, tiles.get(i)).wait();
            let dst = results.get_mut(i);
            block.threads(|t| dst.set(&t, factor.wrapping_mul(tile[t.rank()]).wrapping_add(number)));
            memory = tile.release(&block);
        }
    });
}

/// As `in_a_row` of one input, between roles.
#[kernel]
pub fn in_a_row_by_roles(
    block: Block<96>,
    input: Tiles<u32, THREADS>,
    mut out: TilesMut<u32, THREADS, Striped, Consecutive>,
    shared: Shared<Partitioned<Stages<[u32; THREADS], 2>>>,
) {
    let tiles = input.in_order::<Consecutive>(&block);
    let factor = block.index() as u32 + 1;
    let pipeline = block.partition::<WarpRoles<32, 64>>().pipeline(shared);
    let _ = pipeline.map_tiles(&tiles, &mut out, |group, tile, dst| {
        group.threads(|t| dst.set(&t, factor.wrapping_mul(tile[t.rank()])));
    });
}

/// As `in_a_row_by_roles`, stored by the copy engine.
#[kernel]
pub fn in_a_row_stored(
    block: Block<THREADS>,
    input: Tiles<u32, THREADS>,
    out: BulkTilesMut<u32, THREADS, Consecutive>,
    shared: Shared<(Stages<Row, 2, Bulk>, Outputs<Row, 2>)>,
) {
    let (stages, outputs) = shared.split();
    let tiles = input.in_order::<Consecutive>(&block);
    let factor = block.index() as u32 + 1;
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&tiles, &mut results, |tile, draft| {
        draft.fill(&block, |i| factor.wrapping_mul(tile[i]));
    });
}

/// As `in_a_row_by_roles`, of boxes of a tensor.
#[kernel]
pub fn boxes_in_a_row(
    block: Block<128>,
    input: Tensor<u32, Box, Swizzle128>,
    out: TensorMut<u32, Box, Swizzle128, Consecutive>,
    shared: Shared<(Stages<Room, 2, TensorMap>, Outputs<Room, 2>)>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.in_order::<Consecutive>(&block);
    let factor = block.index() as u32 + 1;
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&boxes, &mut results, |tile, draft| {
        draft.fill(&block, |row, column| factor.wrapping_mul(tile[(row, column)]));
    });
}

/// Writes each element, times the number of the block plus one, plus the number of its row of
/// tiles.
#[kernel]
pub fn whole_rows(
    block: Block<THREADS>,
    input: Tiles2D<u32, { EXTENTS[0] }, { EXTENTS[1] }>,
    mut out: TilesMut2D<u32, { EXTENTS[0] }, { EXTENTS[1] }, Striped, WholeRows>,
    mut shared: Shared<Stages<Tile2D<u32, { EXTENTS[0] }, { EXTENTS[1] }>, 2>>,
) {
    let factor = block.index() as u32 + 1;
    let (rows, mut results) = (input.in_order::<WholeRows>(&block), out.for_block(&block));
    for i in 0..rows.len() {
        let number = rows.number(i) as u32;
        let (row, mut written) = (rows.row(i), results.row_mut(i));
        shared = shared
            .pipeline(&block)
            .map_tiles(&row, &mut written, |tile, dst| {
                let value = |row, column| factor.wrapping_mul(tile[(row, column)]).wrapping_add(number);
                block.threads(|t| dst.set_each(&t, value));
            })
            .finish();
    }
}

/// Fails where the output has another number of tiles.
#[kernel]
pub fn unequal_in_a_row(
    block: Block<THREADS>,
    input: Tiles<u32, THREADS>,
    mut out: TilesMut<u32, THREADS, Striped, Consecutive>,
    shared: Shared<Stages<[u32; THREADS], 2>>,
) {
    let tiles = input.in_order::<Consecutive>(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set(&t, tile[t.rank()]));
    });
}
