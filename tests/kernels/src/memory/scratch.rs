//! Small kernels that compute tiles in shared memory.

#![expect(clippy::type_complexity, reason = "shared memory is laid out by its type")]

use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{
    Block, Element, Input, Input2D, LoadStore, Replicated, Scratch, Shared, Stages, Tile2D, Tiles, TilesMut,
    TilesMut2D, WarpRows, WarpScope, kernel,
};

/// Elements of a tile: no multiple of the number of threads.
pub const LEN: usize = 100;

/// Each tile from back to front, with the first element of the tile in place of the last one.
#[kernel(instances(T = [u8, i16, f32, u64, u128]))]
pub fn turned<T: Element>(
    block: Block<64>,
    input: Input<T>,
    mut out: TilesMut<T, LEN>,
    shared: Shared<Scratch<[T; LEN]>>,
) {
    let mut scratch = shared.scratch(&block);
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = LEN * results.number(i);
        let zero = input.at(first);
        let tile = scratch.fill(&block, |_, index| input.get(first + index).unwrap_or(zero));
        let dst = results.get_mut(i);
        block.threads(|t| dst.set_each(&t, |element| tile[(LEN - 1 - element).max(1)]));
    }
}

/// Adds to each element those before it in its tile, in rounds in which each adds the one that lies
/// 1, 2, 4, .. before it (Hillis and Steele), from one scratch tile to another one and back.
///
/// Guards are forgotten on the way, and the memory is given back and taken again.
#[kernel]
pub fn sums_in_rounds(
    block: Block<96>,
    input: Input<u32>,
    mut out: TilesMut<u32, LEN>,
    shared: Shared<(Scratch<[u32; LEN]>, Scratch<[u32; LEN]>)>,
) {
    let mut shared = shared;
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = LEN * results.number(i);
        let (one, other) = shared.split();
        let (mut one, mut other) = (one.scratch(&block), other.scratch(&block));
        let _ = other.fill(&block, |t, index| (t.rank() + index) as u32);
        let mut sums = one.fill(&block, |_, index| input.get(first + index).unwrap_or(0));
        let mut distance = 1;
        while distance < LEN {
            let more = other.fill(&block, |_, index| if index < distance { 0 } else { sums[index - distance] });
            sums.update(&block, |_, index, sum| sum.wrapping_add(more[index]));
            distance *= 2;
        }
        let dst = results.get_mut(i);
        block.threads(|t| dst.set_each(&t, |element| sums[element]));
        shared = Shared::join(one.finish(&block), other.finish(&block));
    }
}

/// The transpose, each tile of 32 by 32 through shared memory whose rows have an element of
/// padding, times the number of its row and column in the tile, from 1 on.
#[kernel(instances(THREADS = [96, 256]))]
pub fn transposed_in_scratch<const THREADS: usize>(
    block: Block<THREADS>,
    input: Input2D<u32>,
    mut out: TilesMut2D<u32, 32, 32>,
    shared: Shared<Scratch<Tile2D<u32, 32, 32, 1>>>,
) {
    let mut scratch = shared.scratch(&block);
    let mut results = out.for_block(&block);
    let places = results.places();
    for i in 0..results.len() {
        let (top, left) = places.get(i);
        let element = |row, column| input.get(32 * left + row, 32 * top + column).unwrap_or(0);
        let mut tile = scratch.fill(&block, |_, row, column| element(row, column));
        tile.update(&block, |_, row, column, old| old.wrapping_mul(((row + 1) * (column + 1)) as u32));
        let dst = results.get_mut(i);
        block.threads(|t| dst.set_each(&t, |row, column| tile[(column, row)]));
    }
}

/// Each tile less its least element, in the block: what a closure of each thread has worked out
/// goes through shared memory, and the pipeline's own tile is read meanwhile.
#[kernel]
pub fn less_the_least(
    block: Block<64>,
    input: Tiles<u32, 256>,
    mut out: TilesMut<u32, 256>,
    shared: Shared<(Stages<[u32; 256], 3>, Scratch<[u32; 64]>)>,
) {
    let (stages, scratch) = shared.split();
    let mut scratch = scratch.scratch(&block);
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = stages.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        let least = block.map(|t| tile[4 * t.rank()..][..4].iter().copied().fold(u32::MAX, u32::min));
        let all = scratch.fill(&block, |t, _| least.get(&t));
        let least = all.iter().copied().fold(u32::MAX, u32::min);
        block.threads(|t| dst.set_each(&t, |element| tile[element] - least));
    });
}

/// The same, in a role to which the memory is handed while another role loads.
#[kernel]
pub fn less_the_least_of_a_role(
    block: Block<96>,
    input: Tiles<u32, 256>,
    mut out: TilesMut<u32, 256>,
    shared: Shared<(Partitioned<Stages<[u32; 256], 3>>, Scratch<[u32; 64]>)>,
) {
    let (stages, scratch) = shared.split();
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<WarpRoles<32, 64>>()
        .pipeline(stages)
        .role((), |_, producer, ()| {
            let _ = producer.for_each(tiles.len(), |stage, i| stage.copy(tiles.get(i)));
        })
        .role((&mut out, scratch), |group, consumer, (out, scratch)| {
            let mut scratch = scratch.scratch(&group);
            let mut results = out.for_role(&group);
            consumer.for_each(|tile, i| {
                let least = group.map(|t| tile[4 * t.rank()..][..4].iter().copied().fold(u32::MAX, u32::min));
                let all = scratch.fill(&group, |t, _| least.get(&t));
                let least = all.iter().copied().fold(u32::MAX, u32::min);
                let dst = results.get_mut(i);
                group.threads(|t| dst.set_each(&t, |element| tile[element] - least));
            });
        })
        .run();
}

/// As [`turned`](fn@turned), the tiles in a ring of stages that the block computes, by a driver.
#[kernel(instances(T = [u8, i16, f32, u128], STAGES = [1, 2, 3]))]
pub fn turned_in_a_ring<T: Element, const STAGES: usize>(
    block: Block<64>,
    input: Input<T>,
    mut out: TilesMut<T, LEN>,
    shared: Shared<Stages<[T; LEN], STAGES, LoadStore>>,
) {
    let mut results = out.for_block(&block);
    let first = block.map(|t| t.rank());
    let _ = shared.pipeline(&block).for_each(
        results.len(),
        |stage, i| {
            let start = LEN * (block.index() + i * block.grid());
            let zero = input.at(start);
            // Thread `r` computes the elements `r` and `r + 64`.
            stage.fill(&block, |t, element| {
                let own = first.get(&t) + element / 64 * 64;
                input.get(start + own).unwrap_or(zero)
            })
        },
        |tile, i| {
            let dst = results.get_mut(i);
            block.threads(|t| dst.set_each(&t, |element| tile[(LEN - 1 - element).max(1)]));
        },
    );
}

/// By hand in a ring of two: each tile of 16 by 32 elements, its halves of 16 by 16 transposed. A
/// tile is computed while the one before it is held, of which it adds the first and the last
/// element.
#[kernel]
pub fn computed_from_the_held(
    block: Block<96>,
    input: Input2D<u32>,
    mut out: TilesMut2D<u32, 16, 32>,
    shared: Shared<Stages<Tile2D<u32, 16, 32, 1>, 2, LoadStore>>,
) {
    let mut results = out.for_block(&block);
    let places = results.places();
    if results.len() == 0 {
        return;
    }
    let element = |i: usize, element: usize| {
        let (top, left) = places.get(i);
        input.get(16 * top + element / 32, 32 * left + element % 32).unwrap_or(7)
    };
    let mut pipe = shared.pipeline(&block).acquire().fill(&block, |_, e| element(0, e)).commit().weaken();
    for i in 0..results.len() {
        let (p, tile) = pipe.wait();
        let last = tile[(15, 31)];
        let next = (i + 1).min(results.len() - 1);
        let p =
            p.acquire().fill(&block, |_, e| element(next, e).wrapping_add(last).wrapping_add(tile[(0, 0)])).commit();
        let dst = results.get_mut(i);
        block.threads(|t| {
            dst.set_each(&t, |row, column| tile[(column % 16, column / 16 * 16 + row)]);
        });
        pipe = p.release(tile);
    }
}

/// Elements of a warp's own tile, and tiles that it computes one after the other.
pub const OF_A_WARP: usize = 40;
/// Tiles that a warp computes one after the other.
pub const ROUNDS: usize = 5;

/// Warps that compute tiles of their own: [`ROUNDS`] in a ring, of which each lane adds up what it
/// finds from the back, and then one in scratch memory from a sum of these.
#[kernel(instances(STAGES = [1, 2, 3]))]
pub fn tiles_of_warps<const STAGES: usize>(
    block: Block<96>,
    input: Input<u32>,
    mut out: TilesMut<u32, 96>,
    shared: Shared<(
        Replicated<Stages<[u32; OF_A_WARP], STAGES, LoadStore, WarpScope>, 96>,
        Replicated<Scratch<[u32; OF_A_WARP]>, 96>,
    )>,
) {
    let (mut stages, mut scratch) = shared.split();
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let (number, dst) = (results.number(i), results.get_mut(i));
        let (of_warps, retired) = stages.warps(&block, |warp, pipe| {
            let first = (number * warp.count() + warp.rank()) * ROUNDS * OF_A_WARP;
            let mut sums = warp.map(|_| 0);
            let _ = pipe.for_each(
                ROUNDS,
                |stage, i| stage.fill(&warp, |_, e| input.get(first + i * OF_A_WARP + e).unwrap_or(1)),
                |tile, _| {
                    warp.update(&mut sums, |lane, sum: &mut u32| {
                        *sum = sum.wrapping_mul(3).wrapping_add(tile[OF_A_WARP - 1 - lane.rank()]);
                    });
                },
            );
            let weighted = warp.map(|lane| sums.get(&lane).wrapping_mul(lane.rank() as u32 + 1));
            warp.reduce(&weighted, u32::wrapping_add)
        });
        let (_, used) = scratch.warps(&block, |warp, mut scratch| {
            let mut tile = scratch.fill(&warp, |lane, e| of_warps.get(lane.thread()).wrapping_add(e as u32));
            tile.update(&warp, |_, e, old: u32| old.wrapping_mul(e as u32 + 1));
            warp.lanes(|lane| dst.set(lane.thread(), tile[OF_A_WARP - 1 - lane.rank()]));
        });
        (stages, scratch) = (retired.reclaim(&block), used.reclaim(&block));
    }
}

/// Each row as what is left of it above its least element, a row a warp. The columns are whole
/// tiles.
#[kernel(instances((THREADS, COLUMNS) = [(32, 256), (96, 128), (96, 256)], ROWS = [3]))]
pub fn above_the_rows_least<const THREADS: usize, const ROWS: usize, const COLUMNS: usize>(
    block: Block<THREADS>,
    input: Input2D<u32>,
    mut out: TilesMut2D<u32, ROWS, COLUMNS, WarpRows<4>>,
) {
    let mut results = out.for_block(&block);
    let places = results.places();
    for i in 0..results.len() {
        let (top, left) = places.get(i);
        let dst = results.get_mut(i);
        block.warps(|warp| {
            // The warp's row number `nth`, and of it the four elements number `run`.
            let (first, warps) = (ROWS * top + warp.rank(), warp.count());
            let of_row = |nth: usize, run: usize| input.run::<4>(first + nth * warps, COLUMNS / 4 * left + run).0;
            for nth in 0..ROWS / warps {
                let own = warp.map(|lane| {
                    let runs = (0..COLUMNS / 128).flat_map(|run| of_row(nth, 32 * run + lane.rank()));
                    runs.fold(u32::MAX, u32::min)
                });
                let least = warp.reduce(&own, u32::min);
                warp.lanes(|lane| {
                    for element in 0..COLUMNS / 32 {
                        let value = of_row(nth, element / 4 * 32 + lane.rank())[element % 4];
                        dst.set_nth(lane.thread(), nth * (COLUMNS / 32) + element, value.wrapping_sub(least));
                    }
                });
            }
        });
    }
}
