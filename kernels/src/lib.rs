//! The kernels of the CUDA programming guide and larger ones, written with tilepipe and without
//! `unsafe`.
//!
//! `T` is the element type, `THREADS` the block size, `STAGES` the number of stages, `C` what is
//! computed on a tile, `E` the copy engine, `S` the scope.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![forbid(unsafe_code)]

mod arithmetic;
mod average;
pub mod compute;
mod example;
mod grid2d;
mod memcpy_async;
mod reduction;
mod roles;
mod scope_thread;
mod single_stage;
mod staging;
mod staging_unified;
mod synchronous;

pub use arithmetic::{MULTIPLY_ADDS_TILE, multiply_adds, multiply_adds_synchronous};
pub use average::{RADIUS, moving_average};
pub use example::example_kernel;
pub use grid2d::{stencil_2d, transpose};
pub use memcpy_async::{with_memcpy_async, with_memcpy_async_prior};
pub use reduction::{dot, sum, sum_by_threads, sum_by_warps};
pub use roles::{
    load_compute_store, producer_consumer_sum, with_producer_count, with_specialized_staging_unified,
    with_specialized_staging_warps,
};
pub use scope_thread::{scale_own, with_staging_scope_thread};
pub use single_stage::with_single_stage;
pub use staging::with_staging;
pub use staging_unified::with_staging_unified;
pub use synchronous::without_memcpy_async;

/// All instances of all kernels, kernel by kernel.
#[cfg(not(target_arch = "nvptx64"))]
pub fn registry() -> [&'static [tilepipe::launch::Instance]; 23] {
    [
        &without_memcpy_async::INSTANCES,
        &with_single_stage::INSTANCES,
        &with_staging::INSTANCES,
        &with_staging_unified::INSTANCES,
        &moving_average::INSTANCES,
        &with_memcpy_async::INSTANCES,
        &with_memcpy_async_prior::INSTANCES,
        &with_staging_scope_thread::INSTANCES,
        &scale_own::INSTANCES,
        &example_kernel::INSTANCES,
        &sum::INSTANCES,
        &dot::INSTANCES,
        &sum_by_warps::INSTANCES,
        &sum_by_threads::INSTANCES,
        &transpose::INSTANCES,
        &stencil_2d::INSTANCES,
        &with_specialized_staging_unified::INSTANCES,
        &with_specialized_staging_warps::INSTANCES,
        &with_producer_count::INSTANCES,
        &producer_consumer_sum::INSTANCES,
        &load_compute_store::INSTANCES,
        &multiply_adds::INSTANCES,
        &multiply_adds_synchronous::INSTANCES,
    ]
}

/// The programs of the README, the guide and its pages, as tests.
#[cfg(all(doctest, not(target_arch = "nvptx64")))]
mod documentation {
    #[doc = include_str!("../../README.md")]
    pub struct Readme;
    #[doc = include_str!("../../docs/guide.md")]
    pub struct Guide;
    #[doc = include_str!("../../docs/guide/pipeline.md")]
    pub struct Pipeline;
    #[doc = include_str!("../../docs/guide/data.md")]
    pub struct Data;
    #[doc = include_str!("../../docs/guide/cuda_pipeline.md")]
    pub struct CudaPipeline;
    #[doc = include_str!("../../docs/guide/roles.md")]
    pub struct Roles;
    #[doc = include_str!("../../docs/guide/role_data.md")]
    pub struct RoleData;
    #[doc = include_str!("../../docs/guide/cuda_roles.md")]
    pub struct CudaRoles;
    #[doc = include_str!("../../docs/guide/cooperative_groups.md")]
    pub struct CooperativeGroups;
    #[doc = include_str!("../../docs/guide/errors.md")]
    pub struct Errors;
    #[doc = include_str!("../../docs/thread-scope-race.md")]
    pub struct ThreadScopeRace;
}
