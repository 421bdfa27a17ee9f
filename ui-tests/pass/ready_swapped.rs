//! The accepted neighbour of `fail/ready_swapped.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

type OneStage = Stages<[i32; 128], 1>;
#[kernel]
fn swap_references(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OneStage, OneStage)>) {
    let (a, b) = shared.split();
    let (a, first) = a.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let (b, second) = b.pipeline(&block).acquire().copy(input.tile(1)).commit().wait();
    let (mut x, mut y): (&[i32; 128], &[i32; 128]) = (&first, &second);
    core::mem::swap(&mut x, &mut y);
    let (_, _) = (a.release(first), b.release(second));
}

fn main() {}
