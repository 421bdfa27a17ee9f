//! The block that the calling OS thread runs: its place in the grid, its shared memory, its model.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell};
use std::thread;

use super::model::Model;
use super::random::Random;
use super::scheduler::Scheduler;
use super::{Schedule, panics};
use crate::isa::SCRATCH_BYTES;

/// The state of one running block, or of one of its roles.
pub(crate) struct BlockState {
    place: Place,
    /// The shared memory of the blocks that this OS thread runs; a role has none of its own.
    arena: Arena,
    /// The collectives' memory of these blocks. Threads hold pointers into it while this state is
    /// borrowed, so it lies elsewhere.
    scratch: Arena,
    pub(super) model: Model,
    /// What the block synchronises with. The roles of a block share it.
    pub(super) scheduler: Scheduler,
}

/// A block's place in its grid, and its memory.
///
/// # Invariants
///
/// 0. `shared` is valid for reads and writes of `shared_bytes` bytes until the block ends.
/// 1. `scratch` is aligned to 16 and valid for reads and writes of `SCRATCH_BYTES` bytes until the
///    block ends. They lie in an allocation of their own, and this module never makes a reference
///    to it: whoever holds a reference into it may call every function of the executor.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) index: u32,
    pub(super) grid: u32,
    pub(super) schedule: Schedule,
    /// The first byte of shared memory.
    pub(super) shared: *mut u8,
    shared_bytes: usize,
    /// The collectives' memory: slots of 16 bytes, `SCRATCH_BYTES` in all.
    pub(super) scratch: *mut u8,
}

// SAFETY: the pointers are to memory of the block (0), which is valid on every OS thread; of the
// threads of the block's roles only the one with the baton accesses it, and the mutex that the
// baton is passed under orders what they do.
unsafe impl Send for Place {}

impl Place {
    const NOWHERE: Place = Place {
        index: 0,
        grid: 0,
        schedule: Schedule::Lazy,
        shared: core::ptr::without_provenance_mut(ALIGNMENT),
        shared_bytes: 0,
        scratch: core::ptr::without_provenance_mut(16),
    };
}

impl BlockState {
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// Refuses to copy into mbarriers. (In roles there is a check of whole stages for that.)
    pub(super) fn check_destination(&self, first: *mut u8, bytes: usize) {
        if !self.scheduler.barriers.is_empty() {
            self.scheduler.barriers.check_free(first.addr(), bytes);
        }
    }

    /// Poisons `bytes` bytes of shared memory.
    ///
    /// # Panics
    ///
    /// If they are not in shared memory.
    pub(super) fn poison(&mut self, first: *mut u8, bytes: usize) {
        let offset = first.addr().checked_sub(self.place.shared.addr());
        assert!(
            offset.is_some_and(|offset| offset <= self.place.shared_bytes && bytes <= self.place.shared_bytes - offset),
            "a stage outside of the block's shared memory"
        );
        if self.place.schedule != Schedule::Eager {
            self.model.poison(first, bytes);
        }
    }
}

/// Bytes aligned to 16.
#[repr(align(16))]
pub(crate) struct Aligned<const BYTES: usize>(pub(crate) [u8; BYTES]);

thread_local! {
    static BLOCK: RefCell<BlockState> = const {
        RefCell::new(BlockState {
            place: Place::NOWHERE,
            arena: Arena::empty(),
            scratch: Arena::empty(),
            model: Model::new(),
            scheduler: Scheduler::new(),
        })
    };
    static RUNNING: Cell<bool> = const { Cell::new(false) };
    /// Whether this OS thread was made for a role. It stays true to the very end of the thread,
    /// when destructors of payloads and thread-locals run.
    static OF_ROLE: Cell<bool> = const { Cell::new(false) };
    static THREAD: Cell<Option<u32>> = const { Cell::new(None) };
    static WARP_RANK: Cell<usize> = const { Cell::new(0) };
}

/// Gives `use_block` the state of the running block.
///
/// # Panics
///
/// If no block runs on this OS thread: tilepipe's block-level operations work inside kernels only.
#[inline]
pub(crate) fn with_block<R>(use_block: impl FnOnce(&mut BlockState) -> R) -> R {
    assert!(RUNNING.get(), "a block-level operation outside a kernel: launch the kernel instead of calling it");
    BLOCK.with_borrow_mut(use_block)
}

/// As [`with_block`], for a step: an operation that copies, waits, hands over or synchronises.
///
/// # Panics
///
/// As `with_block`; and while the block or role unwinds.
#[inline]
pub(crate) fn step<R>(take: impl FnOnce(&mut BlockState) -> R) -> R {
    check_not_unwinding();
    with_block(take)
}

/// Refuses a step that a destructor takes while its block or role unwinds. The other threads don't
/// take that step: a tile that it waited for would not have landed, and a stage that it acquired
/// would still be read.
///
/// # Panics
///
/// If this OS thread unwinds. The message goes to standard error in any case, because a panic that
/// leaves a destructor ends the program.
#[inline]
pub(super) fn check_not_unwinding() {
    if thread::panicking() {
        panics::panic_aloud(
            "a step in a destructor while its block or role unwinds from a panic: take no steps in `drop`",
        );
    }
}

/// Notes that the closure of the thread of rank `rank` runs from here on.
#[inline(always)]
pub(crate) fn enter_thread(rank: usize) {
    THREAD.set(Some(rank as u32));
}

/// Notes that block-level code runs from here on.
#[inline(always)]
pub(crate) fn leave_threads() {
    THREAD.set(None);
}

/// Notes that the code of the warp of rank `rank` runs from here on.
pub(crate) fn enter_warp(rank: usize) {
    WARP_RANK.set(rank);
}

/// Notes that block-level code runs from here on.
pub(crate) fn leave_warps() {
    WARP_RANK.set(0);
}

/// The rank of the warp whose code runs.
pub(crate) fn current_warp() -> usize {
    WARP_RANK.get()
}

/// The rank of the thread whose closure runs, if one does.
pub(crate) fn current_thread() -> Option<u32> {
    THREAD.get()
}

/// Whether a block runs on this OS thread.
pub(crate) fn is_running() -> bool {
    RUNNING.get()
}

/// Whether a block runs on this OS thread, or it belongs to a role of one.
pub(crate) fn is_inside() -> bool {
    RUNNING.get() || OF_ROLE.get()
}

/// Prepares this OS thread for block `index` of `grid` with `shared_bytes` of poisoned shared
/// memory; the block ends when the guard is dropped, also by a panic.
pub(crate) fn begin(index: u32, grid: u32, shared_bytes: usize, schedule: Schedule) -> Running {
    assert!(!RUNNING.replace(true), "a kernel launched from inside a kernel");
    leave_threads();
    BLOCK.with_borrow_mut(|block| {
        block.arena.reserve(shared_bytes);
        block.scratch.reserve(SCRATCH_BYTES);
        let (shared, scratch) = (block.arena.start(), block.scratch.start());
        block.place = Place { index, grid, schedule, shared, shared_bytes, scratch };
        block.model.begin(schedule, Random::of(schedule, index));
        block.model.poison(shared, shared_bytes);
        block.model.poison(scratch, SCRATCH_BYTES);
        block.scheduler.begin(schedule, Random::of(schedule, index).fork(), shared.addr());
    });
    Running(())
}

/// Prepares this OS thread, which has run nothing before, for a role of the block at `place`.
pub(super) fn begin_role(place: Place, random: Random) {
    RUNNING.set(true);
    OF_ROLE.set(true);
    BLOCK.with_borrow_mut(|block| {
        block.place = place;
        block.model.begin(place.schedule, random);
    });
}

/// Ends the role of this OS thread and returns what it has left in flight.
pub(super) fn end_role() -> Model {
    RUNNING.set(false);
    leave_threads();
    BLOCK.with_borrow_mut(|block| std::mem::replace(&mut block.model, Model::new()))
}

/// Where the running block's state lies.
#[cfg(test)]
pub(crate) fn state_addresses() -> std::ops::Range<usize> {
    with_block(|block| {
        let start = std::ptr::from_mut(block).addr();
        start..start + size_of::<BlockState>()
    })
}

/// A running block, which ends when this is dropped.
pub(crate) struct Running(());

impl Running {
    /// Ends the kernel's code in this block, which has not failed.
    ///
    /// # Panics
    ///
    /// If the copy engine may still be reading the block's shared memory.
    pub(crate) fn end(&self) {
        with_block(|block| block.model.end());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // What is still in flight is dropped, not landed: its memory is the next block's.
        BLOCK.with_borrow_mut(|block| {
            block.model.clear();
            block.scheduler = Scheduler::new();
        });
        RUNNING.set(false);
    }
}

/// Memory of the blocks that this OS thread runs, one after the other.
///
/// # Invariants
///
/// 0. `start` is an allocation of `layout`, or dangling if that has no bytes.
pub(crate) struct Arena {
    start: *mut u8,
    layout: Layout,
}

/// The alignment of a block's shared memory in bytes, as on the GPU.
const ALIGNMENT: usize = crate::isa::SHARED_ALIGNMENT;

impl Arena {
    const fn empty() -> Self {
        let Ok(layout) = Layout::from_size_align(0, ALIGNMENT) else { unreachable!() };
        Arena { start: core::ptr::without_provenance_mut(ALIGNMENT), layout }
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    /// Makes room for `bytes`, in new memory if the present one is too small.
    fn reserve(&mut self, bytes: usize) {
        if bytes <= self.layout.size() {
            return;
        }
        *self = Arena::empty();
        let layout = Layout::from_size_align(bytes, ALIGNMENT).expect("shared memory of a valid size");
        // SAFETY: the layout has more than 0 bytes.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        *self = Arena { start, layout };
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: invariant 0.
            unsafe { dealloc(self.start, self.layout) };
        }
    }
}
