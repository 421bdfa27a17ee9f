//! Tiles of each warp's own that its lanes compute and read.

use super::{Replicated, Retired};
use crate::group::block::{Block, PerThread, PerThreadValue};
use crate::group::warp::Warp;
use crate::group::warps;
use crate::marker::Uniform;
use crate::memory::{Layout, Shared};
use crate::scratch::{Scratch, ScratchTile};
use crate::tile::Tile;

// SAFETY: a scratch tile a warp, one after the other, is what the handles touch. Each size is a
// multiple of the alignment, as one tile's is.
unsafe impl<S: Tile, const THREADS: usize> Layout for Replicated<Scratch<S>, THREADS> {
    const BYTES: usize = warps::<THREADS>() * Scratch::<S>::BYTES;
    const ALIGNMENT: usize = Scratch::<S>::ALIGNMENT;
    const STORES: bool = false;
}

impl<'s, S: Tile, const THREADS: usize, P> Shared<'s, Replicated<Scratch<S>, THREADS>, P> {
    /// Runs `body` once in every warp with a tile of the warp's own, which its lanes fill and read,
    /// and keeps the result for each of the warp's threads. Warps run at their own pace, without a
    /// barrier of the block.
    ///
    /// `fill` and `update` of such a tile have barriers of the warp (PTX `bar.warp.sync`).
    ///
    /// # Threads
    ///
    /// The block. `body` is warp-level code: its control flow is the same in all threads of a warp.
    ///
    /// CUDA: an array of shared memory a warp, and `__syncwarp()`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Input, Replicated, Scratch, Shared, TilesMut, kernel};
    ///
    /// /// Each 32 elements from back to front: a warp's 32 go through its own shared memory.
    /// #[kernel]
    /// pub fn reversed_by_warps(
    ///     block: Block<64>,
    ///     input: Input<u32>,
    ///     mut out: TilesMut<u32, 64>,
    ///     shared: Shared<Replicated<Scratch<[u32; 32]>, 64>>,
    /// ) {
    ///     let mut results = out.for_block(&block);
    ///     let (first, dst) = (64 * results.number(0), results.get_mut(0));
    ///     let _ = shared.warps(&block, |warp, mut scratch| {
    ///         let first = first + 32 * warp.rank();
    ///         let tile = scratch.fill(&warp, |_, i| input.get(first + i).unwrap_or(0));
    ///         warp.lanes(|lane| dst.set(lane.thread(), tile[31 - lane.rank()]));
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let input = device.upload(&Vec::from_iter(0..128))?;
    /// # let mut out = device.zeroed(128)?;
    /// # reversed_by_warps::launch(&device.stream()?, 2, &input, &mut out)?;
    /// # let expected = Vec::from_iter((0..4).flat_map(|warp| (32 * warp..32 * warp + 32).rev()));
    /// # assert_eq!(out.download()?, expected);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn warps<'b, T, F>(
        self,
        block: &Block<'b, THREADS>,
        body: F,
    ) -> (PerThread<'b, T, THREADS>, Retired<'s, Replicated<Scratch<S>, THREADS>, P>)
    where
        T: PerThreadValue,
        F: for<'w> Fn(Warp<'w, 'b, THREADS>, WarpScratch<'w, 'b, S, P, THREADS>) -> T + Uniform,
    {
        let offset = self.offset();
        let results = block.map_warps_of(|warp| {
            let offset = offset + warp.rank() * Scratch::<S>::BYTES;
            // SAFETY: the warps' tiles lie one after the other in this memory, which belongs to
            // them (`Shared`, 0), and ranks are below their number (`Warp`, 0). A tile's size is a
            // multiple of its alignment. Each warp makes one.
            let memory = unsafe { Shared::<Scratch<S>, P>::new(offset) };
            let tile = memory.scratch(&warp);
            body(warp, tile)
        });
        // SAFETY: the warps' tiles are gone, and no copy into them was ever made.
        (results, unsafe { Retired::new(offset) })
    }
}

/// The tile of one warp, made by [`Shared::warps`].
pub type WarpScratch<'w, 'b, S, P, const THREADS: usize> = ScratchTile<'w, S, P, Warp<'w, 'b, THREADS>>;
