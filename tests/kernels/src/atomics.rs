//! Small kernels whose threads add to the same memory: every operation, in global and in shared
//! memory, by blocks, warps and roles.

#![expect(clippy::type_complexity, reason = "shared memory is laid out by its type")]

use tilepipe::reduce::{Add, And, Max, Min, Or, Unordered, Xor};
use tilepipe::role::{FirstThreads, WarpRoles};
use tilepipe::{AtomicOperation, Bins, Block, Element, Reduction, Shared, Stages, Tiles, f16, kernel};

/// Elements that the reductions of these kernels have, and bins.
pub const PLACES: usize = 37;

/// Combines element `i` of the input with element `i % PLACES` of the reduction.
#[kernel(
    instances(T = [u32, i32, u64, i64], O = [Add, Min, Max, And, Or, Xor], THREADS = [40]),
    instances(T = [f32, f64, f16], O = [Unordered<Add>], THREADS = [40]),
)]
pub fn elements_reduced<T: Element, O: AtomicOperation<T>, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    out: Reduction<T, O>,
) {
    let tiles = input.for_block(&block);
    for i in 0..tiles.len() {
        let first = THREADS * tiles.number(i);
        block.threads(|t| {
            let place = first + t.rank();
            if let Some(value) = input.get(place) {
                out.add(&t, place % PLACES, value);
            }
        });
    }
}

/// The same by way of bins in shared memory, of which warps add to different copies; the block is
/// no multiple of a warp.
#[kernel(
    instances(T = [u32, i32, u64, i64], O = [Add, Min, Max, And, Or, Xor], THREADS = [72], COPIES = [1, 3]),
    instances(T = [f32, f64, f16], O = [Unordered<Add>], THREADS = [72], COPIES = [1, 3]),
)]
pub fn elements_in_bins<T: Element, O: AtomicOperation<T>, const THREADS: usize, const COPIES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    out: Reduction<T, O>,
    shared: Shared<Bins<T, PLACES, O, COPIES>>,
) {
    let bins = shared.bins(&block);
    let tiles = input.for_block(&block);
    for i in 0..tiles.len() {
        let first = THREADS * tiles.number(i);
        block.threads(|t| {
            let place = first + t.rank();
            if let Some(value) = input.get(place) {
                bins.add(&t, place % PLACES, value);
            }
        });
    }
    bins.publish(&block).add_to(&block, &out);
}

/// Counts elements by their residue, half of them by each of two roles in the same bins: in a warp
/// that both share, or in warps of their own.
macro_rules! counted_by_two_roles {
    ($(#[$about:meta])* $kernel:ident, $map:ty, $threads:literal, $first:literal) => {
        $(#[$about])*
        #[kernel]
        pub fn $kernel(
            block: Block<$threads>,
            input: Tiles<u32, $threads>,
            out: Reduction<u32, Add>,
            shared: Shared<Bins<u32, PLACES, Add, 2>>,
        ) {
            let bins = shared.bins(&block);
            let tiles = input.for_block(&block);
            let (elements, of_block) = (input.len(), tiles.len());
            let _ = block
                .partition::<$map>()
                .role((), |group, (), ()| {
                    for i in 0..of_block {
                        let first = $threads * tiles.number(i);
                        group.threads(|t| {
                            if let Some(value) = input.get(first + t.rank()) {
                                bins.add(&t, value as usize % PLACES, 1);
                            }
                        });
                    }
                })
                .role((), |group, (), ()| {
                    for i in 0..of_block {
                        let first = $threads * tiles.number(i) + $first;
                        group.threads(|t| {
                            if first + t.rank() < elements {
                                bins.add(&t, input.at(first + t.rank()) as usize % PLACES, 1);
                            }
                        });
                    }
                })
                .run();
            let counts = bins.publish(&block);
            // Every thread sees what both roles have added.
            block.threads(|t| {
                if t.rank() < PLACES && counts[t.rank()] > 0 {
                    out.add(&t, t.rank(), counts[t.rank()]);
                }
            });
        }
    };
}
counted_by_two_roles!(
    /// Roles of whole warps.
    counted_by_warps, WarpRoles<32, 64>, 96, 32
);
counted_by_two_roles!(
    /// Roles that share a warp.
    counted_by_parts_of_warps, FirstThreads<7, 33>, 40, 7
);

/// One role alone has bins, which it makes, reads and gives back to nobody; the other adds straight
/// to the reduction. Both count all elements of the block.
#[kernel]
pub fn counted_in_a_role(
    block: Block<96>,
    input: Tiles<u32, 96>,
    by_bins: Reduction<u32, Add>,
    directly: Reduction<u64, Add>,
    shared: Shared<Bins<u32, PLACES, Add>>,
) {
    let tiles = input.for_block(&block);
    let of_block = tiles.len();
    let _ = block
        .partition::<WarpRoles<64, 32>>()
        .role(shared, |group, (), memory| {
            let bins = memory.bins(&group);
            for i in 0..of_block {
                let first = 96 * tiles.number(i);
                group.threads(|t| {
                    for place in [t.rank(), t.rank() + 64] {
                        if place < 96
                            && let Some(value) = input.get(first + place)
                        {
                            bins.add(&t, value as usize % PLACES, 1);
                        }
                    }
                });
            }
            bins.publish(&group).add_to(&group, &by_bins);
        })
        .role((), |group, (), ()| {
            for i in 0..of_block {
                let first = 96 * tiles.number(i);
                group.warps(|warp| {
                    warp.lanes(|lane| {
                        for place in [0, 32, 64].map(|part| part + lane.rank()) {
                            if let Some(value) = input.get(first + place) {
                                directly.add(lane.thread(), value as usize % PLACES, 1);
                            }
                        }
                    });
                });
            }
        })
        .run();
}

/// The greatest element of each tile, which the block reads after the tile, and goes on to the next
/// with bins made anew: element 0 of `out` is the sum of these. In the end the memory of the bins
/// is that of stages, and the sum of all elements goes into element 1.
#[kernel(instances(COPIES = [1, 2]))]
pub fn read_in_between<const COPIES: usize>(
    block: Block<64>,
    input: Tiles<u32, 64>,
    out: Reduction<u64, Add>,
    shared: Shared<(Bins<u32, 1, Max, COPIES>, Stages<[u32; 64], 2>)>,
) {
    let (bins, stages) = shared.split();
    let mut bins = bins.bins(&block);
    let tiles = input.for_block(&block);
    let mut sum = 0;
    for i in 0..tiles.len() {
        let first = 64 * tiles.number(i);
        block.threads(|t| {
            if let Some(value) = input.get(first + t.rank()) {
                bins.add(&t, 0, value);
            }
        });
        sum += bins.read(&block, |greatest| u64::from(greatest[0]));
    }
    block.threads(|t| {
        if t.rank() == 63 {
            out.add(&t, 0, sum);
        }
    });
    let memory = bins.finish(&block);
    let again = memory.bins(&block);
    block.threads(|t| again.add(&t, 0, 1));
    let counts = again.publish(&block);
    let one = u64::from(counts[0]);
    let _ = counts.finish(&block);
    let _ = stages.pipeline(&block).for_each_tile(&tiles, |tile, _| {
        // What lies beyond the end is zeros.
        block.threads(|t| out.add(&t, 1, one * u64::from(tile[t.rank()])));
    });
}
