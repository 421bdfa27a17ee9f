//! Which of a view's tiles are a block's.

use crate::{fault, isa};

/// The numbers of a block's tiles among those of a view: `first`, `first + stride`, .. below `end`.
///
/// A tile is asked for by its place among these numbers, an index. To count the numbers takes a
/// division, so a loop asks instead whether there is a next one ([`has`](Self::has)).
///
/// # Invariants
///
/// 0. `stride` is 1 to 2^32 - 1; `first` is below 2^32, or at most `end`.
#[derive(Clone, Copy, Debug)]
pub struct TileNumbers {
    first: usize,
    stride: usize,
    end: usize,
}

impl TileNumbers {
    /// The block's numbers below `end`: every `grid`-th one from the block's index on. Those of all
    /// views have the same `first` and `stride`.
    #[inline(always)]
    pub(crate) fn of_block(end: usize) -> Self {
        Self::every_nth(end, isa::block_index() as usize, isa::grid_blocks() as usize)
    }

    /// The numbers of block `block` of `grid` below `end`: every `grid`-th one.
    #[inline(always)]
    pub(crate) fn every_nth(end: usize, block: usize, grid: usize) -> Self {
        TileNumbers { first: block, stride: grid, end }
    }

    /// The numbers below `end` of member `rank` of the `count` that each block has: its warps, or
    /// its threads.
    ///
    /// # Panics
    ///
    /// If there are 2^32 members or more in all blocks.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn of_member(end: usize, rank: usize, count: usize) -> Self {
        let (block, grid) = (isa::block_index() as usize, isa::grid_blocks() as usize);
        // No overflow: a grid has fewer than 2^32 blocks, and a block at most 1024 threads.
        if grid * count > u32::MAX as usize {
            fault::out_of_range(
                "tiles are dealt to fewer than 2^32 warps or threads: the grid has {} blocks of {}",
                grid,
                count,
            );
        }
        Self::every_nth(end, block * count + rank, grid * count)
    }

    /// The block's numbers below `tiles`, if each block gets as many in a row as the others, or one
    /// more.
    #[inline(always)]
    pub(crate) fn in_a_row_of_block(tiles: usize) -> Self {
        Self::in_a_row(tiles, isa::block_index() as usize, isa::grid_blocks() as usize)
    }

    /// The numbers of block `block` of `grid` below `tiles`, in a row: with `q` and `r` as quotient
    /// and remainder, `q + 1` for each of the first `r` blocks, and `q` for each of the others.
    #[inline(always)]
    fn in_a_row(tiles: usize, block: usize, grid: usize) -> Self {
        // No overflow: `block < grid`, so that all products and sums are at most `tiles`.
        let (each, more) = (tiles / grid, tiles % grid);
        let first = block * each + block.min(more);
        TileNumbers { first, stride: 1, end: first + each + usize::from(block < more) }
    }

    /// The numbers of the tiles in row `row`, of `columns` each.
    #[inline(always)]
    pub(crate) fn of_row(row: usize, columns: usize) -> Self {
        // No overflow: the row is one of a view, which has fewer than 2^32 tiles.
        let first = row * columns;
        TileNumbers { first, stride: 1, end: first + columns }
    }

    /// All numbers below `end`.
    #[inline(always)]
    pub(crate) fn all_below(end: usize) -> Self {
        TileNumbers { first: 0, stride: 1, end }
    }

    /// The block's numbers below another end.
    #[inline(always)]
    pub(crate) fn below(self, end: usize) -> Self {
        TileNumbers { end, ..self }
    }

    /// Fails the launch unless the numbers of another share with the same stride are the same.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn check_same(self, other: Self) {
        if !self.is_same(other) {
            fault::out_of_range(
                "shares of one step have other tiles: one has those below number {}, another those below number {}; in this order \
                 all views have the same number of tiles",
                self.end,
                other.end,
            );
        }
    }

    /// Whether another share with the same stride has the same numbers.
    #[inline(always)]
    pub(crate) fn is_same(self, other: Self) -> bool {
        self.first == other.first && self.end == other.end
    }

    /// The first number, if there is one.
    #[inline(always)]
    pub(crate) fn first(self) -> usize {
        self.first
    }

    /// How far one number is from the next.
    #[inline(always)]
    pub(crate) fn stride(self) -> usize {
        self.stride
    }

    /// What all numbers are below.
    #[inline(always)]
    pub(crate) fn end(self) -> usize {
        self.end
    }

    /// How many numbers there are.
    #[inline(always)]
    pub(crate) fn count(self) -> usize {
        if self.first >= self.end {
            return 0;
        }
        let others = (self.end - 1 - self.first) / self.stride;
        // SAFETY: no overflow: `others` is at most `end - 1`. The unchecked sum tells the compiler
        // so, and a loop over the indices needs no check of them.
        unsafe { others.unchecked_add(1) }
    }

    /// As [`count`](Self::count), without a division where there is one number at most: for callers
    /// that begin with it, in launches with a block for each tile.
    #[inline(always)]
    pub(crate) fn count_at_once(self) -> usize {
        if self.first >= self.end {
            return 0;
        }
        let span = self.end - 1 - self.first;
        // If the compiler knew that it is 0 on one of two ways, a loop over the indices would check
        // them.
        let others = isa::opaque(if span < self.stride { 0 } else { span / self.stride });
        // SAFETY: no overflow: the same number, at most `end - 1`.
        unsafe { others.unchecked_add(1) }
    }

    /// As [`count_at_once`](Self::count_at_once), of numbers that are all below 2^32: by a division
    /// of 32 bits, if there is more than one of them.
    #[inline(always)]
    pub(crate) fn count_below_2_32(self) -> usize {
        if self.first >= self.end {
            return 0;
        }
        let (span, stride) = ((self.end - 1 - self.first) as u32, self.stride as u32);
        // SAFETY: a stride is at least 1, and below 2^32 (0).
        unsafe { core::hint::assert_unchecked(stride != 0) };
        let others = isa::opaque(if span < stride { 0 } else { (span / stride) as usize });
        // SAFETY: `others` is at most `span`, which is below 2^32 - 1. The loop over the indices
        // needs no check of them.
        unsafe { others.unchecked_add(1) }
    }

    /// As [`count`](Self::count), or [`count_at_once`](Self::count_at_once) if `at_once`, in 32
    /// bits, in which a loop's counter costs less.
    ///
    /// # Panics
    ///
    /// If it exceeds `u32::MAX`.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn count_in_32_bits(self, at_once: bool) -> u32 {
        let count = if at_once { self.count_at_once() } else { self.count() };
        if count > fault::MOST_TILES {
            fault::too_many_tiles(count);
        }
        count as u32
    }

    /// The number with the index `index`. After the last number the sequence goes on with what
    /// would be the next ones. Nothing overflows for the indices that a loop over the numbers
    /// reaches: the index of a number, and some stages ahead.
    #[inline(always)]
    pub(crate) fn number(self, index: usize) -> usize {
        self.first + index * self.stride
    }

    /// Which rounds of the grid go backwards where every second one does
    /// ([`number_in_turns`](Self::number_in_turns)), of fewer than 2^32 numbers: those whose index
    /// leaves this remainder when it is divided by 2. They are the last but one, and every second
    /// one before it.
    ///
    /// The last round may have no number for the last blocks. Those that it has one for did least
    /// in the round before, which went backwards, and the first of them, which did least of all,
    /// gets the longest one.
    #[inline(always)]
    pub(crate) fn backwards(self) -> usize {
        let (end, stride) = (self.end as u32, self.stride as u32);
        // SAFETY: a stride is at least 1, and below 2^32 (0).
        unsafe { core::hint::assert_unchecked(stride != 0) };
        end.div_ceil(stride) as usize % 2
    }

    /// The number with the index `index` of a block, if the last block comes first in the rounds of
    /// the grid that [`backwards`](Self::backwards) names.
    ///
    /// The numbers are those of [`of_block`](Self::of_block), and the index is that of one.
    #[inline(always)]
    pub(crate) fn number_in_turns(self, index: usize, backwards: usize) -> usize {
        let (number, round) = (self.number(index), index * self.stride);
        // The last round goes forwards, so that one which goes backwards has a number for each
        // block: no overflow.
        if index % 2 == backwards { round + (round + self.stride - 1 - number) } else { number }
    }

    /// The number after this one, which is as for [`number`](Self::number).
    #[inline(always)]
    pub(crate) fn after(self, number: usize) -> usize {
        number + self.stride
    }

    /// Whether there is a number with this index, which is as for [`number`](Self::number).
    #[inline(always)]
    pub(crate) fn has(self, index: usize) -> bool {
        self.number(index) < self.end
    }

    /// Whether all numbers are below `limit`, given how many there are. It takes no division, for
    /// callers that have counted them anyway.
    #[inline(always)]
    pub(crate) fn counted_lies_below(self, count: usize, limit: usize) -> bool {
        count == 0 || self.number(count - 1) < limit
    }

    /// Whether there is a number of `limit` or more.
    #[inline(always)]
    pub(crate) fn has_beyond(self, limit: usize) -> bool {
        self.end > limit && self.first < self.end && !self.lies_below(limit)
    }

    /// Whether there is a number, and all of them are below `limit`.
    #[inline(always)]
    pub(crate) fn lies_below(self, limit: usize) -> bool {
        if self.first >= self.end {
            return false;
        }
        let highest = self.end - 1;
        self.end <= limit || highest - (highest - self.first) % self.stride < limit
    }
}

/// How many pieces of `piece` elements a view of `len` divides into; the last one may be shorter.
/// `usize::div_ceil` would compare the remainder too.
///
/// Nothing overflows: `len` elements lie in the address space, which has room for one more piece.
#[expect(clippy::manual_div_ceil, reason = "half the instructions")]
#[inline(always)]
pub(crate) fn pieces(len: usize, piece: usize) -> usize {
    (len + (piece - 1)) / piece
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `check` with small ranges of every kind, and with the numbers that a loop with such a
    /// stride comes to.
    fn for_each_pattern(check: impl Fn(TileNumbers, &[usize])) {
        for first in 0..12 {
            for stride in 1..9 {
                for end in 0..40 {
                    let numbers: Vec<usize> = (first..end).step_by(stride).collect();
                    check(TileNumbers { first, stride, end }, &numbers);
                }
            }
        }
    }

    #[test]
    fn tile_numbers_are_those_that_a_loop_comes_to() {
        for_each_pattern(|tiles, numbers| {
            let counts = [tiles.count(), tiles.count_at_once(), tiles.count_below_2_32()];
            assert_eq!(counts, [numbers.len(); 3], "{tiles:?}");
            assert!(numbers.iter().enumerate().all(|(index, number)| tiles.number(index) == *number), "{tiles:?}");
            assert!((0..numbers.len() + 8).all(|index| tiles.has(index) == (index < numbers.len())), "{tiles:?}");
            assert!((0..8).all(|index| tiles.after(tiles.number(index)) == tiles.number(index + 1)), "{tiles:?}");
        });
    }

    #[test]
    fn every_nth_tile_and_every_nth_row_of_tiles_are_dealt_once_each() {
        for grid in 1..=64 {
            for end in 0..=64 {
                // Three tiles a row, where the numbers are those of rows.
                let (mut tiles, mut of_rows) = (vec![0; end], vec![0; 3 * end]);
                for block in 0..grid {
                    let share = TileNumbers::every_nth(end, block, grid);
                    for number in (0..share.count()).map(|index| share.number(index)) {
                        tiles[number] += 1;
                        let row = TileNumbers::of_row(number, 3);
                        (0..row.count()).for_each(|index| of_rows[row.number(index)] += 1);
                    }
                }
                assert_eq!(tiles, vec![1; end], "{end} tiles of {grid} blocks");
                assert_eq!(of_rows, vec![1; 3 * end], "{end} rows of tiles of {grid} blocks");
            }
        }
    }

    #[test]
    fn tiles_in_turns_are_dealt_once_each_and_evenly() {
        for grid in 1..=40 {
            for end in 0..=200 {
                let mut tiles = vec![0; end];
                let mut longest = 0;
                let mut shortest = usize::MAX;
                for block in 0..grid {
                    let share = TileNumbers::every_nth(end, block, grid);
                    let own: Vec<usize> =
                        (0..share.count()).map(|index| share.number_in_turns(index, share.backwards())).collect();
                    assert!(own.is_sorted_by(|one, next| one < next), "{own:?}: one round after the other");
                    own.iter().for_each(|number| tiles[*number] += 1);
                    // The first one has most.
                    let work = own.iter().map(|number| end - number).sum::<usize>();
                    (longest, shortest) = (longest.max(work), shortest.min(work));
                }
                assert_eq!(tiles, vec![1; end], "{end} tiles of {grid} blocks");
                // Two rounds even out, and so do one and a last one that is not whole.
                assert!(longest - shortest < grid, "{end} tiles of {grid} blocks: {shortest} to {longest}");
            }
        }
    }

    #[test]
    fn tiles_in_a_row_are_dealt_once_each_and_evenly() {
        for grid in 1..=64 {
            for tiles in 0..=64 {
                let mut next = 0;
                for block in 0..grid {
                    let share = TileNumbers::in_a_row(tiles, block, grid);
                    assert_eq!((share.first, share.stride), (next, 1), "{tiles} tiles, block {block} of {grid}");
                    assert_eq!(share.count(), share.end - share.first);
                    assert!(share.count() == tiles / grid || share.count() == tiles / grid + 1);
                    next = share.end;
                }
                assert_eq!(next, tiles, "{tiles} tiles of {grid} blocks");
            }
        }
    }

    #[test]
    fn shares_in_a_row_that_end_at_the_same_tile_begin_at_the_same() {
        for grid in 1..=12 {
            for block in 0..grid {
                let shares: Vec<_> = (0..40).map(|tiles| TileNumbers::in_a_row(tiles, block, grid)).collect();
                for (one, other) in shares.iter().flat_map(|one| shares.iter().map(move |other| (one, other))) {
                    assert_eq!(
                        one.end == other.end,
                        one.is_same(*other),
                        "block {block} of {grid}: {one:?}, {other:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn tile_numbers_lie_below_a_limit_if_there_are_some_and_all_of_them_do() {
        for_each_pattern(|tiles, numbers| {
            for limit in 0..50 {
                let expected = !numbers.is_empty() && numbers.iter().all(|number| *number < limit);
                assert_eq!(tiles.lies_below(limit), expected, "{tiles:?} below {limit}");
                assert_eq!(
                    tiles.has_beyond(limit),
                    numbers.iter().any(|number| *number >= limit),
                    "{tiles:?} from {limit}"
                );
                let counted = tiles.counted_lies_below(numbers.len(), limit);
                assert_eq!(counted, expected || numbers.is_empty(), "{tiles:?}, counted, below {limit}");
            }
        });
    }
}
