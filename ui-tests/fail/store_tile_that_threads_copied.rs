//! On hardware the engine would read the tile without a fence between the proxies.
#![forbid(unsafe_code)]
use tilepipe::{Block, BulkTilesMut, CpAsync, Outputs, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy(
    block: Block<64>,
    input: Tiles<u32, 256>,
    out: BulkTilesMut<u32, 256>,
    shared: Shared<(Stages<[u32; 256], 2, CpAsync>, Outputs<[u32; 256], 0>)>,
) {
    let (stages, outputs) = shared.split();
    let tiles = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&tiles, &mut results, |tile, draft| draft.store(tile));
}

fn main() {
    let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    let (input, mut out) = (device.upload(&[1; 500]).unwrap(), device.zeroed(500).unwrap());
    copy::launch(&device.stream().unwrap(), 2, &input, &mut out).unwrap();
}
