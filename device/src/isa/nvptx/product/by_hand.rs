//! Products that are started and waited for one by one, also with a factor in registers.

use core::mem::MaybeUninit;

use super::super::threads::{PerThread, any_in_warp, for_each_member};
use super::{
    Instructions, Operands, STEP, Sums, along, descriptor, high_word, tilepipe_product_commit, tilepipe_warp_value,
};
use crate::isa::Members;
use crate::isa::product::{Factor, Onto, Operand, Width};

unsafe extern "C" {
    safe fn tilepipe_product_fence();
}

/// `wgmma.fence`: what registers of sums and of factors held before comes before the products that
/// are started from here on.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn fence_products(_: Members) {
    tilepipe_product_fence();
}

/// A thread's part of a left factor: 64 rows of `D::COLUMNS` elements of 16 bits for each
/// warpgroup, two to a register, where the sums of a product with so many columns lie.
pub(crate) struct Fragment<D: Width>(MaybeUninit<<D as Instructions>::Rounded>);

impl<D: Width> Fragment<D> {
    /// The registers of step `step` along K.
    #[inline(always)]
    fn step(&self, step: usize) -> [u32; 4] {
        let first = self.0.as_ptr().cast::<u32>();
        core::array::from_fn(|at| {
            // SAFETY: a step is 16 elements, and so 4 registers of the thread.
            let register = unsafe { first.add(4 * step + at) };
            // SAFETY: `rounded` has written all of them.
            unsafe { register.read() }
        })
    }

    /// Nothing: the registers keep their values until here.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn hold(&mut self) {
        // SAFETY: they are its registers.
        unsafe { hold_rounded(D::COLUMNS, self.0.as_mut_ptr().cast()) };
    }
}

/// No instruction: keeps the registers of so many columns of rounded sums until here.
///
/// # Safety
///
/// The pointer is valid for them.
#[inline(always)]
unsafe fn hold_rounded(columns: usize, rounded: *mut u32) {
    macro_rules! by_name {
        ($($columns:literal $registers:literal)*) => {
            match columns {
                $($columns => {
                    unsafe extern "C" {
                        #[link_name = concat!("tilepipe_product_hold_r", $registers)]
                        fn hold(rounded: *mut u32);
                    }
                    // SAFETY: the caller's promise.
                    unsafe { hold(rounded) };
                })*
                // A factor has a multiple of 16 elements along K.
                _ => {}
            }
        };
    }
    by_name! {
        16 4 32 8 48 12 64 16 80 20 96 24 112 28 128 32 144 36 160 40 176 44 192 48 208 52 224 56 240 60 256 64
    }
}

/// The descriptor of step `step` along K of an operand, of which the low word of the first step's
/// is this.
#[inline(always)]
fn further_along(step: usize, operand: Operand, low: u32, nothing: u32) -> u64 {
    let high = high_word(operand) | nothing;
    if operand.start.origin.is_some() {
        // Sums of 64 bits, as those of `multiply`: in uniform registers.
        descriptor(low, high) + u64::from(along(step, operand))
    } else {
        descriptor(low + along(step, operand), high)
    }
}

impl<W: Width> Sums<W> {
    /// `wgmma.mma_async` for each 16 elements along K, `wgmma.commit_group`: starts the product of
    /// A's rows and B's, each warpgroup of its 64 rows of A.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn start(&mut self, factor: Factor, operands: &Operands, onto: Onto) {
        let [a, b] = operands.of_stage;
        let ([low_of_a, low_of_b], sums) = (operands.low, self.0.as_mut_ptr().cast::<f32>());
        for step in 0..a.deep / STEP {
            let from_a = further_along(step, a, low_of_a, operands.nothing[0]);
            let from_b = further_along(step, b, low_of_b, operands.nothing[1]);
            let across = [a.across, b.across];
            if step == 0 && matches!(onto, Onto::Nothing) {
                // SAFETY: the caller's promise; these describe the operands' first `STEP` elements
                // along K.
                unsafe { W::overwrite(sums, factor, across, from_a, from_b) };
            } else {
                // SAFETY: the caller's promise; these describe their next ones.
                unsafe { W::multiply(sums, factor, across, from_a, from_b, 1) };
            }
        }
        tilepipe_product_commit();
    }

    /// As [`start`](Self::start), with A in registers: its product is added to the sums.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn start_by<D: Width>(&mut self, _: Members, factor: Factor, a: &Fragment<D>, b: Operand) {
        let (start, nothing) = match b.start.origin {
            Some(_) => (super::start(b), 0),
            // As in `Operands::of_stages`.
            None => {
                let start = tilepipe_warp_value(super::start(b));
                (start & 0xFFFF, start >> 20)
            }
        };
        let low = super::low_word(start, b);
        let sums = self.0.as_mut_ptr().cast::<f32>();
        for step in 0..D::COLUMNS / STEP {
            let from_b = further_along(step, b, low, nothing);
            // SAFETY: the caller's promise; both are the next `STEP` elements along K.
            unsafe { W::multiply_by(sums, factor, b.across, a.step(step), from_b, 1) };
        }
        tilepipe_product_commit();
    }

    /// Nothing: what was done to the sums stays before this.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn hold(&mut self) {
        // SAFETY: they are its registers.
        unsafe { W::hold(self.0.as_mut_ptr().cast()) };
    }

    /// Replaces each of the calling thread's sums by `value(rank, register, sum)`.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn update(&mut self, members: Members, value: impl Fn(usize, usize, f32) -> f32) {
        let first = self.0.as_mut_ptr().cast::<f32>();
        // SAFETY: the caller's promise.
        unsafe {
            for_each_member(members, |rank| {
                for register in 0..W::COLUMNS / 2 {
                    // SAFETY: one of its registers.
                    let place = first.add(register);
                    // SAFETY: all have values: the caller's promise.
                    let sum = place.read();
                    // SAFETY: as above.
                    place.write(value(rank, register, sum));
                }
            });
        }
    }

    /// Multiplies the sums of each of a thread's two rows by its value. A warp of which all values
    /// are 1 does nothing.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn scale<const N: usize>(&mut self, members: Members, rows: &PerThread<[f32; 2], N>) {
        let own = rows.get(0);
        // SAFETY: whole warps make this call, converged: the caller's promise.
        if unsafe { any_in_warp(own[0] != 1.0 || own[1] != 1.0) } {
            // SAFETY: the caller's promise, and no operation of a group is in there.
            unsafe { self.update(members, |_, register, sum| sum * own[register / 2 % 2]) };
        }
    }

    /// Gives each of the thread's sums a value.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn fill(&mut self, _: Members, value: f32) {
        let first = self.0.as_mut_ptr().cast::<f32>();
        for register in 0..W::COLUMNS / 2 {
            // SAFETY: one of its registers.
            let place = unsafe { first.add(register) };
            // SAFETY: as above.
            unsafe { place.write(value) };
        }
    }

    /// The sums, each two side by side as `round` makes a register of them.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn rounded(&self, _: Members, round: impl Fn([f32; 2]) -> u32) -> Fragment<W> {
        let mut rounded = MaybeUninit::<<W as Instructions>::Rounded>::uninit();
        let (from, to) = (self.0.as_ptr().cast::<f32>(), rounded.as_mut_ptr().cast::<u32>());
        for pair in 0..W::COLUMNS / 4 {
            // SAFETY: two of its registers, which have values: the caller's promise.
            let both = unsafe { from.add(2 * pair).cast::<[f32; 2]>().read() };
            // SAFETY: half as many registers as sums.
            let place = unsafe { to.add(pair) };
            // SAFETY: as above.
            unsafe { place.write(round(both)) };
        }
        Fragment(rounded)
    }
}
