//! The streaming tasks without stages: each thread reads four elements where they lie.
//!
//! An array of up to about 1 MiB takes as long as its launch, its loads and its stores, one after
//! another, so that whatever stands between them shows (docs/performance.md).

use tilepipe::{Block, Runs, Tiles, TilesMut, hoist_bounds, kernel};

use crate::compute::{GROUP, Number};

/// Elements that a thread reads and writes at once.
const PIECE: usize = 4;

/// What [`with_staging_unified_wide`](fn@crate::with_staging_unified_wide) computes with `GroupSum`:
/// three times each element and the next one of its group of 256, the last one's being the group's
/// first. What lies past the input's end counts as zero.
#[kernel(instances(T = [i32], THREADS = [128, 256, 512], LEN = [4 * THREADS]))]
pub fn group_sum_reads<T: Number, const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Runs<PIECE>>,
) {
    hoist_bounds(out.for_block(&block), |mut results| {
        for i in 0..results.len() {
            let first = LEN * results.number(i);
            let dst = results.get_mut(i);
            block.threads(|t| {
                let own = first + PIECE * t.rank();
                // A group's length is a multiple of four: only the last of these four may end it.
                let next = if own % GROUP == GROUP - PIECE { own - (GROUP - PIECE) } else { own + PIECE };
                let (values, _) = input.run::<PIECE>(own / PIECE);
                let after = input.get(next).unwrap_or_else(T::zeroed);
                dst.set_own(&t, |nth| {
                    let next = if nth == PIECE - 1 { after } else { values[nth + 1] };
                    values[nth].triple().plus(next)
                });
            });
        }
    });
}

/// What [`scale_own_wide`](fn@crate::scale_own_wide) computes: three times each element.
#[kernel(instances(T = [i32], THREADS = [128, 256, 512], LEN = [4 * THREADS]))]
pub fn scale_own_reads<T: Number, const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Runs<PIECE>>,
) {
    hoist_bounds(out.for_block(&block), |mut results| {
        for i in 0..results.len() {
            let first = LEN / PIECE * results.number(i);
            let dst = results.get_mut(i);
            block.threads(|t| {
                let (values, _) = input.run::<PIECE>(first + t.rank());
                dst.set_own(&t, |nth| values[nth].triple());
            });
        }
    });
}
