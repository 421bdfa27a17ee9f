//! Which of a view's tiles are a block's, and where they lie.

use super::geometry::{Geometry, Rows};
use super::numbers::TileNumbers;
use super::order::Order;
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
