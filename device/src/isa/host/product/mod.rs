//! Products of the tensor cores. The [model](super::model) has those that were started.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use super::block::step;
use super::model::Product;
use crate::isa::product::{Columns, Factor, GROUP_ROWS, Operand, WARPGROUP, Width, place_of_sum};
use crate::isa::{Members, PendingGroups};

/// Instructions of products with so many columns. Nothing here.
pub trait Instructions {}

impl<const N: usize> Instructions for Columns<N> {}

/// The sums of a group's threads: rows of `W::COLUMNS`.
pub(crate) struct Sums<W: Width> {
    values: Arc<Mutex<Vec<f32>>>,
    width: PhantomData<W>,
}

impl<W: Width> Sums<W> {
    /// Sums without values.
    pub(crate) fn new(members: Members) -> Self {
        let rows = members.count / WARPGROUP * GROUP_ROWS;
        Sums { values: Arc::new(Mutex::new(vec![f32::NAN; rows * W::COLUMNS])), width: PhantomData }
    }

    /// Starts the product of A's rows and B's.
    ///
    /// # Panics
    ///
    /// If threads have written an operand without a fence between the proxies.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn multiply(&mut self, _: Members, factor: Factor, a: Operand, b: Operand, add: bool) {
        let product = Product { factor, a, b, add, sums: self.values.clone() };
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
