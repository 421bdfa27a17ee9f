//! `hoist_bounds`: the same results and the same errors as without it, whatever the lengths of the
//! views.

use tilepipe::{Block, HaloTile, Halos, Shared, Stages, Tiles, TilesMut, hoist_bounds, kernel};
use tilepipe_host::{Device, Error, Schedule};

/// The sum of two inputs: three parts.
#[kernel]
fn add(
    block: Block<64>,
    left: Tiles<i32, 64>,
    right: Tiles<i32, 64>,
    mut out: TilesMut<i32, 64>,
    shared: Shared<Stages<([i32; 64], [i32; 64]), 1>>,
) {
    let parts = (left.for_block(&block), right.for_block(&block), out.for_block(&block));
    hoist_bounds(parts, |(lefts, rights, mut results)| {
        let mut pipe = shared.pipeline(&block).weaken();
        for i in 0..lefts.len() {
            let (p, tile) = pipe.acquire().copy((lefts.get(i), rights.get(i))).commit().wait();
            let (left, right) = tile.tiles();
            let result = results.get_mut(i);
            block.threads(|t| result.set(&t, left[t.rank()] + right[t.rank()]));
            pipe = p.release(tile);
        }
    });
}

/// Each element's right neighbour, 0 beyond the view: the first and the last tile are not whole.
#[kernel]
fn next(
    block: Block<64>,
    input: Halos<i32, 64, 4>,
    mut out: TilesMut<i32, 64>,
    shared: Shared<Stages<HaloTile<i32, 64, 4>, 1>>,
) {
    hoist_bounds((input.for_block(&block), out.for_block(&block)), |(tiles, mut results)| {
        let mut pipe = shared.pipeline(&block).weaken();
        for i in 0..tiles.len() {
            let (p, tile) = pipe.acquire().copy(tiles.get(i)).commit().wait();
            let result = results.get_mut(i);
            block.threads(|t| result.set(&t, tile.window(t.rank())[5]));
            pipe = p.release(tile);
        }
    });
}

fn numbers(len: usize) -> Vec<i32> {
    (1..).take(len).collect()
}

/// Runs `add` with 3 blocks over views of these lengths.
fn sums(left: usize, right: usize, out: usize) -> Result<Vec<i32>, Error> {
    let device = Device::cpu(Schedule::Random { seed: 7 });
    let (left, right) = (device.upload(&numbers(left))?, device.upload(&numbers(right))?);
    let mut sums = device.zeroed(out)?;
    add::launch(&device.stream()?, 3, &left, &right, &mut sums)?;
    sums.download()
}

#[test]
fn views_of_one_length_are_added_whether_their_tiles_are_whole_or_not() -> Result<(), Error> {
    for len in [1, 63, 64, 65, 192, 193, 640, 1000] {
        let expected: Vec<i32> = numbers(len).into_iter().map(|number| 2 * number).collect();
        assert_eq!(sums(len, len, len)?, expected, "{len} elements");
    }
    Ok(())
}

#[test]
fn a_part_with_more_tiles_than_the_first_is_used_as_far_as_asked() -> Result<(), Error> {
    for (right, out) in [(256, 128), (128, 256), (200, 300), (1000, 1000)] {
        let got = sums(128, right, out)?;
        let expected: Vec<i32> = numbers(128).into_iter().map(|number| 2 * number).collect();
        assert_eq!(got[..128], expected, "{right} and {out} elements");
        assert!(got[128..].iter().all(|number| *number == 0), "{right} and {out} elements");
    }
    Ok(())
}

#[test]
fn an_index_beyond_one_of_the_parts_is_still_an_error_of_that_part() {
    let message = |right, out| sums(256, right, out).map(|_| ()).unwrap_err().to_string();
    assert!(
        message(192, 256).contains("tile index 1 is out of range: this block has 1 tiles"),
        "{}",
        message(192, 256)
    );
    let of_output = message(256, 128);
    assert!(
        of_output.contains("output tile index 1 is out of range: this block has 1 tiles")
            || of_output.contains("output tile index 0"),
        "{of_output}"
    );
}

#[test]
fn tiles_whose_halo_leaves_the_view_are_not_whole() -> Result<(), Error> {
    let device = Device::cpu(Schedule::Random { seed: 8 });
    for len in [1, 64, 65, 192, 196, 640, 1000] {
        for grid in [1, 3, 20] {
            let (input, mut out) = (device.upload(&numbers(len))?, device.zeroed(len)?);
            next::launch(&device.stream()?, grid, &input, &mut out)?;
            let expected: Vec<i32> = numbers(len).into_iter().skip(1).chain([0]).collect();
            assert_eq!(out.download()?, expected, "{len} elements, {grid} blocks");
        }
    }
    Ok(())
}
