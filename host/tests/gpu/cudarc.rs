//! Launches in a program that uses cudarc, and buffers that are lent to it.

use std::mem;
use std::sync::Arc;
use std::thread;

use tilepipe::{Tiles, TilesMut};
use tilepipe_host::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use tilepipe_host::cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr};
use tilepipe_host::{Argument, Bound, Device, Error, Schedule, Stream, launch};

use super::common::{FILL, INCREMENT, KERNELS, TRAP};
use super::{LONG, in_a_process_of_its_own};

/// Elements of the buffers.
const LEN: usize = 4096;

/// cudarc's context, the device in it, and two streams of each kind.
struct Program {
    context: Arc<CudaContext>,
    device: Device,
    theirs: [Arc<CudaStream>; 2],
    ours: [Stream; 2],
}

/// A program that uses cudarc, or a message that the test is skipped.
fn program() -> Option<Program> {
    // cudarc panics where there is no driver.
    super::gpu()?;
    let context = CudaContext::new(0).unwrap();
    let device = Device::from_cudarc(&context).unwrap();
    device.load(&KERNELS).unwrap();
    let theirs = [(); 2].map(|()| context.new_stream().unwrap());
    let ours = [0, 1].map(|place| device.stream_from_cudarc(&theirs[place]).unwrap());
    Some(Program { context, device, theirs, ours })
}

fn input<'a>(argument: impl Argument<Tiles<'static, u32, 128>> + 'a) -> Bound<'a> {
    argument.bind()
}

fn output<'a>(argument: impl Argument<TilesMut<'static, u32, 128>> + 'a) -> Bound<'a> {
    argument.bind()
}

/// `out[i] = from[i] + 1`, after so many clock cycles.
fn increment(stream: &Stream, from: &CudaSlice<u32>, out: &mut CudaSlice<u32>, delay: u64) {
    launch(stream, 32, &INCREMENT, [input(from), output(out), Bound::scalar(delay)]).unwrap();
}

#[test]
fn a_kernel_reads_and_writes_slices_where_they_lie() {
    let Some(Program { theirs: [stream, _], ours: [ours, _], .. }) = program() else { return };
    let numbers: Vec<u32> = (0..LEN as u32).collect();
    let from = stream.clone_htod(&numbers).unwrap();
    let mut out = stream.alloc_zeros::<u32>(LEN).unwrap();
    let address = |slice: &CudaSlice<u32>| slice.device_ptr(&stream).0;
    let before = [address(&from), address(&out)];
    increment(&ours, &from, &mut out, 0);
    assert_eq!([address(&from), address(&out)], before);
    let expected: Vec<u32> = numbers.iter().map(|number| number + 1).collect();
    assert_eq!(stream.clone_dtoh(&out).unwrap(), expected);
    assert_eq!(stream.clone_dtoh(&from).unwrap(), numbers);
}

#[test]
fn a_kernel_reads_and_writes_views_and_no_other_elements() {
    let Some(Program { theirs: [stream, _], ours: [ours, _], .. }) = program() else { return };
    let numbers: Vec<u32> = (0..LEN as u32).collect();
    let mut slice = stream.clone_htod(&numbers).unwrap();
    // Both halves in one launch: they have no byte in common.
    let (first, mut second) = slice.split_at_mut(LEN / 2);
    let (from, mut part) = (first.slice(8..24), second.slice_mut(4..12));
    launch(&ours, 1, &INCREMENT, [input(&from), output(&mut part), Bound::scalar(0_u64)]).unwrap();
    let mut expected = numbers.clone();
    for (place, number) in (LEN / 2 + 4..LEN / 2 + 12).zip(8..) {
        expected[place] = number + 1;
    }
    assert_eq!(stream.clone_dtoh(&slice).unwrap(), expected);
    let error = launch(&ours, 1, &FILL, [output(&mut slice.slice_mut(1..5)), Bound::scalar(1_u32)]).unwrap_err();
    assert!(matches!(error, Error::Misaligned { .. }), "{error}");
    let error = launch(&ours, 1, &FILL, [output(&mut slice.slice_mut(4..4)), Bound::scalar(1_u32)]).unwrap_err();
    assert!(matches!(error, Error::EmptyBuffer { element: "u32" }), "{error}");
}

#[test]
fn buffers_of_both_kinds_are_arguments_of_one_launch() {
    let Some(Program { device, theirs: [stream, _], ours: [ours, other], .. }) = program() else { return };
    let mut buffer = device.upload(&[1_u32; LEN]).unwrap();
    let mut slice = stream.alloc_zeros::<u32>(LEN).unwrap();
    launch(&ours, 32, &INCREMENT, [Bound::input(&buffer), output(&mut slice), Bound::scalar(LONG)]).unwrap();
    launch(&other, 32, &INCREMENT, [input(&slice), Bound::output(&mut buffer), Bound::scalar(0_u64)]).unwrap();
    assert_eq!(buffer.download().unwrap(), [3; LEN]);
    assert_eq!(stream.clone_dtoh(&slice).unwrap(), [2; LEN]);
}

#[test]
fn a_slice_that_goes_right_after_the_launch_is_freed_after_the_kernel() {
    let Some(Program { theirs, ours, .. }) = program() else { return };
    // In the stream of the memory, and in another one.
    for launched_in in [0, 1] {
        let (home, ours) = (&theirs[0], &ours[launched_in]);
        for _ in 0..10 {
            let from = home.clone_htod(&vec![1_u32; LEN]).unwrap();
            let mut out = home.alloc_zeros::<u32>(LEN).unwrap();
            let mut last = home.alloc_zeros::<u32>(LEN).unwrap();
            increment(ours, &from, &mut out, LONG / 4);
            drop(from);
            // New memory, perhaps at the old place, must not be what the kernel still uses.
            let fresh = home.clone_htod(&vec![7_u32; LEN]).unwrap();
            increment(ours, &out, &mut last, LONG / 4);
            drop(out);
            let other = home.clone_htod(&vec![9_u32; LEN]).unwrap();
            assert_eq!(home.clone_dtoh(&last).unwrap(), [3; LEN]);
            assert_eq!(home.clone_dtoh(&fresh).unwrap(), [7; LEN]);
            assert_eq!(home.clone_dtoh(&other).unwrap(), [9; LEN]);
        }
    }
}

/// A later read in a third stream replaces the kernel's in the slice's event, without a wait.
#[test]
fn memory_that_another_stream_reads_later_is_freed_after_the_kernel_too() {
    let Some(Program { context, theirs: [home, third], ours: [_, _], device }) = program() else { return };
    let ours = device.stream_from_cudarc(&context.new_stream().unwrap()).unwrap();
    for _ in 0..10 {
        let from = home.clone_htod(&vec![1_u32; LEN]).unwrap();
        let mut out = home.alloc_zeros::<u32>(LEN).unwrap();
        increment(&ours, &from, &mut out, LONG);
        assert_eq!(third.clone_dtoh(&from).unwrap(), [1; LEN]);
        drop(from);
        let fresh = home.clone_htod(&vec![7_u32; LEN]).unwrap();
        assert_eq!(home.clone_dtoh(&out).unwrap(), [2; LEN]);
        assert_eq!(home.clone_dtoh(&fresh).unwrap(), [7; LEN]);
    }
}

#[test]
fn launches_and_cudarcs_work_in_several_streams_run_in_order() {
    let Some(Program { theirs: [first, second], ours, .. }) = program() else { return };
    let mut slices = [(); 2].map(|()| first.alloc_zeros::<u32>(LEN).unwrap());
    for round in 0..20 {
        let [one, two] = &mut slices;
        let (from, out) = if round % 2 == 0 { (one, two) } else { (two, one) };
        increment(&ours[round % 2], from, out, LONG / 20);
        // A copy of cudarc's between them, in either stream.
        let copies = [&first, &second];
        assert_eq!(copies[round / 2 % 2].clone_dtoh(out).unwrap(), vec![round as u32 + 1; LEN]);
    }
    // A write of cudarc's waits for the kernel that reads.
    let [from, out] = &mut slices;
    let before = first.clone_dtoh(from).unwrap()[0];
    increment(&ours[0], from, out, LONG);
    second.memset_zeros(from).unwrap();
    assert_eq!(second.clone_dtoh(out).unwrap(), vec![before + 1; LEN]);
}

/// An argument that is written can be cloned: its copies are used one after the other.
#[test]
fn copies_of_an_argument_are_launched_by_several_threads() {
    let Some(Program { context, device, theirs: [home, _], .. }) = program() else { return };
    let from = home.clone_htod(&vec![1_u32; LEN]).unwrap();
    let mut out = home.alloc_zeros::<u32>(LEN).unwrap();
    let arguments = [input(&from), output(&mut out), Bound::scalar(0_u64)];
    thread::scope(|scope| {
        for _ in 0..4 {
            let (arguments, context, device) = (arguments.clone(), &context, &device);
            scope.spawn(move || {
                let ours = device.stream_from_cudarc(&context.new_stream().unwrap()).unwrap();
                (0..250).for_each(|_| launch(&ours, 32, &INCREMENT, &arguments).unwrap());
            });
        }
    });
    drop(arguments);
    assert_eq!(home.clone_dtoh(&out).unwrap(), [2; LEN]);
}

#[test]
fn memory_that_overlaps_an_output_is_refused() {
    let Some(Program { theirs: [stream, _], ours: [ours, _], .. }) = program() else { return };
    let slice = stream.alloc_zeros::<u32>(LEN).unwrap();
    let middle = slice.slice(LEN / 2..).device_ptr(&stream).0;
    // SAFETY: the memory is the slice's, and is not freed by the second handle of it.
    let mut same = unsafe { stream.upgrade_device_ptr::<u32>(middle, LEN / 2) };
    let error = launch(&ours, 1, &INCREMENT, [input(&slice), output(&mut same), Bound::scalar(0_u64)]).unwrap_err();
    assert!(matches!(error, Error::Overlap { first: "input", second: "out", .. }), "{error}");
    let before = slice.slice(..LEN / 2);
    launch(&ours, 1, &INCREMENT, [input(&before), output(&mut same), Bound::scalar(0_u64)]).unwrap();
    same.leak();
    assert_eq!(stream.clone_dtoh(&slice).unwrap(), [vec![0; LEN / 2], vec![1; LEN / 2]].concat());
}

#[test]
fn what_is_of_another_context_or_of_no_one_stream_is_refused() {
    let Some(Program { context, device, theirs: [stream, _], ours: [ours, _] }) = program() else { return };
    let again = CudaContext::new(0).unwrap();
    let is_wrong = |error: Error, part: &str| {
        assert!(matches!(&error, Error::WrongDevice { .. }) && error.to_string().contains(part), "{error}");
    };
    let of_again = again.default_stream();
    is_wrong(device.stream_from_cudarc(&of_again).map(drop).unwrap_err(), "cudarc's stream");
    let mut strange = of_again.alloc_zeros::<u32>(LEN).unwrap();
    let fill =
        |stream: &Stream, slice: &mut CudaSlice<u32>| launch(stream, 1, &FILL, [output(slice), Bound::scalar(1_u32)]);
    is_wrong(fill(&ours, &mut strange).unwrap_err(), "parameter `out`");
    let mut slice = stream.alloc_zeros::<u32>(LEN).unwrap();
    for other in [Device::gpu(0).unwrap(), Device::cpu(Schedule::Lazy)] {
        is_wrong(fill(&other.stream().unwrap(), &mut slice).unwrap_err(), "parameter `out`");
        is_wrong(other.stream_from_cudarc(&stream).map(drop).unwrap_err(), "cudarc's stream");
        is_wrong(other.zeroed::<u32>(1).unwrap().lend(&stream).map(drop).unwrap_err(), "cudarc's stream");
    }
    let per_thread = context.per_thread_stream();
    assert!(matches!(device.stream_from_cudarc(&per_thread).map(drop), Err(Error::PerThreadStream)));
    let mut of_it = per_thread.alloc_zeros::<u32>(LEN).unwrap();
    assert!(matches!(fill(&ours, &mut of_it), Err(Error::PerThreadStream)));
    // The device of the same context is the same one.
    let same = Device::from_cudarc(&context).unwrap();
    fill(&same.stream().unwrap(), &mut slice).unwrap();
    assert_eq!(stream.clone_dtoh(&slice).unwrap(), [1; LEN]);
    assert_eq!(of_again.clone_dtoh(&strange).unwrap(), [0; LEN]);
}

#[test]
fn a_buffer_is_lent_to_cudarc_and_used_again() {
    let Some(Program { device, theirs: [stream, second], ours: [ours, other], .. }) = program() else { return };
    let from = device.upload(&[1_u32; LEN]).unwrap();
    let mut out = device.zeroed::<u32>(LEN).unwrap();
    for round in 1..=10 {
        let arguments = [Bound::input(&from), Bound::output(&mut out), Bound::scalar(LONG / 4)];
        launch(&ours, 32, &INCREMENT, &arguments).unwrap();
        // cudarc's copy waits for the launch, and the next launch for cudarc's.
        let lent = out.lend(&second).unwrap();
        assert_eq!(second.clone_dtoh(&lent).unwrap(), [2; LEN]);
        assert_eq!(lent.device_ptr(&second).0, out.lend(&stream).unwrap().device_ptr(&stream).0);
        let refused = launch(&other, 32, &INCREMENT, &arguments).unwrap_err();
        assert!(matches!(refused, Error::Lent { written: false }), "{refused}");
        drop(lent);
        let mut lent = out.lend_mut(&second).unwrap();
        second.memcpy_htod(&vec![round; LEN], &mut lent).unwrap();
        drop(lent);
        let mut sum = device.zeroed::<u32>(LEN).unwrap();
        let arguments = [Bound::input(&out), Bound::output(&mut sum), Bound::scalar(0_u64)];
        launch(&other, 32, &INCREMENT, arguments).unwrap();
        assert_eq!(sum.download().unwrap(), vec![round + 1; LEN]);
    }
}

#[test]
fn either_side_of_a_loan_may_go_first() {
    let Some(Program { context, device, theirs: [stream, _], ours }) = program() else { return };
    let mut slice = stream.alloc_zeros::<u32>(LEN).unwrap();
    let mut out = device.upload(&[4_u32; LEN]).unwrap();
    let lent = out.lend(&stream).unwrap();
    stream.memcpy_dtod(&lent, &mut slice).unwrap();
    // Nothing of ours is left but what cudarc may still copy.
    drop(lent);
    drop((out, ours, device));
    assert_eq!(stream.clone_dtoh(&slice).unwrap(), [4; LEN]);
    // cudarc's context goes on, and what was lost with the device is made anew.
    let device = Device::from_cudarc(&context).unwrap();
    device.load(&KERNELS).unwrap();
    out = device.zeroed::<u32>(LEN).unwrap();
    let ours = device.stream_from_cudarc(&stream).unwrap();
    launch(&ours, 32, &INCREMENT, [input(&slice), Bound::output(&mut out), Bound::scalar(LONG)]).unwrap();
    // cudarc's side first: slice, stream and context.
    let kept = context.new_stream().unwrap();
    drop((slice, stream, context));
    assert_eq!(out.download().unwrap(), [5; LEN]);
    // A loan that is forgotten keeps the memory, and the buffer lent.
    mem::forget(out.lend_mut(&kept).unwrap());
    assert!(matches!(out.download(), Err(Error::Lent { written: true })));
    drop(out);
    kept.synchronize().unwrap();
}

/// Its own process: others' work would fail while a stream of the context is captured.
#[test]
fn a_launch_in_a_captured_stream_is_refused_and_the_capture_goes_on() {
    in_a_process_of_its_own("of_cudarc::a_launch_in_a_captured_stream_is_refused_and_the_capture_goes_on", |_| {
        let Some(Program { device, theirs: [captured, _], ours: [ours, other], .. }) = program() else { return };
        let mut slice = captured.alloc_zeros::<u32>(LEN).unwrap();
        let mut buffer = device.zeroed::<u32>(LEN).unwrap();
        captured.synchronize().unwrap();
        captured.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
        for stream in [&ours, &other] {
            let error = launch(stream, 1, &FILL, [output(&mut slice), Bound::scalar(1_u32)]).unwrap_err();
            assert!(matches!(error, Error::Captured), "{error}");
        }
        let error = launch(&ours, 1, &FILL, [Bound::output(&mut buffer), Bound::scalar(1_u32)]).unwrap_err();
        assert!(matches!(error, Error::Captured), "{error}");
        assert!(matches!(buffer.lend(&captured).map(drop), Err(Error::Captured)));
        assert!(matches!(ours.record().map(drop), Err(Error::Captured)));
        // An error of the driver would say that the capture was broken.
        captured.end_capture(CUgraphInstantiate_flags(0)).unwrap();
        for stream in [&ours, &other] {
            launch(stream, 1, &FILL, [output(&mut slice), Bound::scalar(2_u32)]).unwrap();
        }
        assert_eq!(captured.clone_dtoh(&slice).unwrap(), [2; LEN]);
    });
}

/// Its own process: event tracking is a setting of the context.
#[test]
fn without_event_tracking_memory_is_used_in_its_own_stream_alone() {
    in_a_process_of_its_own("of_cudarc::without_event_tracking_memory_is_used_in_its_own_stream_alone", |_| {
        let Some(Program { context, theirs: [stream, _], ours: [ours, other], .. }) = program() else { return };
        let mut tracked = stream.alloc_zeros::<u32>(LEN).unwrap();
        // SAFETY: everything is done in one stream from now on.
        unsafe { context.disable_event_tracking() };
        let mut untracked = stream.alloc_zeros::<u32>(LEN).unwrap();
        for slice in [&mut tracked, &mut untracked] {
            launch(&ours, 1, &FILL, [output(&mut *slice), Bound::scalar(1_u32)]).unwrap();
            let error = launch(&other, 1, &FILL, [output(&mut *slice), Bound::scalar(2_u32)]).unwrap_err();
            assert!(matches!(error, Error::Untracked { parameter: "out", .. }), "{error}");
            assert_eq!(stream.clone_dtoh(slice).unwrap(), [1; LEN]);
        }
    });
}

#[test]
fn a_kernel_that_fails_loses_the_device_of_its_context() {
    in_a_process_of_its_own("of_cudarc::a_kernel_that_fails_loses_the_device_of_its_context", |_| {
        let Some(Program { context, device, theirs: [stream, _], ours: [ours, _] }) = program() else { return };
        let mut slice = stream.alloc_zeros::<u32>(LEN).unwrap();
        launch(&ours, 4, &TRAP, [output(&mut slice)]).unwrap();
        let error = ours.synchronize().unwrap_err();
        println!("{error}");
        assert!(matches!(error, Error::KernelTrapped { .. }), "{error}");
        assert!(device.is_lost() && Device::from_cudarc(&context).unwrap().is_lost());
        let error = launch(&ours, 1, &FILL, [output(&mut slice), Bound::scalar(1_u32)]).unwrap_err();
        assert!(matches!(error, Error::DeviceLost { .. }), "{error}");
        assert!(stream.synchronize().is_err(), "cudarc sees it too");
    });
}

/// Its own process: others' memory would be counted.
#[test]
fn ten_thousand_launches_from_eight_threads_leave_no_memory_behind() {
    in_a_process_of_its_own("of_cudarc::ten_thousand_launches_from_eight_threads_leave_no_memory_behind", |_| {
        let Some(Program { context, device, theirs: [shared, _], .. }) = program() else { return };
        let weights = shared.clone_htod(&vec![1_u32; LEN]).unwrap();
        let rounds = |count: usize| {
            thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        let theirs = context.new_stream().unwrap();
                        let ours = device.stream_from_cudarc(&theirs).unwrap();
                        for round in 0..count {
                            let mut middle = theirs.alloc_zeros::<u32>(LEN).unwrap();
                            increment(&ours, &weights, &mut middle, 0);
                            let mut out = device.zeroed::<u32>(LEN).unwrap();
                            let arguments = [input(&middle), Bound::output(&mut out), Bound::scalar(0_u64)];
                            launch(&ours, 32, &INCREMENT, arguments).unwrap();
                            drop(middle);
                            if round % 50 == 0 {
                                assert_eq!(theirs.clone_dtoh(&out.lend(&theirs).unwrap()).unwrap(), [3; LEN]);
                            }
                        }
                    });
                }
            });
            context.synchronize().unwrap();
            context.mem_get_info().unwrap().0
        };
        // What the driver keeps for threads and streams is there after the first ones.
        rounds(100);
        let before = rounds(100);
        let after = rounds(650);
        println!("free before {before} bytes, after {after}");
        assert!(after + (8 << 20) >= before, "{} bytes are gone", before - after);
    });
}
