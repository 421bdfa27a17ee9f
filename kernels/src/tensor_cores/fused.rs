//! A matrix product with what a layer of a network does to it.

#![allow(clippy::too_many_arguments, reason = "as many as a layer of a network has")]

use tilepipe::product::{Operand, OperandElement, SumElement};
use tilepipe::role::{Partitioned, Role0, Role1, Role2, WarpRoles3};
use tilepipe::{
    Block, Extents2, Grouped, NoSwizzle, Outputs, Panels2, Shared, Stages, Swizzle, Swizzle64, Swizzle128, Tensor,
    TensorMap, TensorMut, TensorTile, bf16, f16, kernel, math,
};

use super::{Across, Along, Layout, SHORT, Tile, copy_factors, steps};

/// What is computed of each element at last.
pub trait Activation: 'static {
    /// The value for `x`, or `least` for what is less.
    fn of(x: f32, least: f32) -> f32;
}

/// The element as it is; with a `least` of 0 its positive part (ReLU).
pub enum Linear {}
/// `x / (1 + exp(-x))` (SiLU), in `f32` less than 16 ulp from the exact value, or for `x` below -85
/// less than `|x| * 1e-36`; there is no `least`.
pub enum Silu {}

/// The least number whose negative's exponential [`Silu`] takes.
const LEAST: f32 = -85.0;

impl Activation for Linear {
    #[inline(always)]
    fn of(x: f32, least: f32) -> f32 {
        // What is no number stays none.
        if x < least { least } else { x }
    }
}

impl Activation for Silu {
    #[inline(always)]
    fn of(x: f32, _: f32) -> f32 {
        // The denominator is 1 at least, and its reciprocal the square of this. It is finite: of
        // infinity there is no such root.
        let root = math::rsqrt_fast(1.0 + math::exp_fast(if x < LEAST { -LEAST } else { -x }));
        x * root * root
    }
}

/// The parts of both vectors for a tile: an element for each column, and one for each row.
type Vectors<T, const COLUMNS: usize> =
    (TensorTile<T, Extents2<1, COLUMNS>, NoSwizzle>, TensorTile<T, Extents2<1, 128>, NoSwizzle>);

/// Stages of a tile of each factor, and of parts of the vectors; and output stages.
type Fused<T, A, B, W, const COLUMNS: usize, const PANEL: usize, const STAGES: usize> = (
    Partitioned<Stages<(Tile<T, A, 128>, Tile<T, B, COLUMNS>), STAGES, TensorMap>>,
    Partitioned<Stages<Vectors<T, COLUMNS>, 1, TensorMap>>,
    Outputs<TensorTile<T, Panels2<128, COLUMNS, PANEL>, W>, 2>,
);

/// What is added to a panel of the product: a panel of the matrix, and the parts of the vectors.
type Added<T, W, const PANEL: usize> = (
    TensorTile<T, Extents2<128, PANEL>, W>,
    TensorTile<T, Extents2<1, PANEL>, NoSwizzle>,
    TensorTile<T, Extents2<1, 128>, NoSwizzle>,
);

/// As [`Fused`], with stages of what is added to a panel. (More of these and of output stages, and
/// fewer of factors, are slower: docs/performance.md.)
type FusedWithMatrix<T, A, B, W, const COLUMNS: usize, const PANEL: usize, const STAGES: usize> = (
    Partitioned<Stages<(Tile<T, A, 128>, Tile<T, B, COLUMNS>), STAGES, TensorMap>>,
    Partitioned<Stages<Added<T, W, PANEL>, 2, TensorMap>>,
    Outputs<TensorTile<T, Panels2<128, COLUMNS, PANEL>, W>, 2>,
);

/// An element, or zero if its mask has no bits: what is not there does not count, whatever is
/// copied in its place, and without a branch for each element.
#[inline(always)]
fn masked<T: SumElement>(mask: u32, element: T) -> f32 {
    f32::from_bits(element.widened().to_bits() & mask)
}

/// Writes `activation(alpha * A * B + ..)`: of two vectors that are added one has an element for
/// each column, the other for each row. Of their elements the bits count that the vector's mask
/// has, all or none.
///
/// `F` is the [`Activation`], and `factors` are alpha and the least value. The sums stay `f32`, and
/// are rounded once. All else is as in `gemm`; [`multiply_fused`] launches it.
///
/// [`multiply_fused`]: super::multiply_fused
#[kernel(
    instances(T = [bf16, f16], A = [Along, Across], B = [Along, Across], F = [Linear, Silu], COLUMNS = [128], PANEL = [64], W = [Swizzle128], STAGES = [6]),
    instances(T = [bf16, f16], A = [Along, Across], B = [Along, Across], F = [Linear, Silu], COLUMNS = [256], PANEL = [64], W = [Swizzle128], STAGES = [4]),
    min_blocks = 1
)]
pub fn gemm_fused<
    T: OperandElement + SumElement,
    A: Layout,
    B: Layout,
    F: Activation,
    W: Swizzle,
    const COLUMNS: usize,
    const PANEL: usize,
    const STAGES: usize,
>(
    block: Block<384>,
    a: Tensor<T, <A as Layout>::Extents<128>, Swizzle128>,
    b: Tensor<T, <B as Layout>::Extents<COLUMNS>, Swizzle128>,
    of_columns: Tensor<T, Extents2<1, COLUMNS>, NoSwizzle>,
    of_rows: Tensor<T, Extents2<1, 128>, NoSwizzle>,
    factors: [f32; 2],
    masks: [u32; 2],
    out: TensorMut<T, Panels2<128, COLUMNS, PANEL>, W, Grouped<8>>,
    shared: Shared<Fused<T, A, B, W, COLUMNS, PANEL, STAGES>>,
) where
    Tile<T, A, 128>: Operand<Element = T>,
    Tile<T, B, COLUMNS>: Operand<Element = T>,
{
    let (stages, vectors, outputs) = shared.split();
    let places = out.tile_places(&block);
    if steps(&a) <= SHORT {
        block.launch_dependents();
    }
    let ([alpha, least], [for_columns, for_rows]) = (factors, masks);
    block
        .partition::<WarpRoles3<32, 96, 256>>()
        .pipeline_between(Role0, Role2, stages)
        .pipeline_between(Role1, Role2, vectors)
        .role((), |_, (producer, ()), ()| copy_factors(producer, (&a, &b), places, COLUMNS))
        .role((), |_, ((), mut producer), ()| {
            for tile in places {
                let (down, across) = tile.get();
                let (down, across) = ((down * 128) as i32, (across * COLUMNS) as i32);
                let Ok(stage) = producer.acquire() else { return };
                producer = stage.copy((of_columns.at(0, across), of_rows.at(0, down))).commit();
            }
        })
        .role((out, outputs), |group, (mut consumer, mut vectors), (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            for tile in places {
                let sums;
                (consumer, sums) = group.multiply(consumer, steps(&a));
                let Ok(sums) = sums else { return };
                let stored =
                    ring.store_pairs_beside(tile, &group, &sums, vectors, |place, sums, (of_columns, of_rows)| {
                        let (down, across) = place.in_tile();
                        let of_row = masked(for_rows, of_rows[(0, down)]);
                        let value = |nth: usize| {
                            let of_column = masked(for_columns, of_columns[(0, across + nth)]);
                            F::of(math::fma(alpha, sums[nth], of_column) + of_row, least)
                        };
                        [value(0), value(1)]
                    });
                let Ok(end) = stored else { return };
                vectors = end;
            }
        })
        .run_last();
}

/// As [`gemm_fused`](fn@gemm_fused) with a matrix as large as the product:
/// `activation(alpha * A * B + beta * C + ..)`.
///
/// `factors` are alpha, beta and the least value. 64 threads have the copy engine load tiles of the
/// factors, and 64 what is added; [`multiply_fused`] launches it.
///
/// [`multiply_fused`]: super::multiply_fused
#[kernel(
    instances(T = [bf16, f16], A = [Along, Across], B = [Along, Across], F = [Linear, Silu], COLUMNS = [128], PANEL = [32], W = [Swizzle64], STAGES = [6]),
    instances(T = [bf16, f16], A = [Along, Across], B = [Along, Across], F = [Linear, Silu], COLUMNS = [256], PANEL = [32], W = [Swizzle64], STAGES = [4]),
    min_blocks = 1
)]
pub fn gemm_fused_with_matrix<
    T: OperandElement + SumElement,
    A: Layout,
    B: Layout,
    F: Activation,
    W: Swizzle,
    const COLUMNS: usize,
    const PANEL: usize,
    const STAGES: usize,
>(
    block: Block<384>,
    a: Tensor<T, <A as Layout>::Extents<128>, Swizzle128>,
    b: Tensor<T, <B as Layout>::Extents<COLUMNS>, Swizzle128>,
    c: Tensor<T, Extents2<128, PANEL>, W>,
    of_columns: Tensor<T, Extents2<1, PANEL>, NoSwizzle>,
    of_rows: Tensor<T, Extents2<1, 128>, NoSwizzle>,
    factors: [f32; 3],
    masks: [u32; 2],
    out: TensorMut<T, Panels2<128, COLUMNS, PANEL>, W, Grouped<8>>,
    shared: Shared<FusedWithMatrix<T, A, B, W, COLUMNS, PANEL, STAGES>>,
) where
    Tile<T, A, 128>: Operand<Element = T>,
    Tile<T, B, COLUMNS>: Operand<Element = T>,
{
    let (stages, added, outputs) = shared.split();
    let places = out.tile_places(&block);
    if steps(&a) <= SHORT {
        block.launch_dependents();
    }
    let ([alpha, beta, least], [for_columns, for_rows]) = (factors, masks);
    block
        .partition::<WarpRoles3<32, 96, 256>>()
        .pipeline_between(Role0, Role2, stages)
        .pipeline_between(Role1, Role2, added)
        .role((), |_, (producer, ()), ()| copy_factors(producer, (&a, &b), places, COLUMNS))
        .role((), |_, ((), mut producer), ()| {
            for tile in places {
                let (down, across) = tile.get();
                for panel in 0..COLUMNS / PANEL {
                    let (down, across) = ((down * 128) as i32, (across * COLUMNS + panel * PANEL) as i32);
                    let Ok(stage) = producer.acquire() else { return };
                    let added = (c.at(down, across), of_columns.at(0, across), of_rows.at(0, down));
                    producer = stage.copy(added).commit();
                }
            }
        })
        .role((out, outputs), |group, (mut consumer, mut added), (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            for tile in places {
                let sums;
                (consumer, sums) = group.multiply(consumer, steps(&a));
                let Ok(sums) = sums else { return };
                let stored =
                    ring.store_pairs_with(tile, &group, &sums, added, |place, sums, (c, of_columns, of_rows)| {
                        let (down, across) = place.in_panel();
                        let of_row = masked(for_rows, of_rows[(0, down)]);
                        let value = |nth: usize| {
                            let sum = math::fma(alpha, sums[nth], beta * c[(down, across + nth)].widened());
                            F::of(sum + masked(for_columns, of_columns[(0, across + nth)]) + of_row, least)
                        };
                        [value(0), value(1)]
                    });
                let Ok(end) = stored else { return };
                added = end;
            }
        })
        .run_last();
}
