//! All orders of the steps of few threads, by loom.
//!
//! Each test prints how many executions loom explored. A number of preemptions in a test's name is
//! loom's bound on how often a thread that could go on is interrupted; without one in its name a
//! test has no bound.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::barrier::Manner;
use super::checker::Loom;
use super::pipeline::{Event, Setup, tiles};
use super::scenes::{Link, Scene};
use super::script::Step::{self, All, AllHolding, Drive, Hold, Keep, Pass, Quit, Release, Try, TryHold, TryOrStop};

/// What a pipeline's producers and consumers saw.
pub(super) type Seen = [Vec<Event>; 2];

/// What the executions of some scenes were.
#[derive(Default)]
struct Explored {
    scenes: usize,
    executions: usize,
    /// All outcomes.
    seen: Vec<Vec<Seen>>,
}

impl Explored {
    /// Explores a scene.
    fn explore<const STAGES: usize>(&mut self, scene: Scene, preemptions: Option<usize>) {
        let (executions, seen) = explore::<STAGES>(scene, preemptions);
        self.scenes += 1;
        self.executions += executions;
        self.seen.extend(seen);
    }

    /// Says how much was explored.
    fn report(&self, test: &str) {
        println!("{test}: {} scenes, {} executions, {} outcomes", self.scenes, self.executions, self.seen.len());
    }

    /// How many outcomes have the event.
    fn count(&self, event: Event) -> usize {
        self.seen.iter().filter(|seen| seen.iter().flatten().any(|events| events.contains(&event))).count()
    }
}

/// Explores a scene. Returns the number of executions and the outcomes that differ.
pub(super) fn explore<const STAGES: usize>(scene: Scene, preemptions: Option<usize>) -> (usize, Vec<Vec<Seen>>) {
    let all = Arc::new((AtomicUsize::new(0), Mutex::new(Vec::new())));
    let mut loom = loom::model::Builder::new();
    loom.preemption_bound = preemptions;
    loom.max_branches = 20_000;
    loom.check({
        let all = all.clone();
        move || {
            let seen = scene.play::<Loom, STAGES>();
            let (executions, outcomes) = &*all;
            executions.fetch_add(1, Ordering::Relaxed);
            let mut outcomes = outcomes.lock().expect("no execution has failed");
            if !outcomes.contains(&seen) {
                outcomes.push(seen);
            }
        }
    });
    let seen = all.1.lock().expect("no execution has failed").clone();
    (all.0.load(Ordering::Relaxed), seen)
}

/// `count` stages are passed, then `last`.
fn passes(count: usize, last: &[Step]) -> Vec<Step> {
    [vec![Pass(0); count], last.to_vec()].concat()
}

/// The threads of the two roles and the landing of copies, as far as loom's five threads go.
fn sizes() -> impl Iterator<Item = (Setup, Manner)> {
    let manners = [Manner::LATE, Manner::ANY_TIME];
    let all = (1..3).flat_map(move |p| (1..3).flat_map(move |c| manners.map(|manner| (Setup::new(p, c), manner))));
    all.filter(|(setup, manner)| !manner.copiers || 2 * setup.producers + setup.consumers <= 5)
}

fn laps<const STAGES: usize>(explored: &mut Explored) {
    let count = 3 * STAGES + 1;
    for (setup, manner) in sizes() {
        let bulk = setup.with_bulk(false);
        for setup in [setup, setup.told(), setup.with_stores(), setup.with_stores().told(), bulk, bulk.marking()] {
            explored.explore::<STAGES>(Scene::pair(setup, manner, &passes(count, &[]), &[All(0)]), None);
            let drive = vec![Drive(0); count];
            explored.explore::<STAGES>(Scene::pair(setup, manner, &drive, &drive), None);
        }
    }
    for [producers, consumers] in explored.seen.iter().flatten() {
        assert_eq!([tiles(producers), tiles(consumers)], [count; 2]);
    }
}

#[test]
fn all_tiles_come_in_order_over_three_laps_to_one_or_two_threads_from_one_or_two() {
    for stages in [laps::<1>, laps::<2>, laps::<3>] {
        let mut explored = Explored::default();
        stages(&mut explored);
        explored.report("laps");
    }
}

#[test]
fn all_tiles_come_in_order_whatever_the_order_of_waits_and_arrivals() {
    let mut explored = Explored::default();
    for (manner, count) in [(Manner::LATE, 3), (Manner::ANY_TIME, 1)] {
        let (setup, manner) = (Setup::new(1, 1), manner.every_order());
        explored.explore::<1>(Scene::pair(setup, manner, &passes(count, &[]), &[All(0)]), None);
        explored.explore::<2>(Scene::pair(setup, manner, &passes(count, &[]), &[All(0)]), None);
    }
    explored.report("waits in every order");
}

#[test]
fn all_tiles_come_in_order_whatever_the_order_of_waits_and_arrivals_one_preemption() {
    let mut explored = Explored::default();
    for (setup, manner) in sizes() {
        let (setup, manner) = (setup.told(), manner.every_order());
        explored.explore::<1>(Scene::pair(setup, manner, &passes(2, &[]), &[All(0)]), Some(1));
        explored.explore::<2>(Scene::pair(setup, manner, &passes(3, &[]), &[All(0)]), Some(1));
    }
    explored.report("waits in every order, bounded");
}

/// Both ends leave at every step and in every way.
fn leaving<const STAGES: usize>(explored: &mut Explored) {
    let last = (STAGES + 2).min(4);
    let ways: [&[Step]; 4] = [&[], &[Quit(0)], &[Keep(0)], &[Keep(0), Quit(0)]];
    let programs = || (0..=last).flat_map(|count| ways.map(|way| (count, passes(count, way))));
    let endless = || std::iter::once((usize::MAX, vec![All(0)]));
    for (setup, manner) in sizes() {
        for (filled, producers) in programs().chain(endless()) {
            for (wanted, consumers) in programs().chain(endless()) {
                if filled == wanted && filled == usize::MAX {
                    continue;
                }
                let before = explored.seen.len();
                explored.explore::<STAGES>(Scene::pair(setup, manner, &producers, &consumers), None);
                // The outcome is the same in every order: producers fill what consumers release,
                // and all stages once more.
                let counts = explored.seen[before..].iter().map(|seen| seen[0].each_ref().map(|events| tiles(events)));
                let passed = filled.min(wanted.saturating_add(STAGES));
                assert!(counts.eq([[passed, wanted.min(filled)]]), "{producers:?} {consumers:?}");
            }
        }
    }
    assert!(explored.count(Event::Closed) > 0 && explored.count(Event::Kept) > 0);
}

#[test]
fn bulk_copies_land_before_and_after_their_announcement_two_preemptions() {
    let mut explored = Explored::default();
    for (setup, manner) in sizes() {
        // The first producer's copies need a copier; the others have none.
        for (told, late) in [(false, false), (true, false), (false, true), (true, true)] {
            let setup = if told { setup.told() } else { setup }.with_bulk(late);
            for count in [2, 3] {
                explored.explore::<1>(Scene::pair(setup, manner, &passes(count, &[]), &[All(0)]), Some(2));
                explored.explore::<2>(Scene::pair(setup, manner, &passes(count, &[]), &[All(0)]), Some(2));
            }
        }
    }
    explored.report("bulk copies");
}

#[test]
fn roles_with_bulk_copies_leave_at_every_step_in_every_way_two_preemptions() {
    let mut explored = Explored::default();
    let ways: [&[Step]; 4] = [&[], &[Quit(0)], &[Keep(0)], &[Keep(0), Quit(0)]];
    let programs = || (0..=3).flat_map(|count| ways.map(|way| passes(count, way)));
    for producers in 1..3 {
        for manner in [Manner::LATE, Manner::ANY_TIME] {
            let setup = Setup::new(producers, 1).with_bulk(false);
            for (leaves, setup) in programs().flat_map(|leaves| [setup, setup.marking()].map(|of| (leaves.clone(), of)))
            {
                explored.explore::<2>(Scene::pair(setup, manner, &leaves, &[All(0)]), Some(2));
                explored.explore::<2>(Scene::pair(setup, manner, &[All(0)], &leaves), Some(2));
                explored.explore::<1>(Scene::pair(setup.told(), manner, &leaves, &passes(2, &[])), Some(2));
            }
        }
    }
    assert!(explored.count(Event::Closed) > 0 && explored.count(Event::Kept) > 0);
    explored.report("leaving with bulk copies");
}

#[test]
fn either_role_leaves_after_every_number_of_stages_in_every_way() {
    for stages in [leaving::<1>, leaving::<2>, leaving::<3>] {
        let mut explored = Explored::default();
        stages(&mut explored);
        explored.report("leaving");
    }
}

/// Polls of either end, some of which come too early.
fn polls<const STAGES: usize>(
    explored: &mut Explored,
    setup: Setup,
    manner: Manner,
    count: usize,
    bound: Option<usize>,
) {
    let tries = vec![Try(0, 1); count];
    explored.explore::<STAGES>(Scene::pair(setup, manner, &tries, &[All(0)]), bound);
    explored.explore::<STAGES>(Scene::pair(setup, manner, &passes(count, &[]), &[Try(0, 1), Try(0, 1), All(0)]), bound);
    let stops = vec![TryOrStop(0, 1); count];
    explored.explore::<STAGES>(Scene::pair(setup, manner, &[All(0)], &stops), bound);
    explored.explore::<STAGES>(Scene::pair(setup, manner, &stops, &stops), bound);
}

/// Reports, and checks that polls were too early in some outcomes and in time in others.
fn both_decisions(explored: &Explored, test: &str) {
    explored.report(test);
    let late = explored.count(Event::TimedOut);
    assert!(late > 0 && late < explored.seen.len(), "both decisions were made");
}

/// Steps of one thread in each role that come too early, and others behind them.
fn steps_time_out(explored: &mut Explored, setup: Setup, bound: Option<usize>) {
    for count in 1..=4 {
        polls::<1>(explored, setup, Manner::ANY_TIME, count, bound);
        polls::<2>(explored, setup, Manner::ANY_TIME, count, bound);
    }
    polls::<1>(explored, setup, Manner::LATE, 2, bound);
    polls::<2>(explored, setup, Manner::LATE, 2, bound);
    let twice = [Try(0, 2), Try(0, 2), All(0)];
    explored.explore::<2>(Scene::pair(setup, Manner::ANY_TIME, &passes(2, &[]), &twice), bound);
}

#[test]
fn a_step_that_times_out_changes_nothing() {
    let mut explored = Explored::default();
    steps_time_out(&mut explored, Setup::new(1, 1), None);
    both_decisions(&explored, "time-outs");
}

#[test]
fn a_step_that_times_out_changes_nothing_where_bulk_copies_fill_two_preemptions() {
    for late in [false, true] {
        let mut explored = Explored::default();
        steps_time_out(&mut explored, Setup::new(1, 1).with_bulk(late), Some(2));
        both_decisions(&explored, "time-outs with bulk copies, bounded");
    }
}

/// Steps that come too early in one or two threads of each role, of pipelines made by `of`.
fn steps_time_out_together(explored: &mut Explored, of: fn(Setup) -> Setup) {
    for (setup, manner) in sizes() {
        polls::<1>(explored, of(setup), manner, 1, Some(1));
        polls::<2>(explored, of(setup), manner, 2, Some(1));
        if setup.producers == 1 {
            polls::<2>(explored, of(setup), manner, 1, Some(2));
        }
    }
}

#[test]
fn a_step_that_times_out_does_so_in_all_threads_of_a_role_one_or_two_preemptions() {
    let mut explored = Explored::default();
    steps_time_out_together(&mut explored, |setup| setup);
    both_decisions(&explored, "time-outs, bounded");
}

#[test]
fn a_step_that_times_out_does_so_in_all_threads_where_bulk_copies_fill_one_or_two_preemptions() {
    let setups: [fn(Setup) -> Setup; 3] =
        [|setup| setup.with_bulk(false), |setup| setup.told().with_bulk(true), |setup| setup.with_bulk(true).marking()];
    for of in setups {
        let mut explored = Explored::default();
        steps_time_out_together(&mut explored, of);
        both_decisions(&explored, "time-outs with bulk copies, bounded");
    }
}

#[test]
fn roles_that_fill_for_each_other_leave_at_every_step_two_preemptions() {
    let mut explored = Explored::default();
    let turns = [Pass(0), Pass(1), Pass(0), Pass(1)];
    let setup = Setup::new(1, 1);
    let links = vec![Link { from: 0, to: 1, setup }, Link { from: 1, to: 0, setup }];
    for first in 0..=turns.len() {
        for second in 0..=turns.len() {
            let roles = vec![turns[..first].to_vec(), turns[..second].to_vec()];
            explored.explore::<1>(Scene::new(Manner::LATE, links.clone(), roles.clone()), Some(2));
            explored.explore::<2>(Scene::new(Manner::LATE, links.clone(), roles), Some(2));
        }
    }
    explored.report("there and back");
}

#[test]
fn the_middle_role_of_three_leaves_at_every_step_two_preemptions() {
    let mut explored = Explored::default();
    let setup = Setup::new(1, 1);
    let links = vec![Link { from: 0, to: 1, setup }, Link { from: 1, to: 2, setup }];
    let turns = [Pass(0), Pass(1), Pass(0), Pass(1)];
    for middle in 0..=turns.len() {
        for (first, last) in [([All(0)], [All(1)]), ([Pass(0)], [All(1)]), ([All(0)], [Pass(1)])] {
            let roles = vec![first.to_vec(), turns[..middle].to_vec(), last.to_vec()];
            explored.explore::<1>(Scene::new(Manner::LATE, links.clone(), roles.clone()), Some(2));
            explored.explore::<2>(Scene::new(Manner::LATE, links.clone(), roles), Some(2));
        }
    }
    explored.report("three roles");
}

/// Consumers with up to `most` stages in hand at each wait.
fn holding<const STAGES: usize>(explored: &mut Explored, setup: Setup, manner: Manner, bound: Option<usize>) {
    let count = 2 * STAGES + 1;
    for most in 1..STAGES {
        let before = explored.seen.len();
        explored.explore::<STAGES>(Scene::pair(setup, manner, &passes(count, &[]), &[AllHolding(0, most)]), bound);
        for [producers, consumers] in explored.seen[before..].iter().flatten() {
            // What is in hand when the producers have left is read and not handed back.
            assert_eq!([tiles(producers), tiles(consumers)], [count, count - most]);
        }
        // They leave with every number of stages in hand, after each step.
        for steps in 0..=2 * STAGES {
            let rounds =
                (0..steps).map(|step| if step < most || (step - most) % 2 == 0 { Hold(0) } else { Release(0) });
            let leaves: Vec<Step> = rounds.collect();
            explored.explore::<STAGES>(Scene::pair(setup, manner, &[All(0)], &leaves), bound);
            let quits = [leaves, vec![Quit(0)]].concat();
            explored.explore::<STAGES>(Scene::pair(setup, manner, &passes(2, &[]), &quits), bound);
        }
    }
}

#[test]
fn consumers_hold_up_to_all_but_one_stage_and_leave_with_them_two_preemptions() {
    let mut explored = Explored::default();
    for (setup, manner) in sizes().filter(|(setup, _)| setup.producers == 1) {
        for setup in [setup, setup.told().with_bulk(false), setup.with_bulk(true), setup.with_bulk(true).marking()] {
            holding::<2>(&mut explored, setup, manner, Some(2));
            holding::<3>(&mut explored, setup, manner, Some(2));
        }
    }
    explored.report("stages in hand");
}

#[test]
fn consumers_hold_up_to_three_of_four_stages_one_preemption() {
    let mut explored = Explored::default();
    for setup in [Setup::new(1, 1), Setup::new(1, 2).with_bulk(false)] {
        holding::<4>(&mut explored, setup, Manner::ANY_TIME, Some(1));
    }
    explored.report("stages in hand, of four");
}

#[test]
fn a_step_that_times_out_with_a_stage_in_hand_changes_nothing_two_preemptions() {
    let mut explored = Explored::default();
    let consumers = [Hold(0), TryHold(0, 1), AllHolding(0, 1)];
    for setup in [Setup::new(1, 1), Setup::new(1, 2).with_bulk(false)] {
        for manner in [Manner::LATE, Manner::ANY_TIME] {
            explored.explore::<3>(Scene::pair(setup, manner, &passes(4, &[]), &consumers), Some(2));
        }
    }
    both_decisions(&explored, "time-outs with a stage in hand");
}
