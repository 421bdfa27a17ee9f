//! Products of the tensor cores. The [model](super::model) has those that were started.

pub(super) mod by_hand;

use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use super::block::{self, step};
use super::model::{Left, Located, Product};
use super::{model, roles, store_shared};
use crate::isa::product::{Columns, Factor, GROUP_ROWS, Operand, WARPGROUP, Width, place_of_sum};
use crate::isa::{Members, PendingGroups};

/// Instructions of products with so many columns. Nothing here.
pub trait Instructions {}

impl<const N: usize> Instructions for Columns<N> {}

/// The rows of A that warpgroups multiply, for several products.
#[derive(Clone, Copy)]
pub(crate) struct LeftRows(Operand);

impl LeftRows {
    /// Those of a role's warpgroups.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn new(_: Members, of_stage: Operand) -> Self {
        LeftRows(of_stage)
    }
}

/// The operands of a product, in the first stage of several at equal distances.
pub(crate) struct Operands([Operand; 2]);

impl Operands {
    /// Those of a role.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn new(_: Members, of_stage: [Operand; 2]) -> Self {
        Operands(of_stage)
    }

    /// As [`new`](Self::new), of rows of A that were found before.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn of_rows(rows: LeftRows, b: Operand) -> Self {
        Operands([rows.0, b])
    }

    /// Those of products in several stages, of which these are in the first.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn of_stages(_: Members, of_stage: [Operand; 2]) -> Self {
        Operands(of_stage)
    }
}

/// The sums of a group's threads: rows of `W::COLUMNS`.
pub(crate) struct Sums<W: Width> {
    values: Arc<Mutex<Vec<f32>>>,
    members: Members,
    width: PhantomData<W>,
}

impl<W: Width> Sums<W> {
    /// Sums without values.
    pub(crate) fn new(members: Members) -> Self {
        let rows = members.count / WARPGROUP * GROUP_ROWS;
        Sums { values: Arc::new(Mutex::new(vec![f32::NAN; rows * W::COLUMNS])), members, width: PhantomData }
    }

    /// The rows of the threads that run here.
    fn own_rows(&self) -> Range<usize> {
        let own = roles::own(self.members);
        own.start / WARPGROUP * GROUP_ROWS..own.end / WARPGROUP * GROUP_ROWS
    }

    /// Starts the product of A's rows and B's, in the stage that begins `further` times
    /// [`UNIT`](crate::isa::product::UNIT) bytes behind the first one.
    ///
    /// # Panics
    ///
    /// If threads have written an operand without a fence between the proxies.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn multiply(&mut self, factor: Factor, operands: &Operands, further: u32, add: bool) {
        let [a, b] = operands.0.map(|one| Located::of(Operand { further: one.further + further, ..one }));
        let product = Product { factor, a: Left::Shared(a), b, add, rows: self.own_rows(), sums: self.values.clone() };
        step(|block| block.model.multiply(product));
    }

    /// All products but those of the youngest `P::GROUPS` calls are complete.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn wait<P: PendingGroups>(&mut self) {
        step(|block| block.model.wait_products(P::GROUPS));
    }

    /// The sum in register `register` of the thread of rank `rank`.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn get(&self, rank: usize, register: usize) -> f32 {
        let (row, column) = place_of_sum(rank, register);
        self.values.lock().unwrap_or_else(PoisonError::into_inner)[row * W::COLUMNS + column]
    }
}

/// Runs `body` in the first thread of each of the role's warpgroups.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn for_first_of_warpgroups(members: Members, body: impl Fn()) {
    // SAFETY: the caller's promise.
    unsafe { for_first_of_warpgroups_from::<false>(members, None, core::ptr::null(), |_, _| body()) };
}

/// Turns of a role's warpgroups: nothing here, where products take no time.
pub(crate) struct Turns;

impl Turns {
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn init(_: usize, _: usize) {}

    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn of(_: usize, _: Members) -> Self {
        Turns
    }

    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn wait(&self) {}

    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn wait_a_while(&self) {}

    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn pass(&mut self, _: Members) {}
}

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
        block::step(|block| block.model.accesses.wait_for(self.offset + 8 * barrier as usize));
    }

    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn arrive(&self, barrier: u32, _: Members) {
        self.phases.borrow_mut()[barrier as usize] += 1;
        block::step(|block| block.model.accesses.arrive_at(self.offset + 8 * barrier as usize));
    }
}

/// The number of the calling thread's warpgroup in the role; where one thread runs them all, nobody
/// asks for it.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn warpgroup_of(members: Members) -> u32 {
    (roles::own(members).start / WARPGROUP) as u32
}

/// Runs `body` in the first thread of each of the role's warpgroups, with that one's number in the
/// role, and with `from`.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn for_first_of_warpgroups_from<const HERE: bool>(
    members: Members,
    _number: Option<u32>,
    from: *const u8,
    body: impl Fn(usize, *const u8),
) {
    let own = roles::own(members);
    for group in own.start / WARPGROUP..own.end / WARPGROUP {
        block::enter_thread(members.first + group * WARPGROUP);
        model::in_one_thread(|| body(group, from));
    }
    block::leave_threads();
}

/// `barrier.sync` of each warpgroup of the role.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn warpgroup_barrier(members: Members) {
    assert!(members.count.is_multiple_of(WARPGROUP), "barrier.sync of the warpgroups of {} threads", members.count);
    block::step(|block| block.model.barrier());
    roles::step();
}

/// `stmatrix`: writes each of `words`, a pair of 16-bit elements, to its place in shared memory.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn store_matrices(own: [*mut u32; 4], _: *mut u8, words: [u32; 4]) {
    for (to, word) in own.into_iter().zip(words) {
        // SAFETY: the caller's promise.
        unsafe { store_shared(to, word) };
    }
}
