//! On hardware the first warp of one role and the first one of another would write the same tiles.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, ByWarps, Striped, TilesMut, kernel};

#[kernel]
fn both(block: Block<64>, mut out: TilesMut<u32, 32, Striped, ByWarps>) {
    let out = out.for_warps(&block);
    let _ = block
        .partition::<WarpRoles<32, 32>>()
        .role((), |group, (), ()| {
            group.warps(|warp| {
                let mut results = out.for_warp(&warp);
                let dst = results.get_mut(0);
                warp.lanes(|lane| dst.set(&lane.in_warp(), 1));
            });
        })
        .role((), |_, (), ()| {})
        .run();
}

fn main() {}
