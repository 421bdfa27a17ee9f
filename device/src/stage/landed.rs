//! One stage, while it is being read.

use super::contents::{AlwaysFilled, Contents, Optional, sealed};
use crate::tile::Tile;

/// A stage whose tiles have landed, as those read it who wait for it.
///
/// # Invariants
///
/// 0. A stage in shared memory that holds `C` starts at `memory`, aligned as its contents need.
///    What of it the owner of this value lets a thread read has landed and is visible to that
///    thread, and nobody writes it while this value exists.
/// 1. If `present` says that the stage was committed empty, nothing of it may be read.
#[repr(C)]
pub(crate) struct LandedStage<C: Contents> {
    memory: *const u8,
    present: <C as sealed::Contents>::Presence,
}

impl<C: Contents> LandedStage<C> {
    /// Makes the value for the stage at `memory`.
    ///
    /// # Safety
    ///
    /// The invariants 0 and 1 hold.
    #[inline(always)]
    pub(crate) unsafe fn new(memory: *const u8, present: <C as sealed::Contents>::Presence) -> Self {
        LandedStage { memory, present }
    }

    /// The stage's first byte.
    #[inline(always)]
    pub(crate) fn memory(&self) -> *const u8 {
        self.memory
    }

    /// What was remembered when it was filled.
    #[inline(always)]
    pub(crate) fn present(&self) -> <C as sealed::Contents>::Presence {
        self.present
    }

    /// All tiles of the stage.
    ///
    /// # Safety
    ///
    /// The owner lets the calling thread read all of them.
    #[inline(always)]
    pub(crate) unsafe fn tiles(&self) -> <C as sealed::Contents>::Tiles<'_>
    where
        C: AlwaysFilled,
    {
        // SAFETY: they have landed and are not written while `self` is borrowed (0, the caller's
        // promise); contents of this kind are never committed empty (1).
        unsafe { C::tiles(self.memory) }
    }

    /// Part `part` of `parts` of each tile.
    ///
    /// # Safety
    ///
    /// The owner lets the calling thread read it; `part < parts`, which divides each tile's length.
    #[inline(always)]
    pub(crate) unsafe fn part(&self, part: usize, parts: usize) -> <C as sealed::Contents>::Parts<'_>
    where
        C: AlwaysFilled,
    {
        // SAFETY: as for `tiles`, and the caller's promise for the numbers.
        unsafe { C::parts(self.memory, part, parts) }
    }
}

impl<T: Tile> LandedStage<T> {
    /// The tile.
    ///
    /// # Safety
    ///
    /// As for [`tiles`](Self::tiles).
    #[inline(always)]
    pub(crate) unsafe fn tile(&self) -> &T {
        // SAFETY: it has landed, is aligned and is not written while `self` is borrowed (0, the
        // caller's promise); a tile is plain data, and a stage of one is always filled (1).
        unsafe { &*self.memory.cast::<T>() }
    }
}

impl<T: Tile> LandedStage<Optional<T>> {
    /// The tile, or `None` if the stage was committed empty.
    ///
    /// # Safety
    ///
    /// As for [`tiles`](Self::tiles), if there is one.
    #[inline(always)]
    pub(crate) unsafe fn get(&self) -> Option<&T> {
        // SAFETY: it has landed and is not written while `self` is borrowed (0, the caller's
        // promise), and it is there where it is asked for (1).
        self.present.then(|| unsafe { <Optional<T> as sealed::Contents>::tiles(self.memory) })
    }
}
