//! Products that are started one by one: the machine code of attention, and of a product whose left
//! factor is another product.

use std::collections::BTreeSet;

use tilepipe::launch::Instance;
use tilepipe_kernels::attention::{
    attention, attention_decoding, attention_gradient, attention_keys_gradient, attention_keys_gradient_alone,
    attention_keys_gradient_alone_shaped, attention_keys_gradient_shaped, attention_packed, attention_queries_gradient,
    attention_queries_gradient_shaped, attention_values_gradient, attention_values_gradient_shaped,
};
use tilepipe_test_kernels::tensor::chained::product_of_a_product;
use tilepipe_test_kernels::tensor::written::{product_with_a_product, product_with_queued_products};
use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::Instruction;

use crate::machine::{code_for_sm_90a, is_product, rounds_of_products};

/// The registers that an instruction names.
fn registers(one: &Instruction) -> impl Iterator<Item = usize> {
    let words = one.operands.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(|word| word.strip_prefix('R')?.parse().ok())
}

/// The registers of a product's sums, of so many columns, and of a left factor in registers.
fn of_product(one: &Instruction, columns: usize) -> BTreeSet<usize> {
    let own: Vec<usize> = registers(one).collect();
    let first = own[0];
    // The sums are named again as what is added to, behind the factor.
    let factor = own.iter().copied().find(|register| !(first..first + columns / 2).contains(register));
    (first..first + columns / 2).chain(factor.into_iter().flat_map(|first| first..first + 4)).collect()
}

/// Checks the round of an instance: so many products of `first` columns, whose sums are
/// overwritten, and then of `second` columns, whose left factor is in registers.
fn check(instance: &Instance, [(first, of_first), (second, of_second)]: [(usize, usize); 2]) {
    let name = instance.name();
    let code = code_for_sm_90a(instance);
    let round = rounds_of_products(code);
    assert_eq!(round.executions(is_product), [of_first + of_second].into(), "{name}: products of a round");
    // One fence for both, and a wait for each.
    assert_eq!(round.executions(|one| one.is("WARPGROUP.ARRIVE")), [1].into(), "{name}: fences of a round");
    assert_eq!(round.executions(|one| one.is("WARPGROUP.DEPBAR.LE")), [2].into(), "{name}: waits of a round");
    let in_order: Vec<&Instruction> = round.instructions().collect();
    let position = |wanted: &dyn Fn(&Instruction) -> bool| in_order.iter().position(|one| wanted(one));
    let (begin, waited) = (position(&is_product), position(&|one| one.is("WARPGROUP.DEPBAR.LE")));
    let in_flight = &in_order[begin.expect("a product")..waited.expect("a wait")];
    let products: Vec<&Instruction> = in_flight.iter().copied().filter(|one| is_product(one)).collect();
    assert_eq!(products.len(), of_first + of_second, "{name}: all are started before the first wait");
    let columns = |nth: usize| if nth < of_first { first } else { second };
    let locked: BTreeSet<usize> =
        products.iter().zip(0..).flat_map(|(one, nth)| of_product(one, columns(nth))).collect();
    for one in in_flight.iter().filter(|one| !is_product(one)) {
        assert!(
            registers(one).all(|register| !locked.contains(&register)),
            "{name}: {one:?} touches a sum or a factor"
        );
    }
    // The first one overwrites.
    assert!(products[0].operands.contains("RZ"), "{name}: {:?} reads sums", products[0]);
    for forbidden in ["LDL", "STL"] {
        let found = match spills_around_its_loop(instance) {
            true => round.instructions().find(|one| one.is(forbidden)),
            false => code.instructions().find(|one| one.is(forbidden)),
        };
        assert_eq!(found, None, "{name}: a local access");
    }
}

/// Three warpgroups with heads of 128, and with heads of 64 in windows and in turns, spill a few
/// registers, since they find where a tile begins and which keys their own queries see
/// (docs/decisions/111 to 113), around their loop over keys and not in it.
fn spills_around_its_loop(instance: &Instance) -> bool {
    let name = instance.name();
    let of_windows = name.contains("FromEnd_2_false_64_4_192_") && instance.generic("TURNS") != Some("0");
    name.contains("FromEnd") && name.contains("_128_4_192_") || of_windows
}

#[test]
fn a_round_of_attention_has_both_products_in_flight_and_nothing_touches_their_registers() {
    for instance in attention::INSTANCES.iter().chain(&attention_packed::INSTANCES) {
        let number = |name| instance.generic(name).and_then(|value| value.parse::<usize>().ok()).expect("a number");
        let (head, keys) = (number("HEAD"), number("KEYS"));
        check(instance, [(keys, head / 16), (head, keys / 16)]);
    }
}

#[test]
fn a_round_of_a_product_of_a_product_is_as_that_of_attention() {
    // The one that writes the product: of the others `ptxas` leaves out what nobody reads.
    // The last one takes turns.
    let [instance, .., in_turn] = &product_of_a_product::INSTANCES;
    for instance in [instance, in_turn] {
        check(instance, [(48, 64 / 16), (64, 48 / 16)]);
    }
    // A turn is a wait and an arrival more. A wait is there twice: the first try, and the loop.
    let [[waits, arrivals], with] = [instance, in_turn].map(|instance| {
        let round = rounds_of_products(code_for_sm_90a(instance));
        let of = |opcode: &str| round.instructions().filter(|one| one.is(opcode)).count();
        ["SYNCS.PHASECHK", "SYNCS.ARRIVE"].map(of)
    });
    assert_eq!(with, [waits + 2, arrivals + 1], "waits and arrivals of a round with turns");
}

#[test]
fn sums_in_shared_memory_are_written_between_barriers_of_the_role_and_fenced_before_products_read_them() {
    for instance in &product_with_a_product::INSTANCES {
        let name = instance.name();
        let round = rounds_of_products(code_for_sm_90a(instance));
        assert_eq!(round.executions(|one| one.is("STSM")), [128 / 16].into(), "{name}: stores of a round");
        let kind = |one: &Instruction| {
            let kinds = [("STSM", "store"), ("FENCE.VIEW.ASYNC", "fence"), ("BAR.SYNC", "barrier")];
            let other = kinds.iter().find(|(kind, _)| one.is(kind)).map(|(_, name)| *name);
            if is_product(one) { Some("product") } else { other }
        };
        let mut steps: Vec<&str> = round.instructions().filter_map(kind).collect();
        steps.dedup();
        // The first product of the round is that of which the sums are.
        assert_eq!(steps, ["product", "barrier", "store", "fence", "barrier", "product"], "{name}");
    }
}

#[test]
fn sums_in_rooms_are_written_behind_their_releases_and_read_behind_their_writes_without_a_barrier() {
    for instance in &product_with_queued_products::INSTANCES {
        let name = instance.name();
        let code = code_for_sm_90a(instance);
        let kind = |one: &Instruction| {
            let kinds = [
                ("STSM", "store"),
                ("FENCE.VIEW.ASYNC", "fence"),
                ("BAR.SYNC", "barrier"),
                ("SYNCS.PHASECHK", "wait"),
                ("SYNCS.ARRIVE", "arrival"),
                ("WARPGROUP.DEPBAR", "complete"),
            ];
            let other = kinds.iter().find(|(kind, _)| one.is(kind)).map(|(_, name)| *name);
            if is_product(one) { Some("product") } else { other }
        };
        let mut steps: Vec<&str> = rounds_of_products(code).instructions().filter_map(kind).collect();
        steps.dedup();
        // A product is computed, its stage given back, the room waited for, written and said to be
        // full; the other room is waited for, multiplied, and given back.
        let at = steps.iter().position(|step| *step == "store").expect("a store");
        assert_eq!(
            steps[at - 1..at + 5],
            ["wait", "store", "fence", "arrival", "wait", "product"],
            "{name}: {steps:?}"
        );
        assert_eq!(steps[at + 5..at + 7], ["complete", "arrival"], "{name}: {steps:?}");
        assert!(!steps.contains(&"barrier"), "{name}: {steps:?}");
    }
}

#[test]
fn attention_leaves_no_local_memory() {
    let report = Module::Kernels.report().unwrap_or_else(|error| panic!("{error}"));
    let own = |instance: &Instance| {
        let own: Vec<_> = report.iter().filter(|one| one["kernel"] == instance.symbol()).collect();
        assert_eq!(own.len(), 1, "{}: assembled for sm_90a alone", instance.name());
        own[0]
    };
    let of_shaped =
        attention_queries_gradient_shaped::INSTANCES.iter().chain(&attention_keys_gradient_shaped::INSTANCES);
    let of_gradient = attention_queries_gradient::INSTANCES.iter().chain(&attention_keys_gradient::INSTANCES);
    let of_each = attention_keys_gradient_alone::INSTANCES.iter().chain(&attention_values_gradient::INSTANCES);
    let of_each_shaped =
        attention_keys_gradient_alone_shaped::INSTANCES.iter().chain(&attention_values_gradient_shaped::INSTANCES);
    let of_gradient = of_gradient.chain(of_shaped).chain(of_each).chain(of_each_shaped);
    let of_forward = attention::INSTANCES.iter().chain(&attention_packed::INSTANCES);
    let spilling = attention::INSTANCES.iter().filter(|one| spills_around_its_loop(one));
    assert_eq!(spilling.clone().count(), 6, "causal and in windows with 128, in windows with 64, of two types");
    let others = of_forward.chain(of_gradient).chain(&attention_decoding::INSTANCES);
    for instance in others.filter(|one| !spills_around_its_loop(one)) {
        let own = own(instance);
        for zero in ["spill_stores", "spill_loads", "stack_frame", "stack"] {
            assert_eq!(own[zero], 0, "{zero} of {own}");
        }
    }
    // The one with all gradients spills a few registers since it waits for marks
    // (docs/decisions/94), around its loop over queries and not in it.
    for instance in spilling.chain(&attention_gradient::INSTANCES) {
        let own = own(instance);
        assert!(own["spill_stores"].as_u64().is_some_and(|bytes| bytes <= 64), "{own}");
        assert!(own["spill_loads"].as_u64().is_some_and(|bytes| bytes <= 128), "{own}");
        let round = rounds_of_products(code_for_sm_90a(instance));
        let local = round.instructions().find(|one| one.is("LDL") || one.is("STL"));
        assert_eq!(local, None, "{}: local memory in a round", instance.name());
    }
}
