//! Signals of any length, of which each element is computed from those around it: tiles with
//! neighbours.

mod average;
mod filtered;

pub(crate) use average::mean_around;
pub use average::{RADIUS, moving_average, moving_average_reads, moving_average_wide};
pub use filtered::convolution;
pub(crate) use filtered::convolve;
