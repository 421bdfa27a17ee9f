//! Products of tensor cores: of which some stages are not multiplied, which a role leaves early, of
//! two tiles at once, and that blocks add up.

use tilepipe::product::{OperandTile, SumElement};
use tilepipe::reduce::{Add, Unordered};
use tilepipe::role::{Budget, Partitioned, Registers, Role0, Role1, WarpRoles};
use tilepipe::{
    Block, Extents2, Operation, Outputs, Panels2, Shared, Stages, Swizzle64, Tensor, TensorMap, TensorMut, TensorTile,
    TileReduction, TilesMut, bf16, kernel,
};

/// A tile of each operand: 64 rows of A and 32 of B, 32 elements along K.
type Operands = (OperandTile<bf16, Extents2<64, 32>, Swizzle64>, OperandTile<bf16, Extents2<32, 32>, Swizzle64>);
/// A tile of the sums.
type Out = Panels2<64, 32, 16>;
/// Stages and output stages.
type Products<const STAGES: usize> =
    (Partitioned<Stages<Operands, STAGES, TensorMap>>, Outputs<TensorTile<f32, Out, Swizzle64>, 2>);

/// Writes the product of the last parts along K: of `EVERY` stages the first one is given back
/// unread, held before if `HOLDS` is 1, and the others are multiplied.
#[kernel(instances(EVERY = [2, 3], STAGES = [2, 3, 4], HOLDS = [0, 1]), min_blocks = 1)]
pub fn product_of_some_stages<const EVERY: usize, const STAGES: usize, const HOLDS: usize>(
    block: Block<160>,
    a: Tensor<bf16, Extents2<64, 32>, Swizzle64>,
    b: Tensor<bf16, Extents2<32, 32>, Swizzle64>,
    out: TensorMut<f32, Out, Swizzle64>,
    shared: Shared<Products<STAGES>>,
) {
    let (stages, outputs) = shared.split();
    let (places, steps) = (out.tile_places(&block), a.columns().div_ceil(32));
    let _ = block
        .partition::<WarpRoles<128, 32>>()
        .pipeline_between(Role1, Role0, stages)
        .role((out, outputs), |group, mut consumer, (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            for tile in 0..places.len() {
                let mut step = 0;
                while step < steps {
                    let Ok(unread) = consumer.wait() else { return };
                    consumer = if HOLDS == 1 {
                        let (end, tile) = unread.hold();
                        end.release(tile)
                    } else {
                        unread.release()
                    };
                    let count = (EVERY - 1).min(steps - step - 1);
                    step += 1 + count;
                    if count > 0 {
                        let sums;
                        (consumer, sums) = group.multiply(consumer, count);
                        let Ok(sums) = sums else { return };
                        if step == steps {
                            ring.store_sums(tile, &group, &sums, |_, _, sum| sum);
                        }
                    }
                }
            }
        })
        .role((), |_, mut producer, ()| {
            for tile in 0..places.len() {
                let (row, column) = places.get(tile);
                for step in 0..steps {
                    let (row, column, along) = ((row * 64) as i32, (column * 32) as i32, (step * 32) as i32);
                    let Ok(stage) = producer.acquire() else { return };
                    producer = stage.copy((a.at(row, along), b.at(column, along))).commit();
                }
            }
        })
        .run();
}

/// Writes a product, with stages of another one that a role has left halfway before: the consumers
/// if `PRODUCERS` is 0, the producers if it is 1, and if it is 2 these with a stage that they have
/// filled and not committed.
#[kernel(instances(STAGES = [2, 3, 4], PRODUCERS = [0, 1, 2]), min_blocks = 1)]
pub fn product_behind_one_left_early<const STAGES: usize, const PRODUCERS: usize>(
    block: Block<160>,
    a: Tensor<bf16, Extents2<64, 32>, Swizzle64>,
    b: Tensor<bf16, Extents2<32, 32>, Swizzle64>,
    out: TensorMut<f32, Out, Swizzle64>,
    shared: Shared<Products<STAGES>>,
) {
    let (stages, outputs) = shared.split();
    let (places, steps) = (out.tile_places(&block), a.columns().div_ceil(32));
    let [filled, multiplied] = if PRODUCERS == 0 { [steps, steps / 2] } else { [steps / 2, steps] };
    let (_, stages) = block
        .partition::<WarpRoles<128, 32>>()
        .pipeline_between(Role1, Role0, stages)
        .role((), |group, consumer, ()| {
            if multiplied > 0 {
                // The end is dropped, and with it the sums, if there are any.
                let _ = group.multiply(consumer, multiplied);
            }
        })
        .role((), |_, mut producer, ()| {
            for step in 0..filled {
                let Ok(stage) = producer.acquire() else { return };
                producer = stage.copy((a.at(0, (step * 32) as i32), b.at(0, (step * 32) as i32))).commit();
            }
            if PRODUCERS == 2 {
                let Ok(stage) = producer.acquire() else { return };
                // Its copies land before the stages are another pipeline's.
                let _ = stage.copy((a.at(0, 0), b.at(0, 0)));
            }
        })
        .run();
    let _ = block
        .partition::<WarpRoles<128, 32>>()
        .pipeline_between(Role1, Role0, stages)
        .role((out, outputs), |group, mut consumer, (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            for tile in places {
                let sums;
                (consumer, sums) = group.multiply(consumer, steps);
                let Ok(sums) = sums else { return };
                ring.store_sums(tile, &group, &sums, |_, _, sum| sum);
            }
        })
        .role((), |_, mut producer, ()| {
            for tile in places {
                let (row, column) = tile.get();
                let (row, column) = ((row * 64) as i32, (column * 32) as i32);
                for step in 0..steps {
                    let along = (step * 32) as i32;
                    let Ok(stage) = producer.acquire() else { return };
                    producer = stage.copy((a.at(row, along), b.at(column, along))).commit();
                }
            }
        })
        .run();
}

/// A tile of each operand: 128 rows of A and 192 of B, 32 elements along K.
type Wide = (OperandTile<bf16, Extents2<128, 32>, Swizzle64>, OperandTile<bf16, Extents2<192, 32>, Swizzle64>);
/// A tile of their sums: half a register of a thread for each column.
type WideOut = Panels2<128, 192, 16>;
/// Stages and output stages.
type WideProducts = (Partitioned<Stages<Wide, 4, TensorMap>>, Outputs<TensorTile<f32, WideOut, Swizzle64>, 2>);

/// Writes a product, of which each thread has the sums of two tiles at once: 192 registers, more
/// than a launch gives it. Then each thread writes its rank to `marks`, with the registers that the
/// launch gave.
#[kernel]
pub fn products_two_at_once(
    block: Block<384>,
    a: Tensor<bf16, Extents2<128, 32>, Swizzle64>,
    b: Tensor<bf16, Extents2<192, 32>, Swizzle64>,
    out: TensorMut<f32, WideOut, Swizzle64>,
    mut marks: TilesMut<u32, 384>,
    shared: Shared<WideProducts>,
) {
    let (stages, outputs) = shared.split();
    let (places, steps) = (out.tile_places(&block), a.columns().div_ceil(32));
    let _ = block
        .partition::<Budget<WarpRoles<128, 256>, Registers<40, 232>>>()
        .pipeline(stages)
        .role((), |_, mut producer, ()| {
            for tile in 0..places.len() {
                let (row, column) = places.get(tile);
                for step in 0..steps {
                    let (row, column, along) = ((row * 128) as i32, (column * 192) as i32, (step * 32) as i32);
                    let Ok(stage) = producer.acquire() else { return };
                    producer = stage.copy((a.at(row, along), b.at(column, along))).commit();
                }
            }
        })
        .role((out, outputs), |group, mut consumer, (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            let mut tile = 0;
            while tile < places.len() {
                let first;
                (consumer, first) = group.multiply(consumer, steps);
                let Ok(first) = first else { return };
                if tile + 1 < places.len() {
                    let second;
                    (consumer, second) = group.multiply(consumer, steps);
                    let Ok(second) = second else { return };
                    ring.store_sums(tile + 1, &group, &second, |_, _, sum| sum);
                }
                ring.store_sums(tile, &group, &first, |_, _, sum| sum);
                tile += 2;
            }
        })
        .run();
    let mut results = marks.for_block(&block);
    for i in 0..results.len() {
        let result = results.get_mut(i);
        block.threads(|t| result.set(&t, t.rank() as u32));
    }
}

/// Stages of a tile of each operand, and output stages of sums that are added.
type Added<T, const PANEL: usize> =
    (Partitioned<Stages<Operands, 3, TensorMap>>, Outputs<TensorTile<T, Panels2<64, 32, PANEL>, Swizzle64>, 2>);

/// Adds `A * B^T` to the result: a block takes boxes of A, multiplies each with all of B that is of
/// the same elements along K, and adds what it gets.
#[kernel(instances((T, PANEL) = [(f32, 16), (bf16, 32)]), min_blocks = 1)]
pub fn products_added_up<T: SumElement, const PANEL: usize>(
    block: Block<160>,
    a: Tensor<bf16, Extents2<64, 32>, Swizzle64>,
    b: Tensor<bf16, Extents2<32, 32>, Swizzle64>,
    out: TileReduction<T, Unordered<Add>, Panels2<64, 32, PANEL>, Swizzle64>,
    shared: Shared<Added<T, PANEL>>,
) where
    Unordered<Add>: Operation<T>,
{
    let (stages, outputs) = shared.split();
    let (boxes, across) = (a.for_block(&block), b.rows().div_ceil(32));
    let places = boxes.places();
    let _ = block
        .partition::<WarpRoles<128, 32>>()
        .pipeline_between(Role1, Role0, stages)
        .role((out, outputs), |group, mut consumer, (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            for index in 0..boxes.len() {
                let (row, _) = places.get(index);
                for column in 0..across {
                    let sums;
                    (consumer, sums) = group.multiply(consumer, 1);
                    let Ok(sums) = sums else { return };
                    ring.add_sums((row, column), &group, &sums, |_, _, sum| sum);
                }
            }
        })
        .role((), |_, mut producer, ()| {
            for index in 0..boxes.len() {
                let (row, along) = places.get(index);
                for column in 0..across {
                    let (row, column, along) = ((row * 64) as i32, (column * 32) as i32, (along * 32) as i32);
                    let Ok(stage) = producer.acquire() else { return };
                    producer = stage.copy((a.at(row, along), b.at(column, along))).commit();
                }
            }
        })
        .run();
}
