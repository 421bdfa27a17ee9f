//! Steps by hand at thread scope, with tiles published and not, and queues of single copies.

use proptest::prelude::*;
use tilepipe::{Block, ByHand, CpAsync, LoadStore, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};

use crate::launches::{Two, at, bind, case, elements, gives, number};

/// Every other tile is published, and backwards in the output; of those between each thread takes
/// three times its own element. The published ones come first.
#[kernel(instances(E = [CpAsync, LoadStore], THREADS = [32, 96]))]
pub fn published_then_own<E: ByHand, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<[i32; THREADS], 3, E, ThreadScope>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    if tiles.len() == 0 {
        return;
    }
    let at = |index: usize| tiles.get(index.min(tiles.len() - 1));
    let pipe = shared.pipeline(&block).acquire().copy(at(0)).commit();
    let mut pipe = pipe.acquire().copy(at(1)).commit();
    for index in (0..tiles.len()).step_by(2) {
        let (p, tile) = pipe.wait();
        let (p, tile) = p.publish(tile);
        let dst = results.get_mut(index);
        block.threads(|t| dst.set(&t, tile[THREADS - 1 - t.rank()]));
        let p = p.release(tile).acquire().copy(at(index + 2)).commit();
        let (p, tile) = p.wait();
        if index + 1 < tiles.len() {
            let dst = results.get_mut(index + 1);
            block.threads(|t| dst.set(&t, tile.own(&t)[0].wrapping_mul(3)));
        }
        // Behind a dirty stage this one is dirty too: the next acquisition waits for the block.
        pipe = p.release(tile).acquire().copy(at(index + 3)).commit();
    }
}

/// The same with the published ones second.
#[kernel(instances(E = [CpAsync, LoadStore], THREADS = [32, 96]))]
pub fn own_then_published<E: ByHand, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<[i32; THREADS], 3, E, ThreadScope>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    if tiles.len() == 0 {
        return;
    }
    let at = |index: usize| tiles.get(index.min(tiles.len() - 1));
    let pipe = shared.pipeline(&block).acquire().copy(at(0)).commit();
    let mut pipe = pipe.acquire().copy(at(1)).commit().weaken();
    for index in (0..tiles.len()).step_by(2) {
        let (p, tile) = pipe.wait();
        let dst = results.get_mut(index);
        block.threads(|t| dst.set(&t, tile.own(&t)[0].wrapping_mul(3)));
        let p = p.release(tile).acquire().copy(at(index + 2)).commit();
        let (p, tile) = p.wait();
        let (p, tile) = p.publish(tile);
        if index + 1 < tiles.len() {
            let dst = results.get_mut(index + 1);
            block.threads(|t| dst.set(&t, tile[THREADS - 1 - t.rank()]));
        }
        pipe = p.release(tile).acquire().copy(at(index + 3)).commit();
    }
}

/// Two single copies ahead, in three buffers: each tile backwards.
#[kernel(instances(E = [CpAsync, LoadStore], THREADS = [32, 96]))]
pub fn queue_of_three<E: ByHand, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<[i32; THREADS], 3, E>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    if tiles.len() == 0 {
        return;
    }
    let at = |index: usize| tiles.get(index.min(tiles.len() - 1));
    let mut queue = shared.queue(&block).copy(at(0)).copy(at(1)).weaken();
    for index in 0..tiles.len() {
        let (q, tile) = queue.wait_prior();
        let q = q.copy(at(index + 2));
        let dst = results.get_mut(index);
        block.threads(|t| dst.set(&t, tile[THREADS - 1 - t.rank()]));
        queue = q.release(tile);
    }
}

/// A single copy of two tiles, waited for, released and made again: the sum of the tile and of that
/// before it in the block, backwards.
#[kernel(instances(E = [CpAsync, LoadStore], THREADS = [32, 96]))]
pub fn single_copies<E: ByHand, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<Two<THREADS>, 1, E>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let mut memory = shared;
    for index in 0..tiles.len() {
        let both = (tiles.get(index), tiles.get(index.saturating_sub(1)));
        let landed = memory.copy(&block, both).wait();
        let (own, before) = landed.tile().tiles();
        let dst = results.get_mut(index);
        block.threads(|t| {
            let mirrored = THREADS - 1 - t.rank();
            dst.set(&t, own[mirrored].wrapping_add(before[mirrored]));
        });
        memory = landed.release(&block);
    }
    let _ = memory;
}

/// For each element of tiles of `tile`: its round in its block, the element that mirrors it, and
/// itself.
fn each(input: &[i32], tile: usize, grid: u32) -> impl Iterator<Item = (usize, i32, i32)> {
    let mirrored = move |index: usize| at(input, index / tile * tile + (tile - 1 - index % tile));
    (0..input.len()).map(move |index| (index / tile / grid as usize, mirrored(index), input[index]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tiles_published_and_not_keep_apart_in_one_ring(case in case()) {
        for (instances, published) in [(&published_then_own::INSTANCES, 0), (&own_then_published::INSTANCES, 1)] {
            let instance = case.instance(instances);
            let tile = number(instance, "THREADS");
            let input = elements::<i32>(case.len(tile), case.seed);
            let expected: Vec<i32> = each(&input, tile, case.grid)
                .map(|(round, mirrored, own)| if round % 2 == published { mirrored } else { own.wrapping_mul(3) })
                .collect();
            gives(instance, case, &expected, |device| vec![bind(device, &input)]);
        }
    }

    #[test]
    fn a_queue_of_three_buffers_returns_the_tiles_in_order(case in case()) {
        let instance = case.instance(&queue_of_three::INSTANCES);
        let tile = number(instance, "THREADS");
        let input = elements::<i32>(case.len(tile), case.seed);
        let expected: Vec<i32> = each(&input, tile, case.grid).map(|(_, mirrored, _)| mirrored).collect();
        gives(instance, case, &expected, |device| vec![bind(device, &input)]);
    }

    #[test]
    fn the_memory_of_a_single_copy_is_used_again(case in case()) {
        let instance = case.instance(&single_copies::INSTANCES);
        let tile = number(instance, "THREADS");
        let input = elements::<i32>(case.len(tile), case.seed);
        let stride = case.grid as usize * tile;
        let expected: Vec<i32> = (0..input.len())
            .map(|index| {
                let mirrored = index / tile * tile + (tile - 1 - index % tile);
                let before = if index / stride == 0 { mirrored } else { mirrored - stride };
                at(&input, mirrored).wrapping_add(at(&input, before))
            })
            .collect();
        gives(instance, case, &expected, |device| vec![bind(device, &input)]);
    }
}
