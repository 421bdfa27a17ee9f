//! A kernel whose threads have an array that cannot be in registers.
#![no_std]
#![forbid(unsafe_code)]

use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

/// How often the lowest four bits of an element occur among its eight fours of bits.
#[kernel(instances(THREADS = [64, 128]))]
pub fn occurrences<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<u32, THREADS>,
    mut out: TilesMut<u32, THREADS>,
    shared: Shared<Stages<[u32; THREADS], 2>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, result| {
        block.threads(|t| {
            let value = tile[t.rank()];
            let mut counts = [0; 16];
            for at in 0..8 {
                counts[(value >> (4 * at) & 15) as usize] += 1;
            }
            result.set(&t, counts[(value & 15) as usize]);
        });
    });
}
