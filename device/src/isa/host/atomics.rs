//! Atomic operations on global and shared memory whose result nobody takes.

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::block::with_block;
use super::model::reductions;
use crate::isa::{ElementKind, ReduceCode};

/// What a float of `kind` is to an atomic sum in global memory: a subnormal number counts as zero
/// of its sign if it has 32 bits (PTX "red": `.add.f32` on global memory flushes subnormal inputs
/// and results; `.add.f64` and `.add.noftz.f16` keep them).
fn flushed(value: &mut [u8], kind: ElementKind) {
    if kind == ElementKind::F32
        && let Ok(bytes) = <[u8; 4]>::try_from(&*value)
    {
        let float = f32::from_le_bytes(bytes);
        let float = if float.is_subnormal() { 0.0_f32.copysign(float) } else { float };
        value.copy_from_slice(&float.to_le_bytes());
    }
}

/// `red.global`: combines a value with one in global memory, to which blocks on other OS threads
/// may be adding.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn reduce_global<R: ReduceCode, T: bytemuck::Pod>(to: *mut T, value: T, kind: ElementKind) {
    let combine = |old: &mut [u8]| {
        let mut value = value;
        let new = bytemuck::bytes_of_mut(&mut value);
        for operand in [&mut *old, &mut *new] {
            flushed(operand, kind);
        }
        reductions::combined(old, new, R::CODE, kind);
        flushed(old, kind);
    };
    let update_16 = |old: u16| {
        let mut bytes = old.to_le_bytes();
        combine(&mut bytes);
        Some(u16::from_le_bytes(bytes))
    };
    let update_32 = |old: u32| {
        let mut bytes = old.to_le_bytes();
        combine(&mut bytes);
        Some(u32::from_le_bytes(bytes))
    };
    let update_64 = |old: u64| {
        let mut bytes = old.to_le_bytes();
        combine(&mut bytes);
        Some(u64::from_le_bytes(bytes))
    };
    // Relaxed, as on the GPU: the end of the launch orders what others read. The operations have a
    // result, so they never fail.
    let order = Ordering::Relaxed;
    match size_of::<T>() {
        2 => {
            // SAFETY: aligned and valid, and accessed by atomic operations alone while the launch
            // lasts (0).
            let place = unsafe { AtomicU16::from_ptr(to.cast()) };
            let _ = place.fetch_update(order, order, update_16);
        }
        4 => {
            // SAFETY: aligned and valid, and accessed by atomic operations alone while the launch
            // lasts (0).
            let place = unsafe { AtomicU32::from_ptr(to.cast()) };
            let _ = place.fetch_update(order, order, update_32);
        }
        _ => {
            // SAFETY: aligned and valid, and accessed by atomic operations alone while the launch
            // lasts (0); a kind that has neither 16 bits nor 32 has 64 (1).
            let place = unsafe { AtomicU64::from_ptr(to.cast()) };
            let _ = place.fetch_update(order, order, update_64);
        }
    }
}

/// `atom.shared`: combines a value with number `index` of the `len` from `bins` on, in shared
/// memory.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
///
/// # Panics
///
/// If a thread may be reading or writing these bins: there was no barrier since.
pub(crate) unsafe fn reduce_shared<R: ReduceCode, T: bytemuck::Pod>(
    bins: *mut T,
    len: usize,
    index: usize,
    value: T,
    kind: ElementKind,
) {
    with_block(|block| block.model.added(bins.addr(), len * size_of::<T>()));
    let to = bins.wrapping_add(index);
    // SAFETY: one of the `len` values, which are aligned, valid and initialised (0). Of the OS
    // threads of a block's roles one runs at a time.
    let mut there = unsafe { to.read() };
    reductions::combined(bytemuck::bytes_of_mut(&mut there), bytemuck::bytes_of(&value), R::CODE, kind);
    // SAFETY: as above.
    unsafe { to.write(there) };
}

/// Notes that threads read these bins from here on, until the next barrier.
///
/// # Panics
///
/// If a thread may be adding to them: there was no barrier since.
pub(crate) fn bins_read(first: *const u8, bytes: usize) {
    with_block(|block| block.model.read_bins(first.addr(), bytes));
}
