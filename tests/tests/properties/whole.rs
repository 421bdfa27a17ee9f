//! The gather at random sizes, with indices of every kind, against a plain loop.

use proptest::prelude::*;
use tilepipe::Element;
use tilepipe::launch::Instance;
use tilepipe_kernels::gather;

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
}
