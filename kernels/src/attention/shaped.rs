//! Scores that are more than products: a cap, and slopes. And the gradients with them.

#![allow(clippy::too_many_arguments, reason = "as many as there are matrices")]

use core::f32::consts::LOG2_E;

use tilepipe::product::{Columns, OperandElement, SumElement, Sums, Width, exp2_approximate, reciprocal_approximate};
use tilepipe::role::{RoleGroup, Warpgroups};
use tilepipe::{
    Block, Constant, Extents2, Grouped, Input2D, LastFirst, NoSwizzle, Panels4, Shared, Stepped, Swizzle128, Tensor,
    TensorMut, bf16, f16, kernel, math,
};

use super::gradient::{
    AloneRings, KeyRings, Scores, ValueRings, attend_backwards_to_keys, attend_backwards_to_keys_alone,
    attend_backwards_to_queries, attend_backwards_to_values,
};
use super::{Rings, Shape};

/// Scores times `scale`, below the cap, if there is one, and lowered by `slope` for each key that
/// is between. A column is `before` more keys in front of a row than their numbers say: where
/// columns are keys, the first key is so many behind the first query's own.
#[inline(always)]
pub(super) fn shaped<'r, R: Warpgroups, W: Width, const SIZE: usize>(
    group: &RoleGroup<'r, R, SIZE>,
    scores: Sums<'r, W, SIZE>,
    scale: f32,
    limits: (f32, f32),
    before: i32,
) -> Sums<'r, W, SIZE> {
    shaped_with_steepness(group, scores, scale, limits, before).0
}

/// As [`shaped`], and how much each score changes with what it was before the cap.
#[inline(always)]
pub(super) fn shaped_with_steepness<'r, R: Warpgroups, W: Width, const SIZE: usize>(
    group: &RoleGroup<'r, R, SIZE>,
    scores: Sums<'r, W, SIZE>,
    scale: f32,
    (cap, slope): (f32, f32),
    before: i32,
) -> (Sums<'r, W, SIZE>, Sums<'r, W, SIZE>) {
    let (scores, ones) = (scores.map(group, |score| score * scale), group.sums(1.0));
    let inverse = reciprocal_approximate(cap);
    let (scores, steepness) = if cap > 0.0 {
        let parts = scores.map(group, |score| tanh(score * inverse));
        let steepness = ones.zip(group, &parts, |one, part| math::fma(part, -part, one));
        (parts.map(group, |part| cap * part), steepness)
    } else {
        (scores, ones)
    };
    let scores = scores.map_places(group, |row, column, score| {
        let between = (before + column as i32 - row as i32).abs();
        math::fma(between as f32, -slope, score)
    });
    (scores, steepness)
}

/// The hyperbolic tangent by two approximate instructions.
#[inline(always)]
fn tanh(x: f32) -> f32 {
    1.0 - 2.0 * reciprocal_approximate(exp2_approximate(x * (2.0 * LOG2_E)) + 1.0)
}

/// As [`attention_queries_gradient`](fn@super::attention_queries_gradient), of scores with a
/// `shape`: the gradient of a score is multiplied by how much the cap lets it change.
#[kernel(
    instances(
        T = [bf16, f16], O = [LastFirst], MASK = [2],
        (HEAD, ROWS, KEYS, STAGES) = [(64, 128, 64, 3), (128, 128, 64, 3), (256, 128, 32, 2)]
    )
)]
pub fn attention_queries_gradient_shaped<
    T: OperandElement + SumElement,
    O: Stepped,
    const MASK: u32,
    const HEAD: usize,
    const ROWS: usize,
    const KEYS: usize,
    const STAGES: usize,
>(
    block: Block<384>,
    queries: Tensor<T, Panels4<ROWS, HEAD, 64>, Swizzle128>,
    keys: Tensor<T, Panels4<KEYS, HEAD, 64>, Swizzle128>,
    values: Tensor<T, Panels4<KEYS, HEAD, 64>, Swizzle128>,
    gradient: Tensor<T, Panels4<ROWS, HEAD, 64>, Swizzle128>,
    rows: Input2D<f32>,
    scores: Scores,
    shape: Constant<Shape>,
    out: TensorMut<T, Panels4<ROWS, HEAD, 64>, Swizzle128, O>,
    shared: Shared<Rings<T, HEAD, 4, ROWS, KEYS, 2, STAGES, 0>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<KEYS>: Width,
{
    attend_backwards_to_queries::<_, O, _, MASK, true, HEAD, ROWS, KEYS, STAGES, 0>(
        block,
        (queries, gradient),
        (keys, values),
        rows,
        (scores, shape),
        out,
        shared,
    );
}

/// As [`attention_keys_gradient`](fn@super::attention_keys_gradient), of scores with a `shape`.
#[kernel(
    instances(
        T = [bf16, f16], O = [Grouped<32>], MASK = [2],
        (HEAD, ROWS, QUERIES, STAGES) = [(64, 128, 64, 2), (128, 128, 32, 2)]
    )
)]
pub fn attention_keys_gradient_shaped<
    T: OperandElement + SumElement,
    O: Stepped,
    const MASK: u32,
    const HEAD: usize,
    const ROWS: usize,
    const QUERIES: usize,
    const STAGES: usize,
>(
    block: Block<384>,
    queries: Tensor<T, Panels4<QUERIES, HEAD, 64>, Swizzle128>,
    keys: Tensor<T, Panels4<ROWS, HEAD, 64>, Swizzle128>,
    values: Tensor<T, Panels4<ROWS, HEAD, 64>, Swizzle128>,
    gradient: Tensor<T, Panels4<QUERIES, HEAD, 64>, Swizzle128>,
    rows: Tensor<f32, Extents2<1, QUERIES>, NoSwizzle>,
    scores: Scores,
    shape: Constant<Shape>,
    of_keys: TensorMut<T, Panels4<ROWS, HEAD, 64>, Swizzle128, O>,
    of_values: TensorMut<T, Panels4<ROWS, HEAD, 64>, Swizzle128, O>,
    shared: Shared<KeyRings<T, HEAD, ROWS, QUERIES, STAGES>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<QUERIES>: Width,
{
    attend_backwards_to_keys::<_, O, _, MASK, true, HEAD, ROWS, QUERIES, STAGES>(
        block,
        (queries, gradient),
        (keys, values),
        rows,
        (scores, shape),
        (of_keys, of_values),
        shared,
    );
}

/// As [`attention_keys_gradient_alone`](fn@super::attention_keys_gradient_alone), of scores with a
/// `shape`.
#[kernel(
    instances(
        T = [bf16, f16], O = [Grouped<32>], MASK = [2],
        (HEAD, ROWS, QUERIES, STAGES) = [(256, 128, 32, 2)]
    )
)]
pub fn attention_keys_gradient_alone_shaped<
    T: OperandElement + SumElement,
    O: Stepped,
    const MASK: u32,
    const HEAD: usize,
    const ROWS: usize,
    const QUERIES: usize,
    const STAGES: usize,
>(
    block: Block<384>,
    queries: Tensor<T, Panels4<QUERIES, HEAD, 64>, Swizzle128>,
    keys: Tensor<T, Panels4<ROWS, HEAD, 64>, Swizzle128>,
    values: Tensor<T, Panels4<ROWS, HEAD, 64>, Swizzle128>,
    gradient: Tensor<T, Panels4<QUERIES, HEAD, 64>, Swizzle128>,
    rows: Tensor<f32, Extents2<1, QUERIES>, NoSwizzle>,
    scores: Scores,
    shape: Constant<Shape>,
    out: TensorMut<T, Panels4<ROWS, HEAD, 64>, Swizzle128, O>,
    shared: Shared<AloneRings<T, HEAD, ROWS, QUERIES, STAGES>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<QUERIES>: Width,
{
    attend_backwards_to_keys_alone::<_, O, _, MASK, true, HEAD, ROWS, QUERIES, STAGES>(
        block,
        (queries, gradient),
        (keys, values),
        rows,
        (scores, shape),
        out,
        shared,
    );
}

/// As [`attention_values_gradient`](fn@super::attention_values_gradient), of scores with a `shape`.
#[kernel(
    instances(
        T = [bf16, f16], O = [Grouped<32>], MASK = [2],
        (HEAD, ROWS, QUERIES, STAGES) = [(256, 128, 32, 4)]
    )
)]
pub fn attention_values_gradient_shaped<
    T: OperandElement + SumElement,
    O: Stepped,
    const MASK: u32,
    const HEAD: usize,
    const ROWS: usize,
    const QUERIES: usize,
    const STAGES: usize,
>(
    block: Block<384>,
    queries: Tensor<T, Panels4<QUERIES, HEAD, 64>, Swizzle128>,
    keys: Tensor<T, Panels4<ROWS, HEAD, 64>, Swizzle128>,
    gradient: Tensor<T, Panels4<QUERIES, HEAD, 64>, Swizzle128>,
    rows: Tensor<f32, Extents2<1, QUERIES>, NoSwizzle>,
    scores: Scores,
    shape: Constant<Shape>,
    out: TensorMut<T, Panels4<ROWS, HEAD, 64>, Swizzle128, O>,
    shared: Shared<ValueRings<T, HEAD, ROWS, QUERIES, STAGES>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<QUERIES>: Width,
{
    attend_backwards_to_values::<_, O, _, MASK, true, HEAD, ROWS, QUERIES, STAGES>(
        block,
        (queries, gradient),
        keys,
        rows,
        (scores, shape),
        out,
        shared,
    );
}
