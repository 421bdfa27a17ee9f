//! A kernel that is generic over its engine commits through its pipeline.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, ByHand, LoadStore, Shared, Stages, Zeros, kernel};

#[kernel(instances(E = [CpAsync, LoadStore]))]
fn even<E: ByHand>(block: Block<32>, shared: Shared<Stages<[u32; 32], 1, E>>) {
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(Zeros).commit().wait();
    let _ = pipe.release(tile);
}

fn main() {}
