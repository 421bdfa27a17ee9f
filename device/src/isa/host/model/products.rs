//! Products of the tensor cores that a role has started and not waited for: each is computed when
//! somebody waits for it or earlier, as the schedule says.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::isa::product::{Factor, Operand, Start, UNIT};
use crate::isa::shared_base;

/// A product that was started.
///
/// # Invariants
///
/// 0. Both operands are valid for reads until the block ends, in shared memory, but an `a` in
///    registers; `a` has as many rows as `sums`, and `b` as many as these have columns. Both have
///    as many elements along K.
pub(in crate::isa::host) struct Product {
    pub factor: Factor,
    pub a: Left,
    pub b: Located,
    pub add: bool,
    /// The rows that are computed.
    pub rows: Range<usize>,
    pub sums: Arc<Mutex<Vec<f32>>>,
}

/// A left factor.
pub(in crate::isa::host) enum Left {
    Shared(Located),
    /// In registers: the bits of its elements, row by row.
    Registers(Arc<[u16]>),
}

/// An operand in the calling role's block.
pub(in crate::isa::host) struct Located {
    operand: Operand,
    /// Its first byte.
    first: *const u8,
}

// SAFETY: the invariant holds on every OS thread; of the threads of a block's roles only the one
// with the baton accesses the arena, and the mutex that the baton is passed under orders what they
// do.
unsafe impl Send for Product {}

impl Product {
    /// Adds the product to the sums, or replaces them: along K in order, each sum rounded to `f32`
    /// after each term. (Products of two factors are exact.)
    fn compute(self) {
        let deep = self.b.operand.deep;
        let b = self.b.values(self.factor);
        let a = match self.a {
            Left::Shared(a) => a.values(self.factor),
            Left::Registers(bits) => bits.iter().map(|bits| value(self.factor, *bits)).collect(),
        };
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        for (row, sums) in sums.chunks_mut(self.b.operand.rows).enumerate().filter(|(row, _)| self.rows.contains(row)) {
            let factors = &a[row * deep..][..deep];
            for (sum, column) in sums.iter_mut().zip(b.chunks(deep)) {
                let first = if self.add { *sum } else { 0.0 };
                *sum = factors.iter().zip(column).fold(first, |sum, (x, y)| sum + x * y);
            }
        }
    }

    /// Whether it reads one of these bytes.
    pub(super) fn reads(&self, first: usize, bytes: usize) -> bool {
        self.operands().any(|(start, length)| first < start + length && start < first + bytes)
    }

    /// The memory that it reads.
    pub(super) fn operands(&self) -> impl Iterator<Item = (usize, usize)> {
        let a = match &self.a {
            Left::Shared(a) => Some(a),
            Left::Registers(_) => None,
        };
        a.into_iter().chain([&self.b]).map(|one| (one.first.addr(), one.operand.bytes()))
    }
}

impl Located {
    /// Where the operand lies in the calling role's block.
    pub(in crate::isa::host) fn of(operand: Operand) -> Self {
        let Start { origin, offset } = operand.start;
        debug_assert!(origin.is_none(), "the GPU's roles alone have the address in a register");
        Located { operand, first: shared_base().wrapping_add(offset as usize + operand.further as usize * UNIT) }
    }

    /// Its elements, along K for each row or column of the product.
    fn values(&self, factor: Factor) -> Vec<f32> {
        let element = |at: usize| {
            let offset = self.operand.offset(at / self.operand.deep, at % self.operand.deep);
            // SAFETY: an element of the operand, whose pieces the swizzle permutes within it
            // (`Product`, 0).
            let from = unsafe { self.first.add(offset) };
            // SAFETY: as above; any bytes are a number.
            let bits = unsafe { from.cast::<u16>().read_unaligned() };
            value(factor, bits)
        };
        (0..self.operand.rows * self.operand.deep).map(element).collect()
    }
}

impl Operand {
    /// Its bytes.
    fn bytes(&self) -> usize {
        2 * self.rows * self.deep
    }

    /// Where an element lies, in bytes from its start.
    fn offset(&self, row: usize, along: usize) -> usize {
        let (mask, columns) = (self.row_bytes / 16 - 1, self.row_bytes / 2);
        if self.across {
            let panel = row / columns * self.deep * self.row_bytes;
            panel + crate::isa::swizzled(along * self.row_bytes + row % columns * 2, mask)
        } else {
            let panel = along / columns * self.rows * self.row_bytes;
            panel + crate::isa::swizzled(row * self.row_bytes + along % columns * 2, mask)
        }
    }
}

/// The number that these bits are.
fn value(factor: Factor, bits: u16) -> f32 {
    match factor {
        Factor::F16 => half::f16::from_bits(bits).to_f32(),
        Factor::Bf16 => half::bf16::from_bits(bits).to_f32(),
    }
}

/// Products in the order in which they were started.
///
/// The lazy schedule computes one when somebody waits for it, the eager one at once, and the random
/// one at any step in between. What its operands hold then is what is multiplied.
pub(super) struct Products {
    pub(super) started: VecDeque<Product>,
    /// Stages that they read, by the mbarrier at which each is handed over.
    pub(super) stages: BTreeMap<usize, (usize, usize)>,
}

impl Products {
    pub(super) const fn new() -> Self {
        Products { started: VecDeque::new(), stages: BTreeMap::new() }
    }

    pub(super) fn clear(&mut self) {
        self.started.clear();
        self.stages.clear();
    }

    /// Refuses to write memory that a product may still read.
    pub(super) fn check(&self, first: usize, bytes: usize) {
        assert!(
            !self.started.iter().any(|product| product.reads(first, bytes)),
            "race: a write to a tile that a product of the tensor cores may still read: nobody has waited for the product"
        );
    }

    /// Computes all but the youngest `left`.
    pub(super) fn complete(&mut self, left: usize) {
        while self.started.len() > left {
            let Some(product) = self.started.pop_front() else { break };
            product.compute();
        }
    }
}
