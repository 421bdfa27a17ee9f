//! Which of a view's tiles are a block's, and where they lie.

use core::num::NonZeroU32;

use super::geometry::{Geometry, Rows};
use super::numbers::TileNumbers;
use super::order::{Order, Stepped};
use crate::fault;
use crate::tile::Tile;

/// The message for an index that is not below the number of the block's tiles.
pub(crate) const TILE_OUT_OF_RANGE: &str = "tile index {} is out of range: this block has {} tiles";

/// The tiles of one block among those of a view, in the order in which it works through them.
///
/// # Invariants
///
/// 0. The numbers of `numbers` are those of tiles of the view that `division` divides.
/// 1. `count` is how many they are. Drivers count for themselves where they need to: a division
///    whose result nobody uses is left out.
/// 2. If `whole`, each of these tiles lies within the view as a whole, its halo included.
///
/// Views make it in place: as a function's result it would lie in memory for a while, and the
/// compiler for the GPU then orders a loop's variables otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Share<G: Geometry> {
    pub(crate) division: G::Division,
    pub(crate) numbers: TileNumbers,
    pub(crate) count: usize,
    pub(crate) whole: bool,
}

impl<G: Geometry> Share<G> {
    /// How many they are.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Which of the view's tiles they are.
    #[inline(always)]
    pub(crate) fn numbers(&self) -> TileNumbers {
        self.numbers
    }

    /// The number of the block's tile `index` among the view's.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn number(&self, index: usize) -> usize {
        self.check(index, TILE_OUT_OF_RANGE);
        self.numbers.number(index)
    }

    /// Whether all of the tiles are known to be whole.
    #[inline(always)]
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Fails the launch with `message` unless there is a tile with this index.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn check(&self, index: usize, message: &'static str) {
        if index >= self.len() {
            fault::out_of_range(message, index, self.len());
        }
    }

    /// The row and the column of the block's tile `index` among the view's tiles; for an index that
    /// is not below `self.len()` the place of no tile.
    #[inline(always)]
    pub(crate) fn place(&self, index: usize) -> (usize, usize) {
        self.place_of(self.numbers.number(index))
    }

    /// The row and the column of tile `number` of the view.
    #[inline(always)]
    pub(crate) fn place_of(&self, number: usize) -> (usize, usize) {
        G::place(self.division, number)
    }

    /// A bound on tile numbers: all of the block's tiles of shape `S` with lower numbers exist and
    /// lie within the view of `geometry` as a whole, their halos included. It is at most the end of
    /// the numbers.
    #[inline(always)]
    pub(crate) fn whole_below<S: Tile, O: Order>(&self, geometry: G) -> usize {
        if self.whole {
            return self.numbers.end();
        }
        let below = geometry.whole_below::<S>(self.numbers);
        // The geometry's bound is at most the number of the view's tiles, which is where all
        // shares end in an order that does not depend on it.
        if O::BY_TILES { below.min(self.numbers.end()) } else { below }
    }

    /// The same tiles, counted here.
    #[inline(always)]
    pub(crate) fn counted(self) -> Self {
        Share { count: G::count(self.numbers), ..self }
    }

    /// The same tiles, known to be whole, and known to be as many as those of another view.
    ///
    /// # Safety
    ///
    /// `self.len() == count`, and the share lies below its `whole_below`.
    #[inline(always)]
    pub(crate) unsafe fn known_whole(self, count: usize) -> Self {
        Share { count, whole: true, ..self }
    }
}

/// The places of a block's tiles among those of a view of rows, in the order in which the block
/// works through them.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    share: Share<Rows>,
}

impl Places {
    #[inline(always)]
    pub(crate) fn of(share: Share<Rows>) -> Self {
        Places { share }
    }

    /// Returns how many tiles the block has; 0 where blocks outnumber tiles.
    #[expect(clippy::len_without_is_empty, reason = "`len() == 0` says it in a kernel's loop as well")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.share.len()
    }

    /// Returns the row and the column of the block's tile `index` among the view's tiles.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, index: usize) -> (usize, usize) {
        self.share.check(index, TILE_OUT_OF_RANGE);
        self.share.place(index)
    }
}

/// As [`Places`], of the tiles of an output of which several boxes are a tile
/// ([`Panels2`](crate::Panels2)), in whatever order they are counted.
#[derive(Clone, Copy, Debug)]
pub struct TilePlaces {
    share: Share<Rows>,
    groups: Groups,
    last_first: bool,
}

impl TilePlaces {
    /// The tiles of a share of `down` rows of tiles, counted as the order says.
    #[inline(always)]
    pub(crate) fn of<O: Stepped>(share: Share<Rows>, down: usize) -> Self {
        let groups = Groups::of(O::GROUP as u32, down as u32, share.division.divisor());
        TilePlaces { share, groups, last_first: O::LAST_FIRST }
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
        if self.last_first {
            return self.share.place_of(self.share.numbers().number_from_last(index));
        }
        if self.groups.rows == 0 {
            return self.share.place(index);
        }
        let (row, column) = self.groups.place(self.share.numbers().number(index) as u32);
        (row as usize, column as usize)
    }
}

/// Tiles that are counted in groups of rows, the last of which may have fewer, and in each group
/// column by column.
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
    fn place(self, number: u32) -> (u32, u32) {
        let Groups { rows, whole, last, tiles, reciprocal } = self;
        // `tiles * reciprocal` is `2^32 - tiles` at least, so that this quotient is less than one
        // below the true one: at most 1 too small.
        let group = ((u64::from(number) * u64::from(reciprocal)) >> 32) as u32;
        let rest = number - group * tiles;
        let (group, rest) = if rest >= tiles { (group + 1, rest - tiles) } else { (group, rest) };
        // `rows` is a constant. Where it is a power of two the two arms must have no instruction in
        // common, or the compiler makes one division of both.
        let (row, column) = if group < whole && rows.is_power_of_two() {
            (rest & (rows - 1), rest >> rows.trailing_zeros())
        } else {
            let rows = if group < whole { rows } else { last };
            (rest % rows, rest / rows)
        };
        (group * rows + row, column)
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU32;

    use super::Groups;

    #[test]
    fn tiles_in_groups_are_all_tiles_once() {
        for (rows, down, across) in
            (1..6).flat_map(|rows| (1..14).flat_map(move |down| (1..8).map(move |across| (rows, down, across))))
        {
            let across = NonZeroU32::new(across).expect("one at least");
            let groups = Groups::of(rows, down, across);
            let mut seen = vec![false; (down * across.get()) as usize];
            for number in 0..down * across.get() {
                let (row, column) = groups.place(number);
                assert!(row < down && column < across.get(), "{number}: {row}, {column}");
                assert!(!std::mem::replace(&mut seen[(row * across.get() + column) as usize], true));
                assert_eq!(row / rows, number / (rows * across.get()), "a group is worked through before the next");
            }
        }
        // Three rows of two columns in groups of two rows: column by column.
        let across = NonZeroU32::new(2).expect("two");
        let places: Vec<_> = (0..6).map(|number| Groups::of(2, 3, across).place(number)).collect();
        assert_eq!(places, [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)]);
        // A group as large as can be.
        let wide = NonZeroU32::new(1 << 22).expect("many");
        assert_eq!(Groups::of(1024, 900, wide).place(1023), (123, 1));
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
                        groups.place(number),
                        (of_group + rest % rows, rest / rows),
                        "{number} of groups of {tiles}"
                    );
                }
            }
        }
    }
}
