//! What launches in streams of CUDA's runtime ask of the driver, with and without a capture.

use std::ptr;

use tilepipe::cpu::Schedule;
use tilepipe::{Tiles, TilesMut};

use super::*;
use crate::argument::{Argument, Bound, ForeignSlice, ForeignSliceMut};
use crate::gpu::driver::Status;
use crate::gpu::driver::fake::{self, Step};
use crate::gpu::queue::PER_THREAD;
use crate::launch::launch;
use crate::launch::tests::{MODULE, TWO_INPUTS};

/// A stream of somebody else's: a handle that the fake driver gives to nobody.
const OWN: usize = 0x11;

fn primary() -> Device {
    let context = Context::primary(&Driver::FAKE, 0).unwrap();
    let device = Device { backend: Backend::Gpu(Arc::new(context)) };
    device.load(&MODULE).unwrap();
    device
}

fn borrowed(device: &Device) -> Stream {
    // SAFETY: the fake driver's streams are numbers, and it runs nothing.
    unsafe { device.stream_from_raw(ptr::without_provenance_mut(OWN)) }.unwrap()
}

/// A launch over memory of somebody else's.
fn start(stream: &Stream) -> Result<(), Error> {
    let device = stream.device();
    // SAFETY: the fake driver runs nothing.
    let [left, right] = [4096, 8192].map(|address| unsafe { ForeignSlice::<i32>::new(device, address, 100) }.unwrap());
    // SAFETY: as above.
    let mut out = unsafe { ForeignSliceMut::<i32>::new(device, 16384, 100) }.unwrap();
    let [left, right] = [&left, &right].map(Argument::<Tiles<'_, i32, 128>>::bind);
    launch(stream, 1, &TWO_INPUTS, [left, right, Argument::<TilesMut<'_, i32, 128>>::bind(&mut out)])
}

#[test]
fn a_launch_that_is_not_the_first_is_captured_by_one_call_of_the_driver() {
    let device = primary();
    let stream = borrowed(&device);
    start(&stream).unwrap();
    fake::capture(OWN);
    drop((fake::calls(), fake::steps()));
    let captured = start(&stream);
    fake::capture(0);
    captured.unwrap();
    assert_eq!(fake::calls(), ["context_get_current", "launch_kernel"]);
    assert_eq!(fake::steps(), [Step::Work { stream: OWN }]);
}

#[test]
fn the_first_launch_is_refused_in_a_capture_before_the_driver_is_asked() {
    let device = primary();
    let stream = borrowed(&device);
    drop(fake::calls());
    fake::capture(OWN);
    let error = start(&stream).unwrap_err();
    fake::capture(0);
    assert!(matches!(error, Error::CapturedFirst { .. }), "{error}");
    assert!(error.to_string().contains("launch it once before the capture begins"), "{error}");
    assert_eq!(fake::calls(), ["context_get_current", "stream_is_capturing"]);
    start(&stream).unwrap();
}

#[test]
fn a_launch_over_buffers_is_never_captured() {
    let device = primary();
    let stream = borrowed(&device);
    let buffers: [_; 2] = std::array::from_fn(|_| device.zeroed::<i32>(100).unwrap());
    let mut out = device.zeroed::<i32>(100).unwrap();
    let mut start = || {
        launch(&stream, 1, &TWO_INPUTS, [Bound::input(&buffers[0]), Bound::input(&buffers[1]), Bound::output(&mut out)])
    };
    start().unwrap();
    fake::capture(OWN);
    drop(fake::steps());
    let error = start().unwrap_err();
    fake::capture(0);
    assert!(matches!(error, Error::Captured), "{error}");
    assert_eq!(fake::steps(), []);
}

#[test]
fn what_a_capture_forbids_is_done_in_a_mode_that_allows_it() {
    const RELAXED: i32 = 2;
    drop(fake::calls());
    let device = primary();
    let stream = borrowed(&device);
    start(&stream).unwrap();
    let mut mode = 0;
    for call in fake::calls() {
        match call {
            "exchange_capture_mode" => mode = RELAXED - mode,
            "host_allocate" | "stream_create" | "module_load" | "module_function" | "function_set_attribute" => {
                assert_eq!(mode, RELAXED, "{call}");
            }
            _ => {}
        }
    }
    assert_eq!((mode, fake::capture_mode()), (0, 0), "the thread has its own mode again");
    // Also where nothing came of it.
    fake::fail(Some(("host_allocate", Status::OUT_OF_MEMORY)));
    let error = Context::primary(&Driver::FAKE, 0).map(drop).unwrap_err();
    fake::fail(None);
    assert!(matches!(error, Error::Driver { .. }), "{error}");
    assert_eq!(fake::capture_mode(), 0);
    assert_eq!(fake::calls().iter().filter(|call| **call == "primary_release").count(), 1);
}

#[test]
fn a_primary_context_is_never_given_back() {
    let device = primary();
    let stream = borrowed(&device);
    start(&stream).unwrap();
    drop((fake::calls(), fake::steps()));
    drop((stream, device));
    assert_eq!((fake::calls(), fake::steps()), (Vec::new(), Vec::new()));
}

#[test]
fn strange_streams_and_gpus_that_are_not_there_are_refused() {
    let device = primary();
    // SAFETY: nothing is launched.
    let per_thread = unsafe { device.stream_from_raw(ptr::without_provenance_mut(PER_THREAD)) };
    assert!(matches!(per_thread.map(drop), Err(Error::PerThreadStream)));
    // SAFETY: as above.
    let of_cpu = unsafe { Device::cpu(Schedule::Lazy).stream_from_raw(ptr::null_mut()) };
    assert!(matches!(of_cpu.map(drop), Err(Error::WrongDevice { .. })));
    // Nobody else has streams in a context of this crate's own.
    // SAFETY: as above.
    let of_own = unsafe { crate::launch::tests::device().stream_from_raw(ptr::null_mut()) };
    assert!(matches!(of_own.map(drop), Err(Error::WrongDevice { .. })));
    let missing = Context::primary(&Driver::FAKE, 1).map(drop);
    assert!(matches!(missing, Err(Error::NoSuchGpu { ordinal: 1, count: 1 })));
}
