//! Slices, rows and two-dimensional buffers as arguments of a launch, on the CPU.

mod common;
#[path = "common/parts.rs"]
mod parts;

use common::{FILL, INCREMENT, INCREMENT_ROWS, INCREMENT_ROWS_PARTS, INPUT, KERNELS, OUTPUT, described};
use tilepipe::entry::{self, Entry};
use tilepipe::launch::{Instance, ParameterInfo, Parts, RawParameter};
use tilepipe::{Halos, Tiles, TilesMut};
use tilepipe_host::{
    Argument, Bound, Buffer2D, Device, Error, Rows, RowsMut, Schedule, Slice, SliceMut, Stream, launch,
};

fn opened() -> (Device, Stream) {
    let device = Device::cpu(Schedule::Lazy);
    device.load(&KERNELS).unwrap();
    let stream = device.stream().unwrap();
    (device, stream)
}

/// Launches what is refused, and looks for the words in its message.
fn refused<'a>(stream: &Stream, instance: &Instance, arguments: impl AsRef<[Bound<'a>]>, words: &[&str]) {
    says(&launch(stream, 1, instance, arguments).unwrap_err(), words);
}

fn says(error: &Error, words: &[&str]) {
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "`{text}` lacks `{word}`");
    }
}

/// `out[i] = first[i] + second[i]`.
const ADD: Instance = described(Parts {
    kernel: "add",
    symbol: "add__128",
    generics: &[],
    names: &["first", "second", "out"],
    parameters: &[INPUT, INPUT, OUTPUT],
    threads: 128,
    shared_bytes: 0,
    shared_alignment: 1,
    contract: None,
    cpu: Some(add),
});

unsafe fn add(raw: &[RawParameter]) {
    let [first, second, out] = [0, 1, 2].map(|parameter| raw[parameter].get::<[u64; 4]>()[0] as *mut u32);
    let len = raw[2].get::<[u64; 4]>()[1] as usize;
    let body = |_: Entry<'_>| {
        for i in 0..len {
            // SAFETY: the tests pass inputs of the output's length.
            let left = unsafe { first.wrapping_add(i).read() };
            // SAFETY: the tests pass inputs of the output's length.
            let right = unsafe { second.wrapping_add(i).read() };
            // SAFETY: the launch checked that an output of `len` elements stands behind the words;
            // the tests launch one block.
            unsafe { out.wrapping_add(i).write(left + right) };
        }
    };
    // SAFETY: the executor calls this once per block.
    unsafe { entry::run(body) };
}

#[test]
fn an_instance_without_code_for_the_cpu_is_refused_there() {
    let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    let [first, second] = [1_u32, 2].map(|value| device.upload(&[value; 4]).unwrap());
    let mut out = device.zeroed::<u32>(4).unwrap();
    let instance = described(Parts { cpu: None, ..ADD.parts() });
    assert!(ADD.runs_on_cpu() && !instance.runs_on_cpu());
    let arguments = [Bound::input(&first), Bound::input(&second), Bound::output(&mut out)];
    let error = tilepipe_host::launch(&device.stream().unwrap(), 1, &instance, arguments).unwrap_err();
    assert!(matches!(error, tilepipe_host::Error::NotForCpu { kernel: "add__128" }), "{error}");
    assert_eq!(out.download().unwrap(), [0; 4]);
}

#[test]
fn a_launch_on_slices_uses_their_elements_and_no_other() {
    parts::slices_are_used_and_no_other_elements(&opened().0);
}

#[test]
fn a_slice_that_starts_between_units_of_16_bytes_is_refused_with_what_to_do() {
    let (device, stream) = opened();
    let mut buffer = device.zeroed::<u32>(64).unwrap();
    let mut out = device.zeroed::<u32>(64).unwrap();
    for start in 0..9 {
        let slice = Bound::output_slice(buffer.slice_mut(start..).unwrap());
        let launched = launch(&stream, 1, &FILL, [slice, Bound::scalar(1_u32)]);
        assert_eq!(launched.is_ok(), start % 4 == 0, "from element {start} on");
    }
    buffer.write(&[7; 64]).unwrap();
    let input = || Bound::input_slice(buffer.slice(3..10).unwrap());
    let words = ["`increment`", "`input`", "0x", "c is not a multiple of 16 bytes", "a multiple of 4 elements"];
    refused(&stream, &INCREMENT, [input(), Bound::output(&mut out), Bound::scalar(0_u64)], &words);
    assert_eq!(out.download().unwrap(), [0; 64], "a refused launch writes nothing");
}

#[test]
fn a_range_that_is_empty_or_leaves_the_buffer_makes_no_slice() {
    let (device, _) = opened();
    let mut buffer = device.zeroed::<u32>(8).unwrap();
    says(&buffer.slice(4..9).unwrap_err(), &["4..9", "buffer of 8", "at least 1", "ends at 8 at most"]);
    says(&buffer.slice_mut(3..3).unwrap_err(), &["3..3", "buffer of 8", "at least 1"]);
    assert!(matches!(buffer.slice(8..), Err(Error::BadSlice { start: 8, end: 8, len: 8 })));
    assert!(matches!(buffer.slice_mut(..=usize::MAX), Err(Error::BadSlice { len: 8, .. })));
    assert_eq!(buffer.slice(..).unwrap().len(), 8);
    assert_eq!(buffer.slice_mut(5..=7).unwrap().len(), 3);
}

#[test]
fn the_buffer_of_an_output_is_used_by_no_other_argument_not_even_in_another_part() {
    let (device, stream) = opened();
    let mut buffer = device.upload(&(0..64).collect::<Vec<u32>>()).unwrap();
    let low = Bound::input_slice(buffer.slice(..32).unwrap());
    let high = Bound::output_slice(buffer.slice_mut(32..).unwrap());
    let words = ["`input` and `out` use the same buffer", "pass two buffers", "do not overlap"];
    refused(&stream, &INCREMENT, [low.clone(), high.clone(), Bound::scalar(0_u64)], &words);
    assert_eq!(buffer.download().unwrap(), (0..64).collect::<Vec<u32>>());

    let other = Bound::input_slice(buffer.slice(4..36).unwrap());
    refused(&stream, &ADD, [low.clone(), other.clone(), high], &["`first` and `out` use the same buffer"]);
    let mut out = device.zeroed::<u32>(32).unwrap();
    launch(&stream, 1, &ADD, [low, other, Bound::output(&mut out)]).unwrap();
    assert_eq!(out.download().unwrap(), (0..32).map(|i| 2 * i + 4).collect::<Vec<u32>>(), "two inputs may overlap");

    let mut image = device.zeroed_2d::<u32>(8, 8).unwrap();
    let same = [Bound::input_2d(&image), Bound::output_2d(&mut image)];
    refused(&stream, &INCREMENT_ROWS, same, &["use the same buffer"]);
}

#[test]
fn rows_of_any_width_go_to_a_kernel_and_come_back() {
    parts::rows_go_to_a_kernel_and_come_back(&opened().0);
}

#[test]
fn a_launch_on_slices_of_rows_uses_their_elements_and_no_other() {
    parts::slices_of_rows_are_used_and_no_other_elements(&opened().0);
}

#[test]
fn a_slice_of_rows_that_starts_between_units_of_16_bytes_is_refused_with_what_to_do() {
    let (device, stream) = opened();
    let image = device.upload_2d(&[1_u32; 64], 8).unwrap();
    let mut out = device.zeroed_2d::<u32>(8, 8).unwrap();
    for (top, left) in (0..8).flat_map(|top| (0..8).map(move |left| (top, left))) {
        let input = Bound::input_rows(image.slice(top.., left..).unwrap());
        let written = Bound::output_rows(out.slice_mut(..8 - top, ..8 - left).unwrap());
        let launched = launch(&stream, 1, &INCREMENT_ROWS, [input, written]);
        assert_eq!(launched.is_ok(), left % 4 == 0, "from row {top} and column {left} on");
    }
    out.write(&[0; 64]).unwrap();
    let arguments = [Bound::input_2d(&image), Bound::output_rows(out.slice_mut(2.., 3..).unwrap())];
    let words = ["`increment_rows`", "`out`", "c is not a multiple of 16 bytes", "a multiple of 4 elements", "column"];
    refused(&stream, &INCREMENT_ROWS, arguments, &words);
    assert_eq!(out.download().unwrap(), [0; 64], "a refused launch writes nothing");
}

#[test]
fn ranges_that_are_empty_or_leave_the_rows_make_no_slice() {
    let (device, stream) = opened();
    let mut image = device.zeroed_2d::<u32>(5, 3).unwrap();
    let words = ["elements 4..6", "rows 0..3", "3 rows of 5", "at least 1 row", "row 3 and element 5 at most"];
    says(&image.slice(.., 4..6).unwrap_err(), &words);
    says(&image.slice_mut(3..4, ..).unwrap_err(), &["elements 0..5", "rows 3..4"]);
    assert!(matches!(image.slice(2..2, ..), Err(Error::BadSlice2D { width: 5, height: 3, .. })));
    assert!(matches!(image.slice_mut(.., ..=usize::MAX), Err(Error::BadSlice2D { .. })));
    // What a slice of a slice may not reach is the first slice's end, not the buffer's.
    let part = image.slice(1.., ..4).unwrap();
    assert_eq!((part.width(), part.height()), (4, 2));
    assert!(matches!(part.slice(..3, ..), Err(Error::BadSlice2D { width: 4, height: 2, .. })));
    assert!(matches!(part.slice(.., 4..), Err(Error::BadSlice2D { width: 4, height: 2, .. })));
    let part = image.slice_mut(1.., ..4).unwrap();
    assert_eq!((part.width(), part.height()), (4, 2));
    assert!(matches!(part.slice_mut(.., ..5), Err(Error::BadSlice2D { width: 4, height: 2, .. })));
    let low = Bound::input_rows(image.slice(..1, ..).unwrap());
    let high = Bound::output_rows(image.slice_mut(1.., ..).unwrap());
    refused(&stream, &INCREMENT_ROWS, [low, high], &["use the same buffer"]);
}

#[test]
fn rows_of_a_dense_buffer_are_taken_where_their_pitch_fits_and_refused_with_a_way_out_where_not() {
    let (device, stream) = opened();
    let dense = device.upload(&[1_u32; 66]).unwrap();
    let padded = device.upload_2d(&[1_u32; 66], 33).unwrap();
    let mut out = device.zeroed_2d::<u32>(33, 2).unwrap();
    let words = ["`increment_rows`", "`input`", "132 bytes apart", "16", "Buffer2D", "upload_2d", "4 elements"];
    let rows = Bound::input_rows(dense.rows(33).unwrap());
    refused(&stream, &INCREMENT_ROWS, [rows, Bound::output_2d(&mut out)], &words);
    launch(&stream, 1, &INCREMENT_ROWS, [Bound::input_2d(&padded), Bound::output_2d(&mut out)]).unwrap();
    assert_eq!(out.download().unwrap(), [2; 66]);

    const LOOSE: Instance = described(Parts {
        parameters: &[
            ParameterInfo { row_alignment: Some(4), ..INPUT },
            ParameterInfo { row_alignment: Some(4), ..OUTPUT },
        ],
        ..INCREMENT_ROWS_PARTS
    });
    let mut written = device.zeroed::<u32>(66).unwrap();
    let rows = [Bound::input_rows(dense.rows(33).unwrap()), Bound::output_rows(written.rows_mut(33).unwrap())];
    launch(&stream, 1, &LOOSE, rows).unwrap();
    assert_eq!(written.download().unwrap(), [2; 66]);
}

#[test]
fn one_dimension_for_two_or_the_reverse_is_refused_with_what_to_pass() {
    let (device, stream) = opened();
    let mut line = device.zeroed::<u32>(64).unwrap();
    let mut image = device.zeroed_2d::<u32>(8, 8).unwrap();
    let floats = device.zeroed_2d::<f32>(8, 8).unwrap();
    let delay = || Bound::scalar(0_u64);
    let flat = [Bound::input(&line), Bound::output_2d(&mut image)];
    let words = ["a two-dimensional input view of u32, not an input view of u32", "Buffer2D<u32>", "rows(width)"];
    refused(&stream, &INCREMENT_ROWS, flat, &words);
    let flat = [Bound::input_2d(&image), Bound::output(&mut line)];
    let words = ["a two-dimensional output view of u32, not an output view", "Buffer2D<u32>", "rows_mut(width)"];
    refused(&stream, &INCREMENT_ROWS, flat, &words);
    let rows = [Bound::input_2d(&image), Bound::output(&mut line), delay()];
    let words = ["an input view of u32, not a two-dimensional input view of u32", "`&buffer`", "Buffer<u32>"];
    refused(&stream, &INCREMENT, rows, &words);
    let rows = [Bound::input(&line), Bound::output_2d(&mut image), delay()];
    refused(&stream, &INCREMENT, rows, &["an output view of u32, not a two-dimensional output view", "`&mut buffer`"]);
    let other = [Bound::input_2d(&floats), Bound::output_2d(&mut image)];
    refused(&stream, &INCREMENT_ROWS, other, &["two-dimensional input view of f32", "Buffer2D<u32>"]);
    let foreign = opened().0.zeroed_2d::<u32>(8, 8).unwrap();
    let other = [Bound::input_2d(&foreign), Bound::output_2d(&mut image)];
    refused(&stream, &INCREMENT_ROWS, other, &["belongs to", "another call"]);
}

#[test]
fn sizes_that_make_no_rows_are_errors() {
    let (device, _) = opened();
    let words = ["7 elements", "rows of 3", "divides 7"];
    says(&device.upload_2d(&[1_u32; 7], 3).unwrap_err(), &words);
    let mut seven = device.zeroed::<u32>(7).unwrap();
    says(&seven.rows(3).unwrap_err(), &words);
    says(&seven.rows_mut(3).unwrap_err(), &words);
    says(&seven.rows(0).unwrap_err(), &["7 elements", "rows of 0", "at least 1"]);
    says(&device.upload_2d(&[1_u32; 7], 0).unwrap_err(), &["7 elements", "rows of 0", "at least 1"]);
    says(&device.upload_2d::<f32>(&[], 3).unwrap_err(), &["0 rows of 3 elements of f32", "at least 1 row"]);
    for (width, height) in [(0, 4), (4, 0), (0, 0)] {
        let error = device.zeroed_2d::<u32>(width, height).unwrap_err();
        assert!(matches!(error, Error::EmptyRows { .. }), "{error}");
    }
    for (width, height) in [(usize::MAX, 1), (1, usize::MAX), (1 << 40, 1 << 40), (1 << 61, 1), (1, 1 << 59)] {
        let error = device.filled_with_byte_2d::<u32>(width, height, 1).unwrap_err();
        assert!(matches!(error, Error::RowsOverflow { .. }), "{error}");
        says(&error, &[&width.to_string(), &height.to_string(), "u32", "9223372036854775807 bytes"]);
    }
    let error = device.zeroed_2d::<u32>(1, 1 << 58).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { wanted: 0x4000_0000_0000_0000, .. }), "{error}");
    let mut image = device.zeroed_2d::<u32>(3, 2).unwrap();
    assert!(matches!(image.write(&[1; 8]), Err(Error::LengthMismatch { given: 8, len: 6 })));
    assert!(matches!(image.read(&mut [1; 8]), Err(Error::LengthMismatch { given: 8, len: 6 })));
}

#[test]
fn typed_arguments_are_what_the_views_want() {
    fn typed<'a>(
        tiles: impl Argument<Tiles<'static, u32, 128>> + 'a,
        halos: impl Argument<Halos<'static, u32, 128, 16>> + 'a,
        out: impl Argument<TilesMut<'static, u32, 128>> + 'a,
    ) -> [Bound<'a>; 3] {
        [tiles.bind(), halos.bind(), out.bind()]
    }
    let (device, stream) = opened();
    let input = device.upload(&[1_u32, 2, 3, 4, 5, 6]).unwrap();
    let mut out = device.zeroed::<u32>(6).unwrap();
    let slice = input.slice(4..).unwrap();
    let [first, second, written] = typed(slice, slice, out.slice_mut(..2).unwrap());
    launch(&stream, 1, &ADD, [first, second, written]).unwrap();
    assert_eq!(out.download().unwrap(), [10, 12, 0, 0, 0, 0]);
}

#[test]
fn everything_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<(Buffer2D<u32>, Slice<'_, u32>, SliceMut<'_, u32>, Rows<'_, u32>, RowsMut<'_, u32>)>();
}
