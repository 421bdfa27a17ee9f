//! Sums and dot products: one result a block, with the additions in the order that the kernels
//! promise.
//!
//! Every thread adds its own elements in the order in which they come, starting from zero. The
//! threads' sums are then added in a tree within each warp of 32, neighbours first, and the warps'
//! sums from left to right.

use crate::execute::parallel;
use crate::value::Value;

/// Threads of a warp.
pub(super) const WARP: usize = 32;

/// Elements in a row that a thread has of a tile, at most.
const RUN: usize = 4;

/// Adds the elements of each block's tiles: thread `r` adds, of each tile of `len` elements, as
/// many in a row as each thread has, four at most: run `r`, run `r + threads` and so on.
///
/// # Panics
///
/// If `threads`, `len` or `grid` is 0.
pub fn sum<T: Value>(input: &[T], threads: usize, len: usize, grid: usize) -> Vec<T> {
    own_elements(input.len(), threads, len, grid, |index| at(input, index))
}

/// As [`sum`] of the products of the elements of two inputs; what lies beyond the end of either
/// counts as zero.
///
/// # Panics
///
/// If `threads`, `len` or `grid` is 0.
pub fn dot<T: Value>(left: &[T], right: &[T], threads: usize, len: usize, grid: usize) -> Vec<T> {
    let elements = left.len().min(right.len());
    own_elements(elements, threads, len, grid, |index| at(left, index).times(at(right, index)))
}

/// Adds the elements of each block's tiles: warp `w` of `W` takes the block's tiles `w`, `w + W`,
/// .., of each of which lane `l` adds the elements `l`, `l + 32`, ..
///
/// # Panics
///
/// If `threads`, `len` or `grid` is 0.
pub fn sum_by_warps<T: Value>(input: &[T], threads: usize, len: usize, grid: usize) -> Vec<T> {
    let tiles = input.len().div_ceil(len);
    each_block(grid, |block| {
        let own: Vec<usize> = (block..tiles).step_by(grid).collect();
        let mut sums = vec![T::zero(); threads];
        for warp in 0..threads / WARP {
            let mut lanes = [T::zero(); WARP];
            for tile in own.iter().skip(warp).step_by(threads / WARP) {
                for element in 0..len {
                    let lane = &mut lanes[element % WARP];
                    *lane = lane.plus(at(input, tile * len + element));
                }
            }
            sums[warp * WARP] = add_lanes(&mut lanes);
        }
        sums
    })
}

/// Adds the elements of each block's pieces of `len` elements: of `threads` pieces in a row thread
/// `r` takes number `r`.
///
/// # Panics
///
/// If `threads`, `len` or `grid` is 0.
pub fn sum_by_threads<T: Value>(input: &[T], threads: usize, len: usize, grid: usize) -> Vec<T> {
    let pieces = input.len().div_ceil(len);
    each_block(grid, |block| {
        let thread = |rank| {
            let own = (block * threads + rank..pieces).step_by(grid * threads);
            own.flat_map(|piece| piece * len..(piece + 1) * len)
                .fold(T::zero(), |sum, index| sum.plus(at(input, index)))
        };
        (0..threads).map(thread).collect()
    })
}

/// Adds the elements of each block's tiles in `threads` consumers: thread `r` of them adds, of each
/// tile of `len` elements, those at `r`, `r + threads`, ..
///
/// # Panics
///
/// If `threads`, `len` or `grid` is 0.
pub fn sum_by_consumers<T: Value>(input: &[T], threads: usize, len: usize, grid: usize) -> Vec<T> {
    let tiles = input.len().div_ceil(len);
    each_block(grid, |block| {
        let thread = |rank| {
            let own = (block..tiles)
                .step_by(grid)
                .flat_map(|tile| (rank..len).step_by(threads).map(move |at| tile * len + at));
            own.fold(T::zero(), |sum, index| sum.plus(at(input, index)))
        };
        (0..threads).map(thread).collect()
    })
}

/// The sums of what `element` returns for each thread's own elements.
fn own_elements<T: Value>(
    elements: usize,
    threads: usize,
    len: usize,
    grid: usize,
    element: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let (tiles, run) = (elements.div_ceil(len), (len / threads).min(RUN));
    each_block(grid, |block| {
        let thread = |rank| {
            let tiles = (block..tiles).step_by(grid).map(|tile| tile * len);
            let starts = tiles.flat_map(|tile| (rank * run..len).step_by(threads * run).map(move |at| tile + at));
            starts.flat_map(|start| start..start + run).fold(T::zero(), |sum, index| sum.plus(element(index)))
        };
        (0..threads).map(thread).collect()
    })
}

/// The element at `index`, or zero beyond the end.
fn at<T: Value>(input: &[T], index: usize) -> T {
    input.get(index).copied().unwrap_or_else(T::zero)
}

/// One result for each of `grid` blocks, of which `sums` returns the threads' sums.
fn each_block<T: Value>(grid: usize, sums: impl Fn(usize) -> Vec<T> + Sync) -> Vec<T> {
    let mut out = vec![T::zero(); grid];
    parallel::fill(&mut out, 1, |block| add_threads(sums(block)));
    out
}

pub(super) fn add_threads<T: Value>(mut sums: Vec<T>) -> T {
    let mut warps = sums.chunks_mut(WARP).map(add_lanes);
    let first = warps.next().unwrap_or_else(T::zero);
    warps.fold(first, T::plus)
}

/// Adds neighbours, then neighbouring pairs, and so on; where a warp has no such lane, the sum
/// stays as it is.
fn add_lanes<T: Value>(lanes: &mut [T]) -> T {
    let mut distance = 1;
    while distance < lanes.len() {
        for lane in (0..lanes.len() - distance).step_by(2 * distance) {
            lanes[lane] = lanes[lane].plus(lanes[lane + distance]);
        }
        distance *= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_added_first_and_warps_from_left_to_right() {
        // Large numbers swallow small ones, so the order shows in the result.
        assert_eq!(add_lanes(&mut [1e8_f32, 1.0, 1.0, -1e8]), 0.0);
        assert_eq!(add_lanes(&mut [1e8_f32, -1e8, 1.0, 1.0]), 2.0);
        assert_eq!(add_lanes(&mut [1.0_f32, 2.0, 4.0, 8.0, 16.0]), 31.0);
        let mut sums = vec![0.0_f32; 80];
        (sums[0], sums[32], sums[64]) = (1e8, 1.0, -1e8);
        assert_eq!(add_threads(sums.clone()), 0.0);
        sums.swap(32, 64);
        assert_eq!(add_threads(sums), 1.0);
    }

    #[test]
    fn every_element_counts_once_whoever_adds_it() {
        let input: Vec<u64> = (0..5003).map(|index| index * index + 1).collect();
        let total: u64 = input.iter().sum();
        for grid in [1, 3, 40] {
            for (threads, len) in [(32, 32), (64, 256), (48, 192)] {
                assert_eq!(sum(&input, threads, len, grid).iter().sum::<u64>(), total);
                assert_eq!(sum_by_threads(&input, threads, len, grid).iter().sum::<u64>(), total);
                let squares: u64 = input.iter().map(|value| value.wrapping_mul(*value)).fold(0, u64::wrapping_add);
                let products = dot(&input, &input, threads, len, grid);
                assert_eq!(products.into_iter().fold(0, u64::wrapping_add), squares);
            }
            assert_eq!(sum_by_warps(&input, 64, 128, grid).iter().sum::<u64>(), total);
            assert_eq!(sum_by_consumers(&input, 96, 128, grid).iter().sum::<u64>(), total);
        }
    }

    #[test]
    fn consumers_add_elements_that_are_as_far_apart_as_there_are_consumers() {
        // Of 32 consumers, number 1 adds the elements 1 and 33 of each of two tiles, in this order;
        // others have zeros only.
        let mut input = vec![0.0_f32; 128];
        (input[1], input[33], input[65], input[97]) = (1e8, 1.0, -1e8, 1.0);
        assert_eq!(sum_by_consumers(&input, 32, 64, 1), [1.0]);
        // Of 64, the numbers 1 and 33 have two each, and their warps' sums are added last.
        assert_eq!(sum_by_consumers(&input, 64, 64, 1), [2.0]);
    }

    #[test]
    fn each_block_has_its_own_tiles() {
        let input: Vec<i32> = (0..7).map(|tile| 10_i32.pow(tile)).flat_map(|value| [value; 32]).collect();
        assert_eq!(sum(&input, 32, 32, 3), [32 * 1_001_001, 32 * 10_010, 32 * 100_100]);
        assert_eq!(sum_by_warps(&input, 64, 32, 3), [32 * 1_001_001, 32 * 10_010, 32 * 100_100]);
        assert_eq!(sum_by_consumers(&input, 32, 32, 3), [32 * 1_001_001, 32 * 10_010, 32 * 100_100]);
        assert_eq!(sum_by_threads(&input, 32, 1, 3), [32 * 1_001_001, 32 * 10_010, 32 * 100_100]);
        assert_eq!(sum(&input, 32, 32, 8)[7], 0, "more blocks than tiles");
    }
}
