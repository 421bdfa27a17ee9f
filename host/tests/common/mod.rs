//! Kernels made by hand for the tests of the launch path: PTX, and the same for the CPU.

use std::any::{TypeId, type_name};

use tilepipe::Element;
use tilepipe::entry::{self, Entry};
use tilepipe::launch::{Instance, ParameterInfo, ParameterKind, Parts, RawParameter};
use tilepipe_host::Module;

/// The kernels' PTX.
// SAFETY: the kernels that the instances below describe.
pub static KERNELS: Module = unsafe { Module::embedded(&[(include_str!("kernels.ptx"), &[])]) };

/// A parameter of this kind.
pub const fn parameter<T: Element>(kind: ParameterKind) -> ParameterInfo {
    let alignment = if matches!(kind, ParameterKind::Scalar | ParameterKind::Constant) { 1 } else { 16 };
    ParameterInfo {
        kind,
        element: TypeId::of::<T>,
        element_name: type_name::<T>,
        element_bytes: size_of::<T>(),
        alignment,
        row_alignment: None,
        tile: [1, 1],
        boxes: None,
        unordered: false,
        optional: false,
    }
}

pub const INPUT: ParameterInfo = parameter::<u32>(ParameterKind::Input);
pub const OUTPUT: ParameterInfo = parameter::<u32>(ParameterKind::Output);

const fn instance(
    symbol: &'static str,
    names: &'static [&'static str],
    parameters: &'static [ParameterInfo],
    cpu: unsafe fn(&[RawParameter]),
) -> Instance {
    described(parts(symbol, names, parameters, cpu))
}

/// Makes an instance of these parts.
pub const fn described(parts: Parts) -> Instance {
    // SAFETY: the functions below match their descriptions; tests launch altered ones only to see
    // them refused.
    unsafe { Instance::new(parts) }
}

const fn parts(
    symbol: &'static str,
    names: &'static [&'static str],
    parameters: &'static [ParameterInfo],
    cpu: unsafe fn(&[RawParameter]),
) -> Parts {
    Parts {
        kernel: symbol.split_at(symbol.len() - 5).0,
        symbol,
        generics: &[("THREADS", "128")],
        names,
        parameters,
        threads: 128,
        shared_bytes: 0,
        shared_alignment: 16,
        contract: None,
        cpu: Some(cpu),
    }
}

/// `out[i] = value`.
pub const FILL: Instance =
    instance("fill__128", &["out", "value"], &[OUTPUT, parameter::<u32>(ParameterKind::Scalar)], fill);

/// `out[i] = input[i] + 1`, after a delay in clock cycles on a GPU.
pub const INCREMENT: Instance = instance(
    "increment__128",
    &["input", "out", "delay"],
    &[INPUT, OUTPUT, parameter::<u64>(ParameterKind::Scalar)],
    increment,
);

/// `out[row][column] = input[row][column] + 1`, two-dimensional, rows at multiples of 16 bytes.
#[allow(dead_code, reason = "not for the tests of one dimension")]
pub const INCREMENT_ROWS: Instance = described(INCREMENT_ROWS_PARTS);
#[allow(dead_code, reason = "not for the tests of one dimension")]
pub const INCREMENT_ROWS_PARTS: Parts = parts(
    "increment_rows__128",
    &["input", "out"],
    &[ParameterInfo { row_alignment: Some(16), ..INPUT }, ParameterInfo { row_alignment: Some(16), ..OUTPUT }],
    increment_rows,
);

/// `out[0] = 77` by way of 100 KiB of shared memory.
#[allow(dead_code, reason = "not for the tests of views")]
pub const LARGE_SHARED: Instance = described(LARGE_SHARED_PARTS);
pub const LARGE_SHARED_PARTS: Parts =
    Parts { shared_bytes: 100 << 10, ..parts("large_shared__128", &["out"], &[OUTPUT], fill_one) };

/// Panics with `value 42` in thread 3 of block 0 (on the CPU: in every block from the second on,
/// with its index).
#[allow(dead_code, reason = "not for the tests of views")]
pub const PANIC: Instance = instance("panic__128", &["out"], &[OUTPUT], panic);

/// Traps (on the CPU: panics).
#[allow(dead_code, reason = "only a GPU traps")]
pub const TRAP: Instance = instance("trap__128", &["out"], &[OUTPUT], panic);

unsafe fn fill(raw: &[RawParameter]) {
    let [out, length, ..] = raw[0].get::<[u64; 4]>();
    let value = raw[1].get::<[u64; 4]>()[0] as u32;
    let body = |entry: Entry<'_>| {
        // SAFETY: made once, at the start of a block of 128 threads.
        let block = unsafe { entry.block::<128>() };
        for index in (block.index()..length as usize).step_by(block.grid()) {
            // SAFETY: the launch checked that an output of `length` elements stands behind the
            // words, and no two blocks have the same index.
            unsafe { (out as *mut u32).wrapping_add(index).write(value) };
        }
    };
    // SAFETY: the executor calls this once per block.
    unsafe { entry::run(body) };
}

unsafe fn increment(raw: &[RawParameter]) {
    let [input, length, ..] = raw[0].get::<[u64; 4]>();
    let out = raw[1].get::<[u64; 4]>()[0];
    let body = |entry: Entry<'_>| {
        // SAFETY: made once, at the start of a block of 128 threads.
        let block = unsafe { entry.block::<128>() };
        for index in (block.index()..length as usize).step_by(block.grid()) {
            // SAFETY: the launch checked that an input of `length` elements stands behind the
            // words.
            let value = unsafe { (input as *const u32).wrapping_add(index).read() };
            // SAFETY: the tests pass an output of the input's length, and no two blocks have the
            // same index.
            unsafe { (out as *mut u32).wrapping_add(index).write(value.wrapping_add(1)) };
        }
    };
    // SAFETY: the executor calls this once per block.
    unsafe { entry::run(body) };
}

unsafe fn increment_rows(raw: &[RawParameter]) {
    let [input, _, _, input_pitch] = raw[0].get::<[u64; 4]>();
    let [out, width, height, out_pitch] = raw[1].get::<[u64; 4]>();
    let body = |entry: Entry<'_>| {
        // SAFETY: made once, at the start of a block of 128 threads.
        let block = unsafe { entry.block::<128>() };
        for row in (block.index() as u64..height).step_by(block.grid()) {
            for column in 0..width {
                let (from, to) = (row * input_pitch + column, row * out_pitch + column);
                // SAFETY: the tests pass an input of the output's width and height.
                let value = unsafe { (input as *const u32).wrapping_add(from as usize).read() };
                // SAFETY: the launch checked that `height` rows of `width` elements, `out_pitch`
                // elements apart, stand behind the words, and no two blocks have the same index.
                unsafe { (out as *mut u32).wrapping_add(to as usize).write(value.wrapping_add(1)) };
            }
        }
    };
    // SAFETY: the executor calls this once per block.
    unsafe { entry::run(body) };
}

unsafe fn fill_one(raw: &[RawParameter]) {
    // SAFETY: the launch checked that an output of at least one `u32` stands behind the words; the
    // tests launch one block.
    unsafe { (raw[0].get::<[u64; 4]>()[0] as *mut u32).write(77) };
}

unsafe fn panic(_: &[RawParameter]) {
    let body = |entry: Entry<'_>| {
        // SAFETY: made once, at the start of a block of 128 threads.
        let block = unsafe { entry.block::<128>() };
        assert!(block.index() == 0, "value {}", 41 + block.index());
    };
    // SAFETY: the executor calls this once per block.
    unsafe { entry::run(body) };
}
