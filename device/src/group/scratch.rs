//! The collectives' own shared memory.

use super::InBlock;
use crate::element::Element;
use crate::isa::{self, Members, WARP, WARPS};

/// The threads that run a collective of more than a warp.
pub trait CollectiveGroup {
    /// The group's threads.
    const MEMBERS: Members;
    /// The slot of their result: no other group's.
    const RESULT: usize;

    /// Waits for all of them; what they wrote to shared memory before is visible to each.
    ///
    /// # Safety
    ///
    /// All of them make this call; for a block in converged code.
    unsafe fn sync();
}

impl<const THREADS: usize> CollectiveGroup for InBlock<'_, THREADS> {
    const MEMBERS: Members = Members { first: 0, stride: 1, count: THREADS };
    const RESULT: usize = WARPS;

    #[inline(always)]
    unsafe fn sync() {
        // SAFETY: the caller's promise.
        unsafe { isa::barrier() };
    }
}

/// Refuses, at compile time, values that do not fit a slot. Each collective asks for itself, so
/// that the error names its caller.
pub(crate) const fn check_value<T>() {
    assert!(
        size_of::<T>() <= 16 && align_of::<T>() <= 16,
        "collectives of the block and of roles take values of 1 to 16 bytes"
    );
}

/// Shared memory of the collectives' own, after the kernel's, in slots of 16 bytes. There is one
/// per warp of the block, one for the block's result, and two per role: for the results of its
/// collectives and of the role itself. Groups that run side by side have no slot in common.
pub(crate) struct Scratch<T> {
    warps: *mut T,
    result: *mut T,
}

impl<T: Element> Scratch<T> {
    #[inline(always)]
    pub(crate) fn of<G: CollectiveGroup>() -> Self {
        const { check_value::<T>() };
        let first = isa::scratch();
        // SAFETY: a block has at most 32 warps, so the warp of the group's first thread has a slot.
        let warps = unsafe { first.add(16 * (G::MEMBERS.first / WARP)) };
        // SAFETY: slots for the result of the block and two of each role follow those of the warps.
        let result = unsafe { first.add(16 * G::RESULT) };
        Scratch { warps: warps.cast(), result: result.cast() }
    }

    /// The result's slot `slot` alone.
    #[inline(always)]
    pub(crate) fn of_result(slot: usize) -> Self {
        const { check_value::<T>() };
        let first = isa::scratch();
        // SAFETY: slots for the result of the block and two of each role follow those of the warps.
        let result = unsafe { first.add(16 * slot) };
        Scratch { warps: first.cast(), result: result.cast() }
    }

    /// Writes the slot of the group's warp `warp`.
    ///
    /// # Safety
    ///
    /// The group has such a warp, and no other thread accesses its slot before the next barrier.
    #[inline(always)]
    pub(super) unsafe fn write(&self, warp: usize, value: T) {
        // SAFETY: the slot lies in the scratch memory, within the warps' 16 bytes each.
        let address = unsafe { self.warps.add(warp) };
        // SAFETY: aligned to 16, and nobody else's until the next barrier.
        unsafe { address.write(value) };
    }

    /// Reads the slot of the group's warp `warp`.
    ///
    /// # Safety
    ///
    /// The group has such a warp, and a thread has written its slot before the last barrier.
    #[inline(always)]
    pub(super) unsafe fn read(&self, warp: usize) -> T {
        // SAFETY: the slot lies in the scratch memory, within the warps' 16 bytes each.
        let address = unsafe { self.warps.add(warp) };
        // SAFETY: aligned to 16 and written; any bytes are a valid element.
        unsafe { address.read() }
    }

    /// Writes the group's result.
    ///
    /// # Safety
    ///
    /// No other thread accesses it before the next barrier.
    #[inline(always)]
    pub(crate) unsafe fn write_result(&self, value: T) {
        // SAFETY: aligned to 16, and nobody else's until the next barrier.
        unsafe { self.result.write(value) };
    }

    /// Reads the group's result.
    ///
    /// # Safety
    ///
    /// A thread has written it before the last barrier.
    #[inline(always)]
    pub(crate) unsafe fn read_result(&self) -> T {
        // SAFETY: aligned to 16 and written; any bytes are a valid element.
        unsafe { self.result.read() }
    }
}

#[cfg(test)]
mod tests {
    use core::ops::Range;

    use super::*;
    use crate::cpu::{Schedule, run_body};
    use crate::group::block::Block;
    use crate::isa::host::block::state_addresses;
    use crate::isa::{SCRATCH_BYTES, SHARED_ALIGNMENT};
    use crate::role::WarpRoles;

    /// The first byte of a slot that no collective of the block writes: the last of a role's.
    fn unused_slot() -> *const u8 {
        isa::scratch().wrapping_add(SCRATCH_BYTES - 16).cast_const()
    }

    #[test]
    fn a_reference_into_the_scratch_memory_lives_through_the_blocks_collectives() {
        for schedule in [Schedule::Eager, Schedule::Lazy, Schedule::Random { seed: 3 }] {
            let body = || {
                // SAFETY: the one block of this run, of 64 threads.
                let block = unsafe { Block::<64>::assume_converged() };
                // SAFETY: one byte of the scratch memory, initialised, which nobody writes while
                // the block runs.
                let held: &u8 = unsafe { &*unused_slot() };
                let (before, ranks) = (*held, block.map(|t| t.rank() as u32));
                let sum = block.reduce(&ranks, |a, b| a + b);
                let sums = block.scan(&ranks, |a, b| a + b);
                let last = block.broadcast(&sums, 63);
                let odd = block.map(|t| t.rank() % 2 == 1);
                assert!(block.any(&odd) && !block.all(&odd));
                let _ = block.now();
                block.sync();
                assert_eq!((sum, last, *held), (2016, 2016, before));
            };
            assert_eq!(run_body(body, 0, 1, 0, schedule), Ok(()));
        }
    }

    #[test]
    fn a_reference_into_the_scratch_memory_lives_through_the_roles_collectives() {
        let body = || {
            // SAFETY: the one block of this run, of 64 threads.
            let block = unsafe { Block::<64>::assume_converged() };
            // SAFETY: one byte of the scratch memory, initialised, of the fourth role: nobody
            // writes it while the block runs.
            let held: &u8 = unsafe { &*unused_slot() };
            let before = *held;
            let (results, ()) = block
                .partition::<WarpRoles<32, 32>>()
                .role((), |group, (), ()| {
                    let ranks = group.map(|t| t.rank() as u32);
                    group.reduce(&ranks, |a, b| a + b)
                })
                .role((), |group, (), ()| {
                    let sums = group.scan(&group.map(|t| t.rank() as u32), |a, b| a + b);
                    let odd = group.map(|t| t.rank() % 2 == 1);
                    assert!(group.any(&odd) && !group.all(&odd));
                    let _ = group.now();
                    group.broadcast(&sums, 31)
                })
                .run();
            assert_eq!((results, *held), ((496, 496), before));
        };
        assert_eq!(run_body(body, 0, 1, 0, Schedule::Lazy), Ok(()));
    }

    #[test]
    fn the_scratch_memory_lies_outside_of_the_blocks_state() {
        let body = || {
            let state = state_addresses();
            let scratch = isa::scratch().addr();
            let overlap = |one: Range<usize>, two: Range<usize>| one.start < two.end && two.start < one.end;
            assert!(!overlap(state, scratch..scratch + SCRATCH_BYTES));
            assert!(scratch.is_multiple_of(16));
        };
        assert_eq!(run_body(body, 0, 1, 0, Schedule::Lazy), Ok(()));
    }

    /// The number before the first occurrence of `words`.
    fn number_before(text: &str, words: &str) -> Option<usize> {
        let (before, _) = text.split_once(words)?;
        before.split_whitespace().next_back()?.parse().ok()
    }

    #[test]
    fn slots_and_alignment_are_in_the_runtime_as_here() {
        let runtime = include_str!("../runtime.ll");
        for line in [
            format!("@tilepipe_scratch_bytes = internal constant i32 {SCRATCH_BYTES}, align 4"),
            format!("@tilepipe_shared = external addrspace(3) global [0 x i8], align {SHARED_ALIGNMENT}"),
        ] {
            assert!(runtime.lines().any(|one| one == line), "no line `{line}`");
        }
    }

    #[test]
    fn every_text_has_the_number_of_slots_that_there_are() {
        for (file, text, words) in [
            ("isa/host/mod.rs", include_str!("../isa/host/mod.rs"), "slots of 16 bytes"),
            ("isa/nvptx/mod.rs", include_str!("../isa/nvptx/mod.rs"), "slots of 16 bytes"),
            ("SOUNDNESS.md", include_str!("../../../SOUNDNESS.md"), "slots of shared memory"),
        ] {
            assert_eq!(number_before(text, words), Some(SCRATCH_BYTES / 16), "`{words}` in {file}");
        }
    }
}
