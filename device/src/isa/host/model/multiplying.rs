//! Products of a block or of one of its roles, as its threads start them and wait for them.

use super::Model;
use super::products::Product;
use crate::isa::host::Schedule;

impl Model {
    /// Starts a product.
    pub(in crate::isa::host) fn multiply(&mut self, product: Product) {
        for (first, bytes) in product.operands() {
            self.accesses.check_source(first, bytes);
        }
        self.products.started.push_back(product);
        match self.schedule {
            Schedule::Eager => self.products.complete(0),
            Schedule::Lazy => {}
            Schedule::Random { .. } => {
                let left = self.random.draw(self.products.started.len() as u64 + 1);
                self.products.complete(left as usize);
            }
        }
    }

    /// Waits for all but the youngest `left` products.
    pub(in crate::isa::host) fn wait_products(&mut self, left: usize) {
        self.products.complete(left);
    }

    /// Notes a stage that products read, and where it is handed over.
    pub(in crate::isa::host) fn stage_of_products(&mut self, first: usize, bytes: usize, barrier: usize) {
        self.products.stages.insert(barrier, (first, bytes));
    }

    /// Refuses to hand a stage over at `barrier` that a product may still read.
    pub(in crate::isa::host) fn check_products_of(&mut self, barrier: usize) {
        if let Some((first, bytes)) = self.products.stages.remove(&barrier) {
            assert!(
                !self.products.started.iter().any(|product| product.reads(first, bytes)),
                "race: a stage is handed over while a product of the tensor cores may still read it: nobody has waited for the product"
            );
        }
    }
}
