//! Attention by tensor cores: softmax(Q K^T) V in one kernel.

use core::ops::Range;

use tilepipe::product::{
    Columns, OperandElement, OperandTile, RowParts, RowValues, SumElement, Sums, Width, exp2_approximate,
};
use tilepipe::role::{Across, Budget, Partitioned, Product, Registers, RoleGroup, WarpRoles, Warpgroups};
use tilepipe::{
    Block, Grouped, LastFirst, Outputs, Panels2, Shared, Stages, Stepped, Swizzle128, Tensor, TensorMap, TensorMut,
    TensorTile, bf16, f16, kernel, math,
};

#[cfg(not(target_arch = "nvptx64"))]
mod forward;

#[cfg(not(target_arch = "nvptx64"))]
pub use forward::{Attention, AttentionError, forward, instances};

/// What a row's maximum begins with: less than any score, and a number.
const LEAST: f32 = -1e30;

/// By how many powers of two a row's scores may exceed the maximum that its weights are relative
/// to.
const GROWTH: f32 = 8.0;

/// A tile of queries, keys or values that tensor cores read.
pub type Tile<T, const ROWS: usize, const HEAD: usize> = OperandTile<T, Panels2<ROWS, HEAD, 64>, Swizzle128>;

/// Stages of queries, of keys and of values, and output stages.
pub type Rings<T, const HEAD: usize, const ROWS: usize, const KEYS: usize, const QUERIES: usize, const STAGES: usize> = (
    (
        Partitioned<Stages<Tile<T, ROWS, HEAD>, QUERIES, TensorMap>>,
        Partitioned<Stages<Tile<T, KEYS, HEAD>, STAGES, TensorMap>>,
    ),
    (
        Partitioned<Stages<Tile<T, KEYS, HEAD>, STAGES, TensorMap>>,
        Outputs<TensorTile<T, Panels2<ROWS, HEAD, 64>, Swizzle128>, 2>,
    ),
);

/// The keys that the queries of a tile see.
#[derive(Clone, Copy)]
struct Seen<const CAUSAL: bool, const ROWS: usize> {
    /// The tile's first query.
    first: i32,
    /// How many keys there are.
    keys: i32,
    /// How many keys more than queries.
    more: i32,
}

impl<const CAUSAL: bool, const ROWS: usize> Seen<CAUSAL, ROWS> {
    #[inline(always)]
    fn new(tile: usize, queries: usize, keys: usize) -> Self {
        Seen { first: (tile * ROWS) as i32, keys: keys as i32, more: keys as i32 - queries as i32 }
    }

    /// The end of the keys that a query sees, by its place in the tile.
    #[inline(always)]
    fn end(self, row: i32) -> i32 {
        if CAUSAL { self.keys.min(self.first + row + self.more + 1) } else { self.keys }
    }

    /// Tiles of so many keys that some query sees a part of, one at least.
    #[inline(always)]
    fn tiles(self, of: usize) -> usize {
        (self.end(ROWS as i32 - 1).max(1) as usize).div_ceil(of)
    }

    /// Tiles of so many keys that every query sees all of.
    #[inline(always)]
    fn whole_tiles(self, of: usize) -> usize {
        self.end(0).max(0) as usize / of
    }

    /// What a query sees of a tile of so many keys.
    #[inline(always)]
    fn of_tile(self, row: usize, tile: usize, of: usize) -> Range<i32> {
        0..self.end(row as i32) - (tile * of) as i32
    }
}

/// Writes softmax(scale * Q K^T) V of each head, for the base 2: `scale` has a factor of log2(e).
/// The matrices have a row for each token, and heads side by side. [`forward`] launches it.
///
/// One thread of the first role has the copy engine load tiles. Two or three warpgroups multiply,
/// 64 queries each: the scores of a tile of keys, and meanwhile the weights of the tile before with
/// its values.
#[kernel(
    instances(
        T = [bf16, f16], O = [Grouped<1024>], CAUSAL = [false], HEAD = [128],
        (ROWS, KEYS, QUERIES, STAGES) = [(192, 80, 1, 3)],
        (THREADS, CONSUMERS, LESS, MORE) = [(512, 384, 32, 160)]
    ),
    instances(
        T = [bf16, f16], O = [LastFirst], CAUSAL = [true], HEAD = [128],
        (ROWS, KEYS, QUERIES, STAGES) = [(192, 80, 2, 2)],
        (THREADS, CONSUMERS, LESS, MORE) = [(512, 384, 32, 160)]
    ),
    instances(
        T = [bf16, f16], O = [Grouped<1024>], CAUSAL = [false], HEAD = [64],
        (ROWS, KEYS, QUERIES, STAGES) = [(192, 128, 1, 3)],
        (THREADS, CONSUMERS, LESS, MORE) = [(512, 384, 32, 160)]
    ),
    instances(
        T = [bf16, f16], O = [LastFirst], CAUSAL = [true], HEAD = [64],
        (ROWS, KEYS, QUERIES, STAGES) = [(192, 128, 1, 3)],
        (THREADS, CONSUMERS, LESS, MORE) = [(512, 384, 32, 160)]
    ),
    instances(
        T = [bf16, f16], O = [Grouped<1024>], CAUSAL = [false], HEAD = [128],
        (ROWS, KEYS, QUERIES, STAGES) = [(128, 128, 2, 2)],
        (THREADS, CONSUMERS, LESS, MORE) = [(384, 256, 24, 240)]
    ),
    instances(
        T = [bf16, f16], O = [LastFirst], CAUSAL = [true], HEAD = [128, 64],
        (ROWS, KEYS, QUERIES, STAGES) = [(128, 128, 2, 2)],
        (THREADS, CONSUMERS, LESS, MORE) = [(384, 256, 24, 240)]
    )
)]
pub fn attention<
    T: OperandElement + SumElement,
    O: Stepped,
    const CAUSAL: bool,
    const HEAD: usize,
    const ROWS: usize,
    const KEYS: usize,
    const QUERIES: usize,
    const STAGES: usize,
    const THREADS: usize,
    const CONSUMERS: usize,
    const LESS: usize,
    const MORE: usize,
>(
    block: Block<THREADS>,
    queries: Tensor<T, Panels2<ROWS, HEAD, 64>, Swizzle128>,
    keys: Tensor<T, Panels2<KEYS, HEAD, 64>, Swizzle128>,
    values: Tensor<T, Panels2<KEYS, HEAD, 64>, Swizzle128>,
    scale: f32,
    out: TensorMut<T, Panels2<ROWS, HEAD, 64>, Swizzle128, O>,
    shared: Shared<Rings<T, HEAD, ROWS, KEYS, QUERIES, STAGES>>,
) where
    Columns<ROWS>: Width,
    Columns<HEAD>: Width,
    Columns<KEYS>: Width,
{
    let ((query_stages, key_stages), (value_stages, outputs)) = {
        let (first, second) = shared.split();
        (first.split(), second.split())
    };
    let places = out.tile_places(&block);
    // Heads of queries for each one of keys.
    let shared_by = (queries.columns() / keys.columns().max(1)).max(1);
    let seen = |tile| Seen::<CAUSAL, ROWS>::new(tile, queries.rows(), keys.rows());
    block
        .partition::<Budget<WarpRoles<128, CONSUMERS>, Registers<LESS, MORE>>>()
        .pipeline(query_stages)
        .pipeline(key_stages)
        .pipeline(value_stages)
        .role((), |_, (mut of_queries, mut of_keys, mut of_values), ()| {
            for tile in 0..places.len() {
                let (row, head) = places.get(tile);
                let column = (head / shared_by * HEAD) as i32;
                let tiles = seen(row).tiles(KEYS);
                let Ok(stage) = of_queries.acquire() else { return };
                of_queries = stage.copy(queries.at((row * ROWS) as i32, (head * HEAD) as i32)).commit();
                for tile in (0..tiles).rev() {
                    let first = (tile * KEYS) as i32;
                    let Ok(stage) = of_keys.acquire() else { return };
                    of_keys = stage.copy(keys.at(first, column)).commit();
                    let Ok(stage) = of_values.acquire() else { return };
                    of_values = stage.copy(values.at(first, column)).commit();
                }
            }
        })
        .role((out, outputs), |group, (mut of_queries, mut of_keys, mut of_values), (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            for tile in 0..places.len() {
                let (row, _) = places.get(tile);
                let seen = seen(row);
                let (tiles, whole) = (seen.tiles(KEYS), seen.whole_tiles(KEYS));
                let Ok(query) = of_queries.wait() else { return };
                let (query_end, query) = query.hold();
                let Ok(key) = of_keys.wait() else { return };
                let (end, key) = key.hold();
                let (scores, _, key) = group.product(Product::of(&group, &query, key));
                of_keys = end.release(key);
                let mut next = tiles - 1;
                let scores = scores.keep(&group, |row| seen.of_tile(row, next, KEYS));
                let mut largest = scores.row_max(&group).map(&group, |max| math::max(max, LEAST));
                let (weights, mut total) = weighed(&group, scores, &largest, scale);
                let mut factors = weights.into_factor::<T, _>(&group);
                let mut sums: Sums<Columns<HEAD>, CONSUMERS> = group.sums(0.0);
                while next > 0 {
                    next -= 1;
                    let Ok(key) = of_keys.wait() else { return };
                    let (key_end, key) = key.hold();
                    let scores = Product::of(&group, &query, key);
                    let Ok(value) = of_values.wait() else { return };
                    let (value_end, value) = value.hold();
                    let (weights, factor);
                    let (softmax, (summed, _, Across(value))) =
                        group.products(scores, Product::onto(sums, factors, Across(value)), |(scores, _, key)| {
                            let end = key_end.release(key);
                            let of_tile = |row| seen.of_tile(row, next, KEYS);
                            let scores = if next >= whole { scores.keep(&group, of_tile) } else { scores };
                            let [largest, factor] = raised(&group, &largest, &scores, scale);
                            let (weights, more) = weighed(&group, scores, &largest, scale);
                            let total = total.scale_and_add(&group, &factor, &more);
                            (end, factor, largest, weights, total)
                        });
                    (of_keys, factor, largest, weights, total) = softmax;
                    of_values = value_end.release(value);
                    factors = weights.into_factor(&group);
                    sums = summed.scale_rows(&group, &factor);
                }
                of_queries = query_end.release(query);
                let Ok(value) = of_values.wait() else { return };
                let (end, value) = value.hold();
                let (sums, _, Across(value)) = group.product(Product::onto(sums, factors, Across(value)));
                of_values = end.release(value);
                let inverse = total.sum(&group).map(&group, |total| if total > 0.0 { 1.0 / total } else { 0.0 });
                let sums = sums.map_rows(&group, &inverse, |sum, inverse| sum * inverse);
                ring.store_pairs_of_sums(tile, &group, &sums, |_, pair| pair);
            }
        })
        .run_last();
}

/// The weights that scores make relative to these maxima, and their sum in each row.
#[inline(always)]
fn weighed<'r, R: Warpgroups, W: Width, const SIZE: usize>(
    group: &RoleGroup<'r, R, SIZE>,
    scores: Sums<'r, W, SIZE>,
    largest: &RowValues<'r, SIZE>,
    scale: f32,
) -> (Sums<'r, W, SIZE>, RowParts<'r, SIZE>) {
    let weights = scores.map_rows(group, largest, |x, max| exp2_approximate(math::fma(x, scale, -(max * scale))));
    let total = weights.row_parts(group);
    (weights, total)
}

/// The maxima of rows with a further tile of scores, and what all that is relative to the earlier
/// ones is multiplied by. They are kept while the scores are not much larger: weights then are
/// above 1, and no rounding differs.
#[inline(always)]
fn raised<'r, R: Warpgroups, W: Width, const SIZE: usize>(
    group: &RoleGroup<'r, R, SIZE>,
    largest: &RowValues<'r, SIZE>,
    scores: &Sums<'r, W, SIZE>,
    scale: f32,
) -> [RowValues<'r, SIZE>; 2] {
    largest.replace_where(
        group,
        &scores.row_max(group),
        |old, new| (new - old) * scale > GROWTH,
        |old, new| [new, exp2_approximate((old - new) * scale)],
        1.0,
    )
}
