//! Bins that all threads may read.

use core::marker::PhantomData;
use core::ops::Deref;

use super::group::BinsGroup;
use super::layout::Bins;
use crate::element::Element;
use crate::fault;
use crate::marker::{BlockLevel, Brand, Named, RoleShared, Uniform};
use crate::memory::Shared;
use crate::output::reduction::{AtomicOperation, Reduction};

/// What was added to `LEN` bins: all threads may read all of them, as an array `[T; LEN]`.
///
/// [`OpenBins::publish`](crate::OpenBins::publish) makes it, and
/// [`OpenBins::read`](crate::OpenBins::read) shows it. At block level all threads get the same
/// values, and the kernel may branch on them.
///
/// # Invariants
///
/// 0. `LEN` bins from `base` on, `offset` bytes into the block's shared memory, are initialised,
///    and nobody writes them while this value exists. They are the start of a layout's memory that
///    this value, or the one that it was lent by, owns.
/// 1. The threads of the group `G` have made it together, after they have met, and its brand is in
///    the type.
#[must_use = "bins are published to be read: `counts[i]`, or `add_to` an array"]
pub struct Counts<'s, T: Element, const LEN: usize, O: AtomicOperation<T>, const COPIES: usize, P, G> {
    base: *const T,
    offset: usize,
    memory: Brand<'s>,
    level: BlockLevel,
    named: Named<(O, P)>,
    group: PhantomData<fn(G) -> G>,
}

// SAFETY: (0) nothing can be written through a shared reference: the bins are read, and `add_to`
// writes what a `Reduction` may be written by; (1) what takes a shared reference, `deref` and
// `add_to`, has no collective operation, and the group that `add_to` wants is not uniform; (2) the
// bins are memory of the block, which is bound to no OS thread.
unsafe impl<T: Element, const LEN: usize, O: AtomicOperation<T>, const COPIES: usize, P, G> Uniform
    for Counts<'_, T, LEN, O, COPIES, P, G>
{
}
// SAFETY: nothing can be written through a shared reference, but what a `Reduction` may be: (0)
// above.
unsafe impl<T: Element, const LEN: usize, O: AtomicOperation<T>, const COPIES: usize, P, G> RoleShared
    for Counts<'_, T, LEN, O, COPIES, P, G>
{
}

impl<'s, T: Element, const LEN: usize, O: AtomicOperation<T>, const COPIES: usize, P, G>
    Counts<'s, T, LEN, O, COPIES, P, G>
{
    /// Makes the value of published bins.
    ///
    /// # Safety
    ///
    /// The invariants hold.
    #[inline(always)]
    pub(super) unsafe fn new(base: *const T, offset: usize) -> Self {
        Counts { base, offset, memory: PhantomData, level: PhantomData, named: PhantomData, group: PhantomData }
    }

    /// Combines element `i` of `reduction` with bin `i`, for each bin that something was added to.
    ///
    /// PTX: `red.global`, by each thread for every `THREADS`-th bin. What is behind the last bin in
    /// the reduction stays as it is.
    ///
    /// # Threads
    ///
    /// The block or role that made the bins.
    ///
    /// # Panics
    ///
    /// If `reduction.len() < LEN`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn add_to(&self, group: &G, reduction: &Reduction<'_, T, O>)
    where
        G: BinsGroup,
    {
        let _ = group;
        if reduction.len() < LEN {
            fault::out_of_range("{} bins don't fit a reduction of {} elements", LEN, reduction.len());
        }
        let add = |rank| {
            let mut index = rank;
            while index < LEN {
                // SAFETY: a bin, which is initialised and not written (0).
                let value = unsafe { self.base.wrapping_add(index).read() };
                if !O::is_identity(value) {
                    // SAFETY: below LEN, which the reduction is not shorter than.
                    unsafe { reduction.add_unchecked(index, value) };
                }
                index += G::THREADS;
            }
        };
        // SAFETY: the calling thread is one of the group (1): all of it have this value's group at
        // hand, which is at the group's own level.
        unsafe { G::each(add) };
    }

    /// Gives the memory back. It costs one `bar.sync`.
    ///
    /// # Threads
    ///
    /// The block or role that made the bins.
    #[inline(always)]
    pub fn finish(self, group: &G) -> Shared<'s, Bins<T, LEN, O, COPIES>, P>
    where
        G: BinsGroup,
    {
        let _ = group;
        // SAFETY: all threads of the group make the call, in code of its level (1).
        unsafe { G::meet() };
        // SAFETY: this value owned the layout's memory (0): one that is lent is behind a reference.
        // No copy goes there, and all threads that read it have met. It starts where it did.
        unsafe { Shared::new(self.offset) }
    }
}

impl<T: Element, const LEN: usize, O: AtomicOperation<T>, const COPIES: usize, P, G> Deref
    for Counts<'_, T, LEN, O, COPIES, P, G>
{
    type Target = [T; LEN];

    #[inline(always)]
    fn deref(&self) -> &[T; LEN] {
        // SAFETY: LEN initialised bins, which nobody writes while this value exists (0), nor while
        // it is borrowed.
        unsafe { &*self.base.cast::<[T; LEN]>() }
    }
}
