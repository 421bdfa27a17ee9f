//! Unified pipelines: every thread of the scope both produces and consumes.
//!
//! A [`Pipeline`]'s type counts its stages: [`Free`], [`InFlight`] (committed), [`Held`] (waited
//! for, being read) and [`Dirty`] (released, but other threads may still be reading). Each step
//! takes the pipeline and returns it in its next state, so that a step out of order is a type
//! error, and a loop compiles only if its body returns the state it began with. Which barriers are
//! needed follows from the state: nobody writes them, none is missing and none is redundant.
//!
//! ```text
//!  acquire      Free -> Acquired                    nothing; if only Dirty stages are left: one
//!                                                   barrier, Dirty -> Free
//!  copy         Acquired -> Filled                  cp.async
//!  commit       Filled -> InFlight                  cp.async.commit_group
//!  wait         InFlight -> Held, all Dirty -> Free cp.async.wait_group, one barrier
//!  release      Held -> Dirty                       nothing
//!  weaken       Free -> Dirty                       nothing
//! ```
//!
//! That is block scope. At warp scope the barrier is the warp's. At thread scope `wait` has no
//! barrier and frees no stage, and `release` gives a free stage back; `publish` is the block's
//! barrier, and a `release` after it gives a dirty stage back.
//!
//! By hand, with two stages; the type of the pipeline is the same at the loop's start and at its
//! end:
//!
//! ```
//! use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
//!
//! #[kernel]
//! pub fn double(
//!     block: Block<128>,
//!     input: Tiles<i32, 128>,
//!     mut out: TilesMut<i32, 128>,
//!     shared: Shared<Stages<[i32; 128], 2>>,
//! ) {
//!     let tiles = input.for_block(&block);
//!     let mut results = out.for_block(&block);
//!     if tiles.len() == 0 {
//!         return;
//!     }
//!     // InFlight 1, Dirty 1
//!     let mut pipe = shared.pipeline(&block).acquire().copy(tiles.get(0)).commit().weaken();
//!     for i in 0..tiles.len() {
//!         // Free 1, Held 1: the barrier in `wait` has freed the dirty stage
//!         let (p, tile) = pipe.wait();
//!         // InFlight 1, Held 1
//!         let p = p.acquire().copy(tiles.get((i + 1).min(tiles.len() - 1))).commit();
//!         let result = results.get_mut(i);
//!         block.threads(|t| result.set(&t, tile[t.rank()].wrapping_mul(2)));
//!         pipe = p.release(tile); // InFlight 1, Dirty 1
//!     }
//! }
//!
//! # fn main() -> Result<(), tilepipe_host::Error> {
//! # use tilepipe_host::{Device, Schedule};
//! # let device = Device::cpu(Schedule::Random { seed: 1 });
//! # let (input, mut out) = (device.upload(&[21; 1000])?, device.zeroed(1000)?);
//! # double::launch(&device.stream()?, 3, &input, &mut out)?;
//! # assert_eq!(out.download()?, [42; 1000]);
//! # Ok(())
//! # }
//! ```
//!
//! A loop's body must return the pipeline in the state in which it took it. If it does not, rustc
//! says "mismatched types", "expected `2`, found `1`", and notes both types: `Free<2>` before the
//! round and `Free<1>` after it say that a round acquires a stage that it does not give back. If
//! the types have `Dirty<0>` and `Dirty<1>`, the stage was given back by `release`, and counts as
//! dirty until the next barrier: start the loop in that state, by [`weaken`](Pipeline::weaken),
//! which counts a free stage as dirty.

#![expect(clippy::type_complexity, reason = "the state is the type")]

mod count;
mod for_each;
pub(crate) mod queue;
mod ready;
pub(crate) mod replicated;
mod scoped;
mod setup;
pub(crate) mod single;
mod steps;
mod tiles;
mod view;

pub use crate::stage::contents::AlwaysFilled;
pub use crate::stage::nth::HasTile;
pub use crate::stage::{Stage, StageFilled};
#[cfg_attr(doc, doc(hidden))]
pub use count::{AcquireFrom, Decrement, Increment, Launder, Releases, Waits};
pub use count::{Dirty, Free, Held, InFlight};
#[cfg_attr(doc, doc(hidden))]
pub use count::{NothingHeld, SomeFree, SomeInFlight, StageAcquired, StageIsFilled, StageLeft, TileHeld};
pub use for_each::Drained;
#[cfg_attr(doc, doc(hidden))]
pub use ready::PositionAt;
pub use ready::{ReadsWhole, Ready};
pub use scoped::ScopedPipeline;
pub use setup::{Setup, Unified};

pub use steps::{Acquired, Filled, Idle, Pipeline};
#[cfg_attr(doc, doc(hidden))]
pub use steps::{ComputedBy, GivesBack};
pub use view::{AtScope, Published, View};
