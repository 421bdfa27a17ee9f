//! The kernels of this program.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![forbid(unsafe_code)]

use tilepipe::{Block, HaloTile, Halos, Shared, Stages, TilesMut, kernel};

/// Writes to each element the slope of the signal there: half the difference of its neighbours.
#[kernel(instances(THREADS = [128, 256]))]
pub fn slope<const THREADS: usize>(
    block: Block<THREADS>,
    signal: Halos<f32, THREADS, 4>,
    mut out: TilesMut<f32, THREADS>,
    shared: Shared<Stages<HaloTile<f32, THREADS, 4>, 3>>,
) {
    let tiles = signal.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each(
        tiles.len(),
        |stage, i| stage.copy(tiles.get(i)),
        |tile, i| {
            let dst = results.get_mut(i);
            block.threads(|t| {
                let window = tile.window(t.rank());
                dst.set(&t, (window[5] - window[3]) / 2.0);
            });
        },
    );
}
