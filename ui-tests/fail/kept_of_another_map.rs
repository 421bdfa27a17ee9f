//! On hardware some threads of the new role have zeros in place of the values.
#![forbid(unsafe_code)]
use tilepipe::role::{FirstThreads, WarpRoles};
use tilepipe::{Block, kernel};

#[kernel]
fn hand_to_another_map(block: Block<128>) {
    let ((ranks, ()), ()) = block
        .partition::<WarpRoles<64, 64>>()
        .role((), |group, _, ()| {
            let ranks = group.map(|t| t.rank() as u32);
            group.keep(ranks)
        })
        .role((), |_, _, ()| {})
        .run();
    let _ =
        block.partition::<FirstThreads<64, 64>>().role(ranks, |_, _, ranks| drop(ranks)).role((), |_, _, ()| {}).run();
}

fn main() {}
