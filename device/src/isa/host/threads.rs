//! Threads, warps and lanes: a closure runs once for each of them in turn, and a value that each of
//! them has is an array.

use super::block::{self, current_warp};
use super::{model, roles};
use crate::isa::{Lanes, Members, WARP};

/// Runs `body` with every rank of the block in turn.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn for_each_thread(threads: usize, body: impl Fn(usize)) {
    for rank in 0..threads {
        block::enter_thread(rank);
        body(rank);
    }
    block::leave_threads();
}

/// Runs `body` with the rank of every member in its role in turn.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn for_each_member(members: Members, body: impl Fn(usize)) {
    for rank in roles::own(members) {
        enter_member(members, rank);
        body(rank);
    }
    block::leave_threads();
}

/// Notes that the closure of the member of rank `rank` runs from here on.
#[inline(always)]
pub(super) fn enter_member(members: Members, rank: usize) {
    block::enter_thread(members.first + members.stride * rank);
}

/// Runs `body` in the role's first thread.
pub(crate) fn for_first_member(members: Members, body: impl FnOnce()) {
    if roles::own(members).start > 0 {
        return;
    }
    block::enter_thread(members.first);
    model::in_one_thread(body);
    block::leave_threads();
}

/// Runs `body` with the rank of every warp of a role of whole warps in turn.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn for_each_member_warp(members: Members, body: impl Fn(usize)) {
    let own = roles::own(members);
    for warp in own.start / WARP..own.end / WARP {
        block::enter_warp(members.first / WARP + warp);
        body(warp);
    }
    block::leave_warps();
}

/// Runs `body` with the rank of every warp of a block of `threads` in turn.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn for_each_warp(threads: usize, body: impl Fn(usize)) {
    for warp in 0..threads / WARP {
        block::enter_warp(warp);
        body(warp);
    }
    block::leave_warps();
}

/// `vote.sync.any` of what all threads of a warp say alike.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn any_in_warp(says: bool) -> bool {
    says
}

/// What the first thread of a warp says, for all of them.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn first_in_warp(says: impl FnOnce() -> bool) -> bool {
    says()
}

/// What all threads of a warp have alike.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn of_first_lane(value: u32) -> u32 {
    value
}

/// Runs `body` in the first lane of the running warp.
pub(crate) fn for_first_lane(body: impl FnOnce()) {
    block::enter_thread(current_warp() * WARP);
    model::in_one_thread(body);
    block::leave_threads();
}

/// Runs `body` with every lane of the running warp in turn.
pub(crate) fn for_each_lane(body: impl Fn(usize)) {
    for lane in 0..WARP {
        block::enter_thread(current_warp() * WARP + lane);
        body(lane);
    }
    block::leave_threads();
}

/// One value per thread: an array with one for each rank.
pub(crate) struct PerThread<T, const THREADS: usize>([T; THREADS]);

impl<T: Copy, const THREADS: usize> PerThread<T, THREADS> {
    /// Computes each thread's value from its rank.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn new(value: impl Fn(usize) -> T) -> Self {
        let values = core::array::from_fn(|rank| {
            block::enter_thread(rank);
            value(rank)
        });
        block::leave_threads();
        PerThread(values)
    }

    /// The same value for each.
    pub(crate) fn filled(value: T) -> Self {
        PerThread([value; THREADS])
    }

    /// Computes each warp's value from its rank, for all its threads.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn of_warps(value: impl Fn(usize) -> T) -> Self {
        let mut of_warp = Vec::with_capacity(THREADS / WARP);
        for warp in 0..THREADS / WARP {
            block::enter_warp(warp);
            of_warp.push(value(warp));
        }
        block::leave_warps();
        PerThread(core::array::from_fn(|rank| of_warp[rank / WARP]))
    }

    /// Updates each thread's value.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn update(&mut self, update: impl Fn(usize, &mut T)) {
        for (rank, value) in self.0.iter_mut().enumerate() {
            block::enter_thread(rank);
            update(rank, value);
        }
        block::leave_threads();
    }

    /// Computes each member's value from its rank in its role, which has `THREADS` members. (Of
    /// those that run apart nobody asks for another warpgroup's: a member of this one stands there
    /// for each of them.)
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn of_members(members: Members, value: impl Fn(usize) -> T) -> Self {
        let own = roles::own(members);
        let run = |rank| {
            enter_member(members, rank);
            value(rank)
        };
        let first = run(own.start);
        let is_further = |rank: usize| rank != own.start && own.contains(&rank);
        let values = core::array::from_fn(|rank| if is_further(rank) { run(rank) } else { first });
        block::leave_threads();
        PerThread(values)
    }

    /// Updates each member's value.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn update_members(&mut self, members: Members, update: impl Fn(usize, &mut T)) {
        for rank in roles::own(members) {
            enter_member(members, rank);
            update(rank, &mut self.0[rank]);
        }
        block::leave_threads();
    }

    /// The value of the thread of rank `rank`.
    pub(crate) fn get(&self, rank: usize) -> T {
        self.0[rank]
    }
}

impl<const THREADS: usize> PerThread<[f32; 2], THREADS> {
    /// Both values of each four neighbouring lanes, combined: those of two lanes side by side, and
    /// then of both twos.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn of_quads(self, combine: impl Fn(f32, f32) -> f32) -> Self {
        let with = |values: [[f32; 2]; THREADS], bits: usize| {
            core::array::from_fn(|rank| {
                let (own, other) = (values[rank], values[rank ^ bits]);
                [combine(own[0], other[0]), combine(own[1], other[1])]
            })
        };
        PerThread(with(with(self.0, 1), 2))
    }
}

/// `bar.red.or`: a barrier of the block that returns whether any thread's value is true.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn barrier_any<const THREADS: usize>(values: &PerThread<bool, THREADS>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { super::barrier() };
    values.0.contains(&true)
}

/// `bar.red.and`: a barrier of the block that returns whether all threads' values are true.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn barrier_all<const THREADS: usize>(values: &PerThread<bool, THREADS>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { super::barrier() };
    !values.0.contains(&false)
}

/// `barrier.sync id, count`: what the role's threads stored, or copied and waited for, is visible
/// to all of them from here on.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn role_barrier(id: u32, members: Members) {
    assert!((1..16).contains(&id), "barrier.sync {id} in a role: its barriers are 1 to 15");
    assert!(
        members.count.is_multiple_of(WARP),
        "barrier.sync of {} threads: a role of whole warps only",
        members.count
    );
    block::step(|block| block.model.barrier());
    roles::step();
}

/// `barrier.red.or`: a barrier of the role that returns whether any member's value is true.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn role_barrier_any<const N: usize>(id: u32, members: Members, values: &PerThread<bool, N>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { role_barrier(id, members) };
    values.0.contains(&true)
}

/// `barrier.red.and`: a barrier of the role that returns whether all members' values are true.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn role_barrier_all<const N: usize>(id: u32, members: Members, values: &PerThread<bool, N>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { role_barrier(id, members) };
    !values.0.contains(&false)
}

/// One value per lane of the running warp: an array with one for each lane.
pub(crate) struct PerLane<T>([T; WARP]);

impl<T: Copy> PerLane<T> {
    /// Computes each lane's value from its rank.
    pub(crate) fn new(value: impl Fn(usize) -> T) -> Self {
        let values = core::array::from_fn(|lane| {
            block::enter_thread(current_warp() * WARP + lane);
            value(lane)
        });
        block::leave_threads();
        PerLane(values)
    }

    /// Updates each lane's value.
    pub(crate) fn update(&mut self, update: impl Fn(usize, &mut T)) {
        for (lane, value) in self.0.iter_mut().enumerate() {
            block::enter_thread(current_warp() * WARP + lane);
            update(lane, value);
        }
        block::leave_threads();
    }

    /// The value of lane `lane`.
    pub(crate) fn get(&self, lane: usize) -> T {
        self.0[lane]
    }

    /// `shfl.sync.bfly`: each lane gets the value of the lane whose rank differs from its own in
    /// `bits`.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn lane_across(&self, bits: usize) -> Self {
        PerLane(core::array::from_fn(|lane| self.0[lane ^ bits]))
    }

    /// `shfl.sync.idx`: the value of lane `lane`.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn of_lane(&self, lane: usize) -> T {
        self.0[lane]
    }
}

impl PerLane<bool> {
    /// `vote.sync.any`: whether any lane's value is true.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn any(&self) -> bool {
        self.0.contains(&true)
    }

    /// `vote.sync.all`: whether all lanes' values are true.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn all(&self) -> bool {
        !self.0.contains(&false)
    }
}

/// Each value's neighbour `distance` above or below it in its warp, or itself.
fn neighbours<T: Copy, const N: usize>(values: &[T; N], distance: isize) -> [T; N] {
    core::array::from_fn(|rank| {
        let neighbour = rank.wrapping_add_signed(distance);
        let same_warp = neighbour / WARP == rank / WARP;
        if same_warp && neighbour < N { values[neighbour] } else { values[rank] }
    })
}

macro_rules! lanes {
    ($name:ident $(, const $threads:ident: usize)?) => {
        impl<T: Copy $(, const $threads: usize)?> Lanes<T> for $name<T $(, $threads)?> {
            fn duplicate(&self) -> Self {
                $name(self.0)
            }

            unsafe fn lane_above(&self, distance: usize) -> Self {
                $name(neighbours(&self.0, distance as isize))
            }

            unsafe fn lane_below(&self, distance: usize) -> Self {
                $name(neighbours(&self.0, -(distance as isize)))
            }

            fn update_ranks(&mut self, update: impl Fn(usize, &mut T)) {
                for (rank, value) in self.0.iter_mut().enumerate() {
                    update(rank, value);
                }
            }

            fn of_rank(&self, rank: usize) -> T {
                self.0[rank]
            }
        }
    };
}
lanes!(PerThread, const THREADS: usize);
lanes!(PerLane);
