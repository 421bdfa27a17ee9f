//! The accepted neighbour of `fail/member_tiles_returned.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Blocked, ByThreads, CpAsync, Replicated, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};

type Pairs = ([i32; 4], [i32; 4]);

#[kernel]
fn add(
    block: Block<32>,
    left: Tiles<i32, 4>,
    right: Tiles<i32, 4>,
    mut out: TilesMut<i32, 4, Blocked, ByThreads>,
    shared: Shared<Replicated<Stages<Pairs, 2, CpAsync, ThreadScope>, 32>>,
) {
    let out = out.for_threads(&block);
    let _ = shared.threads(&block, |t, pipe| {
        let batches = (&left.for_thread(&t), &right.for_thread(&t));
        let _ = pipe.map_tiles(batches, &mut out.for_thread(&t), |tiles, dst| {
            let (left, right) = tiles.tiles();
            dst.set_each(&t.alone(), |i| left[i] + right[3 - i]);
        });
    });
}

fn main() -> Result<(), tilepipe_host::Error> {
    use tilepipe_host::Schedule;
    for schedule in [Schedule::Eager, Schedule::Lazy, Schedule::Random { seed: 7 }] {
        let device = tilepipe_host::Device::cpu(schedule);
        // Whole tiles, fewer tiles than threads, more blocks than tiles, and several rounds.
        for (len, grid) in [(640, 2), (1204, 3), (40, 1), (8, 5), (256, 1)] {
            let (left, right) = (device.upload(&Vec::from_iter(0..len))?, device.upload(&Vec::from_iter(0..len))?);
            let mut out = device.zeroed(len as usize)?;
            add::launch(&device.stream()?, grid, &left, &right, &mut out)?;
            assert_eq!(out.download()?, Vec::from_iter((0..len).map(|i| i + i / 4 * 4 + 3 - i % 4)));
        }
    }
    Ok(())
}
