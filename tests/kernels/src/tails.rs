//! Small kernels of the copy engine over bytes, for lengths of any remainder: each element becomes
//! three times itself plus the one at the mirrored place of its tile, which may lie beyond the
//! view, where there are zeros.

use tilepipe::role::{EvenOdd, Partitioned, WarpRoles};
use tilepipe::{
    Block, Bulk, BulkTilesMut, CpAsync, Engine, HaloTile, HaloTile2D, Halos, Halos2D, Optional, Outputs, Replicated,
    Shared, Stages, Tile2D, Tiles, Tiles2D, TilesMut, TilesMut2D, WarpScope, kernel,
};
use tilepipe_kernel_elements::Number;

/// Elements of a tile.
pub const LEN: usize = 48;
/// Elements of a tile's halo on each side.
pub const HALO: usize = 16;
/// Elements of a tile of triples.
pub const TRIPLES: usize = 16;
/// Rows of a tile of rows.
pub const ROWS: usize = 3;
/// Columns of a tile of rows.
pub const COLUMNS: usize = 32;

/// What is written for an element and its mirror image.
#[inline(always)]
pub fn mixed(own: u8, mirrored: u8) -> u8 {
    own.wrapping_mul(3).wrapping_add(mirrored)
}

/// The driver.
#[kernel(instances(STAGES = [1, 2, 3]))]
pub fn tails_driven<const STAGES: usize>(
    block: Block<32>,
    input: Tiles<u8, LEN>,
    mut out: TilesMut<u8, LEN>,
    shared: Shared<Stages<[u8; LEN], STAGES, Bulk>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |e| mixed(tile[e], tile[LEN - 1 - e])));
    });
}

/// Stages and output stages of tiles.
type WithOutputs<const STAGES: usize, const COUNT: usize> =
    (Stages<[u8; LEN], STAGES, Bulk>, Outputs<[u8; LEN], COUNT>);

/// The driver, through a ring of output stages.
#[kernel(instances(THREADS = [32, 64], STAGES = [2], COUNT = [1, 2, 3]))]
pub fn tails_stored<const THREADS: usize, const STAGES: usize, const COUNT: usize>(
    block: Block<THREADS>,
    input: Tiles<u8, LEN>,
    out: BulkTilesMut<u8, LEN>,
    shared: Shared<WithOutputs<STAGES, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let tiles = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&tiles, &mut results, |tile, draft| {
        draft.fill(&block, |e| mixed(tile[e], tile[LEN - 1 - e]));
    });
}

/// Stores the loaded tiles as they are: it writes what it reads.
#[kernel(instances(STAGES = [1, 3]))]
pub fn tails_stored_as_loaded<const STAGES: usize>(
    block: Block<32>,
    input: Tiles<u8, LEN>,
    out: BulkTilesMut<u8, LEN>,
    shared: Shared<WithOutputs<STAGES, 0>>,
) {
    let (stages, outputs) = shared.split();
    let tiles = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&tiles, &mut results, |tile, draft| draft.store(tile));
}

/// Stages between two roles, and output stages.
type BetweenRoles<const STAGES: usize, const COUNT: usize> =
    (Partitioned<Stages<[u8; LEN], STAGES, Bulk>>, Outputs<[u8; LEN], COUNT>);

/// Each tile is written twice by hand, then the view and the memory come back, and a role writes
/// all of them once more.
#[kernel(instances(COUNT = [1, 2]))]
pub fn tails_stored_again<const COUNT: usize>(
    block: Block<64>,
    input: Tiles<u8, LEN>,
    out: BulkTilesMut<u8, LEN>,
    shared: Shared<BetweenRoles<2, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let tiles = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    for i in 0..results.len() {
        results.tile(i).fill(&block, |e| e as u8);
        results.tile(i).fill(&block, |_| 5);
    }
    let (out, outputs) = results.finish(&block);
    let _ = block
        .partition::<WarpRoles<32, 32>>()
        .pipeline(stages)
        .role((), |_, producer, ()| {
            let _ = producer.for_each(tiles.len(), |stage, i| stage.copy(tiles.get(i)));
        })
        .role((outputs, out), |group, consumer, (outputs, out)| {
            let mut results = outputs.outputs(&group, out);
            consumer.for_each(|tile, i| {
                results.tile(i).fill(&group, |e| mixed(tile[e], tile[LEN - 1 - e]));
            });
        })
        .run();
}

/// The driver between two roles, the second of which has output stages.
#[kernel(instances(STAGES = [1, 2], COUNT = [1, 2]))]
pub fn tails_stored_between_roles<const STAGES: usize, const COUNT: usize>(
    block: Block<96>,
    input: Tiles<u8, LEN>,
    out: BulkTilesMut<u8, LEN>,
    shared: Shared<BetweenRoles<STAGES, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let tiles = input.for_block(&block);
    let roles = block.partition::<WarpRoles<32, 64>>().pipeline(stages);
    let _ = roles.map_tiles(&tiles, (outputs, out), |group, tile, draft| {
        draft.fill(group, |e| mixed(tile[e], tile[LEN - 1 - e]));
    });
}

/// By hand, two tiles in flight at most; the last rounds fill optional stages with nothing.
#[kernel]
pub fn tails_by_hand(
    block: Block<32>,
    input: Tiles<u8, LEN>,
    mut out: TilesMut<u8, LEN>,
    shared: Shared<Stages<Optional<[u8; LEN]>, 2, Bulk>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let next = |i: usize| (i < tiles.len()).then(|| tiles.get(i));
    let _ = shared.with_pipeline(&block, |pipe| {
        let mut pipe = pipe.acquire().copy(next(0)).commit().weaken();
        for i in 0..tiles.len() {
            let (p, tile) = pipe.acquire().copy(next(i + 1)).commit().wait();
            if let Some(tile) = tile.get() {
                let dst = results.get_mut(i);
                block.threads(|t| dst.set_each(&t, |e| mixed(tile[e], tile[LEN - 1 - e])));
            }
            pipe = p.release(tile);
        }
    });
}

/// The driver between two roles.
#[kernel(instances(STAGES = [1, 2]))]
pub fn tails_between_roles<const STAGES: usize>(
    block: Block<64>,
    input: Tiles<u8, LEN>,
    mut out: TilesMut<u8, LEN>,
    shared: Shared<Partitioned<Stages<[u8; LEN], STAGES, Bulk>>>,
) {
    let tiles = input.for_block(&block);
    let roles = block.partition::<WarpRoles<32, 32>>().pipeline(shared);
    let _ = roles.map_tiles(&tiles, &mut out, |group, tile, dst| {
        group.threads(|t| dst.set_each(&t, |e| mixed(tile[e], tile[LEN - 1 - e])));
    });
}

/// By hand between two roles that share their warps, with optional stages: every third one is
/// empty.
#[kernel(instances(STAGES = [1, 2]))]
pub fn tails_between_halves<const STAGES: usize>(
    block: Block<64>,
    input: Tiles<u8, LEN>,
    mut out: TilesMut<u8, LEN>,
    shared: Shared<Partitioned<Stages<Optional<[u8; LEN]>, STAGES, Bulk>>>,
) {
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<EvenOdd<32>>()
        .pipeline(shared)
        .role((), |_, mut producer, ()| {
            let (mut step, mut i) = (0, 0);
            while i < tiles.len() {
                let Ok(stage) = producer.acquire() else { return };
                let is_empty = step % 3 == 1;
                producer = stage.copy((!is_empty).then(|| tiles.get(i))).commit();
                i += usize::from(!is_empty);
                step += 1;
            }
        })
        .role(&mut out, |group, mut consumer, out| {
            let mut results = out.for_role(&group);
            let mut i = 0;
            while let Ok(tile) = consumer.wait() {
                if let Some(tile) = tile.get() {
                    let dst = results.get_mut(i);
                    group.threads(|t| dst.set_each(&t, |e| mixed(tile[e], tile[LEN - 1 - e])));
                    i += 1;
                }
                consumer = tile.release();
            }
        })
        .run();
}

/// Each warp reads all of the block's tiles through a pipeline of its own, and writes its half of
/// each.
#[kernel]
pub fn tails_of_warps(
    block: Block<64>,
    input: Tiles<u8, LEN>,
    mut out: TilesMut<u8, LEN>,
    shared: Shared<Replicated<Stages<[u8; LEN], 2, Bulk, WarpScope>, 64>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let mut shared = shared;
    for i in 0..tiles.len() {
        let dst = results.get_mut(i);
        let (_, retired) = shared.warps(&block, |warp, pipe| {
            let (pipe, tile) = pipe.acquire().copy(tiles.get(i)).commit().wait();
            warp.lanes(|lane| dst.set_each(lane.thread(), |e| mixed(tile[e], tile[LEN - 1 - e])));
            // It ends with a copy in flight.
            let _ = pipe.release(tile).acquire().copy(tiles.get(0)).commit();
        });
        shared = retired.reclaim(&block);
    }
}

type Pair = ([u8; LEN], [u16; LEN]);

/// Two tiles a stage, of different types.
#[kernel(instances(STAGES = [1, 2]))]
pub fn tails_in_pairs<const STAGES: usize>(
    block: Block<32>,
    left: Tiles<u8, LEN>,
    right: Tiles<u16, LEN>,
    mut out: TilesMut<u8, LEN>,
    shared: Shared<Stages<Pair, STAGES, Bulk>>,
) {
    let (lefts, rights) = (left.for_block(&block), right.for_block(&block));
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles((&lefts, &rights), &mut results, |tiles, dst| {
        let (left, right) = tiles.tiles();
        block.threads(|t| dst.set_each(&t, |e| mixed(left[e], (right[LEN - 1 - e] >> 8) as u8)));
    });
}

/// Tiles with halos of 16 bytes: the element `HALO` places before is mixed with the one as far
/// after.
#[kernel(instances(STAGES = [1, 2]))]
pub fn tails_with_halos<const STAGES: usize>(
    block: Block<32>,
    input: Halos<u8, LEN, HALO>,
    mut out: TilesMut<u8, LEN>,
    shared: Shared<Stages<HaloTile<u8, LEN, HALO>, STAGES, Bulk>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        let elements = tile.as_slice();
        block.threads(|t| dst.set_each(&t, |e| mixed(elements[e], elements[e + 2 * HALO])));
    });
}

/// Elements of 3 and of 12 bytes, so that views end within elements' copies of 4 and of 16 bytes:
/// three times each number and the one at the mirrored place of the tile.
#[kernel(instances(T = [u8, u32], E = [CpAsync, Bulk], STAGES = [1, 2]))]
pub fn tails_of_triples<T: Number, E: Engine, const STAGES: usize>(
    block: Block<32>,
    input: Tiles<[T; 3], TRIPLES>,
    mut out: TilesMut<[T; 3], TRIPLES>,
    shared: Shared<Stages<[[T; 3]; TRIPLES], STAGES, E>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| {
            dst.set_each(&t, |e| {
                let (own, other) = (tile[e], tile[TRIPLES - 1 - e]);
                [own[0].triple().plus(other[2]), own[1].triple().plus(other[1]), own[2].triple().plus(other[0])]
            });
        });
    });
}

/// Rows, without padding and with: mixed with the element at the mirrored place of the mirrored
/// row.
#[kernel(instances(E = [CpAsync, Bulk], PAD = [0, 16], STAGES = [1, 2]))]
pub fn tails_of_rows<E: Engine, const PAD: usize, const STAGES: usize>(
    block: Block<32>,
    input: Tiles2D<u8, ROWS, COLUMNS, PAD>,
    mut out: TilesMut2D<u8, ROWS, COLUMNS>,
    shared: Shared<Stages<Tile2D<u8, ROWS, COLUMNS, PAD>, STAGES, E>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| {
            dst.set_each(&t, |row, column| mixed(tile[(row, column)], tile[(ROWS - 1 - row, COLUMNS - 1 - column)]));
        });
    });
}

/// Rows with halos of 16 elements: the element a row above and `HALO` places before is mixed with
/// the one two rows below and as far after.
#[kernel(instances(E = [CpAsync, Bulk], STAGES = [1, 2]))]
pub fn tails_of_rows_with_halos<E: Engine, const STAGES: usize>(
    block: Block<32>,
    input: Halos2D<u8, ROWS, COLUMNS, HALO>,
    mut out: TilesMut2D<u8, ROWS, COLUMNS>,
    shared: Shared<Stages<HaloTile2D<u8, ROWS, COLUMNS, HALO>, STAGES, E>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        let far = HALO as isize;
        block.threads(|t| {
            dst.set_each(&t, |row, column| {
                mixed(tile.neighbour(row, column, -1, -far), tile.neighbour(row, column, 2, far))
            });
        });
    });
}
