//! The kernel of this program.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![forbid(unsafe_code)]

use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

/// Writes each sum, and a hundredth of the negative ones.
#[kernel(instances(THREADS = [256]))]
pub fn leaky<const THREADS: usize>(
    block: Block<THREADS>,
    sums: Tiles<f32, THREADS>,
    mut out: TilesMut<f32, THREADS>,
    shared: Shared<Stages<[f32; THREADS], 3>>,
) {
    let (tiles, mut results) = (sums.for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| {
            let sum = tile[t.rank()];
            dst.set(&t, if sum < 0.0 { sum * 0.01 } else { sum });
        });
    });
}

#[cfg(test)]
mod tests {
    use tilepipe_host::{Device, Error, Schedule};

    use super::leaky;

    #[test]
    fn negative_sums_are_a_hundredth() -> Result<(), Error> {
        let device = Device::cpu(Schedule::Random { seed: 1 });
        let sums: Vec<f32> = (0..1000).map(|i| i as f32 - 500.0).collect();
        let (input, mut out) = (device.upload(&sums)?, device.zeroed(1000)?);
        leaky::launch::<256>(&device.stream()?, 3, &input, &mut out)?;
        let expected: Vec<f32> = sums.iter().map(|sum| if *sum < 0.0 { sum * 0.01 } else { *sum }).collect();
        assert_eq!(out.download()?, expected);
        Ok(())
    }
}
