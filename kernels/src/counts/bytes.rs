//! The histogram of bytes.

#![expect(clippy::type_complexity, reason = "shared memory is laid out by its type")]

use tilepipe::reduce::Add;
use tilepipe::{Bins, Block, CpAsync, Reduction, Shared, Stages, Thread, ThreadScope, Tiles, kernel};

/// Values that a byte has.
pub(crate) const VALUES: usize = 256;
/// Bytes that a thread reads at once.
const PIECE: usize = 16;

/// Counts in `out` how many bytes of the input have each value.
///
/// A thread takes its own `LEN / THREADS` bytes of a tile, which it has copied itself: there is no
/// barrier before the counts are published. With `COPIES` copies of the bins warps add to different
/// ones, for data of which many bytes are the same.
#[kernel(instances(THREADS = [256], LEN = [16 * THREADS], STAGES = [4], COPIES = [1, 2, 8]))]
pub fn histogram<const THREADS: usize, const LEN: usize, const STAGES: usize, const COPIES: usize>(
    block: Block<THREADS>,
    input: Tiles<u8, LEN>,
    out: Reduction<u32, Add>,
    shared: Shared<(Stages<[u8; LEN], STAGES, CpAsync, ThreadScope>, Bins<u32, VALUES, Add, COPIES>)>,
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
