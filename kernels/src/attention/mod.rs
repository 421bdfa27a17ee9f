//! Attention by tensor cores: softmax(Q K^T) V in one kernel.

#![allow(clippy::too_many_arguments, reason = "as many as there are matrices")]

use core::f32::consts::LN_2;
use core::ops::Deref;

use tilepipe::product::{
    Columns, OperandElement, OperandTile, RowValuesMut, SumElement, Sums, Width, reciprocal_approximate,
};
use tilepipe::role::{Across, Apart, Budget, Partitioned, Product, Registers, RoleShared, Turns, WarpRoles};
use tilepipe::{
    Block, Constant, FromEnd, Grouped, LastFirst, Outputs, Panels, Shared, Stages, Stepped, Swizzle128, Tensor,
    TensorMap, TensorMut, TensorTile, Uniform, bf16, f16, kernel, math,
};

#[cfg(not(target_arch = "nvptx64"))]
mod backward;
#[cfg(not(target_arch = "nvptx64"))]
mod decode;
mod decoding;
#[cfg(not(target_arch = "nvptx64"))]
mod error;
#[cfg(not(target_arch = "nvptx64"))]
mod forward;
mod gradient;
mod packed;
mod seen;
#[cfg(not(target_arch = "nvptx64"))]
mod sequences;
mod shaped;
mod softmax;

#[cfg(not(target_arch = "nvptx64"))]
pub use backward::{
    COLUMNS_OF_SUMS, Logarithms, Rows, SumsOfQueries, backward, backward_unordered, rows_of_room, rows_of_sums,
};
#[cfg(not(target_arch = "nvptx64"))]
pub use decode::{Cache, Numbers, PartsMut, decode, parts};
pub use decoding::{DecodingRings, SHARED_HEADS, attention_decoding, attention_join};
#[cfg(not(target_arch = "nvptx64"))]
pub use error::AttentionError;
#[doc(hidden)]
#[cfg(not(target_arch = "nvptx64"))]
pub use forward::tiles;
#[cfg(not(target_arch = "nvptx64"))]
pub use forward::{Attention, LogarithmsMut, forward, forward_with_logarithms, instances};
pub use gradient::{
    AloneRings, KeyRings, Scores, ValueRings, WholeRings, attention_gradient, attention_gradient_join,
    attention_keys_gradient, attention_keys_gradient_alone, attention_queries_gradient, attention_row_products,
    attention_values_gradient,
};
pub use packed::attention_packed;
pub use seen::{Band, Place};
use seen::{Seen, Sees};
#[cfg(not(target_arch = "nvptx64"))]
pub use sequences::{Sequences, forward_packed};
use shaped::shaped;
pub use shaped::{
    attention_keys_gradient_alone_shaped, attention_keys_gradient_shaped, attention_queries_gradient_shaped,
    attention_values_gradient_shaped,
};
use softmax::{Relative, raised, weighed};

/// What a row's maximum begins with: less than any score, and a number.
const LEAST: f32 = -1e30;

/// A tile of queries, keys or values that tensor cores read, of an array of two or four dimensions.
pub type Tile<T, const ROWS: usize, const HEAD: usize, const ARRAY: usize = 4> =
    OperandTile<T, Panels<ROWS, HEAD, 64, ARRAY>, Swizzle128>;

/// Stages of queries, of keys and of values, output stages, and turns of so many warpgroups.
pub type Rings<
    T,
    const HEAD: usize,
    const ARRAY: usize,
    const ROWS: usize,
    const KEYS: usize,
    const QUERIES: usize,
    const STAGES: usize,
    const TURNS: usize,
> = (
    (
        Partitioned<Stages<Tile<T, ROWS, HEAD, ARRAY>, QUERIES, TensorMap>>,
        Partitioned<Stages<Tile<T, KEYS, HEAD, ARRAY>, STAGES, TensorMap>>,
    ),
    (
        Partitioned<Stages<Tile<T, KEYS, HEAD, ARRAY>, STAGES, TensorMap>>,
        Outputs<TensorTile<T, Panels<ROWS, HEAD, 64, ARRAY>, Swizzle128>, 2>,
        Turns<TURNS>,
    ),
);

/// What else is done to scores before the softmax.
#[derive(Clone, Copy, Debug, PartialEq, tilepipe::Element)]
#[repr(C)]
pub struct Shape {
    /// Scores are kept below this; not if it is 0.
    pub cap: f32,
    /// By how much a score is lowered for each key of distance, for the heads.
    pub slopes: [f32; MOST_HEADS],
}

/// The most heads of which each has a slope of its own.
pub const MOST_HEADS: usize = 256;

/// Scores that are products and nothing else.
const PLAIN: Shape = Shape { cap: 0.0, slopes: [0.0; MOST_HEADS] };

/// Writes softmax(scale * Q K^T) V of each head, for the base 2: `scale` has a factor of log2(e).
/// The matrices have a row for each token, a third dimension of heads and a fourth one of
/// sequences, or of one sequence heads of `HEAD` elements side by side, where `ARRAY` is 2.
/// [`forward`] launches it.
///
/// One thread of the first role has the copy engine load tiles. Two or three warpgroups multiply,
/// 64 queries each: the scores of a tile of keys, and meanwhile the weights of the tile before with
/// its values. `MASK` says which keys a query sees, all, those up to its own or those of `band`,
/// and `SHAPED` whether scores are more than products. `TURNS` is how many warpgroups start their
/// products in turn: all that multiply, or none. If they run `APART` each goes over the tiles of
/// keys that its own 64 queries see, gives the others back, and passes its turns for them.
#[kernel(
    instances(
        T = [bf16, f16], O = [Grouped<1024>], (MASK, SHAPED) = [(0, false)], HEAD = [128],
        ARRAY = [4], (ROWS, KEYS, QUERIES, STAGES) = [(192, 80, 2, 2)],
        (THREADS, CONSUMERS, LESS, MORE, TURNS, APART) = [(512, 384, 32, 160, 0, false)]
    ),
    instances(
        T = [bf16, f16], O = [FromEnd], (MASK, SHAPED) = [(1, false), (2, false)], HEAD = [128],
        ARRAY = [4], (ROWS, KEYS, QUERIES, STAGES) = [(192, 80, 2, 2)],
        (THREADS, CONSUMERS, LESS, MORE, TURNS, APART) = [(512, 384, 32, 160, 0, true)]
    ),
    instances(
        T = [bf16, f16], O = [Grouped<1024>], (MASK, SHAPED) = [(0, false)], HEAD = [64],
        ARRAY = [2, 4], (ROWS, KEYS, QUERIES, STAGES) = [(192, 128, 2, 3)],
        (THREADS, CONSUMERS, LESS, MORE, TURNS, APART) = [(512, 384, 32, 160, 3, false)]
    ),
    instances(
        T = [bf16, f16], O = [Grouped<1024>], (MASK, SHAPED) = [(0, false)], HEAD = [64],
        ARRAY = [4], (ROWS, KEYS, QUERIES, STAGES) = [(128, 208, 2, 2)],
        (THREADS, CONSUMERS, LESS, MORE, TURNS, APART) = [(384, 256, 24, 240, 0, false)]
    ),
    instances(
        T = [bf16, f16], O = [FromEnd], (MASK, SHAPED) = [(1, false), (2, false)], HEAD = [64],
        ARRAY = [4], (ROWS, KEYS, QUERIES, STAGES) = [(192, 128, 2, 3)],
        (THREADS, CONSUMERS, LESS, MORE, TURNS, APART) = [(512, 384, 32, 160, 3, true)]
    ),
    instances(
        T = [bf16, f16], O = [FromEnd], (MASK, SHAPED) = [(2, false)], HEAD = [64],
        ARRAY = [4], (ROWS, KEYS, QUERIES, STAGES) = [(192, 64, 2, 5)],
        (THREADS, CONSUMERS, LESS, MORE, TURNS, APART) = [(512, 384, 32, 160, 0, true)]
    ),
    instances(
        T = [bf16, f16], O = [Grouped<1024>], (MASK, SHAPED) = [(0, false)], HEAD = [128],
        ARRAY = [4], (ROWS, KEYS, QUERIES, STAGES) = [(128, 128, 2, 2)],
        (THREADS, CONSUMERS, LESS, MORE, TURNS, APART) = [(384, 256, 24, 240, 0, false)]
    ),
    instances(
        T = [bf16, f16], O = [LastFirst], (MASK, SHAPED) = [(1, false), (2, false)], HEAD = [128, 64],
        ARRAY = [4], (ROWS, KEYS, QUERIES, STAGES) = [(128, 128, 2, 2)],
        (THREADS, CONSUMERS, LESS, MORE, TURNS, APART) = [(384, 256, 24, 240, 0, false)]
    ),
    instances(
        T = [bf16, f16], O = [Grouped<1024>], (MASK, SHAPED) = [(0, false)], HEAD = [256],
        ARRAY = [4], (ROWS, KEYS, QUERIES, STAGES) = [(128, 64, 1, 2)],
        (THREADS, CONSUMERS, LESS, MORE, TURNS, APART) = [(384, 256, 24, 240, 0, false)]
    ),
    instances(
        T = [bf16, f16], O = [LastFirst], (MASK, SHAPED) = [(2, false)], HEAD = [256],
        ARRAY = [4], (ROWS, KEYS, QUERIES, STAGES) = [(128, 64, 1, 2)],
        (THREADS, CONSUMERS, LESS, MORE, TURNS, APART) = [(384, 256, 24, 240, 0, true)]
    ),
    instances(
        T = [bf16, f16], O = [LastFirst], (MASK, SHAPED) = [(2, true)], HEAD = [64],
        ARRAY = [4], (ROWS, KEYS, QUERIES, STAGES) = [(128, 128, 2, 2)],
        (THREADS, CONSUMERS, LESS, MORE, TURNS, APART) = [(384, 256, 24, 240, 0, false)]
    ),
    instances(
        T = [bf16, f16], O = [LastFirst], (MASK, SHAPED) = [(2, true)], HEAD = [128],
        ARRAY = [4], (ROWS, KEYS, QUERIES, STAGES) = [(128, 64, 2, 3)],
        (THREADS, CONSUMERS, LESS, MORE, TURNS, APART) = [(384, 256, 24, 240, 0, false)]
    ),
    instances(
        T = [bf16, f16], O = [LastFirst], (MASK, SHAPED) = [(2, true)], HEAD = [256],
        ARRAY = [4], (ROWS, KEYS, QUERIES, STAGES) = [(128, 32, 1, 4)],
        (THREADS, CONSUMERS, LESS, MORE, TURNS, APART) = [(384, 256, 24, 240, 0, false)]
    )
)]
pub fn attention<
    T: OperandElement + SumElement,
    O: Stepped,
    const MASK: u32,
    const SHAPED: bool,
    const HEAD: usize,
    const ARRAY: usize,
    const ROWS: usize,
    const KEYS: usize,
    const QUERIES: usize,
    const STAGES: usize,
    const THREADS: usize,
    const CONSUMERS: usize,
    const LESS: usize,
    const MORE: usize,
    const TURNS: usize,
    const APART: bool,
>(
    block: Block<THREADS>,
    queries: Tensor<T, Panels<ROWS, HEAD, 64, ARRAY>, Swizzle128>,
    keys: Tensor<T, Panels<KEYS, HEAD, 64, ARRAY>, Swizzle128>,
    values: Tensor<T, Panels<KEYS, HEAD, 64, ARRAY>, Swizzle128>,
    scale: f32,
    band: Band,
    shape: Constant<Shape>,
    out: TensorMut<T, Panels<ROWS, HEAD, 64, ARRAY>, Swizzle128, O>,
    logarithms: RowValuesMut<ROWS, O>,
    shared: Shared<Rings<T, HEAD, ARRAY, ROWS, KEYS, QUERIES, STAGES, TURNS>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<KEYS>: Width,
{
    // Tiles of 128 queries are for short sequences, where the next kernel's start counts. With
    // heads of 128 that see all keys its blocks in another order cost more.
    if const { ROWS == 128 && (HEAD == 64 || HEAD == 128 && MASK != 0) } {
        block.launch_dependents();
    }
    let seen = |tile| Seen::<MASK, ROWS>::new(queries.row_of_tile::<O>(tile), queries.rows(), keys.rows(), band);
    attend::<_, _, O, _, SHAPED, HEAD, ARRAY, ROWS, KEYS, QUERIES, STAGES, THREADS, CONSUMERS, LESS, MORE, TURNS, APART>(
        block,
        queries,
        (keys, values),
        (scale, shape),
        seen,
        (out, logarithms),
        shared,
    );
}

/// Queries, keys or values, in tiles of so many rows.
type Tokens<'k, T, const ROWS: usize, const HEAD: usize, const ARRAY: usize> =
    Tensor<'k, T, Panels<ROWS, HEAD, 64, ARRAY>, Swizzle128>;

/// What is common to attention whatever a query sees, which `seen` says of a tile of queries.
#[inline(always)]
fn attend<
    T: OperandElement + SumElement,
    V: Sees,
    O: Stepped,
    P: Deref<Target = Shape> + Uniform + RoleShared,
    const SHAPED: bool,
    const HEAD: usize,
    const ARRAY: usize,
    const ROWS: usize,
    const KEYS: usize,
    const QUERIES: usize,
    const STAGES: usize,
    const THREADS: usize,
    const CONSUMERS: usize,
    const LESS: usize,
    const MORE: usize,
    const TURNS: usize,
    const APART: bool,
>(
    block: Block<THREADS>,
    queries: Tokens<'_, T, ROWS, HEAD, ARRAY>,
    (keys, values): (Tokens<'_, T, KEYS, HEAD, ARRAY>, Tokens<'_, T, KEYS, HEAD, ARRAY>),
    (scale, shape): (f32, P),
    seen: impl Fn(usize) -> V + Uniform + RoleShared,
    (out, logarithms): (TensorMut<T, Panels<ROWS, HEAD, 64, ARRAY>, Swizzle128, O>, RowValuesMut<ROWS, O>),
    shared: Shared<Rings<T, HEAD, ARRAY, ROWS, KEYS, QUERIES, STAGES, TURNS>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<KEYS>: Width,
{
    let ((query_stages, key_stages), (value_stages, outputs, turns)) = {
        let (first, second) = shared.split();
        (first.split(), second.split())
    };
    let turns = turns.prepare(&block);
    let places = out.tile_places(&block);
    let heads = queries.matrices().max(1) as u32;
    // Heads of queries for each one of keys.
    let shared_by = (heads / keys.matrices().max(1) as u32).max(1);
    // What scores are multiplied by once they have their shape.
    let unit = if SHAPED { 1.0 } else { scale };
    // Measured: docs/decisions/114.
    let to_product = match HEAD {
        64 => ROWS == 192,
        128 => ROWS == 128 && (V::ALL || !V::FROM_FIRST),
        _ => true,
    };
    let relative =
        if to_product && !SHAPED { Relative::ToProduct { scale: unit } } else { Relative::ToMaximum { scale: unit } };
    block
        .partition::<Apart<Budget<WarpRoles<128, CONSUMERS>, Registers<LESS, MORE>>, APART>>()
        .pipeline(query_stages)
        .pipeline(key_stages)
        .pipeline(value_stages)
        .role((), |_, (mut of_queries, mut of_keys, mut of_values), ()| {
            for tile in places {
                let (row, matrix) = tile.get();
                let (sequence, head) = (matrix as u32 / heads, matrix as u32 % heads);
                let (sequence, of_key) = (sequence as i32, (head / shared_by) as i32);
                let tiles = seen(row).tiles(KEYS);
                let first_of = |tile: u32| (tile * KEYS as u32) as i32;
                let queries_of = |first| queries.of_matrix(sequence, head as i32, first);
                // Measured: docs/decisions/112 and 113.
                if const { HEAD == 128 || HEAD == 64 && V::FROM_FIRST && !APART } {
                    let Ok(stage) = of_queries.acquire() else { return };
                    of_queries = stage.copy(queries_of(queries.row_of_tile::<O>(row))).commit();
                    for tile in tiles.rev() {
                        let first = first_of(tile as u32);
                        let Ok(stage) = of_keys.acquire() else { return };
                        of_keys = stage.copy(keys.of_matrix(sequence, of_key, first)).commit();
                        let Ok(stage) = of_values.acquire() else { return };
                        of_values = stage.copy(values.of_matrix(sequence, of_key, first)).commit();
                    }
                    continue;
                }
                // In the order in which they are multiplied: values come a tile behind. The first
                // keys don't wait until the queries of an earlier tile have been read.
                let mut tile = tiles.end as u32 - 1;
                let Ok(stage) = of_keys.acquire() else { return };
                of_keys = stage.copy(keys.of_matrix(sequence, of_key, first_of(tile))).commit();
                let Ok(stage) = of_queries.acquire() else { return };
                of_queries = stage.copy(queries_of(queries.row_of_tile::<O>(row))).commit();
                while tile > tiles.start as u32 {
                    let Ok(stage) = of_keys.acquire() else { return };
                    of_keys = stage.copy(keys.of_matrix(sequence, of_key, first_of(tile - 1))).commit();
                    let Ok(stage) = of_values.acquire() else { return };
                    of_values = stage.copy(values.of_matrix(sequence, of_key, first_of(tile))).commit();
                    tile -= 1;
                }
                let Ok(stage) = of_values.acquire() else { return };
                of_values = stage.copy(values.of_matrix(sequence, of_key, first_of(tile))).commit();
            }
        })
        .role(
            (out, (outputs, turns), logarithms),
            |group, (mut of_queries, mut of_keys, mut of_values), (out, (outputs, turns), mut logarithms)| {
                let (mut ring, mut turns) = (outputs.outputs(&group, out), turns.turns(&group));
                for tile in places {
                    let (row, matrix) = tile.get();
                    let seen = seen(row);
                    let all = seen.tiles(KEYS);
                    let (tiles, whole) = if APART {
                        let own = group.own_rows();
                        (seen.tiles_of(own.clone(), KEYS), seen.whole_tiles_of(own, KEYS))
                    } else {
                        (all.clone(), seen.whole_tiles(KEYS))
                    };
                    let shaped = |scores, tile: usize| {
                        if !SHAPED {
                            return scores;
                        }
                        let slope = shape.slopes[(matrix as u32 % heads) as usize % MOST_HEADS];
                        shaped(&group, scores, scale, (shape.cap, slope), (tile * KEYS) as i32 - seen.own())
                    };
                    let Ok(query) = of_queries.wait() else { return };
                    let (query_end, query) = query.hold();
                    if APART {
                        // Tiles that other warpgroups see.
                        for _ in tiles.end as u32..all.end as u32 {
                            turns.pass(&group);
                            let Ok(key) = of_keys.wait() else { return };
                            let Ok(value) = of_values.wait() else { return };
                            (of_keys, of_values) = (key.release(), value.release());
                        }
                    }
                    let Ok(key) = of_keys.wait() else { return };
                    let (end, key) = key.hold();
                    let (scores, _, key) = group.product(Product::of(&group, &query, key));
                    of_keys = end.release(key);
                    // The tile of keys in hand.
                    let mut next = tiles.end as u32 - 1;
                    let tile_of_keys = next as usize;
                    let scores = shaped(scores, tile_of_keys).keep(&group, |row| seen.of_tile(row, tile_of_keys, KEYS));
                    let mut base = scores.row_max(&group).map(&group, |max| relative.of(math::max(max, LEAST)));
                    let (weights, mut total) = weighed(&group, scores, &base, relative);
                    let mut factors = weights.into_factor::<T, _>(&group);
                    let mut sums: Sums<Columns<HEAD>, CONSUMERS> = group.sums(0.0);
                    let start = if V::FROM_FIRST { 0 } else { tiles.start as u32 };
                    // Measured: docs/decisions/102 and 113.
                    let found_once = const { ROWS == 192 && (HEAD == 128 || V::ALL || TURNS > 0) };
                    let rows = found_once.then(|| group.factor_rows(&query));
                    while next > start {
                        next -= 1;
                        let Ok(key) = of_keys.wait() else { return };
                        let (key_end, key) = key.hold();
                        let scores = match &rows {
                            Some(rows) => Product::of_rows(&group, rows, key),
                            None => Product::of(&group, &query, key),
                        };
                        let Ok(value) = of_values.wait() else { return };
                        let (value_end, value) = value.hold();
                        let (weights, factor);
                        let younger = Product::onto(sums, factors, Across(value));
                        let (softmax, (summed, _, Across(value))) =
                            group.products_in_turn(&mut turns, scores, younger, |(scores, _, key)| {
                                let end = key_end.release(key);
                                let tile = next as usize;
                                let of_tile = |row| seen.of_tile(row, tile, KEYS);
                                let scores = shaped(scores, tile);
                                let scores = if whole.contains(&tile) { scores } else { scores.keep(&group, of_tile) };
                                let [base, factor] = raised(&group, &base, &scores, relative);
                                let (weights, more) = weighed(&group, scores, &base, relative);
                                let total = total.scale_and_add(&group, &factor, &more);
                                (end, factor, base, weights, total)
                            });
                        (of_keys, factor, base, weights, total) = softmax;
                        of_values = value_end.release(value);
                        factors = weights.into_factor(&group);
                        sums = summed.scale_rows(&group, &factor);
                    }
                    of_queries = query_end.release(query);
                    let Ok(value) = of_values.wait() else { return };
                    let (end, value) = value.hold();
                    let (sums, _, Across(value)) = group.product(Product::onto(sums, factors, Across(value)));
                    of_values = end.release(value);
                    if APART && !V::FROM_FIRST {
                        for _ in all.start as u32..tiles.start as u32 {
                            turns.pass(&group);
                            let Ok(key) = of_keys.wait() else { return };
                            let Ok(value) = of_values.wait() else { return };
                            (of_keys, of_values) = (key.release(), value.release());
                        }
                    }
                    let total = total.sum(&group);
                    // Where this is, and whether the tile is counted, changes what `ptxas` keeps in
                    // registers over the loop: docs/decisions/102.
                    let behind = const { HEAD == 64 && ROWS == 192 && ARRAY == 2 && V::ALL };
                    let mut write_logarithms = || {
                        if !logarithms.is_empty() {
                            let of_row = |base, total| {
                                if total > 0.0 {
                                    (relative.power(base) + math::log2(total)) * LN_2
                                } else {
                                    f32::NEG_INFINITY
                                }
                            };
                            let of_rows = base.zip(&group, &total, of_row);
                            if const { V::ALL && ROWS == 128 } {
                                logarithms.set(tile.index(), &group, &of_rows);
                            } else {
                                logarithms.set(tile, &group, &of_rows);
                            }
                        }
                    };
                    if !behind {
                        write_logarithms();
                    }
                    let inverted = |total: f32| if V::ALL { 1.0 / total } else { reciprocal_approximate(total) };
                    let inverse = total.map(&group, |total| if total > 0.0 { inverted(total) } else { 0.0 });
                    let sums = sums.map_rows(&group, &inverse, |sum, inverse| sum * inverse);
                    ring.store_pairs_of_sums(tile, &group, &sums, |_, pair| pair);
                    if behind {
                        write_logarithms();
                    }
                }
            },
        )
        .run_last();
}
