//! The GPU: a thin seam over the driver that holds nearly all of this crate's `unsafe`.
//!
//! [`driver`] has the calls, [`context`] an opened GPU and its failures, [`memory`] allocations and
//! the order of what uses them, [`queue`] streams and events, [`module`] loaded code and launches.

pub(crate) mod context;
pub(crate) mod driver;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod queue;
