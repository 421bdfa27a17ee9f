//! On hardware a tile that misstates its rows is copied over its neighbour.
#![forbid(unsafe_code)]
use tilepipe::Tile;

#[derive(Clone, Copy)]
struct Short([i32; 64]);
impl Tile for Short {
    type Element = i32;
    const COLUMNS: usize = 128;
    const STRIDE: usize = 128;
    const LEAD: usize = 0;
}

fn main() {}
