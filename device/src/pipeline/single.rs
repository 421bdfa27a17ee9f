//! Single copies: a tile that is copied and waited for without a pipeline.

use super::count::{Dirty, Free, Held, InFlight};
use super::ready::{ReadsWhole, Ready};
use super::setup::{Setup, Unified};
use super::steps::Pipeline;
use super::view::AtScope;
use crate::engine::{Anywhere, ByHand, Engine};
use crate::group::InBlock;
use crate::group::block::Block;
use crate::marker::Uniform;
use crate::memory::{Position, Shared};
use crate::scope::BlockScope;
use crate::stage::contents::{Contents, Fill};
use crate::stage::stages::Stages;

/// The parts of a single copy into the position `P`.
pub type Single<'b, C, E, P, const THREADS: usize> = Unified<Stages<C, 1, E, BlockScope>, InBlock<'b, THREADS>, P>;

/// A tile that is being copied: only [`wait`](Self::wait) makes it readable.
///
/// [`Shared::copy`] makes it. CUDA: the destination after `cooperative_groups::memcpy_async`, which
/// no type distinguishes from a tile that has landed.
#[must_use = "a tile that is being copied can't be read: call `wait`"]
pub struct Pending<'s, U: Setup> {
    pipeline: Pipeline<'s, U, Free<0>, InFlight<1>, Held<0>, Dirty<0>>,
}

/// A tile that was copied and may be read by all threads of the block; it derefs to the tile.
#[must_use = "give the tile's memory back with `release`"]
pub struct Landed<'s, U: Setup> {
    pipeline: Pipeline<'s, U, Free<0>, InFlight<0>, Held<1>, Dirty<0>>,
    tile: Ready<'s, U>,
}

// SAFETY: (0) the tile is plain data that nobody writes; (1) nothing of the pipeline can be reached
// through a shared reference: `release` takes the value.
unsafe impl<U: Setup> Uniform for Landed<'_, U> {}

impl<'s, C: Contents, E: Engine, P: Position<Place = Anywhere>> Shared<'s, Stages<C, 1, E, BlockScope>, P> {
    /// Starts to copy a tile into this memory, a tuple of several tiles, or an `Option` of a tile.
    ///
    /// PTX: `cp.async`, `cp.async.commit_group`.
    ///
    /// # Threads
    ///
    /// The block.
    ///
    /// CUDA: `cooperative_groups::memcpy_async(block, shared, global, size)`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
    ///
    /// #[kernel]
    /// pub fn reverse(
    ///     block: Block<32>,
    ///     input: Tiles<u8, 32>,
    ///     mut out: TilesMut<u8, 32>,
    ///     shared: Shared<Stages<[u8; 32], 1>>,
    /// ) {
    ///     let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    ///     let mut memory = shared;
    ///     for i in 0..tiles.len() {
    ///         let tile = memory.copy(&block, tiles.get(i)).wait();
    ///         let dst = results.get_mut(i);
    ///         block.threads(|t| dst.set(&t, tile[31 - t.rank()]));
    ///         memory = tile.release(&block);
    ///     }
    ///     let _ = memory;
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let input = device.upload(&(0..64).collect::<Vec<u8>>())?;
    /// # let mut out = device.zeroed(64)?;
    /// # reverse::launch(&device.stream()?, 1, &input, &mut out)?;
    /// # assert_eq!(out.download()?[31..33], [0, 63]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn copy<'b, const THREADS: usize>(
        self,
        block: &Block<'b, THREADS>,
        source: impl Fill<C>,
    ) -> Pending<'s, Single<'b, C, E, P, THREADS>>
    where
        E: ByHand,
    {
        Pending { pipeline: self.pipeline(block).acquire().copy(source).commit() }
    }
}

impl<'s, 'b, C: Contents, E: Engine, P: Position<Place = Anywhere>, const THREADS: usize>
    Pending<'s, Single<'b, C, E, P, THREADS>>
{
    /// Waits for the copy, and for all older ones of the kernel.
    ///
    /// PTX: `cp.async.wait_group 0`, `bar.sync`.
    ///
    /// CUDA: `cooperative_groups::wait(block)`.
    #[inline(always)]
    pub fn wait(self) -> Landed<'s, Single<'b, C, E, P, THREADS>> {
        let (pipeline, tile) = self.pipeline.wait();
        Landed { pipeline, tile }
    }
}

impl<'s, 'b, C: Contents, E: Engine, P: Position<Place = Anywhere>, const THREADS: usize>
    Landed<'s, Single<'b, C, E, P, THREADS>>
{
    /// Returns the tile, for reading.
    #[inline(always)]
    pub fn tile(&self) -> &Ready<'s, Single<'b, C, E, P, THREADS>> {
        &self.tile
    }

    /// Waits for all threads to have read the tile, and gives its memory back, to be copied into
    /// again.
    ///
    /// PTX: `bar.sync`.
    ///
    /// CUDA: the `block.sync()` at the end of the loop.
    #[inline(always)]
    pub fn release(self, block: &Block<'_, THREADS>) -> Shared<'s, Stages<C, 1, E, BlockScope>, P> {
        let _ = block;
        self.pipeline.release(self.tile).give_back()
    }
}

impl<U: Setup> core::ops::Deref for Landed<'_, U>
where
    AtScope: ReadsWhole<U>,
    U::Contents: crate::tile::Tile,
{
    type Target = U::Contents;

    #[inline(always)]
    fn deref(&self) -> &U::Contents {
        &self.tile
    }
}
