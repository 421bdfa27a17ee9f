//! The accepted neighbour of `fail/factor_of_a_stage_of_two_tiles.rs`.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, Product, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, bf16, kernel};

type A = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;
type B = A;

#[kernel]
fn neighbour(
    block: Block<256>,
    shared: Shared<(Partitioned<Stages<A, 2, TensorMap>>, Partitioned<Stages<B, 2, TensorMap>>)>,
) {
    let (of_a, of_b) = shared.split();
    let _ = block
        .partition::<WarpRoles<128, 128>>()
        .pipeline(of_a)
        .pipeline(of_b)
        .role((), |_, _, ()| {})
        .role((), |group, (of_a, of_b), ()| {
            let (Ok(a), Ok(b)) = (of_a.wait(), of_b.wait()) else { return };
            let ((_, a), (_, b)) = (a.hold(), b.hold());
            let _ = Product::of(&group, a, b);
        })
        .run();
}

fn main() {}
