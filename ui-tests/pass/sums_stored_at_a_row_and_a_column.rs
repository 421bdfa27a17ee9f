//! The accepted neighbour of `fail/sums_stored_at_a_row_and_a_column.rs`.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{
    Block, Extents2, Grouped, Outputs, Panels2, Shared, Stages, Swizzle128, TensorMap, TensorMut, TensorTile, bf16,
    kernel,
};

type A = OperandTile<bf16, Extents2<128, 64>, Swizzle128>;
type B = OperandTile<bf16, Extents2<256, 64>, Swizzle128>;
type Out = Panels2<128, 256, 64>;

#[kernel(min_blocks = 1)]
fn neighbour(
    block: Block<384>,
    out: TensorMut<bf16, Out, Swizzle128, Grouped<8>>,
    shared: Shared<(Partitioned<Stages<(A, B), 3, TensorMap>>, Outputs<TensorTile<bf16, Out, Swizzle128>, 2>)>,
) {
    let (stages, outputs) = shared.split();
    let places = out.tile_places(&block);
    let _ = block
        .partition::<WarpRoles<128, 256>>()
        .pipeline(stages)
        .role((), |_, _, ()| {})
        .role((out, outputs), |group, mut consumer, (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            for tile in places {
                let sums;
                (consumer, sums) = group.multiply(consumer, 4);
                let Ok(sums) = sums else { return };
                ring.store_sums(tile, &group, &sums, |_, _, sum| sum);
            }
        })
        .run();
}

fn main() {}
