//! Sums in the order of threads are one panel.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::reduce::{Add, Unordered};
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{
    Block, Extents2, NoSwizzle, Outputs, Panels2, Shared, Stages, Swizzle128, TensorMap, TensorTile, TileReduction, bf16,
    kernel,
};

type A = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;
type B = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;
type Out = Panels2<64, 64, 64>;

#[kernel]
fn misuse(
    block: Block<256>,
    out: TileReduction<f32, Unordered<Add>, Out, NoSwizzle>,
    shared: Shared<(Partitioned<Stages<(A, B), 3, TensorMap>>, Outputs<TensorTile<f32, Out, NoSwizzle>, 2>)>,
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
            ring.add_sums_as_held((0, 0), &group, &sums, |sum| sum);
        })
        .run();
}

fn main() {}
