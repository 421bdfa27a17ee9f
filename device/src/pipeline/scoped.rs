//! A unified pipeline inside a function that waits for its copies.

use super::setup::Unified;
use super::steps::{Idle, Pipeline};
use crate::barrier::Landings;
use crate::engine::{Completion, CompletionOf, Engine};
use crate::group::block::Block;
use crate::group::{InBlock, Synchronise};
use crate::isa;
use crate::memory::{Scoped, Shared};
use crate::scope::BlockScope;
use crate::stage::contents::{self, Contents};
use crate::stage::ring::Fills;
use crate::stage::stages::Stages;

/// The pipeline that [`Shared::with_pipeline`] gives its closure.
pub type ScopedPipeline<'p, 'b, C, const COUNT: usize, E, const THREADS: usize, P> =
    Idle<'p, Unified<Stages<C, COUNT, E, BlockScope>, InBlock<'b, THREADS>, Scoped<P>>, COUNT>;

impl<'s, C: Contents, const COUNT: usize, E: Engine, P> Shared<'s, Stages<C, COUNT, E, BlockScope>, P> {
    /// Runs `body` with a pipeline of these stages, waits for all its copies and for all threads,
    /// and gives the memory back, whatever `body` did with the pipeline: for the steps by hand of
    /// [`Bulk`](crate::Bulk), and of any engine.
    ///
    /// PTX after `body`: with [`Bulk`](crate::Bulk) `mbarrier.try_wait` for each stage, `bar.sync`,
    /// `mbarrier.inval`, `bar.sync`; with [`CpAsync`](crate::CpAsync) `cp.async.wait_all`,
    /// `bar.sync`.
    ///
    /// Before it, with [`Bulk`](crate::Bulk): `mbarrier.init` and `fence.mbarrier_init` in one
    /// thread, `fence.proxy.async.shared::cta`, `bar.sync`; with other engines nothing. A tile that
    /// the engine can't copy does not compile. Neither does a pipeline, a tile of it or a `finish`
    /// that would outlive `body`: the memory comes back beside the result.
    ///
    /// CUDA: `cuda::make_pipeline(block, &shared_state)` with its destructor, or an array of
    /// `cuda::barrier` in shared memory.
    ///
    /// # Threads
    ///
    /// The block. `body` is block-level code.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Bulk, Shared, Stages, Tiles, TilesMut, kernel};
    ///
    /// /// Twice each element, in tiles of 4 KiB that one thread asks the copy engine for.
    /// #[kernel]
    /// pub fn double(
    ///     block: Block<128>,
    ///     input: Tiles<i32, 1024>,
    ///     mut out: TilesMut<i32, 1024>,
    ///     shared: Shared<Stages<[i32; 1024], 2, Bulk>>,
    /// ) {
    ///     let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    ///     if tiles.len() == 0 {
    ///         return;
    ///     }
    ///     let ((), _) = shared.with_pipeline(&block, |pipe| {
    ///         let mut pipe = pipe.acquire().copy(tiles.get(0)).commit().weaken();
    ///         for i in 0..tiles.len() {
    ///             let next = tiles.get((i + 1).min(tiles.len() - 1));
    ///             let (p, tile) = pipe.acquire().copy(next).commit().wait();
    ///             let dst = results.get_mut(i);
    ///             block.threads(|t| dst.set_each(&t, |e| 2 * tile[e]));
    ///             pipe = p.release(tile);
    ///         }
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # use tilepipe_host::{Device, Schedule};
    /// # let device = Device::cpu(Schedule::Random { seed: 1 });
    /// # let (input, mut out) = (device.upload(&[21; 5000])?, device.zeroed(5000)?);
    /// # double::launch(&device.stream()?, 3, &input, &mut out)?;
    /// # assert_eq!(out.download()?, [42; 5000]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn with_pipeline<'b, R, const THREADS: usize>(
        self,
        block: &Block<'b, THREADS>,
        body: impl for<'p> FnOnce(ScopedPipeline<'p, 'b, C, COUNT, E, THREADS, P>) -> R,
    ) -> (R, Self)
    where
        InBlock<'b, THREADS>: Synchronise<BlockScope>,
    {
        let _ = block;
        const { contents::check::<C, E, InBlock<'b, THREADS>, BlockScope>(COUNT) };
        let barriers = self.offset() + COUNT * Stages::<C, COUNT, E, BlockScope>::STRIDE;
        let mut fills = Fills::NONE;
        // SAFETY: the mbarriers' memory is behind that of the stages (`Layout`), and all of it is
        // this function's (`Shared`, 0). A `Shared` is block-level, so this code is converged (R2).
        let landings = unsafe { Landings::<E, InBlock<'b, THREADS>, BlockScope>::enter(barriers, COUNT) };
        // SAFETY: the stages' memory is this function's, nothing is in flight there and nobody
        // reads it (`Shared`, 0). The brand `'p` keeps the pipeline in `body`, so `fills` outlives
        // it.
        let pipe = unsafe { Pipeline::new(self.base(), barriers, &raw mut fills) };
        let result = body(pipe);
        landings.drain(fills);
        CompletionOf::<E>::drain();
        // SAFETY: the pipeline is gone, since it can't leave `body`, and its copies have landed.
        unsafe { landings.leave() };
        // SAFETY: block-level code is converged.
        unsafe { isa::barrier() };
        // After that barrier no thread reads the stages, and the mbarriers have ended.
        (result, self)
    }
}
