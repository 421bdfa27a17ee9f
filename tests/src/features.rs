//! The kernels of `tilepipe_test_kernels::features`, and those of roles, each at several sizes:
//! what they wrote, byte for byte.

use std::ops::Range;

use rayon::prelude::*;
use tilepipe::launch::Instance;
use tilepipe::{Element, I32x4};
use tilepipe_host::{Bound, Buffer, Device, Error, launch};
use tilepipe_kernels::compute::Complex;
use tilepipe_runner::data::POISON;
use tilepipe_runner::value::DType;
use tilepipe_test_kernels::features::{self, Affine};
use tilepipe_test_kernels::{bulk, role_features, role_steps, rows, tensor, wide};

use crate::case::{dtype_of, random_bits};

/// What one launch wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The instance and the number of elements.
    pub launch: String,
    /// The output's bytes.
    pub bytes: Vec<u8>,
}

/// The sizes of all launches, in elements: less than a tile, whole tiles only, and partial ones
/// over several rounds.
pub const SIZES: [usize; 4] = [1, 47, 3 * 1024, 10_007];
/// The same for kernels over rows, as widths and heights: less than a tile, one row, whole tiles
/// only, whole ones but for the last row of tiles, and partial ones at both edges.
pub const EXTENTS: [[usize; 2]; 5] = [[1, 1], [47, 1], [96, 32], [96, 35], [50, 41]];
/// Their numbers of elements.
const IN_ROWS: [usize; 5] = {
    let (mut elements, mut index) = ([0; 5], 0);
    while index < 5 {
        elements[index] = EXTENTS[index][0] * EXTENTS[index][1];
        index += 1;
    }
    elements
};
/// Blocks of all launches.
const GRID: u32 = 3;

/// A small kernel and how its instances are launched.
#[derive(Clone, Copy)]
pub struct Feature {
    instances: &'static [Instance],
    sizes: &'static [usize],
    launch: fn(&Device, &Instance, usize) -> Result<Written, Error>,
}

impl Feature {
    /// The kernel's name.
    pub fn kernel(&self) -> &'static str {
        self.instances[0].kernel()
    }

    /// Launches every instance at every size.
    ///
    /// # Errors
    ///
    /// Those of the launches.
    pub fn written(&self, device: &Device) -> impl Iterator<Item = Result<Written, Error>> {
        let launches = self.sizes.iter().flat_map(|elements| self.instances.iter().map(move |one| (*elements, one)));
        launches.map(|(elements, instance)| (self.launch)(device, instance, elements))
    }
}

/// Calls a macro with the names of all small kernels, for a test of each; they are those of
/// [`all`].
#[macro_export]
macro_rules! with_small_kernels {
    ($then:ident) => {
        $then! {
            sums_in_tiles
            slices_of_threads
            zeros_and_gaps
            collectives_of_blocks
            collectives_of_warps
            functions
            three_inputs
            mapped_rows
            rows_in_runs
            rows_by_runs
            rows_of_threads
            rows_of_warps
            pairs_of_rows
            rows_between_roles
            mapped_boxes
            vectors_of_boxes
            parts_of_boxes
            boxes_between_roles
            boxes_by_hand
            sums_around
            boxes_through_a_ring
            boxes_stored_as_loaded
            boxes_written_again
            boxes_of_a_role
            boxes_of_a_role_as_loaded
            boxes_driven_to_a_role
            zeros_and_gaps_in_scope
            both_orders
            left_in_scope
            warps_by_hand
            far_neighbours
            driven_again
            wide_tiles
            wide_stored
            wide_runs
            wide_own
            wide_by_hand
            wide_between_roles
            elements_between_roles
            gaps_between_roles
            four_roles
            three_loads
            there_and_back
            three_passes
            collectives_of_roles
            scans_of_roles
            collectives_in_a_row
            pairs_between_roles
            slow_warps
            slow_halves
            slow_few
            waits_in_vain
            acquires_in_vain
            quits_at_every_step
        }
    };
}

/// All small kernels.
pub fn all() -> Vec<Feature> {
    let of = |instances, launch| Feature { instances, sizes: &SIZES, launch };
    let in_rows = |instances| Feature { instances, sizes: &IN_ROWS, launch: by_extents };
    vec![
        of(&features::sums_in_tiles::INSTANCES, by_type),
        of(&features::slices_of_threads::INSTANCES, by_type),
        of(&features::zeros_and_gaps::INSTANCES, by_type),
        of(&features::collectives_of_blocks::INSTANCES, by_number),
        of(&features::collectives_of_warps::INSTANCES, by_number),
        of(&features::functions::INSTANCES, functions),
        of(&features::three_inputs::INSTANCES, three),
        in_rows(&rows::mapped_rows::INSTANCES),
        in_rows(&rows::rows_in_runs::INSTANCES),
        in_rows(&rows::rows_by_runs::INSTANCES),
        in_rows(&rows::rows_of_threads::INSTANCES),
        in_rows(&rows::rows_of_warps::INSTANCES),
        in_rows(&rows::pairs_of_rows::INSTANCES),
        in_rows(&rows::rows_between_roles::INSTANCES),
        in_rows(&tensor::mapped_boxes::INSTANCES),
        in_rows(&tensor::vectors_of_boxes::INSTANCES),
        in_rows(&tensor::parts_of_boxes::INSTANCES),
        in_rows(&tensor::boxes_between_roles::INSTANCES),
        in_rows(&tensor::boxes_by_hand::INSTANCES),
        in_rows(&tensor::sums_around::INSTANCES),
        in_rows(&tensor::stores::boxes_through_a_ring::INSTANCES),
        in_rows(&tensor::stores::boxes_stored_as_loaded::INSTANCES),
        in_rows(&tensor::stores::boxes_written_again::INSTANCES),
        in_rows(&tensor::stores::boxes_of_a_role::INSTANCES),
        in_rows(&tensor::stores::boxes_of_a_role_as_loaded::INSTANCES),
        in_rows(&tensor::stores::boxes_driven_to_a_role::INSTANCES),
        of(&bulk::zeros_and_gaps_in_scope::INSTANCES, by_type),
        of(&bulk::both_orders::INSTANCES, by_type),
        of(&bulk::left_in_scope::INSTANCES, by_number),
        of(&bulk::warps_by_hand::INSTANCES, by_number),
        of(&bulk::far_neighbours::INSTANCES, by_number),
        of(&bulk::driven_again::INSTANCES, by_number),
        of(&wide::wide_tiles::INSTANCES, by_type),
        of(&wide::wide_stored::INSTANCES, by_type),
        of(&wide::wide_runs::INSTANCES, by_type),
        of(&wide::wide_own::INSTANCES, by_type),
        of(&wide::wide_by_hand::INSTANCES, by_type),
        of(&wide::wide_between_roles::INSTANCES, by_type),
        of(&wide::elements_between_roles::INSTANCES, by_type),
        of(&role_features::gaps_between_roles::INSTANCES, by_type),
        of(&role_features::four_roles::INSTANCES, by_type),
        of(&role_features::three_loads::INSTANCES, by_number),
        of(&role_features::there_and_back::INSTANCES, by_type),
        of(&role_features::three_passes::INSTANCES, by_number),
        of(&role_features::collectives_of_roles::INSTANCES, by_number),
        of(&role_features::scans_of_roles::INSTANCES, by_number),
        of(&role_features::collectives_in_a_row::INSTANCES, by_number),
        of(&role_features::pairs_between_roles::INSTANCES, pair),
        of(&role_steps::slow_warps::INSTANCES, by_number),
        of(&role_steps::slow_halves::INSTANCES, by_number),
        of(&role_steps::slow_few::INSTANCES, by_number),
        of(&role_steps::waits_in_vain::INSTANCES, by_number),
        of(&role_steps::acquires_in_vain::INSTANCES, by_number),
        // A block's many pipelines are the same at every size.
        Feature { instances: &role_steps::quits_at_every_step::INSTANCES, sizes: &SIZES[2..3], launch: by_number },
    ]
}

/// Elements of random bits, none of which is a float.
fn numbers<T: tilepipe_runner::value::Value>(elements: usize, seed: u64) -> Vec<T> {
    random_bits(elements, seed)
}

/// Launches a kernel of one input whose element type is its generic `T`; floats are small integers,
/// so that there is no NaN.
fn by_type(device: &Device, instance: &Instance, elements: usize) -> Result<Written, Error> {
    let small = || numbers::<i32>(2 * elements, 9).into_iter().map(|value| (value % 1000) as f32);
    match dtype_of(instance) {
        DType::U8 => map(device, instance, &[numbers::<u8>(elements, 1)]),
        DType::I32 => map(device, instance, &[numbers::<i32>(elements, 1)]),
        DType::U32 => map(device, instance, &[numbers::<u32>(elements, 1)]),
        DType::I64 => map(device, instance, &[numbers::<i64>(elements, 1)]),
        DType::I32x4 => map(device, instance, &[numbers::<I32x4>(elements, 1)]),
        DType::F32 => map(device, instance, &[small().take(elements).collect::<Vec<f32>>()]),
        DType::F64 => map(device, instance, &[small().take(elements).map(f64::from).collect::<Vec<f64>>()]),
        DType::Complex => {
            let parts: Vec<f32> = small().collect();
            map(
                device,
                instance,
                &[parts.chunks(2).map(|part| Complex { re: part[0], im: part[1] }).collect::<Vec<_>>()],
            )
        }
        other => panic!("no data of type {other} for {}", instance.name()),
    }
}

/// Launches a kernel of one input of `u32`.
fn by_number(device: &Device, instance: &Instance, elements: usize) -> Result<Written, Error> {
    map(device, instance, &[numbers::<u32>(elements, 3)])
}

/// The elements of a kernel over rows.
pub fn in_rows(elements: usize) -> Vec<u32> {
    numbers(elements, 10)
}

/// Launches a kernel of one input of `u32` in rows: those of [`EXTENTS`] with so many elements.
/// Once more over slices of larger buffers, which must write the same and nothing else.
fn by_extents(device: &Device, instance: &Instance, elements: usize) -> Result<Written, Error> {
    let [width, height] = EXTENTS[IN_ROWS.iter().position(|some| *some == elements).expect("one of the sizes")];
    let launched = format!("{} of {width} x {height} elements", instance.name());
    let (stream, data) = (device.stream()?, in_rows(elements));
    let input = device.upload_2d(&data, width)?;
    let mut out = device.filled_with_byte_2d::<u32>(width, height, POISON)?;
    launch(&stream, GRID, instance, [Bound::input_2d(&input), Bound::output_2d(&mut out)])?;
    let written = out.download()?;

    let poison = u32::from_ne_bytes([POISON; 4]);
    let around = |top: usize, [left, right]: [usize; 2], rows: &[u32]| {
        let mut larger = vec![vec![poison; left + width + right]; top + height + 1];
        for (to, from) in larger[top..].iter_mut().zip(rows.chunks(width)) {
            to[left..left + width].copy_from_slice(from);
        }
        larger.concat()
    };
    // An input starts at a multiple of 16 bytes; an output where its arrangement lets it.
    let (_, of_output) = instance.parameters().nth(1).expect("an input and an output");
    let left = if of_output.alignment == align_of::<u32>() { 3 } else { 8 };
    let input = device.upload_2d(&around(2, [4, 2], &data), 4 + width + 2)?;
    for right in [2, 0] {
        let mut out = device.filled_with_byte_2d::<u32>(left + width + right, 1 + height + 1, POISON)?;
        let slices = [
            Bound::input_rows(input.slice(2..2 + height, 4..4 + width)?),
            Bound::output_rows(out.slice_mut(1..1 + height, left..left + width)?),
        ];
        let result = launch(&stream, GRID, instance, slices);
        // The copy engine would write what follows a row up to the next multiple of 16 bytes.
        let is_refused = of_output.boxes.is_some() && right > 0 && !width.is_multiple_of(4);
        let expected = if is_refused {
            let refusal = result.expect_err(&launched).to_string();
            assert!(
                refusal.contains("a multiple of 4 elements or at the buffer's last column"),
                "{launched}: {refusal}"
            );
            vec![poison; out.len()]
        } else {
            result?;
            around(1, [left, right], &written)
        };
        assert!(out.download()? == expected, "{launched}, {right} columns behind it: other elements than the slice's");
    }
    Ok(Written { launch: launched, bytes: bytemuck::cast_slice(&written).to_vec() })
}

/// Launches a kernel of a `u32` and a `u8` input.
fn pair(device: &Device, instance: &Instance, elements: usize) -> Result<Written, Error> {
    let left = device.upload(&numbers::<u32>(elements, 7))?;
    let right = device.upload(&numbers::<u8>(elements, 8))?;
    run::<u32>(device, instance, elements, [Bound::input(&left), Bound::input(&right)])
}

/// Launches a kernel of an `f64`, a `u8` and an `i32` input; the floats are integers.
fn three(device: &Device, instance: &Instance, elements: usize) -> Result<Written, Error> {
    let a: Vec<f64> = numbers::<i32>(elements, 4).into_iter().map(f64::from).collect();
    let (a, b) = (device.upload(&a)?, device.upload(&numbers::<u8>(elements, 5))?);
    let c = device.upload(&numbers::<i32>(elements, 6))?;
    run::<f64>(device, instance, elements, [Bound::input(&a), Bound::input(&b), Bound::input(&c)])
}

/// Launches a function of `math` on numbers of every magnitude, special ones and any bits among
/// them.
fn functions(device: &Device, instance: &Instance, elements: usize) -> Result<Written, Error> {
    const SPECIAL: [f64; 16] = [
        0.0,
        1.0,
        0.5,
        2.5,
        1e-310,
        1e-42,
        88.7,
        709.7,
        1e300,
        3e38,
        131_072.0,
        1e22,
        2e9,
        3e-39,
        f64::INFINITY,
        f64::NAN,
    ];

    let left = |index: usize| {
        let number = (index as f64 * 0.618).exp2().fract() * (index % 97) as f64;
        let number = SPECIAL.get(index % 50).copied().unwrap_or(number);
        if index / 50 % 2 == 1 { -number } else { number }
    };
    let right = |index: usize| left(index / 2 + 7) * if index.is_multiple_of(3) { -1.0 } else { 1.0 };
    let written = if dtype_of(instance) == DType::F32 {
        let any = numbers::<u32>(elements, 11).into_iter().map(f32::from_bits);
        let left = any.enumerate().map(|(index, any)| if index % 4 == 3 { any } else { left(index) as f32 });
        let right = (0..elements).map(|index| right(index) as f32);
        map(device, instance, &[left.collect::<Vec<f32>>(), right.collect()])?
    } else {
        let any = numbers::<i64>(elements, 11).into_iter().map(|bits| f64::from_bits(bits as u64));
        let left = any.enumerate().map(|(index, any)| if index % 4 == 3 { any } else { left(index) });
        map(device, instance, &[left.collect::<Vec<f64>>(), (0..elements).map(right).collect()])?
    };
    Ok(with_equal_nans(written, instance))
}

/// The instances of the functions of `math` in `f32`.
pub fn functions_of_f32() -> impl Iterator<Item = &'static Instance> {
    features::functions::INSTANCES.iter().filter(|instance| dtype_of(instance) == DType::F32)
}

/// Returns the first number of which a function of `math` in `f32` has other bits on the device
/// than plain calls on the CPU have, with both; none if there is none. `numbers` are numbers by
/// their bits, in whole tiles of the kernel: `0..1 << 32` are all.
///
/// It compares by parts, on all cores: a part's data, its launch and the plain calls. (A kernel on
/// the CPU makes the same calls, and takes a hundred times as long.)
///
/// # Errors
///
/// Those of the launches.
pub fn first_difference(device: &Device, instance: &Instance, numbers: Range<usize>) -> Result<Option<String>, Error> {
    // 16 MiB for each input and output: parts of all cores are in memory at once.
    const PART: usize = 1 << 22;
    let parts = numbers.len().div_ceil(PART);
    let difference = (0..parts).into_par_iter().find_map_first(|part| {
        let first = numbers.start + part * PART;
        difference_in(device, instance, first..numbers.end.min(first + PART)).transpose()
    });
    difference.transpose()
}

/// As [`first_difference`], in one launch and on one core.
fn difference_in(device: &Device, instance: &Instance, numbers: Range<usize>) -> Result<Option<String>, Error> {
    // A function of two arguments takes the number with all other lower 24 bits as the second one.
    let right = |x: f32| f32::from_bits(x.to_bits() ^ 0x00FF_FFFF);
    let left: Vec<f32> = numbers.map(|bits| f32::from_bits(bits as u32)).collect();
    let inputs = [left.clone(), left.into_iter().map(right).collect()];
    let [left, rights] = &inputs;

    let function = instance.generic("F").and_then(|number| number.parse().ok()).expect("a function has its number");
    let arguments = left.iter().zip(rights).enumerate();
    let call = |(index, (x, y)): (usize, (&f32, &f32))| {
        features::function_of_math(function, *x, *y, index % instance.threads() as usize)
    };
    let mut expected: Vec<f32> = arguments.map(call).collect();
    make_nans_equal(bytemuck::cast_slice_mut(&mut expected), instance);

    let got = with_equal_nans(map(device, instance, &inputs)?, instance);
    let mut pairs = got.bytes.chunks_exact(4).zip(&expected);
    Ok(pairs.position(|(got, expected)| got != expected.to_ne_bytes()).map(|index| {
        let got: u32 = bytemuck::pod_read_unaligned(&got.bytes[4 * index..][..4]);
        let [number, expected] = [left[index], expected[index]].map(f32::to_bits);
        format!("of {number:#010x} it writes {got:#010x}, plain calls return {expected:#010x}")
    }))
}

/// What a launch wrote, with NaNs as [`make_nans_equal`] leaves them.
fn with_equal_nans(mut written: Written, instance: &Instance) -> Written {
    make_nans_equal(&mut written.bytes, instance);
    written
}

/// Sets all bits of each NaN: they are no part of the promise.
fn make_nans_equal(elements: &mut [u8], instance: &Instance) {
    let width = dtype_of(instance).bytes();
    for bytes in elements.chunks_mut(width) {
        let is_nan = match width {
            4 => bytemuck::pod_read_unaligned::<f32>(bytes).is_nan(),
            _ => bytemuck::pod_read_unaligned::<f64>(bytes).is_nan(),
        };
        if is_nan {
            bytes.fill(0xFF);
        }
    }
}

/// Launches a kernel whose inputs and output have one element type.
fn map<T: Element>(device: &Device, instance: &Instance, inputs: &[Vec<T>]) -> Result<Written, Error> {
    let buffers = inputs.iter().map(|input| device.upload(input)).collect::<Result<Vec<Buffer<T>>, Error>>()?;
    run::<T>(device, instance, inputs[0].len(), buffers.iter().map(Bound::input))
}

/// Launches a kernel over a poisoned output.
fn run<T: Element>(
    device: &Device,
    instance: &Instance,
    elements: usize,
    inputs: impl IntoIterator<Item = Bound<'static>>,
) -> Result<Written, Error> {
    let mut out = device.filled_with_byte::<T>(elements, POISON)?;
    let arguments: Vec<Bound<'_>> = inputs.into_iter().chain([Bound::output(&mut out)]).collect();
    launch(&device.stream()?, GRID, instance, arguments)?;
    let bytes = bytemuck::cast_slice(&out.download()?).to_vec();
    Ok(Written { launch: format!("{} of {elements} elements", instance.name()), bytes })
}

/// What the collectives of a block of `threads` make of one tile, as plain loops: beyond the end of
/// the data there are zeros.
pub fn collectives_of_block(tile: &[u32], threads: usize) -> Vec<u32> {
    let at = |rank: usize| tile.get(rank).copied().unwrap_or(0);
    let (mut any, mut all, mut composed) = (false, true, Affine { scale: 1, shift: 0 });
    for rank in 0..threads {
        any |= at(rank) < 1 << 24;
        all &= at(rank) > 1 << 24;
        composed = composed.then(Affine { scale: at(rank) | 1, shift: rank as u32 });
    }
    let votes = u32::from(any) + 2 * u32::from(all);
    let result = composed.scale.wrapping_add(composed.shift).wrapping_mul(4).wrapping_add(votes) ^ at(threads - 1);
    (0..tile.len()).map(|rank| result.wrapping_add(rank as u32)).collect()
}

#[cfg(test)]
mod tests {
    use tilepipe_host::{Device, Schedule};

    #[test]
    fn no_small_kernel_is_without_a_test_of_its_own() {
        macro_rules! names {
            ($($kernel:ident)*) => { [$(stringify!($kernel)),*] };
        }
        let kernels: Vec<_> = super::all().iter().map(super::Feature::kernel).collect();
        assert_eq!(kernels, with_small_kernels!(names));
    }
    #[test]
    fn functions_of_math_have_the_bits_of_plain_calls_from_zero_over_one_and_infinity_to_the_last_nan() {
        let device = Device::cpu(Schedule::Lazy);
        for instance in super::functions_of_f32() {
            for first in [0, 0x3F80_0000 - 256, 0x7F80_0000 - 256, 0x8000_0000 - 256, (1 << 32) - 512] {
                let difference = super::first_difference(&device, instance, first..first + 512).unwrap();
                assert_eq!(difference, None, "{}", instance.name());
            }
        }
    }
}
