//! Checks of the small kernels about views.

pub mod orders;
pub mod reads;
