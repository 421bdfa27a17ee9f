//! The gradient of the queries.

#![allow(clippy::too_many_arguments, reason = "as many as there are matrices")]

use core::ops::Deref;

use tilepipe::product::{Columns, OperandElement, SumElement, Sums, Width, exp2_approximate};
use tilepipe::role::{Across, Budget, Product, Registers, RoleShared, WarpRoles};
use tilepipe::{
    Block, Grouped, Input2D, LastFirst, Panels4, Shared, Stepped, Swizzle128, Tensor, TensorMut, Uniform, bf16, f16,
    kernel, math,
};

use super::super::seen::{Seen, Sees};
use super::super::shaped::shaped_with_steepness;
use super::super::{MOST_HEADS, PLAIN, Rings, Shape, Tokens};
use super::Scores;

/// Writes the gradient of the queries. `rows` are those of
/// [`attention_row_products`](fn@super::attention_row_products).
/// [`backward`](crate::attention::backward) launches it.
///
/// For each tile of queries it goes over the keys that they see. With the weights `P = exp(scale *
/// Q K^T - logarithm)` and the gradient `dP = dO V^T` of those, that of a score is `dS = P * (dP -
/// product)`, and that of the queries `scale * dS K`. `TURNS` is as for
/// [`attention`](fn@crate::attention::attention).
#[kernel(
    instances(
        T = [bf16, f16], (O, MASK) = [(Grouped<1024>, 0)],
        (HEAD, ROWS, KEYS, STAGES, TURNS) = [(64, 128, 128, 2, 0), (128, 128, 64, 3, 2), (256, 128, 32, 2, 0)]
    ),
    instances(
        T = [bf16, f16], (O, MASK) = [(LastFirst, 2)],
        (HEAD, ROWS, KEYS, STAGES, TURNS) = [(64, 128, 128, 2, 0), (128, 128, 64, 3, 0), (256, 128, 32, 2, 0)]
    )
)]
pub fn attention_queries_gradient<
    T: OperandElement + SumElement,
    O: Stepped,
    const MASK: u32,
    const HEAD: usize,
    const ROWS: usize,
    const KEYS: usize,
    const STAGES: usize,
    const TURNS: usize,
>(
    block: Block<384>,
    queries: Tensor<T, Panels4<ROWS, HEAD, 64>, Swizzle128>,
    keys: Tensor<T, Panels4<KEYS, HEAD, 64>, Swizzle128>,
    values: Tensor<T, Panels4<KEYS, HEAD, 64>, Swizzle128>,
    gradient: Tensor<T, Panels4<ROWS, HEAD, 64>, Swizzle128>,
    rows: Input2D<f32>,
    scores: Scores,
    out: TensorMut<T, Panels4<ROWS, HEAD, 64>, Swizzle128, O>,
    // Queries and their gradient are two tiles that stay.
    shared: Shared<Rings<T, HEAD, 4, ROWS, KEYS, 2, STAGES, TURNS>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<KEYS>: Width,
{
    attend_backwards_to_queries::<_, O, _, MASK, false, HEAD, ROWS, KEYS, STAGES, TURNS>(
        block,
        (queries, gradient),
        (keys, values),
        rows,
        (scores, &PLAIN),
        out,
        shared,
    );
}

/// What is common to the gradient of the queries whatever scores are besides products.
#[inline(always)]
pub(in crate::attention) fn attend_backwards_to_queries<
    T: OperandElement + SumElement,
    O: Stepped,
    P: Deref<Target = Shape> + Uniform + RoleShared,
    const MASK: u32,
    const SHAPED: bool,
    const HEAD: usize,
    const ROWS: usize,
    const KEYS: usize,
    const STAGES: usize,
    const TURNS: usize,
>(
    block: Block<384>,
    (queries, gradient): (Tokens<'_, T, ROWS, HEAD, 4>, Tokens<'_, T, ROWS, HEAD, 4>),
    (keys, values): (Tokens<'_, T, KEYS, HEAD, 4>, Tokens<'_, T, KEYS, HEAD, 4>),
    rows: Input2D<f32>,
    (scores, shape): (Scores, P),
    out: TensorMut<T, Panels4<ROWS, HEAD, 64>, Swizzle128, O>,
    shared: Shared<Rings<T, HEAD, 4, ROWS, KEYS, 2, STAGES, TURNS>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<KEYS>: Width,
{
    let ((both_stages, key_stages), (value_stages, outputs, turns)) = {
        let (first, second) = shared.split();
        (first.split(), second.split())
    };
    let places = out.tile_places(&block);
    let Scores { scale, scale_of_powers, band } = scores;
    // What scores are multiplied by once they have their shape.
    let unit = if SHAPED { 1.0 } else { scale_of_powers };
    let heads = queries.extent(2).max(1) as u32;
    let shared_by = (heads / keys.extent(2).max(1) as u32).max(1);
    let seen = |tile| Seen::<MASK, ROWS>::new(queries.row_of_tile::<O>(tile), queries.rows(), keys.rows(), band);
    block
        .partition::<Budget<WarpRoles<128, 256>, Registers<24, 240>>>()
        .pipeline(both_stages)
        .pipeline(key_stages)
        .pipeline(value_stages)
        .role((), |_, (mut of_both, mut of_keys, mut of_values), ()| {
            for tile in 0..places.len() {
                let (row, matrix) = places.get(tile);
                let (sequence, head) = (matrix as u32 / heads, matrix as u32 % heads);
                let (sequence, head, of_key) = (sequence as i32, head as i32, (head / shared_by) as i32);
                let Ok(stage) = of_both.acquire() else { return };
                of_both = stage.copy(queries.of_matrix(sequence, head, (row * ROWS) as i32)).commit();
                let Ok(stage) = of_both.acquire() else { return };
                of_both = stage.copy(gradient.of_matrix(sequence, head, (row * ROWS) as i32)).commit();
                for tile in seen(row).tiles(KEYS) {
                    let first = (tile * KEYS) as i32;
                    let Ok(stage) = of_keys.acquire() else { return };
                    of_keys = stage.copy(keys.of_matrix(sequence, of_key, first)).commit();
                    let Ok(stage) = of_values.acquire() else { return };
                    of_values = stage.copy(values.of_matrix(sequence, of_key, first)).commit();
                }
            }
        })
        .role((out, outputs, turns), |group, (mut of_both, mut of_keys, mut of_values), (out, outputs, turns)| {
            let (mut ring, mut turns) = (outputs.outputs(&group, out), turns.turns(&group));
            for tile in 0..places.len() {
                let (row, matrix) = places.get(tile);
                let seen = seen(row);
                let (tiles, whole) = (seen.tiles(KEYS), seen.whole_tiles(KEYS));
                let Ok(query) = of_both.wait() else { return };
                let (end, query) = query.hold();
                let Ok((end, gradient)) = end.wait() else { return };
                let of_rows =
                    |above: usize| group.rows_with(|of| rows.get(above + matrix, row * ROWS + of).unwrap_or(0.0));
                let (logarithms, products) = (of_rows(0), of_rows(rows.height() / 2));
                let mut sums: Sums<Columns<HEAD>, 256> = group.sums(0.0);
                for tile in tiles {
                    let Ok(key) = of_keys.wait() else { return };
                    let (key_end, key) = key.hold();
                    let Ok(value) = of_values.wait() else { return };
                    let (value_end, value) = value.hold();
                    let scores = Product::of(&group, &query, &key);
                    let ((weights, steepness), (slopes, _, value)) = group.products_in_turn(
                        &mut turns,
                        scores,
                        Product::of(&group, &gradient, value),
                        |(scores, ..)| {
                            let (scores, steepness) = if SHAPED {
                                let slope = shape.slopes[(matrix as u32 % heads) as usize % MOST_HEADS];
                                let before = (tile * KEYS) as i32 - seen.own();
                                let limits = (shape.cap, slope);
                                let (scores, steepness) =
                                    shaped_with_steepness(&group, scores, scale_of_powers, limits, before);
                                (scores, Some(steepness))
                            } else {
                                (scores, None)
                            };
                            let scores = if whole.contains(&tile) {
                                scores
                            } else {
                                scores.keep(&group, |row| seen.of_tile(row, tile, KEYS))
                            };
                            let weights = scores.map_rows(&group, &logarithms, |x, logarithm| {
                                exp2_approximate(math::fma(x, unit, -logarithm))
                            });
                            (weights, steepness)
                        },
                    );
                    of_values = value_end.release(value);
                    let slopes = slopes.map_rows(&group, &products, |slope, product| slope - product).zip(
                        &group,
                        &weights,
                        |slope, weight| slope * weight,
                    );
                    let slopes = match &steepness {
                        Some(steepness) => slopes.zip(&group, steepness, |slope, steep| slope * steep),
                        None => slopes,
                    };
                    let factor = slopes.into_factor::<T, _>(&group);
                    (sums, ..) = group.product(Product::onto(sums, factor, Across(&key)));
                    of_keys = key_end.release(key);
                }
                of_both = end.release(query).release(gradient);
                ring.store_pairs_of_sums(tile, &group, &sums, |_, pair| pair.map(|sum| sum * scale));
            }
        })
        .run_last();
}
