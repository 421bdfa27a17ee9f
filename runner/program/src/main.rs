//! `tilepipe-run`: [`tilepipe_runner::program`] with the kernels of `tilepipe-kernels`, and for the
//! stress run with those of `tilepipe-test-kernels`.

mod stress;

use std::process::ExitCode;

use tilepipe::product::OperandElement;
use tilepipe_host::{Buffer2D, Stream};
use tilepipe_kernels::{Matrix, MultiplyError};
use tilepipe_runner::program::{self, Gemm, Kernels};

fn main() -> ExitCode {
    program::main(&Kernels {
        registry: &tilepipe_kernels::registry(),
        gemm: Gemm {
            bf16: multiply,
            f16: multiply,
            no_product: |[left, right, product]| MultiplyError::Extents { left, right, product }.into(),
        },
        stress: |machine, launches| Ok(stress::run(machine, launches)?.to_string()),
    })
}

/// Writes the product of two matrices as they are.
fn multiply<T: OperandElement>(
    stream: &Stream,
    [left, right]: [&Buffer2D<T>; 2],
    product: &mut Buffer2D<T>,
) -> anyhow::Result<()> {
    Ok(tilepipe_kernels::multiply(stream, Matrix::of(left), Matrix::of(right), product)?)
}
