//! The operators: what is checked of their arrays together, and their launches.

pub mod layer;
pub mod norm;
