//! Output views that a role writes.

use super::group::RoleGroup;
use super::map::Role;
use crate::element::Element;
use crate::output::tiles::{Arrangement, BlockTilesMut, TilesMut};
use crate::output::tiles2d::{BlockTilesMut2D, TilesMut2D};

impl<T: Element, const LEN: usize, A: Arrangement> TilesMut<'_, T, LEN, A> {
    /// Returns the tiles of this block, as [`for_block`](Self::for_block) does, to be written by
    /// one role's threads: thread `r` of the role owns what thread `r` of a block with that number
    /// of threads would own.
    #[inline(always)]
    pub fn for_role<'r, R: Role, const SIZE: usize>(
        &mut self,
        group: &RoleGroup<'r, R, SIZE>,
    ) -> BlockTilesMut<'_, 'r, T, LEN, SIZE, A> {
        let _ = group;
        self.for_group()
    }
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize> TilesMut2D<'_, T, ROWS, COLUMNS> {
    /// Returns the tiles of this block, as [`for_block`](Self::for_block) does, to be written by
    /// one role's threads: thread `r` of the role owns what thread `r` of a block with that number
    /// of threads would own.
    ///
    /// # Panics
    ///
    /// As `for_block`.
    #[inline(always)]
    #[track_caller]
    pub fn for_role<'r, R: Role, const SIZE: usize>(
        &mut self,
        group: &RoleGroup<'r, R, SIZE>,
    ) -> BlockTilesMut2D<'_, 'r, T, ROWS, COLUMNS, SIZE> {
        let _ = group;
        self.for_group()
    }
}
