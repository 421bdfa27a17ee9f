//! Products of which a factor is another product, in shared memory.

use tilepipe::product::{Columns, OperandElement, OperandTile, SumElement, Sums};
use tilepipe::role::{
    Across, Budget, Channel, FullRoom, Partitioned, Producer, Product, Registers, SharedFactor, SharedFactors,
    WarpRoles,
};
use tilepipe::{
    Block, Extents2, Fill, Outputs, Panels2, Shared, Stages, Swizzle128, Tensor, TensorBox, TensorMap, TensorMut,
    TensorTile, TilePlaces, bf16, f16, kernel,
};

/// A tile of A or of B.
type Rows<T> = OperandTile<T, Extents2<128, 64>, Swizzle128>;
/// A tile of C, or of `A * B^T`.
type Square<T> = OperandTile<T, Panels2<128, 128, 64>, Swizzle128>;
/// A tile of the result.
type Out = Panels2<128, 128, 32>;
/// The stages of each factor, rooms for others, and output stages.
type Memory<T, R> = (
    (Partitioned<Stages<Rows<T>, 1, TensorMap>>, Partitioned<Stages<Rows<T>, 2, TensorMap>>),
    (Partitioned<Stages<Square<T>, 1, TensorMap>>, (R, Outputs<TensorTile<f32, Out, Swizzle128>, 1>)),
);

/// Copies the tiles of A and of C for each of these places, and all of B's behind them.
#[inline(always)]
fn copy_tiles<'a, 'b, 'c, T: OperandElement, K: Channel, L: Channel, M: Channel>(
    (mut lefts, mut rights, mut squares): (Producer<'_, K>, Producer<'_, L>, Producer<'_, M>),
    a: &Tensor<'a, T, Extents2<128, 64>, Swizzle128>,
    b: &Tensor<'b, T, Extents2<128, 64>, Swizzle128>,
    c: &Tensor<'c, T, Panels2<128, 128, 64>, Swizzle128>,
    places: TilePlaces,
    tiles: usize,
) where
    TensorBox<'a, T, Extents2<128, 64>, Swizzle128>: Fill<K::Contents>,
    TensorBox<'b, T, Extents2<128, 64>, Swizzle128>: Fill<L::Contents>,
    TensorBox<'c, T, Panels2<128, 128, 64>, Swizzle128>: Fill<M::Contents>,
{
    for tile in places {
        let row = (tile.get().0 * 128) as i32;
        let Ok(stage) = lefts.acquire() else { return };
        lefts = stage.copy(a.at(row, 0)).commit();
        let Ok(stage) = squares.acquire() else { return };
        squares = stage.copy(c.at(row, 0)).commit();
        for at in 0..tiles {
            let Ok(stage) = rights.acquire() else { return };
            rights = stage.copy(b.at((at * 128) as i32, 0)).commit();
        }
    }
}

/// `C^T S`, where `S` is `A * B^T`.
pub const RIGHT_ACROSS: usize = 0;
/// `S C^T`.
pub const LEFT_ALONG: usize = 1;
/// `S^T C`.
pub const LEFT_ACROSS: usize = 2;
/// `C S^T`.
pub const RIGHT_ALONG: usize = 3;

/// For each tile of A's rows and as many of C's, adds up for all tiles of B's rows what `FORM` says
/// of both, with `A * B^T` rounded to `T`.
#[kernel(instances(T = [bf16, f16], FORM = [0, 1, 2, 3]))]
pub fn product_with_a_product<T: OperandElement + SumElement, const FORM: usize>(
    block: Block<384>,
    a: Tensor<T, Extents2<128, 64>, Swizzle128>,
    b: Tensor<T, Extents2<128, 64>, Swizzle128>,
    c: Tensor<T, Panels2<128, 128, 64>, Swizzle128>,
    out: TensorMut<f32, Out, Swizzle128>,
    shared: Shared<Memory<T, SharedFactor<Square<T>>>>,
) {
    let (first, second) = shared.split();
    let ((lefts, rights), (squares, others)) = (first.split(), second.split());
    let (room, outputs) = others.split();
    let (places, tiles) = (out.tile_places(&block), b.rows().div_ceil(128));
    block
        .partition::<Budget<WarpRoles<128, 256>, Registers<24, 240>>>()
        .pipeline(lefts)
        .pipeline(rights)
        .pipeline(squares)
        .role((), |_, producers, ()| copy_tiles(producers, &a, &b, &c, places, tiles))
        .role((out, outputs, room), |group, (mut lefts, mut rights, mut squares), (out, outputs, room)| {
            let (mut ring, mut room) = (outputs.outputs(&group, out), room.factor_room(&group));
            for tile in places {
                let Ok(left) = lefts.wait() else { return };
                let (left_end, left) = left.hold();
                let Ok(square) = squares.wait() else { return };
                let (square_end, square) = square.hold();
                let mut result: Sums<Columns<128>, 256> = group.sums(0.0);
                for _ in 0..tiles {
                    let Ok(right) = rights.wait() else { return };
                    let (end, right) = right.hold();
                    let (sums, _, right) = group.product(Product::of(&group, &left, right));
                    rights = end.release(right);
                    let written = room.write(&group, &sums);
                    result = match FORM {
                        RIGHT_ACROSS => group.product(Product::onto(result, Across(&square), Across(&written))).0,
                        LEFT_ALONG => group.product(Product::onto(result, written, &square)).0,
                        LEFT_ACROSS => group.product(Product::onto(result, Across(written), Across(&square))).0,
                        _ => group.product(Product::onto(result, &square, &written)).0,
                    };
                }
                lefts = left_end.release(left);
                squares = square_end.release(square);
                ring.store_sums(tile, &group, &result, |_, _, sum| sum);
            }
        })
        .run_last();
}

/// As [`product_with_a_product`](fn@product_with_a_product), but each `A * B^T` is a factor when
/// the next one was written, so that no warpgroup waits for the other at once.
#[kernel(instances(T = [bf16, f16], FORM = [0, 1, 2, 3]))]
pub fn product_with_queued_products<T: OperandElement + SumElement, const FORM: usize>(
    block: Block<384>,
    a: Tensor<T, Extents2<128, 64>, Swizzle128>,
    b: Tensor<T, Extents2<128, 64>, Swizzle128>,
    c: Tensor<T, Panels2<128, 128, 64>, Swizzle128>,
    out: TensorMut<f32, Out, Swizzle128>,
    shared: Shared<Memory<T, SharedFactors<Square<T>, 2>>>,
) {
    let (first, second) = shared.split();
    let ((lefts, rights), (squares, others)) = (first.split(), second.split());
    let (rooms, outputs) = others.split();
    let (places, tiles) = (out.tile_places(&block), b.rows().div_ceil(128));
    block
        .partition::<Budget<WarpRoles<128, 256>, Registers<24, 240>>>()
        .pipeline(lefts)
        .pipeline(rights)
        .pipeline(squares)
        .role((), |_, producers, ()| copy_tiles(producers, &a, &b, &c, places, tiles))
        .role((out, outputs, rooms), |group, (mut lefts, mut rights, mut squares), (out, outputs, rooms)| {
            let mut ring = outputs.outputs(&group, out);
            let [mut room, mut other] = rooms.factor_rooms(&group);
            for tile in places {
                let Ok(left) = lefts.wait() else { return };
                let (left_end, left) = left.hold();
                let Ok(square) = squares.wait() else { return };
                let (square_end, square) = square.hold();
                let mut result: Sums<Columns<128>, 256> = group.sums(0.0);
                let mut before = Err(other);
                let add = |result, full| {
                    let factor = FullRoom::<Square<T>, 2>::wait(full, &group);
                    let (result, factor) = match FORM {
                        RIGHT_ACROSS => {
                            let product = Product::onto(result, Across(&square), Across(factor));
                            let (sums, _, Across(factor)) = group.product(product);
                            (sums, factor)
                        }
                        LEFT_ALONG => {
                            let (sums, factor, _) = group.product(Product::onto(result, factor, &square));
                            (sums, factor)
                        }
                        LEFT_ACROSS => {
                            let product = Product::onto(result, Across(&factor), Across(&square));
                            (group.product(product).0, factor)
                        }
                        _ => (group.product(Product::onto(result, &square, &factor)).0, factor),
                    };
                    (result, factor.release(&group))
                };
                for _ in 0..tiles {
                    let Ok(right) = rights.wait() else { return };
                    let (end, right) = right.hold();
                    let (sums, _, right) = group.product(Product::of(&group, &left, right));
                    rights = end.release(right);
                    let full = room.write(&group, &sums);
                    (result, room) = match before {
                        Ok(full) => add(result, full),
                        Err(other) => (result, other),
                    };
                    before = Ok(full);
                }
                (result, other) = match before {
                    Ok(full) => add(result, full),
                    Err(other) => (result, other),
                };
                lefts = left_end.release(left);
                squares = square_end.release(square);
                ring.store_sums(tile, &group, &result, |_, _, sum| sum);
            }
        })
        .run_last();
}
