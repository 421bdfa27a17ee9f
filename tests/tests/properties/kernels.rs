//! The kernels: tiles longer and shorter than the block, stages by hand in several orders, two
//! pipelines, two passes, halos.

use bytemuck::{Pod, Zeroable};
use tilepipe::{
    Block, ByHand, CpAsync, Element, Engine, F32x4, HaloTile, Halos, I32x4, LoadStore, Shared, Stages, Tiles, TilesMut,
    U32x4, kernel,
};

/// An element of one byte.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Byte(u8);
impl Element for Byte {}

/// An element of two bytes.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Half(u16);
impl Element for Half {}

/// An element of twelve bytes.
pub type Triple = [f32; 3];

/// Writes each tile backwards; tiles may be longer or shorter than the block.
#[kernel(
    instances(T = [Byte, Half, i32, u32, i64, u64, f32, f64, I32x4, U32x4, F32x4], E = [LoadStore], LEN = [96], THREADS = [32], STAGES = [1, 3]),
    instances(T = [i32, u32, i64, u64, f32, f64, I32x4, U32x4, F32x4], E = [CpAsync], LEN = [33], THREADS = [32], STAGES = [2]),
    instances(T = [Byte, Half], E = [CpAsync], LEN = [32, 100], THREADS = [32], STAGES = [1, 2, 4]),
    instances(T = [i32], E = [CpAsync, LoadStore], LEN = [1, 7, 30, 256], THREADS = [1, 64, 100], STAGES = [2]),
    instances(T = [f64], E = [CpAsync], LEN = [2500], THREADS = [1024], STAGES = [1, 2]),
    instances(T = [i32], E = [CpAsync], LEN = [48], THREADS = [64], STAGES = [1, 2, 3, 5, 8, 13, 20]),
)]
pub fn reversed<T: Element, E: Engine, const LEN: usize, const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN>,
    shared: Shared<Stages<[T; LEN], STAGES, E>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each(
        tiles.len(),
        |stage, index| stage.copy(tiles.get(index)),
        |tile, index| {
            let dst = results.get_mut(index);
            block.threads(|t| {
                for nth in 0..LEN.div_ceil(THREADS) {
                    let element = t.rank() + nth * THREADS;
                    if element < LEN {
                        dst.set_nth(&t, nth, tile[LEN - 1 - element]);
                    }
                }
            });
        },
    );
}

/// Two stages: wait, acquire, copy, commit, compute, release.
#[kernel(instances(THREADS = [32, 96]))]
pub fn wait_first_2<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<[i32; THREADS], 2>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    if tiles.len() == 0 {
        return;
    }
    // Past the last tile it is copied again, so that the state is the same in every round.
    let at = |index: usize| tiles.get(index.min(tiles.len() - 1));
    let mut pipe = shared.pipeline(&block).acquire().copy(at(0)).commit().weaken();
    for index in 0..tiles.len() {
        let (p, tile) = pipe.wait();
        let p = p.acquire().copy(at(index + 1)).commit();
        let dst = results.get_mut(index);
        block.threads(|t| dst.set(&t, tile[THREADS - 1 - t.rank()]));
        pipe = p.release(tile);
    }
}

/// Three stages in the same order.
#[kernel(instances(THREADS = [32, 96]))]
pub fn wait_first_3<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<[i32; THREADS], 3>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    if tiles.len() == 0 {
        return;
    }
    let at = |index: usize| tiles.get(index.min(tiles.len() - 1));
    let pipe = shared.pipeline(&block).acquire().copy(at(0)).commit();
    let mut pipe = pipe.acquire().copy(at(1)).commit().weaken();
    for index in 0..tiles.len() {
        let (p, tile) = pipe.wait();
        let p = p.acquire().copy(at(index + 2)).commit();
        let dst = results.get_mut(index);
        block.threads(|t| dst.set(&t, tile[THREADS - 1 - t.rank()]));
        pipe = p.release(tile);
    }
}

/// Four stages, of which one is acquired only after the computation: wait, compute, release,
/// acquire, copy, commit.
#[kernel(instances(THREADS = [32, 96]))]
pub fn release_first_4<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<[i32; THREADS], 4>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    if tiles.len() == 0 {
        return;
    }
    let at = |index: usize| tiles.get(index.min(tiles.len() - 1));
    let pipe = shared.pipeline(&block).acquire().copy(at(0)).commit();
    let pipe = pipe.acquire().copy(at(1)).commit();
    let mut pipe = pipe.acquire().copy(at(2)).commit().weaken();
    for index in 0..tiles.len() {
        let (p, tile) = pipe.wait();
        let dst = results.get_mut(index);
        block.threads(|t| dst.set(&t, tile[THREADS - 1 - t.rank()]));
        pipe = p.release(tile).acquire().copy(at(index + 3)).commit();
    }
}

/// The guide's order with two stages, acquire, copy, commit, wait, compute, release: the stage to
/// acquire is dirty.
#[kernel(instances(THREADS = [32, 96]))]
pub fn acquire_first_2<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<[i32; THREADS], 2>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    if tiles.len() == 0 {
        return;
    }
    let at = |index: usize| tiles.get(index.min(tiles.len() - 1));
    let mut pipe = shared.pipeline(&block).acquire().copy(at(0)).commit().weaken();
    for index in 0..tiles.len() {
        let (p, tile) = pipe.acquire().copy(at(index + 1)).commit().wait();
        let dst = results.get_mut(index);
        block.threads(|t| dst.set(&t, tile[THREADS - 1 - t.rank()]));
        pipe = p.release(tile);
    }
}

/// The guide's order with three stages: there is a free one to acquire.
#[kernel(instances(THREADS = [32, 96]))]
pub fn acquire_first_3<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<[i32; THREADS], 3>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    if tiles.len() == 0 {
        return;
    }
    let at = |index: usize| tiles.get(index.min(tiles.len() - 1));
    let mut pipe = shared.pipeline(&block).acquire().copy(at(0)).commit().weaken();
    for index in 0..tiles.len() {
        let (p, tile) = pipe.acquire().copy(at(index + 1)).commit().wait();
        let dst = results.get_mut(index);
        block.threads(|t| dst.set(&t, tile[THREADS - 1 - t.rank()]));
        pipe = p.release(tile);
    }
}

/// The stages of two pipelines.
type Pair<E, const THREADS: usize> = (Stages<[i32; THREADS], 2>, Stages<[i32; THREADS], 1, E>);

/// Two pipelines side by side, of other stage counts and engines: one input backwards plus `scale`
/// times the other.
#[kernel(instances(E = [CpAsync, LoadStore], THREADS = [32, 96]))]
pub fn two_pipelines<E: ByHand, const THREADS: usize>(
    block: Block<THREADS>,
    left: Tiles<i32, THREADS>,
    right: Tiles<i32, THREADS>,
    scale: i32,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Pair<E, THREADS>>,
) {
    let (left, right) = (left.for_block(&block), right.for_block(&block));
    let mut results = out.for_block(&block);
    if left.len() == 0 {
        return;
    }
    let (first, second) = shared.split();
    let mut ahead = first.pipeline(&block).acquire().copy(left.get(0)).commit().weaken();
    let mut behind = second.pipeline(&block).weaken();
    for index in 0..left.len() {
        let (a, own) = ahead.wait();
        let next = left.get((index + 1).min(left.len() - 1));
        let a = a.acquire().copy(next).commit();
        let (b, other) = behind.acquire().copy(right.get(index)).commit().wait();
        let dst = results.get_mut(index);
        block.threads(|t| {
            let mirrored = own[THREADS - 1 - t.rank()];
            dst.set(&t, mirrored.wrapping_add(scale.wrapping_mul(other[t.rank()])));
        });
        ahead = a.release(own);
        behind = b.release(other);
    }
}

/// Two passes over the same memory: each thread sums its own elements, then adds them to a tile of
/// the other input.
#[kernel(instances(THREADS = [32, 96], STAGES = [1, 2, 3]))]
pub fn two_passes<const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    first: Tiles<i32, THREADS>,
    second: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<[i32; THREADS], STAGES>>,
) {
    let tiles = first.for_block(&block);
    let mut sums = block.map(|t| t.rank() as i32);
    let pipe = shared.pipeline(&block).for_each(
        tiles.len(),
        |stage, index| stage.copy(tiles.get(index)),
        |tile, _| block.update(&mut sums, |t, sum| *sum = sum.wrapping_add(tile[t.rank()])),
    );
    let tiles = second.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = pipe.finish().pipeline(&block).for_each(
        tiles.len(),
        |stage, index| stage.copy(tiles.get(index)),
        |tile, index| {
            let dst = results.get_mut(index);
            block.threads(|t| dst.set(&t, tile[THREADS - 1 - t.rank()].wrapping_add(sums.get(&t))));
        },
    );
}

/// Weighs the neighbours by their distance: halos of 4, 8 and 16 bytes, of none, and wider than the
/// tile.
#[kernel(instances(E = [CpAsync, LoadStore], LEN = [32, 50], HALO = [0, 1, 2, 3, 4, 60], STAGES = [2]))]
pub fn weighted<E: Engine, const LEN: usize, const HALO: usize, const STAGES: usize>(
    block: Block<LEN>,
    signal: Halos<i32, LEN, HALO>,
    mut out: TilesMut<i32, LEN>,
    shared: Shared<Stages<HaloTile<i32, LEN, HALO>, STAGES, E>>,
) {
    let tiles = signal.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each(
        tiles.len(),
        |stage, index| stage.copy(tiles.get(index)),
        |tile, index| {
            let dst = results.get_mut(index);
            block.threads(|t| {
                let mut sum = 0_i32;
                for (place, value) in tile.window(t.rank()).iter().enumerate() {
                    sum = sum.wrapping_add(value.wrapping_mul(place as i32 + 1));
                }
                dst.set(&t, sum);
            });
        },
    );
}
