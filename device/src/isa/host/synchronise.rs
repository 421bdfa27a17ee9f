//! The instructions between roles: mbarriers, the arrivals of asynchronous copies, the clock.
//!
//! Each is a scheduling point. An mbarrier's state is in the [model](super::mbarrier); the eight
//! bytes that name it are poison.

use super::Schedule;
use super::block::{Aligned, step, with_block};
use super::mbarrier;
use super::model::{Accesses, Model, Unit};
use super::roles::{own, synchronise};
use crate::isa::{
    BULK_ZEROS, BoxShape, Corner, ElementKind, Members, PendingGroups, Phase, RawTensor, Reduce, ReduceCode,
    SharedOrigin, WARP,
};

/// An mbarrier: its address in the block's shared memory.
pub(crate) type Mbarrier = *mut u64;

/// The mbarrier at this byte offset into the block's shared memory.
pub(crate) fn mbarrier_at(offset: usize) -> Mbarrier {
    super::shared_base().wrapping_add(offset).cast()
}

/// As [`mbarrier_at`].
pub(crate) fn mbarrier_from(_: SharedOrigin, offset: usize) -> Mbarrier {
    mbarrier_at(offset)
}

/// `mbarrier.init`: a phase of this mbarrier counts `arrivals` arrivals.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn mbarrier_init(barrier: *mut u64, arrivals: u32) {
    synchronise(|scheduler, _| {
        scheduler.barriers.init(barrier.addr(), arrivals);
        scheduler.step();
    });
    with_block(|block| block.model.poison(barrier.cast(), mbarrier::BYTES));
}

/// `mbarrier.inval`: the memory of this mbarrier can be used again.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn mbarrier_inval(barrier: *mut u64) {
    synchronise(|scheduler, _| {
        let address = barrier.addr();
        if scheduler.waits_at(address) {
            panic!("mbarrier.inval while a role waits there: {}", scheduler.barriers.describe(address));
        }
        scheduler.barriers.inval(address);
        scheduler.step();
    });
}

/// Names an mbarrier in messages: a role that waits for it waits until stage `stage` is `name`.
/// Nothing on the GPU.
pub(crate) fn mbarrier_name(barrier: *mut u64, name: &'static str, stage: u32) {
    synchronise(|scheduler, _| scheduler.barriers.name(barrier.addr(), name, stage));
}

/// `mbarrier.arrive` by each member: with the default `.release` it covers what they stored before,
/// and what they copied and waited for.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn mbarrier_arrive(barrier: *mut u64, by: Members) {
    arrive(barrier, own(by).len(), true);
}

/// `mbarrier.arrive` with a count, by one thread.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn mbarrier_arrive_for(barrier: *mut u64, arrivals: u32) {
    arrive(barrier, arrivals as usize, false);
}

/// `mbarrier.arrive` by the members' first thread: it covers what that thread stored before, not
/// what others did. (The model does not tell their stores apart, so it covers none if there are
/// others.)
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn mbarrier_arrive_first(barrier: *mut u64, by: Members) {
    arrive(barrier, 1, by.count == 1);
}

/// `bar.warp.sync`, then `mbarrier.arrive` of the first member of each warp: it covers what the
/// warp has read, and the products that it has waited for.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn mbarrier_arrive_warps(barrier: *mut u64, by: Members) {
    arrive(barrier, own(by).len() / WARP, true);
}

/// `mbarrier.arrive.expect_tx`: the phase in progress waits for `bytes` bytes of bulk copies more,
/// and the calling thread arrives there.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn mbarrier_arrive_expect_tx(barrier: *mut u64, bytes: u32) {
    arrive_expecting(barrier, 1, true, bytes);
}

/// Products of the calling role read a stage of `bytes` bytes from `first` on, which it hands over
/// at `barrier`. Nothing on the GPU.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn stage_multiplied(first: *const u8, bytes: usize, barrier: *mut u64) {
    step(|block| block.model.stage_of_products(first.addr(), bytes, barrier.addr()));
}

fn arrive(barrier: *mut u64, arrivals: usize, releases: bool) {
    arrive_expecting(barrier, arrivals, releases, 0);
}

fn arrive_expecting(barrier: *mut u64, arrivals: usize, releases: bool, bytes: u32) {
    let mut accesses = Accesses::new();
    if releases {
        step(|block| {
            block.model.land_arrived();
            block.model.check_products_of(barrier.addr());
            block.model.accesses.arrive(barrier.addr(), &mut accesses);
        });
    }
    synchronise(|scheduler, _| {
        scheduler.barriers.handed_over.absorb(&mut accesses);
        if bytes > 0 {
            scheduler.barriers.expect_tx(barrier.addr(), bytes);
        }
        scheduler.barriers.arrive(barrier.addr(), arrivals as u32);
        scheduler.step();
    });
}

/// `mbarrier.expect_tx`: the phase in progress waits for `bytes` bytes of bulk copies more.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn mbarrier_expect_tx(barrier: *mut u64, bytes: u32) {
    synchronise(|scheduler, _| scheduler.barriers.expect_tx(barrier.addr(), bytes));
}

/// `cp.async.bulk`: a copy of `bytes` bytes, parts of which land in any order and at any time, and
/// complete their bytes at the mbarrier.
///
/// # Panics
///
/// If threads have accessed the destination without a fence between the proxies, if they may still
/// be reading it, or if the mbarrier's phase may end before the copy.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn bulk_copy(to: *mut u8, from: *const u8, bytes: u32, barrier: *mut u64) {
    assert!(
        bytes.is_multiple_of(16) && to.addr().is_multiple_of(16) && from.addr().is_multiple_of(16),
        "a bulk copy of {bytes} bytes: its size and both addresses are multiples of 16"
    );
    let parts = step(|block| {
        block.check_destination(to, bytes as usize);
        // SAFETY: the caller's promises.
        unsafe { block.model.copy_bulk(to, from, bytes) }
    });
    land_in_parts(to, bytes as usize, barrier, parts);
}

/// `cp.async.bulk.tensor`: a copy of the box that begins there, rows of which land in any order and
/// at any time, and complete their bytes at the mbarrier.
///
/// # Panics
///
/// As for [`bulk_copy`].
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn tensor_copy(to: *mut u8, map: *const RawTensor, from: Corner, shape: BoxShape, barrier: *mut u64) {
    let bytes = shape.bytes();
    let period = 128 * (shape.mask as usize + 1);
    assert!(to.addr().is_multiple_of(period), "a box whose swizzle has a period of {period} bytes starts elsewhere");
    // SAFETY: readable (the caller's promise), and plain data.
    let tensor = unsafe { map.read() };
    check_column(from[0], shape);
    let parts = step(|block| {
        block.check_destination(to, bytes);
        // SAFETY: the caller's promises.
        unsafe { block.model.copy_box(to, &tensor, from, shape) }
    });
    land_in_parts(to, bytes, barrier, parts);
}

/// `cp.async.bulk.global`: a store of `bytes` bytes, in a bulk group of the calling thread. The
/// source is read at any time before a wait for the group.
///
/// # Panics
///
/// If threads have accessed the source without a fence between the proxies.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn bulk_store(to: *mut u8, from: *const u8, bytes: u32) {
    assert!(
        bytes > 0 && bytes.is_multiple_of(16) && to.addr().is_multiple_of(16) && from.addr().is_multiple_of(16),
        "a bulk store of {bytes} bytes: its size and both addresses are multiples of 16"
    );
    // SAFETY: the caller's promises.
    start_store(from, bytes as usize, |model| unsafe { model.store_bulk(from, to, bytes as usize) });
}

/// `cp.async.bulk.tensor.global`: a store of the box at `from`, in a bulk group of the calling
/// thread, as the box of a tensor that begins at `at`. What of it lies outside of
/// the tensor is dropped, in whole pieces of 16 bytes. The source is read at any time before a wait
/// for the group.
///
/// # Panics
///
/// If threads have accessed the source without a fence between the proxies.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn tensor_store(map: *const RawTensor, at: Corner, from: *const u8, shape: BoxShape) {
    // SAFETY: the caller's promises.
    unsafe { start_box(map, at, from, shape, None) };
}

/// `cp.reduce.async.bulk.tensor.global`: as [`tensor_store`], but each element is combined with
/// that of the tensor, atomically.
///
/// # Panics
///
/// As `tensor_store`.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn tensor_reduce<C: ReduceCode>(
    map: *const RawTensor,
    at: Corner,
    from: *const u8,
    shape: BoxShape,
    kind: ElementKind,
) {
    // SAFETY: the caller's promises.
    unsafe { start_box(map, at, from, shape, Some((C::CODE, kind))) };
}

/// Fails at what the copy engine fails at (docs/decisions/55).
fn check_column(column: i32, shape: BoxShape) {
    let lanes = 16 / shape.element as i32;
    assert!(column % lanes == 0, "the copy engine begins no box at column {column}: it is no multiple of {lanes}");
}

/// Starts a store of a box, or a reduction of elements of a kind.
///
/// # Safety
///
/// As for [`tensor_store`], or for [`tensor_reduce`].
unsafe fn start_box(
    map: *const RawTensor,
    at: Corner,
    from: *const u8,
    shape: BoxShape,
    how: Option<(Reduce, ElementKind)>,
) {
    let bytes = shape.bytes();
    let period = 128 * (shape.mask as usize + 1);
    assert!(from.addr().is_multiple_of(period), "a box whose swizzle has a period of {period} bytes starts elsewhere");
    // SAFETY: readable (the caller's promise), and plain data.
    let tensor = unsafe { map.read() };
    check_column(at[0], shape);
    assert!(at.iter().all(|at| *at >= 0), "the copy engine stores no box from {at:?} on: it begins before the tensor");
    // SAFETY: the caller's promises.
    start_store(from, bytes, |model| unsafe { model.store_box(from, &tensor, at, shape, how) });
}

/// Starts a store of the `bytes` bytes at `from`, by `start`.
fn start_store(from: *const u8, bytes: usize, start: impl FnOnce(&mut Model)) {
    step(|block| {
        block.check_destination(from.cast_mut(), bytes);
        start(&mut block.model);
    });
    synchronise(|scheduler, _| {
        scheduler.barriers.handed_over.check_source(from.addr(), bytes);
        scheduler.step();
    });
}

/// `cp.async.bulk.commit_group`: closes the group of bulk stores.
pub(crate) fn bulk_commit_group() {
    step(|block| block.model.commit_stores());
}

/// `cp.async.bulk.wait_group.read`: the engine has read the sources of all but the youngest
/// `P::GROUPS` groups of the calling thread.
pub(crate) fn bulk_wait_group_read<P: PendingGroups>() {
    step(|block| block.model.wait_stores_read(P::GROUPS));
}

/// `cp.async.bulk.wait_group 0`: all bulk stores of the calling thread are written, and visible to
/// it.
pub(crate) fn bulk_wait_all() {
    step(|block| block.model.wait_stores_written());
}

/// Starts the parts of a bulk copy to the `bytes` bytes at `to`.
fn land_in_parts(to: *mut u8, bytes: usize, barrier: *mut u64, parts: Vec<(Vec<Unit>, u32)>) {
    synchronise(|scheduler, role| {
        scheduler.barriers.handed_over.check(to.addr(), bytes);
        scheduler.barriers.copy_bulk(role, barrier.addr(), parts.into_iter());
        if scheduler.schedule() == Schedule::Eager {
            scheduler.barriers.land_bulk();
        }
        scheduler.step();
    });
}

/// [`BULK_ZEROS`] bytes of zeros, aligned to 16.
pub(crate) fn bulk_zeros() -> *const u8 {
    static ZEROS: Aligned<BULK_ZEROS> = Aligned([0; BULK_ZEROS]);
    ZEROS.0.as_ptr()
}

/// `fence.proxy.async.shared::cta` in the calling threads.
pub(crate) fn fence_proxy_async() {
    step(|block| block.model.accesses.fence());
}

/// `fence.mbarrier_init.release.cluster`. Nothing here: the model's barriers are known at once.
pub(crate) fn fence_mbarrier_init() {}

/// Notes that the calling role reads a stage, through the generic proxy, until it arrives at
/// `barrier`. Nothing on the GPU.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn stage_read(first: *const u8, bytes: usize, barrier: *mut u64) {
    step(|block| block.model.accesses.read_stage(first.addr(), bytes, barrier.addr()));
}

/// `cp.async.mbarrier.arrive.noinc` by each member: an arrival that happens when the asynchronous
/// copies that it issued before have landed. It covers these, not ordinary stores.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn cp_async_mbarrier_arrive(barrier: *mut u64, by: Members) {
    let copies = step(|block| block.model.take_copies());
    synchronise(|scheduler, role| {
        scheduler.barriers.defer(role, barrier.addr(), by.count as u32, copies);
        if scheduler.schedule() == Schedule::Eager {
            scheduler.barriers.land_all_of(role);
        }
        scheduler.step();
    });
}

/// `mbarrier.try_wait.parity` until it is true: waits until the phase with this parity is complete.
/// Of the present phase and the one before it, exactly one has it. A fresh mbarrier is in phase 0,
/// and the phase before that counts as complete with parity 1.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn mbarrier_wait(barrier: *mut u64, parity: u32) {
    synchronise(|scheduler, _| scheduler.wait(barrier.addr(), parity, false));
}

/// `mbarrier.try_wait.parity` with a suspend time hint: as [`mbarrier_wait`], since time is virtual
/// here.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn mbarrier_wait_briefly(barrier: *mut u64, parity: u32) {
    // SAFETY: the caller's promise.
    unsafe { mbarrier_wait(barrier, parity) };
}

/// Waits for a phase, unless it is marked as one that does not come: whether it is.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn mbarrier_wait_unless<const PEELED: bool>(phase: Phase, _: bool, _: Members) -> bool {
    let (barrier, parity) = (phase.barrier.addr(), phase.parity);
    synchronise(|scheduler, _| scheduler.wait(barrier, parity, true));
    // When the role has the baton again, one of both is so.
    synchronise(|scheduler, _| !scheduler.barriers.is_complete(barrier, parity))
}

/// Says that this phase does not come, nor any after it.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn mark_phase(phase: Phase) {
    synchronise(|scheduler, _| {
        // SAFETY: the caller's promise; roles read it while they have the baton.
        unsafe { phase.word.write(phase.mark()) };
        scheduler.barriers.mark(phase.barrier.addr(), phase.parity);
        scheduler.step();
    });
}

/// Whether this phase is marked as the first that does not come.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn is_marked(phase: Phase) -> bool {
    // SAFETY: the caller's promise.
    synchronise(|_, _| unsafe { phase.word.read() == phase.mark() })
}

/// `mbarrier.test_wait.parity`: whether the phase of this parity is complete. If it is not, other
/// roles get their turn.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn mbarrier_poll(barrier: *mut u64, parity: u32) -> bool {
    synchronise(|scheduler, _| {
        let complete = scheduler.barriers.is_complete(barrier.addr(), parity);
        if complete {
            scheduler.step();
        } else {
            scheduler.poll();
        }
        complete
    })
}

/// Notes that the calling role has a stage for itself: all reads of its `bytes` bytes have ended,
/// so that they are poisoned. Nothing on the GPU.
///
/// # Panics
///
/// If there is an mbarrier in the stage, if copies into it are in flight, or if it isn't in shared
/// memory.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn stage_acquired(first: *mut u8, bytes: usize) {
    synchronise(|scheduler, _| scheduler.barriers.check_free(first.addr(), bytes));
    with_block(|block| block.poison(first, bytes));
}

/// `%globaltimer`: nanoseconds of virtual time since the block's start. Each synchronising
/// operation takes 1 000 of them. Where a role polls and nobody else can go on, time leaps, and it
/// leaps further with each poll.
pub(crate) fn clock() -> u64 {
    synchronise(|scheduler, _| scheduler.clock())
}
