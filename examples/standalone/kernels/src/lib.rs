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
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| {
            let window = tile.window(t.rank());
            dst.set(&t, (window[5] - window[3]) / 2.0);
        });
    });
}

#[cfg(test)]
mod tests {
    use tilepipe_host::{Device, Error, Schedule};

    use super::slope;

    #[test]
    fn the_slope_of_a_line_is_the_same_everywhere() -> Result<(), Error> {
        let device = Device::cpu(Schedule::Random { seed: 1 });
        let line: Vec<f32> = (0..1000).map(|i| 3.0 * i as f32).collect();
        let (input, mut out) = (device.upload(&line)?, device.zeroed(1000)?);
        slope::launch::<128>(&device.stream()?, 3, &input, &mut out)?;
        assert_eq!(out.download()?[1..999], [3.0; 998]);
        Ok(())
    }
}
