//! The gather and the convolution at random sizes, with indices and filters of every kind, against
//! plain loops.

use proptest::prelude::*;
use tilepipe::Element;
use tilepipe::launch::Instance;
use tilepipe_host::Bound;
use tilepipe_kernels::{convolution, convolution_bulk, gather};
use tilepipe_runner::data;
use tilepipe_runner::value::Value;

use crate::launches::{Case, at, bind, case, elements, gives, number};

/// How indices follow one another.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// Each the one after the last, from 0 on again after the table's end.
    Rising,
    /// From the end of the table to its start, and again.
    Falling,
    /// All the same.
    Constant,
    /// In no order.
    Random,
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Rising), Just(Order::Falling), Just(Order::Constant), Just(Order::Random)]
}

fn indices(count: usize, table: usize, order: Order, seed: u64) -> Vec<u32> {
    let random: Vec<u32> = elements(count, seed);
    let index = |nth: usize| match order {
        Order::Rising => nth % table,
        Order::Falling => table - 1 - nth % table,
        Order::Constant => seed as usize % table,
        Order::Random => random[nth] as usize % table,
    };
    (0..count).map(|nth| index(nth) as u32).collect()
}

/// Checks a gather from a table of `len` elements into `outputs` of them, which may be more than
/// the indices, or fewer.
fn gather_is_right<T: Element + std::fmt::Debug>(
    instance: &Instance,
    case: Case,
    len: usize,
    outputs: usize,
    order: Order,
) {
    let table: Vec<T> = elements(len, case.seed);
    let indices = indices(case.len(number(instance, "LEN")), len, order, !case.seed);
    let found: Vec<T> = indices.iter().map(|index| table[*index as usize]).collect();
    let expected: Vec<T> = (0..outputs).map(|nth| at(&found, nth)).collect();
    gives(instance, case, &expected, |device| vec![bind(device, &indices), bind(device, &table)]);
}

/// Checks a convolution with a filter of numbers of either sign.
fn convolution_is_right<T: Value, const TAPS: usize>(
    instance: &Instance,
    case: Case,
    times_plus: impl Fn(T, T, T) -> T,
) {
    let signal: Vec<T> = data::generate(case.len(number(instance, "LEN")), case.seed).unwrap();
    let numbers: Vec<T> = data::generate(TAPS, !case.seed).unwrap();
    let filter: [T; TAPS] = std::array::from_fn(|tap| numbers[tap]);
    let sum = |index: usize| {
        filter.iter().enumerate().fold(T::zero(), |sum, (tap, weight)| {
            let value = (index + tap).checked_sub(TAPS / 2).map_or(T::zero(), |place| at(&signal, place));
            times_plus(value, *weight, sum)
        })
    };
    let expected: Vec<T> = (0..signal.len()).map(sum).collect();
    gives(instance, case, &expected, |device| vec![bind(device, &signal), Bound::constant(&filter)]);
}

fn small(case: Case) -> Case {
    Case { tiles: case.tiles / 5.0, ..case }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_gather_reads_tables_of_any_length_in_any_order(
        case in case().prop_map(small), len in 1..5000_usize, order in order(), more in 0..3_usize,
    ) {
        let instance = case.instance(&gather::INSTANCES);
        let indices = case.len(number(instance, "LEN"));
        let outputs = [indices, indices + 1000, indices.div_ceil(2)][more];
        match instance.generic("T").unwrap() {
            "i32" => gather_is_right::<i32>(instance, case, len, outputs, order),
            _ => gather_is_right::<f32>(instance, case, len, outputs, order),
        }
    }

    #[test]
    fn a_convolution_takes_any_filter(case in case().prop_map(small), bulk in any::<bool>()) {
        let instance = case.instance(if bulk { &convolution_bulk::INSTANCES[..] } else { &convolution::INSTANCES });
        let of_f32 = |value: f32, weight: f32, sum: f32| value.mul_add(weight, sum);
        match (instance.generic("T").unwrap(), number(instance, "TAPS")) {
            ("i32", 17) => convolution_is_right::<i32, 17>(instance, case, |value, weight, sum| {
                value.wrapping_mul(weight).wrapping_add(sum)
            }),
            ("f32", 17) => convolution_is_right::<f32, 17>(instance, case, of_f32),
            ("f32", 33) => convolution_is_right::<f32, 33>(instance, case, of_f32),
            other => panic!("no such convolution here: {other:?}"),
        }
    }
}
