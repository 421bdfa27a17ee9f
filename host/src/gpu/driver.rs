//! The CUDA driver: its library, loaded at run time, and one function a call.
//!
//! The calls go through pointers that are looked up here once, with plain integers as their
//! results: a driver newer than the bindings may return an error code that the bindings' `enum`
//! does not have, and a driver older than them may lack a symbol. Neither is a panic or undefined
//! behaviour this way.

#[cfg(test)]
pub(crate) mod fake;

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use cudarc::driver::sys::{CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUlaunchConfig, CUmodule, CUstream};
use libloading::Library;

use crate::error::Error;

/// The least driver API version that is accepted, as `1000 * major + 10 * minor`: CUDA 12.0.
pub(crate) const LEAST_DRIVER: i32 = 12_000;
/// The least one that puts dependent launches into graphs as well: CUDA 12.3.
const DEPENDENT_LAUNCHES: i32 = 12_030;

/// What a driver call returned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status(pub(crate) c_int);

impl Status {
    pub(crate) const SUCCESS: Status = Status(0);
    pub(crate) const OUT_OF_MEMORY: Status = Status(2);
    /// The library is the toolkit's stub for linking, not a driver.
    pub(crate) const STUB_LIBRARY: Status = Status(34);
    pub(crate) const NO_DEVICE: Status = Status(100);
    pub(crate) const INVALID_CONTEXT: Status = Status(201);
    pub(crate) const UNSUPPORTED_PTX_VERSION: Status = Status(222);
    pub(crate) const NOT_FOUND: Status = Status(500);
    /// The legacy default stream would join the capture of a stream that it waits for.
    pub(crate) const STREAM_CAPTURE_IMPLICIT: Status = Status(906);

    /// Says whether the context is of no use after this error: uncorrectable memory, a kernel that
    /// trapped, timed out or touched a wrong address, or an error that the driver cannot name.
    pub(crate) fn is_sticky(self) -> bool {
        matches!(self.0, 214 | 220 | 226 | 700 | 702 | 709 | 710 | 714..=719 | 721 | 999)
    }
}

macro_rules! driver_calls {
    ($($(#[$doc:meta])* $call:ident = $symbol:literal($($argument:ident: $type:ty),*);)*) => {
        /// The driver's entry points.
        pub(crate) struct Driver {
            $($call: unsafe extern "C" fn($($type),*) -> c_int,)*
        }

        impl Driver {
            /// Looks every entry point up.
            fn look_up(library: &ManuallyDrop<Library>) -> Result<Driver, Error> {
                Ok(Driver {
                    $($call: {
                        // SAFETY: the type is the one that the CUDA driver API documents for this
                        // symbol; the library is never unloaded, so the copied pointer stays valid.
                        let found = unsafe { library.get::<unsafe extern "C" fn($($type),*) -> c_int>($symbol) };
                        *found.map_err(|_| Error::DriverTooOld { found: format!("one without {}", $symbol) })?
                    },)*
                })
            }

            /// The driver of this crate's own tests.
            #[cfg(test)]
            pub(crate) const FAKE: Driver = Driver { $($call: fake::$call,)* };

            $(
                $(#[$doc])*
                ///
                /// # Safety
                ///
                /// Pointers are valid for what the driver API reads and writes through them, and
                /// handles are alive.
                #[allow(clippy::too_many_arguments, reason = "as many as the driver's call has")]
                pub(crate) unsafe fn $call(&self, $($argument: $type),*) -> Status {
                    // SAFETY: passed on to the caller.
                    Status(unsafe { (self.$call)($($argument),*) })
                }
            )*
        }
    };
}

driver_calls! {
    /// Initialises the driver.
    init = "cuInit"(flags: c_uint);
    /// Writes the driver's API version, 1000 * major + 10 * minor.
    driver_version = "cuDriverGetVersion"(version: *mut c_int);
    /// Writes the name of an error code, a static string.
    error_name = "cuGetErrorName"(code: c_int, name: *mut *const c_char);
    /// Writes the description of an error code, a static string.
    error_string = "cuGetErrorString"(code: c_int, text: *mut *const c_char);
    /// Writes the number of GPUs.
    device_count = "cuDeviceGetCount"(count: *mut c_int);
    /// Writes the handle of the GPU of that ordinal.
    device_get = "cuDeviceGet"(device: *mut CUdevice, ordinal: c_int);
    /// Writes a GPU's name, cut to `length` bytes with the final zero.
    device_name = "cuDeviceGetName"(name: *mut c_char, length: c_int, device: CUdevice);
    /// Writes one of a GPU's attributes.
    device_attribute = "cuDeviceGetAttribute"(value: *mut c_int, attribute: c_int, device: CUdevice);
    /// Writes a GPU's memory in bytes.
    device_total_memory = "cuDeviceTotalMem_v2"(bytes: *mut usize, device: CUdevice);
    /// Creates a context and makes it the calling thread's.
    context_create = "cuCtxCreate_v2"(context: *mut CUcontext, flags: c_uint, device: CUdevice);
    /// Destroys a context with everything in it.
    context_destroy = "cuCtxDestroy_v2"(context: CUcontext);
    /// Makes a GPU's primary context, or takes one more hold of the one that there is.
    primary_retain = "cuDevicePrimaryCtxRetain"(context: *mut CUcontext, device: CUdevice);
    /// Gives one hold of a GPU's primary context back.
    primary_release = "cuDevicePrimaryCtxRelease_v2"(device: CUdevice);
    /// Writes the calling thread's context, null if it has none.
    context_get_current = "cuCtxGetCurrent"(context: *mut CUcontext);
    /// Writes the GPU of the calling thread's context.
    context_get_device = "cuCtxGetDevice"(device: *mut CUdevice);
    /// Makes a context the calling thread's.
    context_set_current = "cuCtxSetCurrent"(context: CUcontext);
    /// Waits for all work of the calling thread's context.
    context_synchronize = "cuCtxSynchronize"();
    /// Loads a cubin, or compiles PTX, with options.
    module_load = "cuModuleLoadDataEx"(module: *mut CUmodule, image: *const c_void, options: c_uint,
        names: *mut c_int, values: *mut *mut c_void);
    /// Unloads a module, none of whose kernels runs.
    module_unload = "cuModuleUnload"(module: CUmodule);
    /// Finds an entry of a module by name.
    module_function = "cuModuleGetFunction"(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    /// Finds a global of a module by name.
    module_global = "cuModuleGetGlobal_v2"(address: *mut CUdeviceptr, bytes: *mut usize, module: CUmodule,
        name: *const c_char);
    /// Writes one of a function's attributes.
    function_attribute = "cuFuncGetAttribute"(value: *mut c_int, attribute: c_int, function: CUfunction);
    /// Sets one of a function's attributes.
    function_set_attribute = "cuFuncSetAttribute"(function: CUfunction, attribute: c_int, value: c_int);
    /// Writes how many blocks of a function fit on a multiprocessor at once.
    occupancy = "cuOccupancyMaxActiveBlocksPerMultiprocessor"(blocks: *mut c_int, function: CUfunction, threads: c_int,
        dynamic_shared: usize);
    /// Encodes the map by which the copy engine finds boxes of an array: 128 bytes, aligned to 64.
    tensor_map_encode = "cuTensorMapEncodeTiled"(map: *mut c_void, data_type: c_int, dimensions: c_uint,
        address: *mut c_void, extents: *const u64, pitches: *const u64, extents_of_box: *const u32,
        element_strides: *const u32, interleave: c_int, swizzle: c_int, promotion: c_int, fill: c_int);
    /// Allocates device memory, aligned to at least 256 bytes.
    memory_allocate = "cuMemAlloc_v2"(address: *mut CUdeviceptr, bytes: usize);
    /// Frees device memory.
    memory_free = "cuMemFree_v2"(address: CUdeviceptr);
    /// Writes the context's free and total device memory in bytes.
    memory_info = "cuMemGetInfo_v2"(free: *mut usize, total: *mut usize);
    /// Copies host memory to device memory in the stream's order.
    copy_to_device = "cuMemcpyHtoDAsync_v2"(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream);
    /// Copies device memory to host memory in the stream's order.
    copy_to_host = "cuMemcpyDtoHAsync_v2"(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream);
    /// Fills device memory with a byte in the stream's order.
    fill = "cuMemsetD8Async"(to: CUdeviceptr, byte: u8, bytes: usize, stream: CUstream);
    /// Allocates page-locked host memory.
    host_allocate = "cuMemHostAlloc"(memory: *mut *mut c_void, bytes: usize, flags: c_uint);
    /// Frees page-locked host memory.
    host_free = "cuMemFreeHost"(memory: *mut c_void);
    /// Writes the device address of mapped page-locked host memory.
    host_device_address = "cuMemHostGetDevicePointer_v2"(address: *mut CUdeviceptr, memory: *mut c_void,
        flags: c_uint);
    /// Creates a stream.
    stream_create = "cuStreamCreate"(stream: *mut CUstream, flags: c_uint);
    /// Gives a stream back once its work is done; returns at once.
    stream_destroy = "cuStreamDestroy_v2"(stream: CUstream);
    /// Waits for a stream's work.
    stream_synchronize = "cuStreamSynchronize"(stream: CUstream);
    /// Writes whether a stream's work goes into a graph: 0 if it runs.
    stream_is_capturing = "cuStreamIsCapturing"(stream: CUstream, status: *mut c_int);
    /// Gives the calling thread another mode for captures, and writes the one that it had.
    exchange_capture_mode = "cuThreadExchangeStreamCaptureMode"(mode: *mut c_int);
    /// Makes what follows in a stream wait for an event.
    stream_wait_event = "cuStreamWaitEvent"(stream: CUstream, event: CUevent, flags: c_uint);
    /// Creates an event.
    event_create = "cuEventCreate"(event: *mut CUevent, flags: c_uint);
    /// Gives an event back; returns at once.
    event_destroy = "cuEventDestroy_v2"(event: CUevent);
    /// Records an event at a stream's current end.
    event_record = "cuEventRecord"(event: CUevent, stream: CUstream);
    /// Says whether an event has been reached.
    event_query = "cuEventQuery"(event: CUevent);
    /// Waits for an event.
    event_synchronize = "cuEventSynchronize"(event: CUevent);
    /// Writes the milliseconds between two events.
    event_elapsed = "cuEventElapsedTime"(milliseconds: *mut f32, start: CUevent, end: CUevent);
    /// Launches a kernel.
    launch_kernel = "cuLaunchKernel"(function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
        block_x: c_uint, block_y: c_uint, block_z: c_uint, shared_bytes: c_uint, stream: CUstream,
        parameters: *mut *mut c_void, extra: *mut *mut c_void);
    /// Launches a kernel with attributes.
    launch_kernel_with = "cuLaunchKernelEx"(launch: *const CUlaunchConfig, function: CUfunction,
        parameters: *mut *mut c_void, extra: *mut *mut c_void);
}

impl Driver {
    /// Returns the driver, loaded and initialised on the first call.
    ///
    /// # Errors
    ///
    /// [`Error::NoDriver`], [`Error::DriverTooOld`], [`Error::NoSuchGpu`] where the driver finds no
    /// GPU at all.
    pub(crate) fn get() -> Result<&'static Driver, Error> {
        static DRIVER: OnceLock<Driver> = OnceLock::new();
        static STARTING: Mutex<()> = Mutex::new(());
        if let Some(driver) = DRIVER.get() {
            return Ok(driver);
        }
        // One thread loads and initialises the driver, and the others wait for it.
        let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = DRIVER.get() {
            return Ok(driver);
        }
        let driver = Driver::look_up(&library().ok_or(Error::NoDriver)?)?;
        let mut version = 0;
        // SAFETY: writes one integer, which is there.
        if unsafe { driver.driver_version(&mut version) } == Status::STUB_LIBRARY {
            return Err(Error::NoDriver);
        }
        if version < LEAST_DRIVER {
            return Err(Error::DriverTooOld { found: version_text(version) });
        }
        // SAFETY: no pointers.
        match unsafe { driver.init(0) } {
            Status::SUCCESS => Ok(DRIVER.get_or_init(|| driver)),
            Status::NO_DEVICE => Err(Error::NoSuchGpu { ordinal: 0, count: 0 }),
            status => Err(driver.error("start the driver (cuInit)", status)),
        }
    }

    /// Finds the GPU of an ordinal.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchGpu`].
    pub(crate) fn find(&self, ordinal: u32) -> Result<CUdevice, Error> {
        let mut count = 0;
        // SAFETY: writes one integer, which is there.
        let status = unsafe { self.device_count(&mut count) };
        if status != Status::SUCCESS {
            return Err(self.error("count the GPUs", status));
        }
        let count = u32::try_from(count).unwrap_or(0);
        if ordinal >= count {
            return Err(Error::NoSuchGpu { ordinal, count });
        }
        let mut device: CUdevice = 0;
        // SAFETY: writes one handle, which is there; the ordinal was checked, so the cast keeps it.
        match unsafe { self.device_get(&mut device, ordinal as c_int) } {
            Status::SUCCESS => Ok(device),
            status => Err(self.error("find the GPU", status)),
        }
    }

    /// Returns the driver's API version as text, such as `13.0`.
    pub(crate) fn version(&self) -> String {
        version_text(self.version_number())
    }

    /// Says whether a kernel may be launched as dependent on the one before it in its stream.
    pub(crate) fn has_dependent_launches(&self) -> bool {
        self.version_number() >= DEPENDENT_LAUNCHES
    }

    /// The driver's API version, 0 if it does not say.
    fn version_number(&self) -> c_int {
        let mut version = 0;
        // SAFETY: writes one integer, which is there.
        let _ = unsafe { self.driver_version(&mut version) };
        version
    }

    /// Makes a failed status the error that says what was attempted.
    pub(crate) fn error(&self, doing: &'static str, status: Status) -> Error {
        Error::Driver { doing, code: status.0, text: self.text(status) }
    }

    /// Returns an error code's name and description.
    pub(crate) fn text(&self, status: Status) -> String {
        let mut name = ptr::null();
        // SAFETY: writes one pointer, which is there.
        let _ = unsafe { self.error_name(status.0, &mut name) };
        let mut text = ptr::null();
        // SAFETY: writes one pointer, which is there.
        let _ = unsafe { self.error_string(status.0, &mut text) };
        format!("{}: {}", static_text(name), static_text(text))
    }
}

/// Loads the driver's library, if there is one, for as long as the process runs: its destructors
/// would run, and its code go, while other threads start.
fn library() -> Option<ManuallyDrop<Library>> {
    let names = ["cuda", "nvcuda"].into_iter().flat_map(cudarc::get_lib_name_candidates);
    // SAFETY: the library's initialisers are NVIDIA's.
    let mut loaded = names.filter_map(|name| unsafe { Library::new(name) }.ok());
    loaded.next().map(ManuallyDrop::new)
}

/// Reads a static string of the driver's, or says that the driver knows none.
fn static_text(text: *const c_char) -> String {
    if text.is_null() {
        return "unknown to this driver".to_owned();
    }
    // SAFETY: not null, so the driver wrote the address of one of its static, zero-terminated
    // strings.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Renders `1000 * major + 10 * minor`.
fn version_text(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_read_as_people_write_them() {
        assert_eq!(version_text(13_000), "13.0");
        assert_eq!(version_text(12_080), "12.8");
    }

    #[test]
    fn only_errors_that_kill_the_context_are_sticky() {
        assert!([700, 710, 715, 716, 719].into_iter().all(|code| Status(code).is_sticky()));
        assert!([0, 1, 2, 222, 500, 600, 701].into_iter().all(|code| !Status(code).is_sticky()));
    }
}
