//! All gradients in one kernel, those of the queries added up in any order.

#![allow(clippy::too_many_arguments, reason = "as many as there are matrices")]

use tilepipe::product::{Columns, OperandElement, OperandTile, SumElement, Sums, Width, exp2_approximate};
use tilepipe::reduce::{Add, Unordered};
use tilepipe::role::{Across, Budget, FullRoom, Partitioned, Product, Registers, SharedFactors, WarpRoles};
use tilepipe::{
    Block, Extents2, Grouped, Input2D, NoSwizzle, Outputs, Panels2, Panels4, Runs, Shared, Stages, Stepped, Swizzle128,
    Tensor, TensorMap, TensorMut, TensorTile, TileReduction, TilesMut2D, bf16, f16, held_place, kernel, math,
};

use super::super::Tile;
use super::Scores;
use super::keys::{OfQueries, SeenBy};

/// Two tiles that stay, of keys and values; stages of queries and of their gradient in turns, and
/// of the numbers of their rows; output stages of what is added to the queries' gradient; output
/// stages of the gradients of values and of keys, one after the other; and rooms for the gradients
/// of scores.
pub type WholeRings<T, const HEAD: usize, const ROWS: usize, const QUERIES: usize, const STAGES: usize> = (
    (
        Partitioned<Stages<Tile<T, ROWS, HEAD>, 2, TensorMap>>,
        Partitioned<Stages<Tile<T, QUERIES, HEAD>, STAGES, TensorMap>>,
        Partitioned<Stages<(OfQueries<QUERIES>, OfQueries<QUERIES>), 2, TensorMap>>,
    ),
    Outputs<OfSums<HEAD, QUERIES>, 1>,
    (
        Outputs<TensorTile<T, Panels4<ROWS, HEAD, 64>, Swizzle128>, 1>,
        SharedFactors<OperandTile<T, Panels2<ROWS, QUERIES, 64>, Swizzle128>, 2>,
    ),
);

/// Queries of a tile of [`attention_gradient`](fn@attention_gradient).
pub const QUERIES_OF_SUMS: usize = 64;

/// What is added to the transposed gradient of the queries at once.
type OfSums<const HEAD: usize, const QUERIES: usize> = TensorTile<f32, Panels2<HEAD, QUERIES, QUERIES>, NoSwizzle>;

/// Writes the gradients of keys and values, as
/// [`attention_keys_gradient`](fn@super::attention_keys_gradient) does, and adds those of the
/// queries to `of_queries`, in whatever order the blocks come. That has `HEAD` rows of `QUERIES`
/// columns for each tile of queries of each head of each sequence, and in each of these the sums in
/// the order in which threads have them ([`held_place`]).
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
    let (stages, query_outputs, others) = shared.split();
    let (both_stages, query_stages, row_stages) = stages.split();
    let (outputs, rooms) = others.split();
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
            ((of_keys, of_values, outputs), (sums_of_queries, query_outputs), rooms),
            |group, (mut of_both, mut of_queries, mut of_rows), (of_both_outputs, of_queries_outputs, rooms)| {
                let (mut of_keys, mut of_values, mut outputs) = of_both_outputs;
                let mut query_ring = of_queries_outputs.1.outputs(&group, of_queries_outputs.0);
                let [mut room, mut other] = rooms.factor_rooms(&group);
                let tiles_of_head = queries.rows().div_ceil(QUERIES) as u32;
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
                    // The tile of queries before, among those of all heads, and the room with its
                    // gradient of scores; or the other room, which nothing was written to.
                    let mut before: Result<(usize, FullRoom<'_, _, 2>), _> = Err(other);
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
                            let ((full, slopes), (value_gradient, ..)) = group.product_beside(of_value, || {
                                let slopes = slopes
                                    .map_places(&group, |_, query, slope| slope - numbers.tiles().1[(0, query)])
                                    .zip(&group, &weights, |slope, weight| slope * weight);
                                (room.write(&group, &slopes), slopes.into_factor::<T, _>(&group))
                            });
                            value_sums = value_gradient;
                            of_rows = numbers_end.release(numbers);
                            let of_key = Product::onto(key_sums, slopes, Across(&query));
                            (room, (key_sums, ..)) = match before {
                                // Of the queries' gradient it is the tile before: the other
                                // warpgroup has written its part of that meanwhile. What is added
                                // is stored while the keys' is computed.
                                Ok((tile, full)) => {
                                    let of_query = Product::of(&group, Across(&key), Across(full.wait(&group)));
                                    group.products(of_query, of_key, |(sums, _, Across(slopes))| {
                                        let room = slopes.release(&group);
                                        query_ring.add_sums_as_held((tile, 0), &group, &sums, |sum| sum * scale);
                                        room
                                    })
                                }
                                Err(other) => (other, group.product(of_key)),
                            };
                            before = Ok(((of_head * tiles_of_head + tile) as usize, full));
                            of_queries = query_end.release(query).release(gradient);
                        }
                    }
                    other = match before {
                        Ok((tile, full)) => {
                            let of_query = Product::of(&group, Across(&key), Across(full.wait(&group)));
                            let (sums, _, Across(slopes)) = group.product(of_query);
                            query_ring.add_sums_as_held((tile, 0), &group, &sums, |sum| sum * scale);
                            slopes.release(&group)
                        }
                        Err(other) => other,
                    };
                    of_both = end.release(key).release(value);
                    let mut ring = outputs.outputs(&group, of_values);
                    ring.store_pairs_of_sums(index as usize, &group, &value_sums, |_, pair| pair);
                    (of_values, outputs) = ring.finish(&group);
                    let mut ring = outputs.outputs(&group, of_keys);
                    ring.store_pairs_of_sums(index as usize, &group, &key_sums, |_, pair| pair.map(|sum| sum * scale));
                    (of_keys, outputs) = ring.finish(&group);
                }
            },
        )
        .run_last();
}

/// Elements of a head that a thread of [`attention_gradient_join`](fn@attention_gradient_join)
/// writes at once.
const PIECE: usize = 8;

/// Tokens and elements of a tile that a block of that kernel writes.
pub const JOIN_TILE: [usize; 2] = [16, JOIN_THREADS];

/// Threads of such a block.
const JOIN_THREADS: usize = 128;

/// Writes the gradient of the queries from its sums, which
/// [`attention_gradient`](fn@attention_gradient) has added up: `sums` has 128 rows of 64 elements
/// for each 64 of a sequence's `queries` queries, of each head of each sequence. Of the 128 the
/// first `head` count, a multiple of 8.
#[kernel(instances(T = [bf16, f16]))]
pub fn attention_gradient_join<T: SumElement>(
    block: Block<JOIN_THREADS>,
    sums: Input2D<f32>,
    head: u32,
    queries: u32,
    mut out: TilesMut2D<T, { JOIN_TILE[0] }, { JOIN_TILE[1] }, Runs<PIECE>>,
) {
    block.launch_dependents();
    let (queries, head) = (queries.max(1), head.max(1));
    let (width, height) = (out.width() as u32, out.height() as u32);
    let (heads, tiles) = (width / head, queries.div_ceil(QUERIES_OF_SUMS as u32));
    let mut results = out.for_block(&block);
    let places = results.places();
    for index in 0..results.len() {
        let (down, across) = places.get(index);
        let tile = results.get_mut(index);
        block.threads(|t| {
            for nth in 0..JOIN_TILE[0] * JOIN_TILE[1] / PIECE / JOIN_THREADS {
                let piece = nth * JOIN_THREADS + t.rank();
                let token = (JOIN_TILE[0] * down + piece / (JOIN_TILE[1] / PIECE)) as u32;
                let column = (JOIN_TILE[1] * across + piece % (JOIN_TILE[1] / PIECE) * PIECE) as u32;
                if token >= height || column >= width {
                    continue;
                }
                let (sequence, query) = (token / queries, (token % queries) as usize);
                let (of, element) = (column / head, (column % head) as usize);
                let tile_of_sums = (sequence * heads + of) * tiles + (query / QUERIES_OF_SUMS) as u32;
                let first = 128 * tile_of_sums as usize;
                let values = core::array::from_fn(|at| {
                    // A multiple of `PIECE` already, as columns and heads are: this says so.
                    let element = element / PIECE * PIECE + at;
                    let (row, column) = held_place(element, query % QUERIES_OF_SUMS, QUERIES_OF_SUMS);
                    T::narrowed(sums.get(first + row, column).unwrap_or(0.0))
                });
                tile.set_run::<PIECE>(&t, nth, values);
            }
        });
    }
}
