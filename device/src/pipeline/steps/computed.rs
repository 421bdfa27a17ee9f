//! Stages whose tile threads compute.

use super::{Acquired, Filled};
use crate::engine::{Engine, OrdinaryStores};
use crate::group::block::Block;
use crate::group::filling::FillingGroup;
use crate::group::warp::Warp;
use crate::group::{InBlock, InWarp};
use crate::marker::Uniform;
use crate::pipeline::replicated::Replicated;
use crate::pipeline::{Setup, Unified};
use crate::scope::{BlockScope, WarpScope};
use crate::stage::contents::Contents;
use crate::stage::stages::Stages;
use crate::stage::{Stage, StageFilled};
use crate::tile::Tile;

/// Says that all threads of the group `G` fill the stages of this pipeline, and wait for one
/// another before one of them reads a tile. Sealed: implemented for pipelines of the block at
/// [`BlockScope`], and for a warp's own.
#[diagnostic::on_unimplemented(
    message = "the tiles of this pipeline can't be computed by this group",
    label = "the pipeline is not run by this group, or its scope is narrower",
    note = "what the threads compute is read after all of them have met: the block computes tiles of `Stages<[T; LEN], COUNT, LoadStore>` \
            (at `BlockScope`), a warp those of its own pipeline, from `shared.warps(..)`"
)]
pub trait ComputedBy<G>: Setup {}

impl<'b, C: Contents, const COUNT: usize, E: Engine, P, V, const THREADS: usize> ComputedBy<Block<'b, THREADS>>
    for Unified<Stages<C, COUNT, E, BlockScope>, InBlock<'b, THREADS>, P, V>
where
    Self: Setup,
{
}

impl<'b, C: Contents, const COUNT: usize, E: Engine, P, V, const THREADS: usize> ComputedBy<Warp<'_, 'b, THREADS>>
    for Unified<Replicated<Stages<C, COUNT, E, WarpScope>, THREADS>, InWarp<THREADS>, P, V>
where
    Self: Setup,
{
}

impl<'s, U: Setup, F, I, H, D> Acquired<'s, U, F, I, H, D> {
    /// Writes the tile from values that the group's threads compute: `value(thread, e)` for each
    /// element `e`, counted row by row. Thread `r` of the group writes the elements `r`,
    /// `r + THREADS`, `r + 2 * THREADS`, and so forth.
    ///
    /// For stages of one tile and the engine [`LoadStore`](crate::LoadStore). `value` is a
    /// per-thread closure: it may read views, the group's per-thread values, and tiles that are
    /// held. What it writes is readable as a whole after `wait`. With two stages or more a round of
    /// `acquire`, `fill`, `commit`, `wait` and `release` has one barrier, where a
    /// [`Scratch`](crate::Scratch) tile has two. PTX: `st.shared`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Input, LoadStore, Shared, Stages, TilesMut, kernel};
    ///
    /// /// Each tile of 64 elements from back to front.
    /// #[kernel]
    /// pub fn reversed_tiles(
    ///     block: Block<64>,
    ///     input: Input<u32>,
    ///     mut out: TilesMut<u32, 64>,
    ///     shared: Shared<Stages<[u32; 64], 2, LoadStore>>,
    /// ) {
    ///     let mut results = out.for_block(&block);
    ///     let mut pipe = shared.pipeline(&block).weaken();
    ///     for i in 0..results.len() {
    ///         let first = 64 * results.number(i);
    ///         let (p, tile) = pipe
    ///             .acquire()
    ///             .fill(&block, |_, e| input.get(first + e).unwrap_or(0))
    ///             .commit()
    ///             .wait();
    ///         let dst = results.get_mut(i);
    ///         block.threads(|t| dst.set(&t, tile[63 - t.rank()]));
    ///         pipe = p.release(tile);
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let input = device.upload(&Vec::from_iter(0..256))?;
    /// # let mut out = device.zeroed(256)?;
    /// # reversed_tiles::launch(&device.stream()?, 2, &input, &mut out)?;
    /// # let expected = Vec::from_iter((0..4).flat_map(|tile| (64 * tile..64 * tile + 64).rev()));
    /// # assert_eq!(out.download()?, expected);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn fill<G, S, X>(self, group: &G, value: X) -> Filled<'s, U, F, I, H, D>
    where
        U: ComputedBy<G, Contents = S, Engine: OrdinaryStores>,
        G: FillingGroup,
        S: Tile,
        X: Fn(G::Thread<'_>, usize) -> S::Element + Uniform,
    {
        // There is nothing to remember of the stage: one that holds a tile is never empty.
        let _ = self.stage.fill(group, value);
        Filled { pipeline: self.pipeline }
    }
}

impl<'x, U: Setup> Stage<'x, U> {
    /// Writes the tile from values that the group's threads compute, as
    /// [`fill`](crate::pipeline::Acquired::fill) of a stage by hand does.
    #[inline(always)]
    pub fn fill<G, S, X>(self, group: &G, value: X) -> StageFilled<'x, U>
    where
        U: ComputedBy<G, Contents = S, Engine: OrdinaryStores>,
        G: FillingGroup,
        S: Tile,
        X: Fn(G::Thread<'_>, usize) -> S::Element + Uniform,
    {
        // SAFETY: all threads of the pipeline's group run this code, which is at the group's level
        // (1 of `Stage`), and `G` is its token: the block's brand is the pipeline's, and code of a
        // warp has no other warp's token. The engine's commit makes ordinary stores visible, and at
        // this scope the group meets before one of its threads reads the tile (`ComputedBy`).
        unsafe { self.compute(group, value) }
    }
}
