//! All gradients in one kernel, those of the queries added up in any order.

#![allow(clippy::too_many_arguments, reason = "as many as there are matrices")]

use tilepipe::product::{Columns, OperandElement, OperandTile, SumElement, Sums, Width, exp2_approximate};
use tilepipe::reduce::{Add, Unordered};
use tilepipe::role::{Across, Budget, Partitioned, Product, Registers, SharedFactor, WarpRoles};
use tilepipe::{
    Block, Extents2, Grouped, Input2D, NoSwizzle, Outputs, Panels2, Panels4, Shared, Stages, Stepped, Swizzle128,
    Tensor, TensorMap, TensorMut, TensorTile, TileReduction, TilesMut2D, bf16, f16, held_place, kernel, math,
};

use super::super::Tile;
use super::Scores;
use super::keys::{OfQueries, SeenBy};

/// Two tiles that stay, of keys and values; stages of queries and of their gradient in turns, and
/// of the numbers of their rows; room for the gradients of scores; and output stages of what is
/// added to the queries' gradient, and of the gradients of keys and values.
pub type WholeRings<T, const HEAD: usize, const ROWS: usize, const QUERIES: usize, const STAGES: usize> = (
    (
        Partitioned<Stages<Tile<T, ROWS, HEAD>, 2, TensorMap>>,
        Partitioned<Stages<Tile<T, QUERIES, HEAD>, STAGES, TensorMap>>,
        Partitioned<Stages<(OfQueries<QUERIES>, OfQueries<QUERIES>), 2, TensorMap>>,
    ),
    (SharedFactor<OperandTile<T, Panels2<ROWS, QUERIES, 64>, Swizzle128>>, Outputs<OfSums<HEAD, QUERIES>, 1>),
    (
        Outputs<TensorTile<T, Panels4<ROWS, HEAD, 64>, Swizzle128>, 1>,
        Outputs<TensorTile<T, Panels4<ROWS, HEAD, 64>, Swizzle128>, 1>,
    ),
);

/// Queries of a tile of [`attention_gradient`](fn@attention_gradient).
pub const QUERIES_OF_SUMS: usize = 64;

/// What is added to the transposed gradient of the queries at once.
type OfSums<const HEAD: usize, const QUERIES: usize> = TensorTile<f32, Panels2<HEAD, QUERIES, QUERIES>, NoSwizzle>;

/// Writes the gradients of keys and values, as
/// [`attention_keys_gradient`](fn@super::attention_keys_gradient) does, and adds those of the
/// queries to `of_queries`, in whatever order the blocks come. That has `HEAD` rows for each head
/// of each sequence, with a column for each query and more up to a multiple of `QUERIES`, and in
/// each tile the sums in the order in which threads have them ([`held_place`]).
///
/// Of each tile of scores that kernel has `dS^T` in registers, the left factor of `dS^T Q`. In
/// shared memory it is the right factor of `K^T dS^T` as well: the transposed of what the tile of
/// keys adds to the gradient of the queries. So five products are computed for each pair of tiles,
/// where the other two kernels compute seven.
#[kernel(instances(T = [bf16, f16], O = [Grouped<32>], MASK = [2], HEAD = [128], (ROWS, QUERIES, STAGES) = [(128, 64, 4)]))]
pub fn attention_gradient<
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
    of_keys: TensorMut<T, Panels4<ROWS, HEAD, 64>, Swizzle128, O>,
    of_values: TensorMut<T, Panels4<ROWS, HEAD, 64>, Swizzle128, O>,
    of_queries: TileReduction<f32, Unordered<Add>, Panels2<HEAD, QUERIES, QUERIES>, NoSwizzle>,
    shared: Shared<WholeRings<T, HEAD, ROWS, QUERIES, STAGES>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<QUERIES>: Width,
{
    let (stages, added, outputs) = shared.split();
    let (both_stages, query_stages, row_stages) = stages.split();
    let ((room, query_outputs), (key_outputs, value_outputs)) = (added.split(), outputs.split());
    let sums_of_queries = of_queries;
    let places = of_keys.tile_places(&block);
    let Scores { scale, scale_of_powers, band } = scores;
    let (heads, heads_of_keys) = (queries.extent(2).max(1) as u32, keys.extent(2).max(1) as u32);
    let shared_by = (heads / heads_of_keys).max(1);
    let seen = |tile| SeenBy::<MASK, ROWS>::new(tile, queries.rows(), keys.rows(), band);
    let below = rows.rows() as i32 / 2;
    block
        .partition::<Budget<WarpRoles<128, 256>, Registers<24, 240>>>()
        .pipeline(both_stages)
        .pipeline(query_stages)
        .pipeline(row_stages)
        .role((), |_, (mut of_both, mut of_queries, mut of_rows), ()| {
            for tile in 0..places.len() {
                let (row, matrix) = places.get(tile);
                let (sequence, key) = (matrix as u32 / heads_of_keys, matrix as u32 % heads_of_keys);
                let (sequence, of_key) = (sequence as i32, key as i32);
                let Ok(stage) = of_both.acquire() else { return };
                of_both = stage.copy(keys.of_matrix(sequence, of_key, (row * ROWS) as i32)).commit();
                let Ok(stage) = of_both.acquire() else { return };
                of_both = stage.copy(values.of_matrix(sequence, of_key, (row * ROWS) as i32)).commit();
                for head in key * shared_by..(key + 1) * shared_by {
                    let (head, of_head) = (head as i32, sequence * heads as i32 + head as i32);
                    for tile in seen(row).tiles(QUERIES) {
                        let first = (tile * QUERIES) as i32;
                        let Ok(stage) = of_queries.acquire() else { return };
                        of_queries = stage.copy(queries.of_matrix(sequence, head, first)).commit();
                        let Ok(stage) = of_rows.acquire() else { return };
                        of_rows = stage.copy((rows.at(of_head, first), rows.at(below + of_head, first))).commit();
                        let Ok(stage) = of_queries.acquire() else { return };
                        of_queries = stage.copy(gradient.of_matrix(sequence, head, first)).commit();
                    }
                }
            }
        })
        .role(
            ((of_keys, key_outputs), (of_values, value_outputs), (sums_of_queries, query_outputs, room)),
            |group, (mut of_both, mut of_queries, mut of_rows), (of_keys, of_values, added)| {
                let mut key_ring = of_keys.1.outputs(&group, of_keys.0);
                let mut value_ring = of_values.1.outputs(&group, of_values.0);
                let (mut query_ring, mut room) = (added.1.outputs(&group, added.0), added.2.factor_room(&group));
                for index in 0..places.len() as u32 {
                    let (row, matrix) = places.get(index as usize);
                    // Of the first one that uses these keys: heads are counted through the
                    // sequences.
                    let first_head = matrix as u32 * shared_by;
                    let seen = seen(row);
                    // In numbers of 32 bits, since registers are few.
                    let narrow = |tiles: core::ops::Range<usize>| tiles.start as u32..tiles.end as u32;
                    let tiles = narrow(seen.tiles(QUERIES));
                    // Keys that there are none of must weigh nothing: their weights may be
                    // infinite, and that times zero is added to the queries' gradient.
                    let is_full = seen.keys >= ROWS as i32;
                    let whole = if is_full { narrow(seen.whole_tiles(QUERIES)) } else { 0..0 };
                    let Ok(key) = of_both.wait() else { return };
                    let (end, key) = key.hold();
                    let Ok((end, value)) = end.wait() else { return };
                    let mut key_sums: Sums<Columns<HEAD>, 256> = group.sums(0.0);
                    let mut value_sums: Sums<Columns<HEAD>, 256> = group.sums(0.0);
                    for of_head in first_head..first_head + shared_by {
                        for tile in tiles.clone() {
                            let Ok(query) = of_queries.wait() else { return };
                            let (query_end, query) = query.hold();
                            let Ok(numbers) = of_rows.wait() else { return };
                            let (numbers_end, numbers) = numbers.hold();
                            let Ok((query_end, gradient)) = query_end.wait() else { return };
                            let scores = Product::of(&group, &key, &query);
                            let (weights, (slopes, ..)) =
                                group.products(scores, Product::of(&group, &value, &gradient), |(scores, ..)| {
                                    let scores = if whole.contains(&tile) {
                                        scores
                                    } else {
                                        let first = tile as i32 * QUERIES as i32;
                                        scores.keep(&group, |row| {
                                            let queries = seen.of(row as i32);
                                            let end = if (row as i32) < seen.keys { queries.end } else { 0 };
                                            queries.start - first..end - first
                                        })
                                    };
                                    scores.map_places(&group, |_, query, x| {
                                        let logarithm = numbers.tiles().0[(0, query)];
                                        exp2_approximate(math::fma(x, scale_of_powers, -logarithm))
                                    })
                                });
                            let factor = weights.to_factor::<T, _>(&group);
                            let of_value = Product::onto(value_sums, factor, Across(&gradient));
                            let (written, (value_gradient, ..)) = group.product_beside(of_value, || {
                                let slopes = slopes
                                    .map_places(&group, |_, query, slope| slope - numbers.tiles().1[(0, query)])
                                    .zip(&group, &weights, |slope, weight| slope * weight);
                                room.write(&group, &slopes)
                            });
                            value_sums = value_gradient;
                            of_rows = numbers_end.release(numbers);
                            let of_query = Product::of(&group, Across(&key), Across(&written));
                            let of_key = Product::onto(key_sums, &written, Across(&query));
                            // What is added to the queries' is stored while those of the keys are
                            // computed.
                            let ((), (key_gradient, ..)) = group.products(of_query, of_key, |(sums, ..)| {
                                let place = (of_head as usize, tile as usize);
                                query_ring.add_sums_as_held(place, &group, &sums, |sum| sum * scale);
                            });
                            key_sums = key_gradient;
                            of_queries = query_end.release(query).release(gradient);
                        }
                    }
                    of_both = end.release(key).release(value);
                    value_ring.store_pairs_of_sums(index as usize, &group, &value_sums, |_, pair| pair);
                    key_ring
                        .store_pairs_of_sums(index as usize, &group, &key_sums, |_, pair| pair.map(|sum| sum * scale));
                }
            },
        )
        .run_last();
}

/// Writes the gradient of the queries from its sums, which
/// [`attention_gradient`](fn@attention_gradient) has added up: `sums` has 128 rows for each head of
/// each sequence, of which the first `head` count, with a column for each of `queries` queries.
///
/// A warp reads 8 queries of each of 32 rows, and writes 32 elements of each of 8 queries.
#[kernel(instances(T = [bf16, f16]))]
pub fn attention_gradient_join<T: SumElement>(
    block: Block<128>,
    sums: Input2D<f32>,
    head: u32,
    queries: u32,
    mut out: TilesMut2D<T, 8, 128>,
) {
    block.launch_dependents();
    let (queries, head) = ((queries as usize).max(1), (head as usize).max(1));
    let (width, height) = (out.width(), out.height());
    let heads = width / head;
    let mut results = out.for_block(&block);
    let places = results.places();
    for index in 0..results.len() {
        let (down, across) = places.get(index);
        let tile = results.get_mut(index);
        block.threads(|t| {
            let column = 128 * across + t.rank();
            if column >= width {
                return;
            }
            let (of, element) = (column / head, column % head);
            for row in 0..8 {
                let token = 8 * down + row;
                if token < height {
                    let (sequence, query) = (token / queries, token % queries);
                    let (below, beside) = held_place(element, query % QUERIES_OF_SUMS, QUERIES_OF_SUMS);
                    let of_row = (sequence * heads + of) * 128 + below;
                    let of_column = query / QUERIES_OF_SUMS * QUERIES_OF_SUMS + beside;
                    let sum = sums.get(of_row, of_column).unwrap_or(0.0);
                    tile.set_nth(&t, row, T::narrowed(sum));
                }
            }
        });
    }
}
