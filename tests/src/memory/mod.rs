//! What is checked of shared memory: of tiles that threads write, and of memory in several parts.

pub mod parts;
pub mod scratch;
