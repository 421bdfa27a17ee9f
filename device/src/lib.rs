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
//! The guide is in the repository. Its first page, `docs/guide.md`, starts from an empty crate;
//! each group below names its own. `docs/guide/cuda_pipeline.md`, `docs/guide/cuda_roles.md` and
//! `docs/guide/cooperative_groups.md` have the tilepipe form of each member of the CUDA interfaces,
//! `docs/guide/errors.md` explains compile errors, and `docs/glossary.md` explains the words.
//!
//! ## Blocks and threads
//!
//! A kernel is a function with [`kernel`]. Its code runs the same way in all threads of a block; a
//! thread's rank exists inside of closures only. (`docs/guide.md`)
//!
//! - The groups: [`Block`], [`Warp`].
//! - One thread, inside of a closure: [`Thread`], [`Lane`].
//! - What each thread keeps from one closure to the next: [`PerThread`], [`PerLane`].
//! - What a closure may capture: [`Uniform`].
//!
//! ## Views
//!
//! A view is a kernel's parameter over global memory that is read. (`docs/guide/data.md`)
//!
//! - Tiles, with or without neighbours: [`Tiles`], [`Halos`]; of an array with rows [`Tiles2D`],
//!   [`ColumnTiles2D`], [`Halos2D`].
//! - Elements from anywhere, without tiles: [`Input`], [`Input2D`].
//! - The tiles of one block: [`BlockTiles`], [`BlockRows`], [`TileRef`], [`Places`]; their order
//!   is [`Cyclic`], [`Consecutive`] or [`WholeRows`], or for warps and threads [`ByWarps`] and
//!   [`ByThreads`].
//! - What such a tile is in shared memory: `[T; LEN]`, [`HaloTile`], [`Tile2D`],
//!   [`ColumnTile2D`], [`HaloTile2D`].
//! - Values that are no views: any [`Element`] is a parameter, and a larger one is a
//!   [`Constant`].
//!
//! ## Outputs
//!
//! An output is written, and no two threads share an element. (`docs/guide/data.md`)
//!
//! - By threads: [`TilesMut`], [`TilesMut2D`]; the tiles of one block are [`BlockTilesMut`] or
//!   [`BlockRowsMut`], and one of them is a [`TileMut`]. Those of one warp or thread come from
//!   [`MembersTilesMut`].
//! - Which elements of a tile a thread owns: [`Striped`], [`Blocked`], [`Runs`], [`WarpRows`],
//!   [`Micro`].
//! - By the copy engine: [`BulkTilesMut`], and the [`Outputs`] in shared memory from which it
//!   stores ([`OutputRing`], [`Draft`]).
//!
//! ## Stages and pipelines
//!
//! A pipeline fills its next stages while the threads read this one. (`docs/guide/pipeline.md`)
//!
//! - The memory: [`Stages`], with one tile each, a tuple of tiles, or an [`Optional`] one;
//!   [`Zeros`] fills a tile without reading.
//! - In one call: [`map_tiles`](Pipeline::map_tiles),
//!   [`for_each_tile`](Pipeline::for_each_tile), [`for_each`](Pipeline::for_each).
//! - Step by step: [`Pipeline`], [`Ready`], and the module [`pipeline`] with its states and what
//!   each step lowers to; [`hoist_bounds`] for loops without bounds checks.
//! - Of each warp or thread: [`Replicated`], by [`Shared::warps`] and [`Shared::threads`].
//! - One copy, or a queue of copies: [`Shared::copy`], [`Shared::queue`].
//!
//! ## Engines and scopes
//!
//! The engine moves tiles, and the scope says whose copies a wait covers.
//! (`docs/guide/pipeline.md`)
//!
//! - Engines: [`CpAsync`], [`LoadStore`], [`Bulk`], [`TensorMap`]; a generic kernel takes any
//!   [`Engine`].
//! - Scopes: [`BlockScope`], [`WarpScope`], [`ThreadScope`], in the module [`scope`]. A tile that
//!   was copied at thread scope is read by the block after [`published`](Pipeline::published).
//!
//! ## Roles
//!
//! Some threads of a block copy while others compute. (`docs/guide/roles.md`,
//! `docs/guide/role_data.md`)
//!
//! - [`Block::partition`] divides the block; the module [`role`] has role maps, the ends of
//!   pipelines and what roles share.
//!
//! ## Shared memory
//!
//! A kernel's last parameter says what it keeps there, and the launch reserves it.
//! (`docs/guide/data.md`)
//!
//! - The memory: [`Shared`], whose parts [`Shared::split`] hands out.
//! - Tiles that threads compute and all read: [`Scratch`], [`ScratchTile`], [`Filled`].
//!
//! ## Collectives
//!
//! All threads of a group compute one result, in a fixed order. (`docs/guide/data.md`)
//!
//! - Of a block: [`Block::reduce`], [`Block::scan`], [`Block::exclusive_scan`], [`Block::any`],
//!   [`Block::all`], [`Block::broadcast`].
//! - Of a warp: [`Warp::reduce`] and the same; [`Warp::shift_up`], [`Warp::shift_down`],
//!   [`Warp::swap`].
//! - Where the largest or smallest of many values is: [`key`].
//!
//! ## Atomics
//!
//! All threads add to the same memory, and nobody reads it meanwhile. (`docs/guide/atomics.md`)
//!
//! - In global memory: [`Reduction`]; in shared memory: [`Bins`], [`OpenBins`], [`Counts`].
//! - By which operation: [`reduce`].
//!
//! ## Tensors
//!
//! The copy engine finds boxes of an array of one to five dimensions by a map.
//! (`docs/guide/tensor.md`)
//!
//! - Inputs: [`Tensor`], [`TensorBox`], [`BlockBoxes`]; in shared memory a [`TensorTile`], which
//!   is read in part as [`TensorRow`] and [`TensorColumn`].
//! - Outputs, through [`Outputs`]: [`TensorMut`], [`TileReduction`].
//! - A box's extents: [`Extents1`] to [`Extents5`], [`Halo2`]; its swizzle: [`NoSwizzle`],
//!   [`Swizzle32`], [`Swizzle64`], [`Swizzle128`].
//!
//! ## Elements and math
//!
//! Tiles consist of plain data, and floats have functions with the same bits on GPU and CPU.
//! (`docs/guide/data.md`)
//!
//! - [`Element`], which structs derive; [`Vec4`] ([`F32x4`], [`I32x4`], [`U32x4`]),
//!   [`f16`](struct@f16), [`bf16`].
//! - [`math`].
//!
//! ## Launches
//!
//! A kernel has a `launch` function of its own, which takes a stream, a grid and buffers of the
//! crate `tilepipe-host`.
//!
//! - What a program knows of an instance that it chooses at run time: [`launch`].
//!
//! ## Types that name states
//!
//! Signatures and error messages name these; kernels mostly get by without.
//!
//! - States of a pipeline: the module [`pipeline`]; threads that take its steps: [`group`]. A
//!   pipeline of a copy alone: [`Pending`], [`Landed`], [`CopyQueue`].
//! - Places in shared memory: [`Whole`], [`First`], [`Second`], [`Part`], [`Scoped`]; what may be
//!   there: [`Layout`].
//! - What a group's pipelines leave: [`Results`], [`Retired`]; what they are: [`WarpPipeline`],
//!   [`ThreadPipeline`], [`WarpScratch`].
//! - Views behind their short names: [`TileView`], [`TileViewMut`]; how their elements lie:
//!   [`Elements`], [`Rows`], [`Columns`]; lines of tiles: [`LineOfTiles`] ([`RowOfTiles`],
//!   [`ColumnOfTiles`]).
//! - Bounds of generic kernels: [`Tile`], [`OutputTile`], [`Contents`], [`OneTile`], [`Fill`],
//!   [`Batches`], [`Geometry`], [`Arrangement`], [`Order`], [`Scope`], [`ByHand`], [`Destination`],
//!   [`Stored`], [`AtomicOperation`], [`Operation`], [`Extents`], [`MatrixExtents`],
//!   [`OutputExtents`], [`Swizzle`], [`VectorLane`], [`PerThreadValue`], [`Position`],
//!   [`FillingGroup`], [`BinsGroup`], [`StoringGroup`].
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]
#![feature(auto_traits, negative_impls)]

// What is not for users is hidden by `cfg_attr(doc, ..)`, from rustdoc alone: rustc's messages have
// longer paths for what is hidden from it too.

mod barrier;
mod bins;
mod element;
mod engine;
#[cfg_attr(doc, doc(hidden))]
pub mod entry;
mod fault;
pub mod group;
mod isa;
mod marker;
mod memory;
mod output;
pub mod pipeline;
pub mod product;
pub mod role;
pub mod scope;
mod scratch;
mod stage;
mod store;
mod tensor;
mod tile;
mod view;

#[cfg(not(target_arch = "nvptx64"))]
#[cfg_attr(doc, doc(hidden))]
pub mod cpu;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launch;

pub use bins::{Bins, BinsGroup, Counts, OpenBins};
#[doc(hidden)]
pub use bytemuck;
pub use element::{Element, F32x4, I32x4, U32x4, Vec4, VectorLane};
pub use element::{key, math, reduce};
#[cfg_attr(doc, doc(hidden))]
pub use engine::{Anywhere, InScope, OrdinaryStores, StepsIn};
pub use engine::{Bulk, ByHand, CpAsync, Engine, LoadStore, TensorMap};
#[cfg_attr(doc, doc(hidden))]
pub use fault::panic_record;
pub use group::block::{Block, PerThread, PerThreadValue, Thread};
pub use group::filling::FillingGroup;
pub use group::warp::{Lane, PerLane, Warp};
pub use half::{bf16, f16};
pub use marker::Uniform;
pub use memory::{First, Layout, Part, Position, Scoped, Second, Shared, Whole};
pub use output::arrangement::{Arrangement, Blocked, Micro, Runs, Striped, WarpRows};
#[cfg_attr(doc, doc(hidden))]
pub use output::bounds::Bounded;
pub use output::bounds::hoist_bounds;
pub use output::bulk::BulkTilesMut;
pub use output::destination::Destination;
#[cfg_attr(doc, doc(hidden))]
pub use output::member::DealtToBlocks;
pub use output::member::MembersTilesMut;
pub use output::product::RunningProduct;
pub use output::reduction::{AddingThread, AtomicOperation, Reduction};
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
#[cfg_attr(doc, doc(hidden))]
pub use store::{Dealt, StoredTile};
pub use store::{Draft, OutputRing, Outputs, Stored, StoringGroup, SumPlace, held_place};
pub use tensor::{
    BlockBoxes, Extents, Extents1, Extents2, Extents3, Extents4, Extents5, Halo2, MatrixExtents, NoSwizzle, Operation,
    OutputExtents, Panels, Panels2, Panels4, Swizzle, Swizzle32, Swizzle64, Swizzle128, Tensor, TensorBox,
    TensorColumn, TensorMut, TensorRow, TensorTile, TileIndex, TilePlace, TilePlaces, TilePlacesIter, TileReduction,
};
pub use tile::tile2d::{ColumnTile2D, HaloTile2D, Tile2D};
pub use tile::{HaloTile, Tile};
pub use tilepipe_macros::{Element, kernel};
pub use view::constant::Constant;
pub use view::geometry::{ColumnOfTiles, Columns, Elements, Geometry, LineOfTiles, RowOfTiles, Rows};
#[cfg_attr(doc, doc(hidden))]
pub use view::order::{AnyBlock, OrderOf, SameOrder, Stepped};
pub use view::order::{ByThreads, ByWarps, Consecutive, Cyclic, FromEnd, Grouped, LastFirst, Order, WholeRows};
pub use view::rows::BlockRows;
pub use view::share::Places;
pub use view::tile_ref::TileRef;
pub use view::tiles::{BlockTiles, ColumnTiles2D, Halos, Halos2D, Input, Input2D, TileView, Tiles, Tiles2D};
