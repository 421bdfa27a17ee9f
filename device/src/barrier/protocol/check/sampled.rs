//! Random orders of the steps of more threads, by shuttle.

use std::cell::Cell;
use std::panic;
use std::sync::Once;

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner};

use super::barrier::Manner;
use super::checker::Shuttle;
use super::pipeline::{Event, Setup, tiles};
use super::scenes::{Link, Scene};
use super::script::Step::{self, All, AllHolding, Drive, Hold, Keep, Pass, Quit, Release, Try, TryOrStop};

/// How many schedules of each kind a scene gets.
const SCHEDULES: usize = 200;

thread_local! {
    /// Whether the thread runs shuttle.
    static SAMPLES: Cell<bool> = const { Cell::new(false) };
}

/// Keeps shuttle's panic hook, which prints the schedule that failed, to the threads that run
/// shuttle. (loom's coroutines end by a panic that a hook of theirs ignores; shuttle's would print
/// each.)
fn keep_hooks_apart() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = panic::take_hook();
        Runner::new(RandomScheduler::new(1), Config::default()).run(|| {});
        let shuttles = panic::take_hook();
        panic::set_hook(Box::new(move |info| match SAMPLES.get() {
            true => shuttles(info),
            false => others(info),
        }));
    });
    SAMPLES.set(true);
}

/// Plays a scene under random schedules, and under ones with three changes of priority at random
/// steps.
fn sample<const STAGES: usize>(scene: &Scene, check: fn(&[[Vec<Event>; 2]])) {
    keep_hooks_apart();
    let play = |scene: Scene| move || check(&scene.play::<Shuttle, STAGES>());
    let random = Runner::new(RandomScheduler::new(SCHEDULES), Config::default()).run(play(scene.clone()));
    let priorities = Runner::new(PctScheduler::new(3, SCHEDULES), Config::default()).run(play(scene.clone()));
    assert_eq!([random, priorities], [SCHEDULES; 2]);
    SAMPLES.set(false);
}

/// Says how much was sampled.
fn report(test: &str, scenes: usize) {
    println!("{test}: {scenes} scenes, {} executions", 2 * SCHEDULES * scenes);
}

/// Four threads per role.
const FOURS: Setup = Setup::new(4, 4);

#[test]
fn all_tiles_come_in_order_to_four_threads_from_four_over_five_laps() {
    let count = 15;
    let passes = vec![Pass(0); count];
    let setups = [FOURS, FOURS.told(), FOURS.with_stores(), FOURS.with_bulk(false), FOURS.told().with_bulk(true)];
    for setup in setups {
        for manner in [Manner::LATE, Manner::ANY_TIME] {
            sample::<3>(&Scene::pair(setup, manner.every_order(), &passes, &[All(0)]), |seen| {
                assert_eq!(seen[0].each_ref().map(|events| tiles(events)), [15; 2]);
            });
        }
    }
    let drive = vec![Drive(0); count];
    sample::<3>(&Scene::pair(FOURS, Manner::ANY_TIME, &drive, &drive), |_| {});
    report("laps", 11);
}

#[test]
fn four_threads_of_either_role_leave() {
    for count in 0..8 {
        let (returns, quits) = (vec![Pass(0); count], [vec![Pass(0); count], vec![Quit(0)]].concat());
        let keeps = [vec![Pass(0); count], vec![Keep(0)]].concat();
        for leaves in [returns, quits, keeps] {
            let manner = Manner::ANY_TIME.every_order();
            sample::<3>(&Scene::pair(FOURS, manner, &leaves, &[All(0)]), |_| {});
            sample::<3>(&Scene::pair(FOURS, manner, &[All(0)], &leaves), |_| {});
            let bulk = FOURS.told().with_bulk(count % 2 == 0);
            for bulk in [bulk, bulk.marking()] {
                sample::<3>(&Scene::pair(bulk, manner, &leaves, &[All(0)]), |_| {});
                sample::<3>(&Scene::pair(bulk, manner, &[All(0)], &leaves), |_| {});
            }
        }
    }
    report("leaving", 8 * 3 * 6);
}

#[test]
fn steps_of_four_threads_time_out_together() {
    let tries = [Try(0, 3), Try(0, 1), Pass(0), Try(0, 1), Try(0, 2), Pass(0), Try(0, 1)];
    for setup in [FOURS, FOURS.with_bulk(false), FOURS.told().with_bulk(true), FOURS.with_bulk(true).marking()] {
        for manner in [Manner::LATE, Manner::ANY_TIME] {
            sample::<2>(&Scene::pair(setup, manner, &tries, &[All(0)]), |_| {});
            sample::<2>(&Scene::pair(setup, manner, &[All(0)], &tries), |_| {});
            sample::<3>(&Scene::pair(setup, manner, &[TryOrStop(0, 2); 9], &[TryOrStop(0, 3); 9]), |_| {});
        }
    }
    report("time-outs", 24);
}

#[test]
fn three_roles_of_two_threads_leave_in_a_ring_and_in_a_chain() {
    let setup = Setup::new(2, 2);
    let link = |from, to| Link { from, to, setup };
    let turns = [Pass(0), Pass(1), Pass(0), Pass(1), Pass(0), Pass(1), Pass(0), Pass(1)];
    for manner in [Manner::LATE, Manner::ANY_TIME] {
        for middle in 0..=turns.len() {
            let roles = vec![vec![All(0)], turns[..middle].to_vec(), vec![All(1)]];
            sample::<3>(&Scene::new(manner, vec![link(0, 1), link(1, 2)], roles), |_| {});
            // The first role fills for the second one, that one for the third, and that for the
            // first.
            let mut ring =
                [vec![Pass(0), Pass(2)], vec![Pass(0), Pass(1)], vec![Pass(1), Pass(2)]].map(|turn| turn.repeat(4));
            ring[middle % 3].truncate(middle);
            sample::<2>(&Scene::new(manner, vec![link(0, 1), link(1, 2), link(2, 0)], ring.to_vec()), |_| {});
        }
    }
    report("three roles", 2 * 9 * 2);
}

#[test]
fn four_threads_hold_stages_and_leave_with_them() {
    let count = 13;
    let passes = vec![Pass(0); count];
    for setup in [FOURS, FOURS.with_bulk(false), FOURS.told().with_bulk(true), FOURS.with_bulk(true).marking()] {
        let manner = Manner::ANY_TIME.every_order();
        sample::<3>(&Scene::pair(setup, manner, &passes, &[AllHolding(0, 1)]), |seen| {
            assert_eq!(seen[0].each_ref().map(|events| tiles(events)), [13, 12]);
        });
        sample::<4>(&Scene::pair(setup, manner, &passes, &[AllHolding(0, 3)]), |seen| {
            assert_eq!(seen[0].each_ref().map(|events| tiles(events)), [13, 10]);
        });
        for rounds in 0..4 {
            let leaves = [vec![Hold(0)], [Hold(0), Release(0)].repeat(rounds), vec![Hold(0)]].concat();
            sample::<3>(&Scene::pair(setup, manner, &[All(0)], &leaves), |_| {});
        }
    }
    report("stages in hand", 4 * 6);
}

/// Three consumers of bulk copies, each of which goes its own way.
const OWN_WAYS: Setup = Setup::new(1, 3).with_bulk(true).marking();

#[test]
fn consumers_that_go_different_ways_get_all_tiles_that_they_wait_for() {
    // One reads all; others leave behind so many tiles, one with a stage in hand.
    let holds = [Pass(0), Hold(0)];
    let ways: [&[Step]; 5] = [&[All(0)], &[], &[Pass(0); 2], &[Pass(0); 5], &holds];
    let mut scenes = 0;
    for (at, one) in ways.iter().enumerate() {
        for other in &ways[at..] {
            for filled in [vec![], vec![Pass(0); 7], vec![Pass(0), Keep(0)]] {
                let manner = Manner::ANY_TIME.every_order();
                sample::<2>(&Scene::apart(1, OWN_WAYS, manner, &filled, &[&[All(0)], one, other]), |_| {});
                scenes += 1;
            }
        }
    }
    report("different ways", scenes);
}

#[test]
fn consumers_that_go_different_ways_leave_two_pipelines_in_any_order() {
    // As attention: keys, and the values of the tile before.
    let filled = [Pass(0), Pass(0), Pass(1), Pass(0), Pass(1), Pass(1)];
    let ways: [&[Step]; 4] =
        [&[Pass(0), Pass(1), Pass(0), Pass(1), Pass(0), Pass(1)], &[], &[Pass(0)], &[Pass(0), Pass(0), Pass(1)]];
    let mut scenes = 0;
    for (at, one) in ways.iter().enumerate() {
        for other in &ways[at..] {
            sample::<2>(&Scene::apart(2, OWN_WAYS, Manner::LATE, &filled, &[ways[0], one, other]), |_| {});
            scenes += 1;
        }
    }
    report("different ways, two pipelines", scenes);
}
