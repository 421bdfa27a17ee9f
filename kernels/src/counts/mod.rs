//! Histograms: how many elements of the input fall into each bin.
//!
//! Each block counts in shared memory, and adds its bins to the result once. What an array holds
//! before counts too; counters wrap.

mod bytes;
pub(crate) mod keys;

pub(crate) use bytes::VALUES;
pub use bytes::histogram;
pub use keys::{KEY_BINS, histogram_u32};
