//! The phases of one mbarrier: what ends them.

use super::mbarrier::Barriers;

fn with_one(arrivals: u32) -> Barriers {
    let mut barriers = Barriers::new();
    barriers.begin(0);
    barriers.init(64, arrivals);
    barriers
}

#[test]
fn a_fresh_mbarrier_is_in_phase_0_behind_a_complete_one_of_parity_1() {
    let mut barriers = with_one(2);
    assert!(barriers.is_complete(64, 1) && !barriers.is_complete(64, 0));
    barriers.arrive(64, 1);
    assert!(!barriers.is_complete(64, 0));
    barriers.arrive(64, 1);
    assert!(barriers.is_complete(64, 0) && !barriers.is_complete(64, 1));
}

#[test]
fn a_phase_ends_when_both_its_arrivals_and_its_bytes_are_there() {
    let mut barriers = with_one(1);
    barriers.expect_tx(64, 48);
    barriers.arrive(64, 1);
    assert!(!barriers.is_complete(64, 0), "48 bytes are missing");
    barriers.complete_tx(64, 32);
    assert!(!barriers.is_complete(64, 0), "16 bytes are missing");
    barriers.complete_tx(64, 16);
    assert!(barriers.is_complete(64, 0));
    barriers.expect_tx(64, 16);
    barriers.complete_tx(64, 16);
    assert!(!barriers.is_complete(64, 1), "the arrival of the next phase is missing");
    barriers.arrive(64, 1);
    assert!(barriers.is_complete(64, 1));
}

#[test]
fn arrive_drop_lowers_the_count_of_the_next_phases() {
    let mut barriers = with_one(3);
    barriers.arrive_drop(64, 1);
    barriers.arrive(64, 2);
    assert!(barriers.is_complete(64, 0));
    barriers.arrive(64, 2);
    assert!(barriers.is_complete(64, 1));
}

#[test]
fn leaving_by_arrive_drop_completes_the_phase_before_the_copies_that_arrive_there_have_landed() {
    let mut barriers = with_one(2);
    barriers.defer(0, 64, 2, Vec::new());
    barriers.arrive_drop(64, 2);
    assert!(barriers.is_complete(64, 0), "the drop took the place of the copies' arrivals");
    assert_eq!(barriers.under_way(64), 2, "they have not landed");
}

#[test]
#[should_panic(expected = "mbarrier.inval while copies that arrive there are under way: mbarrier 0 (at byte 64")]
fn an_mbarrier_is_not_invalidated_while_it_waits_for_bytes() {
    let mut barriers = with_one(1);
    barriers.expect_tx(64, 16);
    barriers.inval(64);
}

#[test]
#[should_panic(expected = "memory of an initialised mbarrier is used again: mbarrier 0 (at byte 64")]
fn the_last_byte_of_an_mbarrier_is_its_own() {
    let barriers = with_one(1);
    barriers.check_free(72, 16);
    barriers.check_free(48, 16);
    barriers.check_free(71, 1);
}
