//! Roles that panic, and roles that wait for each other for ever: what the report says.

use tilepipe::launch::Instance;
use tilepipe::role::{EvenOdd, FirstThreads, Partitioned, WarpRoles};
use tilepipe::{Block, LoadStore, Shared, Stages, Tiles, TilesMut, kernel};
use tilepipe_host::{Bound, Device, Error, launch};
use tilepipe_tests::case::{self, SCHEDULES};

/// Two tiles of 32 elements between roles, one stage each.
type Pair = (Partitioned<Stages<[u32; 32], 1>>, Partitioned<Stages<[u32; 32], 1, LoadStore>>);

/// Panics in the consumers' thread of rank 5, at the second tile.
#[kernel]
pub fn thread_of_a_role(
    block: Block<64>,
    input: Tiles<u32, 32>,
    mut out: TilesMut<u32, 32>,
    shared: Shared<Partitioned<Stages<[u32; 32], 2>>>,
) {
    let tiles = input.for_block(&block);
    let _ = block.partition::<EvenOdd<32>>().pipeline(shared).map_tiles(&tiles, &mut out, |odd, tile, dst| {
        odd.threads(|t| {
            assert!(tile[t.rank()] != 37, "no {}", tile[t.rank()]); // here: thread_of_a_role
            dst.set(&t, 1);
        });
    });
}

/// Panics in the producers' code, while the consumers wait.
#[kernel]
pub fn code_of_a_role(
    block: Block<64>,
    input: Tiles<u32, 32>,
    mut out: TilesMut<u32, 32>,
    shared: Shared<Partitioned<Stages<[u32; 32], 2>>>,
) {
    let (tiles, _) = (input.for_block(&block), out.len());
    let _ = block
        .partition::<FirstThreads<30, 34>>()
        .pipeline(shared)
        .role((), |_, mut producer, ()| {
            for i in 0..tiles.len() {
                let Ok(stage) = producer.acquire() else { return };
                producer = stage.copy(tiles.get(i)).commit();
            }
            panic!("no tile {}", tiles.len()); // here: code_of_a_role
        })
        .role(&mut out, |group, consumer, out| {
            let mut results = out.for_role(&group);
            consumer.for_each(|tile, i| {
                let dst = results.get_mut(i);
                group.threads(|t| dst.set_each(&t, |element| tile[element]));
            });
        })
        .run();
}

/// Has more input tiles than output tiles.
#[kernel]
pub fn output_of_a_role_too_short(
    block: Block<64>,
    input: Tiles<u32, 32>,
    mut out: TilesMut<u32, 512>,
    shared: Shared<Partitioned<Stages<[u32; 32], 2>>>,
) {
    let tiles = input.for_block(&block);
    let roles = block.partition::<EvenOdd<32>>().pipeline(shared);
    let _ = roles.map_tiles(&tiles, &mut out, |_, _, _| ());
}

/// Asks for the value of a thread that the role does not have.
#[kernel]
pub fn rank_past_the_role(
    block: Block<96>,
    input: Tiles<u32, 32>,
    out: TilesMut<u32, 32>,
    shared: Shared<Partitioned<Stages<[u32; 32], 2>>>,
) {
    let (tiles, _) = (input.for_block(&block), out.len());
    let _ = block.partition::<WarpRoles<32, 64>>().pipeline(shared).for_each_tile(&tiles, (), |group, run, ()| {
        let ranks = group.map(|t| t.rank() as u32);
        run.for_each(|_, i| {
            let _ = group.broadcast(&ranks, 63 + i); // here: rank_past_the_role
        });
    });
}

/// Producers fill the first pipeline twice before the second one; consumers read the second one
/// first. Nobody can go on.
#[kernel]
pub fn opposite_orders(block: Block<96>, input: Tiles<u32, 32>, out: TilesMut<u32, 32>, shared: Shared<Pair>) {
    let (first, second) = shared.split();
    let (tiles, _) = (input.for_block(&block), out.len());
    let _ = block
        .partition::<WarpRoles<32, 64>>()
        .pipeline(first)
        .pipeline(second)
        .role((), |_, (mut first, second), ()| {
            for i in 0..2 {
                let Ok(stage) = first.acquire() else { return };
                first = stage.copy(tiles.get(i)).commit();
            }
            let Ok(stage) = second.acquire() else { return };
            let _ = stage.copy(tiles.get(0)).commit();
        })
        .role((), |_, (first, second), ()| {
            let Ok(tile) = second.wait() else { return };
            let _ = tile.release();
            let _ = first.wait();
        })
        .run();
}

/// Launches one block on elements from 0 up in three tiles, and returns the report of its panic.
fn failure(device: &Device, instance: &Instance) -> Error {
    let input = device.upload(&(0..96).collect::<Vec<u32>>()).unwrap();
    let mut out = device.zeroed::<u32>(96).unwrap();
    let arguments = [Bound::input(&input), Bound::output(&mut out)];
    launch(&device.stream().unwrap(), 1, instance, arguments).unwrap_err()
}

/// Checks the report of a kernel's panic under every schedule: message, place (if it is marked) and
/// thread. A device opened anew computes right.
fn check_panic(instance: &Instance, wanted: &str, wanted_thread: Option<u32>) {
    let marker = format!("// here: {}", instance.kernel());
    let marked = include_str!("role_failures.rs").lines().position(|line| line.ends_with(&marker));
    for schedule in SCHEDULES {
        let device = Device::cpu(schedule);
        let error = failure(&device, instance);
        let Error::KernelPanicked { message, file, line, block, thread, .. } = &error else { panic!("{error:?}") };
        assert!(message.contains(wanted), "{message}");
        assert_eq!((*block, *thread), (0, wanted_thread), "{schedule:?}: {error}");
        if let Some(marked) = marked {
            assert_eq!((file.as_str(), *line), (file!(), marked as u32 + 1), "{schedule:?}: {error}");
        }
        assert!(device.is_lost());
        let right = &case::groups("with_producer_count")[0];
        case::check_group(&[Device::cpu(schedule)], right, case::medium_size(right.work));
    }
}

#[test]
fn a_panic_in_a_thread_of_a_role_names_its_rank_in_the_block() {
    // Element 37 is the sixth of the second tile, so rank 5 of the odd threads: thread 11 of the
    // block.
    check_panic(&thread_of_a_role::INSTANCES[0], "no 37", Some(11));
}

#[test]
fn a_panic_in_the_code_of_a_role_names_no_thread() {
    check_panic(&code_of_a_role::INSTANCES[0], "no tile 3", None);
}

#[test]
fn fewer_output_tiles_than_input_tiles_of_a_role_are_refused() {
    let message = "this block has 1 output tiles, too few for its 3 input tiles";
    check_panic(&output_of_a_role_too_short::INSTANCES[0], message, None);
}

#[test]
fn a_rank_past_the_role_names_both_numbers() {
    check_panic(&rank_past_the_role::INSTANCES[0], "rank 64 is out of range: the role has 64 threads", None);
}

#[test]
fn two_pipelines_in_opposite_order_are_a_deadlock_that_says_who_waits_for_what() {
    for schedule in SCHEDULES {
        let message = failure(&Device::cpu(schedule), &opposite_orders::INSTANCES[0]).to_string();
        for part in [
            "deadlock: role 0 (threads 0..32) waits until stage 0 is empty",
            "; role 1 (threads 32..96) waits until stage 0 is full",
        ] {
            assert!(message.contains(part), "{schedule:?}: `{message}` lacks `{part}`");
        }
    }
}
