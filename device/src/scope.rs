//! Scopes: who takes part in a pipeline and what a waited-for tile lets a thread read.

use crate::isa;

/// The threads that a pipeline synchronises. Sealed.
pub trait Scope: sealed::Scope + 'static {}

/// All threads of a block (CUDA's `thread_scope_block`): `wait` ends with `bar.sync`, and every thread may read the whole
/// tile.
pub enum BlockScope {}

impl Scope for BlockScope {}

pub(crate) mod sealed {
    /// The scope's barrier.
    pub trait Scope {
        /// Waits for all threads of the scope, and orders their accesses to shared memory before against those after.
        ///
        /// # Safety
        ///
        /// All threads of the scope make this call, in converged code.
        unsafe fn synchronise();
    }
}

impl sealed::Scope for BlockScope {
    #[inline(always)]
    unsafe fn synchronise() {
        // SAFETY: the caller's own obligation, with the block as the scope.
        unsafe { isa::barrier() };
    }
}
