//! A kernel that panics on the CPU says what, where and who; and the program goes on.

use tilepipe::cpu::Schedule;
use tilepipe::launch::Instance;
use tilepipe::{Block, Halos, Shared, Stages, Tile2D, Tiles, Tiles2D, TilesMut, TilesMut2D, kernel};
use tilepipe_host::{Bound, Device, Error, launch};
use tilepipe_test_kernels::faulty;
use tilepipe_tests::case;

/// Reads one element past the tile in the last thread.
#[kernel]
pub fn index_past_the_tile(
    block: Block<64>,
    input: Tiles<i32, 64>,
    mut out: TilesMut<i32, 64>,
    shared: Shared<Stages<[i32; 64], 2>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each(
        tiles.len(),
        |stage, index| stage.copy(tiles.get(index)),
        |tile, index| {
            let dst = results.get_mut(index);
            block.threads(|t| dst.set(&t, tile[t.rank() + 1])); // here: index_past_the_tile
        },
    );
}

/// Asks for one tile too many of the input.
#[kernel]
pub fn input_tile_past_the_end(block: Block<64>, input: Tiles<i32, 64>, mut out: TilesMut<i32, 64>) {
    let tiles = input.for_block(&block);
    let _ = out.for_block(&block);
    let _ = tiles.get(tiles.len()); // here: input_tile_past_the_end
}

/// Asks for one tile too many of the whole view.
#[kernel]
pub fn view_tile_past_the_end(block: Block<64>, input: Tiles<i32, 64>, mut out: TilesMut<i32, 64>) {
    let _ = out.for_block(&block);
    let _ = input.tile(input.tiles()); // here: view_tile_past_the_end
}

/// Asks for one tile too many of the output.
#[kernel]
pub fn output_tile_past_the_end(block: Block<64>, input: Tiles<i32, 64>, mut out: TilesMut<i32, 64>) {
    let _ = input.len();
    let mut results = out.for_block(&block);
    let len = results.len();
    let _ = results.get_mut(len); // here: output_tile_past_the_end
}

/// Writes an element that no thread owns.
#[kernel]
pub fn element_past_the_own(block: Block<64>, input: Tiles<i32, 64>, mut out: TilesMut<i32, 100>) {
    let _ = input.len();
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set_nth(&t, 2, 0)); // here: element_past_the_own
}

/// Asks for one output tile twice at a time.
#[kernel]
pub fn output_tile_twice(block: Block<64>, input: Tiles<i32, 64>, mut out: TilesMut<i32, 64>) {
    let _ = input.len();
    let mut results = out.for_block(&block);
    let _ = results.get_disjoint_mut([0, 0]); // here: output_tile_twice
}

/// Asks for the value of a thread that the block does not have.
#[kernel]
pub fn rank_past_the_block(block: Block<64>, input: Tiles<i32, 64>, mut out: TilesMut<i32, 64>) {
    let _ = (input.len(), out.for_block(&block).len());
    let ranks = block.map(|t| t.rank() as u32);
    let _ = block.broadcast(&ranks, 64); // here: rank_past_the_block
}

/// Has more input tiles than output tiles.
#[kernel]
pub fn output_too_short(
    block: Block<64>,
    input: Tiles<i32, 64>,
    mut out: TilesMut<i32, 256>,
    shared: Shared<Stages<[i32; 64], 2>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |_, _| ()); // here: output_too_short
}

/// Asks for a row of an element that a tile of rows does not have.
#[kernel]
pub fn row_past_the_tile(
    block: Block<64>,
    input: Tiles2D<i32, 4, 16>,
    mut out: TilesMut2D<i32, 4, 16>,
    shared: Shared<Stages<Tile2D<i32, 4, 16>, 1>>,
) {
    let _ = out.for_block(&block).len();
    let _ = shared.pipeline(&block).for_each_tile(&input.for_block(&block), |tile, _| {
        let _ = tile[(4, 0)]; // here: row_past_the_tile
    });
}

/// Asks for a tile below the last row of tiles.
#[kernel]
pub fn tile_row_past_the_view(block: Block<64>, input: Tiles2D<i32, 4, 16>, mut out: TilesMut2D<i32, 4, 16>) {
    let _ = out.for_block(&block).len();
    let _ = input.tile(2, 0); // here: tile_row_past_the_view
}

/// Looks around an element that the tile does not have.
#[kernel]
pub fn window_past_the_tile(
    block: Block<64>,
    input: Halos<i32, 64, 4>,
    mut out: TilesMut<i32, 64>,
    shared: Shared<Stages<tilepipe::HaloTile<i32, 64, 4>, 1>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each(
        tiles.len(),
        |stage, index| stage.copy(tiles.get(index)),
        |tile, index| {
            let dst = results.get_mut(index);
            block.threads(|t| dst.set(&t, tile.window(t.rank() + 60)[0])); // here: window_past_the_tile
        },
    );
}

/// Panics in one thread of one block, with a message made at run time.
#[kernel]
pub fn panic_in_one_thread(block: Block<64>, input: Tiles<i32, 64>, mut out: TilesMut<i32, 64>) {
    let (index, len) = (block.index(), input.len());
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| {
        if index == 2 && t.rank() == 5 {
            panic!("no {len} for {}", t.rank()); // here: panic_in_one_thread
        }
        dst.set(&t, 1);
    });
}

/// Panics in the block-level code of one block.
#[kernel]
pub fn panic_in_block_level_code(block: Block<64>, input: Tiles<i32, 64>, mut out: TilesMut<i32, 64>) {
    let _ = (input.len(), out.for_block(&block).len());
    block.threads(|_| ());
    assert_ne!(block.index(), 1, "block one gives up"); // here: panic_in_block_level_code
}

/// Divides by an element that is zero.
#[kernel]
pub fn division_by_zero(
    block: Block<64>,
    input: Tiles<i32, 64>,
    mut out: TilesMut<i32, 64>,
    shared: Shared<Stages<[i32; 64], 1>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each(
        tiles.len(),
        |stage, index| stage.copy(tiles.get(index)),
        |tile, index| {
            let dst = results.get_mut(index);
            block.threads(|t| dst.set(&t, 100 / tile[t.rank()])); // here: division_by_zero
        },
    );
}

/// Elements of every launch here: three tiles of 64, the last of them partial, from 0 up.
const ELEMENTS: usize = 2 * 64 + 10;
/// Blocks of every launch here, each with one tile.
const GRID: u32 = 3;

fn launch_on(device: &Device, instance: &Instance) -> Result<Vec<i32>, Error> {
    let input = device.upload(&(0..ELEMENTS as i32).collect::<Vec<_>>())?;
    let mut out = device.zeroed::<i32>(ELEMENTS)?;
    if instance.parameters().all(|(_, info)| info.row_alignment.is_none()) {
        launch(&device.stream()?, GRID, instance, [Bound::input(&input), Bound::output(&mut out)])?;
        return out.download();
    }
    // The same in three rows: one row of tiles, three beside one another.
    let (input, mut out) = (device.upload_2d(&input.download()?, ELEMENTS / 3)?, device.zeroed_2d(ELEMENTS / 3, 3)?);
    launch(&device.stream()?, GRID, instance, [Bound::input_2d(&input), Bound::output_2d(&mut out)])?;
    out.download()
}

/// The line of this file that is marked with the kernel's name.
fn line_of(instance: &Instance) -> u32 {
    let marker = format!("// here: {}", instance.kernel());
    let line = include_str!("model.rs").lines().position(|line| line.ends_with(&marker));
    line.unwrap() as u32 + 1
}

/// Checks the report of a kernel's panic under two schedules: message, place, block (any, if
/// `None`) and thread.
fn check_panic(instance: &Instance, wanted: &str, wanted_block: Option<u32>, wanted_thread: Option<u32>) {
    for schedule in [Schedule::Lazy, Schedule::Random { seed: 9 }] {
        let device = Device::cpu(schedule);
        let error = launch_on(&device, instance).unwrap_err();
        let Error::KernelPanicked { message, file, line, column, block, thread } = &error else { panic!("{error:?}") };
        assert!(message.contains(wanted), "{message}");
        assert_eq!((file.as_str(), *line, *thread), (file!(), line_of(instance), wanted_thread), "{error}");
        assert!(*column > 1);
        assert!(wanted_block.is_none_or(|wanted| wanted == *block), "{error}");
        for part in [message.as_str(), &format!("{file}:{line}:{column}"), &format!("block {block}")] {
            assert!(error.to_string().contains(part), "`{error}` lacks `{part}`");
        }
        assert!(device.is_lost());
        let later = launch_on(&device, instance).unwrap_err();
        assert!(matches!(&later, Error::DeviceLost { first } if first.contains(wanted)), "{later}");
    }
}

#[test]
fn an_index_past_the_tile_names_length_index_and_thread() {
    check_panic(
        &index_past_the_tile::INSTANCES[0],
        "index out of bounds: the len is 64 but the index is 64",
        None,
        Some(63),
    );
}

#[test]
fn a_tile_index_past_a_blocks_share_names_both_numbers() {
    let message = "tile index 1 is out of range: this block has 1 tiles";
    check_panic(&input_tile_past_the_end::INSTANCES[0], message, None, None);
}

#[test]
fn a_tile_index_past_the_view_names_both_numbers() {
    let message = "tile index 3 is out of range: the view has 3 tiles";
    check_panic(&view_tile_past_the_end::INSTANCES[0], message, None, None);
}

#[test]
fn an_output_index_past_a_blocks_share_names_both_numbers() {
    let message = "output tile index 1 is out of range: this block has 1 tiles";
    check_panic(&output_tile_past_the_end::INSTANCES[0], message, None, None);
}

#[test]
fn an_element_that_no_thread_owns_names_both_numbers() {
    let message = "element number 2 is out of range: a thread owns 2 of a tile";
    check_panic(&element_past_the_own::INSTANCES[0], message, None, Some(0));
}

#[test]
fn an_output_tile_asked_for_twice_at_a_time_is_refused() {
    let message = "output tile 0 is asked for twice, of 2 tiles at a time";
    check_panic(&output_tile_twice::INSTANCES[0], message, None, None);
}

#[test]
fn a_rank_past_the_block_names_both_numbers() {
    let message = "rank 64 is out of range: the block has 64 threads";
    check_panic(&rank_past_the_block::INSTANCES[0], message, None, None);
}

#[test]
fn fewer_output_tiles_than_input_tiles_are_refused() {
    let message = "the output has 1 tiles, too few for the input's 3";
    check_panic(&output_too_short::INSTANCES[0], message, None, None);
}

#[test]
fn a_row_past_the_tile_names_both_numbers() {
    check_panic(&row_past_the_tile::INSTANCES[0], "row 4 is out of range: the tile has 4", None, None);
}

#[test]
fn a_tile_row_past_the_view_names_both_numbers() {
    check_panic(&tile_row_past_the_view::INSTANCES[0], "tile row 2 is out of range: the view has 1", None, None);
}

#[test]
fn a_window_past_the_tile_says_so() {
    check_panic(&window_past_the_tile::INSTANCES[0], "window", None, Some(4));
}

#[test]
fn a_panic_in_one_thread_names_its_block_and_rank() {
    check_panic(&panic_in_one_thread::INSTANCES[0], "no 138 for 5", Some(2), Some(5));
}

#[test]
fn a_panic_in_block_level_code_names_no_thread() {
    check_panic(&panic_in_block_level_code::INSTANCES[0], "block one gives up", Some(1), None);
}

#[test]
fn a_division_by_zero_is_a_panic() {
    check_panic(&division_by_zero::INSTANCES[0], "attempt to divide by zero", Some(0), Some(0));
}

#[test]
fn after_a_panic_a_device_opened_anew_computes_right() {
    for _ in 0..20 {
        launch_on(&Device::cpu(Schedule::Lazy), &index_past_the_tile::INSTANCES[0]).unwrap_err();
        let right = &case::groups("with_staging")[0];
        case::check_group(&[Device::cpu(Schedule::Lazy)], right, case::medium_size(right.work));
    }
}

#[test]
fn a_block_level_operation_outside_of_a_kernel_says_what_to_do() {
    let panic = std::panic::catch_unwind(|| {
        // SAFETY: never used: on the CPU the first operation panics, since no block runs here.
        let block = unsafe { Block::<32>::assume_converged() };
        block.sync();
    });
    let payload = panic.unwrap_err();
    let message = payload.downcast_ref::<&str>().copied().unwrap_or_default();
    assert!(message.contains("launch the kernel"), "{message}");
}

/// Kernels that `gpu` launches, too.
#[test]
fn a_read_beyond_an_input_and_an_add_beyond_the_bins_name_both_numbers() {
    for schedule in [Schedule::Lazy, Schedule::Random { seed: 9 }] {
        let device = Device::cpu(schedule);
        let (input, mut out) = (device.zeroed(384).unwrap(), device.zeroed(384).unwrap());
        let read = faulty::reads_beyond_an_input::launch(&device.stream().unwrap(), 3, &input, &mut out);
        // A panic takes its device with it.
        let device = Device::cpu(schedule);
        let (input, mut out) = (device.zeroed(384).unwrap(), device.zeroed(127).unwrap());
        let added = faulty::adds_beyond_the_bins::launch(&device.stream().unwrap(), 3, &input, &mut out);
        for (launched, wanted) in [
            (read, "index 384 is out of range: the view has 384 elements"),
            (added, "index 127 is out of range: there are 127 bins"),
        ] {
            let error = launched.unwrap_err();
            let Error::KernelPanicked { message, file, line, thread, .. } = &error else { panic!("{error:?}") };
            assert!(message.contains(wanted) && file.ends_with("faulty.rs") && *line > 0, "{error}");
            assert_eq!(*thread, Some(127), "{error}");
        }
    }
}
