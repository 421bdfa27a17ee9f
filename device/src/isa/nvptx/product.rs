//! Products of the tensor cores.

use core::mem::MaybeUninit;

use crate::isa::product::{Columns, Factor, GROUP_ROWS, Operand, WARPGROUP, Width, for_all_widths};
use crate::isa::{Members, PendingGroups};

unsafe extern "C" {
    safe fn tilepipe_product_commit();
    safe fn tilepipe_warp_value(value: u32) -> u32;
    fn tilepipe_shared_offset(generic: *const u8) -> u32;
    safe fn tilepipe_thread_rank() -> u32;
}

/// The instructions of products with so many columns, which the link step makes of their names.
pub trait Instructions {
    /// A thread's sums: a half of a register for each column.
    type Registers: Copy;

    /// `wgmma.fence`.
    ///
    /// # Safety
    ///
    /// The pointer is valid for the registers, and all threads of the warpgroup make this call.
    unsafe fn fence(sums: *mut f32);
    /// `wgmma.mma_async`.
    ///
    /// # Safety
    ///
    /// As for `fence`, after one; the descriptors are those of operands that nobody writes before
    /// the product was waited for, and that are `across` K or along it.
    unsafe fn multiply(sums: *mut f32, factor: Factor, across: [bool; 2], a: u64, b: u64, add: u32);
    /// `wgmma.wait_group`, for all groups but so many.
    ///
    /// # Safety
    ///
    /// As for `fence`.
    unsafe fn wait<P: PendingGroups>(sums: *mut f32);
}

macro_rules! instructions {
    ($($columns:literal)*) => {$(
        impl Instructions for Columns<$columns> {
            type Registers = [f32; $columns / 2];

            #[inline(always)]
            unsafe fn fence(sums: *mut f32) {
                unsafe extern "C" {
                    #[link_name = concat!("tilepipe_product_fence_n", $columns)]
                    fn fence(sums: *mut f32);
                }
                // SAFETY: the caller's promise.
                unsafe { fence(sums) };
            }

            #[inline(always)]
            unsafe fn multiply(sums: *mut f32, factor: Factor, across: [bool; 2], a: u64, b: u64, add: u32) {
                macro_rules! by_name {
                    ($element:literal, $layout:literal) => {{
                        unsafe extern "C" {
                            #[link_name = concat!("tilepipe_product_", $element, "_n", $columns, "_", $layout)]
                            fn multiply(sums: *mut f32, a: u64, b: u64, add: u32);
                        }
                        // SAFETY: the caller's promise.
                        unsafe { multiply(sums, a, b, add) };
                    }};
                }
                match (factor, across) {
                    (Factor::Bf16, [false, false]) => by_name!("bf16", "kk"),
                    (Factor::Bf16, [false, true]) => by_name!("bf16", "kn"),
                    (Factor::Bf16, [true, false]) => by_name!("bf16", "mk"),
                    (Factor::Bf16, [true, true]) => by_name!("bf16", "mn"),
                    (Factor::F16, [false, false]) => by_name!("f16", "kk"),
                    (Factor::F16, [false, true]) => by_name!("f16", "kn"),
                    (Factor::F16, [true, false]) => by_name!("f16", "mk"),
                    (Factor::F16, [true, true]) => by_name!("f16", "mn"),
                }
            }

            #[inline(always)]
            unsafe fn wait<P: PendingGroups>(sums: *mut f32) {
                unsafe extern "C" {
                    #[link_name = concat!("tilepipe_product_wait0_n", $columns)]
                    fn wait_all(sums: *mut f32);
                    #[link_name = concat!("tilepipe_product_wait1_n", $columns)]
                    fn wait_but_one(sums: *mut f32);
                }
                match const { P::GROUPS } {
                    // SAFETY: the caller's promise.
                    0 => unsafe { wait_all(sums) },
                    // SAFETY: the caller's promise: to wait for more than was asked for is safe.
                    _ => unsafe { wait_but_one(sums) },
                }
            }
        }
    )*};
}
for_all_widths!(instructions);

/// A thread's sums of a product: registers, which have no value before the first one.
pub(crate) struct Sums<W: Width>(MaybeUninit<W::Registers>);

impl<W: Width> Sums<W> {
    /// Registers without values.
    #[inline(always)]
    pub(crate) fn new(_: Members) -> Self {
        Sums(MaybeUninit::zeroed())
    }

    /// `wgmma.fence`, `wgmma.mma_async` for each 32 bytes of a row, `wgmma.commit_group`: starts
    /// the product of A's rows and B's, each warpgroup of its 64 rows of A.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn multiply(&mut self, members: Members, factor: Factor, a: Operand, b: Operand, add: bool) {
        let sums = self.0.as_mut_ptr().cast::<f32>();
        let group = tilepipe_warp_value((tilepipe_thread_rank() - members.first as u32) / WARPGROUP as u32);
        // The rows of a group are whole periods or panels, so the descriptor of a later group has
        // another start alone.
        let of_group = group * (GROUP_ROWS * ELEMENT * a.deep / UNIT) as u32;
        // SAFETY: the caller's promise.
        let (start_of_a, start_of_b) = unsafe { (start(a) + of_group, start(b)) };
        // SAFETY: the caller's promise.
        unsafe { W::fence(sums) };
        for step in 0..a.deep / STEP {
            let from_a = descriptor(start_of_a + along(step, a), a);
            let from_b = descriptor(start_of_b + along(step, b), b);
            let (across, add) = ([a.across, b.across], u32::from(add || step > 0));
            // SAFETY: the caller's promise; these describe the operands' next `STEP` elements along
            // K.
            unsafe { W::multiply(sums, factor, across, from_a, from_b, add) };
        }
        tilepipe_product_commit();
    }

    /// `wgmma.wait_group`: all products but those of the youngest `P::GROUPS` calls are complete.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn wait<P: PendingGroups>(&mut self) {
        // SAFETY: the caller's promise.
        unsafe { W::wait::<P>(self.0.as_mut_ptr().cast()) };
    }

    /// The calling thread's sum in register `register`.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn get(&self, _rank: usize, register: usize) -> f32 {
        // SAFETY: the caller's promise: it is one of the registers.
        let register = unsafe { self.0.as_ptr().cast::<f32>().add(register) };
        // SAFETY: a product has written all of them.
        unsafe { register.read() }
    }
}

/// Elements along K that one instruction takes.
const STEP: usize = 16;
/// Bytes of an element.
const ELEMENT: usize = 2;
/// Bytes that a descriptor counts in.
const UNIT: usize = 16;

/// How far behind the operand's start step `step` along K starts, as a descriptor says it.
#[inline(always)]
fn along(step: usize, operand: Operand) -> u32 {
    // Within a row of a period a step is a matter of the start alone; steps of rows are whole
    // periods.
    let bytes = if operand.across { STEP * operand.row_bytes } else { STEP * ELEMENT };
    (step * bytes / UNIT) as u32
}

/// Where an operand starts, as a descriptor says it.
///
/// # Safety
///
/// The operand lies in shared memory.
#[inline(always)]
unsafe fn start(operand: Operand) -> u32 {
    // SAFETY: the caller's promise.
    let start = unsafe { tilepipe_shared_offset(operand.first) };
    (start & 0x3_FFFF) / UNIT as u32
}

/// The descriptor of an operand (PTX, "Matrix descriptor format" of wgmma): its start, the distance
/// from one panel to the next, that from eight rows to the next eight, and the swizzle.
///
/// Its words are put together and not added up: `ptxas` 13.0 has lost the upper half of a sum of 64
/// bits here (docs/decisions/71).
#[inline(always)]
fn descriptor(start: u32, operand: Operand) -> u64 {
    let swizzle = match operand.row_bytes {
        128 => 1,
        64 => 2,
        _ => 3,
    };
    // Operands along K have no panels.
    let panel = if operand.across { (operand.deep * operand.row_bytes / UNIT) as u32 } else { 1 };
    let (low, high) = (start | panel << 16, (8 * operand.row_bytes / UNIT) as u32 | swizzle << 30);
    u64::from(low) | u64::from(high) << 32
}
