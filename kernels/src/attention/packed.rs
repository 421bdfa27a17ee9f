//! Attention of sequences of any lengths, packed one after the other.

#![allow(clippy::too_many_arguments, reason = "as many as there are matrices")]

use tilepipe::product::{Columns, OperandElement, RowValuesMut, SumElement, Width};
use tilepipe::{Block, Input, LastFirst, Panels, Shared, Stepped, Swizzle128, Tensor, TensorMut, bf16, f16, kernel};

use super::seen::SeenOfPacked;
use super::{Band, PLAIN, Place, Rings, attend};

/// As [`attention`](super::attention()) where `ARRAY` is 4, for sequences that lie one after the
/// other in the rows of one matrix: `places` says of each query which keys are those of its
/// sequence. [`forward_packed`](super::forward_packed) launches it.
///
/// A tile has queries of any sequences. The keys that it goes over are those from the first that
/// its first query sees to the last that its last one sees.
#[kernel(
    instances(
        T = [bf16, f16], O = [LastFirst], HEAD = [128, 64],
        (ROWS, KEYS, QUERIES, STAGES) = [(128, 128, 2, 2)],
        (THREADS, CONSUMERS, LESS, MORE) = [(384, 256, 24, 240)]
    ),
    instances(
        T = [bf16, f16], O = [LastFirst], HEAD = [256],
        (ROWS, KEYS, QUERIES, STAGES) = [(128, 64, 1, 2)],
        (THREADS, CONSUMERS, LESS, MORE) = [(384, 256, 24, 240)]
    )
)]
pub fn attention_packed<
    T: OperandElement + SumElement,
    O: Stepped,
    const HEAD: usize,
    const ROWS: usize,
    const KEYS: usize,
    const QUERIES: usize,
    const STAGES: usize,
    const THREADS: usize,
    const CONSUMERS: usize,
    const LESS: usize,
    const MORE: usize,
>(
    block: Block<THREADS>,
    queries: Tensor<T, Panels<ROWS, HEAD, 64, 4>, Swizzle128>,
    keys: Tensor<T, Panels<KEYS, HEAD, 64, 4>, Swizzle128>,
    values: Tensor<T, Panels<KEYS, HEAD, 64, 4>, Swizzle128>,
    places: Input<Place>,
    scale: f32,
    band: Band,
    out: TensorMut<T, Panels<ROWS, HEAD, 64, 4>, Swizzle128, O>,
    logarithms: RowValuesMut<ROWS, O>,
    shared: Shared<Rings<T, HEAD, 4, ROWS, KEYS, QUERIES, STAGES, 0>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<KEYS>: Width,
{
    let seen = |tile| SeenOfPacked::<ROWS>::new(tile, &places, band);
    attend::<_, _, O, _, false, HEAD, 4, ROWS, KEYS, QUERIES, STAGES, THREADS, CONSUMERS, LESS, MORE, 0, false>(
        block,
        queries,
        (keys, values),
        (scale, &PLAIN),
        seen,
        (out, logarithms),
        shared,
    );
}
