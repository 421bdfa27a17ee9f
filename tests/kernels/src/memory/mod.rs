//! Small kernels about shared memory that threads write.

pub mod scratch;
