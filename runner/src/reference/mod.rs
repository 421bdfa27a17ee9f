//! What each kernel must compute, as plain loops over whole arrays, and the comparison with what it
//! did compute.

pub mod attention;
mod compare;
mod histograms;
mod keys;
mod maps;
mod matrices;
mod rows;
mod scans;
mod sums;

pub use compare::{Difference, Written, compare};
pub use histograms::{histogram, histogram_of_keys};
pub use keys::{argmax, largest_key};
pub use maps::{
    MOVING_AVERAGE_RADIUS, backwards, convolved, copied, filter, gathered, moving_average, multiply_adds,
    neighbour_sum, reversed, tripled, two_inputs,
};
pub use matrices::{ALPHA, batched_transposed, blurred, column_sums, product, stencil, stencil_3x3, transposed};
pub use rows::{rms_norm, softmax};
pub use scans::{exclusive_scan, part_sums};
pub use sums::{dot, sum, sum_by_consumers, sum_by_threads, sum_by_warps};
