//! Registers that the warpgroups of a block hand to one another.

use crate::isa::ROLES_BARRIER;

unsafe extern "C" {
    fn tilepipe_role_barrier(id: u32, threads: u32);
    fn tilepipe_warp_barrier();
}

/// `bar.warp.sync`, then `setmaxnreg`: each thread has `to` registers from here on, where it had
/// `from`.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn share_registers(from: u32, to: u32) {
    // SAFETY: the caller's promise: all threads of the warp make this call.
    unsafe { tilepipe_warp_barrier() };
    // SAFETY: the caller's promise.
    unsafe { set(from, to) };
}

/// `barrier.sync ID, N`, then as [`share_registers`]: when all `threads` of the block are there,
/// wherever in its code each role is.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn restore_registers(from: u32, to: u32, threads: usize) {
    // SAFETY: the caller's promise: all threads of the block make this call, and nobody else meets
    // at this barrier.
    unsafe { tilepipe_role_barrier(ROLES_BARRIER, threads as u32) };
    // SAFETY: the caller's promise.
    unsafe { share_registers(from, to) };
}

/// The instructions for all numbers of registers, which the link step makes of their names.
macro_rules! set {
    ($($count:literal)*) => {
        /// `setmaxnreg.dec` or `.inc`; nothing if the numbers are the same.
        ///
        /// # Safety
        ///
        /// As for [`share_registers`], in a warp whose threads meet.
        #[inline(always)]
        unsafe fn set(from: u32, to: u32) {
            // The numbers are constants, so that one call is left of these.
            match (to < from, to) {
                _ if from == to => {}
                $(
                    (true, $count) => {
                        unsafe extern "C" {
                            #[link_name = concat!("tilepipe_registers_dec_", $count)]
                            fn decrease();
                        }
                        // SAFETY: the caller's promise.
                        unsafe { decrease() };
                    }
                    (false, $count) => {
                        unsafe extern "C" {
                            #[link_name = concat!("tilepipe_registers_inc_", $count)]
                            fn increase();
                        }
                        // SAFETY: the caller's promise.
                        unsafe { increase() };
                    }
                )*
                // There are no others (the caller's promise).
                _ => {}
            }
        }
    };
}
set!(24 32 40 48 56 64 72 80 88 96 104 112 120 128 136 144 152 160 168 176 184 192 200 208 216 224 232 240 248 256);
