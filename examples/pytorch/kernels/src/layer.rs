//! A layer of a network, `y = activation(x * W^T + bias)`, and its gradients, by tensor cores.

use tilepipe::product::{Operand, OperandElement, OperandTile, SumElement};
use tilepipe::role::{Partitioned, Role0, Role1, Role2, RoleShared, WarpRoles3};
use tilepipe::{
    Block, Extents2, Grouped, MatrixExtents, NoSwizzle, Outputs, Panels2, Shared, Stages, Swizzle128, Tensor,
    TensorBox, TensorMap, TensorMut, TensorTile, Uniform, bf16, f16, kernel, math,
};

/// Rows of a tile of a product.
const ROWS: usize = 128;
/// Elements along the sums of a stage.
const DEEP: usize = 64;

/// A tile of a factor whose rows in memory are along the sums, with as many rows.
type Along<const ROWS: usize> = Extents2<ROWS, DEEP>;
/// A tile of a factor whose rows in memory are across the sums, with as many columns.
type Across<const COLUMNS: usize> = Panels2<DEEP, COLUMNS, 64>;
/// A tile of a product.
type Product<const COLUMNS: usize> = Panels2<ROWS, COLUMNS, 64>;

/// Stages of a tile of each factor.
type Factors<T, A, B, const STAGES: usize> =
    Partitioned<Stages<(OperandTile<T, A, Swizzle128>, OperandTile<T, B, Swizzle128>), STAGES, TensorMap>>;
/// Output stages for panels of a product.
type Panels<T, const COLUMNS: usize> = Outputs<TensorTile<T, Product<COLUMNS>, Swizzle128>, 2>;
/// A stage of the bias of a tile's columns.
type Bias<T, const COLUMNS: usize> = Partitioned<Stages<TensorTile<T, Extents2<1, COLUMNS>, NoSwizzle>, 1, TensorMap>>;

/// What [`linear`] has in shared memory.
type Layer<T, const COLUMNS: usize, const STAGES: usize> =
    (Factors<T, Along<ROWS>, Along<COLUMNS>, STAGES>, Bias<T, COLUMNS>, Panels<T, COLUMNS>);

/// What is computed of each element at last.
pub trait Activation: 'static {
    /// The value for `x`, or `least` for what is less.
    fn of(x: f32, least: f32) -> f32;
}

/// The element as it is; with a `least` of 0 its positive part (ReLU).
pub enum Linear {}
/// `x / (1 + exp(-x))`; there is no `least`.
pub enum Silu {}

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
        // The denominator is finite, and 1 at least; its reciprocal is the square of this.
        let root = math::rsqrt_fast(1.0 + math::exp_fast(-x.max(-85.0)));
        x * root * root
    }
}

/// Writes `activation(x * weight^T + bias)`, where a row of `x` is an input and one of `weight` the
/// weights of an output.
///
/// Of the bias's bits those count that `mask` has: all, or none, whatever is passed for it then.
/// Sums are `f32`, and are rounded once.
#[kernel(
    instances(T = [bf16, f16], F = [Linear, Silu], (COLUMNS, STAGES) = [(128, 6), (256, 4)]),
    min_blocks = 1
)]
pub fn linear<T: OperandElement + SumElement, F: Activation, const COLUMNS: usize, const STAGES: usize>(
    block: Block<384>,
    x: Tensor<T, Along<ROWS>, Swizzle128>,
    weight: Tensor<T, Along<COLUMNS>, Swizzle128>,
    bias: Tensor<T, Extents2<1, COLUMNS>, NoSwizzle>,
    mask: u32,
    least: f32,
    out: TensorMut<T, Product<COLUMNS>, Swizzle128, Grouped<8>>,
    shared: Shared<Layer<T, COLUMNS, STAGES>>,
) where
    OperandTile<T, Along<ROWS>, Swizzle128>: Operand<Element = T>,
    OperandTile<T, Along<COLUMNS>, Swizzle128>: Operand<Element = T>,
{
    let (factors, biases, outputs) = shared.split();
    let places = out.tile_places(&block);
    let steps = x.columns().div_ceil(DEEP);
    block
        .partition::<WarpRoles3<32, 96, 256>>()
        .pipeline_between(Role0, Role2, factors)
        .pipeline_between(Role1, Role2, biases)
        .role((), |_, (mut producer, ()), ()| {
            for tile in 0..places.len() {
                let (row, column) = places.get(tile);
                let (row, column) = ((row * ROWS) as i32, (column * COLUMNS) as i32);
                for step in 0..steps {
                    let along = (step * DEEP) as i32;
                    let Ok(stage) = producer.acquire() else { return };
                    producer = stage.copy((x.at(row, along), weight.at(column, along))).commit();
                }
            }
        })
        .role((), |_, ((), mut producer), ()| {
            for tile in 0..places.len() {
                let (_, column) = places.get(tile);
                let Ok(stage) = producer.acquire() else { return };
                producer = stage.copy(bias.at(0, (column * COLUMNS) as i32)).commit();
            }
        })
        .role((out, outputs), |group, (mut consumer, mut biases), (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            for tile in 0..places.len() {
                let sums;
                (consumer, sums) = group.multiply(consumer, steps);
                let Ok(sums) = sums else { return };
                let stored = ring.store_pairs_beside(tile, &group, &sums, biases, |place, sums, bias| {
                    let (_, column) = place.in_tile();
                    let value = |nth: usize| {
                        let bias = f32::from_bits(bias[(0, column + nth)].widened().to_bits() & mask);
                        F::of(sums[nth] + bias, least)
                    };
                    [value(0), value(1)]
                });
                let Ok(end) = stored else { return };
                biases = end;
            }
        })
        .run_last();
}

/// Writes the gradient of the inputs: `gradient * weight`.
#[kernel(instances(T = [bf16, f16], (COLUMNS, STAGES) = [(128, 6), (256, 4)]), min_blocks = 1)]
pub fn linear_inputs<T: OperandElement + SumElement, const COLUMNS: usize, const STAGES: usize>(
    block: Block<384>,
    gradient: Tensor<T, Along<ROWS>, Swizzle128>,
    weight: Tensor<T, Across<COLUMNS>, Swizzle128>,
    out: TensorMut<T, Product<COLUMNS>, Swizzle128, Grouped<8>>,
    shared: Shared<(Factors<T, Along<ROWS>, Across<COLUMNS>, STAGES>, Panels<T, COLUMNS>)>,
) where
    OperandTile<T, Along<ROWS>, Swizzle128>: Operand<Element = T>,
    OperandTile<T, Across<COLUMNS>, Swizzle128>: Operand<Element = T>,
{
    let of_left = |row, along| gradient.at(row, along);
    let of_right = |column, along| weight.at(along, column);
    product(block, gradient.columns(), of_left, of_right, out, shared);
}

/// Writes the gradient of the weights: `gradient^T * x`.
#[kernel(instances(T = [bf16, f16], (COLUMNS, STAGES) = [(128, 6), (256, 4)]), min_blocks = 1)]
pub fn linear_weights<T: OperandElement + SumElement, const COLUMNS: usize, const STAGES: usize>(
    block: Block<384>,
    gradient: Tensor<T, Across<ROWS>, Swizzle128>,
    x: Tensor<T, Across<COLUMNS>, Swizzle128>,
    out: TensorMut<T, Product<COLUMNS>, Swizzle128, Grouped<8>>,
    shared: Shared<(Factors<T, Across<ROWS>, Across<COLUMNS>, STAGES>, Panels<T, COLUMNS>)>,
) where
    OperandTile<T, Across<ROWS>, Swizzle128>: Operand<Element = T>,
    OperandTile<T, Across<COLUMNS>, Swizzle128>: Operand<Element = T>,
{
    let of_left = |row, along| gradient.at(along, row);
    let of_right = |column, along| x.at(along, column);
    product(block, gradient.rows(), of_left, of_right, out, shared);
}

/// Writes a product of two factors with sums of `deep` terms. Their tiles begin at a row or column
/// of the product, and at a term.
#[inline(always)]
fn product<
    'a,
    'b,
    T: OperandElement + SumElement,
    A: MatrixExtents,
    B: MatrixExtents,
    const COLUMNS: usize,
    const STAGES: usize,
>(
    block: Block<'_, 384>,
    deep: usize,
    of_left: impl Fn(i32, i32) -> TensorBox<'a, T, A, Swizzle128> + Uniform + RoleShared,
    of_right: impl Fn(i32, i32) -> TensorBox<'b, T, B, Swizzle128> + Uniform + RoleShared,
    out: TensorMut<'_, T, Product<COLUMNS>, Swizzle128, Grouped<8>>,
    shared: Shared<'_, (Factors<T, A, B, STAGES>, Panels<T, COLUMNS>)>,
) where
    OperandTile<T, A, Swizzle128>: Operand<Element = T>,
    OperandTile<T, B, Swizzle128>: Operand<Element = T>,
{
    let (factors, outputs) = shared.split();
    let places = out.tile_places(&block);
    let steps = deep.div_ceil(DEEP);
    block
        .partition::<WarpRoles3<32, 96, 256>>()
        .pipeline_between(Role0, Role2, factors)
        .role((), |_, mut producer, ()| {
            for tile in 0..places.len() {
                let (row, column) = places.get(tile);
                let (row, column) = ((row * ROWS) as i32, (column * COLUMNS) as i32);
                for step in 0..steps {
                    let along = (step * DEEP) as i32;
                    let Ok(stage) = producer.acquire() else { return };
                    producer = stage.copy((of_left(row, along), of_right(column, along))).commit();
                }
            }
        })
        .role((), |_, (), ()| {})
        .role((out, outputs), |group, mut consumer, (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            for tile in 0..places.len() {
                let sums;
                (consumer, sums) = group.multiply(consumer, steps);
                let Ok(sums) = sums else { return };
                ring.store_pairs_of_sums(tile, &group, &sums, |_, sums| sums);
            }
        })
        .run_last();
}
