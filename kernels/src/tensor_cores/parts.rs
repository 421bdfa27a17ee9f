//! A matrix product that divides K too: for few tiles and a long K.

use core::ops::Range;

use tilepipe::product::{Operand, OperandElement, SumElement};
use tilepipe::role::{Partitioned, Role0, Role2, WarpRoles3};
use tilepipe::{
    Block, Grouped, Input2D, Outputs, Panels2, Runs, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorMut,
    TensorTile, TilesMut2D, bf16, f16, kernel,
};

use super::{Across, Along, Factor, Layout, Tile, steps};

/// Columns of a tile: with 256 there would be twice as many sums for as many blocks.
pub(super) const COLUMNS: usize = 128;
/// Rows of a tile.
pub(super) const ROWS: usize = 128;
/// Elements of a row that a block adds up at once.
pub(super) const ADDED: usize = 512;

/// Sums of a tile, in panels of 128 bytes.
type Sums = Panels2<ROWS, COLUMNS, 32>;

/// Stages of a tile of each factor, and output stages for panels of sums.
type Parts<T, A, B> = (
    Partitioned<Stages<(Tile<T, A, ROWS>, Tile<T, B, COLUMNS>), 6, TensorMap>>,
    Outputs<TensorTile<f32, Sums, Swizzle128>, 2>,
);

/// Writes the sums of `A * B` over parts of K, each over a range of it, for
/// [`gemm_join`](fn@gemm_join) to add up.
///
/// `parts` has a matrix below another for each part, with the product's columns, and its rows
/// rounded up to a multiple of 128; how many there are follows from its rows. Roles and tiles are
/// those of [`gemm`](fn@super::gemm).
#[kernel(instances(T = [bf16, f16], A = [Along, Across], B = [Along, Across]), min_blocks = 1)]
pub fn gemm_parts<T: OperandElement, A: Layout, B: Layout>(
    block: Block<384>,
    a: Tensor<T, <A as Layout>::Extents<ROWS>, Swizzle128>,
    b: Tensor<T, <B as Layout>::Extents<COLUMNS>, Swizzle128>,
    parts: TensorMut<f32, Sums, Swizzle128, Grouped<8>>,
    shared: Shared<Parts<T, A, B>>,
) where
    Tile<T, A, ROWS>: Operand<Element = T>,
    Tile<T, B, COLUMNS>: Operand<Element = T>,
{
    let (stages, outputs) = shared.split();
    let places = parts.tile_places(&block);
    // Rows of tiles of the product, and how many times they are in `parts`.
    let rows = Factor::of_product(&a).div_ceil(ROWS).max(1);
    let count = parts.box_rows() / rows;
    let all = steps(&a);
    let of = move |row: usize| -> (usize, Range<usize>) {
        let part = row / rows;
        (row % rows, all * part / count..all * (part + 1) / count)
    };
    block
        .partition::<WarpRoles3<32, 96, 256>>()
        .pipeline_between(Role0, Role2, stages)
        .role((), |_, mut producer, ()| {
            for tile in places {
                let (row, column) = tile.get();
                let (row, steps) = of(row);
                let (row, column) = ((row * ROWS) as i32, (column * COLUMNS) as i32);
                for step in steps {
                    let along = (step * super::DEEP) as i32;
                    let Ok(stage) = producer.acquire() else { return };
                    producer = stage.copy((Factor::tile(&a, row, along), Factor::tile(&b, column, along))).commit();
                }
            }
        })
        .role((), |_, (), ()| {})
        .role((parts, outputs), |group, mut consumer, (parts, outputs)| {
            let mut ring = outputs.outputs(&group, parts);
            for tile in places {
                let sums;
                (consumer, sums) = group.multiply(consumer, of(tile.get().0).1.len());
                let Ok(sums) = sums else { return };
                ring.store_pairs_of_sums(tile, &group, &sums, |_, pair| pair);
            }
        })
        .run_last();
}

/// Adds up what [`gemm_parts`](fn@gemm_parts) has written, in the order of the parts, and rounds
/// the sums: `out` is the product.
#[kernel(instances(T = [bf16, f16]))]
pub fn gemm_join<T: SumElement>(block: Block<128>, parts: Input2D<f32>, mut out: TilesMut2D<T, 1, ADDED, Runs<4>>) {
    let below = out.height().next_multiple_of(ROWS).max(1);
    let count = parts.height() / below;
    let mut results = out.for_block(&block);
    let places = results.places();
    for index in 0..results.len() {
        let (row, across) = places.get(index);
        let tile = results.get_mut(index);
        block.threads(|t| {
            let run = across * (ADDED / 4) + t.rank();
            let mut sums = [0.0; 4];
            for part in 0..count {
                let (more, _) = parts.run::<4>(part * below + row, run);
                sums = core::array::from_fn(|nth| sums[nth] + more[nth]);
            }
            tile.set_own(&t, |nth| T::narrowed(sums[nth]));
        });
    }
}
