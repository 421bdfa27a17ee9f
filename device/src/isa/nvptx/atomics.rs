//! Atomic operations on global and shared memory whose result nobody takes.

use crate::isa::{ElementKind, Reduce, ReduceCode};

unsafe extern "C" {
    fn tilepipe_reduce_global_add_32(to: *mut u8, value: u32);
    fn tilepipe_reduce_global_add_64(to: *mut u8, value: u64);
    fn tilepipe_reduce_global_add_f32(to: *mut u8, value: f32);
    fn tilepipe_reduce_global_add_f64(to: *mut u8, value: f64);
    fn tilepipe_reduce_global_add_f16(to: *mut u8, bits: u16);
    fn tilepipe_reduce_global_min_u32(to: *mut u8, value: u32);
    fn tilepipe_reduce_global_min_i32(to: *mut u8, value: u32);
    fn tilepipe_reduce_global_min_u64(to: *mut u8, value: u64);
    fn tilepipe_reduce_global_min_i64(to: *mut u8, value: u64);
    fn tilepipe_reduce_global_max_u32(to: *mut u8, value: u32);
    fn tilepipe_reduce_global_max_i32(to: *mut u8, value: u32);
    fn tilepipe_reduce_global_max_u64(to: *mut u8, value: u64);
    fn tilepipe_reduce_global_max_i64(to: *mut u8, value: u64);
    fn tilepipe_reduce_global_and_32(to: *mut u8, value: u32);
    fn tilepipe_reduce_global_and_64(to: *mut u8, value: u64);
    fn tilepipe_reduce_global_or_32(to: *mut u8, value: u32);
    fn tilepipe_reduce_global_or_64(to: *mut u8, value: u64);
    fn tilepipe_reduce_global_xor_32(to: *mut u8, value: u32);
    fn tilepipe_reduce_global_xor_64(to: *mut u8, value: u64);
    fn tilepipe_reduce_shared_add_32(to: *mut u8, value: u32);
    fn tilepipe_reduce_shared_add_64(to: *mut u8, value: u64);
    fn tilepipe_reduce_shared_add_f32(to: *mut u8, value: f32);
    fn tilepipe_reduce_shared_add_f64(to: *mut u8, value: f64);
    fn tilepipe_reduce_shared_add_f16(to: *mut u8, bits: u16);
    fn tilepipe_reduce_shared_min_u32(to: *mut u8, value: u32);
    fn tilepipe_reduce_shared_min_i32(to: *mut u8, value: u32);
    fn tilepipe_reduce_shared_min_u64(to: *mut u8, value: u64);
    fn tilepipe_reduce_shared_min_i64(to: *mut u8, value: u64);
    fn tilepipe_reduce_shared_max_u32(to: *mut u8, value: u32);
    fn tilepipe_reduce_shared_max_i32(to: *mut u8, value: u32);
    fn tilepipe_reduce_shared_max_u64(to: *mut u8, value: u64);
    fn tilepipe_reduce_shared_max_i64(to: *mut u8, value: u64);
    fn tilepipe_reduce_shared_and_32(to: *mut u8, value: u32);
    fn tilepipe_reduce_shared_and_64(to: *mut u8, value: u64);
    fn tilepipe_reduce_shared_or_32(to: *mut u8, value: u32);
    fn tilepipe_reduce_shared_or_64(to: *mut u8, value: u64);
    fn tilepipe_reduce_shared_xor_32(to: *mut u8, value: u32);
    fn tilepipe_reduce_shared_xor_64(to: *mut u8, value: u64);
}

/// The bits of a value of at most 8 bytes, in the lowest ones.
#[inline(always)]
fn bits<T: bytemuck::Pod>(value: T) -> u64 {
    let mut word = [0_u8; 8];
    word[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    u64::from_le_bytes(word)
}

/// Makes a function that combines the value with these bits, of this kind, with the one at `to`.
macro_rules! operations {
    ($name:ident:
        $add_32:ident, $add_64:ident, $add_f32:ident, $add_f64:ident, $add_f16:ident;
        $min_u32:ident, $min_i32:ident, $min_u64:ident, $min_i64:ident;
        $max_u32:ident, $max_i32:ident, $max_u64:ident, $max_i64:ident;
        $and_32:ident, $and_64:ident, $or_32:ident, $or_64:ident, $xor_32:ident, $xor_64:ident
    ) => {
        /// # Safety
        ///
        /// `to` is memory of this state space, aligned and valid for reads and writes of a value of
        /// this kind, of which there is the operation. Others access it meanwhile by such
        /// operations alone.
        #[inline(always)]
        unsafe fn $name(operation: Reduce, kind: ElementKind, to: *mut u8, bits: u64) {
            use ElementKind::{F16, F32, F64, I32, I64, U32, U64};
            use Reduce::{Add, And, Max, Min, Or, Xor};
            let word = bits as u32;
            // SAFETY: the caller's promises; a function of the kind's size, for the state space.
            unsafe {
                match (operation, kind) {
                    (Add, U32 | I32) => $add_32(to, word),
                    (Add, U64 | I64) => $add_64(to, bits),
                    (Add, F32) => $add_f32(to, f32::from_bits(word)),
                    (Add, F64) => $add_f64(to, f64::from_bits(bits)),
                    (Add, F16) => $add_f16(to, bits as u16),
                    (Min, U32) => $min_u32(to, word),
                    (Min, I32) => $min_i32(to, word),
                    (Min, U64) => $min_u64(to, bits),
                    (Min, I64) => $min_i64(to, bits),
                    (Max, U32) => $max_u32(to, word),
                    (Max, I32) => $max_i32(to, word),
                    (Max, U64) => $max_u64(to, bits),
                    (Max, I64) => $max_i64(to, bits),
                    (And, U32 | I32) => $and_32(to, word),
                    (And, U64 | I64) => $and_64(to, bits),
                    (Or, U32 | I32) => $or_32(to, word),
                    (Or, U64 | I64) => $or_64(to, bits),
                    (Xor, U32 | I32) => $xor_32(to, word),
                    (Xor, U64 | I64) => $xor_64(to, bits),
                    // There are no others: the caller's promise.
                    _ => {}
                }
            }
        }
    };
}
operations!(on_global:
    tilepipe_reduce_global_add_32, tilepipe_reduce_global_add_64, tilepipe_reduce_global_add_f32, tilepipe_reduce_global_add_f64,
    tilepipe_reduce_global_add_f16;
    tilepipe_reduce_global_min_u32, tilepipe_reduce_global_min_i32, tilepipe_reduce_global_min_u64, tilepipe_reduce_global_min_i64;
    tilepipe_reduce_global_max_u32, tilepipe_reduce_global_max_i32, tilepipe_reduce_global_max_u64, tilepipe_reduce_global_max_i64;
    tilepipe_reduce_global_and_32, tilepipe_reduce_global_and_64, tilepipe_reduce_global_or_32, tilepipe_reduce_global_or_64,
    tilepipe_reduce_global_xor_32, tilepipe_reduce_global_xor_64
);
operations!(on_shared:
    tilepipe_reduce_shared_add_32, tilepipe_reduce_shared_add_64, tilepipe_reduce_shared_add_f32, tilepipe_reduce_shared_add_f64,
    tilepipe_reduce_shared_add_f16;
    tilepipe_reduce_shared_min_u32, tilepipe_reduce_shared_min_i32, tilepipe_reduce_shared_min_u64, tilepipe_reduce_shared_min_i64;
    tilepipe_reduce_shared_max_u32, tilepipe_reduce_shared_max_i32, tilepipe_reduce_shared_max_u64, tilepipe_reduce_shared_max_i64;
    tilepipe_reduce_shared_and_32, tilepipe_reduce_shared_and_64, tilepipe_reduce_shared_or_32, tilepipe_reduce_shared_or_64,
    tilepipe_reduce_shared_xor_32, tilepipe_reduce_shared_xor_64
);

/// `red.global`: combines a value with one in global memory.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn reduce_global<R: ReduceCode, T: bytemuck::Pod>(to: *mut T, value: T, kind: ElementKind) {
    // SAFETY: (0, 1).
    unsafe { on_global(R::CODE, kind, to.cast(), bits(value)) };
}

/// `atom.shared`: combines a value with number `index` of the `len` from `bins` on, in shared
/// memory.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn reduce_shared<R: ReduceCode, T: bytemuck::Pod>(
    bins: *mut T,
    len: usize,
    index: usize,
    value: T,
    kind: ElementKind,
) {
    let _ = len;
    // SAFETY: one of the `len` values (0); (1, 2).
    unsafe { on_shared(R::CODE, kind, bins.wrapping_add(index).cast(), bits(value)) };
}

/// Tells the model that threads read these bins: nothing on the GPU.
#[inline(always)]
pub(crate) fn bins_read(_: *const u8, _: usize) {}
