//! The engine may still read the stage that threads would fill: other stores wait for it elsewhere.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{
    Block, Extents2, Grouped, Outputs, Panels2, Shared, Stages, Swizzle128, TensorMap, TensorMut, TensorTile, bf16,
    kernel,
};

type A = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;
type Out = Panels2<64, 64, 64>;

#[kernel(min_blocks = 1)]
fn misuse(
    block: Block<256>,
    out: TensorMut<bf16, Out, Swizzle128, Grouped<8>>,
    shared: Shared<(Partitioned<Stages<(A, A), 3, TensorMap>>, Outputs<TensorTile<bf16, Out, Swizzle128>, 2>)>,
) {
    let (stages, outputs) = shared.split();
    block
        .partition::<WarpRoles<128, 128>>()
        .pipeline(stages)
        .role((), |_, _, ()| {})
        .role((out, outputs), |group, consumer, (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            let (_consumer, sums) = group.multiply(consumer, 4);
            let Ok(sums) = sums else { return };
            ring.store_sums(0, &group, &sums, |_, _, sum| sum);
            ring.tile(1).fill(&group, |_, _| bf16::ONE);
        })
        .run_last();
}

fn main() {}
