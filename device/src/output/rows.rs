//! A block's rows of output tiles.

use super::arrangement::{Arrangement, Striped};
use super::tile::OutputTile;
use super::tiles::{BlockTilesMut, TileViewMut};
use crate::group::block::Block;
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::view::geometry::Rows;
use crate::view::numbers::TileNumbers;
use crate::view::order::WholeRows;
use crate::view::rows::RowShare;
use crate::view::share::Share;

use core::marker::PhantomData;

/// The rows of output tiles of one block, each with all of its tiles: of a view whose type says
/// [`WholeRows`].
///
/// # Invariants
///
/// 0. `share` is this block's among the rows of tiles of `view`, which is borrowed for `'v`.
pub struct BlockRowsMut<'v, 'k, 'b, S: OutputTile, const THREADS: usize, A = Striped> {
    view: &'v mut TileViewMut<'k, S, Rows, A, WholeRows>,
    share: RowShare,
    block: Brand<'b>,
    level: BlockLevel,
}

impl<S: OutputTile, A, const THREADS: usize> !Uniform for BlockRowsMut<'_, '_, '_, S, THREADS, A> {}

impl<'k, S: OutputTile, A: Arrangement> TileViewMut<'k, S, Rows, A, WholeRows> {
    /// Returns the rows of tiles of this block: every `grid`-th one from the block's own index on,
    /// each with all of its tiles.
    ///
    /// # Panics
    ///
    /// If the view has 2^32 tiles or more.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{
    ///     Block, Shared, Stages, Striped, Tile2D, Tiles2D, TilesMut2D, WholeRows, kernel,
    /// };
    ///
    /// /// Each row's elements, less the largest of the row.
    /// #[kernel]
    /// pub fn below_the_largest(
    ///     block: Block<64>,
    ///     input: Tiles2D<i32, 1, 64>,
    ///     mut out: TilesMut2D<i32, 1, 64, Striped, WholeRows>,
    ///     mut shared: Shared<Stages<Tile2D<i32, 1, 64>, 2>>,
    /// ) {
    ///     let (rows, mut results) = (input.in_order::<WholeRows>(&block), out.for_block(&block));
    ///     for i in 0..rows.len() {
    ///         let row = rows.row(i);
    ///         let mut largest = block.map(|_| i32::MIN);
    ///         // What lies beyond the end of a row reads as zero, and counts for nothing.
    ///         let width = input.width();
    ///         shared = shared
    ///             .pipeline(&block)
    ///             .for_each_tile(&row, |tile, j| {
    ///                 block.update(&mut largest, |t, best| {
    ///                     if 64 * j + t.rank() < width {
    ///                         *best = (*best).max(tile[(0, t.rank())]);
    ///                     }
    ///                 });
    ///             })
    ///             .finish();
    ///         let largest = block.reduce(&largest, i32::max);
    ///         shared = shared
    ///             .pipeline(&block)
    ///             .map_tiles(&row, &mut results.row_mut(i), |tile, dst| {
    ///                 block.threads(|t| dst.set(&t, tile[(0, t.rank())] - largest));
    ///             })
    ///             .finish();
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let values: Vec<i32> = (0..300).map(|i| -1 - i % 100).collect();
    /// # let input = device.upload_2d(&values, 100)?;
    /// # let mut out = device.zeroed_2d(100, 3)?;
    /// # below_the_largest::launch(&device.stream()?, 2, &input, &mut out)?;
    /// # assert_eq!(out.download()?, values.iter().map(|value| value + 1).collect::<Vec<_>>());
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn for_block<'b, const THREADS: usize>(
        &mut self,
        block: &Block<'b, THREADS>,
    ) -> BlockRowsMut<'_, 'k, 'b, S, THREADS, A> {
        let _ = block;
        self.rows_for_group()
    }

    /// The rows of tiles of this block, for a group of `THREADS` with the brand `'b`.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn rows_for_group<'b, const THREADS: usize>(&mut self) -> BlockRowsMut<'_, 'k, 'b, S, THREADS, A> {
        let share = RowShare::of_block::<S>(self.geometry());
        BlockRowsMut { view: self, share, block: PhantomData, level: PhantomData }
    }
}

impl<'b, S: OutputTile, A: Arrangement, const THREADS: usize> BlockRowsMut<'_, '_, 'b, S, THREADS, A> {
    /// Returns how many rows of tiles the block has; 0 where blocks outnumber them.
    #[expect(clippy::len_without_is_empty, reason = "`len() == 0` says it in a kernel's loop as well")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.share.len()
    }

    /// Returns the number of the block's row `index` among the view's rows of tiles:
    /// `index * grid + block`.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn number(&self, index: usize) -> usize {
        self.share.number(index)
    }

    /// Returns the tiles of the block's row `index`, from left to right.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn row_mut(&mut self, index: usize) -> BlockTilesMut<'_, 'b, S, THREADS, Rows, A, WholeRows> {
        let division = self.share.division();
        let numbers = TileNumbers::of_row(self.share.number(index), division.count());
        // SAFETY: a row of tiles that is the block's (0), and no other block's; the view is
        // borrowed through this value while the tiles are in use.
        unsafe { self.view.share(Share { division, numbers, count: numbers.count(), whole: false }) }
    }
}
