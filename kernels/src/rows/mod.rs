//! Kernels that read rows and arrays anywhere, without stages.

mod backwards;
mod mean_square;
mod normalised;

pub use backwards::reverse;
pub use mean_square::{RMS_NORM_EPSILON, rms_norm};
pub use normalised::softmax;
