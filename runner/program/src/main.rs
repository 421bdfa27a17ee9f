//! `tilepipe-run`: [`tilepipe_runner::program`] with the kernels of `tilepipe-kernels`, and for the
//! stress run with those of `tilepipe-test-kernels`.

mod stress;

use std::process::ExitCode;

use tilepipe::product::OperandElement;
use tilepipe_host::{Buffer2D, Stream};
use tilepipe_kernels::attention;
use tilepipe_kernels::{Matrix, MultiplyError};
use tilepipe_runner::program::{self, Attention, Gemm, Heads, Kernels};

fn main() -> ExitCode {
    program::main(&Kernels {
        registry: &tilepipe_kernels::registry(),
        gemm: Gemm {
            bf16: multiply,
            f16: multiply,
            no_product: |[left, right, product]| MultiplyError::Extents { left, right, product }.into(),
        },
        attention: Attention { bf16: attend, f16: attend, check: |extents, heads| Ok(of_heads(heads).check(extents)?) },
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

/// Writes attention of queries, keys and values.
fn attend<T: OperandElement>(
    stream: &Stream,
    [queries, keys, values]: [&Buffer2D<T>; 3],
    out: &mut Buffer2D<T>,
    heads: Heads,
) -> anyhow::Result<()> {
    Ok(attention::forward(stream, queries, keys, values, out, &of_heads(heads))?)
}

fn of_heads(heads: Heads) -> attention::Attention {
    let attention = attention::Attention::new(heads.head).sequences(heads.sequences);
    if heads.is_causal { attention.causal() } else { attention }
}
