//! Tensors of one to five dimensions, against plain loops over all elements.

use tilepipe::launch::Instance;
use tilepipe_host::{Bound, Device, Error, launch};
use tilepipe_test_kernels::tensor::dimensions::{
    boxes_added, fifth_anywhere, fourth_anywhere, line_anywhere, marked, marked_boxes, matrices_transposed,
    plane_anywhere,
};

/// What every element of an array is of, in the order of the kernels: columns, rows, planes and so
/// on.
type Place = [usize; 5];

/// Elements that differ from their neighbours.
fn elements(len: usize) -> Vec<u32> {
    (0..len as u32).map(|index| index.wrapping_mul(0x9E37_79B9) | 1).collect()
}

/// The place of element `index` of an array of these extents.
fn place(index: usize, extents: Place) -> Place {
    let mut rest = index;
    extents.map(|extent| {
        let at = rest % extent;
        rest /= extent;
        at
    })
}

/// The element at a place; zero outside of the array.
fn at(data: &[u32], extents: Place, place: [i64; 5]) -> u32 {
    let (mut index, mut stride) = (0, 1);
    for (at, extent) in place.into_iter().zip(extents) {
        if !(0..extent as i64).contains(&at) {
            return 0;
        }
        index += at as usize * stride;
        stride *= extent;
    }
    data[index]
}

/// The extents of an instance's boxes.
fn extents_of_box(instance: &Instance) -> (usize, Place) {
    let boxes = instance.parameters().find_map(|(_, info)| info.boxes).expect("a tensor");
    (boxes.dimensions as usize, boxes.extents.map(|extent| extent as usize))
}

/// The extents of an array, outermost first, as the host has them.
fn outermost_first<const N: usize>(extents: Place) -> [usize; N] {
    core::array::from_fn(|dimension| extents[N - 1 - dimension])
}

/// What [`marked_boxes`](mod@marked_boxes) writes for an element.
fn mark(value: u32, place: Place, extents: Place, own: Place) -> u32 {
    let boxes: Place = core::array::from_fn(|dimension| extents[dimension].div_ceil(own[dimension]));
    let (mut row_of_boxes, mut row) = (0, 0);
    for dimension in (1..5).rev() {
        row_of_boxes = row_of_boxes * boxes[dimension] + place[dimension] / own[dimension];
        row = row * own[dimension] + place[dimension] % own[dimension];
    }
    marked(value, (row_of_boxes, place[0] / own[0]), (row, place[0] % own[0]))
}

/// Launches a kernel with an input and an output of `N` dimensions: whole buffers, and slices of
/// larger ones, which must write the same and nothing else.
fn on_both<const N: usize>(
    device: &Device,
    instance: &Instance,
    [input_extents, out_extents]: [Place; 2],
    [data, before]: [&[u32]; 2],
    expected: &[u32],
) -> Result<(), Error> {
    let stream = device.stream()?;
    let input = device.upload_nd::<u32, N>(data, outermost_first(input_extents))?;
    let mut out = device.upload_nd::<u32, N>(before, outermost_first(out_extents))?;
    launch(&stream, 3, instance, [Bound::input_nd(&input), Bound::output_nd(&mut out)])?;
    assert!(out.download()? == expected, "{} of {input_extents:?}", instance.name());

    // Two more of each dimension around, and of the columns four before, as the engine wants.
    let around = |extents: Place, elements: &[u32], after: usize| {
        let lead: Place = core::array::from_fn(|dimension| match dimension {
            0 => 4,
            _ if dimension < N => 1,
            _ => 0,
        });
        let larger: Place = core::array::from_fn(|dimension| match dimension {
            0 => extents[0] + 4 + after,
            _ if dimension < N => extents[dimension] + 2,
            _ => 1,
        });
        let all = (0..larger.iter().product()).map(|index| {
            let place = place(index, larger);
            let inner: [i64; 5] = core::array::from_fn(|dimension| place[dimension] as i64 - lead[dimension] as i64);
            let inside = inner.iter().zip(extents).all(|(at, extent)| (0..extent as i64).contains(at));
            if inside { at(elements, extents, inner) } else { 0xEEEE_EEEE }
        });
        let ranges: [_; N] = core::array::from_fn(|dimension| {
            let dimension = N - 1 - dimension;
            lead[dimension]..lead[dimension] + extents[dimension]
        });
        (all.collect::<Vec<u32>>(), larger, ranges)
    };
    let (larger, extents, ranges) = around(input_extents, data, 2);
    let input = device.upload_nd::<u32, N>(&larger, outermost_first(extents))?;
    // Rows of an output end with those of the buffer.
    let (larger, extents, out_ranges) = around(out_extents, before, 0);
    let mut out = device.upload_nd::<u32, N>(&larger, outermost_first(extents))?;
    let slices = [Bound::input_slice_nd(input.slice(ranges)?), Bound::output_slice_nd(out.slice_mut(out_ranges)?)];
    launch(&stream, 2, instance, slices)?;
    let (wanted, ..) = around(out_extents, expected, 0);
    assert!(out.download()? == wanted, "{} of slices of {input_extents:?}", instance.name());
    Ok(())
}

/// As [`on_both`], for the dimensions of the instance's boxes.
fn in_dimensions(
    device: &Device,
    instance: &Instance,
    extents: [Place; 2],
    data: [&[u32]; 2],
    expected: &[u32],
) -> Result<(), Error> {
    match extents_of_box(instance).0 {
        1 => on_both::<1>(device, instance, extents, data, expected),
        2 => on_both::<2>(device, instance, extents, data, expected),
        3 => on_both::<3>(device, instance, extents, data, expected),
        4 => on_both::<4>(device, instance, extents, data, expected),
        _ => on_both::<5>(device, instance, extents, data, expected),
    }
}

/// Arrays of 1 to about 3 boxes in each of so many dimensions.
fn sizes(dimensions: usize, own: Place) -> Vec<Place> {
    let of = |dimension: usize, pick: usize| match (dimension < dimensions, pick) {
        (false, _) => 1,
        (_, 0) => 1,
        (_, 1) => own[dimension],
        (_, 2) => own[dimension] + 1,
        _ => 3 * own[dimension] - 1,
    };
    let picks = 4_usize.pow(dimensions as u32);
    // Of five dimensions there would be a thousand.
    let every = if dimensions < 4 { 1 } else { 13 };
    (0..picks)
        .step_by(every)
        .map(|picks| core::array::from_fn(|dimension| of(dimension, picks / 4_usize.pow(dimension as u32) % 4)))
        .collect()
}

/// Checks loads, stores and additions of boxes of one to five dimensions, transposes of batches,
/// and boxes that begin anywhere. Returns how many arrays there were.
///
/// # Errors
///
/// What the device says.
pub fn check(device: &Device) -> Result<usize, Error> {
    let mut arrays = 0;
    for instance in &marked_boxes::INSTANCES {
        let (dimensions, own) = extents_of_box(instance);
        for extents in sizes(dimensions, own) {
            let data = elements(extents.iter().product());
            let expected =
                data.iter().enumerate().map(|(index, value)| mark(*value, place(index, extents), extents, own));
            let expected: Vec<u32> = expected.collect();
            in_dimensions(device, instance, [extents; 2], [&data, &vec![0; data.len()]], &expected)?;
            arrays += 1;
        }
    }
    for instance in &boxes_added::INSTANCES {
        let (dimensions, own) = extents_of_box(instance);
        for extents in sizes(dimensions, own) {
            let data = elements(extents.iter().product());
            let before: Vec<u32> = data.iter().map(|value| value.rotate_left(7)).collect();
            let expected: Vec<u32> = data.iter().zip(&before).map(|(a, b)| a.wrapping_add(*b)).collect();
            in_dimensions(device, instance, [extents; 2], [&data, &before], &expected)?;
            arrays += 1;
        }
    }
    for instance in &matrices_transposed::INSTANCES {
        for [columns, rows, planes] in [[1, 1, 1], [32, 32, 3], [33, 31, 4], [70, 40, 2], [5, 97, 7]] {
            let (extents, turned) = ([columns, rows, planes, 1, 1], [rows, columns, planes, 1, 1]);
            let data = elements(columns * rows * planes);
            let expected = (0..data.len()).map(|index| {
                let [row, column, plane, ..] = place(index, turned);
                data[(plane * rows + row) * columns + column]
            });
            let expected: Vec<u32> = expected.collect();
            in_dimensions(device, instance, [extents, turned], [&data, &vec![0; data.len()]], &expected)?;
            arrays += 1;
        }
    }
    Ok(arrays + anywhere(device)?)
}

/// Checks boxes that begin before an array, in it and beyond it.
fn anywhere(device: &Device) -> Result<usize, Error> {
    let mut boxes = 0;
    let stream = device.stream()?;
    let extents: [Place; 4] = [[21, 1, 1, 1, 1], [21, 5, 3, 1, 1], [9, 4, 3, 3, 1], [9, 4, 2, 3, 3]];
    let instances = [
        &line_anywhere::INSTANCES[0],
        &plane_anywhere::INSTANCES[0],
        &fourth_anywhere::INSTANCES[0],
        &fifth_anywhere::INSTANCES[0],
    ];
    for (instance, extents) in instances.into_iter().zip(extents) {
        let (dimensions, own) = extents_of_box(instance);
        let data = elements(extents.iter().product());
        let rows = own[1..].iter().product::<usize>();
        for pick in 0..5_usize.pow(dimensions as u32).min(125) {
            let from: [i64; 5] = core::array::from_fn(|dimension| match dimension < dimensions {
                true if dimension == 0 => 4 * (pick as i64 % 5) - 8,
                true => (pick / 5_usize.pow(dimension as u32) + pick * dimension) as i64 % 5 - 2,
                false => 0,
            });
            let mut arguments = vec![match dimensions {
                1 => Bound::input_nd(&device.upload_nd::<u32, 1>(&data, outermost_first(extents))?),
                3 => Bound::input_nd(&device.upload_nd::<u32, 3>(&data, outermost_first(extents))?),
                4 => Bound::input_nd(&device.upload_nd::<u32, 4>(&data, outermost_first(extents))?),
                _ => Bound::input_nd(&device.upload_nd::<u32, 5>(&data, outermost_first(extents))?),
            }];
            arguments.extend(from[..dimensions].iter().rev().map(|at| Bound::scalar(*at as i32)));
            let mut out = device.filled_with_byte_2d::<u32>(8, rows, 0xEE)?;
            arguments.push(Bound::output_2d(&mut out));
            launch(&stream, 1, instance, arguments)?;
            let wanted = (0..8 * rows).map(|index| {
                let place = place(index, own);
                at(&data, extents, core::array::from_fn(|dimension| from[dimension] + place[dimension] as i64))
            });
            assert!(out.download()? == wanted.collect::<Vec<u32>>(), "{} at {from:?}", instance.name());
            boxes += 1;
        }
    }
    Ok(boxes)
}
