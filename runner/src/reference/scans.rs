//! Scans over parts of the input, each of which is a block's.
//!
//! Of `tiles` tiles the first blocks have one more than the others, if they can't all have as many.

use std::ops::Range;

use super::sums::{WARP, add_threads};
use crate::execute::parallel;
use crate::value::Value;

/// The tiles of a block.
fn tiles_of(block: usize, tiles: usize, grid: usize) -> Range<usize> {
    let (all, more) = (tiles / grid, tiles % grid);
    let first = block * all + block.min(more);
    first..first + all + usize::from(block < more)
}

/// Adds the elements of each block's part: thread `r` adds, of each tile of `len` elements, the
/// `len / threads` in a row from `r * len / threads` on.
///
/// # Panics
///
/// If `threads`, `len` or `grid` is 0.
pub fn part_sums<T: Value>(input: &[T], threads: usize, len: usize, grid: usize) -> Vec<T> {
    let mut out = vec![T::zero(); grid];
    parallel::fill(&mut out, 1, |block| {
        let mut sums = vec![T::zero(); threads];
        for tile in tiles_of(block, input.len().div_ceil(len), grid) {
            for (sum, own) in sums.iter_mut().zip(own(input, tile, threads, len)) {
                *sum = own.into_iter().fold(*sum, T::plus);
            }
        }
        add_threads(sums)
    });
    out
}

/// Adds to each element's predecessors in its block's part what `sums` has for the blocks before.
///
/// The sums are added in the order that the kernel promises. Those of the blocks before are dealt
/// out to threads, and are added in a tree. In a tile a thread adds its own elements; the sums of a
/// warp's threads are scanned by distances that double, and each warp's behind those before it.
///
/// # Panics
///
/// If `threads`, `len` or `grid` is 0, or there are fewer sums than blocks.
pub fn exclusive_scan<T: Value>(input: &[T], sums: &[T], threads: usize, len: usize, grid: usize) -> Vec<T> {
    let mut out = vec![T::zero(); input.len()];
    let tiles = input.len().div_ceil(len);
    let mut parts = Vec::new();
    let mut rest = &mut out[..];
    for block in 0..grid {
        let own = tiles_of(block, tiles, grid).len() * len;
        let (part, behind) = rest.split_at_mut(own.min(rest.len()));
        parts.push((block, part));
        rest = behind;
    }
    parallel::for_each(parts.into_iter(), |(block, part)| {
        let of_thread = |rank| (rank..block).step_by(threads).fold(T::zero(), |sum, part| sum.plus(sums[part]));
        let mut before = add_threads((0..threads).map(of_thread).collect());
        for (tile, part) in tiles_of(block, tiles, grid).zip(part.chunks_mut(len)) {
            let own = own(input, tile, threads, len);
            let of_threads = own.iter().map(|own| own.iter().fold(T::zero(), |sum, value| sum.plus(*value)));
            let (prefixes, total) = scan(of_threads.collect(), before);
            before = total;
            let values = own.iter().zip(prefixes).flat_map(|(own, prefix)| {
                own.iter().scan(prefix, |sum, value| Some(std::mem::replace(sum, sum.plus(*value))))
            });
            part.iter_mut().zip(values).for_each(|(to, value)| *to = value);
        }
    });
    out
}

/// What each thread has of a tile; what lies beyond the end counts as zero.
fn own<T: Value>(input: &[T], tile: usize, threads: usize, len: usize) -> Vec<Vec<T>> {
    let at = |index: usize| input.get(index).copied().unwrap_or_else(T::zero);
    let each = len / threads;
    (0..threads).map(|rank| (0..each).map(|nth| at(tile * len + rank * each + nth)).collect()).collect()
}

/// For each thread what is before its value, with `initial` before all, and the total.
fn scan<T: Value>(mut values: Vec<T>, initial: T) -> (Vec<T>, T) {
    let mut before = initial;
    let mut prefixes = Vec::with_capacity(values.len());
    for lanes in values.chunks_mut(WARP) {
        let mut distance = 1;
        while distance < lanes.len() {
            for lane in (distance..lanes.len()).rev() {
                lanes[lane] = lanes[lane - distance].plus(lanes[lane]);
            }
            distance *= 2;
        }
        prefixes.push(before);
        prefixes.extend(lanes[..lanes.len() - 1].iter().map(|sum| before.plus(*sum)));
        before = lanes.last().map_or(before, |sum| before.plus(*sum));
    }
    (prefixes, before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_and_the_scan_goes_on_from_one_to_the_next() {
        let input: Vec<i32> = (0..1003).map(|i| i * i % 101 - 40).collect();
        let expected: Vec<i32> = (0..input.len()).map(|end| input[..end].iter().sum()).collect();
        for (threads, grid) in [(32, 1), (64, 3), (64, 5), (32, 50)] {
            let len = 4 * threads;
            let sums = part_sums(&input, threads, len, grid);
            assert_eq!(sums.iter().sum::<i32>(), input.iter().sum::<i32>());
            assert_eq!(exclusive_scan(&input, &sums, threads, len, grid), expected, "{threads} threads, {grid} blocks");
        }
    }

    #[test]
    fn the_first_blocks_have_one_tile_more() {
        assert_eq!([0, 1, 2].map(|block| tiles_of(block, 5, 3)), [0..2, 2..4, 4..5]);
        assert_eq!([0, 1, 2].map(|block| tiles_of(block, 2, 3)), [0..1, 1..2, 2..2]);
    }
}
