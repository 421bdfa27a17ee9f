//! Small kernels about shared memory: tiles that threads write, and memory in several parts.

pub mod parts;
pub mod scratch;
