//! The accepted neighbour of `fail/member_tiles_for_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, ByWarps, CpAsync, Replicated, Shared, Stages, Striped, Tiles, TilesMut, WarpScope, kernel};

#[kernel]
fn reverse(
    block: Block<64>,
    input: Tiles<u32, 32>,
    mut out: TilesMut<u32, 32, Striped, ByWarps>,
    shared: Shared<Replicated<Stages<[u32; 32], 2, CpAsync, WarpScope>, 64>>,
) {
    let out = out.for_warps(&block);
    let _ = shared.warps(&block, |warp, pipe| {
        let (tiles, mut results) = (input.for_warp(&warp), out.for_warp(&warp));
        let _ = pipe.map_tiles(&tiles, &mut results, |tile, dst| {
            warp.lanes(|lane| dst.set(&lane.in_warp(), tile[31 - lane.rank()]));
        });
    });
}

fn main() -> Result<(), tilepipe_host::Error> {
    use tilepipe_host::Schedule;
    for schedule in [Schedule::Eager, Schedule::Lazy, Schedule::Random { seed: 7 }] {
        let device = tilepipe_host::Device::cpu(schedule);
        // Whole tiles, a partial last one, fewer tiles than warps, and more blocks than tiles.
        for (len, grid) in [(640, 2), (641, 3), (700, 1), (33, 5), (32, 1)] {
            let (input, mut out) = (device.upload(&Vec::from_iter(1..=len))?, device.zeroed(len as usize)?);
            reverse::launch(&device.stream()?, grid, &input, &mut out)?;
            let at = |i: u32| i / 32 * 32 + 31 - i % 32;
            assert_eq!(out.download()?, Vec::from_iter((0..len).map(|i| if at(i) < len { at(i) + 1 } else { 0 })));
        }
    }
    Ok(())
}
