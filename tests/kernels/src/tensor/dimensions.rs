//! Small kernels over tensors of one to five dimensions.
#![allow(clippy::too_many_arguments, reason = "a coordinate for each dimension")]

use tilepipe::reduce::Add;
use tilepipe::{
    Block, Extents1, Extents2, Extents3, Extents4, Extents5, NoSwizzle, OutputExtents, Outputs, Shared, Stages,
    Swizzle, Swizzle32, Swizzle128, Tensor, TensorMap, TensorMut, TensorTile, TileReduction, kernel,
};

/// Stages of boxes, and output stages of the same boxes.
type Both<T, X, W, const STAGES: usize, const COUNT: usize> =
    (Stages<TensorTile<T, X, W>, STAGES, TensorMap>, Outputs<TensorTile<T, X, W>, COUNT>);

/// What is written for an element: of its value, the row and the column of its box among the boxes
/// of the array, and its row and column in the box.
pub fn marked(value: u32, boxes: (usize, usize), own: (usize, usize)) -> u32 {
    let place = [boxes.0, boxes.1, own.0, own.1];
    place.iter().fold(value, |mixed, number| mixed.wrapping_mul(0x9E37_79B1) ^ *number as u32)
}

/// Marks each element with its place.
#[kernel(
    instances(X = [Extents1<8>, Extents2<3, 8>, Extents3<2, 3, 8>], W = [Swizzle32], COUNT = [1, 2]),
    instances(X = [Extents4<2, 1, 3, 8>, Extents5<2, 1, 2, 3, 8>], W = [Swizzle32], COUNT = [2]),
    instances(X = [Extents1<12>, Extents3<1, 5, 12>, Extents5<1, 2, 1, 2, 12>], W = [NoSwizzle], COUNT = [2]),
)]
pub fn marked_boxes<X: OutputExtents, W: Swizzle, const COUNT: usize>(
    block: Block<32>,
    input: Tensor<u32, X, W>,
    out: TensorMut<u32, X, W>,
    shared: Shared<Both<u32, X, W, 2, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    let places = results.places();
    let _ = stages.pipeline(&block).for_each(
        places.len(),
        |stage, i| stage.copy(boxes.get(i)),
        |tile, i| {
            let place = places.get(i);
            results.tile(i).fill(&block, |row, column| marked(tile[(row, column)], place, (row, column)));
        },
    );
}

/// Adds each box to that of another array, as it is loaded.
#[kernel(instances(
    X = [Extents1<8>, Extents2<3, 8>, Extents3<2, 3, 8>, Extents4<2, 1, 3, 8>, Extents5<2, 1, 2, 3, 8>],
    W = [Swizzle32]
))]
pub fn boxes_added<X: OutputExtents, W: Swizzle>(
    block: Block<32>,
    input: Tensor<u32, X, W>,
    out: TileReduction<u32, Add, X, W>,
    shared: Shared<Both<u32, X, W, 2, 0>>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.for_block(&block);
    let places = boxes.places();
    let mut sums = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).for_each_tile(&boxes, |tile, i| {
        let (row, column) = places.get(i);
        sums.tile_at(row, column).store(tile);
    });
}

/// Transposes each matrix of a batch.
#[kernel(instances(SIDE = [32], N = [4], STAGES = [1, 2], COUNT = [1, 2]))]
pub fn matrices_transposed<const SIDE: usize, const N: usize, const STAGES: usize, const COUNT: usize>(
    block: Block<64>,
    input: Tensor<u32, Extents3<1, SIDE, SIDE>, Swizzle128>,
    out: TensorMut<u32, Extents3<1, SIDE, SIDE>, Swizzle128>,
    shared: Shared<Both<u32, Extents3<1, SIDE, SIDE>, Swizzle128, STAGES, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let down = out.box_rows().max(1) as u32;
    let mut results = outputs.outputs(&block, out);
    let places = results.places();
    let _ = stages.pipeline(&block).for_each(
        places.len(),
        |stage, i| {
            // Rows of boxes are counted through the matrices.
            let (row, column) = places.get(i);
            let (matrix, row) = (row as u32 / down, row as u32 % down);
            stage.copy(input.at(matrix as i32, (column * SIDE) as i32, row as i32 * SIDE as i32))
        },
        |tile, i| results.tile(i).fill_patches(&block, |row, column| tile.transposed::<N>(column, row)),
    );
}

/// Copies a box of each number of dimensions from a place that may lie outside of the array.
macro_rules! anywhere {
    ($($name:ident: $extents:ty, $rows:literal, ($($at:ident),+);)+) => {$(
        /// Copies a box that begins anywhere to rows of 8.
        #[kernel]
        pub fn $name(
            block: Block<32>,
            input: Tensor<u32, $extents, NoSwizzle>,
            $($at: i32,)+
            out: TensorMut<u32, Extents2<$rows, 8>, NoSwizzle>,
            shared: Shared<(
                Stages<TensorTile<u32, $extents, NoSwizzle>, 1, TensorMap>,
                Outputs<TensorTile<u32, Extents2<$rows, 8>, NoSwizzle>, 1>,
            )>,
        ) {
            let (stages, outputs) = shared.split();
            let mut results = outputs.outputs(&block, out);
            let _ = stages.pipeline(&block).for_each(
                1,
                |stage, _| stage.copy(input.at($($at),+)),
                |tile, _| results.tile(0).fill(&block, |row, column| tile[(row, column)]),
            );
        }
    )+};
}
anywhere! {
    line_anywhere: Extents1<8>, 1, (column);
    plane_anywhere: Extents3<2, 3, 8>, 6, (plane, row, column);
    fourth_anywhere: Extents4<2, 2, 3, 8>, 12, (fourth, plane, row, column);
    fifth_anywhere: Extents5<2, 2, 1, 3, 8>, 12, (fifth, fourth, plane, row, column);
}
