//! How an engine's copies complete, and what follows from it for every pipeline.

use crate::group::{Deal, Synchronise};
use crate::isa::{self, Mbarrier, Members, PendingGroups};
use crate::scope::Scope;

/// How the copies of an engine complete.
///
/// | step | [`Groups`] | [`AtOnce`] | [`Bytes`] |
/// |---|---|---|---|
/// | memory becomes a pipeline's | nothing | nothing | `mbarrier.init`, fences, a barrier |
/// | a stage is filled | the copies | the stores | the copies, `mbarrier.expect_tx` |
/// | `commit`, unified | `cp.async.commit_group` | nothing | nothing |
/// | `wait`, unified | `cp.async.wait_group`, a barrier | a barrier | `mbarrier.try_wait` |
/// | a dirty stage is free after | a barrier | a barrier | a fence, a barrier |
/// | `commit` between roles | `cp.async.mbarrier.arrive` | `mbarrier.arrive` | `mbarrier.arrive` |
/// | `commit` in a driver of roles | the same | the same | `mbarrier.arrive.expect_tx` |
/// | `release` between roles | `mbarrier.arrive` | `mbarrier.arrive` | a fence, `mbarrier.arrive` |
/// | a scope ends | `cp.async.wait_all` | nothing | a wait at each stage's mbarrier |
///
/// A barrier is that of the pipeline's scope, a fence `fence.proxy.async` in each thread. With
/// [`Bytes`] a unified `wait` has them too where a stage is dirty, since then they free it. The one
/// arrival of a stage is its announcement there (`mbarrier.arrive.expect_tx`), in `copy`, so that a
/// filled stage that is forgotten completes. Copies may land before they are announced, as long as
/// an arrival is left: the phase's count of bytes may be negative. Between roles a phase ends when
/// all have arrived, for [`Groups`] when their copies have landed, and for [`Bytes`] when the bytes
/// have landed too.
///
/// A unified pipeline has barriers in memory with [`Bytes`] alone: one a stage. Sealed: implemented
/// by [`Groups`], [`AtOnce`] and [`Bytes`].
pub trait Completion {
    /// Whether arrivals for copies happen, or phases end, later than the call that asks for it.
    #[doc(hidden)]
    const LATE_ARRIVALS: bool;

    /// Whether copies complete by the bytes that an mbarrier of their stage counts.
    #[doc(hidden)]
    const BY_BYTES: bool;

    /// Where the copies into a stage complete.
    #[doc(hidden)]
    type Landing: Copy;

    /// Bytes that are left to announce, if copies complete by bytes.
    #[doc(hidden)]
    type Unannounced: Copy;

    /// So many bytes to announce.
    #[doc(hidden)]
    fn unannounced(bytes: u32) -> Self::Unannounced;

    /// The landing of the stage whose mbarrier is `full()`.
    #[doc(hidden)]
    fn landing(full: impl FnOnce() -> Mbarrier) -> Self::Landing;

    /// Announces the bytes of all copies that fill a stage.
    ///
    /// # Safety
    ///
    /// The stage's mbarrier is valid, and its phase in progress counts an arrival of the group's
    /// first thread that has not happened yet. As for [`Deal::first`].
    #[doc(hidden)]
    unsafe fn expect<G: Deal<S>, S: Scope>(landing: Self::Landing, bytes: u32);

    /// Announces them with that arrival, the only one that the phase counts: it ends when they have
    /// landed. The arrival covers what the group's first thread has stored before.
    ///
    /// # Safety
    ///
    /// As for [`expect`](Self::expect). All copies have been started.
    #[doc(hidden)]
    unsafe fn arrive_expecting<G: Deal<S>, S: Scope>(landing: Self::Landing, bytes: u32);

    /// Closes the group of copies that fill one stage of a unified pipeline.
    ///
    /// # Safety
    ///
    /// Called by all threads of the group, once for each stage that was filled or left empty: waits
    /// count these calls.
    #[doc(hidden)]
    unsafe fn commit();

    /// Waits until the calling thread's copies for all but the youngest `P::GROUPS` stages have
    /// landed, or all copies into the stage at `landing()`, whose mbarrier's phase of the parity
    /// `lap` they belong to.
    ///
    /// # Safety
    ///
    /// Called by all threads of the group. The stage is the oldest in flight, and `lap` the parity
    /// of its phase. What is read of the others' copies waits for the scope first, unless they
    /// complete by bytes.
    #[doc(hidden)]
    unsafe fn wait<P: PendingGroups>(landing: impl FnOnce() -> Self::Landing, lap: u32);

    /// The calling threads' accesses to shared memory come before copies that a barrier or an
    /// arrival orders after this call.
    #[doc(hidden)]
    fn fence();

    /// Waits for all threads that may be reading a stage that was released before, which is to be
    /// filled again.
    ///
    /// # Safety
    ///
    /// All threads of the group make this call; for a block in converged code.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn launder<G: Synchronise<S>, S: Scope>() {
        Self::fence();
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

    /// As [`arrive`](Self::arrive), and announces the bytes of copies that were not announced yet.
    ///
    /// # Safety
    ///
    /// As for [`arrive`](Self::arrive); if copies complete by bytes there is one issuer, which has
    /// started them.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn arrive_with(full: Mbarrier, issuers: Members, bytes: Self::Unannounced) {
        let _ = bytes;
        // SAFETY: the caller's promise.
        unsafe { Self::arrive(full, issuers) };
    }

    /// Waits until all copies that the calling thread has started have landed, unless an mbarrier
    /// says so.
    #[doc(hidden)]
    fn drain();
}

/// Copies complete by groups of the thread that started them: `cp.async`.
pub enum Groups {}

/// A copy is complete when the call that starts it returns: ordinary loads and stores.
pub enum AtOnce {}

/// Copies complete by the bytes that an mbarrier of their stage counts: the copy engine.
pub enum Bytes {}

/// What is nothing where copies don't complete by bytes.
macro_rules! without_bytes {
    () => {
        const BY_BYTES: bool = false;
        type Landing = ();
        type Unannounced = ();

        #[inline(always)]
        fn unannounced(_: u32) {}

        #[inline(always)]
        fn landing(_: impl FnOnce() -> Mbarrier) {}

        #[inline(always)]
        unsafe fn expect<G: Deal<S>, S: Scope>((): (), _: u32) {}

        #[inline(always)]
        unsafe fn arrive_expecting<G: Deal<S>, S: Scope>((): (), _: u32) {}

        #[inline(always)]
        fn fence() {}
    };
}

impl Completion for Groups {
    const LATE_ARRIVALS: bool = true;
    without_bytes! {}

    #[inline(always)]
    unsafe fn commit() {
        isa::cp_async_commit_group();
    }

    #[inline(always)]
    unsafe fn wait<P: PendingGroups>(_: impl FnOnce(), _: u32) {
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
    without_bytes! {}

    #[inline(always)]
    unsafe fn commit() {}

    #[inline(always)]
    unsafe fn wait<P: PendingGroups>(_: impl FnOnce(), _: u32) {}

    #[inline(always)]
    unsafe fn arrive(full: Mbarrier, issuers: Members) {
        // SAFETY: the caller's promise.
        unsafe { isa::mbarrier_arrive(full, issuers) };
    }

    #[inline(always)]
    fn drain() {}
}

impl Completion for Bytes {
    const LATE_ARRIVALS: bool = true;
    const BY_BYTES: bool = true;
    type Landing = Mbarrier;
    type Unannounced = u32;

    #[inline(always)]
    fn unannounced(bytes: u32) -> u32 {
        bytes
    }

    #[inline(always)]
    fn landing(full: impl FnOnce() -> Mbarrier) -> Mbarrier {
        full()
    }

    #[inline(always)]
    unsafe fn expect<G: Deal<S>, S: Scope>(landing: Mbarrier, bytes: u32) {
        // SAFETY: the caller's promises.
        let expect = || unsafe { isa::mbarrier_expect_tx(landing, bytes) };
        // SAFETY: the caller's promise; the closure does nothing for other threads.
        unsafe { G::first(expect) };
    }

    #[inline(always)]
    unsafe fn arrive_expecting<G: Deal<S>, S: Scope>(landing: Mbarrier, bytes: u32) {
        // SAFETY: the caller's promises.
        let arrive = || unsafe { arrive_expecting(landing, bytes) };
        // SAFETY: the caller's promise; the closure does nothing for other threads.
        unsafe { G::first(arrive) };
    }

    #[inline(always)]
    unsafe fn commit() {}

    #[inline(always)]
    unsafe fn wait<P: PendingGroups>(landing: impl FnOnce() -> Mbarrier, lap: u32) {
        // SAFETY: the stage's mbarrier is valid, and a lap's parity is 0 or 1.
        unsafe { isa::mbarrier_wait(landing(), lap) };
    }

    #[inline(always)]
    fn fence() {
        isa::fence_proxy_async();
    }

    #[inline(always)]
    unsafe fn arrive(full: Mbarrier, issuers: Members) {
        // Each issuer arrives, though one of them has started all copies. If the phase did not
        // wait for the others, it and the next one could end while a slow one still waits to take
        // the stage: the parity would be the old one again.
        // SAFETY: the caller's promise.
        unsafe { isa::mbarrier_arrive(full, issuers) };
    }

    #[inline(always)]
    unsafe fn arrive_with(full: Mbarrier, _: Members, bytes: u32) {
        // SAFETY: the caller's promises: the one issuer makes this call.
        unsafe { arrive_expecting(full, bytes) };
    }

    #[inline(always)]
    fn drain() {}
}

/// Announces `bytes` bytes, if there are any, with an arrival of the calling thread.
///
/// # Safety
///
/// As for [`isa::mbarrier_arrive_expect_tx`].
#[inline(always)]
unsafe fn arrive_expecting(full: Mbarrier, bytes: u32) {
    if bytes > 0 {
        // SAFETY: the caller's promise.
        unsafe { isa::mbarrier_arrive_expect_tx(full, bytes) };
    } else {
        // SAFETY: the caller's promise; the calling thread is its group's first.
        unsafe { isa::mbarrier_arrive(full, Members { first: 0, stride: 1, count: 1 }) };
    }
}

/// Waits until all copies that the calling thread has started have landed, whichever engine they
/// are of: the end of a scope in which pipelines of any engine may have been left in any state.
/// (Bulk copies have landed when a role's ends have settled, or their own scope has ended.)
///
/// PTX: `cp.async.wait_all`.
#[inline(always)]
pub(crate) fn drain_all() {
    Groups::drain();
    AtOnce::drain();
    Bytes::drain();
}

/// No group of bulk stores may be in flight.
enum NoGroup {}

impl PendingGroups for NoGroup {
    const GROUPS: usize = 0;
}

/// Waits until the copy engine has read the sources of all bulk stores that the calling thread has
/// started: memory of a block that has ended may be another one's.
///
/// PTX: `cp.async.bulk.wait_group.read 0`.
#[inline(always)]
pub(crate) fn drain_stores() {
    isa::bulk_wait_group_read::<NoGroup>();
}
