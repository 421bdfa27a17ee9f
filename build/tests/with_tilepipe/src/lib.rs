//! A kernel in whose per-thread code a rank comes from tilepipe, from a crate of that name, or from
//! tilepipe's runtime.
#![no_std]

use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

/// Adds to each element of a tile the rank of its thread.
#[kernel(instances(THREADS = [64]))]
pub fn add_rank<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<u32, THREADS>,
    mut out: TilesMut<u32, THREADS>,
    shared: Shared<Stages<[u32; THREADS], 2>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, result| {
        block.threads(|t| result.set(&t, tile[t.rank()].wrapping_add(another_rank(t.rank() as u32))));
    });
}

/// A second kernel, which the first has nothing to do with.
#[cfg(feature = "two")]
#[kernel(instances(THREADS = [64, 128]))]
pub fn double<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<u32, THREADS>,
    mut out: TilesMut<u32, THREADS>,
    shared: Shared<Stages<[u32; THREADS], 2>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, result| {
        block.threads(|t| result.set(&t, tile[t.rank()].wrapping_mul(2)));
    });
}

/// A kernel with launch bounds that follow from its block size and from a constant.
#[cfg(feature = "bounds")]
#[kernel(instances(THREADS = [64, 1024]), min_blocks = min_blocks(THREADS), max_registers = MAX_REGISTERS)]
pub fn bounded<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<u32, THREADS>,
    mut out: TilesMut<u32, THREADS>,
    shared: Shared<Stages<[u32; THREADS], 2>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, result| {
        block.threads(|t| result.set(&t, tile[t.rank()].wrapping_mul(3)));
    });
}

#[cfg(feature = "bounds")]
const MAX_REGISTERS: usize = if cfg!(feature = "few_registers") { 8 } else { 64 };

#[cfg(feature = "bounds")]
const fn min_blocks(threads: usize) -> usize {
    if cfg!(feature = "no_blocks") {
        0
    } else if cfg!(feature = "many_blocks") {
        3
    } else {
        2048 / threads / 2
    }
}

#[cfg(feature = "impostor")]
fn another_rank(_: u32) -> u32 {
    impostor::isa::thread_rank()
}

#[cfg(feature = "runtime")]
fn another_rank(_: u32) -> u32 {
    unsafe extern "C" {
        safe fn tilepipe_thread_rank() -> u32;
    }
    tilepipe_thread_rank()
}

/// A method that only the host has: it is an error when the crate is built for the GPU.
#[cfg(feature = "std_math")]
fn another_rank(rank: u32) -> u32 {
    (rank as f32).sin().to_bits()
}

#[cfg(not(any(feature = "impostor", feature = "runtime", feature = "std_math")))]
fn another_rank(rank: u32) -> u32 {
    rank
}
