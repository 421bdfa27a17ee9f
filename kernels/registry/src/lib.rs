//! The list of the kernels of `tilepipe-kernels`, and what each computes.
//!
//! It is apart from them so that a program knows their names without compiling them. All that goes
//! through the kernels reads it: their own `registry()`, the runner with its references and its
//! command line, the tests on the CPU and on the GPU, and the benchmark.
#![no_std]
#![forbid(unsafe_code)]

/// Hands all rows to a macro: `with_kernels!(each)` is `each! { .. }`.
///
/// A row is a kernel function's name, and in braces
///
/// - `computes`: a `Kind` of `tilepipe_runner::work`, which has the reference. A kernel with a
///   parameter `C` computes what that says instead, if it says something else.
/// - `instances`: how many `#[kernel]` makes of it.
/// - `measured`: whether `tilepipe-bench` measures it beside others.
///
/// The order is that of `cargo xtask run`.
#[macro_export]
macro_rules! with_kernels {
    ($each:ident) => {
        $each! {
            without_memcpy_async { computes: NeighbourSum, instances: 6 * 4, measured: true }
            with_single_stage { computes: NeighbourSum, instances: 6 * 4, measured: true }
            with_staging { computes: NeighbourSum, instances: 6 * 4, measured: true }
            with_staging_unified {
                computes: NeighbourSum,
                instances: 6 * 4 * 8 + 12 * 2 * 2 + 7 * 2 * 3 + 1 + 2 * 2,
                measured: true
            }
            moving_average { computes: MovingAverage, instances: 6 * 4 * 8, measured: true }
            with_memcpy_async { computes: NeighbourSum, instances: 6 * 3, measured: true }
            with_memcpy_async_prior { computes: NeighbourSum, instances: 6 * 3, measured: true }
            with_staging_scope_thread { computes: NeighbourSum, instances: 6 * 2 * 5, measured: true }
            scale_own { computes: Triple, instances: 3 * 3 * 2 * 4 + 2 * 3 * 2 + 2, measured: true }
            example_kernel { computes: TwoInputs, instances: 6 * 3, measured: true }
            sum { computes: Sum, instances: 3 * 2 * 3 + 2 + 1, measured: true }
            dot { computes: Dot, instances: 3 * 2 * 2 + 1, measured: true }
            sum_by_warps { computes: SumByWarps, instances: 2 * 2 * 2 + 2, measured: false }
            sum_by_threads { computes: SumByThreads, instances: 2 * 2 * 2 * 2, measured: false }
            argmax { computes: Argmax, instances: 2, measured: false }
            largest_key { computes: LargestKey, instances: 1, measured: false }
            histogram { computes: Histogram, instances: 3, measured: false }
            histogram_u32 { computes: HistogramOfKeys, instances: 3, measured: false }
            part_sums { computes: PartSums, instances: 2 * 2, measured: false }
            exclusive_scan { computes: ExclusiveScan, instances: 2 * 2, measured: false }
            softmax { computes: Softmax, instances: 4 + 3, measured: false }
            rms_norm { computes: RmsNorm, instances: 2 + 3, measured: false }
            reverse { computes: Backwards, instances: 2 * 2 * 3, measured: false }
            gather { computes: Gather, instances: 2 * 2 * 3, measured: false }
            convolution { computes: Convolution, instances: 2 * 3 + 2 * 2 * 3, measured: false }
            sgemm { computes: MatrixProduct, instances: 2, measured: false }
            transpose { computes: Transpose, instances: 3 * 2 * 3 + 2 + 2, measured: false }
            stencil_2d { computes: Stencil, instances: 3 * 2 * 3 + 2 * 2, measured: false }
            with_specialized_staging_unified {
                computes: NeighbourSum,
                instances: 2 * 5 + 5 * 2 + 2 * 3 + 1 + 2,
                measured: true
            }
            with_specialized_staging_warps {
                computes: NeighbourSum,
                instances: 2 * 5 + 3 * 2 + 5 * 2 + 2 * 3 + 2,
                measured: true
            }
            with_producer_count { computes: NeighbourSum, instances: 2 + 2 * 2 * 2 * 2 + 2, measured: false }
            producer_consumer_sum { computes: SumByConsumers, instances: 2 * 2 + 1 + 1 + 2 * 2, measured: false }
            load_compute_store { computes: NeighbourSum, instances: 2 * 2 * 2 + 3 * 2, measured: false }
            with_memcpy_async_wide { computes: NeighbourSum, instances: 2, measured: true }
            with_memcpy_async_prior_wide { computes: NeighbourSum, instances: 2, measured: true }
            with_staging_wide { computes: NeighbourSum, instances: 2, measured: true }
            with_staging_unified_wide {
                computes: NeighbourSum,
                instances: 2 * 3 + 1 + 2 + 2 + 2 + 3 + 2 * 3 * 3 + 2 * 3,
                measured: true
            }
            with_staging_scope_thread_wide { computes: NeighbourSum, instances: 2 * 3, measured: true }
            scale_own_wide { computes: Triple, instances: 2 * 2 * 3 + 2 + 1, measured: true }
            example_kernel_wide { computes: TwoInputs, instances: 2 * 2, measured: true }
            with_specialized_staging_unified_wide { computes: NeighbourSum, instances: 3, measured: true }
            with_specialized_staging_warps_wide { computes: NeighbourSum, instances: 3 + 2, measured: true }
            moving_average_wide { computes: MovingAverage, instances: 2 * 2 * 3, measured: true }
            moving_average_reads { computes: MovingAverage, instances: 2, measured: true }
            transpose_wide { computes: Transpose, instances: 2 * 2 + 2 + 2, measured: true }
            transpose_reads { computes: Transpose, instances: 2, measured: true }
            stencil_2d_wide { computes: Stencil, instances: 2 * 2 * 2 + 2 * 2 * 2 + 2, measured: true }
            stencil_2d_reads { computes: Stencil, instances: 2, measured: true }
            copy_rows_reads { computes: CopyRows, instances: 2, measured: true }
            copy_reads { computes: Copy, instances: 1, measured: true }
            copy_bulk { computes: Copy, instances: 2 * 2, measured: true }
            copy_stored_bulk { computes: Copy, instances: 2 * 2, measured: true }
            scale_own_bulk { computes: Triple, instances: 2, measured: true }
            sum_bulk { computes: Sum, instances: 2 * 2, measured: true }
            dot_bulk { computes: Dot, instances: 2 * 2, measured: true }
            example_kernel_bulk { computes: TwoInputs, instances: 2, measured: true }
            moving_average_bulk { computes: MovingAverage, instances: 2 * 2, measured: true }
            moving_average_wide_bulk { computes: MovingAverage, instances: 1 + 1, measured: true }
            argmax_bulk { computes: Argmax, instances: 1, measured: true }
            part_sums_bulk { computes: PartSums, instances: 1, measured: true }
            exclusive_scan_bulk { computes: ExclusiveScan, instances: 1, measured: true }
            histogram_bulk { computes: Histogram, instances: 1, measured: true }
            histogram_u32_bulk { computes: HistogramOfKeys, instances: 2, measured: true }
            convolution_bulk { computes: Convolution, instances: 2, measured: true }
            transpose_bulk { computes: Transpose, instances: 2, measured: true }
            stencil_2d_bulk { computes: Stencil, instances: 2, measured: true }
            with_specialized_staging_unified_bulk { computes: NeighbourSum, instances: 2, measured: true }
            with_specialized_staging_warps_bulk { computes: NeighbourSum, instances: 2, measured: true }
            copy_tma { computes: CopyRows, instances: 2 * 2 * 2 + 1, measured: true }
            transpose_tma { computes: Transpose, instances: 2 * 3 * 2 + 1 + 2 * 2, measured: true }
            batched_transpose { computes: BatchedTranspose, instances: 2 * 2 * 2 + 1, measured: true }
            stencil_2d_tma { computes: Stencil, instances: 2 * 2 * 2 + 1, measured: true }
            stencil_3x3_tma { computes: Stencil3x3, instances: 2 * 2, measured: true }
            column_sums { computes: ColumnSums, instances: 2 * 2, measured: true }
            blur { computes: Blur, instances: 2, measured: true }
            blur_reads { computes: Blur, instances: 1, measured: true }
            multiply_adds { computes: MultiplyAdds, instances: 8, measured: true }
            multiply_adds_wide { computes: MultiplyAdds, instances: 2 * 2 * 8 + 2 * 2 * 3 + 2 * 2, measured: true }
            multiply_adds_synchronous { computes: MultiplyAdds, instances: 8, measured: true }
        }
    };
}

macro_rules! names {
    ($($kernel:ident $row:tt)*) => {
        /// How many kernels there are.
        pub const COUNT: usize = [$(stringify!($kernel)),*].len();

        /// Their names.
        pub const NAMES: [&str; COUNT] = [$(stringify!($kernel)),*];
    };
}
with_kernels!(names);
