//! The accepted neighbour of `fail/epilogue_that_keeps_a_tile.rs`.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, Role0, Role1, WarpRoles};
use tilepipe::{
    Block, Extents2, Grouped, Outputs, Panels2, Shared, Stages, Swizzle128, TensorMap, TensorMut, TensorTile, bf16,
    kernel,
};

type A = OperandTile<bf16, Extents2<128, 64>, Swizzle128>;
type B = OperandTile<bf16, Extents2<128, 64>, Swizzle128>;
type Added = TensorTile<bf16, Extents2<128, 64>, Swizzle128>;
type Out = Panels2<128, 128, 64>;

#[kernel(min_blocks = 1)]
fn neighbour(
    block: Block<384>,
    out: TensorMut<bf16, Out, Swizzle128, Grouped<8>>,
    shared: Shared<(
        Partitioned<Stages<(A, B), 3, TensorMap>>,
        Partitioned<Stages<Added, 2, TensorMap>>,
        Outputs<TensorTile<bf16, Out, Swizzle128>, 2>,
    )>,
) {
    let (stages, added, outputs) = shared.split();
    let _ = block
        .partition::<WarpRoles<128, 256>>()
        .pipeline(stages)
        .pipeline_between(Role0, Role1, added)
        .role((), |_, _, ()| {})
        .role((out, outputs), |group, (consumer, added), (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            let (_consumer, sums) = group.multiply(consumer, 4);
            let Ok(sums) = sums else { return };
            let _ = ring.store_pairs_with(0, &group, &sums, added, |place, sums, tile| {
                let element = tile[place.in_panel()].to_f32();
                sums.map(|sum| sum + element)
            });
        })
        .run();
}

fn main() {}
