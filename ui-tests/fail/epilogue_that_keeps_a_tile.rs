//! The stage goes back when the panel is stored, and the next one is copied over it.
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
fn misuse(
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
            let kept = std::cell::Cell::new(None);
            let _ = ring.store_pairs_with(0, &group, &sums, added, |_, sums, tile| {
                kept.set(Some(&tile[(0, 0)]));
                sums
            });
        })
        .run();
}

fn main() {}
