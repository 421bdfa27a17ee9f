//! One stage, while it is being read.

use core::marker::PhantomData;

use super::contents::{AlwaysFilled, Contents, OneTile, Optional, sealed};
use super::nth::{HasTile, sealed as nth};

/// A stage whose tiles have landed, for the threads that have waited for it to read.
///
/// The owner keeps the flag whether the stage was committed empty beside this value. Together they
/// would be an aggregate, and the compiler for the GPU leaves an aggregate in local memory where an
/// end with a stage and one without share their place.
///
/// # Invariants
///
/// 0. A stage in shared memory that holds `C` starts at `memory`, aligned as its contents need. The
///    part of it that the owner of this value lets a thread read has landed and is visible to that
///    thread, and nobody writes it while this value exists.
#[repr(transparent)]
pub(crate) struct LandedStage<C> {
    memory: *const u8,
    contents: PhantomData<fn() -> C>,
}

impl<C: Contents> LandedStage<C> {
    /// Makes the value for the stage at `memory`.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds.
    #[inline(always)]
    pub(crate) unsafe fn new(memory: *const u8) -> Self {
        LandedStage { memory, contents: PhantomData }
    }

    /// The stage's first byte.
    #[inline(always)]
    pub(crate) fn memory(&self) -> *const u8 {
        self.memory
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
        // promise); contents of this kind are never committed empty.
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

impl<C: Contents> LandedStage<C> {
    /// Part `part` of `parts` of tile `NUMBER`.
    ///
    /// # Safety
    ///
    /// As for [`part`](Self::part), with the one tile's length.
    #[inline(always)]
    pub(crate) unsafe fn part_of<const NUMBER: usize>(
        &self,
        part: usize,
        parts: usize,
    ) -> <<C as nth::HasTile<NUMBER>>::Tile as sealed::Contents>::Parts<'_>
    where
        C: HasTile<NUMBER>,
    {
        // SAFETY: the tile lies within the stage at its offset.
        let tile = unsafe { self.memory.add(C::OFFSET) };
        // SAFETY: as for `part`; any contents with a tile of a number are never committed empty.
        unsafe { <<C as nth::HasTile<NUMBER>>::Tile as sealed::Contents>::parts(tile, part, parts) }
    }
}

impl<T: OneTile> LandedStage<T> {
    /// The tile.
    ///
    /// # Safety
    ///
    /// As for [`tiles`](Self::tiles).
    #[inline(always)]
    pub(crate) unsafe fn tile(&self) -> &T {
        // SAFETY: it has landed, is aligned and is not written while `self` is borrowed (0, the
        // caller's promise); any bytes are a tile (`sealed::OneTile`), and a stage of one is always
        // filled.
        unsafe { &*self.memory.cast::<T>() }
    }
}

impl<T: OneTile> LandedStage<Optional<T>> {
    /// The tile if it is `present`.
    ///
    /// # Safety
    ///
    /// The owner lets the calling thread read the tile, and `present` is what was remembered when
    /// the stage was filled.
    #[inline(always)]
    pub(crate) unsafe fn get(&self, present: bool) -> Option<&T> {
        // SAFETY: it has landed and is not written while `self` is borrowed (0, the caller's
        // promise), and it exists where it is asked for.
        present.then(|| unsafe { &*self.memory.cast::<T>() })
    }
}
