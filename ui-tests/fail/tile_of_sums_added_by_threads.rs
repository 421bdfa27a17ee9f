//! Each warpgroup stores its own rows: those of the others would be stored before they are written.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::reduce::{Add, Unordered};
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{
    Block, Extents2, Outputs, Panels2, Shared, Stages, Swizzle128, TensorMap, TensorTile, TileReduction, bf16, kernel,
};

type A = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;
type B = OperandTile<bf16, Extents2<32, 64>, Swizzle128>;
type Out = Panels2<64, 32, 32>;

#[kernel]
fn misuse(
    block: Block<256>,
    out: TileReduction<f32, Unordered<Add>, Out, Swizzle128>,
    shared: Shared<(Partitioned<Stages<(A, B), 3, TensorMap>>, Outputs<TensorTile<f32, Out, Swizzle128>, 2>)>,
) {
    let (stages, outputs) = shared.split();
    let _ = block
        .partition::<WarpRoles<128, 128>>()
        .pipeline(stages)
        .role((), |_, _, ()| {})
        .role((out, outputs), |group, consumer, (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            let (_consumer, sums) = group.multiply(consumer, 4);
            let Ok(sums) = sums else { return };
            group.sync();
            let _ = sums;
            ring.tile_at(0, 0).fill(&group, |_, _| 1.0);
        })
        .run();
}

fn main() {}
