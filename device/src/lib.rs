//! Safe, typed asynchronous copies through shared memory for Rust GPU kernels.
//!
//! A kernel moves tiles from global to shared memory while it computes on the tiles before: stages, scopes and roles are
//! types, each step of a pipeline consumes it and returns its next state, and a step out of order does not compile. The
//! PTX is what one writes by hand for that state; the same source runs on the CPU.
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
//!     let mut results = out.for_block(&block);
//!     let pipe = shared.pipeline(&block);
//!     let _ = pipe.for_each(
//!         tiles.len(),
//!         |stage, i| stage.copy(tiles.get(i)),
//!         |tile, i| {
//!             let out = results.get_mut(i);
//!             block.threads(|t| {
//!                 let next = (t.rank() + 1) % THREADS;
//!                 out.set(&t, tile[t.rank()].wrapping_add(tile[next]));
//!             });
//!         },
//!     );
//! }
//!
//! # fn main() {}
//! ```
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]
#![feature(auto_traits, negative_impls)]

mod block;
mod element;
mod engine;
pub mod entry;
mod fault;
mod isa;
pub mod panic_record;
pub mod pipeline;
mod scope;
mod shared;
mod tile;
mod uniform;
mod view;

#[cfg(not(target_arch = "nvptx64"))]
pub mod cpu;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launch;

pub use block::{Block, PerThread, PerThreadValue, Thread};
pub use element::{Element, F32x4, I32x4, U32x4, Vec4};
pub use engine::{CpAsync, Engine, LoadStore};
pub use pipeline::{Pipeline, Ready};
pub use scope::{BlockScope, Scope};
pub use shared::{First, Layout, Second, Shared, Stages, Whole};
pub use tile::{HaloTile, Tile};
pub use tilepipe_macros::kernel;
pub use uniform::Uniform;
pub use view::{BlockTiles, BlockTilesMut, Halos, TileMut, TileRef, TileView, Tiles, TilesMut};
