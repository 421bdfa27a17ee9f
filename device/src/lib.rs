//! Safe, typed asynchronous copies through shared memory for Rust GPU kernels.
//!
//! A kernel moves tiles from global to shared memory while it computes on the previous tiles.
//! Stages, scopes and roles are types. Each step of a pipeline consumes it and returns its next
//! state, and a step out of order does not compile. The PTX is what one would write by hand for
//! that state. The same source runs on the CPU.
//!
//! ```
//! #![forbid(unsafe_code)]
//! use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
//!
//! /// Adds to each element its right neighbour in the tile; the last one's neighbour is the first.
//! #[kernel(instances(THREADS = [128, 256]))]
//! pub fn add_neighbour<const THREADS: usize>(
//!     block: Block<THREADS>,
//!     input: Tiles<i32, THREADS>,
//!     mut out: TilesMut<i32, THREADS>,
//!     shared: Shared<Stages<[i32; THREADS], 3>>,
//! ) {
//!     let tiles = input.for_block(&block);
//!     let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, out| {
//!         block.threads(|t| {
//!             let next = (t.rank() + 1) % THREADS;
//!             out.set(&t, tile[t.rank()].wrapping_add(tile[next]));
//!         });
//!     });
//! }
//!
//! # fn main() {}
//! ```
//!
//! # Where to find what
//!
//! - What a kernel takes: [`kernel`], [`Block`]; [`Tiles`], [`Halos`], [`Tiles2D`], [`Halos2D`]
//!   for input, [`Input`] and [`Input2D`] where no tiles are copied; [`TilesMut`], [`TilesMut2D`]
//!   for output; plain values, and [`Constant`] for larger ones; [`Shared`].
//! - Which tiles are a block's, and in which order: [`Cyclic`], [`Consecutive`], [`WholeRows`].
//! - What is in shared memory: [`Stages`], [`Replicated`], [`role::Partitioned`], pairs of these
//!   ([`Shared::split`]).
//! - Adding to the same memory from all threads: [`Reduction`] in global memory, [`Bins`] in shared
//!   memory, by the operations of [`reduce`].
//! - A pipeline, in one call: [`map_tiles`](Pipeline::map_tiles),
//!   [`for_each_tile`](Pipeline::for_each_tile), [`for_each`](Pipeline::for_each),
//!   [`published`](Pipeline::published).
//! - A pipeline, step by step: [`pipeline`], with its states and what each step lowers to.
//! - Shared memory that threads compute: [`Scratch`], [`ScratchTile`].
//! - One copy, or a queue of copies: [`Shared::copy`], [`Shared::queue`].
//! - A pipeline of each warp or thread: [`Shared::warps`], [`Shared::threads`].
//! - Producers and consumers: [`role`], from [`Block::partition`].
//! - What moves a tile, and who waits for whom: [`CpAsync`], [`LoadStore`]; [`scope`].
//! - What a stage holds: `[T; N]`, [`HaloTile`], [`Tile2D`], [`ColumnTile2D`],
//!   [`HaloTile2D`], tuples,
//!   [`Optional`].
//! - Types of elements: [`Element`], [`Vec4`], [`f16`](struct@f16), [`bf16`];
//!   functions of floats in [`math`]; where the largest of many is: [`key`].
//! - Values of each thread, and collectives: [`PerThread`], [`Block::reduce`], [`Block::scan`],
//!   [`Block::exclusive_scan`], [`Warp`], [`PerLane`].
//! - Loops by hand without bounds checks: [`hoist_bounds`].
//! - What may be captured by a closure: [`Uniform`], [`role::RoleShared`].
//! - Launching: the crate `tilepipe-host`.
//!
//! The guide in `docs/guide.md` goes through these in order, and `docs/glossary.md` explains the
//! words.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]
#![feature(auto_traits, negative_impls)]

mod barrier;
mod bins;
mod element;
mod engine;
pub mod entry;
mod fault;
pub mod group;
mod isa;
mod marker;
mod memory;
mod output;
pub mod pipeline;
pub mod role;
pub mod scope;
mod scratch;
mod stage;
mod store;
mod tensor;
mod tile;
mod view;

#[cfg(not(target_arch = "nvptx64"))]
pub mod cpu;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launch;

pub use bins::{Bins, BinsGroup, Counts, OpenBins};
#[doc(hidden)]
pub use bytemuck;
pub use element::{Element, F32x4, I32x4, U32x4, Vec4, VectorLane};
pub use element::{key, math, reduce};
pub use engine::{Anywhere, Bulk, ByHand, CpAsync, Engine, InScope, LoadStore, OrdinaryStores, StepsIn, TensorMap};
pub use fault::panic_record;
pub use group::block::{Block, PerThread, PerThreadValue, Thread};
pub use group::filling::FillingGroup;
pub use group::warp::{Lane, PerLane, Warp};
pub use half::{bf16, f16};
pub use marker::Uniform;
pub use memory::{First, Layout, Part, Position, Scoped, Second, Shared, Whole};
pub use output::arrangement::{Arrangement, Blocked, Micro, Runs, Striped, WarpRows};
pub use output::bounds::{Bounded, hoist_bounds};
pub use output::bulk::BulkTilesMut;
pub use output::destination::Destination;
pub use output::reduction::{AtomicOperation, Reduction};
pub use output::rows::BlockRowsMut;
pub use output::tile::{OutputTile, TileMut};
pub use output::tiles::{BlockTilesMut, TileViewMut, TilesMut, TilesMut2D};
pub use pipeline::queue::CopyQueue;
pub use pipeline::replicated::{Replicated, Results, Retired, ThreadPipeline, WarpPipeline, WarpScratch};
pub use pipeline::single::{Landed, Pending};
pub use pipeline::{Pipeline, Ready};
pub use scope::{BlockScope, Scope, ThreadScope, WarpScope};
pub use scratch::{Filled, Scratch, ScratchTile};
pub use stage::batches::Batches;
pub use stage::contents::{Contents, Fill, OneTile, Optional, Zeros};
pub use stage::stages::Stages;
pub use store::{Dealt, Draft, OutputRing, Outputs, Stored, StoredTile, StoringGroup};
pub use tensor::{
    BlockBoxes, Extents, Extents1, Extents2, Extents3, Extents4, Extents5, Halo2, MatrixExtents, NoSwizzle, Operation,
    OutputExtents, Swizzle, Swizzle32, Swizzle64, Swizzle128, Tensor, TensorBox, TensorColumn, TensorMut, TensorRow,
    TensorTile, TileReduction,
};
pub use tile::tile2d::{ColumnTile2D, HaloTile2D, Tile2D};
pub use tile::{HaloTile, Tile};
pub use tilepipe_macros::{Element, kernel};
pub use view::constant::Constant;
pub use view::geometry::{ColumnOfTiles, Columns, Elements, Geometry, LineOfTiles, RowOfTiles, Rows};
pub use view::order::{AnyBlock, Consecutive, Cyclic, Order, OrderOf, SameOrder, Stepped, WholeRows};
pub use view::rows::BlockRows;
pub use view::share::Places;
pub use view::tile_ref::TileRef;
pub use view::tiles::{BlockTiles, ColumnTiles2D, Halos, Halos2D, Input, Input2D, TileView, Tiles, Tiles2D};
