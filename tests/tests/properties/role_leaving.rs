//! Roles that leave early, one or both, in every way: what each gets until then is certain, and the
//! memory serves again.

#![expect(clippy::forget_non_drop, reason = "no end has a destructor: that it matters neither way is what is tested")]

use core::mem::forget;

use proptest::prelude::*;
use tilepipe::role::{EvenOdd, FirstThreads, Partitioned, WarpRoles};
use tilepipe::{Block, Bulk, CpAsync, Engine, LoadStore, Shared, Stages, Tiles, TilesMut, kernel};
use tilepipe_host::Bound;
use tilepipe_test_kernels::role_steps::{LEN, WAYS, commits_and_leaves, releases_and_leaves};

use crate::launches::{Case, at, bind, case, elements, gives, number};

/// A pipeline of so many stages between roles.
type Ring<const STAGES: usize, E> = Partitioned<Stages<[u32; LEN], STAGES, E>>;

/// Leaves one pipeline as it is told, runs a second one in the same memory to its end, and writes
/// what both roles counted in either.
macro_rules! leaves {
    ($($name:ident, $map:ty, $threads:literal, $about:literal;)*) => {$(
        #[doc = $about]
        #[kernel(
            instances(E = [CpAsync, Bulk], STAGES = [1, 2, 3, 4, 5, 6, 7, 8]),
            instances(E = [LoadStore], STAGES = [1, 3]),
        )]
        pub fn $name<E: Engine, const STAGES: usize>(
            block: Block<$threads>,
            input: Tiles<u32, LEN>,
            commits: u32,
            releases: u32,
            ways: u32,
            mut out: TilesMut<u32, 4>,
            shared: Shared<Ring<STAGES, E>>,
        ) {
            let (commits, releases, ways) = (commits as usize, releases as usize, ways as usize);
            let ((committed, got), shared) = block
                .partition::<$map>()
                .pipeline(shared)
                .role((), |_, producer, ()| commits_and_leaves(producer, &input, commits, ways / WAYS))
                .role((), |_, consumer, ()| releases_and_leaves(consumer, releases, ways % WAYS))
                .run();
            let ((all, read), _) = block
                .partition::<$map>()
                .pipeline(shared)
                .role((), |_, producer, ()| commits_and_leaves(producer, &input, STAGES + 3, 0))
                .role((), |_, consumer, ()| consumer.for_each(|_, _| ()) as u32)
                .run();
            let mut results = out.for_block(&block);
            let dst = results.get_mut(0);
            block.threads(|t| dst.set_each(&t, |element| [committed, got, all, read][element]));
        }
    )*};
}
leaves! {
    leaves_by_parity, EvenOdd<9>, 18, "Every second thread is a producer.";
    leaves_by_count, FirstThreads<5, 11>, 16, "The first threads are producers.";
    leaves_by_warps, WarpRoles<64, 32>, 96, "Whole warps are producers.";
}

/// Reads nothing of a driver's stages, drops or forgets them, and then runs another pipeline in the
/// same memory: each element, and how many stages were not read.
#[kernel(instances(E = [CpAsync, LoadStore, Bulk], WAY = [0, 1], STAGES = [1, 3]))]
pub fn unread<E: Engine, const WAY: usize, const STAGES: usize>(
    block: Block<48>,
    input: Tiles<u32, LEN>,
    mut out: TilesMut<u32, LEN>,
    shared: Shared<Ring<STAGES, E>>,
) {
    let tiles = input.for_block(&block);
    let roles = block.partition::<FirstThreads<16, 32>>().pipeline(shared);
    let (count, shared) = roles.for_each_tile(&tiles, (), |_, run, ()| {
        let count = run.len() as u32;
        if WAY == 0 {
            drop(run)
        } else {
            forget(run)
        }
        count
    });
    let roles = block.partition::<EvenOdd<24>>().pipeline(shared);
    let _ = roles.map_tiles(&tiles, &mut out, |group, tile, dst| {
        group.threads(|t| dst.set_each(&t, |element| tile[element].wrapping_add(count)));
    });
}

/// Two pipelines between the same roles, of which the producers fill the first one `few` times and
/// the consumers read it `most` times, and both go on with the second one: each element, and three
/// times itself while the first pipeline lasts.
#[kernel(instances(E = [CpAsync, Bulk], STAGES = [1, 2, 3]))]
pub fn one_closes_first<E: Engine, const STAGES: usize>(
    block: Block<96>,
    input: Tiles<u32, LEN>,
    few: u32,
    most: u32,
    mut out: TilesMut<u32, LEN>,
    shared: Shared<(Ring<STAGES, E>, Ring<2, LoadStore>)>,
) {
    let (first, second) = shared.split();
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<WarpRoles<64, 32>>()
        .pipeline(first)
        .pipeline(second)
        .role((), |_, (first, mut second), ()| {
            let mut first = Some(first);
            for i in 0..tiles.len() {
                match first.take() {
                    Some(end) if i == few as usize => end.quit(),
                    Some(end) => first = end.acquire().ok().map(|stage| stage.copy(tiles.get(i)).commit()),
                    None => {}
                }
                let Ok(stage) = second.acquire() else { return };
                second = stage.copy(tiles.get(i)).commit();
            }
        })
        .role(&mut out, |group, (first, second), out| {
            let (mut first, mut results) = (Some(first), out.for_role(&group));
            second.for_each(|tile, i| {
                let ready = match first.take() {
                    Some(end) if i == most as usize => {
                        end.quit();
                        None
                    }
                    Some(end) => end.wait().ok(),
                    None => None,
                };
                let dst = results.get_mut(i);
                group.threads(|t| {
                    let more = |element: usize| ready.as_ref().map_or(0, |ready| ready[element].wrapping_mul(3));
                    dst.set_each(&t, |element| tile[element].wrapping_add(more(element)));
                });
                first = ready.map(|ready| ready.release());
            });
        })
        .run();
}

/// What both roles count, for producers that would commit `commits` and consumers that would
/// release `releases`.
fn counts(commits: u32, releases: u32, way: u32, stages: u32) -> (u32, u32) {
    // Consumers that leave in the ways from 3 on look at one more tile; in those from 5 on they
    // release it too.
    let most_read = releases + u32::from(way >= 3);
    let most_released = releases + u32::from(way >= 5);
    (commits.min(most_released + stages), commits.min(most_read))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_each_role_gets_before_it_or_the_other_leaves_is_certain(
        case in case(), commits in 0..20_u32, releases in 0..20_u32, ways in 0..(WAYS * WAYS) as u32,
    ) {
        let input = elements::<u32>(LEN, case.seed);
        for instances in [&leaves_by_parity::INSTANCES, &leaves_by_count::INSTANCES, &leaves_by_warps::INSTANCES] {
            let instance = case.instance(instances);
            let stages = number(instance, "STAGES") as u32;
            let (committed, got) = counts(commits, releases, ways % WAYS as u32, stages);
            let expected = [committed, got, stages + 3, stages + 3].repeat(case.grid as usize);
            gives(instance, case, &expected, |device| {
                vec![bind(device, &input), Bound::scalar(commits), Bound::scalar(releases), Bound::scalar(ways)]
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_that_nobody_reads_comes_to_its_end(case in case()) {
        let input = elements::<u32>(case.len(LEN), case.seed);
        let (tiles, grid) = (input.len().div_ceil(LEN), case.grid as usize);
        let count = |block: usize| tiles.saturating_sub(block).div_ceil(grid) as u32;
        let expected: Vec<u32> = input
            .iter()
            .enumerate()
            .map(|(index, element)| element.wrapping_add(count(index / LEN % grid)))
            .collect();
        gives(case.instance(&unread::INSTANCES), case, &expected, |device| vec![bind(device, &input)]);
    }

    #[test]
    fn a_pipeline_closes_while_another_one_goes_on(case in case(), few in 0..12_u32, most in 0..12_u32) {
        let input = elements::<u32>(case.len(LEN), case.seed);
        let expected: Vec<u32> = (0..input.len())
            .map(|index| {
                let round = (index / LEN / case.grid as usize) as u32;
                at(&input, index).wrapping_mul(if round < few.min(most) { 4 } else { 1 })
            })
            .collect();
        gives(case.instance(&one_closes_first::INSTANCES), case, &expected, |device| {
            vec![bind(device, &input), Bound::scalar(few), Bound::scalar(most)]
        });
    }
}

#[test]
fn a_consumer_that_waits_once_more_than_stages_are_committed_gets_closed() {
    let input = elements::<u32>(LEN, 1);
    for instance in &leaves_by_warps::INSTANCES {
        let stages = number(instance, "STAGES") as u32;
        for (commits, releases) in [(0, 1), (stages, stages + 1), (2 * stages + 1, 100)] {
            let case = Case { choice: 0, tiles: 1.0, grid: 1, schedule: tilepipe::cpu::Schedule::Lazy, seed: 0 };
            gives(instance, case, &[commits, commits, stages + 3, stages + 3], |device| {
                vec![bind(device, &input), Bound::scalar(commits), Bound::scalar(releases), Bound::scalar(0_u32)]
            });
        }
    }
}
