//! Small kernels that compute tiles in shared memory.

#![expect(clippy::type_complexity, reason = "shared memory is laid out by its type")]

use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Element, Input, Input2D, Scratch, Shared, Stages, Tile2D, Tiles, TilesMut, TilesMut2D, kernel};

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
