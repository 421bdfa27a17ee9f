//! The histogram of numbers of 32 bits.

#![expect(clippy::type_complexity, reason = "shared memory is laid out by its type")]

use tilepipe::group::{InBlock, Synchronise};
use tilepipe::reduce::Add;
use tilepipe::{Bins, Block, CpAsync, Engine, Reduction, Scope, Shared, Stages, Thread, ThreadScope, Tiles, kernel};

/// The number of bins.
pub const KEY_BINS: usize = 4096;
/// Keys that a thread reads at once.
const PIECE: usize = 4;

/// Counts in `out` how many keys of the input fall into each of [`KEY_BINS`] bins: a bin has
/// `2^SHIFT` keys in a row, from 0 on. Keys beyond the last bin are skipped.
///
/// A thread takes its own `LEN / THREADS` keys of a tile, which it has copied itself.
#[kernel(instances(THREADS = [256], LEN = [4 * THREADS], STAGES = [4], SHIFT = [0, 19, 20]))]
pub fn histogram_u32<const THREADS: usize, const LEN: usize, const STAGES: usize, const SHIFT: u32>(
    block: Block<THREADS>,
    input: Tiles<u32, LEN>,
    out: Reduction<u32, Add>,
    shared: Shared<(Stages<[u32; LEN], STAGES, CpAsync, ThreadScope>, Bins<u32, KEY_BINS, Add>)>,
) {
    count::<_, _, THREADS, LEN, STAGES, SHIFT>(block, input, out, shared);
}

/// [`histogram_u32`](fn@histogram_u32) with any engine, at a scope in which a thread's own keys are
/// there.
#[inline(always)]
pub(crate) fn count<
    E: Engine,
    S: Scope,
    const THREADS: usize,
    const LEN: usize,
    const STAGES: usize,
    const SHIFT: u32,
>(
    block: Block<'_, THREADS>,
    input: Tiles<'_, u32, LEN>,
    out: Reduction<'_, u32, Add>,
    shared: Shared<'_, (Stages<[u32; LEN], STAGES, E, S>, Bins<u32, KEY_BINS, Add>)>,
) where
    for<'b> InBlock<'b, THREADS>: Synchronise<S>,
{
    let (stages, bins) = shared.split();
    let bins = bins.bins(&block);
    let tiles = input.for_block(&block);
    // The keys from the block's next tile to the end. It counts down: from the number of a tile it
    // would take a multiplication in each round.
    let mut left = input.len().wrapping_sub(block.index() * LEN);
    let count = |t: &Thread<'_, '_, THREADS>, key: u32| {
        let bin = (key >> SHIFT) as usize;
        if bin < KEY_BINS {
            bins.add(t, bin, 1);
        }
    };
    let _ = stages.pipeline(&block).for_each_tile(&tiles, |tile, _| {
        let valid = left;
        left = left.wrapping_sub(block.grid() * LEN);
        if valid >= LEN {
            block.threads(|t| {
                // A piece is read as a whole: between two adds LLVM moves no load.
                for piece in tile.own(&t).as_chunks::<PIECE>().0 {
                    (*piece).into_iter().for_each(|key| count(&t, key));
                }
            });
        } else {
            // What lies beyond the end is zeros, which are no keys.
            block.threads(|t| {
                let own = valid.saturating_sub(t.rank() * (LEN / THREADS));
                tile.own(&t).iter().take(own).for_each(|key| count(&t, *key));
            });
        }
    });
    bins.publish(&block).add_to(&block, &out);
}
