//! How an engine's copies complete, and what follows from it for every pipeline.

use crate::group::Synchronise;
use crate::isa::{self, Mbarrier, Members, PendingGroups};
use crate::scope::Scope;

/// How the copies of an engine complete.
///
/// | step | [`Groups`] | [`AtOnce`] |
/// |---|---|---|
/// | unified: `commit` | `cp.async.commit_group` | nothing |
/// | unified: `wait` | `cp.async.wait_group`, the scope's barrier | the scope's barrier |
/// | unified: a dirty stage becomes free | at the group's next barrier | the same |
/// | between roles: `commit` | `cp.async.mbarrier.arrive.noinc` | `mbarrier.arrive` |
/// | between roles: an arrival happens | when the thread's copies have landed | at once |
/// | a scope ends | `cp.async.wait_all` | nothing |
///
/// With both, a unified pipeline has no barrier in memory, and a pipeline between roles counts one
/// arrival per thread that issues copies. Sealed: implemented by [`Groups`] and [`AtOnce`].
pub trait Completion {
    /// Whether arrivals for copies happen later than the call that asks for them.
    #[doc(hidden)]
    const LATE_ARRIVALS: bool;

    /// Closes the group of copies that fill one stage of a unified pipeline.
    ///
    /// # Safety
    ///
    /// Called by all threads of the group, once for each stage that was filled or left empty: waits
    /// count these calls.
    #[doc(hidden)]
    unsafe fn commit();

    /// Waits until the calling thread's copies for all but the youngest `P::GROUPS` stages have
    /// landed.
    ///
    /// # Safety
    ///
    /// Called by all threads of the group. What is read of the others' copies waits for the scope
    /// first.
    #[doc(hidden)]
    unsafe fn wait<P: PendingGroups>();

    /// Waits for all threads that may be reading a stage that was released before, which is to be
    /// filled again.
    ///
    /// # Safety
    ///
    /// All threads of the group make this call; for a block in converged code.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn launder<G: Synchronise<S>, S: Scope>() {
        // SAFETY: the caller's promise.
        unsafe { G::launder() };
    }

    /// Has each of the `issuers` arrive at the barrier at which the readers of a stage wait, once
    /// the copies that it has started have landed.
    ///
    /// # Safety
    ///
    /// `full` is valid, its phase in progress counts an arrival of each issuer that has not
    /// happened yet, and the issuers make this call.
    #[doc(hidden)]
    unsafe fn arrive(full: Mbarrier, issuers: Members);

    /// Waits until all copies that the calling thread has started have landed.
    #[doc(hidden)]
    fn drain();
}

/// Copies complete by groups of the thread that started them: `cp.async`.
pub enum Groups {}

/// A copy is complete when the call that starts it returns: ordinary loads and stores.
pub enum AtOnce {}

impl Completion for Groups {
    const LATE_ARRIVALS: bool = true;

    #[inline(always)]
    unsafe fn commit() {
        isa::cp_async_commit_group();
    }

    #[inline(always)]
    unsafe fn wait<P: PendingGroups>() {
        isa::cp_async_wait_group::<P>();
    }

    #[inline(always)]
    unsafe fn arrive(full: Mbarrier, issuers: Members) {
        // SAFETY: the caller's promise.
        unsafe { isa::cp_async_mbarrier_arrive(full, issuers) };
    }

    #[inline(always)]
    fn drain() {
        isa::cp_async_wait_all();
    }
}

impl Completion for AtOnce {
    const LATE_ARRIVALS: bool = false;

    #[inline(always)]
    unsafe fn commit() {}

    #[inline(always)]
    unsafe fn wait<P: PendingGroups>() {}

    #[inline(always)]
    unsafe fn arrive(full: Mbarrier, issuers: Members) {
        // SAFETY: the caller's promise.
        unsafe { isa::mbarrier_arrive(full, issuers) };
    }

    #[inline(always)]
    fn drain() {}
}

/// Waits until all copies that the calling thread has started have landed, whichever engine they
/// are of: the end of a scope in which pipelines of any engine may have been left in any state.
///
/// PTX: `cp.async.wait_all`.
#[inline(always)]
pub(crate) fn drain_all() {
    Groups::drain();
    AtOnce::drain();
}
