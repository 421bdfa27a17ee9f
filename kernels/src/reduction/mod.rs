//! Kernels with a result for each block: sums, the largest element, and scans, whose second launch
//! begins with them.

mod largest;
mod scan;
mod sums;

pub(crate) use largest::write_largest;
pub use largest::{argmax, largest_key};
pub(crate) use scan::PIECE;
pub use scan::{exclusive_scan, part_sums};
pub(crate) use sums::{TwoTiles, write_reduced, write_result};
pub use sums::{dot, sum, sum_by_threads, sum_by_warps};
