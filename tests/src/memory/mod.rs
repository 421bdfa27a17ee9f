//! What is checked of shared memory that threads write.

pub mod scratch;
