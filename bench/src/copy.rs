//! The ceiling: the driver's own copy from device memory to device memory (`cudaMemcpy`).

use std::ffi::c_void;

use anyhow::{Context, Result, ensure};
use cudarc::driver::result::{self, event};
use cudarc::driver::sys::{CUdeviceptr, CUevent, CUevent_flags, CUstream};
use tilepipe_host::Device;

/// Copies before the timed ones.
const WARM_UP: usize = 3;

/// Copies `data` from one place of the GPU's memory to another, checks the copy, and returns each
/// repetition's milliseconds.
///
/// # Errors
///
/// Too little memory, or a driver call that failed.
pub fn time(device: &Device, data: &[u8], repetitions: usize) -> Result<Vec<f64>> {
    // Makes the device's context this thread's, which the calls below use.
    device.synchronize()?;
    let (source, target) = (Memory::filled(data)?, Memory::allocate(data.len())?);
    // SAFETY: the allocation has as many bytes as `data`.
    unsafe { result::memset_d8_sync(target.0, 0xA5, data.len()) }.context("cannot fill memory of the GPU")?;

    let stream = std::ptr::null_mut();
    let mut events = Vec::new();
    for number in 0..WARM_UP + repetitions {
        if number >= WARM_UP {
            events.push(record(stream)?);
        }
        // SAFETY: both allocations have as many bytes as `data`, are distinct, and live until the
        // stream is done: the events are waited for below, and a failed call ends the program.
        unsafe { result::memcpy_dtod_async(target.0, source.0, data.len(), stream) }
            .context("cannot copy within the GPU's memory")?;
    }
    events.push(record(stream)?);
    let times = milliseconds(events)?;

    let mut copied = vec![0; data.len()];
    // SAFETY: the allocation has as many bytes as `copied`.
    unsafe { result::memcpy_dtoh_sync(&mut copied, target.0) }.context("cannot copy from the GPU")?;
    ensure!(copied == data, "the driver's copy differs from its source; the GPU or its driver is faulty");
    Ok(times)
}

/// Starts the driver's copy of `len` numbers of 4 bytes, as the functions of `peers/ceilings.cu`
/// start theirs: without memory to work in it says that it wants none, and does nothing else.
///
/// Returns the driver's error, or 0.
///
/// # Safety
///
/// 0. `work` is null, and `bytes` may be written; or
/// 1. `from` and `to` are memory of the thread's context, of `len` numbers of 4 bytes each, which
///    do not overlap, stay until the work is done, and are used by nothing else meanwhile; and
///    `stream` is a stream of that context, or null for its default one.
pub unsafe extern "C" fn start(
    work: *mut c_void,
    bytes: *mut usize,
    from: u64,
    _: u64,
    to: u64,
    len: usize,
    stream: CUstream,
) -> i32 {
    if work.is_null() {
        // SAFETY: (0).
        unsafe { bytes.write(0) };
        return 0;
    }
    // SAFETY: (1).
    match unsafe { result::memcpy_dtod_async(to, from, 4 * len, stream) } {
        Ok(()) => 0,
        Err(error) => error.0 as i32,
    }
}

/// Waits for events of [`record`] and returns the time between any two neighbours.
pub fn milliseconds(events: Vec<CUevent>) -> Result<Vec<f64>> {
    let mut times = Vec::with_capacity(events.len());
    for pair in events.windows(2) {
        // SAFETY: the event was made by `record` and is alive.
        unsafe { event::synchronize(pair[1]) }.context("cannot wait for the GPU")?;
        // SAFETY: both were made by `record` with times, are alive and have been reached.
        times.push(f64::from(unsafe { event::elapsed(pair[0], pair[1]) }.context("cannot take a time")?));
    }
    for recorded in events {
        // SAFETY: the event is alive, and this is its last use.
        unsafe { event::destroy(recorded) }.context("cannot give an event back")?;
    }
    Ok(times)
}

/// Records an event with its time in a stream of the calling thread's context.
pub fn record(stream: CUstream) -> Result<CUevent> {
    let recorded = event::create(CUevent_flags::CU_EVENT_DEFAULT).context("cannot make an event")?;
    // SAFETY: the event is new, and the stream is the default one of the same context or another
    // one of it.
    unsafe { event::record(recorded, stream) }.context("cannot record an event")?;
    Ok(recorded)
}

/// Device memory of the current context, freed when dropped.
pub struct Memory(CUdeviceptr);

impl Memory {
    /// Allocates memory that holds `data`.
    pub fn filled(data: &[u8]) -> Result<Memory> {
        let memory = Memory::allocate(data.len())?;
        // SAFETY: the allocation has as many bytes as `data`.
        unsafe { result::memcpy_htod_sync(memory.0, data) }.context("cannot copy to the GPU")?;
        Ok(memory)
    }

    /// Returns its address.
    pub fn address(&self) -> CUdeviceptr {
        self.0
    }

    /// Allocates memory that nobody reads before it is written.
    pub fn allocate(bytes: usize) -> Result<Memory> {
        // SAFETY: nothing reads the memory before it is written.
        let address = unsafe { result::malloc_sync(bytes) };
        Ok(Memory(address.with_context(|| format!("cannot allocate {bytes} bytes on the GPU; use fewer elements"))?))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated by `allocate`, and this is its last use; freeing waits for the work on
        // the device.
        let _ = unsafe { result::free_sync(self.0) };
    }
}
