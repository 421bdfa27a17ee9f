//! Where the tiles of an output lie of which several boxes are a tile.

use core::iter::FusedIterator;
use core::num::NonZeroU32;

use crate::fault;
use crate::isa;
use crate::view::geometry::Rows;
use crate::view::numbers::TileNumbers;
use crate::view::order::Stepped;
use crate::view::share::{Share, TILE_OUT_OF_RANGE};

/// As [`Places`](crate::Places), of the tiles of an output of which several boxes are a tile
/// ([`Panels2`](crate::Panels2)), in whatever order they are counted.
///
/// A loop takes them by `for tile in places`: each [`TilePlace`] is found from the one before it,
/// by a few additions, where [`get`](Self::get) computes it anew and [`len`](Self::len) divides.
#[derive(Clone, Copy, Debug)]
pub struct TilePlaces {
    share: Share<Rows>,
    /// Of tiles from the last row on, groups of columns in place of rows: sections.
    groups: Groups,
    /// Rows of tiles.
    down: u32,
    last_first: bool,
    /// Which rounds of the grid go backwards then: those of even index, or of odd.
    backwards: usize,
}

impl TilePlaces {
    /// The tiles of a share of `down` rows of tiles, counted as the order says.
    #[inline(always)]
    pub(crate) fn of<O: Stepped>(share: Share<Rows>, down: usize) -> Self {
        let (down, across) = (down as u32, share.division.divisor());
        let groups = match O::LAST_FIRST {
            true => {
                let section = columns_of_section(down, across, share.numbers().stride() as u32);
                // There are no tiles where there are no rows.
                Groups::of(section, across.get(), NonZeroU32::new(down).unwrap_or(NonZeroU32::MIN))
            }
            false => Groups::of(O::GROUP as u32, down, across),
        };
        let backwards = if O::LAST_FIRST { share.numbers().backwards() } else { 0 };
        TilePlaces { share, groups, down, last_first: O::LAST_FIRST, backwards }
    }

    /// Returns how many tiles the block has; 0 where blocks outnumber tiles.
    #[expect(clippy::len_without_is_empty, reason = "`len() == 0` says it in a kernel's loop as well")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.share.len()
    }

    /// Returns the row and the column of the block's tile `index` among the tensor's tiles.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, index: usize) -> (usize, usize) {
        self.share.check(index, TILE_OUT_OF_RANGE);
        self.place(index)
    }

    /// As [`get`](Self::get), of a tile that there is.
    #[inline(always)]
    fn place(&self, index: usize) -> (usize, usize) {
        if self.last_first {
            // As many as come before it.
            let before = self.share.numbers().number_in_turns(index, self.backwards) as u32;
            let (column, up) = self.groups.place_of_any(before);
            return ((self.down - 1 - up) as usize, column as usize);
        }
        if self.groups.rows == 0 {
            return self.share.place(index);
        }
        let (row, column) = self.groups.place_of(self.share.numbers().number(index) as u32);
        (row as usize, column as usize)
    }

    /// Returns the block's tiles one after another: what `for tile in places` takes.
    #[inline(always)]
    pub fn iter(&self) -> TilePlacesIter {
        let numbers = self.share.numbers();
        TilePlacesIter { of: *self, number: 0, by: numbers.first(), index: 0, group: 0, rest: 0 }
    }
}

impl IntoIterator for TilePlaces {
    type Item = TilePlace;
    type IntoIter = TilePlacesIter;

    #[inline(always)]
    fn into_iter(self) -> TilePlacesIter {
        self.iter()
    }
}

impl IntoIterator for &TilePlaces {
    type Item = TilePlace;
    type IntoIter = TilePlacesIter;

    #[inline(always)]
    fn into_iter(self) -> TilePlacesIter {
        self.iter()
    }
}

/// A block's tiles one after another ([`TilePlaces::iter`]).
#[must_use = "an iterator does nothing until it is asked for tiles"]
#[derive(Clone, Debug)]
pub struct TilePlacesIter {
    of: TilePlaces,
    /// The number of the tile that was returned last, and how far the next one is from it.
    number: usize,
    by: usize,
    /// The index of the next one.
    index: usize,
    /// Where the one that was returned last lies.
    group: u32,
    rest: u32,
}

impl Iterator for TilePlacesIter {
    type Item = TilePlace;

    #[inline(always)]
    fn next(&mut self) -> Option<TilePlace> {
        let numbers = self.of.share.numbers();
        // No overflow: both are below 2^32 (`TileNumbers`, 0), or the first is at most the end.
        let number = self.number + self.by;
        if number >= numbers.end() {
            return None;
        }
        if self.of.last_first {
            // Row and column, as where a row is a group.
            let (row, column) = self.of.place(self.index);
            (self.group, self.rest) = (row as u32, column as u32);
        } else {
            (self.group, self.rest) =
                self.of.groups.further(self.of.share.division.divisor().get(), (self.group, self.rest), self.by as u32);
        }
        let place = TilePlace { of: self.of, index: self.index, group: self.group, rest: self.rest };
        (self.number, self.by) = (number, numbers.stride());
        self.index += 1;
        Some(place)
    }
}

impl FusedIterator for TilePlacesIter {}

/// One of a block's tiles of an output, and where it lies: for inputs that are read for it, and for
/// the stores of sums ([`OutputRing::store_sums`](crate::OutputRing::store_sums)), which take it in
/// place of its index.
///
/// # Invariants
///
/// 0. Tile `index` of those of `of` exists, and lies at `rest` in `group`.
#[derive(Clone, Copy, Debug)]
pub struct TilePlace {
    of: TilePlaces,
    index: usize,
    group: u32,
    rest: u32,
}

impl TilePlace {
    /// Returns the tile's index among the block's tiles.
    #[inline(always)]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the tile's row and column among the tensor's tiles.
    #[inline(always)]
    pub fn get(&self) -> (usize, usize) {
        let groups = self.of.groups;
        let (row, column) = if groups.rows == 0 || self.of.last_first {
            (self.group, self.rest)
        } else {
            groups.place(self.group, self.rest)
        };
        (row as usize, column as usize)
    }
}

/// What says which of a block's tiles of an output is meant: its index, or its [`TilePlace`].
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no tile of an output",
    label = "not a tile's index, or its place",
    note = "take the tile of `for tile in out.tile_places(&block)`, or an index of type `usize`"
)]
pub trait TileIndex: sealed::TileIndex {}

mod sealed {
    use super::{TileNumbers, TilePlaces};

    pub trait TileIndex: Copy {
        /// Its index among a block's tiles.
        fn index(self) -> usize;

        /// How many these numbers are, or fewer, but more than `index`, its own, if there is such a
        /// tile.
        fn count_of(index: usize, numbers: TileNumbers) -> usize;

        /// The index, and row and column among the tensor's tiles.
        ///
        /// # Panics
        ///
        /// If there is no such tile, or it is one of another output.
        #[track_caller]
        fn in_places(self, places: &TilePlaces) -> (usize, (usize, usize));
    }
}

impl TileIndex for usize {}

impl sealed::TileIndex for usize {
    #[inline(always)]
    fn index(self) -> usize {
        self
    }

    #[inline(always)]
    fn count_of(_: usize, numbers: TileNumbers) -> usize {
        numbers.count()
    }

    #[inline(always)]
    #[track_caller]
    fn in_places(self, places: &TilePlaces) -> (usize, (usize, usize)) {
        (self, places.get(self))
    }
}

impl TileIndex for TilePlace {}

impl sealed::TileIndex for TilePlace {
    #[inline(always)]
    fn index(self) -> usize {
        self.index
    }

    /// Only where there is no such tile, by a mistake of the kernel's, are they counted.
    #[inline(always)]
    fn count_of(index: usize, numbers: TileNumbers) -> usize {
        if numbers.has(index) { index + 1 } else { numbers.count_below_2_32() }
    }

    #[inline(always)]
    #[track_caller]
    fn in_places(self, places: &TilePlaces) -> (usize, (usize, usize)) {
        // Of outputs with the same tiles in the same order each block has the same ones.
        let (of, other) = (self.of.groups, places.groups);
        let (tiles, others) = (self.of.share.numbers(), places.share.numbers());
        if tiles.stride() != others.stride()
            || !tiles.is_same(others)
            || self.of.share.division.divisor() != places.share.division.divisor()
            || of.rows != other.rows
            || self.of.last_first != places.last_first
        {
            fault::out_of_range(
                "the place is of an output of {} tiles, and this one has {}, or as many in other rows or another order",
                tiles.end(),
                others.end(),
            );
        }
        (self.index, self.get())
    }
}

/// Tiles that are counted in groups of rows, the last of which may have fewer, and in each group
/// column by column; or row by row, and a row is a group then.
///
/// A tile's place is computed where tensor cores wait for it, so without a division but in a last
/// group of fewer rows.
#[derive(Clone, Copy, Debug)]
struct Groups {
    /// Rows of tiles that are counted together; 0 if tiles are counted row by row.
    rows: u32,
    /// Groups of so many rows.
    whole: u32,
    /// Rows of the group behind them, or 1 where there is none.
    last: u32,
    /// Tiles of a group.
    tiles: u32,
    /// How often these are in `u32::MAX`.
    reciprocal: u32,
}

/// The row and the column of a tile in a group. (With a function that both callers call, LLVM keeps
/// the place in registers while attention's gradient multiplies, which took 1 % longer.)
macro_rules! place_in {
    ($rows:ident, $whole:ident, $last:ident, $group:ident, $rest:ident) => {{
        // `rows` is a constant. Where it is a power of two the two arms must have no instruction in
        // common, or the compiler makes one division of both.
        let (row, column) = if $group < $whole && $rows.is_power_of_two() {
            ($rest & ($rows - 1), $rest >> $rows.trailing_zeros())
        } else {
            let rows = if $group < $whole { $rows } else { $last };
            ($rest % rows, $rest / rows)
        };
        ($group * $rows + row, column)
    }};
}

/// How many columns of tiles are worked through from the last row to the first before the next
/// ones: as many as make a multiple of two rounds of a grid of so many blocks, whose work evens out
/// ([`LastFirst`](crate::LastFirst)), or all. What their tiles read is in the cache then.
///
/// The rows of tiles are divided by two alone, so that this is a shift.
#[inline(always)]
fn columns_of_section(down: u32, across: NonZeroU32, blocks: u32) -> u32 {
    // No more than all tiles, which are fewer than 2^32.
    let rounds = blocks.saturating_mul(2);
    let section = rounds >> down.trailing_zeros().min(rounds.trailing_zeros()).min(31);
    section.clamp(1, across.get())
}

impl Groups {
    #[inline(always)]
    fn of(rows: u32, down: u32, across: NonZeroU32) -> Self {
        // There are fewer than 2^32 tiles. A group's are at most as many where there is more than
        // one; a single one may have more, and then it has all.
        let tiles = (u64::from(rows) * u64::from(across.get())).clamp(1, u64::from(u32::MAX)) as u32;
        let (whole, last) = match rows {
            0 => (0, 1),
            rows => (down / rows, (down % rows).max(1)),
        };
        Groups { rows, whole, last, tiles, reciprocal: u32::MAX / tiles }
    }

    /// The row and the column of tile `number`.
    #[inline(always)]
    fn place_of(self, number: u32) -> (u32, u32) {
        let Groups { rows, whole, last, tiles, reciprocal } = self;
        // `tiles * reciprocal` is `2^32 - tiles` at least, so that this quotient is less than one
        // below the true one: at most 1 too small.
        let group = ((u64::from(number) * u64::from(reciprocal)) >> 32) as u32;
        let rest = number - group * tiles;
        let (group, rest) = if rest >= tiles { (group + 1, rest - tiles) } else { (group, rest) };
        place_in!(rows, whole, last, group, rest)
    }

    /// As [`place_of`](Self::place_of), where a group's rows are no constant: with a division.
    #[inline(always)]
    fn place_of_any(self, number: u32) -> (u32, u32) {
        let Groups { rows, whole, last, tiles, reciprocal } = self;
        let group = ((u64::from(number) * u64::from(reciprocal)) >> 32) as u32;
        let rest = number - group * tiles;
        let (group, rest) = if rest >= tiles { (group + 1, rest - tiles) } else { (group, rest) };
        let of_group = if group < whole { rows } else { last };
        // A group has one row at least, which the compiler does not see here.
        let column = rest.checked_div(of_group).unwrap_or(0);
        (group * rows + (rest - column * of_group), column)
    }

    /// The group, and the place there, of the tile whose number is greater by `by`; there is one.
    #[inline(always)]
    fn further(self, across: u32, (mut group, mut rest): (u32, u32), mut by: u32) -> (u32, u32) {
        // Row by row a row is a group.
        let tiles = if self.rows == 0 { across } else { self.tiles };
        // A grid is seldom more than a few groups, and a division takes as long as ten of these
        // steps.
        if by / 8 >= tiles {
            // There is one tile at least, which the compiler does not see here.
            let groups = by.checked_div(tiles).unwrap_or(0);
            (group, by) = (group + groups, by - groups * tiles);
        }
        loop {
            // The compiler must not make a division of this.
            let left = isa::opaque((tiles - rest) as usize) as u32;
            if by < left {
                return (group, rest + by);
            }
            (group, rest, by) = (group + 1, 0, by - left);
        }
    }

    /// The row and the column of the tile at `rest` in `group`.
    #[inline(always)]
    fn place(self, group: u32, rest: u32) -> (u32, u32) {
        let Groups { rows, whole, last, .. } = self;
        place_in!(rows, whole, last, group, rest)
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU32;

    use super::sealed::TileIndex as _;
    use super::{Groups, TilePlaces};
    use crate::view::geometry::Rows;
    use crate::view::numbers::TileNumbers;
    use crate::view::order::sealed::Stepped as _;
    use crate::view::order::{Cyclic, FromEnd, Grouped, LastFirst, Stepped};
    use crate::view::share::Share;

    /// The places of the tiles of a block, of those of so many rows and columns of tiles.
    fn places<O: Stepped>([down, across]: [usize; 2], block: usize, grid: usize) -> TilePlaces {
        let (division, tiles) = Rows::new(across, down, across).divide_into([1, 1]);
        let numbers = TileNumbers::every_nth(tiles, block, grid);
        TilePlaces::of::<O>(Share { division, numbers, count: numbers.count(), whole: false }, down)
    }

    #[test]
    fn one_after_another_tiles_are_those_of_their_indices() {
        fn check<O: Stepped>() {
            for (down, across) in (1..20).flat_map(|down| [1, 2, 3, 7, 40].map(|across| (down, across))) {
                for (block, grid) in [1, 2, 5, 16, 17, 63, 64, 65, 200, 1000].into_iter().flat_map(|grid| {
                    [0, 1, grid / 2, grid - 1]
                        .into_iter()
                        .filter(move |block| *block < grid)
                        .map(move |block| (block, grid))
                }) {
                    let places = places::<O>([down, across], block, grid);
                    let found: Vec<_> = places.into_iter().map(|tile| (tile.index(), tile.get())).collect();
                    let asked: Vec<_> = (0..places.len()).map(|index| (index, places.get(index))).collect();
                    assert_eq!(found, asked, "block {block} of {grid}, {down} by {across}");
                    assert!(places.iter().all(|tile| tile.in_places(&places) == tile.index().in_places(&places)));
                }
            }
        }
        check::<Cyclic>();
        check::<LastFirst>();
        check::<FromEnd>();
        check::<Grouped<1>>();
        check::<Grouped<3>>();
        check::<Grouped<8>>();
    }

    #[test]
    fn tiles_from_the_last_row_on_are_all_tiles_once_in_sections_that_even_out() {
        // Columns of a section: 33 of 8 rows make two rounds of 132 blocks, and of 16 rows four.
        for ([down, across], grid, section) in [
            ([8, 128], 132, 33),
            ([16, 64], 132, 33),
            ([64, 70], 132, 33),
            ([8, 20], 132, 20),
            ([16, 16], 132, 16),
            ([16, 32], 132, 32),
            ([6, 300], 132, 132),
            ([7, 300], 132, 264),
            ([4, 12], 2, 1),
            ([1, 5], 3, 5),
            ([3, 1], 4, 1),
        ] {
            let mut seen = vec![0; down * across];
            let mut work = Vec::new();
            for block in 0..grid {
                let places = places::<LastFirst>([down, across], block, grid);
                let of_block: Vec<_> = (0..places.len()).map(|index| places.get(index)).collect();
                for (row, column) in &of_block {
                    seen[row * across + column] += 1;
                }
                let in_order = |&(row, column): &(usize, usize)| (column / section, down - row);
                assert!(of_block.is_sorted_by_key(in_order), "{of_block:?}: sections, and in each the last row first");
                work.push(of_block.iter().map(|(row, _)| row + 1).sum::<usize>());
            }
            assert!(seen.iter().all(|times| *times == 1), "{down} by {across}");
            let (least, most) = (work.iter().min().copied(), work.iter().max().copied());
            let apart = most.zip(least).map_or(0, |(most, least)| most - least);
            assert!(apart <= down, "{down} by {across}: {least:?} to {most:?}");
        }
    }

    #[test]
    fn tiles_from_the_end_are_those_from_the_last_row_on_moved_by_whole_slices() {
        for (rows, of_tile) in
            [64, 128, 192, 256].into_iter().flat_map(|of_tile| (1..800).map(move |rows| (rows, of_tile)))
        {
            let (in_front, down) = (FromEnd::rows_in_front(rows, of_tile), rows.div_ceil(of_tile));
            let more = down * of_tile - rows;
            assert!(in_front % 64 == 0 && in_front <= more && more < in_front + 64, "{rows} rows, {of_tile} of a tile");
            assert_eq!(LastFirst::rows_in_front(rows, of_tile), 0);
        }
        let of_block = |places: TilePlaces| places.iter().map(|tile| tile.get()).collect::<Vec<_>>();
        for block in 0..5 {
            assert_eq!(of_block(places::<FromEnd>([7, 4], block, 5)), of_block(places::<LastFirst>([7, 4], block, 5)));
        }
    }

    #[test]
    fn there_is_no_tile_behind_the_last_one() {
        let mut tiles = places::<Grouped<8>>([3, 2], 1, 4).iter();
        assert_eq!(
            (tiles.next().map(|tile| tile.get()), tiles.next().map(|tile| tile.get())),
            (Some((1, 0)), Some((2, 1)))
        );
        assert!(tiles.next().is_none() && tiles.next().is_none());
        assert!(places::<Cyclic>([3, 2], 6, 7).iter().next().is_none());
    }

    #[test]
    fn places_of_other_tiles_are_refused() {
        let tile = |of: TilePlaces| of.iter().next().expect("one tile");
        let own = places::<Grouped<8>>([4, 6], 1, 4);
        assert_eq!(tile(places::<Grouped<8>>([4, 6], 1, 4)).in_places(&own), (0, (1, 0)));
        for other in [
            places::<Grouped<8>>([6, 4], 1, 4),
            places::<Grouped<8>>([4, 7], 1, 4),
            places::<Grouped<8>>([4, 6], 1, 5),
            places::<Grouped<2>>([4, 6], 1, 4),
            places::<LastFirst>([4, 6], 1, 4),
            places::<Cyclic>([4, 6], 1, 4),
        ] {
            assert!(std::panic::catch_unwind(|| tile(other).in_places(&own)).is_err(), "{other:?}");
        }
        assert!(std::panic::catch_unwind(|| 6.in_places(&own)).is_err());
    }

    #[test]
    fn tiles_in_groups_are_all_tiles_once() {
        for (rows, down, across) in
            (1..6).flat_map(|rows| (1..14).flat_map(move |down| (1..8).map(move |across| (rows, down, across))))
        {
            let across = NonZeroU32::new(across).expect("one at least");
            let groups = Groups::of(rows, down, across);
            let mut seen = vec![false; (down * across.get()) as usize];
            for number in 0..down * across.get() {
                let (row, column) = groups.place_of(number);
                assert!(row < down && column < across.get(), "{number}: {row}, {column}");
                assert!(!std::mem::replace(&mut seen[(row * across.get() + column) as usize], true));
                assert_eq!(row / rows, number / (rows * across.get()), "a group is worked through before the next");
            }
        }
        // Three rows of two columns in groups of two rows: column by column.
        let across = NonZeroU32::new(2).expect("two");
        let places: Vec<_> = (0..6).map(|number| Groups::of(2, 3, across).place_of(number)).collect();
        assert_eq!(places, [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)]);
        // A group as large as can be.
        let wide = NonZeroU32::new(1 << 22).expect("many");
        assert_eq!(Groups::of(1024, 900, wide).place_of(1023), (123, 1));
        // More tiles than 2^31, where the reciprocal is as wrong as it can be.
        for across in
            [1, 2, 3, 5, 1000, 65_535, 65_536, 65_537].map(|across| NonZeroU32::new(across).expect("one at least"))
        {
            let (rows, tiles) = (8, 8 * across.get());
            let groups = Groups::of(rows, u32::MAX / tiles * rows, across);
            for number in (1..=u32::MAX / tiles)
                .step_by(1 + (u32::MAX / tiles / 1000) as usize)
                .flat_map(|group| [group * tiles - 1, group * tiles])
            {
                if number / tiles < u32::MAX / tiles {
                    let (of_group, rest) = (number / tiles * rows, number % tiles);
                    assert_eq!(
                        groups.place_of(number),
                        (of_group + rest % rows, rest / rows),
                        "{number} of groups of {tiles}"
                    );
                }
            }
        }
    }
}
