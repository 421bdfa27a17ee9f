//! The gradients of keys and values.

#![allow(clippy::too_many_arguments, reason = "as many as there are matrices")]

use core::ops::{Deref, Range};

use tilepipe::product::{Columns, OperandElement, SumElement, Sums, Width, exp2_approximate};
use tilepipe::role::{
    Across, Budget, Partitioned, Product, Registers, RoleGroup, RoleShared, Turns, WarpRoles, Warpgroups,
};
use tilepipe::{
    Block, Cyclic, Extents2, Grouped, NoSwizzle, Outputs, Panels4, Shared, Stages, Stepped, Swizzle128, Tensor,
    TensorMap, TensorMut, TensorTile, Uniform, bf16, f16, kernel, math,
};

use super::super::seen::ALL;
use super::super::shaped::shaped_with_steepness;
use super::super::{Band, MOST_HEADS, PLAIN, Shape, Tile, Tokens};
use super::Scores;

/// The gradient of keys or of values, in tiles of so many rows.
pub(super) type OfTokens<'k, T, const ROWS: usize, const HEAD: usize, O> =
    TensorMut<'k, T, Panels4<ROWS, HEAD, 64>, Swizzle128, O>;

/// What the gradient needs of a tile of queries beside their elements.
pub(super) type OfQueries<const QUERIES: usize> = TensorTile<f32, Extents2<1, QUERIES>, NoSwizzle>;

/// A number for each key of a warpgroup's rows and each query of a tile.
type OfTile<'r, const QUERIES: usize> = Sums<'r, Columns<QUERIES>, 256>;

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
pub(super) struct SeenBy<const MASK: u32, const ROWS: usize> {
    /// The query whose own key the tile's first one is.
    own: i32,
    /// How many queries there are, and keys from the tile's first one on.
    queries: i32,
    pub(super) keys: i32,
    band: Band,
}

impl<const MASK: u32, const ROWS: usize> SeenBy<MASK, ROWS> {
    #[inline(always)]
    pub(super) fn new(tile: usize, queries: usize, keys: usize, band: Band) -> Self {
        let first = (tile * ROWS) as i32;
        SeenBy { own: first + queries as i32 - keys as i32, queries: queries as i32, keys: keys as i32 - first, band }
    }

    /// The queries that see a key, by its place in the tile.
    #[inline(always)]
    pub(super) fn of(self, row: i32) -> Range<i32> {
        if MASK == ALL {
            return 0..self.queries;
        }
        let own = self.own + row;
        (own - self.band.behind).max(0)..(own + self.band.before + 1).min(self.queries)
    }

    /// The tiles of so many queries that see some key; they may be none.
    #[inline(always)]
    pub(super) fn tiles(self, of: usize) -> Range<usize> {
        let last = self.of((ROWS as i32).min(self.keys) - 1).end.max(0) as usize;
        self.of(0).start as usize / of..last.div_ceil(of)
    }

    /// The tiles of so many queries that all see every key.
    #[inline(always)]
    pub(super) fn whole_tiles(self, of: usize) -> Range<usize> {
        let (start, end) = (self.of(ROWS as i32 - 1).start, self.of(0).end);
        (start.max(0) as usize).div_ceil(of)..end.max(0) as usize / of
    }
}

/// The weights `P^T` of a tile of queries of a head, from the products of their keys with them, and
/// how much each score changes with its product, if that has a `shape`. `whole` are the tiles of
/// which each query sees all keys, and `logarithms` those of the queries' sums.
#[inline(always)]
pub(super) fn transposed_weights<
    'r,
    R: Warpgroups,
    const MASK: u32,
    const SHAPED: bool,
    const ROWS: usize,
    const QUERIES: usize,
>(
    group: &RoleGroup<'r, R, 256>,
    products: OfTile<'r, QUERIES>,
    (scale, shape): (f32, &Shape),
    (seen, whole): (SeenBy<MASK, ROWS>, Range<usize>),
    (head, tile): (u32, usize),
    logarithms: &OfQueries<QUERIES>,
) -> (OfTile<'r, QUERIES>, Option<OfTile<'r, QUERIES>>)
where
    Columns<QUERIES>: Width,
{
    let first = (tile * QUERIES) as i32;
    let (scores, steepness) = if SHAPED {
        let limits = (shape.cap, shape.slopes[head as usize % MOST_HEADS]);
        // Rows are keys here, and columns queries.
        let (scores, steepness) = shaped_with_steepness(group, products, scale, limits, first - seen.own);
        (scores, Some(steepness))
    } else {
        (products, None)
    };
    let scores = if whole.contains(&tile) {
        scores
    } else {
        scores.keep(group, |row| {
            let queries = seen.of(row as i32);
            queries.start - first..queries.end - first
        })
    };
    // What scores are multiplied by once they have their shape.
    let unit = if SHAPED { 1.0 } else { scale };
    let weights = scores.map_places(group, |_, query, x| exp2_approximate(math::fma(x, unit, -logarithms[(0, query)])));
    (weights, steepness)
}

/// Writes the gradients of keys and values. `scores` and `rows` are as for
/// [`attention_queries_gradient`](fn@super::attention_queries_gradient).
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
pub(in crate::attention) fn attend_backwards_to_keys<
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
                                    transposed_weights::<_, MASK, SHAPED, ROWS, QUERIES>(
                                        &group,
                                        scores,
                                        (scale_of_powers, &*shape),
                                        (seen, whole.clone()),
                                        (head, tile),
                                        numbers.tiles().0,
                                    )
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
