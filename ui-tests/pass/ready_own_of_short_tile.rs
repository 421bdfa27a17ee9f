//! The accepted neighbour of `fail/ready_own_of_short_tile.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn second(
    block: Block<64>,
    small: Tiles<i32, 2>,
    large: Tiles<i32, 64>,
    mut out: TilesMut<i32, 64>,
    shared: Shared<Stages<([i32; 2], [i32; 64]), 2>>,
) {
    let batches = (&small.for_block(&block), &large.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(batches, &mut out.for_block(&block), |tiles, dst| {
        block.threads(|t| dst.set(&t, tiles.own_of::<1>(&t)[0] * tiles.tiles().0[1]));
    });
}

fn main() -> Result<(), tilepipe_host::Error> {
    for seed in 0..4 {
        let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed });
        let (small, large) = (device.upload(&[0, 1, 0, 2, 0, 3])?, device.upload(&Vec::from_iter(0..150))?);
        let mut out = device.zeroed(150)?;
        second::launch(&device.stream()?, 2, &small, &large, &mut out)?;
        assert_eq!(out.download()?, Vec::from_iter((0..150).map(|i| i * (i / 64 + 1))));
    }
    Ok(())
}
