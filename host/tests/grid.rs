//! How many blocks a launch has, on the CPU: each block writes the number that it sees.

use tilepipe::reduce::Add;
use tilepipe::{Block, Extents2, NoSwizzle, Tensor, TileReduction, Tiles, TilesMut, TilesMut2D, kernel};
use tilepipe_host::{Device, Error, Grid, Schedule};

/// Writes the number of blocks to every element of two outputs.
#[kernel]
pub fn two_outputs(
    block: Block<32>,
    input: Tiles<u8, 32>,
    mut first: TilesMut<u32, 32>,
    mut second: TilesMut<u32, 64>,
) {
    let _ = input;
    let grid = block.grid() as u32;
    let (mut short, mut long) = (first.for_block(&block), second.for_block(&block));
    for index in 0..short.len() {
        let tile = short.get_mut(index);
        block.threads(|t| tile.set_each(&t, |_| grid));
    }
    for index in 0..long.len() {
        let tile = long.get_mut(index);
        block.threads(|t| tile.set_each(&t, |_| grid));
    }
}

/// Writes the number of blocks to every element of rows.
#[kernel]
pub fn rows(block: Block<32>, mut out: TilesMut2D<u32, 4, 8>) {
    let grid = block.grid() as u32;
    let mut results = out.for_block(&block);
    for index in 0..results.len() {
        let tile = results.get_mut(index);
        block.threads(|t| tile.set_each(&t, |_, _| grid));
    }
}

/// Panics with the number of blocks.
#[kernel]
pub fn no_output(block: Block<32>, input: Tiles<u8, 32>, other: Tiles<u8, 16>) {
    let _ = (input, other);
    assert!(block.grid() == 0, "{} blocks", block.grid());
}

/// Panics with the number of blocks.
#[kernel]
pub fn added(
    block: Block<32>,
    input: Tensor<u32, Extents2<4, 8>, NoSwizzle>,
    out: TileReduction<u32, Add, Extents2<1, 8>, NoSwizzle>,
) {
    let _ = (input, out);
    assert!(block.grid() == 0, "{} blocks", block.grid());
}

/// Panics with the number of blocks.
#[kernel]
pub fn no_view(block: Block<32>, number: u32) {
    assert!(block.grid() == number as usize, "{} blocks", block.grid());
}

#[test]
fn a_block_for_each_tile_of_the_output_that_has_most() {
    let device = Device::cpu(Schedule::Lazy);
    let (stream, input) = (device.stream().unwrap(), device.zeroed::<u8>(100_000).unwrap());
    for (first, second, expected) in [(1, 1, 1), (33, 64, 2), (320, 320, 10), (10, 1000, 16), (1000, 1000, 32)] {
        let (mut one, mut two) = (device.zeroed::<u32>(first).unwrap(), device.zeroed::<u32>(second).unwrap());
        two_outputs::launch(&stream, Grid::tiles(), &input, &mut one, &mut two).unwrap();
        assert_eq!(one.download().unwrap(), vec![expected; first]);
        assert_eq!(two.download().unwrap(), vec![expected; second]);
    }
}

#[test]
fn tiles_of_rows_are_counted_in_both_directions() {
    let device = Device::cpu(Schedule::Lazy);
    let stream = device.stream().unwrap();
    for (width, height, expected) in [(1, 1, 1), (8, 4, 1), (9, 4, 2), (8, 5, 2), (20, 10, 9)] {
        let mut out = device.zeroed_2d::<u32>(width, height).unwrap();
        rows::launch(&stream, Grid::tiles(), &mut out).unwrap();
        assert_eq!(out.download().unwrap(), vec![expected; width * height], "{width} by {height}");
    }
    // Those of a slice are the slice's.
    let mut out = device.zeroed_2d::<u32>(20, 10).unwrap();
    rows::launch(&stream, Grid::tiles(), out.slice_mut(..4, ..9).unwrap()).unwrap();
    assert_eq!(out.download().unwrap()[0], 2);
}

#[test]
fn without_an_output_the_input_with_most_tiles_counts_and_without_a_view_there_is_one_block() {
    let device = Device::cpu(Schedule::Lazy);
    let stream = device.stream().unwrap();
    let (input, other) = (device.zeroed::<u8>(64).unwrap(), device.zeroed::<u8>(65).unwrap());
    let error = no_output::launch(&stream, Grid::tiles(), &input, &other).unwrap_err();
    assert!(matches!(&error, Error::KernelPanicked { message, .. } if message == "5 blocks"), "{error}");
    let device = Device::cpu(Schedule::Lazy);
    no_view::launch(&device.stream().unwrap(), Grid::tiles(), 1).unwrap();
    // All blocks add to the tiles of a reduction, so those of the input count.
    let (input, mut sums) = (device.zeroed_2d::<u32>(9, 12).unwrap(), device.zeroed_2d::<u32>(9, 1).unwrap());
    let error = added::launch(&device.stream().unwrap(), Grid::tiles(), &input, &mut sums).unwrap_err();
    assert!(matches!(&error, Error::KernelPanicked { message, .. } if message == "6 blocks"), "{error}");
}

#[test]
fn resident_blocks_are_those_that_run_at_once_and_not_more_than_tiles() {
    let device = Device::cpu(Schedule::Lazy);
    let (stream, input) = (device.stream().unwrap(), device.zeroed::<u8>(1).unwrap());
    let grid_of = |elements| {
        let (mut one, mut two) = (device.zeroed::<u32>(elements).unwrap(), device.zeroed::<u32>(1).unwrap());
        two_outputs::launch(&stream, Grid::resident(), &input, &mut one, &mut two).unwrap();
        one.download().unwrap()[0] as usize
    };
    let at_once = grid_of(1 << 20);
    assert!((1..(1 << 20) / 32).contains(&at_once), "{at_once} blocks");
    for tiles in [1, 2, at_once, at_once + 1] {
        assert_eq!(grid_of(32 * tiles), tiles.min(at_once));
    }
}

#[test]
fn a_number_is_a_grid_of_so_many_blocks_within_limits() {
    let device = Device::cpu(Schedule::Lazy);
    let stream = device.stream().unwrap();
    no_view::launch(&stream, 7, 7).unwrap();
    no_view::launch(&stream, Grid::from(8), 8).unwrap();
    for grid in [0, 1 << 31, u32::MAX] {
        let error = no_view::launch(&stream, grid, 1).unwrap_err();
        assert!(matches!(error, Error::BadGrid { kernel: "no_view", grid: given } if given == grid), "{error}");
    }
}
