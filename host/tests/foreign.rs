//! What is checked of a launch over memory that the crate did not make. Nothing runs here: on a GPU
//! `gpu.rs` has a launch of this kind.

#[allow(dead_code, reason = "kernels that run elsewhere")]
mod common;

use std::ptr;

use common::{FILL, INCREMENT_ROWS, INCREMENT_ROWS_PARTS, INPUT, OUTPUT, described, parameter};
use tilepipe::launch::{Instance, ParameterInfo, ParameterKind, Parts};
use tilepipe_host::foreign::{self, Argument, Shape, View};
use tilepipe_host::{Device, Error, Grid, Schedule};

/// An input and an output in a row, whose tiles have 1 and 32 elements.
const COPY: Instance =
    described(Parts { parameters: &[INPUT, ParameterInfo { tile: [1, 32], ..OUTPUT }], ..INCREMENT_ROWS_PARTS });

/// An output and a constant.
const WITH_CONSTANT: Instance = described(Parts {
    parameters: &[OUTPUT, parameter::<[u16; 5]>(ParameterKind::Constant)],
    names: &["out", "table"],
    ..INCREMENT_ROWS_PARTS
});

fn row(address: u64, len: u64, is_output: bool) -> View {
    View { address, shape: Shape::Row { len }, element_bytes: 4, is_output }
}

fn rows(address: u64, pitch: u64, is_output: bool) -> View {
    View { address, shape: Shape::Rows { width: 10, height: 3, pitch }, element_bytes: 4, is_output }
}

/// A launch on the CPU, which cannot have it: what is wrong with the arguments is said before.
fn launch(grid: Grid, instance: &Instance, views: &[View]) -> Error {
    let views: Vec<Argument<'_>> = views.iter().copied().map(Argument::View).collect();
    start(grid, instance, &views)
}

fn start(grid: Grid, instance: &Instance, arguments: &[Argument<'_>]) -> Error {
    let device = Device::cpu(Schedule::Lazy);
    // SAFETY: nothing runs.
    unsafe { foreign::launch(&device, ptr::null_mut(), grid, instance, arguments) }.unwrap_err()
}

#[test]
fn arguments_are_checked_against_the_instance() {
    let (input, out) = (row(4096, 64, false), row(8192, 64, true));
    let wide = View { element_bytes: 8, ..input };
    for (views, part) in [
        (&[input][..], "takes 2 arguments, not 1: input: an input view of u32, out: an output view of u32"),
        (&[input, out, out], "takes 2 arguments, not 3"),
        (&[out, input], "parameter `input`: it is an input view of u32, not an output view of u32"),
        (&[wide, out], "not a view of elements of 8 bytes; pass elements of 4 bytes"),
        (&[rows(4096, 12, false), out], "not a two-dimensional input view"),
        (&[row(4100, 64, false), out], "parameter `input`"),
        (&[input, row(4096, 64, true)], "`input` and `out`"),
        (&[input, row(4096 + 255, 64, true)], "parameter `out`"),
        (&[input, row(4096 + 240, 64, true)], "`input` and `out`"),
    ] {
        let message = launch(Grid::from(1), &COPY, views).to_string();
        assert!(message.contains(part), "{part} in {message}");
    }
    let error = launch(Grid::from(1), &COPY, &[input, row(4096 + 256, 64, true)]);
    assert!(matches!(error, Error::WrongDevice { .. }), "what follows directly is no overlap: {error}");
    let error = launch(Grid::from(0), &COPY, &[input, out]);
    assert!(matches!(error, Error::BadGrid { grid: 0, .. }), "{error}");
}

#[test]
fn a_plain_value_is_as_many_bytes_as_the_kernels() {
    let [out, input] = [row(4096, 64, true), row(8192, 1, false)].map(Argument::View);
    for (value, part) in [
        (input, "parameter `value`: it is a value of type u32, not an input view"),
        (
            Argument::Constant(&[1; 12]),
            "parameter `value`: it is a value of type u32, not a constant of 12 bytes; pass 4 bytes",
        ),
    ] {
        let message = start(Grid::from(1), &FILL, &[out, value]).to_string();
        assert!(message.contains(part), "{part} in {message}");
    }
    let error = start(Grid::from(1), &FILL, &[out, Argument::Constant(&[1; 4])]);
    assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
}

#[test]
fn a_constant_is_as_many_bytes_as_the_kernels() {
    let [out, input] = [row(4096, 64, true), row(8192, 64, false)].map(Argument::View);
    for (arguments, part) in [
        (
            [out, Argument::Constant(&[1; 12])],
            "parameter `table`: it is a constant of type [u16; 5], not a constant of 12 bytes; pass 10 bytes",
        ),
        ([out, input], "parameter `table`: it is a constant of type [u16; 5], not an input view"),
        (
            [Argument::Constant(&[1; 4]), Argument::Constant(&[1; 10])],
            "parameter `out`: it is an output view of u32, not a constant",
        ),
    ] {
        let message = start(Grid::from(1), &WITH_CONSTANT, &arguments).to_string();
        assert!(message.contains(part), "{part} in {message}");
    }
    let error = start(Grid::from(1), &WITH_CONSTANT, &[out, Argument::Constant(&[1; 10])]);
    assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
}

#[test]
fn rows_start_where_the_kernel_wants_them() {
    let out = rows(8192, 12, true);
    let error = launch(Grid::from(1), &INCREMENT_ROWS, &[rows(4096, 11, false), out]);
    assert!(matches!(error, Error::MisalignedRows { parameter: "input", pitch: 44, .. }), "{error}");
    // The last row ends after 2 * 12 + 10 elements.
    let error = launch(Grid::from(1), &INCREMENT_ROWS, &[rows(8192 - 128, 12, false), out]);
    assert!(matches!(error, Error::Aliased { first: "input", second: "out", .. }), "{error}");
    let error = launch(Grid::from(1), &INCREMENT_ROWS, &[rows(8192 - 144, 12, false), out]);
    assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
}

#[test]
fn a_grid_follows_from_the_outputs_tiles() {
    let device = Device::cpu(Schedule::Lazy);
    for (len, expected) in [(1, 1), (32, 1), (33, 2), (320, 10)] {
        let views = [row(4096, 5, false), row(8192, len, true)].map(Argument::View);
        assert_eq!(foreign::blocks(&device, Grid::tiles(), &COPY, &views).unwrap(), expected, "{len}");
        assert_eq!(foreign::blocks(&device, Grid::from(7), &COPY, &views).unwrap(), 7);
    }
    assert!(matches!(foreign::blocks(&device, Grid::tiles(), &COPY, &[]), Err(Error::ArgumentCount { .. })));
}
