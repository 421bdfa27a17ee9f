//! A product of which each warpgroup multiplies other stages.

use tilepipe::product::OperandTile;
use tilepipe::role::{Apart, Partitioned, Product, Turns, WarpRoles};
use tilepipe::{
    Block, Extents2, Input, Outputs, Panels2, Shared, Stages, Swizzle64, Tensor, TensorMap, TensorMut, TensorTile,
    bf16, kernel,
};

/// 192 rows of A, for three warpgroups.
type Rows = OperandTile<bf16, Extents2<192, 32>, Swizzle64>;
/// 32 of B.
type Columns = OperandTile<bf16, Extents2<32, 32>, Swizzle64>;
/// A tile of the sums.
type Out = Panels2<192, 32, 16>;
/// Stages and output stages.
type Products<const STAGES: usize> =
    (Partitioned<Stages<(Rows, Columns), STAGES, TensorMap>>, Outputs<TensorTile<f32, Out, Swizzle64>, 2>);
/// The same with turns.
type InTurns = (
    (Partitioned<Stages<Rows, 2, TensorMap>>, Partitioned<Stages<Columns, 3, TensorMap>>),
    (Outputs<TensorTile<f32, Out, Swizzle64>, 2>, Turns<3>),
);

/// Numbers of a warpgroup in `bands`.
pub const NUMBERS: usize = 3;

/// Writes `A * B^T`, of which the 64 rows of a warpgroup in a tile have only some parts along K,
/// 32 elements each. For each warpgroup `bands` has the first one, the end of them, and the index
/// of the tile at which the warpgroup leaves; the role has those of the first one if it is not
/// `APART`.
#[kernel(instances(STAGES = [2, 3, 4], APART = [true]), instances(STAGES = [3], APART = [false]), min_blocks = 1)]
pub fn product_of_bands<const STAGES: usize, const APART: bool>(
    block: Block<512>,
    a: Tensor<bf16, Extents2<192, 32>, Swizzle64>,
    b: Tensor<bf16, Extents2<32, 32>, Swizzle64>,
    bands: Input<u32>,
    out: TensorMut<f32, Out, Swizzle64>,
    shared: Shared<Products<STAGES>>,
) {
    let (stages, outputs) = shared.split();
    let (places, steps) = (out.tile_places(&block), a.columns().div_ceil(32));
    let _ = block
        .partition::<Apart<WarpRoles<128, 384>, APART>>()
        .pipeline(stages)
        .role((), |_, mut producer, ()| {
            for tile in places {
                let (row, column) = tile.get();
                let (row, column) = ((row * 192) as i32, (column * 32) as i32);
                for step in 0..steps {
                    let along = (step * 32) as i32;
                    let Ok(stage) = producer.acquire() else { return };
                    producer = stage.copy((a.at(row, along), b.at(column, along))).commit();
                }
            }
        })
        .role((out, outputs), |group, mut consumer, (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            let own = group.own_rows().start / 64 * NUMBERS;
            let [from, to, last] = [0, 1, 2].map(|nth| bands.get(own + nth).unwrap_or(0) as usize);
            for tile in places {
                if tile.index() == last {
                    return;
                }
                for _ in 0..from {
                    let Ok(unread) = consumer.wait() else { return };
                    consumer = unread.release();
                }
                let mut sums = Ok(group.sums(0.0));
                if to > from {
                    (consumer, sums) = group.multiply(consumer, to - from);
                }
                let Ok(sums) = sums else { return };
                ring.store_sums(tile, &group, &sums, |_, _, sum| sum);
                for _ in to..steps {
                    let Ok(unread) = consumer.wait() else { return };
                    consumer = unread.release();
                }
            }
        })
        .run();
}

/// The same, twice over: for each part of its own a warpgroup starts two products in its turn, and
/// adds both. If it `PASSES` it takes part in a turn for each of the others too.
#[kernel(instances(PASSES = [true, false]), min_blocks = 1)]
pub fn product_of_bands_in_turn<const PASSES: bool>(
    block: Block<512>,
    a: Tensor<bf16, Extents2<192, 32>, Swizzle64>,
    b: Tensor<bf16, Extents2<32, 32>, Swizzle64>,
    bands: Input<u32>,
    out: TensorMut<f32, Out, Swizzle64>,
    shared: Shared<InTurns>,
) {
    let (stages, others) = shared.split();
    let ((row_stages, column_stages), (outputs, turns)) = (stages.split(), others.split());
    let turns = turns.prepare(&block);
    let (places, steps) = (out.tile_places(&block), a.columns().div_ceil(32));
    let _ = block
        .partition::<Apart<WarpRoles<128, 384>>>()
        .pipeline(row_stages)
        .pipeline(column_stages)
        .role((), |_, (mut rows, mut columns), ()| {
            for tile in places {
                let (row, column) = tile.get();
                for step in 0..steps {
                    let along = (step * 32) as i32;
                    let Ok(stage) = rows.acquire() else { return };
                    rows = stage.copy(a.at((row * 192) as i32, along)).commit();
                    let Ok(stage) = columns.acquire() else { return };
                    columns = stage.copy(b.at((column * 32) as i32, along)).commit();
                }
            }
        })
        .role((out, outputs, turns), |group, (mut rows, mut columns), (out, outputs, turns)| {
            let (mut ring, mut turns) = (outputs.outputs(&group, out), turns.turns(&group));
            let own = group.own_rows().start / 64 * NUMBERS;
            let [from, to, last] = [0, 1, 2].map(|nth| bands.get(own + nth).unwrap_or(0) as usize);
            for tile in places {
                if tile.index() == last {
                    return;
                }
                let (mut once, mut again) = (group.sums(0.0), group.sums(0.0));
                for step in 0..steps {
                    let Ok(row) = rows.wait() else { return };
                    let Ok(column) = columns.wait() else { return };
                    if step < from || step >= to {
                        if PASSES {
                            turns.pass(&group);
                        }
                        (rows, columns) = (row.release(), column.release());
                        continue;
                    }
                    let ((row_end, row), (column_end, column)) = (row.hold(), column.hold());
                    let older = Product::onto(once, &row, &column);
                    let younger = Product::onto(again, &row, &column);
                    (once, (again, ..)) = group.products_in_turn(&mut turns, older, younger, |(sums, ..)| sums);
                    (rows, columns) = (row_end.release(row), column_end.release(column));
                }
                let sums = once.zip(&group, &again, |one, other| one + other);
                ring.store_sums(tile, &group, &sums, |_, _, sum| sum);
            }
        })
        .run();
}
