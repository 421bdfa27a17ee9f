//! The tiles of a view that a warp or a thread has for itself.

use super::geometry::Geometry;
use super::numbers::TileNumbers;
use super::order::{ByThreads, ByWarps};
use super::tiles::{BlockTiles, TileView};
use crate::group::block::Thread;
use crate::group::warp::Warp;
use crate::tile::Tile;

impl<'k, S: Tile, G: Geometry> TileView<'k, S, G> {
    /// Returns the tiles of this warp among those of all warps of the grid: for the drivers of a
    /// pipeline of the warp's own. In a role they are dealt to the role's warps.
    ///
    /// # Panics
    ///
    /// If the grid has 2^32 warps or more, or a view of two dimensions 2^32 tiles or more.
    ///
    /// # Threads
    ///
    /// Warp-level code.
    #[inline(always)]
    #[track_caller]
    pub fn for_warp<const THREADS: usize>(&self, warp: &Warp<'_, '_, THREADS>) -> BlockTiles<'k, S, G, ByWarps> {
        BlockTiles::of_member(*self, |tiles| TileNumbers::of_member(tiles, warp.rank(), warp.count()))
    }

    /// Returns the tiles of this thread among those of all threads of the grid: for the drivers of
    /// a pipeline of the thread's own. In a role they are dealt to the role's threads.
    ///
    /// # Panics
    ///
    /// If the grid has 2^32 threads or more, or a view of two dimensions 2^32 tiles or more.
    ///
    /// # Threads
    ///
    /// A per-thread closure.
    #[inline(always)]
    #[track_caller]
    pub fn for_thread<const THREADS: usize>(
        &self,
        thread: &Thread<'_, '_, THREADS>,
    ) -> BlockTiles<'k, S, G, ByThreads> {
        BlockTiles::of_member(*self, |tiles| TileNumbers::of_member(tiles, thread.rank(), THREADS))
    }
}
