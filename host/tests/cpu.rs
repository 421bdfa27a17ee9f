//! The launch path on the CPU: results, checks, panics, and launches from several threads.

mod common;

use std::mem;
use std::thread;

use common::{FILL, INCREMENT, KERNELS, LARGE_SHARED, LARGE_SHARED_PARTS, PANIC, described};
use tilepipe::launch::Instance;
use tilepipe::launch::Parts;
use tilepipe::{Halos, Tiles, TilesMut};
use tilepipe_host::{Argument, Bound, Buffer, Device, DeviceKind, Error, Event, Module, Schedule, Stream, launch};

const SCHEDULES: [Schedule; 3] = [Schedule::Eager, Schedule::Lazy, Schedule::Random { seed: 3 }];

fn cpu() -> Device {
    Device::cpu(Schedule::Lazy)
}

#[test]
fn every_block_writes_its_part_whatever_the_size_the_grid_and_the_schedule() {
    for schedule in SCHEDULES {
        let device = Device::cpu(schedule);
        device.load(&KERNELS).unwrap();
        let stream = device.stream().unwrap();
        for (len, grid) in [(1, 1), (127, 3), (128, 1), (1000, 7), (100_003, 64), (256, 1000)] {
            let input = device.upload(&(0..len as u32).collect::<Vec<_>>()).unwrap();
            let mut filled = device.filled_with_byte::<u32>(len, 0xA5).unwrap();
            let mut out = device.filled_with_byte::<u32>(len, 0xA5).unwrap();
            launch(&stream, grid, &FILL, [Bound::output(&mut filled), Bound::scalar(9_u32)]).unwrap();
            let arguments = [Bound::input(&input), Bound::output(&mut out), Bound::scalar(0_u64)];
            launch(&stream, grid, &INCREMENT, arguments).unwrap();
            assert_eq!(filled.download().unwrap(), vec![9; len]);
            assert_eq!(out.download().unwrap(), (1..=len as u32).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_launch_that_does_not_fit_its_kernel_says_what_to_pass() {
    let (device, other) = (cpu(), cpu());
    let stream = device.stream().unwrap();
    let mut out = device.zeroed::<u32>(4).unwrap();
    let mut floats = device.zeroed::<f32>(4).unwrap();
    let mut foreign = other.zeroed::<u32>(4).unwrap();
    let refused = |grid, instance: &Instance, arguments: Vec<Bound>, words: &[&str]| {
        let text = launch(&stream, grid, instance, arguments).unwrap_err().to_string();
        for word in words {
            assert!(text.contains(word), "`{text}` lacks `{word}`");
        }
    };
    let value = || Bound::scalar(1_u32);
    refused(0, &FILL, vec![Bound::output(&mut out), value()], &["0 blocks", "2147483647"]);
    refused(1 << 31, &FILL, vec![Bound::output(&mut out), value()], &["2147483648 blocks"]);
    refused(1, &FILL, vec![Bound::output(&mut out)], &["2 arguments, not 1", "out: an output view of u32"]);
    refused(1, &FILL, vec![Bound::input(&out), value()], &["`out`", "output view of u32", "input view", "&mut buffer"]);
    refused(1, &FILL, vec![Bound::output(&mut floats), value()], &["output view of f32", "Buffer<u32>"]);
    refused(
        1,
        &FILL,
        vec![Bound::output(&mut out), Bound::scalar(1_i32)],
        &["`value`", "value of type u32", "value of type i32"],
    );
    refused(1, &FILL, vec![Bound::output(&mut foreign), value()], &["buffer belongs to", "another call"]);
    let delay = || Bound::scalar(0_u64);
    let same = vec![Bound::input(&out), Bound::output(&mut out), delay()];
    refused(1, &INCREMENT, same, &["`input` and `out` use the same buffer"]);
    let large = described(Parts { shared_bytes: 300_000, ..LARGE_SHARED_PARTS });
    refused(1, &large, vec![Bound::output(&mut out)], &["300000 bytes", "232448", "fewer stages"]);
    let wide = described(Parts { threads: 2048, ..LARGE_SHARED_PARTS });
    refused(1, &wide, vec![Bound::output(&mut out)], &["2048 threads", "1024"]);
    assert_eq!(out.download().unwrap(), [0; 4], "a refused launch writes nothing");
}

#[test]
fn a_large_shared_memory_within_the_limit_is_granted() {
    let device = cpu();
    let mut out = device.zeroed::<u32>(1).unwrap();
    launch(&device.stream().unwrap(), 1, &LARGE_SHARED, [Bound::output(&mut out)]).unwrap();
    assert_eq!(out.download().unwrap(), [77]);
}

#[test]
fn sizes_that_make_no_buffer_are_errors() {
    let device = cpu();
    assert!(matches!(device.zeroed::<u32>(0), Err(Error::EmptyBuffer { .. })));
    assert!(matches!(device.upload::<f64>(&[]), Err(Error::EmptyBuffer { .. })));
    assert!(matches!(device.zeroed::<u32>(usize::MAX), Err(Error::SizeOverflow { .. })));
    let error = device.zeroed::<u32>(1 << 60).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { wanted: 0x4000_0000_0000_0000, .. }), "{error}");
    let mut three = device.zeroed::<u32>(3).unwrap();
    assert!(matches!(three.write(&[1, 2]), Err(Error::LengthMismatch { given: 2, len: 3 })));
    three.write(&[1, 2, 3]).unwrap();
    assert_eq!(three.download().unwrap(), [1, 2, 3]);
}

#[test]
fn the_lowest_panicking_block_is_reported_and_the_device_is_lost_until_opened_anew() {
    for _ in 0..20 {
        let device = cpu();
        let stream = device.stream().unwrap();
        let mut out = device.zeroed::<u32>(1).unwrap();
        let error = launch(&stream, 1000, &PANIC, [Bound::output(&mut out)]).unwrap_err();
        let Error::KernelPanicked { message, file, line, block, .. } = &error else { panic!("{error}") };
        assert_eq!((message.as_str(), *block), ("value 42", 1));
        assert!(file.ends_with("common/mod.rs") && *line > 0, "{file}:{line}");

        assert!(device.is_lost());
        let lost = |text: String| assert!(text.contains("Device::open") && text.contains("value 42"), "{text}");
        lost(launch(&stream, 1, &PANIC, [Bound::output(&mut out)]).unwrap_err().to_string());
        lost(device.zeroed::<u32>(1).unwrap_err().to_string());
        lost(out.download().unwrap_err().to_string());
        lost(out.write(&[1]).unwrap_err().to_string());
        lost(stream.synchronize().unwrap_err().to_string());
        lost(device.load(&KERNELS).unwrap_err().to_string());
        assert!(cpu().zeroed::<u32>(1).is_ok());
    }
}

#[test]
fn an_argument_outlives_its_buffer() {
    let device = cpu();
    let stream = device.stream().unwrap();
    let mut out = device.zeroed::<u32>(1000).unwrap();
    let bound = Bound::output(&mut out);
    drop(out);
    launch(&stream, 8, &FILL, [bound, Bound::scalar(1_u32)]).unwrap();
    mem::forget(device.zeroed::<u32>(1));
}

#[test]
fn launches_from_many_threads_on_the_same_buffers_take_turns() {
    let device = cpu();
    let mut first = device.zeroed::<u32>(10_000).unwrap();
    let mut second = device.zeroed::<u32>(10_000).unwrap();
    let (there, back) = (
        [Bound::input(&first), Bound::output(&mut second), Bound::scalar(0_u64)],
        [Bound::input(&second), Bound::output(&mut first), Bound::scalar(0_u64)],
    );
    thread::scope(|scope| {
        for round in 0..8 {
            let (device, arguments) = (&device, if round % 2 == 0 { &there } else { &back });
            scope.spawn(move || {
                let stream = device.stream().unwrap();
                for _ in 0..20 {
                    launch(&stream, 16, &INCREMENT, arguments.clone()).unwrap();
                }
            });
        }
    });
    // Whatever the order of the launches, each was whole: all elements of a buffer are equal.
    for data in [first.download().unwrap(), second.download().unwrap()] {
        assert!(data.iter().all(|element| *element == data[0]));
    }
}

#[test]
fn typed_arguments_are_what_the_views_want() {
    fn typed<'a>(
        tiles: impl Argument<Tiles<'static, u32, 128>> + 'a,
        halos: impl Argument<Halos<'static, u32, 128, 16>> + 'a,
        out: impl Argument<TilesMut<'static, u32, 128>> + 'a,
        value: impl Argument<u64> + 'a,
    ) -> [Bound<'a>; 4] {
        [tiles.bind(), halos.bind(), out.bind(), value.bind()]
    }
    let device = cpu();
    let input = device.upload(&[1_u32, 2, 3]).unwrap();
    let mut out = device.zeroed::<u32>(3).unwrap();
    let [tiles, _, written, delay] = typed(&input, &input, &mut out, 0_u64);
    launch(&device.stream().unwrap(), 1, &INCREMENT, [tiles, written, delay]).unwrap();
    assert_eq!(out.download().unwrap(), [2, 3, 4]);
}

#[test]
fn everything_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<(Device, Stream, Event, Buffer<u32>, Bound<'_>, Module, Error)>();
}

#[test]
fn events_and_properties_make_sense() {
    let device = cpu();
    assert_eq!((device.kind(), device.compute_capability()), (DeviceKind::Cpu, None));
    assert_eq!((device.shared_memory_limit(), device.threads_limit()), (227 * 1024, 1024));
    assert!(device.name().contains("CPU") && device.name().contains("lazy"));
    let stream = device.stream().unwrap();
    let (start, end) = (stream.record().unwrap(), stream.record().unwrap());
    end.synchronize().unwrap();
    assert!(end.elapsed_ms_since(&start).unwrap() >= 0.0);
    let foreign = cpu().stream().unwrap().record().unwrap();
    assert!(matches!(end.elapsed_ms_since(&foreign), Err(Error::WrongDevice { .. })));
}

#[test]
fn without_a_gpu_the_cpu_is_opened_and_a_gpu_by_number_is_an_error() {
    match Device::gpu(0) {
        Ok(_) => assert_eq!(Device::open().unwrap().kind(), DeviceKind::Gpu),
        Err(Error::NoDriver | Error::NoSuchGpu { .. }) => {
            assert_eq!(Device::open().unwrap().kind(), DeviceKind::Cpu)
        }
        Err(error) => assert!(Device::open().is_err(), "{error}"),
    }
    assert!(Device::gpu(4096).is_err());
}
