//! What a launch costs the program: calls of the driver, and memory of its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::any::{TypeId, type_name};
use std::cell::Cell;
use std::ptr;
use std::sync::Arc;

use tilepipe::launch::{Instance, ParameterInfo, ParameterKind, Parts};

use super::launch;
use crate::argument::Bound;
use crate::buffer::Buffer;
use crate::device::{Backend, Device};
use crate::error::Error;
use crate::gpu::context::Context;
use crate::gpu::driver::{Driver, Status, fake};
use crate::module::Module;
use crate::stream::Stream;

/// The system's allocator, which counts what this thread asks it for.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every call is passed on to `System` with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has no counter any more.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: passed on to the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: passed on to the caller.
        unsafe { System.dealloc(memory, layout) }
    }
}

const fn view(kind: ParameterKind) -> ParameterInfo {
    ParameterInfo {
        kind,
        element: TypeId::of::<i32>,
        element_name: type_name::<i32>,
        element_bytes: 4,
        alignment: 4,
        row_alignment: None,
        tile: [1, 128],
        boxes: None,
        unordered: false,
        optional: false,
    }
}

/// A kernel that nothing runs: it reads two buffers and writes one.
pub(crate) static TWO_INPUTS: Instance = {
    const PARTS: Parts = Parts {
        kernel: "two_inputs",
        symbol: "host$two_inputs",
        generics: &[],
        names: &["left", "right", "out"],
        parameters: &[view(ParameterKind::Input), view(ParameterKind::Input), view(ParameterKind::Output)],
        threads: 128,
        shared_bytes: 256,
        shared_alignment: 16,
        contract: None,
        cpu: None,
    };
    // SAFETY: it has no code for the CPU, and the fake driver runs none.
    unsafe { Instance::new(PARTS) }
};

/// The module of the kernel.
// SAFETY: the fake driver runs nothing.
pub(crate) static MODULE: Module =
    unsafe { Module::embedded(&[(".version 7.8\n.target sm_80\n.visible .entry host$two_inputs(\n", &[])]) };

/// Opens the fake driver's GPU with the kernel loaded.
pub(crate) fn device() -> Device {
    let context = Context::open_with(&Driver::FAKE, 0).unwrap();
    let device = Device { backend: Backend::Gpu(Arc::new(context)) };
    device.load(&MODULE).unwrap();
    device
}

#[test]
fn a_program_without_kernels_says_so_on_a_gpu() {
    // SAFETY: there is nothing to load.
    static MODULE: Module = unsafe { Module::built((&[], "no toolchain was found")) };
    let error = device().load(&MODULE).unwrap_err();
    assert!(matches!(error, Error::NoKernels { reason: "no toolchain was found" }), "{error}");
}

/// Launches the kernel.
pub(crate) fn start(
    stream: &Stream,
    left: &Buffer<i32>,
    right: &Buffer<i32>,
    out: &mut Buffer<i32>,
) -> Result<(), Error> {
    launch(stream, 1, &TWO_INPUTS, [Bound::input(left), Bound::input(right), Bound::output(out)])
}

fn buffers<const N: usize>(device: &Device) -> [Buffer<i32>; N] {
    std::array::from_fn(|_| device.zeroed::<i32>(100).unwrap())
}

/// Runs something, and returns the driver's calls and the number of allocations meanwhile.
fn cost(run: impl FnOnce()) -> (Vec<&'static str>, usize) {
    drop((fake::calls(), fake::steps()));
    let before = ALLOCATIONS.get();
    run();
    let allocations = ALLOCATIONS.get() - before;
    (fake::calls(), allocations)
}

#[test]
fn a_launch_on_the_buffers_of_the_one_before_is_two_calls_and_no_allocation() {
    let device = device();
    let (stream, [left, right, mut out]) = (device.stream().unwrap(), buffers(&device));
    for _ in 0..3 {
        start(&stream, &left, &right, &mut out).unwrap();
    }
    let (calls, allocations) = cost(|| start(&stream, &left, &right, &mut out).unwrap());
    assert_eq!(calls, ["context_get_current", "launch_kernel"]);
    assert_eq!(allocations, 0);
    // One buffer may be read twice.
    start(&stream, &left, &left, &mut out).unwrap();
    let (calls, allocations) = cost(|| start(&stream, &left, &left, &mut out).unwrap());
    assert_eq!((calls.len(), allocations), (2, 0));
}

#[test]
fn a_launch_in_a_thread_with_another_context_sets_its_own() {
    let device = device();
    let (stream, [left, right, mut out]) = (device.stream().unwrap(), buffers(&device));
    let mut once = || start(&stream, &left, &right, &mut out).unwrap();
    once();
    // Opened in a context of its own, which is the thread's then.
    let other = self::device();
    let (calls, _) = cost(&mut once);
    assert_eq!(calls, ["context_get_current", "context_set_current", "launch_kernel"]);
    let (calls, _) = cost(&mut once);
    assert_eq!(calls, ["context_get_current", "launch_kernel"]);
    // A driver that does not say which one it is.
    fake::fail(Some(("context_get_current", Status::INVALID_CONTEXT)));
    let (calls, _) = cost(&mut once);
    fake::fail(None);
    assert_eq!(calls, ["context_get_current", "context_set_current", "launch_kernel"]);
    drop(other);
}

#[test]
fn a_launch_on_other_buffers_records_one_event_that_was_there_before() {
    let device = device();
    let (stream, [left, right, ..]) = (device.stream().unwrap(), buffers::<2>(&device));
    let mut out: [_; 5] = buffers(&device);
    for place in 0..20 {
        start(&stream, &left, &right, &mut out[place % 5]).unwrap();
    }
    for place in 20..30 {
        let (calls, allocations) = cost(|| start(&stream, &left, &right, &mut out[place % 5]).unwrap());
        assert_eq!(calls, ["context_get_current", "event_record", "launch_kernel"]);
        assert_eq!(allocations, 0);
    }
}

#[test]
fn a_chain_of_launches_through_the_same_buffers_makes_no_events_anew() {
    let device = device();
    let (stream, mut ring) = (device.stream().unwrap(), buffers::<4>(&device));
    let mut step = |place: usize| {
        let [one, two, three, four] = &mut ring;
        match place % 4 {
            0 => start(&stream, one, two, three),
            1 => start(&stream, two, three, four),
            2 => start(&stream, three, four, one),
            _ => start(&stream, four, one, two),
        }
        .unwrap();
    };
    (0..40).for_each(&mut step);
    let (calls, allocations) = cost(|| (40..80).for_each(&mut step));
    assert!(!calls.contains(&"event_create") && !calls.contains(&"event_destroy"), "{calls:?}");
    assert_eq!(calls.iter().filter(|call| **call == "event_record").count(), 40);
    assert_eq!(allocations, 0);
}

#[test]
fn an_event_that_cannot_be_recorded_is_waited_for_with_its_stream() {
    let device = device();
    let (stream, [left, right, mut out]) = (device.stream().unwrap(), buffers(&device));
    start(&stream, &left, &right, &mut out).unwrap();
    fake::fail(Some(("event_record", Status::OUT_OF_MEMORY)));
    let (calls, _) = cost(|| assert!(matches!(out.download(), Err(Error::Driver { .. }))));
    fake::fail(None);
    assert!(calls.contains(&"stream_synchronize"), "{calls:?}");
    // The work is over: nothing waits for it, and the device is of use.
    let (calls, _) = cost(|| drop(out));
    assert!(!calls.contains(&"event_record") && calls.contains(&"memory_free"), "{calls:?}");
    assert!(!device.is_lost());
}

#[test]
fn a_lost_device_refuses_a_launch_before_anything_is_asked_of_the_driver() {
    let device = device();
    let (stream, [left, right, mut out]) = (device.stream().unwrap(), buffers(&device));
    start(&stream, &left, &right, &mut out).unwrap();
    fake::fail(Some(("stream_synchronize", Status(719))));
    assert!(matches!(stream.synchronize(), Err(Error::KernelTrapped { .. })));
    fake::fail(None);
    let (calls, _) = cost(|| assert!(matches!(start(&stream, &left, &right, &mut out), Err(Error::DeviceLost { .. }))));
    assert!(calls.is_empty(), "{calls:?}");
    // Neither has a launch of a kernel that no module has another answer.
    let unknown = Parts { symbol: "host$unknown", ..TWO_INPUTS.parts() };
    // SAFETY: as for `TWO_INPUTS`.
    let unknown = unsafe { Instance::new(unknown) };
    let arguments = [Bound::input(&left), Bound::input(&right), Bound::output(&mut out)];
    assert!(matches!(launch(&stream, 1, &unknown, arguments), Err(Error::DeviceLost { .. })));
    // Streams and buffers go without a call that would use them.
    let (calls, _) = cost(|| drop((stream, left, right, out)));
    assert!(calls.is_empty(), "{calls:?}");
}

#[test]
fn a_kernel_that_is_built_for_a_later_gpu_is_refused_by_its_launch_with_both_architectures() {
    // SAFETY: the fake driver runs nothing.
    static MODULE: Module =
        unsafe { Module::embedded(&[(".version 7.8\n.target sm_90\n.visible .entry host$two_inputs(\n", &[])]) };
    for (capability, is_refused) in [((8, 0), true), ((8, 9), true), ((9, 0), false), ((10, 3), false)] {
        let (major, minor) = capability;
        fake::set_capability(major, minor);
        let device = Device { backend: Backend::Gpu(Arc::new(Context::open_with(&Driver::FAKE, 0).unwrap())) };
        // Other kernels of its modules may be of use.
        device.load(&MODULE).unwrap();
        let (stream, [left, right, mut out]) = (device.stream().unwrap(), buffers(&device));
        drop(fake::calls());
        match start(&stream, &left, &right, &mut out) {
            Ok(()) => assert!(!is_refused, "{capability:?}"),
            Err(Error::NoImage { kernel, needs, architecture, .. }) => {
                assert!(is_refused, "{capability:?}");
                assert_eq!(
                    (kernel, needs.as_str(), architecture),
                    ("two_inputs", "sm_90", 10 * major as u32 + minor as u32)
                );
            }
            Err(other) => panic!("{capability:?}: {other:?}"),
        }
        assert_eq!(fake::calls().contains(&"launch_kernel"), !is_refused, "{capability:?}");
        assert!(!device.is_lost());
    }
}

#[test]
fn a_kernel_that_waits_is_launched_as_dependent_on_the_one_before_by_drivers_that_know_such_launches() {
    const TEXT: &str = ".version 7.8\n.target sm_90\n.visible .entry host$two_inputs(\n";
    // SAFETY: the fake driver runs nothing.
    static PLAIN: Module = unsafe { Module::embedded(&[(TEXT, &[])]) };
    const WAITS: &str = ".version 7.8\n.target sm_90\n.visible .global .align 1 .b8 \
        __tilepipe_dependent__host$two_inputs[1] = {1};\n.visible .entry host$two_inputs(\n";
    // SAFETY: as above.
    static WAITING: Module = unsafe { Module::embedded(&[(WAITS, &[])]) };
    // Another kernel of the module waits, whose symbol begins with that of ours: the driver says
    // that there is no constant of ours.
    const OTHER: &str = ".version 7.8\n.target sm_90\n.visible .global .align 1 .b8 \
        __tilepipe_dependent__host$two_inputs_more[1] = {1};\n.visible .entry host$two_inputs(\n";
    // SAFETY: as above.
    static OTHERS: Module = unsafe { Module::embedded(&[(OTHER, &[])]) };
    for (module, version, is_dependent) in [
        (&PLAIN, 13_000, false),
        (&WAITING, 12_020, false),
        (&WAITING, 12_030, true),
        (&WAITING, 13_000, true),
        (&OTHERS, 13_000, false),
    ] {
        fake::set_version(version);
        let device = Device { backend: Backend::Gpu(Arc::new(Context::open_with(&Driver::FAKE, 0).unwrap())) };
        device.load(module).unwrap();
        let (stream, [left, right, mut out]) = (device.stream().unwrap(), buffers(&device));
        let not_found = ptr::eq(module, &OTHERS).then_some(("module_global", Status::NOT_FOUND));
        fake::fail(not_found);
        start(&stream, &left, &right, &mut out).unwrap();
        fake::fail(None);
        let (calls, allocations) = cost(|| start(&stream, &left, &right, &mut out).unwrap());
        let launch = if is_dependent { "launch_kernel_with" } else { "launch_kernel" };
        assert_eq!((calls, allocations), (vec!["context_get_current", launch], 0), "{version}");
    }
}

#[test]
fn a_launch_takes_memory_of_its_own_for_constants_alone() {
    let none = |run: fn() -> Bound<'static>| assert_eq!(cost(|| drop(run())).1, 0);
    none(|| Bound::scalar(true));
    none(|| Bound::scalar([1.0_f32; 4]));
    assert_eq!(cost(|| drop(Bound::constant(&[1.0_f32; 64]))).1, 1);

    const PARAMETERS: &[ParameterInfo] = &[
        view(ParameterKind::Output),
        ParameterInfo { element: TypeId::of::<bool>, ..view(ParameterKind::Scalar) },
        ParameterInfo { element: TypeId::of::<[f32; 64]>, ..view(ParameterKind::Constant) },
    ];
    let parts = Parts { names: &["out", "flag", "filter"], parameters: PARAMETERS, ..TWO_INPUTS.parts() };
    // SAFETY: as for `TWO_INPUTS`.
    let instance = unsafe { Instance::new(parts) };
    let device = device();
    let (stream, [mut out]) = (device.stream().unwrap(), buffers(&device));
    let mut start = |filter: &[f32; 64]| {
        launch(&stream, 1, &instance, [Bound::output(&mut out), Bound::scalar(true), Bound::constant(filter)])
    };
    for _ in 0..3 {
        start(&[0.5; 64]).unwrap();
    }
    let (calls, allocations) = cost(|| start(&[0.5; 64]).unwrap());
    assert_eq!((calls, allocations), (vec!["context_get_current", "launch_kernel"], 1));

    // A value is no constant, and neither is one of another type.
    let mut refused = |value: Bound<'_>| {
        let error = launch(&stream, 1, &instance, [Bound::output(&mut out), Bound::scalar(true), value]);
        error.unwrap_err().to_string()
    };
    let message = refused(Bound::scalar(1.0_f32));
    assert!(message.contains("a value of type f32") && message.contains("`Bound::constant`"), "{message}");
    assert!(refused(Bound::constant(&[0.5_f32; 65])).contains("a constant of type [f32; 65]"));
}

/// A kernel with one output, rows of `f32`, which is or is not `optional`.
const fn one_output(parameters: &'static [ParameterInfo]) -> Instance {
    let parts = Parts {
        kernel: "one_output",
        symbol: "host$one_output",
        generics: &[],
        names: &["out"],
        parameters,
        threads: 128,
        shared_bytes: 0,
        shared_alignment: 16,
        contract: None,
        cpu: None,
    };
    // SAFETY: it has no code for the CPU, and the fake driver runs none.
    unsafe { Instance::new(parts) }
}

#[test]
fn nothing_is_refused_where_a_kernel_relies_on_elements() {
    const ROWS: ParameterInfo = ParameterInfo {
        element: TypeId::of::<f32>,
        element_name: type_name::<f32>,
        row_alignment: Some(4),
        ..view(ParameterKind::Output)
    };
    static WANTED: Instance = one_output(&[ROWS]);
    static OPTIONAL: Instance = one_output(&[ParameterInfo { optional: true, ..ROWS }]);
    let nothing = || [crate::Argument::<tilepipe::product::RowValuesMut<'_, 64>>::bind(crate::Nothing)];
    let device = device();
    super::check_arguments(&device, &OPTIONAL, &nothing()).unwrap();
    let error = super::check_arguments(&device, &WANTED, &nothing()).unwrap_err();
    assert!(matches!(error, Error::EmptyBuffer { .. }), "{error}");
    // So are rows that are not divided into matrices without a rest.
    let matrix = device.zeroed_2d::<f32>(96, 10).unwrap();
    let divided = |of| Bound::input_2d(&matrix).in_matrices(of).is_some();
    assert!(divided([5, 32]) && divided([10, 96]) && !divided([3, 32]) && !divided([5, 64]) && !divided([0, 32]));
    let divided = |of| Bound::input_2d(&matrix).rows_in_matrices(of).is_some();
    assert!(divided([3, 32]) && divided([1, 96]) && !divided([2, 32]) && !divided([usize::MAX, 2]) && !divided([3, 0]));
}
