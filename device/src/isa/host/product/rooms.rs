//! What a role's warpgroups tell each other of memory that they write and read in turn.

use std::cell::RefCell;
use std::rc::Rc;

use crate::isa::Members;
use crate::isa::host::block::step;

/// Barriers at which all warps of a role arrive. One thread runs them all, so that a phase is
/// complete at once, and who waits for one that is not would wait for ever.
#[derive(Clone)]
pub(crate) struct Rooms {
    /// Where they lie in shared memory.
    offset: usize,
    /// How many phases of each are complete.
    phases: Rc<RefCell<Vec<u32>>>,
}

impl Rooms {
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn new(offset: usize, count: u32, _: Members) -> Self {
        Rooms { offset, phases: Rc::new(RefCell::new(vec![0; count as usize])) }
    }

    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    ///
    /// # Panics
    ///
    /// If the phase is not complete.
    pub(crate) unsafe fn wait(&self, barrier: u32, parity: u32) {
        let phase = self.phases.borrow()[barrier as usize];
        assert!(phase % 2 != parity, "a role waits for itself: phase {phase} of its barrier {barrier} is not complete");
        step(|block| block.model.accesses.wait_for(self.offset + 8 * barrier as usize));
    }

    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn arrive(&self, barrier: u32, _: Members) {
        self.phases.borrow_mut()[barrier as usize] += 1;
        step(|block| block.model.accesses.arrive_at(self.offset + 8 * barrier as usize));
    }
}
