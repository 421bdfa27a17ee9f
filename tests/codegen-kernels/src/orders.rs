//! Loops by hand: the orders of steps that a kernel's author can choose.
//!
//! In the guide's order a round acquires, copies and commits before it waits; the other order waits
//! first.

use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, TilesMut, WarpScope, kernel};

registry!(
    guide_order_one_stage,
    guide_order_two_stages,
    guide_order_three_stages,
    wait_first_two_stages,
    wait_first_three_stages,
    guide_order_two_stages_of_warps,
    guide_order_three_stages_of_warps,
    guide_order_two_stages_of_threads,
    guide_order_two_stages_published,
    guide_order_three_stages_published,
);

/// One stage: nothing overlaps.
#[kernel]
pub fn guide_order_one_stage(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 1>>,
) {
    let (batches, mut results) = (input.for_block(&block), out.for_block(&block));
    let mut pipe = shared.pipeline(&block).weaken();
    for batch in 0..batches.len() {
        let (p, tile) = pipe.acquire().copy(batches.get(batch)).commit().wait();
        let dst = results.get_mut(batch);
        block.threads(|t| dst.set(&t, tile[127 - t.rank()]));
        pipe = p.release(tile);
    }
}

/// The programming guide's `with_staging`: acquire, copy, commit, wait, compute, release.
#[kernel]
pub fn guide_order_two_stages(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2>>,
) {
    let (batches, mut results) = (input.for_block(&block), out.for_block(&block));
    let mut pipe = shared.pipeline(&block).acquire().copy(batches.get(0)).commit().weaken();
    for batch in 1..batches.len() {
        let (p, tile) = pipe.acquire().copy(batches.get(batch)).commit().wait();
        let dst = results.get_mut(batch - 1);
        block.threads(|t| dst.set(&t, tile[127 - t.rank()]));
        pipe = p.release(tile);
    }
}

/// The same with a third stage.
#[kernel]
pub fn guide_order_three_stages(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 3>>,
) {
    let (batches, mut results) = (input.for_block(&block), out.for_block(&block));
    let mut pipe = shared.pipeline(&block).acquire().copy(batches.get(0)).commit().weaken();
    for batch in 1..batches.len() {
        let (p, tile) = pipe.acquire().copy(batches.get(batch)).commit().wait();
        let dst = results.get_mut(batch - 1);
        block.threads(|t| dst.set(&t, tile[127 - t.rank()]));
        pipe = p.release(tile);
    }
}

/// Wait, acquire, copy, commit, compute, release.
#[kernel]
pub fn wait_first_two_stages(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2>>,
) {
    let (batches, mut results) = (input.for_block(&block), out.for_block(&block));
    let mut pipe = shared.pipeline(&block).acquire().copy(batches.get(0)).commit().weaken();
    for batch in 1..batches.len() {
        let (p, tile) = pipe.wait();
        let p = p.acquire().copy(batches.get(batch)).commit();
        let dst = results.get_mut(batch - 1);
        block.threads(|t| dst.set(&t, tile[127 - t.rank()]));
        pipe = p.release(tile);
    }
}

/// The same with a third stage, so that one more is in flight.
#[kernel]
pub fn wait_first_three_stages(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 3>>,
) {
    let (batches, mut results) = (input.for_block(&block), out.for_block(&block));
    let pipe = shared.pipeline(&block).acquire().copy(batches.get(0)).commit();
    let mut pipe = pipe.acquire().copy(batches.get(1)).commit().weaken();
    for batch in 2..batches.len() {
        let (p, tile) = pipe.wait();
        let p = p.acquire().copy(batches.get(batch)).commit();
        let dst = results.get_mut(batch - 2);
        block.threads(|t| dst.set(&t, tile[127 - t.rank()]));
        pipe = p.release(tile);
    }
}

/// The guide's order at warp scope.
#[kernel]
pub fn guide_order_two_stages_of_warps(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2, CpAsync, WarpScope>>,
) {
    let (batches, mut results) = (input.for_block(&block), out.for_block(&block));
    let mut pipe = shared.pipeline(&block).acquire().copy(batches.get(0)).commit().weaken();
    for batch in 1..batches.len() {
        let (p, tile) = pipe.acquire().copy(batches.get(batch)).commit().wait();
        let dst = results.get_mut(batch - 1);
        block.threads(|t| dst.set(&t, tile.of_warp(&t)[31 - t.rank() % 32]));
        pipe = p.release(tile);
    }
}

/// The guide's order at warp scope with a third stage.
#[kernel]
pub fn guide_order_three_stages_of_warps(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 3, CpAsync, WarpScope>>,
) {
    let (batches, mut results) = (input.for_block(&block), out.for_block(&block));
    let mut pipe = shared.pipeline(&block).acquire().copy(batches.get(0)).commit().weaken();
    for batch in 1..batches.len() {
        let (p, tile) = pipe.acquire().copy(batches.get(batch)).commit().wait();
        let dst = results.get_mut(batch - 1);
        block.threads(|t| dst.set(&t, tile.of_warp(&t)[31 - t.rank() % 32]));
        pipe = p.release(tile);
    }
}

/// The guide's order at thread scope, where each thread reads its own element.
#[kernel]
pub fn guide_order_two_stages_of_threads(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2, CpAsync, ThreadScope>>,
) {
    let (batches, mut results) = (input.for_block(&block), out.for_block(&block));
    let mut pipe = shared.pipeline(&block).acquire().copy(batches.get(0)).commit();
    for batch in 1..batches.len() {
        let (p, tile) = pipe.acquire().copy(batches.get(batch)).commit().wait();
        let dst = results.get_mut(batch - 1);
        block.threads(|t| dst.set(&t, tile.own(&t)[0]));
        pipe = p.release(tile);
    }
}

/// The guide's order at thread scope, each tile handed to the block.
#[kernel]
pub fn guide_order_two_stages_published(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2, CpAsync, ThreadScope>>,
) {
    let (batches, mut results) = (input.for_block(&block), out.for_block(&block));
    let mut pipe = shared.pipeline(&block).acquire().copy(batches.get(0)).commit().weaken();
    for batch in 1..batches.len() {
        let (p, tile) = pipe.acquire().copy(batches.get(batch)).commit().wait();
        let (p, tile) = p.publish(tile);
        let dst = results.get_mut(batch - 1);
        block.threads(|t| dst.set(&t, tile[127 - t.rank()]));
        pipe = p.release(tile);
    }
}

/// The same with a third stage.
#[kernel]
pub fn guide_order_three_stages_published(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 3, CpAsync, ThreadScope>>,
) {
    let (batches, mut results) = (input.for_block(&block), out.for_block(&block));
    let mut pipe = shared.pipeline(&block).acquire().copy(batches.get(0)).commit().weaken();
    for batch in 1..batches.len() {
        let (p, tile) = pipe.acquire().copy(batches.get(batch)).commit().wait();
        let (p, tile) = p.publish(tile);
        let dst = results.get_mut(batch - 1);
        block.threads(|t| dst.set(&t, tile[127 - t.rank()]));
        pipe = p.release(tile);
    }
}
