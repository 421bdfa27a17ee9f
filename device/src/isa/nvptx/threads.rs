//! Threads, warps and lanes: who runs a closure, and values that each of them has one of.
//!
//! On the GPU each of them runs its own closure once, and its value is a register.

use crate::isa::{Lanes, Members, WARP};

unsafe extern "C" {
    safe fn tilepipe_thread_rank() -> u32;
    fn tilepipe_barrier_any(value: u32) -> u32;
    fn tilepipe_barrier_all(value: u32) -> u32;
    fn tilepipe_warp_any(value: u32) -> u32;
    safe fn tilepipe_warp_value(value: u32) -> u32;
    fn tilepipe_warp_all(value: u32) -> u32;
    fn tilepipe_shuffle_down(mask: u32, word: u32, distance: u32) -> u32;
    fn tilepipe_shuffle_up(mask: u32, word: u32, distance: u32) -> u32;
    fn tilepipe_shuffle_across(mask: u32, word: u32, bits: u32) -> u32;
    fn tilepipe_shuffle_from(mask: u32, word: u32, lane: u32) -> u32;
}

/// Runs `body` with the calling thread's rank, which is below `threads`: every thread of the block
/// does so.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn for_each_thread(threads: usize, body: impl Fn(usize)) {
    // SAFETY: the caller's promise.
    body(unsafe { rank_below(threads) });
}

/// Runs `body` with the calling thread's rank in its role, which is below `members.count`: every
/// member does so.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn for_each_member(members: Members, body: impl Fn(usize)) {
    // SAFETY: the caller's promise.
    body(unsafe { member_rank(members) });
}

/// Runs `body` in the role's first thread.
#[inline(always)]
pub(crate) fn for_first_member(members: Members, body: impl FnOnce()) {
    if tilepipe_thread_rank() as usize == members.first {
        body();
    }
}

/// Runs `body` with the rank of the calling thread's warp in its role, of whole warps: every member
/// does so.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn for_each_member_warp(members: Members, body: impl Fn(usize)) {
    // SAFETY: the caller's promise.
    body(unsafe { member_rank(members) } / WARP);
}

/// `vote.sync.any`: whether any thread of the warp says so.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn any_in_warp(says: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_warp_any(u32::from(says)) != 0 }
}

/// What the warp's first lane says: it alone runs `says`, and `vote.sync.any` tells the others.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn first_in_warp(says: impl FnOnce() -> bool) -> bool {
    let says = lane() == 0 && says();
    // SAFETY: the caller's promise.
    unsafe { any_in_warp(says) }
}

/// `shfl.sync.idx`: the value of the warp's first lane, which all of its threads have. The
/// assembler then knows that it is the same in them.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn of_first_lane(value: u32) -> u32 {
    tilepipe_warp_value(value)
}

/// Whether the calling thread is a member.
#[inline(always)]
pub(super) fn is_member(members: Members) -> bool {
    let offset = (tilepipe_thread_rank() as usize).wrapping_sub(members.first);
    offset < members.count * members.stride && offset.is_multiple_of(members.stride)
}

/// The calling thread's rank among the members.
///
/// # Safety
///
/// The calling thread is one of `members`.
#[inline(always)]
unsafe fn member_rank(members: Members) -> usize {
    let thread = tilepipe_thread_rank() as usize;
    // SAFETY: the caller's promise: a member's rank in the block is `first + stride * r` with
    // `r < count`.
    unsafe { core::hint::assert_unchecked(thread >= members.first) };
    // SAFETY: the same, and `stride` is at least 1.
    unsafe { core::hint::assert_unchecked(thread < members.first + members.count * members.stride) };
    let rank = (thread - members.first) / members.stride;
    // SAFETY: the same: the quotient is that `r`.
    unsafe { core::hint::assert_unchecked(rank < members.count) };
    rank
}

/// Runs `body` with the rank of the calling thread's warp in a block of `threads`: every warp of
/// the block does so.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn for_each_warp(threads: usize, body: impl Fn(usize)) {
    // SAFETY: the caller's promise.
    body(unsafe { rank_below(threads) } / WARP);
}

/// Runs `body` in the first lane of the warp.
#[inline(always)]
pub(crate) fn for_first_lane(body: impl FnOnce()) {
    if lane() == 0 {
        body();
    }
}

/// Runs `body` with the calling thread's rank in its warp: every lane does so.
#[inline(always)]
pub(crate) fn for_each_lane(body: impl Fn(usize)) {
    body(lane());
}

/// The calling thread's rank, known to be below `threads`.
///
/// # Safety
///
/// The block has `threads` threads in one dimension.
#[inline(always)]
unsafe fn rank_below(threads: usize) -> usize {
    let rank = tilepipe_thread_rank() as usize;
    // SAFETY: the caller's promise, and PTX "%tid": it is below `%ntid` in each dimension.
    unsafe { core::hint::assert_unchecked(rank < threads) };
    rank
}

/// The calling thread's rank in its warp: blocks have one dimension, so a warp is 32 threads with
/// consecutive ranks.
#[inline(always)]
fn lane() -> usize {
    tilepipe_thread_rank() as usize % WARP
}

/// One value per thread of a block or a role of `THREADS`: a register. Operations that all of these
/// threads execute together take their operands in this form.
pub(crate) struct PerThread<T, const THREADS: usize>(T);

impl<T: Copy, const THREADS: usize> PerThread<T, THREADS> {
    /// Computes each thread's value from its rank.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn new(value: impl Fn(usize) -> T) -> Self {
        // SAFETY: the caller's promise.
        PerThread(value(unsafe { rank_below(THREADS) }))
    }

    /// The same value for each.
    #[inline(always)]
    pub(crate) fn filled(value: T) -> Self {
        PerThread(value)
    }

    /// Computes each warp's value from its rank, for all its threads.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn of_warps(value: impl Fn(usize) -> T) -> Self {
        // SAFETY: the caller's promise.
        PerThread(value(unsafe { rank_below(THREADS) } / WARP))
    }

    /// Updates each thread's value.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn update(&mut self, update: impl Fn(usize, &mut T)) {
        // SAFETY: the caller's promise.
        update(unsafe { rank_below(THREADS) }, &mut self.0);
    }

    /// Computes each member's value from its rank in its role of `THREADS`.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn of_members(members: Members, value: impl Fn(usize) -> T) -> Self {
        // SAFETY: the caller's promise.
        PerThread(value(unsafe { member_rank(members) }))
    }

    /// Updates each member's value.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn update_members(&mut self, members: Members, update: impl Fn(usize, &mut T)) {
        // SAFETY: the caller's promise.
        update(unsafe { member_rank(members) }, &mut self.0);
    }

    /// The value of the calling thread, which has rank `_rank`.
    #[inline(always)]
    pub(crate) fn get(&self, _rank: usize) -> T {
        self.0
    }
}

/// `bar.red.or`: a barrier of the block that returns whether any thread's value is true.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn barrier_any<const THREADS: usize>(values: &PerThread<bool, THREADS>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_barrier_any(u32::from(values.0)) != 0 }
}

/// `bar.red.and`: a barrier of the block that returns whether all threads' values are true.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn barrier_all<const THREADS: usize>(values: &PerThread<bool, THREADS>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_barrier_all(u32::from(values.0)) != 0 }
}

/// One value per lane of the calling thread's warp, which has all 32 lanes: a register.
pub(crate) struct PerLane<T>(T);

impl<T: Copy> PerLane<T> {
    /// Computes each lane's value from its rank.
    #[inline(always)]
    pub(crate) fn new(value: impl Fn(usize) -> T) -> Self {
        PerLane(value(lane()))
    }

    /// Updates each lane's value.
    #[inline(always)]
    pub(crate) fn update(&mut self, update: impl Fn(usize, &mut T)) {
        update(lane(), &mut self.0);
    }

    /// The value of the calling lane, which has rank `_lane`.
    #[inline(always)]
    pub(crate) fn get(&self, _lane: usize) -> T {
        self.0
    }
}

impl<const THREADS: usize> PerThread<[f32; 2], THREADS> {
    /// `shfl.sync.bfly`: both values of each four neighbouring lanes, combined: those of two lanes
    /// side by side, and then of both twos.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn of_quads(self, combine: impl Fn(f32, f32) -> f32) -> Self {
        // Written out: a loop over the distances stays one, with an iterator in local memory.
        let step = |value: f32, bits: u32| {
            // SAFETY: the caller's promise: all 32 lanes.
            combine(value, shuffle(value, |word| unsafe { tilepipe_shuffle_across(u32::MAX, word, bits) }))
        };
        let [one, other] = self.0;
        let values = [step(step(one, 1), 2), step(step(other, 1), 2)];
        PerThread(values)
    }
}

impl PerLane<bool> {
    /// `vote.sync.any`: whether any lane's value is true.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn any(&self) -> bool {
        // SAFETY: the caller's promise.
        unsafe { tilepipe_warp_any(u32::from(self.0)) != 0 }
    }

    /// `vote.sync.all`: whether all lanes' values are true.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn all(&self) -> bool {
        // SAFETY: the caller's promise.
        unsafe { tilepipe_warp_all(u32::from(self.0)) != 0 }
    }
}

impl<T: bytemuck::Pod> PerLane<T> {
    /// `shfl.sync.bfly`: each lane gets the value of the lane whose rank differs from its own in
    /// `bits`.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn lane_across(&self, bits: usize) -> Self {
        // SAFETY: the caller's promise: all 32 lanes.
        PerLane(shuffle(self.0, |word| unsafe { tilepipe_shuffle_across(u32::MAX, word, bits as u32) }))
    }

    /// `shfl.sync.idx`: the value of lane `lane`.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn of_lane(&self, lane: usize) -> T {
        // SAFETY: the caller's promise.
        shuffle(self.0, |word| unsafe { tilepipe_shuffle_from(u32::MAX, word, lane as u32) })
    }
}

impl<T: bytemuck::Pod, const THREADS: usize> Lanes<T> for PerThread<T, THREADS> {
    #[inline(always)]
    fn duplicate(&self) -> Self {
        PerThread(self.0)
    }

    #[inline(always)]
    unsafe fn lane_above(&self, distance: usize) -> Self {
        // SAFETY: the caller's promise: a block of `THREADS`, or a role of `THREADS` in whole
        // warps.
        let mask = unsafe { lanes_of::<THREADS>() };
        // SAFETY: all threads of that block or role make the call, and `mask` names those of this
        // warp.
        PerThread(shuffle(self.0, |word| unsafe { tilepipe_shuffle_down(mask, word, distance as u32) }))
    }

    #[inline(always)]
    unsafe fn lane_below(&self, distance: usize) -> Self {
        // SAFETY: the caller's promise: a block of `THREADS`, or a role of `THREADS` in whole
        // warps.
        let mask = unsafe { lanes_of::<THREADS>() };
        // SAFETY: all threads of that block or role make the call, and `mask` names those of this
        // warp.
        PerThread(shuffle(self.0, |word| unsafe { tilepipe_shuffle_up(mask, word, distance as u32) }))
    }

    /// The rank in the block. In a role of whole warps the rank differs from it by a multiple of
    /// 32.
    #[inline(always)]
    fn update_ranks(&mut self, update: impl Fn(usize, &mut T)) {
        update(tilepipe_thread_rank() as usize, &mut self.0);
    }

    #[inline(always)]
    fn of_rank(&self, rank: usize) -> T {
        self.get(rank)
    }
}

impl<T: bytemuck::Pod> Lanes<T> for PerLane<T> {
    #[inline(always)]
    fn duplicate(&self) -> Self {
        PerLane(self.0)
    }

    #[inline(always)]
    unsafe fn lane_above(&self, distance: usize) -> Self {
        // SAFETY: the caller's promise: all 32 lanes.
        PerLane(shuffle(self.0, |word| unsafe { tilepipe_shuffle_down(u32::MAX, word, distance as u32) }))
    }

    #[inline(always)]
    unsafe fn lane_below(&self, distance: usize) -> Self {
        // SAFETY: the caller's promise: all 32 lanes.
        PerLane(shuffle(self.0, |word| unsafe { tilepipe_shuffle_up(u32::MAX, word, distance as u32) }))
    }

    #[inline(always)]
    fn update_ranks(&mut self, update: impl Fn(usize, &mut T)) {
        self.update(update);
    }

    #[inline(always)]
    fn of_rank(&self, rank: usize) -> T {
        self.get(rank)
    }
}

/// The lanes of the calling thread's warp: all 32, or in the last warp of a block those that exist.
///
/// # Safety
///
/// The calling thread is one of a block of `THREADS`, or of a role of `THREADS` in whole warps.
#[inline(always)]
pub(super) unsafe fn lanes_of<const THREADS: usize>() -> u32 {
    let rest = THREADS % WARP;
    if rest == 0 {
        return u32::MAX;
    }
    // SAFETY: the caller's promise.
    let rank = unsafe { rank_below(THREADS) };
    if rank >= THREADS - rest { (1 << rest) - 1 } else { u32::MAX }
}

/// Moves a value of 1 to 16 bytes between lanes, word by word.
#[inline(always)]
fn shuffle<T: bytemuck::Pod>(value: T, exchange: impl Fn(u32) -> u32) -> T {
    const { assert!(size_of::<T>() <= 16, "collectives take values of 1 to 16 bytes") };
    let mut words = [0_u32; 4];
    bytemuck::bytes_of_mut(&mut words)[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    for word in &mut words[..size_of::<T>().div_ceil(4)] {
        *word = exchange(*word);
    }
    bytemuck::pod_read_unaligned(&bytemuck::bytes_of(&words)[..size_of::<T>()])
}
