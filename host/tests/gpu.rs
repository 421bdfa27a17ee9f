//! The launch path on a GPU. Without one every test prints `skipped: no GPU`.

mod common;
#[path = "gpu/cudarc.rs"]
mod of_cudarc;
#[path = "common/parts.rs"]
mod parts;
#[path = "gpu/primary.rs"]
mod primary;

use std::mem;
use std::thread;

use common::{FILL, INCREMENT, INCREMENT_ROWS, KERNELS, LARGE_SHARED, LARGE_SHARED_PARTS, PANIC, TRAP, described};
use cudarc::driver::result::{self, graph, stream};
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use tilepipe::launch::Parts;
use tilepipe_host::foreign::{self, Argument, Shape, View};
use tilepipe_host::{Bound, Buffer, Device, DeviceKind, Error, Grid, Module, Schedule, Stream, launch};

/// Enough clock cycles that a kernel is still running when the host goes on: about 10 ms.
const LONG: u64 = 20_000_000;

/// Opens GPU 0 with the kernels loaded, or says that the test is skipped.
fn gpu() -> Option<Device> {
    match Device::gpu(0) {
        Ok(device) => {
            device.load(&KERNELS).unwrap();
            Some(device)
        }
        Err(Error::NoDriver | Error::NoSuchGpu { .. }) => {
            println!("skipped: no GPU");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn increment(stream: &Stream, input: &Buffer<u32>, out: &mut Buffer<u32>, delay: u64) {
    let arguments = [Bound::input(input), Bound::output(out), Bound::scalar(delay)];
    launch(stream, 32, &INCREMENT, arguments).unwrap();
}

#[test]
fn the_device_says_what_it_is() {
    let Some(device) = gpu() else { return };
    println!("{device:?}");
    assert_eq!(device.kind(), DeviceKind::Gpu);
    assert!(device.compute_capability().unwrap() >= (8, 0));
    assert!(device.shared_memory_limit() >= 99 << 10 && device.threads_limit() == 1024);
    assert!(device.total_memory() > 1 << 30);
    assert!(device.multiprocessors().unwrap() > 1 && Device::cpu(Schedule::Lazy).multiprocessors().is_none());
    assert_eq!(Device::open().unwrap().kind(), DeviceKind::Gpu);
    assert!(matches!(Device::gpu(4096), Err(Error::NoSuchGpu { ordinal: 4096, .. })));
}

#[test]
fn the_device_says_what_a_kernel_takes() {
    let Some(device) = gpu() else { return };
    let small = device.resources(&INCREMENT).unwrap().unwrap();
    assert!(small.registers > 0 && small.blocks >= 2 && small.local_bytes == 0, "{small:?}");
    let large = device.resources(&LARGE_SHARED).unwrap().unwrap();
    assert!(large.shared_bytes >= LARGE_SHARED.shared_bytes() && large.blocks < small.blocks, "{large:?}");
    assert_eq!(Device::cpu(Schedule::Lazy).resources(&INCREMENT).unwrap(), None);
}

#[test]
fn buffers_keep_what_is_written_and_kernels_write_all_of_them() {
    let Some(device) = gpu() else { return };
    let stream = device.stream().unwrap();
    for (len, grid) in [(1, 1), (127, 3), (1000, 7), (1 << 22, 4096)] {
        let data: Vec<u32> = (0..len as u32).collect();
        let mut input = device.filled_with_byte::<u32>(len, 0xA5).unwrap();
        assert!(input.download().unwrap().iter().all(|element| *element == 0xA5A5_A5A5));
        input.write(&data).unwrap();
        assert_eq!(input.download().unwrap(), data);
        let mut filled = device.zeroed::<u32>(len).unwrap();
        launch(&stream, grid, &FILL, [Bound::output(&mut filled), Bound::scalar(9_u32)]).unwrap();
        assert_eq!(filled.download().unwrap(), vec![9; len]);
        let mut out = device.upload(&data).unwrap();
        increment(&stream, &input, &mut out, 0);
        assert_eq!(out.download().unwrap(), (1..=len as u32).collect::<Vec<_>>());
    }
}

#[test]
fn a_launch_on_slices_uses_their_elements_and_no_other() {
    let Some(device) = gpu() else { return };
    parts::slices_are_used_and_no_other_elements(&device);
    let (stream, mut out) = (device.stream().unwrap(), device.zeroed::<u32>(1000).unwrap());
    let shifted = Bound::output_slice(out.slice_mut(1..).unwrap());
    let error = launch(&stream, 1, &FILL, [shifted, Bound::scalar(1_u32)]).unwrap_err();
    assert!(matches!(error, Error::Misaligned { alignment: 16, elements: 4, .. }), "{error}");
}

#[test]
fn launches_on_parts_of_one_buffer_run_in_the_order_of_the_buffer() {
    let Some(device) = gpu() else { return };
    let (slow, other) = (device.stream().unwrap(), device.stream().unwrap());
    let input = device.zeroed::<u32>(1024).unwrap();
    let mut out = device.zeroed::<u32>(1024).unwrap();
    let first = Bound::output_slice(out.slice_mut(..512).unwrap());
    launch(&slow, 8, &INCREMENT, [Bound::input(&input), first, Bound::scalar(LONG)]).unwrap();
    let both = Bound::output(&mut out);
    launch(&other, 8, &FILL, [both, Bound::scalar(5_u32)]).unwrap();
    assert_eq!(out.download().unwrap(), [5; 1024]);
}

#[test]
fn grids_that_follow_from_the_launch_are_right() {
    let Some(device) = gpu() else { return };
    let stream = device.stream().unwrap();
    for (grid, elements) in [Grid::tiles(), Grid::resident()].into_iter().flat_map(|grid| [(grid, 1), (grid, 100_000)])
    {
        let mut out = device.zeroed::<u32>(elements).unwrap();
        launch(&stream, grid, &FILL, [Bound::output(&mut out), Bound::scalar(3_u32)]).unwrap();
        assert_eq!(out.download().unwrap(), vec![3; elements], "{grid:?}");
    }
}

#[test]
fn a_launch_on_slices_of_rows_uses_their_elements_and_no_other() {
    let Some(device) = gpu() else { return };
    parts::slices_of_rows_are_used_and_no_other_elements(&device);
}

#[test]
fn rows_of_any_width_go_to_a_kernel_and_come_back() {
    let Some(device) = gpu() else { return };
    parts::rows_go_to_a_kernel_and_come_back(&device);
    let stream = device.stream().unwrap();
    let dense = device.upload(&[1_u32; 64]).unwrap();
    let mut out = device.zeroed::<u32>(64).unwrap();
    let arguments = [Bound::input_rows(dense.rows(16).unwrap()), Bound::output_rows(out.rows_mut(16).unwrap())];
    launch(&stream, 2, &INCREMENT_ROWS, arguments).unwrap();
    assert_eq!(out.download().unwrap(), [2; 64]);
}

#[test]
fn more_than_48_kib_of_shared_memory_is_opted_in_to_and_too_much_is_refused() {
    let Some(device) = gpu() else { return };
    let stream = device.stream().unwrap();
    let mut out = device.zeroed::<u32>(1).unwrap();
    launch(&stream, 1, &LARGE_SHARED, [Bound::output(&mut out)]).unwrap();
    assert_eq!(out.download().unwrap(), [77]);
    let large = described(Parts { shared_bytes: 1 << 20, ..LARGE_SHARED_PARTS });
    let error = launch(&stream, 1, &large, [Bound::output(&mut out)]).unwrap_err();
    assert!(matches!(error, Error::SharedMemory { wanted: 0x10_0000, .. }), "{error}");
    // The driver refuses a block size other than the entry's own, and the device stays usable.
    let wide = described(Parts { threads: 256, ..LARGE_SHARED_PARTS });
    assert!(launch(&stream, 1, &wide, [Bound::output(&mut out)]).is_err());
    launch(&stream, 1, &LARGE_SHARED, [Bound::output(&mut out)]).unwrap();
}

#[test]
fn launches_in_different_streams_that_conflict_run_in_order() {
    let Some(device) = gpu() else { return };
    let mut buffers = [device.zeroed::<u32>(4096).unwrap(), device.zeroed::<u32>(4096).unwrap()];
    let streams: Vec<Stream> = (0..4).map(|_| device.stream().unwrap()).collect();
    for round in 0..20 {
        let [first, second] = &mut buffers;
        let (input, out) = if round % 2 == 0 { (first, second) } else { (second, first) };
        increment(&streams[round % 4], input, out, LONG / 20);
    }
    assert_eq!(buffers[0].download().unwrap(), vec![20; 4096]);
    assert_eq!(buffers[1].download().unwrap(), vec![19; 4096]);
}

#[test]
fn a_write_from_the_host_waits_for_the_kernels_that_read() {
    let Some(device) = gpu() else { return };
    let (slow, other) = (device.stream().unwrap(), device.stream().unwrap());
    let mut input = device.zeroed::<u32>(1024).unwrap();
    let mut out = device.zeroed::<u32>(1024).unwrap();
    increment(&slow, &input, &mut out, LONG);
    input.write(&[100; 1024]).unwrap();
    assert_eq!(out.download().unwrap(), [1; 1024]);
    increment(&slow, &input, &mut out, LONG);
    launch(&other, 8, &FILL, [Bound::output(&mut input), Bound::scalar(5_u32)]).unwrap();
    assert_eq!((out.download().unwrap(), input.download().unwrap()), (vec![101; 1024], vec![5; 1024]));
}

#[test]
fn buffers_streams_and_devices_may_go_while_a_kernel_runs() {
    let Some(device) = gpu() else { return };
    for _ in 0..10 {
        let stream = device.stream().unwrap();
        let input = device.zeroed::<u32>(1 << 20).unwrap();
        let mut out = device.zeroed::<u32>(1 << 20).unwrap();
        increment(&stream, &input, &mut out, LONG / 4);
        drop(input);
        drop(stream);
        // New memory, perhaps at the old place, must not be what the kernel still uses.
        let fresh = device.filled_with_byte::<u32>(1 << 20, 7).unwrap();
        assert_eq!(out.download().unwrap(), vec![1; 1 << 20]);
        assert!(fresh.download().unwrap().iter().all(|element| *element == 0x0707_0707));
    }
    let stream = device.stream().unwrap();
    let input = device.zeroed::<u32>(1024).unwrap();
    let mut out = device.zeroed::<u32>(1024).unwrap();
    increment(&stream, &input, &mut out, LONG);
    mem::forget(input);
    drop(device);
    drop(stream);
    assert_eq!(out.download().unwrap(), [1; 1024]);
}

#[test]
fn launches_from_many_threads_on_the_same_buffers_take_turns() {
    let Some(device) = gpu() else { return };
    let mut first = device.zeroed::<u32>(100_000).unwrap();
    let mut second = device.zeroed::<u32>(100_000).unwrap();
    let there = [Bound::input(&first), Bound::output(&mut second), Bound::scalar(100_u64)];
    let back = [Bound::input(&second), Bound::output(&mut first), Bound::scalar(100_u64)];
    thread::scope(|scope| {
        for round in 0..8 {
            let (device, arguments) = (&device, if round % 2 == 0 { &there } else { &back });
            scope.spawn(move || {
                let stream = device.stream().unwrap();
                for _ in 0..50 {
                    launch(&stream, 16, &INCREMENT, arguments.clone()).unwrap();
                }
            });
        }
    });
    for data in [first.download().unwrap(), second.download().unwrap()] {
        assert!(data.iter().all(|element| *element == data[0]));
    }
}

#[test]
fn events_measure_the_kernels_between_them() {
    let Some(device) = gpu() else { return };
    let stream = device.stream().unwrap();
    let input = device.zeroed::<u32>(1024).unwrap();
    let mut out = device.zeroed::<u32>(1024).unwrap();
    let start = stream.record().unwrap();
    increment(&stream, &input, &mut out, LONG);
    let end = stream.record().unwrap();
    let milliseconds = end.elapsed_ms_since(&start).unwrap();
    println!("{LONG} cycles: {milliseconds:.3} ms");
    assert!((1.0..1000.0).contains(&milliseconds));
}

#[test]
fn out_of_memory_says_how_much_was_wanted_and_is_free() {
    let Some(device) = gpu() else { return };
    let wanted = device.total_memory() as usize + (1 << 30);
    let error = device.zeroed::<u32>(wanted / 4).unwrap_err();
    println!("{error}");
    assert!(matches!(error, Error::OutOfMemory { free: Some(free), .. } if free > 0), "{error}");
    assert_eq!(device.upload(&[1_u32]).unwrap().download().unwrap(), [1], "the device goes on");
}

#[test]
fn what_is_missing_or_broken_in_a_module_is_said() {
    let Some(device) = gpu() else { return };
    let stream = device.stream().unwrap();
    let mut out = device.zeroed::<u32>(1).unwrap();
    let unknown = described(Parts { symbol: "nobody__128", ..LARGE_SHARED_PARTS });
    let error = launch(&stream, 1, &unknown, [Bound::output(&mut out)]).unwrap_err().to_string();
    assert!(error.contains("nobody__128") && error.contains("Device::load"), "{error}");

    // SAFETY: the driver refuses it.
    static BROKEN: Module =
        unsafe { Module::embedded(&[(".version 7.0\n.target sm_80\n.address_size 64\nnonsense;\n", &[])]) };
    let error = device.load(&BROKEN).unwrap_err();
    println!("{error}");
    assert!(matches!(&error, Error::Compilation { log, .. } if !log.is_empty()), "{error}");

    // SAFETY: the driver refuses it.
    static NEWER: Module = unsafe { Module::embedded(&[(".version 99.0\n.target sm_80\n.address_size 64\n", &[])]) };
    let error = device.load(&NEWER).unwrap_err();
    println!("{error}");
    assert!(matches!(error, Error::PtxTooNew { .. }), "{error}");
    device.load(&KERNELS).unwrap();
}

#[test]
fn a_buffer_of_another_device_or_an_earlier_opening_is_refused() {
    let Some(device) = gpu() else { return };
    let stream = device.stream().unwrap();
    for other in [Device::gpu(0).unwrap(), Device::cpu(Schedule::Lazy)] {
        let mut out = other.zeroed::<u32>(1).unwrap();
        let error = launch(&stream, 1, &FILL, [Bound::output(&mut out), Bound::scalar(1_u32)]).unwrap_err();
        assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
    }
}

/// What the benchmark's C library does: context, memory, stream and graph are somebody else's.
#[test]
fn a_graph_of_somebody_else_has_our_launch() {
    let Some(owner) = gpu() else { return };
    // Makes the owner's context this thread's.
    owner.synchronize().unwrap();
    // SAFETY: the owner's context lives until the end of the test.
    let device = unsafe { foreign::current_device() }.unwrap();
    device.load(&KERNELS).unwrap();
    let (width, height) = (50, 20);
    let data: Vec<u32> = (0..(width * height) as u32).collect();
    // SAFETY: nothing reads what is allocated before it is written.
    let allocate = || unsafe { result::malloc_sync(4 * data.len()) }.unwrap();
    let (input, out) = (allocate(), allocate());
    // Rows of 200 bytes would not start at multiples of 16: a row is the whole of them.
    let shape = Shape::Rows { width: data.len() as u64, height: 1, pitch: data.len() as u64 };
    let views = [(input, false), (out, true)]
        .map(|(address, is_output)| Argument::View(View { address, shape, element_bytes: 4, is_output }));
    assert_eq!(foreign::blocks(&device, Grid::from(3), &INCREMENT_ROWS, &views).unwrap(), 3);
    let work = stream::create(stream::StreamKind::NonBlocking).unwrap();
    // SAFETY: the stream is of the context, the memory has as many elements as the views, and is
    // used by this stream alone until it was waited for, in which no other kernel is.
    let start = || unsafe { foreign::launch(&device, work.cast(), Grid::from(3), &INCREMENT_ROWS, &views) }.unwrap();
    let wait = || {
        // SAFETY: the stream is alive.
        unsafe { stream::synchronize(work) }.unwrap();
    };
    start();
    wait();
    // Of this thread alone: other tests allocate memory meanwhile, which a global capture forbids.
    // SAFETY: the stream is alive, and nothing else begins a capture there.
    unsafe { stream::begin_capture(work, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) }.unwrap();
    start();
    // SAFETY: the stream is being captured.
    let captured = unsafe { stream::end_capture(work) }.unwrap();
    // SAFETY: the graph was captured above.
    let ready = unsafe { graph::instantiate(captured, CUgraphInstantiate_flags(0)) }.unwrap();
    drop(device);
    for offset in [0, 1000] {
        let data: Vec<u32> = data.iter().map(|number| number + offset).collect();
        // SAFETY: both have as many elements, and the stream has no work.
        unsafe { result::memcpy_htod_sync(input, &data) }.unwrap();
        // SAFETY: graph and stream are alive, and so is the memory.
        unsafe { graph::launch(ready, work) }.unwrap();
        wait();
        let mut got = vec![0_u32; data.len()];
        // SAFETY: both have as many elements.
        unsafe { result::memcpy_dtoh_sync(&mut got, out) }.unwrap();
        assert_eq!(got, data.iter().map(|number| number + 1).collect::<Vec<_>>());
    }
    owner.synchronize().unwrap();
}

/// A kernel that fails may leave the whole process without a GPU, so these run in a process of
/// their own.
fn in_a_process_of_its_own(test: &str, body: impl FnOnce(Device)) {
    const CHILD: &str = "TILEPIPE_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        body(gpu().unwrap());
    } else if gpu().is_some() {
        let program = std::env::current_exe().unwrap();
        let mut command = std::process::Command::new(program);
        let output = command.args([test, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
        println!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success());
    }
}

/// After a failure: every call says so, and the device can be opened anew, or the error says what
/// to do.
fn assert_lost(device: &Device, stream: &Stream, out: Buffer<u32>) {
    assert!(device.is_lost());
    let errors = [out.download().unwrap_err(), stream.synchronize().unwrap_err(), device.zeroed::<u32>(1).unwrap_err()];
    for error in errors {
        assert!(matches!(&error, Error::DeviceLost { .. }), "{error}");
        println!("{error}");
    }
    match Device::gpu(0) {
        Ok(anew) => {
            println!("opened anew");
            anew.load(&KERNELS).unwrap();
            let mut again = anew.zeroed::<u32>(64).unwrap();
            drop(out);
            let arguments = [Bound::output(&mut again), Bound::scalar(3_u32)];
            launch(&anew.stream().unwrap(), 1, &FILL, arguments).unwrap();
            assert_eq!(again.download().unwrap(), [3; 64]);
        }
        Err(error) => {
            println!("not opened anew: {error}");
            assert!(error.to_string().contains("start the program again"), "{error}");
        }
    }
}

#[test]
fn a_panic_is_reported_with_its_message_place_and_thread() {
    in_a_process_of_its_own("a_panic_is_reported_with_its_message_place_and_thread", |device| {
        let stream = device.stream().unwrap();
        let mut out = device.zeroed::<u32>(64).unwrap();
        launch(&stream, 4, &PANIC, [Bound::output(&mut out)]).unwrap();
        let error = stream.synchronize().unwrap_err();
        println!("{error}");
        let Error::KernelPanicked { message, file, line: 12, column: 5, block: 0, thread: Some(3) } = &error else {
            panic!("{error:?}")
        };
        assert_eq!((message.as_str(), file.as_str()), ("value 42", "k.rs"));
        assert_lost(&device, &stream, out);
    });
}

#[test]
fn a_trap_without_a_record_is_reported_as_such() {
    in_a_process_of_its_own("a_trap_without_a_record_is_reported_as_such", |device| {
        let stream = device.stream().unwrap();
        let mut out = device.zeroed::<u32>(64).unwrap();
        launch(&stream, 4, &TRAP, [Bound::output(&mut out)]).unwrap();
        let error = out.download().unwrap_err();
        println!("{error}");
        assert!(matches!(error, Error::KernelTrapped { .. }), "{error:?}");
        assert_lost(&device, &stream, out);
    });
}
