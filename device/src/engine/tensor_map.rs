//! Copies of a tensor's boxes by the copy engine.

use super::bulk::zeros;
use super::completion::Bytes;
use super::sealed;
use crate::element::Element;
use crate::group::Deal;
use crate::isa::{self, Mbarrier};
use crate::scope::Scope;
use crate::tensor::{Extents, Swizzle, TensorBox, TensorTile};
use crate::tile::Tile;
use crate::view::tile_ref::TileRef;

/// Copies of a [`Tensor`](crate::Tensor)'s boxes by the copy engine (the Tensor Memory
/// Accelerator): one thread issues one `cp.async.bulk.tensor` for a box, and the engine finds its
/// rows by the tensor's map, swizzles them, and fills what lies beyond the tensor with zeros.
///
/// Its stages hold [`TensorTile`]s. In all else it is as [`Bulk`](crate::Bulk): the copies complete
/// by their bytes at an mbarrier of each stage, need sm_90, and are for block scope, roles and
/// warps' own pipelines; by hand a unified pipeline exists inside
/// [`Shared::with_pipeline`](crate::Shared::with_pipeline).
///
/// PTX: in the group's first thread `cp.async.bulk.tensor.2d` for each tile of a stage, and one
/// `mbarrier.arrive.expect_tx` for its bytes (between roles by hand `mbarrier.expect_tx`, and
/// `mbarrier.arrive` in `commit`); in each thread that reads it `mbarrier.try_wait`, and
/// `fence.proxy.async.shared::cta` before the barrier or arrival after which the stage is filled
/// again.
///
/// CUDA: `cuda::ptx::cp_async_bulk_tensor` with a `cuda::barrier`. `cuda::pipeline` never uses the
/// copy engine.
pub enum TensorMap {}

impl sealed::Engine for TensorMap {
    type Completion = Bytes;
    const MOST_ISSUERS: usize = 1;
    const LEAST_UNIT: usize = 16;
    const WIDE_UNITS: bool = true;
    const COPIES_BOXES: bool = true;
}

impl sealed::Linear for TensorMap {
    unsafe fn copy<T: Tile, G: Deal<S>, S: Scope>(_: *mut u8, _: Mbarrier, _: TileRef<'_, T>) {
        const { panic!("the engine `TensorMap` copies boxes of a `Tensor`, into stages of `TensorTile`") }
    }

    unsafe fn zero<T: Tile, G: Deal<S>, S: Scope>(_: *mut u8, _: Mbarrier) {
        const { panic!("the engine `TensorMap` copies boxes of a `Tensor`, into stages of `TensorTile`") }
    }
}

impl sealed::Boxes for TensorMap {
    #[inline(always)]
    unsafe fn copy_box<T: Element, X: Extents, W: Swizzle, G: Deal<S>, S: Scope>(
        destination: *mut u8,
        landing: Mbarrier,
        source: TensorBox<'_, T, X, W>,
    ) {
        let shape = const { TensorTile::<T, X, W>::SHAPE };
        // SAFETY: the caller's promises; the map is one for such boxes, in the kernel's parameters,
        // and the column begins 16 bytes (`TensorBox`, 0).
        let issue = || unsafe { isa::tensor_copy(destination, source.map(), source.from(), shape, landing) };
        // SAFETY: the caller's promise; `issue` starts a copy, and nothing else.
        unsafe { G::first(issue) };
    }

    #[inline(always)]
    unsafe fn zero_box<G: Deal<S>, S: Scope>(destination: *mut u8, landing: Mbarrier, bytes: usize) {
        // SAFETY: the caller's promises; a box is a multiple of 16 bytes.
        let issue = || unsafe { zeros(destination, landing, bytes) };
        // SAFETY: the caller's promise; `issue` starts copies, and nothing else.
        unsafe { G::first(issue) };
    }
}
