//! The GPU: a thin seam over the driver that holds nearly all of this crate's `unsafe`.
//!
//! [`driver`] has the calls, [`context`] an opened GPU and its failures, [`memory`] allocations and
//! the order of what uses them, [`queue`] streams, [`event`] events, [`point`] the ends of work,
//! with an event where something waits for it, [`tracked`] memory that somebody else's events
//! order, [`module`] loading and launches, with [`image`], the code to load, [`loaded`], what is
//! there, and [`contract`], which compares it with the program's kernels. Of the rest of the crate
//! they name errors and accesses alone.

pub(crate) mod context;
mod contract;
pub(crate) mod driver;
pub(crate) mod event;
pub(crate) mod image;
mod loaded;
pub(crate) mod memory;
pub(crate) mod module;
mod point;
pub(crate) mod queue;
#[cfg(any(feature = "cudarc", test))]
pub(crate) mod tracked;
