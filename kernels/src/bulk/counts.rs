//! Histograms.

#![expect(clippy::type_complexity, reason = "shared memory is laid out by its type")]

use tilepipe::reduce::Add;
use tilepipe::{Bins, Block, Bulk, Reduction, Shared, Stages, Thread, Tiles, kernel};

use crate::counts::VALUES;
use crate::counts::keys::{self, KEY_BINS};

/// Bytes of a tile that a thread reads at once.
const PIECE: usize = 16;

/// [`histogram`](fn@crate::histogram) with bulk copies, in tiles of 4 KiB.
//
// Its body is written again: if `histogram` shared it, the machine code of that would change.
#[kernel(instances(THREADS = [256], LEN = [16 * THREADS], STAGES = [4], COPIES = [1]))]
pub fn histogram_bulk<const THREADS: usize, const LEN: usize, const STAGES: usize, const COPIES: usize>(
    block: Block<THREADS>,
    input: Tiles<u8, LEN>,
    out: Reduction<u32, Add>,
    shared: Shared<(Stages<[u8; LEN], STAGES, Bulk>, Bins<u32, VALUES, Add, COPIES>)>,
) {
    let (stages, bins) = shared.split();
    let bins = bins.bins(&block);
    let tiles = input.for_block(&block);
    let count = |t: &Thread<'_, '_, THREADS>, byte: u8| bins.add(t, byte.into(), 1);
    let _ = stages.pipeline(&block).for_each_tile(&tiles, |tile, i| {
        let valid = input.len() - LEN * tiles.number(i);
        if valid >= LEN {
            block.threads(|t| {
                // A piece is read as a whole: between two adds LLVM moves no load.
                for piece in tile.own(&t).as_chunks::<PIECE>().0 {
                    u128::from_le_bytes(*piece).to_le_bytes().into_iter().for_each(|byte| count(&t, byte));
                }
            });
        } else {
            // What lies beyond the end is zeros, which are no elements.
            block.threads(|t| {
                let own = valid.saturating_sub(t.rank() * (LEN / THREADS));
                tile.own(&t).iter().take(own).for_each(|byte| count(&t, *byte));
            });
        }
    });
    bins.publish(&block).add_to(&block, &out);
}

/// [`histogram_u32`](fn@crate::histogram_u32) with bulk copies, in tiles of 4 KiB.
#[kernel(instances(THREADS = [256], LEN = [4 * THREADS], STAGES = [4], SHIFT = [0, 20]))]
pub fn histogram_u32_bulk<const THREADS: usize, const LEN: usize, const STAGES: usize, const SHIFT: u32>(
    block: Block<THREADS>,
    input: Tiles<u32, LEN>,
    out: Reduction<u32, Add>,
    shared: Shared<(Stages<[u32; LEN], STAGES, Bulk>, Bins<u32, KEY_BINS, Add>)>,
) {
    keys::count::<_, _, THREADS, LEN, STAGES, SHIFT>(block, input, out, shared);
}
