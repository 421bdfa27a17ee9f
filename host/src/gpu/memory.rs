//! Device memory, and the order of what uses it.
//!
//! Whatever reads or writes an allocation goes through [`submit`]: it makes the stream wait for the
//! uses that conflict, and leaves an event behind. So two streams never touch a buffer in conflict,
//! and memory is freed only when its last event has been reached, whoever forgot or dropped which
//! handle.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::CUdeviceptr;

use super::context::Context;
use super::driver::Status;
use super::queue::{GpuEvent, Lane};
use crate::access::Access;
use crate::error::Error;

/// Above this many recorded readers, those that are done are dropped from the list.
const MANY_READERS: usize = 8;

/// A use of an allocation that may still be under way.
#[derive(Clone)]
struct Use {
    event: Arc<GpuEvent>,
    stream: u64,
}

/// The uses that later work may have to wait for.
#[derive(Default)]
struct Uses {
    last_write: Option<Use>,
    /// Reads since that write, at most one a stream.
    reads: Vec<Use>,
}

impl Uses {
    /// Returns the uses that work with this access must come after.
    fn conflicting(&self, access: Access) -> Vec<Use> {
        let reads = if access == Access::Write { self.reads.as_slice() } else { &[] };
        self.last_write.iter().chain(reads).cloned().collect()
    }

    /// Adds a use that comes after all it conflicts with.
    fn add(&mut self, access: Access, new: Use) {
        match access {
            Access::Write => {
                self.reads.clear();
                self.last_write = Some(new);
            }
            Access::Read => {
                self.reads.retain(|read| read.stream != new.stream);
                if self.reads.len() >= MANY_READERS {
                    self.reads.retain(|read| !read.event.is_reached());
                }
                self.reads.push(new);
            }
        }
    }
}

/// The unit in bytes of the widest copies. Memory is allocated in whole units and all of them are
/// written: a copy of a view's last, partial unit names its valid bytes, but tools that watch
/// memory take it for a read of the whole.
const UNIT: usize = 16;

/// An allocation of device memory.
///
/// # Invariants
///
/// 0. `address` is the start of `bytes` bytes of device memory of `context`, rounded up to a
///    multiple of [`UNIT`], until `Drop`.
/// 1. Every use of the memory was submitted by [`submit`] and is in `uses`, or is over.
pub(crate) struct GpuMemory {
    pub(crate) context: Arc<Context>,
    pub(crate) address: CUdeviceptr,
    bytes: usize,
    uses: Mutex<Uses>,
}

impl GpuMemory {
    /// Allocates `bytes` bytes and fills them with `byte`.
    pub(crate) fn filled(context: &Arc<Context>, bytes: usize, byte: u8) -> Result<GpuMemory, Error> {
        let memory = GpuMemory::allocate(context, bytes)?;
        submit(Lane::transfer(context), &[(&memory, Access::Write)], "fill device memory", || {
            // SAFETY: writes the whole allocation (invariant 0) in the order that `submit`
            // provides.
            unsafe { context.driver.fill(memory.address, byte, whole_units(bytes), context.transfer) }
        })?;
        Ok(memory)
    }

    /// Allocates memory and copies `data` there.
    pub(crate) fn from_bytes(context: &Arc<Context>, data: &[u8]) -> Result<GpuMemory, Error> {
        let memory = if data.len() == whole_units(data.len()) {
            GpuMemory::allocate(context, data.len())?
        } else {
            GpuMemory::filled(context, data.len(), 0)?
        };
        memory.write(data)?;
        Ok(memory)
    }

    /// Allocates memory that holds whatever was there.
    fn allocate(context: &Arc<Context>, bytes: usize) -> Result<GpuMemory, Error> {
        context.enter()?;
        let mut address = 0;
        // SAFETY: writes one address, which is there; the context is this thread's.
        match unsafe { context.driver.memory_allocate(&mut address, whole_units(bytes)) } {
            Status::OUT_OF_MEMORY => {
                Err(Error::OutOfMemory { device: context.name.clone(), wanted: bytes, free: context.free_memory() })
            }
            status => {
                context.check("allocate device memory", status)?;
                Ok(GpuMemory { context: Arc::clone(context), address, bytes, uses: Mutex::default() })
            }
        }
    }

    /// Replaces the memory's first `data.len()` bytes, once nothing uses it; returns when it is
    /// done.
    ///
    /// # Panics
    ///
    /// If there is more data than memory; the callers compare the lengths first.
    pub(crate) fn write(&self, data: &[u8]) -> Result<(), Error> {
        assert!(data.len() <= self.bytes, "the caller compares the lengths");
        let context = &self.context;
        self.wait_for_uses(Access::Write)?;
        let event = submit(Lane::transfer(context), &[(self, Access::Write)], "copy to the device", || {
            // SAFETY: reads `data` and writes within the allocation (invariant 0, asserted above)
            // in the order that `submit` provides; `data` is borrowed until the event below has
            // been reached.
            unsafe {
                context.driver.copy_to_device(
                    self.address,
                    data.as_ptr().cast::<c_void>(),
                    data.len(),
                    context.transfer,
                )
            }
        })?;
        event.synchronize()
    }

    /// Copies the memory's first `data.len()` bytes out, once nothing writes it; returns when it is
    /// done.
    ///
    /// # Panics
    ///
    /// If there is less memory than wanted; the callers compare the lengths first.
    pub(crate) fn read(&self, data: &mut [u8]) -> Result<(), Error> {
        assert!(data.len() <= self.bytes, "the caller compares the lengths");
        let context = &self.context;
        self.wait_for_uses(Access::Read)?;
        let event = submit(Lane::transfer(context), &[(self, Access::Read)], "copy from the device", || {
            // SAFETY: writes `data` and reads within the allocation (invariant 0, asserted above)
            // in the order that `submit` provides; `data` is borrowed until the event below has
            // been reached, and after an error there the context is dead and copies no more.
            unsafe {
                context.driver.copy_to_host(
                    data.as_mut_ptr().cast::<c_void>(),
                    self.address,
                    data.len(),
                    context.transfer,
                )
            }
        })?;
        event.synchronize()
    }

    /// Waits on the calling thread for the uses that conflict with this access.
    fn wait_for_uses(&self, access: Access) -> Result<(), Error> {
        let uses = self.uses().conflicting(access);
        uses.iter().try_for_each(|usage| usage.event.synchronize())
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for GpuMemory {
    fn drop(&mut self) {
        // A dead context's memory goes with it. An error while waiting means that it is dead.
        if self.wait_for_uses(Access::Write).is_ok() && self.context.enter().is_ok() {
            // SAFETY: the memory is alive (invariant 0), nothing uses it any more (invariant 1),
            // and this is its last use.
            let _ = unsafe { self.context.driver.memory_free(self.address) };
        }
    }
}

/// Puts work into a stream after everything that it conflicts with, and returns the event of its
/// end.
///
/// `work` makes one driver call on that stream, described by `doing`, which uses the memory of
/// `accesses` as they say and no other memory that is freed or written elsewhere.
pub(super) fn submit(
    lane: Lane<'_>,
    accesses: &[(&GpuMemory, Access)],
    doing: &'static str,
    work: impl FnOnce() -> Status,
) -> Result<Arc<GpuEvent>, Error> {
    let context = lane.context();
    let _order = context.submission.lock().unwrap_or_else(PoisonError::into_inner);
    context.enter()?;
    let event = Arc::new(GpuEvent::untimed(context)?);
    for (memory, access) in accesses {
        for earlier in memory.uses().conflicting(*access) {
            if earlier.stream != lane.number() {
                earlier.event.hold_back(lane)?;
            }
        }
    }
    let status = work();
    context.check(doing, status)?;
    if let Err(error) = event.record(lane) {
        // The work is under way and cannot be waited for by event: wait here, or give the device
        // up. SAFETY: the stream is alive (invariant 0 of `Lane`).
        let status = unsafe { context.driver.stream_synchronize(lane.raw()) };
        context.check("wait for a stream", status).map_err(|error| context.lose(error))?;
        return Err(error);
    }
    for (memory, access) in accesses {
        memory.uses().add(*access, Use { event: Arc::clone(&event), stream: lane.number() });
    }
    Ok(event)
}

/// The bytes of as many units as `bytes` bytes take. (A size so large that there is no such number
/// is out of memory anyway.)
fn whole_units(bytes: usize) -> usize {
    bytes.checked_next_multiple_of(UNIT).unwrap_or(bytes)
}
