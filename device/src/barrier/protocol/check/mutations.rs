//! Mistakes: the checks find each of them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::barrier::Manner;
use super::exhaustive::explore;
use super::pipeline::{Mistake, Setup};
use super::scenes::Scene;
use super::script::Step::{All, AllHolding, Hold, Keep, Pass, Quit, Try, TryOrStop};

/// What loom finds in the scene; nothing if all its executions pass.
fn finds<const STAGES: usize>(scene: Scene) -> Option<String> {
    let failure = catch_unwind(AssertUnwindSafe(|| explore::<STAGES>(scene, Some(2)))).err()?;
    let text = failure.downcast_ref::<String>().cloned();
    text.or_else(|| failure.downcast_ref::<&str>().map(|text| text.to_string()))
}

/// Asserts that the scene passes without the mistake, and that with it loom finds what one of
/// `failures` says.
fn finds_mistake<const STAGES: usize>(
    scene: impl Fn(Setup) -> Scene,
    setup: Setup,
    mistake: Mistake,
    failures: &[&str],
) {
    assert_eq!(finds::<STAGES>(scene(setup)), None);
    let found = finds::<STAGES>(scene(setup.with(mistake))).expect("the mistake is found");
    assert!(failures.iter().any(|failure| found.contains(failure)), "{mistake:?}: {found}");
}

/// When the copies land.
const MANNERS: [Manner; 2] = [Manner::LATE, Manner::ANY_TIME];

#[test]
fn a_producer_that_drops_out_of_its_barriers_ends_phases_before_its_copies_land() {
    for manner in MANNERS {
        let scene = |setup| Scene::pair(setup, manner, &[Pass(0), Pass(0)], &[Pass(0)]);
        finds_mistake::<2>(
            scene,
            Setup::new(1, 2),
            Mistake::LeaveByDrop,
            &["race", "a phase ends while", "another tile"],
        );
        finds_mistake::<2>(
            scene,
            Setup::new(2, 1),
            Mistake::LeaveByDrop,
            &["race", "a phase ends while", "another tile"],
        );
    }
}

#[test]
fn a_producer_that_does_not_wait_for_its_arrivals_leaves_one_behind_the_scope() {
    for manner in MANNERS {
        // The consumers leave before the second stage.
        let scene = |setup| Scene::pair(setup, manner, &[Pass(0), Pass(0)], &[]);
        finds_mistake::<2>(scene, Setup::new(1, 1), Mistake::NoSettling, &["ended while an arrival is pending"]);
        finds_mistake::<3>(scene, Setup::new(2, 1), Mistake::NoSettling, &["ended while an arrival is pending"]);
    }
}

#[test]
fn a_producer_that_does_not_wait_for_its_copies_leaves_one_behind_the_scope() {
    for manner in MANNERS {
        let scene = |setup| Scene::pair(setup, manner, &[Pass(0), Keep(0)], &[All(0)]);
        finds_mistake::<2>(scene, Setup::new(1, 1), Mistake::NoDraining, &["a copy is under way"]);
    }
}

#[test]
fn a_consumer_that_closes_a_stage_that_it_has_not_takes_part_in_a_phase_twice() {
    for manner in MANNERS {
        let scene = |setup| Scene::pair(setup, manner, &[All(0)], &[Pass(0)]);
        finds_mistake::<1>(scene, Setup::new(1, 2), Mistake::LeaveWithoutStage, &["arrives twice"]);
    }
    let early = |setup| Scene::pair(setup, Manner::LATE, &[Pass(0)], &[Quit(0)]);
    finds_mistake::<1>(early, Setup::new(1, 1), Mistake::LeaveWithoutStage, &["deadlock"]);
}

#[test]
fn a_closed_stage_passed_behind_copies_alone_is_not_seen_as_closed() {
    for manner in MANNERS {
        let scene = |setup| Scene::pair(setup, manner, &[Pass(0)], &[All(0)]);
        finds_mistake::<2>(scene, Setup::new(1, 1), Mistake::CloseBehindCopies, &["race"]);
        finds_mistake::<1>(scene, Setup::new(2, 1), Mistake::CloseBehindCopies, &["race"]);
    }
}

#[test]
fn threads_that_decide_for_themselves_part() {
    for of in [|setup: Setup| setup, |setup: Setup| setup.with_bulk(false)] {
        let scene = |setup| Scene::pair(setup, Manner::LATE, &[Pass(0), Pass(0)], &[Try(0, 1), All(0)]);
        finds_mistake::<2>(scene, of(Setup::new(1, 2)), Mistake::NoAgreement, &["different outcomes"]);
        let scene = |setup| Scene::pair(setup, Manner::LATE, &[Pass(0), TryOrStop(0, 1)], &[All(0)]);
        let parted = ["deadlock", "different outcomes", "phase"];
        finds_mistake::<1>(scene, of(Setup::new(2, 1)), Mistake::NoAgreement, &parted);
    }
}

#[test]
fn a_thread_reads_the_closing_word_that_its_own_role_writes_if_both_ends_have_one() {
    for manner in MANNERS {
        let consumers_leave = |setup| Scene::pair(setup, manner, &[All(0)], &[Pass(0)]);
        finds_mistake::<2>(consumers_leave, Setup::new(1, 2), Mistake::OneClosingWord, &["race"]);
        let producers_leave = |setup| Scene::pair(setup, manner, &[Pass(0)], &[All(0)]);
        finds_mistake::<2>(producers_leave, Setup::new(2, 1), Mistake::OneClosingWord, &["race"]);
    }
}

#[test]
fn a_decision_word_used_at_every_turn_is_written_while_it_is_read() {
    let scene = |setup| Scene::pair(setup, Manner::LATE, &[Pass(0)], &[Try(0, 1), Try(0, 1), All(0)]);
    finds_mistake::<2>(scene, Setup::new(1, 2), Mistake::OneDecisionWord, &["race"]);
}

#[test]
fn bytes_announced_twice_are_waited_for_for_ever() {
    for manner in MANNERS {
        let scene = |setup: Setup| Scene::pair(setup.with_bulk(false), manner, &[Pass(0)], &[All(0)]);
        finds_mistake::<2>(scene, Setup::new(1, 1), Mistake::TwoAnnouncements, &["deadlock"]);
    }
}

#[test]
fn bytes_that_nobody_announces_end_no_phase_or_one_too_early() {
    for manner in MANNERS {
        let scene = |setup: Setup| Scene::pair(setup.with_bulk(false), manner, &[Pass(0), Pass(0)], &[All(0)]);
        let failures = ["race", "deadlock", "another tile", "ended while", "phase"];
        finds_mistake::<2>(scene, Setup::new(1, 1), Mistake::NoAnnouncement, &failures);
    }
}

#[test]
fn a_phase_that_counts_the_issuing_producer_alone_ends_while_another_one_waits() {
    for manner in MANNERS {
        let scene = |setup: Setup| Scene::pair(setup.with_bulk(false), manner, &[Pass(0), Pass(0), Pass(0)], &[All(0)]);
        let failures = ["a phase ends while a thread waits", "the wait was for another phase", "deadlock"];
        finds_mistake::<1>(scene, Setup::new(2, 1), Mistake::OneArrival, &failures);
    }
}

#[test]
fn a_stage_handed_back_without_a_fence_is_copied_to_while_it_is_read() {
    for manner in MANNERS {
        let scene = |setup: Setup| Scene::pair(setup.with_bulk(false), manner, &[Pass(0), Pass(0)], &[All(0)]);
        finds_mistake::<1>(scene, Setup::new(1, 1), Mistake::NoFence, &["race"]);
        finds_mistake::<1>(scene, Setup::new(1, 2), Mistake::NoFence, &["race"]);
    }
}

#[test]
fn bulk_copies_that_a_role_does_not_wait_for_stay_behind_the_scope() {
    let scene = |setup: Setup| Scene::pair(setup.with_bulk(false), Manner::LATE, &[Pass(0), Pass(0)], &[]);
    finds_mistake::<2>(scene, Setup::new(1, 1), Mistake::NoSettling, &["ended while an arrival is pending"]);
}

#[test]
fn a_stage_that_is_handed_back_out_of_order_is_filled_while_it_is_read_or_waited_for_for_ever() {
    for manner in MANNERS {
        for of in [|setup: Setup| setup, |setup: Setup| setup.with_bulk(false)] {
            let scene = |setup| Scene::pair(of(setup), manner, &[Pass(0); 5], &[AllHolding(0, 1)]);
            let failures = ["race", "deadlock", "another tile", "arrives twice", "phase"];
            finds_mistake::<2>(scene, Setup::new(1, 1), Mistake::ReleaseNewest, &failures);
            finds_mistake::<3>(scene, Setup::new(1, 2), Mistake::ReleaseNewest, &failures);
        }
    }
}

#[test]
fn a_stage_that_is_handed_back_while_it_is_read_is_filled_meanwhile() {
    for manner in MANNERS {
        for of in [|setup: Setup| setup, |setup: Setup| setup.with_bulk(false)] {
            let scene = |setup| Scene::pair(of(setup), manner, &[Pass(0); 5], &[AllHolding(0, 1)]);
            let failures = ["race", "another tile"];
            finds_mistake::<2>(scene, Setup::new(1, 1), Mistake::ReleaseBeforeReads, &failures);
        }
    }
}

#[test]
fn a_consumer_that_hands_back_what_it_holds_when_it_leaves_has_it_filled_while_products_read_it() {
    for manner in MANNERS {
        let scene = |setup: Setup| Scene::pair(setup, manner, &[All(0)], &[Hold(0), Hold(0), Quit(0)]);
        finds_mistake::<3>(scene, Setup::new(1, 1), Mistake::PassAllOnLeaving, &["race", "another tile"]);
        finds_mistake::<2>(
            scene,
            Setup::new(1, 2).with_bulk(false),
            Mistake::PassAllOnLeaving,
            &["race", "another tile"],
        );
    }
}

#[test]
fn a_wait_with_all_stages_in_hand_is_for_ever() {
    for manner in MANNERS {
        let scene = Scene::pair(Setup::new(1, 1), manner, &[Pass(0); 4], &[Hold(0), Hold(0), Hold(0)]);
        assert!(finds::<2>(scene).is_some_and(|found| found.contains("deadlock")));
    }
}

/// A pipeline whose ends leave by marks, as those do whose stages products read.
fn marking(setup: Setup) -> Setup {
    setup.with_bulk(true).marking()
}

#[test]
fn a_mark_behind_the_stages_in_hand_lets_producers_wait_for_ever() {
    for manner in MANNERS {
        let scene = |setup: Setup| Scene::pair(setup, manner, &[All(0)], &[Hold(0), Hold(0)]);
        finds_mistake::<3>(scene, marking(Setup::new(1, 1)), Mistake::MarkBehindHeld, &["deadlock"]);
        finds_mistake::<2>(scene, marking(Setup::new(1, 2)), Mistake::MarkBehindHeld, &["deadlock"]);
    }
}

#[test]
fn a_mark_of_the_other_parity_comes_too_early_or_never() {
    for manner in MANNERS {
        let scene = |setup: Setup| Scene::pair(setup, manner, &[Pass(0), Pass(0)], &[All(0)]);
        let failures = ["deadlock", "closed behind"];
        finds_mistake::<2>(scene, marking(Setup::new(1, 1)), Mistake::MarkOwnParity, &failures);
        finds_mistake::<3>(scene, marking(Setup::new(2, 1)), Mistake::MarkOwnParity, &failures);
    }
}

#[test]
fn a_mark_of_a_stage_that_was_passed_is_missed_or_hides_a_tile() {
    for manner in MANNERS {
        let scene = |setup: Setup| Scene::pair(setup, manner, &[Pass(0), Pass(0)], &[All(0)]);
        let failures = ["deadlock", "closed behind", "different outcomes"];
        finds_mistake::<2>(scene, marking(Setup::new(1, 1)), Mistake::MarkOneEarly, &failures);
        finds_mistake::<3>(scene, marking(Setup::new(1, 2)), Mistake::MarkOneEarly, &failures);
    }
}

#[test]
fn copies_into_a_stage_that_was_never_passed_stay_behind_the_scope_if_nobody_waits() {
    let scene = |setup: Setup| Scene::pair(setup, Manner::LATE, &[Pass(0), Keep(0)], &[All(0)]);
    let failures = ["a copy is under way", "ended while an arrival is pending"];
    finds_mistake::<2>(scene, marking(Setup::new(1, 1)), Mistake::NoLanding, &failures);
    finds_mistake::<1>(scene, marking(Setup::new(2, 1)), Mistake::NoLanding, &failures);
}

#[test]
fn copies_into_a_stage_that_was_never_passed_are_taken_for_a_tile_if_consumers_still_wait() {
    for mistake in [Mistake::LandingBeforeLeft, Mistake::LeftBeforeLeaving] {
        for manner in MANNERS.map(Manner::every_order) {
            let scene = |setup: Setup| Scene::pair(setup, manner, &[Pass(0), Keep(0)], &[All(0)]);
            let failures = ["tiles passed, ", "another tile", "deadlock"];
            finds_mistake::<2>(scene, marking(Setup::new(1, 1)), mistake, &failures);
            finds_mistake::<1>(scene, marking(Setup::new(1, 2)), mistake, &failures);
        }
    }
}

#[test]
fn a_producer_that_does_not_wait_for_the_others_has_them_miss_a_phase() {
    let scene = |setup: Setup| Scene::pair(setup, Manner::LATE, &[Pass(0), Keep(0)], &[All(0)]);
    let failures = ["a phase ends while", "deadlock"];
    finds_mistake::<1>(scene, marking(Setup::new(2, 1)), Mistake::LandingAlone, &failures);
}

#[test]
fn a_consumer_that_hands_back_what_it_holds_before_its_mark_has_it_filled_while_products_read_it() {
    for manner in MANNERS {
        let scene = |setup: Setup| Scene::pair(setup, manner, &[All(0)], &[Hold(0), Hold(0), Quit(0)]);
        let failures = ["race", "another tile"];
        finds_mistake::<3>(scene, marking(Setup::new(1, 1)), Mistake::PassAllOnLeaving, &failures);
        finds_mistake::<2>(scene, marking(Setup::new(1, 2)), Mistake::PassAllOnLeaving, &failures);
    }
}
