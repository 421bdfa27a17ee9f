//! A number computed from a generic parameter that is a type.
#![forbid(unsafe_code)]
use tilepipe::{Block, Element, Shared, Stages, Tiles, kernel};

#[kernel(instances(T = [i32, f32], THREADS = [128], LEN = [4 * T]))]
fn wide<T: Element, const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    shared: Shared<Stages<[T; LEN], 2>>,
) {
    let _ = (block, input, shared);
}

fn main() {}
