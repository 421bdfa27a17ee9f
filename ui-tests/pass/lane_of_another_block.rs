//! The accepted neighbour of `fail/lane_of_another_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::{TileMut, Warp};

fn write<'b>(warp: &Warp<'_, 'b, 128>, tile: &TileMut<'_, 'b, [i32; 128], 128>) {
    warp.lanes(|lane| tile.set(lane.thread(), 1));
}

fn main() {}
