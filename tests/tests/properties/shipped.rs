//! The shipped sums and matrix kernels at random sizes, against what holds whatever the order of
//! their additions.

use proptest::prelude::*;
use tilepipe::key;
use tilepipe::launch::Instance;
use tilepipe_host::Device;
use tilepipe_kernels::{
    argmax, argmax_bulk, dot, largest_key, stencil_2d, sum, sum_by_threads, sum_by_warps, transpose,
};
use tilepipe_runner::array::{self, Array};
use tilepipe_runner::data;
use tilepipe_runner::value::Value;
use tilepipe_runner::work::Shape;

use crate::launches::{Case, case, elements, number};

/// An integer, widened.
trait Wide: Value {
    fn wide(self) -> i128;
}

macro_rules! wide {
    ($($integer:ty),*) => {$( impl Wide for $integer { fn wide(self) -> i128 { self.into() } } )*};
}
wide!(i32, u32, i64);

/// Runs an instance under the case's schedule.
fn run<T: Value, U: Value>(instance: &Instance, case: Case, inputs: &[Vec<T>], shapes: [Shape; 2]) -> Vec<U> {
    let device = Device::cpu(case.schedule);
    let upload = |input: &Vec<T>| Array::upload(&device, input, shapes[0]).unwrap();
    let inputs: Vec<Array<T>> = inputs.iter().map(upload).collect();
    let mut out = Array::<U>::poisoned(&device, shapes[1]).unwrap();
    array::run(&device.stream().unwrap(), case.grid, instance, &inputs, &mut out).unwrap();
    out.download().unwrap()
}

/// Adds what the blocks return, and compares it with the wide sum of `term` over all elements in
/// the bits that `T` has.
fn total_is_right<T: Wide>(instance: &Instance, case: Case, inputs: usize, term: fn(&[T]) -> i128) {
    let len = case.len(number(instance, "LEN"));
    let inputs: Vec<Vec<T>> = data::inputs(inputs, len, case.seed).unwrap();
    let shapes = [Shape::Row(len), Shape::Row(case.grid as usize)];
    let got = run::<T, T>(instance, case, &inputs, shapes)
        .into_iter()
        .fold(0, |sum: i128, value| sum.wrapping_add(value.wide()));
    let row = |index| inputs.iter().map(|input| input[index]).collect::<Vec<T>>();
    let expected = (0..len).fold(0_i128, |sum, index| sum.wrapping_add(term(&row(index))));
    let bits = (1_i128 << (8 * size_of::<T>())) - 1;
    assert_eq!(got & bits, expected & bits, "{}, {len} elements, {case:?}", instance.name());
}

/// Checks an instance for its element type; of floats there is no wide sum.
fn any_total_is_right(instance: &Instance, case: Case) {
    fn one<T: Wide>(values: &[T]) -> i128 {
        values[0].wide()
    }
    fn product<T: Wide>(values: &[T]) -> i128 {
        values[0].wide().wrapping_mul(values[1].wide())
    }
    match (instance.parameters().len() - 1, instance.generic("T").unwrap()) {
        (1, "i32") => total_is_right::<i32>(instance, case, 1, one),
        (1, "u32") => total_is_right::<u32>(instance, case, 1, one),
        (1, "i64") => total_is_right::<i64>(instance, case, 1, one),
        (2, "i32") => total_is_right::<i32>(instance, case, 2, product),
        (2, "u32") => total_is_right::<u32>(instance, case, 2, product),
        (_, "f32" | "f64") => {}
        other => panic!("no such sum here: {other:?}"),
    }
}

/// The stencil over rows with a border of zeros around them.
fn stencil_loop(input: &[u32], height: usize, width: usize) -> Vec<u32> {
    let mut framed = vec![vec![0_u32; width + 2]; height + 2];
    for row in 0..height {
        framed[row + 1][1..=width].copy_from_slice(&input[row * width..(row + 1) * width]);
    }
    let mut out = Vec::new();
    for row in 1..=height {
        for column in 1..=width {
            let around =
                [framed[row - 1][column], framed[row][column - 1], framed[row][column + 1], framed[row + 1][column]];
            out.push(around.into_iter().fold(framed[row][column].wrapping_mul(3), u32::wrapping_add));
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sums_of_integers_are_the_wide_sums_for_any_length_and_grid(case in case()) {
        let kernels = [&sum::INSTANCES[..], &dot::INSTANCES, &sum_by_warps::INSTANCES, &sum_by_threads::INSTANCES];
        for instances in kernels {
            any_total_is_right(case.instance(instances), case);
        }
    }

    #[test]
    fn two_launches_find_the_first_of_the_largest_elements_in_any_grid(
        case in case(),
        few in any::<bool>(),
        bulk in any::<bool>(),
    ) {
        let instance = case.instance(if bulk { &argmax_bulk::INSTANCES[..] } else { &argmax::INSTANCES });
        let len = case.len(number(instance, "LEN"));
        let mut input: Vec<f32> = elements(len, case.seed);
        if few {
            // Equal elements in many places, zeros of both signs, and no NaN.
            let values = [0.0, -0.0, -1.5, f32::NEG_INFINITY, -1e-40];
            input.iter_mut().for_each(|value| *value = values[value.to_bits() as usize % values.len()]);
        }
        let blocks = case.grid as usize;
        let keys: Vec<u64> = run(instance, case, &[input.clone()], [Shape::Row(len), Shape::Row(blocks)]);
        let second = Case { grid: 1, ..case };
        let found: Vec<u64> = run(&largest_key::INSTANCES[0], second, &[keys], [Shape::Row(blocks), Shape::Row(1)]);
        let larger = |best: usize, index: usize| {
            let (old, new) = (input[best], input[index]);
            if !old.is_nan() && (new.is_nan() || new > old) { index } else { best }
        };
        let expected = (0..len).reduce(larger).map_or(u32::MAX, |index| index as u32);
        prop_assert_eq!(key::argmax_index(found[0]), expected, "{} of {} elements", instance.name(), len);
    }

    #[test]
    fn the_transpose_of_the_transpose_is_the_matrix(case in case(), height in 1..150_usize, width in 1..150_usize) {
        let matrices = transpose::INSTANCES.iter().filter(|instance| instance.generic("T") == Some("u32"));
        let matrices: Vec<&Instance> = matrices.collect();
        let (one, other) = (matrices[case.choice % matrices.len()], matrices[case.choice / 7 % matrices.len()]);
        let matrix: Vec<u32> = elements(height * width, case.seed);
        let shapes = [Shape::Matrix { height, width }, Shape::Matrix { height: width, width: height }];
        let transposed: Vec<u32> = run(one, case, std::slice::from_ref(&matrix), shapes);
        for index in 0..height * width {
            prop_assert_eq!(transposed[index % width * height + index / width], matrix[index]);
        }
        prop_assert_eq!(run::<u32, u32>(other, case, &[transposed], [shapes[1], shapes[0]]), matrix, "{}", other.name());
    }

    #[test]
    fn the_stencil_is_right_at_every_shape(case in case(), height in 1..100_usize, width in 1..200_usize) {
        let integers = stencil_2d::INSTANCES.iter().filter(|instance| instance.generic("T") == Some("u32"));
        let integers: Vec<&Instance> = integers.collect();
        let instance = integers[case.choice % integers.len()];
        let matrix: Vec<u32> = elements(height * width, case.seed);
        let expected = stencil_loop(&matrix, height, width);
        let shape = Shape::Matrix { height, width };
        prop_assert_eq!(run::<u32, u32>(instance, case, &[matrix], [shape; 2]), expected, "{}", instance.name());
    }
}
