//! On hardware one block's rank in another block's tile is an element that two threads own.
#![forbid(unsafe_code)]
use tilepipe::{TileMut, Warp};

fn write<'a, 'b>(warp: &Warp<'_, 'a, 128>, tile: &TileMut<'_, 'b, [i32; 128], 128>) {
    warp.lanes(|lane| tile.set(lane.thread(), 1));
}

fn main() {}
