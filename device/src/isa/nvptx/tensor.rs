//! Copies of boxes of tensors by the copy engine.

use super::Mbarrier;
use crate::isa::{BoxShape, Corner, ElementKind, RawTensor, Reduce, ReduceCode};

/// Makes a module of the functions of `runtime.ll` for tensors of so many dimensions, with the same
/// signatures in each.
macro_rules! of_dimensions {
    (
        $module:ident($($at:ident),*): $copy:ident, $store:ident,
        [$add:ident, $min:ident, $max:ident, $and:ident, $or:ident, $xor:ident]
    ) => {
        mod $module {
            use super::{Corner, Mbarrier, Reduce};

            unsafe extern "C" {
                fn $copy(to: *mut u8, map: *const u8, $($at: i32,)* barrier: Mbarrier);
                fn $store(map: *const u8, $($at: i32,)* from: *const u8);
                fn $add(map: *const u8, $($at: i32,)* from: *const u8);
                fn $min(map: *const u8, $($at: i32,)* from: *const u8);
                fn $max(map: *const u8, $($at: i32,)* from: *const u8);
                fn $and(map: *const u8, $($at: i32,)* from: *const u8);
                fn $or(map: *const u8, $($at: i32,)* from: *const u8);
                fn $xor(map: *const u8, $($at: i32,)* from: *const u8);
            }

            /// # Safety
            ///
            /// As [`tensor_copy`](super::tensor_copy).
            #[inline(always)]
            pub(super) unsafe fn copy(to: *mut u8, map: *const u8, at: Corner, barrier: Mbarrier) {
                let [$($at,)* ..] = at;
                // SAFETY: the caller's promises.
                unsafe { $copy(to, map, $($at,)* barrier) };
            }

            /// # Safety
            ///
            /// As [`tensor_store`](super::tensor_store).
            #[inline(always)]
            pub(super) unsafe fn store(map: *const u8, at: Corner, from: *const u8) {
                let [$($at,)* ..] = at;
                // SAFETY: the caller's promises.
                unsafe { $store(map, $($at,)* from) };
            }

            /// # Safety
            ///
            /// As [`tensor_reduce`](super::tensor_reduce).
            #[inline(always)]
            pub(super) unsafe fn reduce(how: Reduce, map: *const u8, at: Corner, from: *const u8) {
                let [$($at,)* ..] = at;
                match how {
                    // SAFETY: the caller's promises.
                    Reduce::Add => unsafe { $add(map, $($at,)* from) },
                    // SAFETY: as above.
                    Reduce::Min => unsafe { $min(map, $($at,)* from) },
                    // SAFETY: as above.
                    Reduce::Max => unsafe { $max(map, $($at,)* from) },
                    // SAFETY: as above.
                    Reduce::And => unsafe { $and(map, $($at,)* from) },
                    // SAFETY: as above.
                    Reduce::Or => unsafe { $or(map, $($at,)* from) },
                    // SAFETY: as above.
                    Reduce::Xor => unsafe { $xor(map, $($at,)* from) },
                }
            }
        }
    };
}
of_dimensions! {
    one(column): tilepipe_tensor_copy_1d, tilepipe_tensor_store_1d, [
        tilepipe_tensor_add_1d,
        tilepipe_tensor_min_1d,
        tilepipe_tensor_max_1d,
        tilepipe_tensor_and_1d,
        tilepipe_tensor_or_1d,
        tilepipe_tensor_xor_1d
    ]
}
of_dimensions! {
    two(column, row): tilepipe_tensor_copy_2d, tilepipe_tensor_store_2d, [
        tilepipe_tensor_add_2d,
        tilepipe_tensor_min_2d,
        tilepipe_tensor_max_2d,
        tilepipe_tensor_and_2d,
        tilepipe_tensor_or_2d,
        tilepipe_tensor_xor_2d
    ]
}
of_dimensions! {
    three(column, row, plane): tilepipe_tensor_copy_3d, tilepipe_tensor_store_3d, [
        tilepipe_tensor_add_3d,
        tilepipe_tensor_min_3d,
        tilepipe_tensor_max_3d,
        tilepipe_tensor_and_3d,
        tilepipe_tensor_or_3d,
        tilepipe_tensor_xor_3d
    ]
}
of_dimensions! {
    four(column, row, plane, fourth): tilepipe_tensor_copy_4d, tilepipe_tensor_store_4d, [
        tilepipe_tensor_add_4d,
        tilepipe_tensor_min_4d,
        tilepipe_tensor_max_4d,
        tilepipe_tensor_and_4d,
        tilepipe_tensor_or_4d,
        tilepipe_tensor_xor_4d
    ]
}
of_dimensions! {
    five(column, row, plane, fourth, fifth): tilepipe_tensor_copy_5d, tilepipe_tensor_store_5d, [
        tilepipe_tensor_add_5d,
        tilepipe_tensor_min_5d,
        tilepipe_tensor_max_5d,
        tilepipe_tensor_and_5d,
        tilepipe_tensor_or_5d,
        tilepipe_tensor_xor_5d
    ]
}

/// `cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes`, or of another
/// number of dimensions: a copy of the box of a tensor that begins there, by the copy engine.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn tensor_copy(to: *mut u8, map: *const RawTensor, from: Corner, shape: BoxShape, barrier: Mbarrier) {
    // The map is at the start.
    let map = map.cast();
    match shape.dimensions {
        // SAFETY: the caller's promises.
        1 => unsafe { one::copy(to, map, from, barrier) },
        // SAFETY: as above.
        2 => unsafe { two::copy(to, map, from, barrier) },
        // SAFETY: as above.
        3 => unsafe { three::copy(to, map, from, barrier) },
        // SAFETY: as above.
        4 => unsafe { four::copy(to, map, from, barrier) },
        // SAFETY: as above.
        _ => unsafe { five::copy(to, map, from, barrier) },
    }
}

/// `cp.async.bulk.tensor.2d.global.shared::cta.bulk_group`, or of another number of dimensions: a
/// store of the box at `from` to the tensor, beginning at `at`, by the copy engine, in the calling
/// thread's open group of bulk stores. What of it lies outside of the tensor is dropped, in whole
/// pieces of 16 bytes.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn tensor_store(map: *const RawTensor, at: Corner, from: *const u8, shape: BoxShape) {
    // The map is at the start.
    let map = map.cast();
    match shape.dimensions {
        // SAFETY: the caller's promises.
        1 => unsafe { one::store(map, at, from) },
        // SAFETY: as above.
        2 => unsafe { two::store(map, at, from) },
        // SAFETY: as above.
        3 => unsafe { three::store(map, at, from) },
        // SAFETY: as above.
        4 => unsafe { four::store(map, at, from) },
        // SAFETY: as above.
        _ => unsafe { five::store(map, at, from) },
    }
}

/// `cp.reduce.async.bulk.tensor.2d.global.shared::cta.bulk_group`, or of another number of
/// dimensions: as [`tensor_store`], but each element is combined with that of the tensor,
/// atomically. The map says what elements are.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn tensor_reduce<C: ReduceCode>(
    map: *const RawTensor,
    at: Corner,
    from: *const u8,
    shape: BoxShape,
    kind: ElementKind,
) {
    // The map is at the start.
    let (map, _) = (map.cast(), kind);
    match shape.dimensions {
        // SAFETY: the caller's promises.
        1 => unsafe { one::reduce(C::CODE, map, at, from) },
        // SAFETY: as above.
        2 => unsafe { two::reduce(C::CODE, map, at, from) },
        // SAFETY: as above.
        3 => unsafe { three::reduce(C::CODE, map, at, from) },
        // SAFETY: as above.
        4 => unsafe { four::reduce(C::CODE, map, at, from) },
        // SAFETY: as above.
        _ => unsafe { five::reduce(C::CODE, map, at, from) },
    }
}
