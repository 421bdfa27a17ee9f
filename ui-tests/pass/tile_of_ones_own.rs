//! The accepted neighbour of `fail/tile_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::Tile;

fn elements_of<T: Tile>() -> usize {
    T::LEN
}
const _: fn() -> usize = elements_of::<[i32; 128]>;

fn main() {}
