//! The gradient of values of 256 elements.

#![allow(clippy::too_many_arguments, reason = "as many as there are matrices")]

use core::ops::Deref;

use tilepipe::product::{Columns, OperandElement, RowFactor, SumElement, Sums, Width};
use tilepipe::role::{Across, Budget, Partitioned, Product, Registers, RoleShared, WarpRoles};
use tilepipe::{
    Block, Extents2, Grouped, NoSwizzle, Outputs, Panels4, Shared, Stages, Stepped, Swizzle128, Tensor, TensorMap,
    TensorMut, TensorTile, Uniform, bf16, f16, kernel,
};

use super::super::{PLAIN, Shape, Tile, Tokens};
use super::Scores;
use super::keys::{OfQueries, OfTokens, SeenBy, transposed_weights};

/// A tile of keys that stays; stages of queries, of their gradient and of the logarithms of their
/// rows; output stages.
pub type ValueRings<T, const HEAD: usize, const ROWS: usize, const QUERIES: usize, const STAGES: usize> = (
    (
        Partitioned<Stages<Tile<T, ROWS, HEAD>, 1, TensorMap>>,
        Partitioned<Stages<Tile<T, QUERIES, HEAD>, STAGES, TensorMap>>,
    ),
    (
        Partitioned<Stages<Tile<T, QUERIES, HEAD>, STAGES, TensorMap>>,
        Partitioned<Stages<OfQueries<QUERIES>, STAGES, TensorMap>>,
    ),
    Outputs<TensorTile<T, Panels4<ROWS, HEAD, 64>, Swizzle128>, 1>,
);

/// Writes the gradient of the values, `P^T dO`. The arguments are those of
/// [`attention_keys_gradient`](fn@super::attention_keys_gradient).
///
/// The scores of a tile of queries are computed beside the product of the weights of the tile
/// before with its gradient, as [`attention`](fn@crate::attention::attention) does.
#[kernel(
    instances(
        T = [bf16, f16], O = [Grouped<32>], MASK = [2],
        (HEAD, ROWS, QUERIES, STAGES) = [(256, 128, 64, 2)]
    )
)]
pub fn attention_values_gradient<
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
    out: TensorMut<T, Panels4<ROWS, HEAD, 64>, Swizzle128, O>,
    shared: Shared<ValueRings<T, HEAD, ROWS, QUERIES, STAGES>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<QUERIES>: Width,
{
    attend_backwards_to_values::<_, O, _, MASK, false, HEAD, ROWS, QUERIES, STAGES>(
        block,
        (queries, gradient),
        keys,
        rows,
        (scores, &PLAIN),
        out,
        shared,
    );
}

/// What is common to the gradient of the values whatever scores are besides products.
#[inline(always)]
pub(in crate::attention) fn attend_backwards_to_values<
    T: OperandElement + SumElement,
    O: Stepped,
    P: Deref<Target = Shape> + Uniform + RoleShared,
    const MASK: u32,
    const SHAPED: bool,
    const HEAD: usize,
    const ROWS: usize,
    const QUERIES: usize,
    const STAGES: usize,
>(
    block: Block<384>,
    (queries, gradient): (Tokens<'_, T, QUERIES, HEAD, 4>, Tokens<'_, T, QUERIES, HEAD, 4>),
    keys: Tokens<'_, T, ROWS, HEAD, 4>,
    rows: Tensor<f32, Extents2<1, QUERIES>, NoSwizzle>,
    (scores, shape): (Scores, P),
    out: OfTokens<'_, T, ROWS, HEAD, O>,
    shared: Shared<ValueRings<T, HEAD, ROWS, QUERIES, STAGES>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<QUERIES>: Width,
{
    let (first, second, outputs) = shared.split();
    let ((key_stages, query_stages), (gradient_stages, row_stages)) = (first.split(), second.split());
    let places = out.tile_places(&block);
    let Scores { scale_of_powers, band, .. } = scores;
    let (heads, heads_of_keys) = (queries.extent(2).max(1) as u32, keys.extent(2).max(1) as u32);
    let shared_by = (heads / heads_of_keys).max(1);
    let seen = |tile| SeenBy::<MASK, ROWS>::new(tile, queries.rows(), keys.rows(), band);
    block
        .partition::<Budget<WarpRoles<128, 256>, Registers<32, 232>>>()
        .pipeline(key_stages)
        .pipeline(query_stages)
        .pipeline(gradient_stages)
        .pipeline(row_stages)
        .role((), |_, (mut of_keys, mut of_queries, mut of_gradient, mut of_rows), ()| {
            for tile in 0..places.len() {
                let (row, matrix) = places.get(tile);
                let (sequence, key) = (matrix as u32 / heads_of_keys, matrix as u32 % heads_of_keys);
                let (sequence, of_key) = (sequence as i32, key as i32);
                let Ok(stage) = of_keys.acquire() else { return };
                of_keys = stage.copy(keys.of_matrix(sequence, of_key, (row * ROWS) as i32)).commit();
                for head in key * shared_by..(key + 1) * shared_by {
                    let (head, of_head) = (head as i32, sequence * heads as i32 + head as i32);
                    // Counted in one register, of which this role has few.
                    let tiles = seen(row).tiles(QUERIES);
                    for tile in tiles.start as u32..tiles.end as u32 {
                        let first = (tile * QUERIES as u32) as i32;
                        let Ok(stage) = of_queries.acquire() else { return };
                        of_queries = stage.copy(queries.of_matrix(sequence, head, first)).commit();
                        let Ok(stage) = of_rows.acquire() else { return };
                        of_rows = stage.copy(rows.at(of_head, first)).commit();
                        let Ok(stage) = of_gradient.acquire() else { return };
                        of_gradient = stage.copy(gradient.of_matrix(sequence, head, first)).commit();
                    }
                }
            }
        })
        .role((out, outputs), |group, (mut of_keys, mut of_queries, mut of_gradient, mut of_rows), (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            for tile in 0..places.len() {
                let (row, matrix) = places.get(tile);
                let first_head = matrix as u32 % heads_of_keys * shared_by;
                let seen = seen(row);
                let (tiles, whole) = (seen.tiles(QUERIES), seen.whole_tiles(QUERIES));
                let Ok(key) = of_keys.wait() else { return };
                let (end, key) = key.hold();
                let mut sums: Sums<Columns<HEAD>, 256> = group.sums(0.0);
                // The weights of the tile of queries before, among those of all heads.
                let mut before: Option<RowFactor<'_, T, Columns<QUERIES>, 256>> = None;
                for head in first_head..first_head + shared_by {
                    for tile in tiles.clone() {
                        let Ok(query) = of_queries.wait() else { return };
                        let (query_end, query) = query.hold();
                        let Ok(numbers) = of_rows.wait() else { return };
                        let (numbers_end, numbers) = numbers.hold();
                        let weigh = |(scores, _, query)| {
                            let of_queries = query_end.release(query);
                            let (weights, _) = transposed_weights::<_, MASK, SHAPED, ROWS, QUERIES>(
                                &group,
                                scores,
                                (scale_of_powers, &*shape),
                                (seen, whole.clone()),
                                (head, tile),
                                &numbers,
                            );
                            (of_queries, numbers_end.release(numbers), weights)
                        };
                        let scores = Product::of(&group, &key, query);
                        let weights;
                        (of_queries, of_rows, weights) = match before {
                            Some(factor) => {
                                let Ok(gradient) = of_gradient.wait() else { return };
                                let (gradient_end, gradient) = gradient.hold();
                                let younger = Product::onto(sums, factor, Across(gradient));
                                let (weighed, (summed, _, Across(gradient))) = group.products(scores, younger, weigh);
                                of_gradient = gradient_end.release(gradient);
                                sums = summed;
                                weighed
                            }
                            None => weigh(group.product(scores)),
                        };
                        before = Some(weights.into_factor(&group));
                    }
                }
                if let Some(factor) = before {
                    let Ok(gradient) = of_gradient.wait() else { return };
                    let (gradient_end, gradient) = gradient.hold();
                    let (summed, _, Across(gradient)) = group.product(Product::onto(sums, factor, Across(gradient)));
                    of_gradient = gradient_end.release(gradient);
                    sums = summed;
                }
                of_keys = end.release(key);
                ring.store_pairs_of_sums(tile, &group, &sums, |_, pair| pair);
            }
        })
        .run_last();
}
