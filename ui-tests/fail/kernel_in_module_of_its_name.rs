//! A name that a glob import brings gives way to one that stands in the module itself.
#![forbid(unsafe_code)]

mod ones {
    use tilepipe::{Block, TilesMut, kernel};

    #[kernel]
    pub fn ones(block: Block<64>, mut out: TilesMut<u32, 64>) {
        let mut results = out.for_block(&block);
        let result = results.get_mut(0);
        block.threads(|t| result.set(&t, 1));
    }
}

use ones::*;

fn main() -> Result<(), tilepipe_host::Error> {
    let device = tilepipe_host::Device::cpu(Default::default());
    ones::launch(&device.stream()?, 1, &mut device.zeroed(64)?)
}
