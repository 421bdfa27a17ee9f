//! The mbarriers of a unified pipeline whose copies complete by bytes: one for each stage.

use core::marker::PhantomData;

use crate::engine::{Completion, CompletionOf, Engine};
use crate::group::Synchronise;
use crate::isa;
use crate::scope::Scope;
use crate::stage::ring::Fills;

/// The mbarriers of a group's pipeline: nothing where copies don't complete by bytes.
///
/// # Invariants
///
/// 0. `count` mbarriers lie in a row from byte `offset` of the block's shared memory on, in memory
///    that is this pipeline's alone, and are valid.
pub(crate) struct Landings<E, G, S> {
    offset: usize,
    count: usize,
    pipeline: PhantomData<(E, G, S)>,
}

impl<E: Engine, G: Synchronise<S>, S: Scope> Landings<E, G, S> {
    /// Makes the mbarriers, and has the copy engine find the memory of the pipeline as the group's
    /// threads have left it. PTX: `mbarrier.init`, `fence.mbarrier_init`, `fence.proxy.async`, the
    /// group's barrier; without copies by bytes nothing.
    ///
    /// # Safety
    ///
    /// 0. `8 * count` bytes from byte `offset` of the block's shared memory on are aligned to 8 and
    ///    belong to the pipeline alone, and so do its stages.
    /// 1. All threads of the group make this call; for a block in converged code.
    #[inline(always)]
    pub(crate) unsafe fn enter(offset: usize, count: usize) -> Self {
        if CompletionOf::<E>::BY_BYTES {
            let init = || {
                for stage in 0..count {
                    let full = isa::mbarrier_at(offset + 8 * stage);
                    // SAFETY: (0); one thread makes the call, and the others use the barrier after
                    // that of the group.
                    unsafe { isa::mbarrier_init(full, 1) };
                    isa::mbarrier_name(full, "full", stage as u32);
                }
                isa::fence_mbarrier_init();
            };
            // SAFETY: (1); `init` stays in one thread.
            unsafe { G::first(init) };
            // SAFETY: (1). Before it, each thread's fence.
            unsafe { CompletionOf::<E>::launder::<G, S>() };
        }
        Landings { offset, count, pipeline: PhantomData }
    }

    /// Waits for all copies of a ring that was filled so far.
    #[inline(always)]
    pub(crate) fn drain(&self, fills: Fills) {
        if CompletionOf::<E>::BY_BYTES {
            for stage in 0..self.count {
                // SAFETY: the barrier is valid (0). Every fill has had its arrival, so the phase of
                // the last one ends when its copies have landed.
                unsafe { isa::mbarrier_wait(isa::mbarrier_at(self.offset + 8 * stage), fills.last_lap(stage)) };
            }
        }
    }

    /// Ends the mbarriers. PTX: the group's barrier, `mbarrier.inval`.
    ///
    /// # Safety
    ///
    /// All copies have landed, and no thread of the group uses the pipeline after it came here. All
    /// of them make this call; for a block in converged code. They use the memory after a barrier.
    #[inline(always)]
    pub(crate) unsafe fn leave(self) {
        if CompletionOf::<E>::BY_BYTES {
            // SAFETY: the caller's promise.
            unsafe { G::launder() };
            let inval = || {
                for stage in 0..self.count {
                    // SAFETY: it is valid (0), and every thread has passed the barrier after its
                    // last use of it.
                    unsafe { isa::mbarrier_inval(isa::mbarrier_at(self.offset + 8 * stage)) };
                }
            };
            // SAFETY: the caller's promise.
            unsafe { G::first(inval) };
        }
    }

    /// The landings that [`enter`](Self::enter) made there.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds.
    #[inline(always)]
    pub(crate) unsafe fn at(offset: usize, count: usize) -> Self {
        Landings { offset, count, pipeline: PhantomData }
    }
}
