//! A driver that does nothing and says what it was asked for: for tests of which calls a launch
//! makes, and in which order.
//!
//! Each thread has a log of its own. Device memory is the host's, so that addresses are real ones.

use std::alloc::{self, Layout};
use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::{mem, ptr};

use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUlaunchAttributeID, CUlaunchConfig,
    CUmodule, CUstream,
};

use super::Status;

/// A call that orders work, or does work; handles are numbers that no two things share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Work was put into a stream: a launch, a fill or a copy.
    Work { stream: usize },
    /// An event was recorded at the end of a stream.
    Record { event: usize, stream: usize },
    /// What follows in a stream waits for an event.
    HoldBack { stream: usize, event: usize },
    /// The host waited for an event.
    WaitForEvent { event: usize },
    /// The host waited for a stream.
    WaitForStream { stream: usize },
    /// The host waited for everything.
    WaitForAll,
    /// Memory was freed.
    Free { address: u64 },
    /// A stream was given back.
    DestroyStream { stream: usize },
}

/// The log has room for so many entries when it was read: noting them takes no memory then.
const ROOM: usize = 1000;

/// The value of every attribute of the GPU, but of those that were set.
const MOST: c_int = 1024;

thread_local! {
    static CALLS: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
    static HANDLES: Cell<usize> = const { Cell::new(0x1000) };
    static FAILING: Cell<Option<(&'static str, c_int)>> = const { Cell::new(None) };
    static CAPTURED: Cell<usize> = const { Cell::new(0) };
    static CURRENT: Cell<CUcontext> = const { Cell::new(ptr::null_mut()) };
    static MODE: Cell<c_int> = const { Cell::new(0) };
    static CAPABILITY: Cell<[c_int; 2]> = const { Cell::new([MOST; 2]) };
    static VERSION: Cell<c_int> = const { Cell::new(super::LEAST_DRIVER) };
}

/// Returns the driver's calls since this was asked last, and forgets them.
pub(crate) fn calls() -> Vec<&'static str> {
    CALLS.with_borrow_mut(|calls| mem::replace(calls, Vec::with_capacity(ROOM)))
}

/// Returns the steps since this was asked last, and forgets them.
pub(crate) fn steps() -> Vec<Step> {
    STEPS.with_borrow_mut(|steps| mem::replace(steps, Vec::with_capacity(ROOM)))
}

/// Makes every call of `name` fail with this code, until the next call of this function.
pub(crate) fn fail(failing: Option<(&'static str, Status)>) {
    FAILING.set(failing.map(|(name, status)| (name, status.0)));
}

/// Gives the GPU a compute capability; it has every architecture's without.
pub(crate) fn set_capability(major: c_int, minor: c_int) {
    CAPABILITY.set([major, minor]);
}

/// Gives the driver an API version; it has the least one without.
pub(crate) fn set_version(version: c_int) {
    VERSION.set(version);
}

/// Makes a stream one that is being captured, in place of the one before; none has the number 0.
pub(crate) fn capture(stream: usize) {
    CAPTURED.set(stream);
}

fn attribute(attribute: c_int) -> c_int {
    let [major, minor] = CAPABILITY.get();
    match attribute {
        _ if attribute == CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as c_int => major,
        _ if attribute == CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as c_int => minor,
        _ => MOST,
    }
}

/// Sets the thread's mode for captures to that at the place; returns the one before.
fn exchange(place: *mut c_int) -> c_int {
    // SAFETY: the callers of the driver pass places that are there (`Driver`, each call).
    MODE.replace(unsafe { place.read() })
}

/// The thread's mode for captures.
pub(crate) fn capture_mode() -> c_int {
    MODE.get()
}

fn note(name: &'static str) -> c_int {
    CALLS.with_borrow_mut(|calls| calls.push(name));
    FAILING.get().filter(|(failing, _)| *failing == name).map_or(0, |(_, code)| code)
}

fn step(step: Step) {
    STEPS.with_borrow_mut(|steps| steps.push(step));
}

fn handle<T>() -> *mut T {
    HANDLES.set(HANDLES.get() + 1);
    ptr::without_provenance_mut(HANDLES.get())
}

/// Where the driver writes a result.
fn write<T>(place: *mut T, value: T) {
    // SAFETY: the callers of the driver pass places that are there (`Driver`, each call).
    unsafe { place.write(value) };
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(1).next_multiple_of(256), 256).ok()
}

/// Defines a driver's call, each with what it does where it does not fail.
macro_rules! fakes {
    ($($call:ident($($argument:ident: $type:ty),*) $body:block)*) => {$(
        pub(super) extern "C" fn $call($($argument: $type),*) -> c_int {
            $(let _ = $argument;)*
            let code = note(stringify!($call));
            if code == 0 { $body }
            code
        }
    )*};
}

fakes! {
    init(flags: c_uint) {}
    driver_version(version: *mut c_int) { write(version, VERSION.get()) }
    error_name(code: c_int, name: *mut *const c_char) { write(name, c"CUDA_ERROR_FAKE".as_ptr()) }
    error_string(code: c_int, text: *mut *const c_char) { write(text, c"an error of the fake driver".as_ptr()) }
    device_count(count: *mut c_int) { write(count, 1) }
    device_get(device: *mut CUdevice, ordinal: c_int) { write(device, ordinal) }
    device_name(name: *mut c_char, length: c_int, device: CUdevice) {}
    device_attribute(value: *mut c_int, attribute: c_int, device: CUdevice) {
        write(value, self::attribute(attribute));
    }
    device_total_memory(bytes: *mut usize, device: CUdevice) { write(bytes, 1 << 30) }
    context_create(context: *mut CUcontext, flags: c_uint, device: CUdevice) {
        CURRENT.set(handle());
        write(context, CURRENT.get());
    }
    context_destroy(context: CUcontext) {}
    primary_retain(context: *mut CUcontext, device: CUdevice) { write(context, handle()) }
    primary_release(device: CUdevice) {}
    context_get_current(context: *mut CUcontext) { write(context, CURRENT.get()) }
    context_get_device(device: *mut CUdevice) { write(device, 0) }
    context_set_current(context: CUcontext) { CURRENT.set(context) }
    context_synchronize() { step(Step::WaitForAll) }
    module_load(module: *mut CUmodule, image: *const c_void, options: c_uint, names: *mut c_int,
        values: *mut *mut c_void) { write(module, handle()) }
    module_unload(module: CUmodule) {}
    module_function(function: *mut CUfunction, module: CUmodule, name: *const c_char) { write(function, handle()) }
    module_global(address: *mut CUdeviceptr, bytes: *mut usize, module: CUmodule, name: *const c_char) {
        write(address, 0);
        write(bytes, 0);
    }
    function_attribute(value: *mut c_int, attribute: c_int, function: CUfunction) { write(value, 512) }
    function_set_attribute(function: CUfunction, attribute: c_int, value: c_int) {}
    occupancy(blocks: *mut c_int, function: CUfunction, threads: c_int, dynamic_shared: usize) { write(blocks, 2) }
    tensor_map_encode(map: *mut c_void, data_type: c_int, dimensions: c_uint, address: *mut c_void, extents: *const u64,
        pitches: *const u64, extents_of_box: *const u32, element_strides: *const u32, interleave: c_int, swizzle: c_int,
        promotion: c_int, fill: c_int) {}
    memory_allocate(address: *mut CUdeviceptr, bytes: usize) { write(address, handle::<u8>().addr() as u64 * 256) }
    memory_free(address: CUdeviceptr) { step(Step::Free { address }) }
    memory_info(free: *mut usize, total: *mut usize) { write(free, 1); write(total, 1) }
    copy_to_device(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream) {
        step(Step::Work { stream: stream.addr() })
    }
    copy_to_host(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream) {
        step(Step::Work { stream: stream.addr() })
    }
    fill(to: CUdeviceptr, byte: u8, bytes: usize, stream: CUstream) { step(Step::Work { stream: stream.addr() }) }
    host_allocate(memory: *mut *mut c_void, bytes: usize, flags: c_uint) {
        let layout = layout(bytes).expect("a size that fits");
        // SAFETY: at least one byte (`layout`).
        write(memory, unsafe { alloc::alloc_zeroed(layout) }.cast());
    }
    host_free(memory: *mut c_void) {}
    host_device_address(address: *mut CUdeviceptr, memory: *mut c_void, flags: c_uint) { write(address, memory.addr() as u64) }
    stream_create(stream: *mut CUstream, flags: c_uint) { write(stream, handle()) }
    stream_destroy(stream: CUstream) { step(Step::DestroyStream { stream: stream.addr() }) }
    stream_synchronize(stream: CUstream) { step(Step::WaitForStream { stream: stream.addr() }) }
    stream_is_capturing(stream: CUstream, status: *mut c_int) {
        write(status, c_int::from(CAPTURED.get() == stream.addr()));
    }
    exchange_capture_mode(mode: *mut c_int) { write(mode, self::exchange(mode)) }
    stream_wait_event(stream: CUstream, event: CUevent, flags: c_uint) {
        step(Step::HoldBack { stream: stream.addr(), event: event.addr() })
    }
    event_create(event: *mut CUevent, flags: c_uint) { write(event, handle()) }
    event_destroy(event: CUevent) {}
    event_record(event: CUevent, stream: CUstream) {
        step(Step::Record { event: event.addr(), stream: stream.addr() })
    }
    event_query(event: CUevent) {}
    event_synchronize(event: CUevent) { step(Step::WaitForEvent { event: event.addr() }) }
    event_elapsed(milliseconds: *mut f32, start: CUevent, end: CUevent) { write(milliseconds, 0.0) }
    launch_kernel(function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint,
        block_y: c_uint, block_z: c_uint, shared_bytes: c_uint, stream: CUstream, parameters: *mut *mut c_void,
        extra: *mut *mut c_void) { step(Step::Work { stream: stream.addr() }) }
    launch_kernel_with(launch: *const CUlaunchConfig, function: CUfunction, parameters: *mut *mut c_void,
        extra: *mut *mut c_void) {
        // SAFETY: the callers of the driver pass places that are there (`Driver`, each call).
        let launch = unsafe { launch.read() };
        assert_eq!(launch.numAttrs, 1);
        // SAFETY: as above.
        let attribute = unsafe { launch.attrs.read() };
        // SAFETY: the attribute of this number has this value.
        let is_allowed = unsafe { attribute.value.programmaticStreamSerializationAllowed };
        let dependent = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        assert_eq!((attribute.id, is_allowed), (dependent, 1));
        step(Step::Work { stream: launch.hStream.addr() });
    }
}
