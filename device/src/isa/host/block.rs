//! The block that the calling OS thread is running: its place in the grid, its shared memory, its model.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell};

use super::model::{Model, POISON};
use crate::cpu::Schedule;

/// The state of one running block.
pub(crate) struct BlockState {
    pub(crate) index: u32,
    pub(crate) grid: u32,
    pub(crate) arena: Arena,
    pub(crate) model: Model,
    /// The collectives' memory: a slot of 16 bytes for each of 32 warps, and one for a result.
    pub(crate) scratch: Aligned<544>,
}

/// Bytes aligned to 16.
#[repr(align(16))]
pub(crate) struct Aligned<const BYTES: usize>(pub(crate) [u8; BYTES]);

thread_local! {
    static BLOCK: RefCell<BlockState> = const {
        RefCell::new(BlockState {
            index: 0,
            grid: 0,
            arena: Arena::empty(),
            model: Model::new(),
            scratch: Aligned([POISON; 544]),
        })
    };
    static RUNNING: Cell<bool> = const { Cell::new(false) };
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

/// Prepares this OS thread for block `index` of `grid` with `shared_bytes` of poisoned shared memory; the block ends when
/// the guard is dropped, also by a panic.
pub(crate) fn begin(index: u32, grid: u32, shared_bytes: usize, schedule: Schedule) -> Running {
    assert!(!RUNNING.replace(true), "a kernel launched from inside a kernel");
    leave_threads();
    BLOCK.with_borrow_mut(|block| {
        block.index = index;
        block.grid = grid;
        block.arena.reserve(shared_bytes);
        block.model.begin(schedule, index);
        block.model.poison(block.arena.start(), shared_bytes);
        block.scratch = Aligned([POISON; 544]);
    });
    Running(())
}

/// A running block, which ends when this is dropped.
pub(crate) struct Running(());

impl Drop for Running {
    fn drop(&mut self) {
        // What is still in flight is dropped, not landed: its memory is the next block's.
        BLOCK.with_borrow_mut(|block| block.model.clear());
        RUNNING.set(false);
    }
}

/// The shared memory of the blocks that this OS thread runs, one after the other.
///
/// # Invariants
///
/// 0. `start` is an allocation of `layout`, or dangling if that has no bytes.
pub(crate) struct Arena {
    start: *mut u8,
    layout: Layout,
}

/// The alignment of a block's shared memory in bytes, as on the GPU.
const ALIGNMENT: usize = 128;

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
