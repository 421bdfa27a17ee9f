//! The gradient of attention: of its queries, and of its keys and values.

#![allow(clippy::too_many_arguments, reason = "as many as there are matrices")]

use core::f32::consts::LOG2_E;
use core::ops::Deref;

use tilepipe::product::{Columns, OperandElement, OperandTile, SumElement, Sums, Width, exp2_approximate};
use tilepipe::reduce::{Add, Unordered};
use tilepipe::role::{Across, Budget, Partitioned, Product, Registers, RoleShared, SharedFactor, Turns, WarpRoles};
use tilepipe::{
    Block, Cyclic, Extents2, Grouped, Input2D, LastFirst, NoSwizzle, Outputs, Panels2, Panels4, PerLane, Shared,
    Stages, Stepped, Swizzle128, Tensor, TensorMap, TensorMut, TensorTile, TileReduction, Tiles2D, TilesMut2D, Uniform,
    Warp, bf16, f16, kernel, math,
};

use super::seen::{ALL, Seen, Sees};
use super::shaped::shaped_with_steepness;
use super::{Band, LEAST, MOST_HEADS, PLAIN, Rings, Shape, Tile, Tokens};

/// Writes what the gradient needs of each query, a row for each head of each sequence: above the
/// logarithms of [`forward_with_logarithms`](super::forward_with_logarithms), of the base 2, and
/// below, for the same heads, the products of the rows of result and gradient.
///
/// Threads of a warp read a query's head side by side, [`READERS`] of them, and add their sums up
/// in pairs.
#[kernel(instances(T = [bf16, f16]))]
pub fn attention_row_products<T: SumElement>(
    block: Block<128>,
    result: Tiles2D<T, 1, PIECE>,
    gradient: Tiles2D<T, 1, PIECE>,
    logarithms: Input2D<f32>,
    head: u32,
    mut out: TilesMut2D<f32, 1, 128>,
) {
    block.launch_dependents();
    let (queries, matrices) = (logarithms.width(), logarithms.height());
    let pieces = head as usize / PIECE;
    let heads = (result.width() / (head as usize).max(1)).max(1);
    let mut results = out.for_block(&block);
    let places = results.places();
    for index in 0..results.len() {
        let (matrix, across) = places.get(index);
        let tile = results.get_mut(index);
        if matrix < matrices {
            // A query that sees no key has minus infinity.
            block.threads(|t| {
                if let Some(logarithm) = logarithms.get(matrix, 128 * across + t.rank()) {
                    tile.set(&t, math::max(logarithm * LOG2_E, LEAST));
                }
            });
            continue;
        }
        let (first_row, first_piece) = ((matrix - matrices) / heads * queries, (matrix - matrices) % heads * pieces);
        block.warps(|warp| {
            let mut own = warp.map(|_| 0.0);
            for nth in 0..READERS {
                let mut sum = warp.map(|lane| {
                    let query = 128 * across + lane.thread().rank() / READERS * READERS + nth;
                    let (mut sum, mut piece) = (0.0, lane.rank() % READERS);
                    while query < queries && piece < pieces {
                        let (row, at) = (first_row + query, first_piece + piece);
                        let ((x, _), (y, _)) = (result.run::<PIECE>(row, at), gradient.run::<PIECE>(row, at));
                        for at in 0..PIECE {
                            sum = math::fma(x[at].widened(), y[at].widened(), sum);
                        }
                        piece += READERS;
                    }
                    sum
                });
                sum = with_partner::<1>(&warp, &sum);
                sum = with_partner::<2>(&warp, &sum);
                sum = with_partner::<4>(&warp, &sum);
                sum = with_partner::<8>(&warp, &sum);
                warp.update(&mut own, |lane, own| {
                    if lane.rank() % READERS == nth {
                        *own = sum.get(&lane);
                    }
                });
            }
            warp.lanes(|lane| {
                if 128 * across + lane.thread().rank() < queries {
                    tile.set(lane.thread(), own.get(&lane));
                }
            });
        });
    }
}

/// Elements that a thread reads at once.
const PIECE: usize = 8;

/// Threads that read a query's head of 128 elements at once.
const READERS: usize = 16;

/// Each lane's number and that of the lane whose rank differs in the bit `MASK`.
#[inline(always)]
fn with_partner<'w, const MASK: usize>(warp: &Warp<'w, '_, 128>, numbers: &PerLane<'w, f32>) -> PerLane<'w, f32> {
    let others = warp.swap::<MASK, _>(numbers);
    warp.map(|lane| numbers.get(&lane) + others.get(&lane))
}

/// How scores are made of products, and which keys a query sees.
#[derive(Clone, Copy, Debug, PartialEq, tilepipe::Element)]
#[repr(C)]
pub struct Scores {
    /// What products are multiplied by.
    pub scale: f32,
    /// The same with a factor of log2(e).
    pub scale_of_powers: f32,
    /// The keys that a query sees.
    pub band: Band,
}

/// Writes the gradient of the queries. `rows` are those of
/// [`attention_row_products`](fn@attention_row_products). [`backward`](super::backward) launches
/// it.
///
/// For each tile of queries it goes over the keys that they see. With the weights `P = exp(scale *
/// Q K^T - logarithm)` and the gradient `dP = dO V^T` of those, that of a score is `dS = P * (dP -
/// product)`, and that of the queries `scale * dS K`. `TURNS` is as for
/// [`attention`](fn@super::attention).
#[kernel(
    instances(
        T = [bf16, f16], (O, MASK) = [(Grouped<1024>, 0)],
        (HEAD, ROWS, KEYS, STAGES, TURNS) = [(64, 128, 128, 2, 0), (128, 128, 64, 3, 2)]
    ),
    instances(
        T = [bf16, f16], (O, MASK) = [(LastFirst, 2)],
        (HEAD, ROWS, KEYS, STAGES, TURNS) = [(64, 128, 128, 2, 0), (128, 128, 64, 3, 0)]
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
pub(super) fn attend_backwards_to_queries<
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
    let seen = |tile| Seen::<MASK, ROWS>::new(tile, queries.rows(), keys.rows(), band);
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

/// The gradient of keys or of values, in tiles of so many rows.
type OfTokens<'k, T, const ROWS: usize, const HEAD: usize, O> =
    TensorMut<'k, T, Panels4<ROWS, HEAD, 64>, Swizzle128, O>;

/// What the gradient needs of a tile of queries beside their elements.
type OfQueries<const QUERIES: usize> = TensorTile<f32, Extents2<1, QUERIES>, NoSwizzle>;

/// Two tiles that stay, of keys and values; stages of queries, of their gradient and of the numbers
/// of their rows; output stages of both gradients, and turns of the two warpgroups.
pub type KeyRings<T, const HEAD: usize, const ROWS: usize, const QUERIES: usize, const STAGES: usize> = (
    (
        (
            Partitioned<Stages<Tile<T, ROWS, HEAD>, 2, TensorMap>>,
            Partitioned<Stages<Tile<T, QUERIES, HEAD>, STAGES, TensorMap>>,
        ),
        (
            Partitioned<Stages<Tile<T, QUERIES, HEAD>, STAGES, TensorMap>>,
            Partitioned<Stages<(OfQueries<QUERIES>, OfQueries<QUERIES>), STAGES, TensorMap>>,
        ),
    ),
    (
        Outputs<TensorTile<T, Panels4<ROWS, HEAD, 64>, Swizzle128>, 1>,
        Outputs<TensorTile<T, Panels4<ROWS, HEAD, 64>, Swizzle128>, 1>,
        Turns<2>,
    ),
);

/// The queries that see the keys of a tile.
#[derive(Clone, Copy)]
struct SeenBy<const MASK: u32, const ROWS: usize> {
    /// The query whose own key the tile's first one is.
    own: i32,
    /// How many queries there are, and keys from the tile's first one on.
    queries: i32,
    keys: i32,
    band: Band,
}

impl<const MASK: u32, const ROWS: usize> SeenBy<MASK, ROWS> {
    #[inline(always)]
    fn new(tile: usize, queries: usize, keys: usize, band: Band) -> Self {
        let first = (tile * ROWS) as i32;
        SeenBy { own: first + queries as i32 - keys as i32, queries: queries as i32, keys: keys as i32 - first, band }
    }

    /// The queries that see a key, by its place in the tile.
    #[inline(always)]
    fn of(self, row: i32) -> core::ops::Range<i32> {
        if MASK == ALL {
            return 0..self.queries;
        }
        let own = self.own + row;
        (own - self.band.behind).max(0)..(own + self.band.before + 1).min(self.queries)
    }

    /// The tiles of so many queries that see some key; they may be none.
    #[inline(always)]
    fn tiles(self, of: usize) -> core::ops::Range<usize> {
        let last = self.of((ROWS as i32).min(self.keys) - 1).end.max(0) as usize;
        self.of(0).start as usize / of..last.div_ceil(of)
    }

    /// The tiles of so many queries that all see every key.
    #[inline(always)]
    fn whole_tiles(self, of: usize) -> core::ops::Range<usize> {
        let (start, end) = (self.of(ROWS as i32 - 1).start, self.of(0).end);
        (start.max(0) as usize).div_ceil(of)..end.max(0) as usize / of
    }
}

/// Writes the gradients of keys and values. `scores` and `rows` are as for
/// [`attention_queries_gradient`](fn@attention_queries_gradient).
///
/// For each tile of keys it goes over the queries that see them, of all heads that use them. What
/// is computed is the transposed of what that kernel computes: with `P^T` and `dS^T`, the gradient
/// of the values is `P^T dO`, and that of the keys `scale * dS^T Q`.
///
/// In groups of rows the queries of a head stay in the cache. Row by row the tiles with most
/// queries come first where a query sees the keys before its own, which is faster where there are
/// few.
#[kernel(
    instances(
        T = [bf16, f16], O = [Cyclic, Grouped<32>], MASK = [2],
        (HEAD, ROWS, QUERIES, STAGES) = [(64, 128, 96, 2), (128, 128, 64, 2)]
    )
)]
pub fn attention_keys_gradient<
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
    shared: Shared<KeyRings<T, HEAD, ROWS, QUERIES, STAGES>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<QUERIES>: Width,
{
    attend_backwards_to_keys::<_, O, _, MASK, false, HEAD, ROWS, QUERIES, STAGES>(
        block,
        (queries, gradient),
        (keys, values),
        rows,
        (scores, &PLAIN),
        (of_keys, of_values),
        shared,
    );
}

/// What is common to the gradients of keys and values whatever scores are besides products.
#[inline(always)]
pub(super) fn attend_backwards_to_keys<
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
    (keys, values): (Tokens<'_, T, ROWS, HEAD, 4>, Tokens<'_, T, ROWS, HEAD, 4>),
    rows: Tensor<f32, Extents2<1, QUERIES>, NoSwizzle>,
    (scores, shape): (Scores, P),
    (of_keys, of_values): (OfTokens<'_, T, ROWS, HEAD, O>, OfTokens<'_, T, ROWS, HEAD, O>),
    shared: Shared<KeyRings<T, HEAD, ROWS, QUERIES, STAGES>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<QUERIES>: Width,
{
    let (stages, outputs) = shared.split();
    let (first, second) = stages.split();
    let ((both_stages, query_stages), (gradient_stages, row_stages)) = (first.split(), second.split());
    let (key_outputs, value_outputs, turns) = outputs.split();
    let places = of_keys.tile_places(&block);
    let Scores { scale, scale_of_powers, band } = scores;
    // What scores are multiplied by once they have their shape.
    let unit = if SHAPED { 1.0 } else { scale_of_powers };
    let (heads, heads_of_keys) = (queries.extent(2).max(1) as u32, keys.extent(2).max(1) as u32);
    let shared_by = (heads / heads_of_keys).max(1);
    let seen = |tile| SeenBy::<MASK, ROWS>::new(tile, queries.rows(), keys.rows(), band);
    let below = rows.rows() as i32 / 2;
    block
        .partition::<Budget<WarpRoles<128, 256>, Registers<32, 232>>>()
        .pipeline(both_stages)
        .pipeline(query_stages)
        .pipeline(gradient_stages)
        .pipeline(row_stages)
        .role((), |_, (mut of_both, mut of_queries, mut of_gradient, mut of_rows), ()| {
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
                    // Counted in one register, of which this role has few.
                    let tiles = seen(row).tiles(QUERIES);
                    for tile in tiles.start as u32..tiles.end as u32 {
                        let first = (tile * QUERIES as u32) as i32;
                        let Ok(stage) = of_queries.acquire() else { return };
                        of_queries = stage.copy(queries.of_matrix(sequence, head, first)).commit();
                        let Ok(stage) = of_rows.acquire() else { return };
                        of_rows = stage.copy((rows.at(of_head, first), rows.at(below + of_head, first))).commit();
                        let Ok(stage) = of_gradient.acquire() else { return };
                        of_gradient = stage.copy(gradient.of_matrix(sequence, head, first)).commit();
                    }
                }
            }
        })
        .role(
            ((of_keys, key_outputs), (of_values, value_outputs), turns),
            |group, (mut of_both, mut of_queries, mut of_gradient, mut of_rows), (of_keys, of_values, turns)| {
                let mut turns = turns.turns(&group);
                let mut key_ring = of_keys.1.outputs(&group, of_keys.0);
                let mut value_ring = of_values.1.outputs(&group, of_values.0);
                for tile in 0..places.len() {
                    let (row, matrix) = places.get(tile);
                    let first_head = matrix as u32 % heads_of_keys * shared_by;
                    let seen = seen(row);
                    let (tiles, whole) = (seen.tiles(QUERIES), seen.whole_tiles(QUERIES));
                    let Ok(key) = of_both.wait() else { return };
                    let (end, key) = key.hold();
                    let Ok((end, value)) = end.wait() else { return };
                    let mut key_sums: Sums<Columns<HEAD>, 256> = group.sums(0.0);
                    let mut value_sums: Sums<Columns<HEAD>, 256> = group.sums(0.0);
                    for head in first_head..first_head + shared_by {
                        for tile in tiles.clone() {
                            let Ok(query) = of_queries.wait() else { return };
                            let (query_end, query) = query.hold();
                            let Ok(numbers) = of_rows.wait() else { return };
                            let (numbers_end, numbers) = numbers.hold();
                            let Ok(gradient) = of_gradient.wait() else { return };
                            let (gradient_end, gradient) = gradient.hold();
                            let scores = Product::of(&group, &key, &query);
                            let ((weights, steepness), (slopes, ..)) = group.products_in_half_turn(
                                &mut turns,
                                scores,
                                Product::of(&group, &value, &gradient),
                                |(scores, ..)| {
                                    let (scores, steepness) = if SHAPED {
                                        let slope = shape.slopes[head as usize % MOST_HEADS];
                                        let limits = (shape.cap, slope);
                                        // Rows are keys here, and columns queries.
                                        let before = (tile * QUERIES) as i32 - seen.own;
                                        let (scores, steepness) =
                                            shaped_with_steepness(&group, scores, scale_of_powers, limits, before);
                                        (scores, Some(steepness))
                                    } else {
                                        (scores, None)
                                    };
                                    let scores = if whole.contains(&tile) {
                                        scores
                                    } else {
                                        let first = (tile * QUERIES) as i32;
                                        scores.keep(&group, |row| {
                                            let queries = seen.of(row as i32);
                                            queries.start - first..queries.end - first
                                        })
                                    };
                                    let weights = scores.map_places(&group, |_, query, x| {
                                        let logarithm = numbers.tiles().0[(0, query)];
                                        exp2_approximate(math::fma(x, unit, -logarithm))
                                    });
                                    (weights, steepness)
                                },
                            );
                            let slopes = slopes
                                .map_places(&group, |_, query, slope| slope - numbers.tiles().1[(0, query)])
                                .zip(&group, &weights, |slope, weight| slope * weight);
                            let slopes = match &steepness {
                                Some(steepness) => slopes.zip(&group, steepness, |slope, steep| slope * steep),
                                None => slopes,
                            };
                            of_rows = numbers_end.release(numbers);
                            let weights = weights.into_factor::<T, _>(&group);
                            let slopes = slopes.into_factor::<T, _>(&group);
                            let of_value = Product::onto(value_sums, weights, Across(&gradient));
                            let of_key = Product::onto(key_sums, slopes, Across(&query));
                            // Measured: docs/decisions/106.
                            ((value_sums, ..), (key_sums, ..)) = if const { HEAD == 128 } {
                                group.products_in_half_turn(&mut turns, of_value, of_key, |done| done)
                            } else {
                                group.products_in_turn(&mut turns, of_value, of_key, |done| done)
                            };
                            of_gradient = gradient_end.release(gradient);
                            of_queries = query_end.release(query);
                        }
                    }
                    of_both = end.release(key).release(value);
                    value_ring.store_pairs_of_sums(tile, &group, &value_sums, |_, pair| pair);
                    key_ring.store_pairs_of_sums(tile, &group, &key_sums, |_, pair| pair.map(|sum| sum * scale));
                }
            },
        )
        .run_last();
}

/// Two tiles that stay, of keys and values; stages of queries and of their gradient in turns, and
/// of the numbers of their rows; room for the gradients of scores; and output stages of what is
/// added to the queries' gradient, and of the gradients of keys and values.
pub type WholeRings<T, const HEAD: usize, const ROWS: usize, const QUERIES: usize, const STAGES: usize> = (
    (
        Partitioned<Stages<Tile<T, ROWS, HEAD>, 2, TensorMap>>,
        Partitioned<Stages<Tile<T, QUERIES, HEAD>, STAGES, TensorMap>>,
        Partitioned<Stages<(OfQueries<QUERIES>, OfQueries<QUERIES>), 2, TensorMap>>,
    ),
    (SharedFactor<OperandTile<T, Panels2<ROWS, QUERIES, 64>, Swizzle128>>, Outputs<OfSums<HEAD, QUERIES>, 2>),
    (
        Outputs<TensorTile<T, Panels4<ROWS, HEAD, 64>, Swizzle128>, 1>,
        Outputs<TensorTile<T, Panels4<ROWS, HEAD, 64>, Swizzle128>, 1>,
    ),
);

/// What is added to the transposed gradient of the queries at once.
type OfSums<const HEAD: usize, const QUERIES: usize> = TensorTile<f32, Panels2<HEAD, QUERIES, 32>, Swizzle128>;

/// Writes the gradients of keys and values, as
/// [`attention_keys_gradient`](fn@attention_keys_gradient) does, and adds those of the queries to
/// `of_queries`, in whatever order the blocks come. That has `HEAD` rows for each head of each
/// sequence, with a column for each query.
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
    of_queries: TileReduction<f32, Unordered<Add>, Panels2<HEAD, QUERIES, 32>, Swizzle128>,
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
                                query_ring.add_sums(place, &group, &sums, |_, _, sum| sum * scale);
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
/// each sequence, of which the first `head` count, with a column for each query.
///
/// A warp reads 8 queries of each of 32 rows, and writes 32 elements of each of 8 queries.
#[kernel(instances(T = [bf16, f16]))]
pub fn attention_gradient_join<T: SumElement>(
    block: Block<128>,
    sums: Input2D<f32>,
    head: u32,
    mut out: TilesMut2D<T, 8, 128>,
) {
    block.launch_dependents();
    let (queries, head) = (sums.width().max(1), (head as usize).max(1));
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
                    let sum = sums.get((sequence * heads + of) * 128 + element, query).unwrap_or(0.0);
                    tile.set_nth(&t, row, T::narrowed(sum));
                }
            }
        });
    }
}
