//! The stages of a pipeline in shared memory.

use core::marker::PhantomData;

use super::contents::Contents;
use crate::engine::{Completion, CompletionOf, CpAsync, Engine};
use crate::memory::Layout;
use crate::scope::{BlockScope, Scope};
use crate::tile::shape::at_least_16;

/// The stages of a pipeline: `COUNT` times what `C` says (a tile or several), filled by engine `E`,
/// synchronised at scope `S`.
///
/// Each stage starts at a multiple of its contents' alignment, at least 16 bytes. With
/// [`Bulk`](crate::Bulk) an mbarrier of 8 bytes for each stage follows the stages. A tile that the
/// engine can't copy does not compile: [`CpAsync`] wants multiples of 4 bytes, and `Bulk` of 16, in
/// size, rows, halo and alignment; `Bulk` also wants [`BlockScope`], or a warp's own pipeline
/// ([`Replicated`](crate::Replicated)), and stages below 1 MiB.
///
/// CUDA: `cuda::pipeline_shared_state<scope, COUNT>` and the buffer beside it, in one.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
///
/// /// Adds two arrays. A stage has a tile of each; how many stages are best is to be measured.
/// #[kernel(instances(STAGES = [1, 2, 4]))]
/// pub fn add<const STAGES: usize>(
///     block: Block<64>,
///     left: Tiles<f32, 64>,
///     right: Tiles<f32, 64>,
///     mut out: TilesMut<f32, 64>,
///     shared: Shared<Stages<([f32; 64], [f32; 64]), STAGES>>,
/// ) {
///     let (left, right) = (left.for_block(&block), right.for_block(&block));
///     let mut results = out.for_block(&block);
///     let _ = shared.pipeline(&block).map_tiles((&left, &right), &mut results, |tiles, result| {
///         let (left, right) = tiles.tiles();
///         block.threads(|t| result.set(&t, left[t.rank()] + right[t.rank()]));
///     });
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 2 });
/// # let (stream, left) = (device.stream()?, device.upload(&[1.0; 1000])?);
/// # let (right, mut out) = (device.upload(&[2.0; 1000])?, device.zeroed(1000)?);
/// # add::launch::<4>(&stream, 3, &left, &right, &mut out)?;
/// # assert_eq!(out.download()?, [3.0; 1000]);
/// # Ok(())
/// # }
/// ```
pub struct Stages<C, const COUNT: usize, E = CpAsync, S = BlockScope>(PhantomData<(C, E, S)>);

impl<C: Contents, const COUNT: usize, E, S> Stages<C, COUNT, E, S> {
    /// The alignment of each stage's start in bytes: that of its contents, at least 16.
    pub(crate) const ALIGNMENT: usize = at_least_16(C::ALIGNMENT);
    /// Bytes from one stage's start to the next one's: the contents' size, rounded up to its
    /// alignment.
    pub(crate) const STRIDE: usize = C::BYTES.next_multiple_of(Self::ALIGNMENT);
}

/// Bytes of the mbarriers of `rings` unified pipelines of so many stages each.
pub(crate) const fn barrier_bytes<E: Engine>(stages: usize, rings: usize) -> usize {
    if <CompletionOf<E> as Completion>::BY_BYTES { 8 * stages * rings } else { 0 }
}

/// Refuses 0 stages, and more stages than a ring counts.
pub(crate) const fn checked_bytes(count: usize, stride: usize) -> usize {
    assert!(count >= 1, "a pipeline has at least one stage");
    assert!(stride <= u32::MAX as usize / count, "the stages of a pipeline fit in 4 GiB");
    count * stride
}

// SAFETY: the contents' alignment is a power of two of at most 1024
// (`sealed::Contents::ALIGNMENT`), and so is the larger one of it and 16; STRIDE is a multiple of
// that, and COUNT stages of STRIDE bytes each, and behind them their mbarriers, are what a pipeline
// touches.
unsafe impl<C: Contents, const COUNT: usize, E: Engine, S: Scope> Layout for Stages<C, COUNT, E, S> {
    const BYTES: usize =
        checked_bytes(COUNT, Self::STRIDE) + barrier_bytes::<E>(COUNT, 1).next_multiple_of(Self::ALIGNMENT);
    const ALIGNMENT: usize = Self::ALIGNMENT;
    // A stage that is stored as it is was read before the store's call returns.
    const STORES: bool = false;
}
