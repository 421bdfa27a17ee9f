//! The gradient of attention: of its queries, and of its keys and values.

use super::Band;

mod keys;
mod keys_alone;
mod queries;
mod rows;
mod values;
mod whole;

pub(super) use keys::attend_backwards_to_keys;
pub use keys::{KeyRings, attention_keys_gradient};
pub(super) use keys_alone::attend_backwards_to_keys_alone;
pub use keys_alone::{AloneRings, attention_keys_gradient_alone};
pub(super) use queries::attend_backwards_to_queries;
pub use queries::attention_queries_gradient;
pub use rows::attention_row_products;
pub(super) use values::attend_backwards_to_values;
pub use values::{ValueRings, attention_values_gradient};
#[cfg(not(target_arch = "nvptx64"))]
pub(super) use whole::{JOIN_TILE, QUERIES_OF_SUMS};
pub use whole::{WholeRings, attention_gradient, attention_gradient_join};

/// How scores are made of products, and which keys a query sees.
#[derive(Clone, Copy, Debug, PartialEq, tilepipe::Element)]
#[repr(C)]
pub struct Scores {
    /// What products are multiplied by.
    pub scale: f32,
    /// The same with a factor of log2(e).
    pub scale_of_powers: f32,
    /// The keys that a query sees.
    pub band: Band,
}
