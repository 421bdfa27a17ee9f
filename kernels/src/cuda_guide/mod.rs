//! The kernels of the CUDA programming guide whose threads all copy and all compute, and that of
//! the documentation of `cuda::pipeline`.

mod example;
mod memcpy_async;
mod scope_thread;
mod single_stage;
mod staging;
mod staging_unified;
mod synchronous;

pub use example::example_kernel;
pub use memcpy_async::{with_memcpy_async, with_memcpy_async_prior};
pub use scope_thread::{scale_own, with_staging_scope_thread};
pub use single_stage::with_single_stage;
pub use staging::with_staging;
pub use staging_unified::with_staging_unified;
pub use synchronous::without_memcpy_async;
