//! Attention of few queries to many keys: what generates text, token by token.

#![allow(clippy::too_many_arguments, reason = "as many as there are matrices")]

use core::array;
use core::f32::consts::{LN_2, LOG2_E};
use core::ops::Range;

use tilepipe::product::{Columns, OperandElement, RowValuesMut, SumElement, Sums, Width, exp2_approximate};
use tilepipe::role::{Across, Partitioned, Product, WarpRoles};
use tilepipe::{
    Block, Input, Input2D, Outputs, Panels4, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorMut, TensorTile,
    TilesMut2D, bf16, f16, kernel, math,
};

use super::softmax::{Relative, raised, weighed};
use super::{LEAST, Tile};

/// Rows of a tile: the heads of queries that share one of keys, at most.
pub const SHARED_HEADS: usize = 64;

/// A stage of queries, stages of keys and of values, and output stages.
pub type DecodingRings<T, const HEAD: usize, const KEYS: usize, const STAGES: usize> = (
    (
        Partitioned<Stages<Tile<T, SHARED_HEADS, HEAD>, 1, TensorMap>>,
        Partitioned<Stages<Tile<T, KEYS, HEAD>, STAGES, TensorMap>>,
    ),
    (
        Partitioned<Stages<Tile<T, KEYS, HEAD>, STAGES, TensorMap>>,
        Outputs<TensorTile<f32, Panels4<SHARED_HEADS, HEAD, 32>, Swizzle128>, 2>,
    ),
);

/// The tiles of keys of one part of so many: of a query that sees `seen` keys, in tiles of so many.
#[inline(always)]
fn tiles_of_part(seen: usize, (part, parts): (usize, usize), of: usize) -> Range<usize> {
    let tiles = seen.div_ceil(of);
    let most = tiles.div_ceil(parts.max(1));
    (part * most).min(tiles)..((part + 1) * most).min(tiles)
}

/// Writes attention of each query to each of several parts of its keys, and the logarithms of the
/// sums of their weights, of which [`attention_join`](fn@attention_join) makes one.
/// [`decode`](super::decode) launches both.
///
/// A tile has the heads of one query that share a head of keys. `queries` have a matrix of such
/// heads for each head of keys, and a fourth dimension of queries; `lengths` is how many keys each
/// sequence has, of which the last query sees all, and the one before it one less. `out` has for
/// each query its parts, one after the other. Keys and values lie in sequences, or if it is `PAGED`
/// in pages of a multiple of `KEYS`, whose numbers `pages` has for each sequence.
#[kernel(
    instances(T = [bf16, f16], PAGED = [true], HEAD = [64, 128], (KEYS, STAGES) = [(64, 4)]),
    instances(T = [bf16, f16], PAGED = [false], (HEAD, KEYS, STAGES) = [(64, 128, 4), (128, 128, 3)])
)]
pub fn attention_decoding<
    T: OperandElement + SumElement,
    const PAGED: bool,
    const HEAD: usize,
    const KEYS: usize,
    const STAGES: usize,
>(
    block: Block<256>,
    queries: Tensor<T, Panels4<SHARED_HEADS, HEAD, 64>, Swizzle128>,
    keys: Tensor<T, Panels4<KEYS, HEAD, 64>, Swizzle128>,
    values: Tensor<T, Panels4<KEYS, HEAD, 64>, Swizzle128>,
    lengths: Input<u32>,
    pages: Input<u32>,
    scale: f32,
    out: TensorMut<f32, Panels4<SHARED_HEADS, HEAD, 32>, Swizzle128>,
    logarithms: RowValuesMut<SHARED_HEADS>,
    shared: Shared<DecodingRings<T, HEAD, KEYS, STAGES>>,
) where
    Columns<HEAD>: Width,
    Columns<KEYS>: Width,
{
    let ((query_stages, key_stages), (value_stages, outputs)) = {
        let (first, second) = shared.split();
        (first.split(), second.split())
    };
    let places = out.tile_places(&block);
    let heads = queries.extent(2).max(1) as u32;
    let count = queries.extent(3).max(1) as u32;
    let parts = (out.extent(3) as u32 / count).max(1);
    let of_sequence = (count / (lengths.len() as u32).max(1)).max(1);
    let pages_of_sequence = pages.len() / lengths.len().max(1);
    // Keys of a sequence for which there is room.
    let most = keys.rows() * if PAGED { pages_of_sequence } else { 1 };
    // The head of keys, the query, and its part.
    let place = |matrix: usize| {
        let (row, head) = (matrix as u32 / heads, matrix as u32 % heads);
        (head as i32, row / parts, row % parts)
    };
    // The sequence, the keys that the query sees of it, and the tiles of its part.
    let range = |query: u32, part: u32| {
        let (sequence, later) = (query / of_sequence, of_sequence - 1 - query % of_sequence);
        let length = lengths.get(sequence as usize).unwrap_or(0);
        let length = if (length as usize) < most { length } else { most as u32 };
        let seen = length.saturating_sub(later) as usize;
        (sequence, seen, tiles_of_part(seen, (part as usize, parts as usize), KEYS))
    };
    block
        .partition::<WarpRoles<128, 128>>()
        .pipeline(query_stages)
        .pipeline(key_stages)
        .pipeline(value_stages)
        .role((), |_, (mut of_queries, mut of_keys, mut of_values), ()| {
            for tile in 0..places.len() {
                let (head, query, part) = place(places.get(tile).1);
                let (sequence, _, tiles) = range(query, part);
                let Ok(stage) = of_queries.acquire() else { return };
                of_queries = stage.copy(queries.of_matrix(query as i32, head, 0)).commit();
                for tile in tiles {
                    let first = tile * KEYS;
                    let (fourth, row) = if PAGED {
                        let rows = keys.rows().max(1);
                        let page = (first / rows).min(pages_of_sequence.saturating_sub(1));
                        // A page that there is none of reads as zeros, as all does beyond an edge.
                        let page = pages.get(sequence as usize * pages_of_sequence + page).unwrap_or(u32::MAX);
                        (page.min(i32::MAX as u32) as i32, first % rows)
                    } else {
                        (sequence as i32, first)
                    };
                    let Ok(stage) = of_keys.acquire() else { return };
                    of_keys = stage.copy(keys.of_matrix(fourth, head, row as i32)).commit();
                    let Ok(stage) = of_values.acquire() else { return };
                    of_values = stage.copy(values.of_matrix(fourth, head, row as i32)).commit();
                }
            }
        })
        .role(
            (out, outputs, logarithms),
            |group, (mut of_queries, mut of_keys, mut of_values), (out, outputs, mut logarithms)| {
                let mut ring = outputs.outputs(&group, out);
                for tile in 0..places.len() {
                    let (_, query, part) = place(places.get(tile).1);
                    let (_, seen, tiles) = range(query, part);
                    let Ok(query) = of_queries.wait() else { return };
                    let (query_end, query) = query.hold();
                    let mut sums: Sums<Columns<HEAD>, 128> = group.sums(0.0);
                    let (mut largest, mut total) = (group.rows(LEAST), group.rows(0.0));
                    for tile in tiles {
                        let Ok(key) = of_keys.wait() else { return };
                        let (end, key) = key.hold();
                        let (scores, _, key) = group.product(Product::of(&group, &query, key));
                        of_keys = end.release(key);
                        let end = seen as i32 - (tile * KEYS) as i32;
                        let scores = if end < KEYS as i32 { scores.keep(&group, |_| 0..end) } else { scores };
                        let relative = Relative::ToMaximum { scale };
                        let [max, factor] = raised(&group, &largest, &scores, relative);
                        let (weights, more) = weighed(&group, scores, &max, relative);
                        largest = max;
                        total = total.zip(&group, &factor, |total, factor| total * factor);
                        total = total.zip(&group, &more.sum(&group), |total, more| total + more);
                        let Ok(value) = of_values.wait() else { return };
                        let (end, value) = value.hold();
                        let weighted = Product::onto(
                            sums.scale_rows(&group, &factor),
                            weights.into_factor::<T, _>(&group),
                            Across(value),
                        );
                        let done = group.product(weighted);
                        let Across(value) = done.2;
                        (sums, of_values) = (done.0, end.release(value));
                    }
                    of_queries = query_end.release(query);
                    let inverse = total.map(&group, |total| if total > 0.0 { 1.0 / total } else { 0.0 });
                    let of_row = |max, total| {
                        if total > 0.0 { (max * scale + math::log2(total)) * LN_2 } else { f32::NEG_INFINITY }
                    };
                    logarithms.set(tile, &group, &largest.zip(&group, &total, of_row));
                    let sums = sums.map_rows(&group, &inverse, |sum, inverse| sum * inverse);
                    ring.store_pairs_of_sums(tile, &group, &sums, |_, pair| pair);
                }
            },
        )
        .run_last();
}

/// Parts that are read at once.
const AT_ONCE: usize = 8;

/// Joins what [`attention_decoding`](fn@attention_decoding) has written for the parts of the keys,
/// in their order. `out` has a row for each query, with its heads of `head` elements side by side,
/// and `parts` as many rows for each of them as there are parts.
#[kernel(instances(T = [bf16, f16]))]
pub fn attention_join<T: SumElement>(
    block: Block<128>,
    parts: Input2D<f32>,
    logarithms: Input2D<f32>,
    head: u32,
    mut out: TilesMut2D<T, 1, 128>,
) {
    block.launch_dependents();
    let count = parts.height() / out.height().max(1);
    let (shared, heads_of_keys) = (logarithms.width().max(1), logarithms.height() / parts.height().max(1));
    let width = out.width();
    let mut results = out.for_block(&block);
    let places = results.places();
    for index in 0..results.len() {
        let (query, across) = places.get(index);
        let tile = results.get_mut(index);
        block.threads(|t| {
            let column = 128 * across + t.rank();
            if column >= width {
                return;
            }
            let of = column / (head as usize).max(1);
            let (of_keys, of_shared) = (of / shared, of % shared);
            let logarithm = |part: usize| {
                let row = (query * count + part) * heads_of_keys + of_keys;
                logarithms.get(row, of_shared).unwrap_or(f32::NEG_INFINITY)
            };
            let value = |part: usize| parts.get(query * count + part, column).unwrap_or(0.0);
            let (mut largest, mut sum, mut total) = (LEAST, 0.0, 0.0);
            // What was added before is scaled to the largest logarithm so far.
            let mut add = |logarithms: &[f32], values: &[f32]| {
                let before = largest;
                for one in logarithms {
                    largest = math::max(largest, *one);
                }
                let weight = |logarithm: f32| exp2_approximate((logarithm - largest) * LOG2_E);
                (sum, total) = (sum * weight(before), total * weight(before));
                for (logarithm, value) in logarithms.iter().zip(values) {
                    let weight = weight(*logarithm);
                    (sum, total) = (math::fma(weight, *value, sum), total + weight);
                }
            };
            // Several parts at once, so that their loads are under way together.
            let together = count / AT_ONCE * AT_ONCE;
            for first in (0..together).step_by(AT_ONCE) {
                let logarithms: [f32; AT_ONCE] = array::from_fn(|nth| logarithm(first + nth));
                add(&logarithms, &array::from_fn::<_, AT_ONCE, _>(|nth| value(first + nth)));
            }
            for part in together..count {
                add(&[logarithm(part)], &[value(part)]);
            }
            tile.set(&t, T::narrowed(if total > 0.0 { sum / total } else { 0.0 }));
        });
    }
}
