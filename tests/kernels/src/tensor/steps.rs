//! The guide's matrix product, of which each instance is a step: `bench/results` has their times.

use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{
    Block, Cyclic, Extents2, Grouped, Outputs, Panels2, Shared, Stages, Stepped, Swizzle128, Tensor, TensorMap,
    TensorMut, TensorTile, bf16, kernel,
};

/// 64 elements along K of so many rows of a factor.
type Factor<const ROWS: usize> = OperandTile<bf16, Extents2<ROWS, 64>, Swizzle128>;
/// A tile of the product, which is stored in panels of 64 columns.
type Out<const COLUMNS: usize> = Panels2<128, COLUMNS, 64>;
/// Stages of tiles of the factors, and output stages.
type Memory<const COLUMNS: usize, const STAGES: usize> = (
    Partitioned<Stages<(Factor<128>, Factor<COLUMNS>), STAGES, TensorMap>>,
    Outputs<TensorTile<bf16, Out<COLUMNS>, Swizzle128>, 2>,
);

/// Writes `a * b^T`, in tiles of 128 rows in the order `O`.
#[kernel(
    instances(O = [Cyclic], (COLUMNS, STAGES) = [(128, 2), (128, 6), (256, 4)]),
    instances(O = [Grouped<8>], (COLUMNS, STAGES) = [(256, 4)]),
    min_blocks = 1
)]
pub fn product_step<O: Stepped, const COLUMNS: usize, const STAGES: usize>(
    block: Block<384>,
    a: Tensor<bf16, Extents2<128, 64>, Swizzle128>,
    b: Tensor<bf16, Extents2<COLUMNS, 64>, Swizzle128>,
    out: TensorMut<bf16, Out<COLUMNS>, Swizzle128, O>,
    shared: Shared<Memory<COLUMNS, STAGES>>,
) where
    Factor<COLUMNS>: tilepipe::product::Operand<Element = bf16>,
{
    let (stages, outputs) = shared.split();
    let (places, steps) = (out.tile_places(&block), a.columns().div_ceil(64));
    block
        .partition::<WarpRoles<128, 256>>()
        .pipeline(stages)
        .role((), |_, mut producer, ()| {
            for tile in 0..places.len() {
                let (row, column) = places.get(tile);
                for step in 0..steps {
                    let (row, column, along) = ((row * 128) as i32, (column * COLUMNS) as i32, (step * 64) as i32);
                    let Ok(stage) = producer.acquire() else { return };
                    producer = stage.copy((a.at(row, along), b.at(column, along))).commit();
                }
            }
        })
        .role((out, outputs), |group, mut consumer, (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            for tile in 0..places.len() {
                let sums;
                (consumer, sums) = group.multiply(consumer, steps);
                let Ok(sums) = sums else { return };
                ring.store_pairs_of_sums(tile, &group, &sums, |_, sums| sums);
            }
        })
        .run_last();
}
