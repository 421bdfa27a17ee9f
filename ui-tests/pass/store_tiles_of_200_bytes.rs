//! The accepted neighbour of `fail/store_tiles_of_200_bytes.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, BulkTilesMut, Outputs, Shared, kernel};

#[kernel]
fn ones(block: Block<64>, out: BulkTilesMut<u16, 104>, shared: Shared<Outputs<[u16; 104], 2>>) {
    let mut results = shared.outputs(&block, out);
    for i in 0..results.len() {
        results.tile(i).fill(&block, |_| 1);
    }
}

fn main() {
    let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    ones::launch(&device.stream().unwrap(), 2, &mut device.zeroed(500).unwrap()).unwrap();
}
