//! On hardware two blocks would write the neighbours that their tiles share.
#![forbid(unsafe_code)]
use tilepipe::{Block, HaloTile, TileViewMut, kernel};

#[kernel]
fn overlap(block: Block<128>, mut out: TileViewMut<HaloTile<f32, 128, 4>>) {
    let _ = (block, &mut out);
}

fn main() {}
