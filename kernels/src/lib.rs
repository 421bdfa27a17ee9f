//! The kernels of the CUDA programming guide and larger ones, written with tilepipe and without
//! `unsafe`.
//!
//! `T` is the element type, `THREADS` the block size, `STAGES` the number of stages, `C` what is
//! computed on a tile, `E` the copy engine, `S` the scope.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![forbid(unsafe_code)]

mod arithmetic;
pub mod attention;
mod bulk;
pub mod compute;
mod counts;
mod cuda_guide;
mod grid2d;
#[cfg(not(target_arch = "nvptx64"))]
mod instance;
mod lookup;
mod matrix;
mod picture;
mod reduction;
mod roles;
mod rows;
mod signal;
mod tensor;
pub mod tensor_cores;
mod wide;

pub use arithmetic::{MULTIPLY_ADDS_TILE, multiply_adds, multiply_adds_synchronous, multiply_adds_wide};
pub use bulk::{
    argmax_bulk, convolution_bulk, copy_bulk, copy_stored_bulk, dot_bulk, example_kernel_bulk, exclusive_scan_bulk,
    histogram_bulk, histogram_u32_bulk, moving_average_bulk, moving_average_wide_bulk, part_sums_bulk, scale_own_bulk,
    stencil_2d_bulk, sum_bulk, transpose_bulk, with_specialized_staging_unified_bulk,
    with_specialized_staging_warps_bulk,
};
pub use counts::{KEY_BINS, histogram, histogram_u32};
pub use cuda_guide::{
    example_kernel, scale_own, with_memcpy_async, with_memcpy_async_prior, with_single_stage, with_staging,
    with_staging_scope_thread, with_staging_unified, without_memcpy_async,
};
pub use grid2d::{
    copy_rows_reads, stencil_2d, stencil_2d_reads, stencil_2d_wide, transpose, transpose_reads, transpose_wide,
};
pub use lookup::gather;
pub use matrix::sgemm;
pub use picture::{blur, blur_reads};
pub use reduction::{argmax, dot, exclusive_scan, largest_key, part_sums, sum, sum_by_threads, sum_by_warps};
pub use roles::{
    load_compute_store, producer_consumer_sum, with_producer_count, with_specialized_staging_unified,
    with_specialized_staging_warps,
};
pub use rows::{RMS_NORM_EPSILON, reverse, rms_norm, softmax};
pub use signal::{RADIUS, convolution, moving_average, moving_average_reads, moving_average_wide};
pub use tensor::{batched_transpose, column_sums, copy_tma, stencil_2d_tma, stencil_3x3_tma, transpose_tma};
#[cfg(not(target_arch = "nvptx64"))]
pub use tensor_cores::{
    Epilogue, Matrix, MatrixView, MatrixViewMut, MultiplyError, multiply, multiply_fused, multiply_in_parts,
    parts_of_product,
};
pub use tensor_cores::{gemm, gemm_fused, gemm_fused_with_matrix, gemm_join, gemm_parts};
pub use wide::{
    copy_reads, example_kernel_wide, scale_own_wide, with_memcpy_async_prior_wide, with_memcpy_async_wide,
    with_specialized_staging_unified_wide, with_specialized_staging_warps_wide, with_staging_scope_thread_wide,
    with_staging_unified_wide, with_staging_wide,
};

/// Makes the list of instances from the registry's rows.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! instances {
    ($($kernel:ident $row:tt)*) => {
        /// All instances of all kernels, kernel by kernel.
        pub fn registry() -> [&'static [tilepipe::launch::Instance]; tilepipe_kernel_registry::COUNT] {
            [$(&$kernel::INSTANCES),*]
        }
    };
}
#[cfg(not(target_arch = "nvptx64"))]
tilepipe_kernel_registry::with_kernels!(instances);

/// The programs of the README, the guide and its pages, as tests.
#[cfg(all(doctest, not(target_arch = "nvptx64")))]
mod documentation {
    #[doc = include_str!("../../README.md")]
    pub struct Readme;
    #[doc = include_str!("../../docs/guide.md")]
    pub struct Guide;
    #[doc = include_str!("../../docs/guide/pipeline.md")]
    pub struct Pipeline;
    #[doc = include_str!("../../docs/guide/atomics.md")]
    pub struct Atomics;
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
    #[doc = include_str!("../../docs/guide/tensor.md")]
    pub struct Tensor;
    #[doc = include_str!("../../docs/guide/products.md")]
    pub struct Products;
    #[doc = include_str!("../../docs/guide/attention.md")]
    pub struct Attention;
    #[doc = include_str!("../../docs/thread-scope-race.md")]
    pub struct ThreadScopeRace;
}
