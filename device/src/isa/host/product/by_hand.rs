//! Products that are started and waited for one by one, also with a factor in registers.

use std::marker::PhantomData;
use std::sync::{Arc, PoisonError};

use super::super::block::{self, step};
use super::super::model::{Left, Located, Product};
use super::super::roles;
use super::super::threads::{PerThread, enter_member};
use super::{Operands, Sums};
use crate::isa::Members;
use crate::isa::product::{Factor, Onto, Operand, Width, place_of_sum};

/// `wgmma.fence`. Nothing here: registers are used in the program's order.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn fence_products(_: Members) {}

/// A left factor of `D::COLUMNS` elements along K, in registers: the bits of its elements, row by
/// row.
pub(crate) struct Fragment<D: Width> {
    bits: Arc<[u16]>,
    width: PhantomData<D>,
}

impl<D: Width> Fragment<D> {
    /// Nothing.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn hold(&mut self) {}
}

impl<W: Width> Sums<W> {
    /// Starts the product of A's rows and B's.
    ///
    /// # Panics
    ///
    /// If threads have written an operand without a fence between the proxies.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn start(&mut self, factor: Factor, operands: &Operands, onto: Onto) {
        let [a, b] = operands.0;
        self.start_any(factor, Left::Shared(Located::of(a)), b, onto);
    }

    /// As [`start`](Self::start), with A in registers: its product is added to the sums.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn start_by<D: Width>(&mut self, _: Members, factor: Factor, a: &Fragment<D>, b: Operand) {
        self.start_any(factor, Left::Registers(a.bits.clone()), b, Onto::Sums);
    }

    fn start_any(&mut self, factor: Factor, a: Left, b: Operand, onto: Onto) {
        let (b, add) = (Located::of(b), onto == Onto::Sums);
        let product = Product { factor, a, b, add, rows: self.own_rows(), sums: self.values.clone() };
        step(|block| block.model.multiply(product));
    }

    /// Nothing.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn hold(&mut self) {}

    /// Replaces each sum by `value(rank, register, sum)`, as the thread that has it.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn update(&mut self, members: Members, value: impl Fn(usize, usize, f32) -> f32) {
        let mut sums = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        for rank in roles::own(members) {
            enter_member(members, rank);
            for register in 0..W::COLUMNS / 2 {
                let (row, column) = place_of_sum(rank, register);
                let sum = &mut sums[row * W::COLUMNS + column];
                *sum = value(rank, register, *sum);
            }
        }
        block::leave_threads();
    }

    /// Multiplies the sums of each of a thread's two rows by its value.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn scale<const N: usize>(&mut self, members: Members, rows: &PerThread<[f32; 2], N>) {
        // SAFETY: the caller's promise.
        unsafe { self.update(members, |rank, register, sum| sum * rows.get(rank)[register / 2 % 2]) };
    }

    /// Gives each sum a value.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn fill(&mut self, _: Members, value: f32) {
        self.values.lock().unwrap_or_else(PoisonError::into_inner).fill(value);
    }

    /// The sums, each two side by side as `round` makes bits of them.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn rounded(&self, _: Members, round: impl Fn([f32; 2]) -> u32) -> Fragment<W> {
        let sums = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let both = |pair: &[f32]| {
            let word = round([pair[0], pair[1]]);
            [word as u16, (word >> 16) as u16]
        };
        Fragment { bits: sums.chunks(2).flat_map(both).collect(), width: PhantomData }
    }
}
