//! A product whose left factor is another product, in registers.

use tilepipe::product::{Columns, OperandTile, Sums};
use tilepipe::role::{Across, Partitioned, Product, Role0, Role1, Turns, WarpRoles};
use tilepipe::{
    Block, Extents2, Outputs, Panels2, Shared, Stages, Swizzle64, Swizzle128, Tensor, TensorMap, TensorMut, TensorTile,
    bf16, kernel,
};

/// Rows of A and of the result, for two warpgroups, in two panels of 32 columns.
type Left = OperandTile<bf16, Panels2<128, 64, 32>, Swizzle64>;
/// Rows of B, which are as many elements along K of the second product as of C.
type Middle = OperandTile<bf16, Panels2<48, 64, 32>, Swizzle64>;
/// Rows of C, across K.
type Right = OperandTile<bf16, Extents2<48, 64>, Swizzle128>;
/// The stages of each factor, output stages, and turns.
type Chain<const TURNS: usize> = (
    (Partitioned<Stages<Left, 1, TensorMap>>, Partitioned<Stages<Middle, 2, TensorMap>>),
    (
        Partitioned<Stages<Right, 2, TensorMap>>,
        Outputs<TensorTile<f32, Panels2<128, 64, 16>, Swizzle64>, 2>,
        Turns<TURNS>,
    ),
);

/// What `product_of_a_product` writes: the product itself.
pub const PRODUCT: usize = 0;
/// For each row the largest element of `A * B^T`, and 0.
pub const LARGEST: usize = 1;
/// For each row the sum of the elements of `A * B^T`.
pub const TOTAL: usize = 2;

/// Writes `(A * B^T) * C`, or what `SHOWN` says, where of row `r` of `A * B^T` only the columns
/// from `r % 8` on count. Rows of A whose number is a multiple of 64 are doubled at each further
/// tile of B (the sums of a warp then change; those of the others do not). Of two `TURNS` the
/// warpgroups start their products in turn.
#[kernel(instances(SHOWN = [0, 1, 2], TURNS = [0]), instances(SHOWN = [0], TURNS = [2]), min_blocks = 1)]
pub fn product_of_a_product<const SHOWN: usize, const TURNS: usize>(
    block: Block<288>,
    a: Tensor<bf16, Panels2<128, 64, 32>, Swizzle64>,
    b: Tensor<bf16, Panels2<48, 64, 32>, Swizzle64>,
    c: Tensor<bf16, Extents2<48, 64>, Swizzle128>,
    out: TensorMut<f32, Panels2<128, 64, 16>, Swizzle64>,
    shared: Shared<Chain<TURNS>>,
) {
    let (first, second) = shared.split();
    let ((lefts, middles), (rights, outputs, turns)) = (first.split(), second.split());
    let (places, tiles) = (out.tile_places(&block), b.rows().div_ceil(48));
    let _ = block
        .partition::<WarpRoles<256, 32>>()
        .pipeline_between(Role1, Role0, lefts)
        .pipeline_between(Role1, Role0, middles)
        .pipeline_between(Role1, Role0, rights)
        .role((out, outputs, turns), |group, (mut lefts, mut middles, mut rights), (out, outputs, turns)| {
            let (mut ring, mut turns) = (outputs.outputs(&group, out), turns.turns(&group));
            for tile in 0..places.len() {
                let Ok(left) = lefts.wait() else { return };
                let (left_end, left) = left.hold();
                let Ok(middle) = middles.wait() else { return };
                let (end, middle) = middle.hold();
                // In `f32`, so that a comparison has both as they are.
                let (doubled, (sums, _, middle)) =
                    group.product_beside(Product::of(&group, &left, middle), || group.rows(1.0));
                middles = end.release(middle);
                let mut terms = sums.keep(&group, |row| (row % 8) as i32..48);
                let mut largest = terms.row_max(&group).map(&group, |max| if max > 0.0 { max } else { 0.0 });
                terms = terms.map(&group, |sum| if sum == f32::NEG_INFINITY { 0.0 } else { sum });
                let mut total = terms.row_parts(&group);
                let mut result: Sums<Columns<64>, 256> = group.sums(0.0);
                for at in 1..tiles {
                    let Ok(middle) = middles.wait() else { return };
                    let (middle_end, middle) = middle.hold();
                    let Ok(right) = rights.wait() else { return };
                    let (right_end, right) = right.hold();
                    let further = Product::of(&group, &left, middle);
                    let (before, last) = (terms.into_factor::<bf16, _>(&group), at + 1 == tiles);
                    let added = Product::onto(result, before, Across(right));
                    let (next, (sums, _, Across(right))) =
                        group.products_in_turn(&mut turns, further, added, |(sums, _, middle)| {
                            let end = middle_end.release(middle);
                            let ends = if last { b_rows_of_last(b.rows()) } else { 48 };
                            let terms = sums.keep(&group, |row| (row % 8) as i32..ends);
                            let [largest, _] = largest.replace_where(
                                &group,
                                &terms.row_max(&group),
                                |own, other| other > own,
                                |_, other| [other, 0.0],
                                1.0,
                            );
                            let terms = terms.map(&group, |sum| if sum == f32::NEG_INFINITY { 0.0 } else { sum });
                            let total = total.scale_and_add(&group, &doubled, &terms.row_parts(&group));
                            (end, terms, largest, total)
                        });
                    (middles, terms, largest, total) = next;
                    rights = right_end.release(right);
                    // The first row of each warpgroup.
                    let first =
                        group.sums::<Columns<8>>(1.0).keep(&group, |row| if row % 64 == 0 { 0..8 } else { 0..0 });
                    let twice = first.row_max(&group).map(&group, |max| if max > 0.0 { 2.0 } else { 1.0 });
                    result = sums.scale_rows(&group, &twice);
                }
                lefts = left_end.release(left);
                let Ok(right) = rights.wait() else { return };
                let (end, right) = right.hold();
                let before = terms.into_factor::<bf16, _>(&group);
                let (result, _, Across(right)) = group.product(Product::onto(result, before, Across(right)));
                rights = end.release(right);
                let shown = match SHOWN {
                    PRODUCT => result,
                    LARGEST => result.map_rows(&group, &largest, |_, max| max),
                    _ => result.map_rows(&group, &total.sum(&group), |_, total| total),
                };
                ring.store_sums(tile, &group, &shown, |_, _, sum| sum);
            }
        })
        .role((), |_, (mut lefts, mut middles, mut rights), ()| {
            for tile in 0..places.len() {
                let (row, column) = places.get(tile);
                let Ok(stage) = lefts.acquire() else { return };
                lefts = stage.copy(a.at((row * 128) as i32, 0)).commit();
                for at in 0..tiles {
                    let Ok(stage) = middles.acquire() else { return };
                    middles = stage.copy(b.at((at * 48) as i32, 0)).commit();
                    let Ok(stage) = rights.acquire() else { return };
                    rights = stage.copy(c.at((at * 48) as i32, (column * 64) as i32)).commit();
                }
            }
        })
        .run();
}

/// Rows of B's last tile.
fn b_rows_of_last(rows: usize) -> i32 {
    (rows - (rows - 1) / 48 * 48) as i32
}
