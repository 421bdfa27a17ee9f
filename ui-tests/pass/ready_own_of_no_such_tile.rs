//! The accepted neighbour of `fail/ready_own_of_no_such_tile.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, TilesMut, WarpScope, kernel};
use tilepipe_host::{Device, Error, Schedule};

type Three = ([i32; 64], [u8; 256], [i32; 128]);

macro_rules! kernels {
    ($($name:ident $scope:ty;)*) => {$(
        #[kernel]
        fn $name(
            block: Block<64>,
            a: Tiles<i32, 64>,
            b: Tiles<u8, 256>,
            c: Tiles<i32, 128>,
            mut out: TilesMut<i32, 64>,
            shared: Shared<Stages<Three, 2, CpAsync, $scope>>,
        ) {
            let batches = (&a.for_block(&block), &b.for_block(&block), &c.for_block(&block));
            let _ = shared.pipeline(&block).map_tiles(batches, &mut out.for_block(&block), |tiles, dst| {
                block.threads(|t| {
                    let (a, b, c) = tiles.own(&t);
                    assert!(a == tiles.own_of::<0>(&t) && b == tiles.own_of::<1>(&t));
                    assert!(c == tiles.own_of::<2>(&t));
                    dst.set(&t, tiles.own_of::<2>(&t)[1] + i32::from(tiles.own_of::<1>(&t)[3]));
                });
            });
        }
    )*};
}
kernels! { by_threads ThreadScope; by_warps WarpScope; by_block tilepipe::BlockScope; }

fn main() -> Result<(), Error> {
    for schedule in [Schedule::Eager, Schedule::Lazy, Schedule::Random { seed: 1 }, Schedule::Random { seed: 2 }] {
        let device = Device::cpu(schedule);
        let a = device.upload(&Vec::from_iter(0..320))?;
        let b = device.upload(&Vec::from_iter((0..1280).map(|i| (i % 251) as u8)))?;
        let c = device.upload(&Vec::from_iter(0..640))?;
        let expected = Vec::from_iter((0..320).map(|i| 2 * i + 1 + (4 * i + 3) % 251));
        for kernel in 0..3 {
            let (stream, mut out) = (device.stream()?, device.zeroed(320)?);
            match kernel {
                0 => by_threads::launch(&stream, 2, &a, &b, &c, &mut out)?,
                1 => by_warps::launch(&stream, 2, &a, &b, &c, &mut out)?,
                _ => by_block::launch(&stream, 2, &a, &b, &c, &mut out)?,
            }
            assert_eq!(out.download()?, expected);
        }
    }
    Ok(())
}
