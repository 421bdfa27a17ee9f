//! Output views that a role writes.

use super::group::RoleGroup;
use super::map::Role;
use crate::output::arrangement::Arrangement;
use crate::output::tile::OutputTile;
use crate::output::tiles::{BlockTilesMut, TileViewMut};
use crate::view::geometry::Geometry;

impl<S: OutputTile, G: Geometry, A: Arrangement> TileViewMut<'_, S, G, A> {
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
    ) -> BlockTilesMut<'_, 'r, S, SIZE, G, A> {
        let _ = group;
        self.for_group()
    }
}
