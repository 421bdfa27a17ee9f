//! Kernels with a result for each block: sums, the largest element, and scans, whose second launch
//! begins with them.

pub(crate) mod largest;
pub(crate) mod scan;
mod sums;

pub use largest::{argmax, largest_key};
pub use scan::{exclusive_scan, part_sums};
pub(crate) use sums::{TwoTiles, write_reduced, write_result};
pub use sums::{dot, sum, sum_by_threads, sum_by_warps};
