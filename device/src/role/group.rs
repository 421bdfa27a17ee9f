//! The threads of one role, inside its closure.

use core::marker::PhantomData;
use core::ops::Range;

use super::map::{Role, Warpgroups, WholeWarps, sealed};
use crate::bins::BinsGroup;
use crate::element::Element;
use crate::fault;
use crate::group::block::{PerThread, PerThreadValue, Thread};
use crate::group::filling::{self, FillingGroup};
use crate::group::instant::Instant;
use crate::group::rounds::{broadcast_in, exclusive_scan_in, reduce_in, scan_in, scan_with_total_in};
use crate::group::scratch::{CollectiveGroup, check_value};
use crate::group::warp::Warp;
use crate::group::warps;
use crate::isa;
use crate::isa::product::{GROUP_ROWS, WARPGROUP, check_warpgroups};
use crate::marker::{BlockLevel, Brand, Uniform};

/// The threads of one role, taken together: it is to a role's closure what a
/// [`Block`](crate::Block) is to a kernel.
///
/// A role's closure is role-level code: its control flow is the same in all `SIZE` threads of the
/// role. Ranks, `0..SIZE`, exist only in the closures of [`threads`](Self::threads),
/// [`map`](Self::map) and [`update`](Self::update); `'r` is the brand of this run of the closure,
/// so a token, a view or a [`PerThread`] of one role is of no use in another.
///
/// Roles of whole warps have the collectives; the others synchronise through their pipelines alone.
/// So do the warpgroups of an [`Apart`](super::Apart) role, each of which runs the code for itself:
/// what is said of a role's threads is then true of those of a warpgroup.
///
/// CUDA: a range of `threadIdx.x` and a named barrier.
///
/// # Invariants
///
/// 0. The role `R` has `SIZE` threads.
/// 1. The value is in role-level code of that role: all its members execute it, and no other
///    thread; of a role whose warpgroups run apart all threads of a warpgroup take the same steps,
///    and others perhaps do not.
/// 2. `'r` is the brand of this run of that code alone.
pub struct RoleGroup<'r, R, const SIZE: usize> {
    brand: Brand<'r>,
    level: BlockLevel,
    role: PhantomData<R>,
}

impl<R, const SIZE: usize> !Uniform for RoleGroup<'_, R, SIZE> {}

impl<'r, R: Role, const SIZE: usize> RoleGroup<'r, R, SIZE> {
    /// Makes the token of a role's threads.
    ///
    /// # Safety
    ///
    /// The invariants hold.
    pub(super) unsafe fn new() -> Self {
        RoleGroup { brand: PhantomData, level: PhantomData, role: PhantomData }
    }

    /// Returns the number of threads of the role.
    #[inline(always)]
    pub fn size(&self) -> usize {
        SIZE
    }

    /// The rows of products that the running code has: all those of the role's warpgroups, 64 each,
    /// or in an [`Apart`](super::Apart) role those of the calling warpgroup.
    ///
    /// PTX: `shfl.sync.idx` in an `Apart` role, or else nothing.
    ///
    /// # Threads
    ///
    /// A role of warpgroups.
    #[inline(always)]
    pub fn own_rows(&self) -> Range<usize>
    where
        R: Warpgroups,
    {
        const { check_warpgroups(<R as sealed::Role>::MEMBERS) };
        if !R::APART {
            return 0..SIZE / WARPGROUP * GROUP_ROWS;
        }
        // SAFETY: role-level code of a role of warpgroups, at least of the calling one.
        let first = unsafe { isa::warpgroup_of(<R as sealed::Role>::MEMBERS) } as usize * GROUP_ROWS;
        first..first + GROUP_ROWS
    }

    /// Runs `body` once in every thread of the role. It may capture [`Uniform`] values only.
    #[inline(always)]
    pub fn threads<F>(&self, body: F)
    where
        F: for<'t> Fn(Thread<'t, 'r, SIZE>) + Uniform,
    {
        self.each(body);
    }

    /// As [`threads`](Self::threads), for closures of this crate that capture what users' may not.
    #[inline(always)]
    pub(super) fn each(&self, body: impl for<'t> Fn(Thread<'t, 'r, SIZE>)) {
        // SAFETY: `for_each_member` passes the calling thread's rank in the role, which is below
        // SIZE (0) and no other's; `'r` is its brand (2).
        let run = |rank| body(unsafe { Thread::new(rank) });
        // SAFETY: the calling thread is a member (1).
        unsafe { isa::for_each_member(<R as sealed::Role>::MEMBERS, run) };
    }

    /// Runs `body` once in every thread of the role and keeps each thread's result for it.
    #[inline(always)]
    pub fn map<T, F>(&self, body: F) -> PerThread<'r, T, SIZE>
    where
        T: PerThreadValue,
        F: for<'t> Fn(Thread<'t, 'r, SIZE>) -> T + Uniform,
    {
        // SAFETY: `of_members` passes the calling thread's rank in the role, which is below SIZE
        // (0) and no other's; `'r` is its brand (2).
        let run = |rank| body(unsafe { Thread::new(rank) });
        // SAFETY: role-level code of a role of SIZE (0, 1).
        PerThread::from_values(unsafe { isa::PerThread::of_members(<R as sealed::Role>::MEMBERS, run) })
    }

    /// Runs `body` once in every thread of the role with that thread's own value.
    #[inline(always)]
    pub fn update<T, F>(&self, values: &mut PerThread<'r, T, SIZE>, body: F)
    where
        T: PerThreadValue,
        F: for<'t> Fn(Thread<'t, 'r, SIZE>, &mut T) + Uniform,
    {
        // SAFETY: `update_members` passes the calling thread's rank in the role, which is below
        // SIZE (0) and no other's; `'r` is its brand (2).
        let run = |rank, value: &mut T| body(unsafe { Thread::new(rank) }, value);
        // SAFETY: role-level code of a role of SIZE (0, 1).
        unsafe { values.values.update_members(<R as sealed::Role>::MEMBERS, run) };
    }

    /// Waits for all threads of the role (PTX: `barrier.sync ID, SIZE`; CUDA: `sync` of a group of
    /// whole warps).
    #[inline(always)]
    pub fn sync(&self)
    where
        R: WholeWarps,
    {
        // SAFETY: all members make this call (1).
        unsafe { <R as CollectiveGroup>::sync() };
    }

    /// Runs `body` once in every warp of the role, as [`Block::warps`](crate::Block::warps) does.
    #[inline(always)]
    pub fn warps<F>(&self, body: F)
    where
        R: WholeWarps,
        F: for<'w> Fn(Warp<'w, 'r, SIZE>) + Uniform,
    {
        const { assert!(warps::<SIZE>() > 0) };
        // SAFETY: `for_each_member_warp` passes the calling warp's rank in the role, whose brand is
        // `'r` (2); the closure is the same in all of the warp.
        let run = |rank| body(unsafe { Warp::new(rank) });
        // SAFETY: the calling thread is a member (1) of whole warps (`WholeWarps`).
        unsafe { isa::for_each_member_warp(<R as sealed::Role>::MEMBERS, run) };
    }

    /// Combines the values of the role's threads and returns the result to all of them, in the
    /// order of [`Block::reduce`](crate::Block::reduce). It costs two `barrier.sync` of the role.
    #[inline(always)]
    pub fn reduce<T, F>(&self, values: &PerThread<'r, T, SIZE>, op: F) -> T
    where
        R: WholeWarps,
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        const { check_value::<T>() };
        // SAFETY: role-level code of a role of SIZE (0, 1), of whole warps (`WholeWarps`): all its
        // threads make the call.
        unsafe { reduce_in::<R, T, SIZE>(&values.values, op) }
    }

    /// Combines the values of each thread and all of lower rank in the role, in the order of
    /// [`Block::scan`](crate::Block::scan). It costs two `barrier.sync` of the role.
    #[inline(always)]
    pub fn scan<T, F>(&self, values: &PerThread<'r, T, SIZE>, op: F) -> PerThread<'r, T, SIZE>
    where
        R: WholeWarps,
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        const { check_value::<T>() };
        // SAFETY: role-level code of a role of SIZE (0, 1), of whole warps (`WholeWarps`): all its
        // threads make the call.
        PerThread::from_values(unsafe { scan_in::<R, T, SIZE>(&values.values, op) })
    }

    /// As [`scan`](Self::scan), and returns to all threads of the role what its last one got, as
    /// [`Block::scan_with_total`](crate::Block::scan_with_total) does. It costs two `barrier.sync`
    /// of the role.
    #[inline(always)]
    pub fn scan_with_total<T, F>(&self, values: &PerThread<'r, T, SIZE>, op: F) -> (PerThread<'r, T, SIZE>, T)
    where
        R: WholeWarps,
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        const { check_value::<T>() };
        // SAFETY: role-level code of a role of SIZE (0, 1), of whole warps (`WholeWarps`): all its
        // threads make the call.
        let (scanned, total) = unsafe { scan_with_total_in::<R, T, SIZE>(&values.values, op) };
        (PerThread::from_values(scanned), total)
    }

    /// Combines `initial` and the values of all threads of lower rank in the role, for each thread;
    /// and, the same in all of the role, `initial` and the values of all. The order is that of
    /// [`Block::exclusive_scan`](crate::Block::exclusive_scan). It costs two `barrier.sync` of the
    /// role.
    #[inline(always)]
    pub fn exclusive_scan<T, F>(
        &self,
        values: &PerThread<'r, T, SIZE>,
        initial: T,
        op: F,
    ) -> (PerThread<'r, T, SIZE>, T)
    where
        R: WholeWarps,
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        const { check_value::<T>() };
        // SAFETY: role-level code of a role of SIZE (0, 1), of whole warps (`WholeWarps`): all its
        // threads make the call.
        let (prefixes, total) = unsafe { exclusive_scan_in::<R, T, SIZE>(&values.values, initial, op) };
        (PerThread::from_values(prefixes), total)
    }

    /// Returns whether any thread's value is true. PTX: `barrier.red.or.pred`.
    #[inline(always)]
    pub fn any(&self, values: &PerThread<'r, bool, SIZE>) -> bool
    where
        R: WholeWarps,
    {
        // SAFETY: all members make this call (1), SIZE in all (0); the barrier's number is the
        // role's own.
        unsafe { isa::role_barrier_any(R::BARRIER, <R as sealed::Role>::MEMBERS, &values.values) }
    }

    /// Returns whether all threads' values are true. PTX: `barrier.red.and.pred`.
    #[inline(always)]
    pub fn all(&self, values: &PerThread<'r, bool, SIZE>) -> bool
    where
        R: WholeWarps,
    {
        // SAFETY: all members make this call (1), SIZE in all (0); the barrier's number is the
        // role's own.
        unsafe { isa::role_barrier_all(R::BARRIER, <R as sealed::Role>::MEMBERS, &values.values) }
    }

    /// Returns the value of the thread of rank `rank` in the role to all of the role. It costs two
    /// `barrier.sync` of the role.
    ///
    /// # Panics
    ///
    /// If `rank >= SIZE`.
    #[inline(always)]
    #[track_caller]
    pub fn broadcast<T: Element>(&self, values: &PerThread<'r, T, SIZE>, rank: usize) -> T
    where
        R: WholeWarps,
    {
        const { check_value::<T>() };
        if rank >= SIZE {
            fault::out_of_range("rank {} is out of range: the role has {} threads", rank, SIZE);
        }
        // SAFETY: role-level code of a role of SIZE (0, 1), of whole warps (`WholeWarps`): all its
        // threads make the call; and the rank was just checked.
        unsafe { broadcast_in::<R, T, SIZE>(&values.values, rank) }
    }

    /// Returns the time, as the role's first thread reads it: the same in all of the role. It costs
    /// two `barrier.sync` of the role.
    #[inline(always)]
    pub fn now(&self) -> Instant
    where
        R: WholeWarps,
    {
        // SAFETY: role-level code of a role of SIZE (0, 1).
        let clocks = unsafe { isa::PerThread::<u64, SIZE>::of_members(<R as sealed::Role>::MEMBERS, |_| isa::clock()) };
        // SAFETY: role-level code of a role of SIZE (0, 1), of whole warps (`WholeWarps`): all its
        // threads make the call; and a role has a first thread.
        Instant::from_nanoseconds(unsafe { broadcast_in::<R, u64, SIZE>(&clocks, 0) })
    }
}

impl<R: WholeWarps, const SIZE: usize> FillingGroup for RoleGroup<'_, R, SIZE> {}
impl<R: WholeWarps, const SIZE: usize> BinsGroup for RoleGroup<'_, R, SIZE> {}

impl<'r, R: WholeWarps, const SIZE: usize> filling::sealed::FillingGroup for RoleGroup<'r, R, SIZE> {
    type Thread<'t> = Thread<'t, 'r, SIZE>;

    const THREADS: usize = SIZE;

    #[inline(always)]
    unsafe fn each(run: impl Fn(usize)) {
        // SAFETY: the caller's promise.
        unsafe { isa::for_each_member(<R as sealed::Role>::MEMBERS, run) };
    }

    #[inline(always)]
    unsafe fn meet() {
        // SAFETY: the caller's promise.
        unsafe { <R as CollectiveGroup>::sync() };
    }

    #[inline(always)]
    unsafe fn thread<'t>(&self, rank: usize) -> Thread<'t, 'r, SIZE> {
        // SAFETY: the caller's promise; `'r` is the brand of this run of the role's code (2).
        unsafe { Thread::new(rank) }
    }
}
