//! A program that uses cudarc: cuBLAS multiplies two matrices, and a tilepipe kernel goes over the
//! product, in the same stream and on the same memory.

use std::error::Error;

use cudarc::cublas::sys::cublasOperation_t::CUBLAS_OP_N;
use cudarc::cublas::{CudaBlas, Gemm, GemmConfig};
use cudarc::driver::CudaContext;
use cudarc_example_kernels::leaky;
use tilepipe_host::{Device, Grid, Module, built_kernels};

/// What `build.rs` built.
static KERNELS: Module = built_kernels!();

/// Rows and columns of each matrix.
const SIZE: usize = 512;

fn main() -> Result<(), Box<dyn Error>> {
    // cudarc panics where there is no driver.
    if let Err(error) = Device::gpu(0) {
        println!("this program needs an NVIDIA GPU: {error}");
        return Ok(());
    }
    let context = CudaContext::new(0)?;
    let theirs = context.new_stream()?;
    let blas = CudaBlas::new(theirs.clone())?;
    let device = Device::from_cudarc(&context)?;
    device.load(&KERNELS)?;
    let stream = device.stream_from_cudarc(&theirs)?;

    // Small whole numbers, so that the sums are exact.
    let left: Vec<f32> = (0..SIZE * SIZE).map(|i| (i % 7) as f32 - 3.0).collect();
    let right: Vec<f32> = (0..SIZE * SIZE).map(|i| (i % 5) as f32 - 2.0).collect();
    let (a, b) = (theirs.clone_htod(&left)?, theirs.clone_htod(&right)?);
    let mut product = theirs.alloc_zeros::<f32>(SIZE * SIZE)?;
    let mut out = theirs.alloc_zeros::<f32>(SIZE * SIZE)?;

    // cuBLAS counts by columns: its product of `b` and `a` is ours of `a` and `b`.
    let n = i32::try_from(SIZE)?;
    let (transa, transb) = (CUBLAS_OP_N, CUBLAS_OP_N);
    let shape = GemmConfig { transa, transb, m: n, n, k: n, alpha: 1.0, lda: n, ldb: n, beta: 0.0, ldc: n };
    // SAFETY: all three are matrices of n rows and columns, one row after the other.
    unsafe { blas.gemm(shape, &b, &a, &mut product) }?;
    leaky::launch::<256>(&stream, Grid::resident(), &product, &mut out)?;
    drop((a, b, product));
    let results = theirs.clone_dtoh(&out)?;

    for row in [0, 1, SIZE / 2, SIZE - 1] {
        for column in 0..SIZE {
            let sum: f32 = (0..SIZE).map(|k| left[row * SIZE + k] * right[k * SIZE + column]).sum();
            let expected = if sum < 0.0 { sum * 0.01 } else { sum };
            assert_eq!(results[row * SIZE + column], expected, "row {row}, column {column}");
        }
    }
    println!("{} results are right on {}", results.len(), device.name());
    Ok(())
}
