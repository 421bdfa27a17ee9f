//! Which part of a tile that was waited for a thread may read, and which barriers that takes.

use crate::group::Synchronise;
use crate::isa;
use crate::scope::BlockScope;
use crate::stage::StageSet;

/// A tile's elements may be read as far as the pipeline's scope goes.
pub enum AtScope {}
/// All threads of the block may read the whole tile:
/// [`Pipeline::publish`](super::Pipeline::publish) waited for them.
pub enum Published {}

/// Whose reads of a tile go on until the next barrier, and whose barrier frees its stage. Sealed:
/// [`AtScope`] and [`Published`].
pub trait View<U: StageSet>: sealed::View {
    /// The scope whose barrier a wait has: it frees the stages that are dirty with respect to it.
    #[doc(hidden)]
    type Wait;
    /// Waits, once the copies have landed, for the threads whose elements the view shows.
    ///
    /// # Safety
    ///
    /// All threads of the group make this call; for a block in converged code. With [`Published`]
    /// the group is the block.
    #[doc(hidden)]
    unsafe fn synchronise();
    /// Waits for all threads that may have read a released tile.
    ///
    /// # Safety
    ///
    /// As for `synchronise`.
    #[doc(hidden)]
    unsafe fn launder();
    /// Tells the CPU backend's model who may still be reading.
    ///
    /// # Safety
    ///
    /// As for [`Synchronise::released`], with the view's readers: those that its `launder` waits
    /// for.
    #[doc(hidden)]
    unsafe fn released(first: *const u8, bytes: usize);
    /// Whether these barriers cost next to nothing.
    #[doc(hidden)]
    const CHEAP: bool;
}

impl<U: StageSet<Group: Synchronise<<U as StageSet>::Scope>>> View<U> for AtScope {
    type Wait = U::Scope;

    #[inline(always)]
    unsafe fn synchronise() {
        // SAFETY: the caller's promise.
        unsafe { U::Group::synchronise() };
    }

    #[inline(always)]
    unsafe fn launder() {
        // SAFETY: the caller's promise.
        unsafe { U::Group::synchronise() };
    }

    #[inline(always)]
    unsafe fn released(first: *const u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { <U::Group as Synchronise<U::Scope>>::released(first, bytes) };
    }

    const CHEAP: bool = <U::Group as Synchronise<U::Scope>>::CHEAP;
}

// For every group, so that a step that belongs to the block is all that an error names. A tile of
// this view and a pipeline of it exist for groups that are the block alone: `publish` and
// `published` ask for `WholeBlock`.
impl<U: StageSet> View<U> for Published {
    type Wait = BlockScope;

    #[inline(always)]
    unsafe fn synchronise() {
        // SAFETY: the caller's promise, with the block as the group.
        unsafe { isa::barrier() };
    }

    #[inline(always)]
    unsafe fn launder() {
        // SAFETY: the caller's promise, with the block as the group.
        unsafe { isa::barrier() };
    }

    #[inline(always)]
    unsafe fn released(first: *const u8, bytes: usize) {
        // SAFETY: the caller's promise, with the block's barrier.
        unsafe { isa::released(first, bytes, isa::Readers::Block) };
    }

    const CHEAP: bool = false;
}

mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no view of a pipeline's tiles: `View` is sealed",
        label = "not `AtScope` or `Published`",
        note = "a pipeline trusts its view to say whose barrier frees a stage"
    )]
    pub trait View {}
    impl View for super::AtScope {}
    impl View for super::Published {}
}
