//! An opened GPU: its context, its limits, its panic record, and whether it has failed.

mod capture;
mod checks;
pub(super) mod turn;

use std::any::Any;
use std::ffi::{CStr, c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::{mem, ptr};

use cudarc::driver::sys::{CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUstream};
use tilepipe::panic_record::{self, PanicRecord};

use self::capture::Relaxed;
use self::checks::{Check, Checks};
use super::driver::{Driver, Status};
use super::loaded::{Modules, Recent};
use crate::error::Error;

/// The least architecture: the first with `cp.async`.
const LEAST_MAJOR: u32 = 8;
/// `CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP`.
const HOST_MAPPED: u32 = 3;
/// `CU_STREAM_NON_BLOCKING`: not ordered with the legacy default stream.
pub(super) const NON_BLOCKING: u32 = 1;

/// What keeps alive what this crate uses and somebody else made.
pub(crate) type Keep = Arc<dyn Any + Send + Sync>;

/// Whose a context is, and so what of it is given back.
enum Owner {
    /// This crate's, which destroys it.
    Us,
    /// A caller's, who keeps it alive for as long as it is used, or the process's primary one. What
    /// is made there stays: graphs of the caller's may have our kernels.
    Caller,
    /// That of what is kept here. What is made there is given back, and no graph has it.
    #[cfg_attr(not(any(feature = "cudarc", test)), expect(dead_code, reason = "the feature `cudarc` makes it"))]
    Kept(Keep),
}

/// An opened GPU.
///
/// # Invariants
///
/// 0. `raw` is a context of this process that lives until `Drop` at least; `transfer` is a stream
///    of it.
/// 1. `record` is null, or page-locked, mapped host memory of one `PanicRecord` that lives as long;
///    only GPU threads write it, and the host reads it volatile.
pub(crate) struct Context {
    pub(crate) driver: &'static Driver,
    raw: CUcontext,
    owner: Owner,
    record: *mut PanicRecord,
    pub(super) record_address: CUdeviceptr,
    /// The stream of uploads, downloads and fills.
    pub(super) transfer: CUstream,
    /// Held while work is put into a stream and recorded at its buffers, so that both happen in one
    /// order. In it is what each launch looks for first. Who holds it takes no lock beside it.
    submission: Mutex<Recent>,
    pub(super) modules: Mutex<Modules>,
    /// What numbers in the record stand for. Who holds it calls nothing.
    checks: Mutex<Checks>,
    lost: OnceLock<String>,
    pub(crate) name: String,
    pub(crate) capability: (u32, u32),
    pub(crate) total_memory: u64,
    pub(crate) shared_limit: usize,
    pub(crate) threads_limit: u32,
    pub(crate) multiprocessors: u32,
}

// SAFETY: the driver API may be called from any thread with any of these handles (each call makes
// the context current first); `record` is only read, volatile.
unsafe impl Send for Context {}
// SAFETY: as for `Send`; the mutable state is behind mutexes.
unsafe impl Sync for Context {}

impl Context {
    /// Opens GPU `ordinal` with a context of its own.
    pub(crate) fn open(ordinal: u32) -> Result<Context, Error> {
        Context::open_with(Driver::get()?, ordinal)
    }

    /// Opens GPU `ordinal` of a driver.
    pub(crate) fn open_with(driver: &'static Driver, ordinal: u32) -> Result<Context, Error> {
        Context::of(driver, driver.find(ordinal)?, ordinal, None)
    }

    /// Opens GPU `ordinal` of a driver in its primary context, of which this takes a hold for as
    /// long as the process runs.
    pub(crate) fn primary(driver: &'static Driver, ordinal: u32) -> Result<Context, Error> {
        let device = driver.find(ordinal)?;
        // Its owner may capture in other streams, or in this thread.
        let _relaxed = Relaxed::enter(driver)?;
        let mut raw: CUcontext = ptr::null_mut();
        // SAFETY: writes one handle, which is there; the driver has returned the device.
        let status = unsafe { driver.primary_retain(&mut raw, device) };
        if status != Status::SUCCESS {
            return Err(driver.error("use the GPU's primary context", status));
        }
        // SAFETY: the context is alive while the hold is.
        let status = unsafe { driver.context_set_current(raw) };
        let opened = match status {
            Status::SUCCESS => Context::of(driver, device, ordinal, Some((raw, Owner::Caller))),
            status => Err(driver.error("use the GPU's primary context", status)),
        };
        if opened.is_err() {
            // SAFETY: gives back the hold that was taken above; there is no value that relies on
            // it.
            let _ = unsafe { driver.primary_release(device) };
        }
        opened
    }

    /// Says whether graphs of the context's owner may have kernels of this value's: nothing that
    /// they need is ever given back.
    pub(crate) fn is_for_good(&self) -> bool {
        matches!(self.owner, Owner::Caller)
    }

    /// Lets the calling thread do, in a context that somebody else captures in, what a capture
    /// forbids otherwise.
    pub(super) fn relax(&self) -> Result<Option<Relaxed>, Error> {
        if matches!(self.owner, Owner::Us) { Ok(None) } else { Relaxed::enter(self.driver).map(Some) }
    }

    /// Opens the GPU of the context that is the calling thread's, in that context, which stays its
    /// owner's. What is made there stays too: graphs of the owner's may have our kernels.
    pub(crate) fn current() -> Result<Context, Error> {
        let driver = Driver::get()?;
        let mut raw: CUcontext = ptr::null_mut();
        // SAFETY: writes one handle, which is there.
        let status = unsafe { driver.context_get_current(&mut raw) };
        if status != Status::SUCCESS || raw.is_null() {
            let status = if status == Status::SUCCESS { Status::INVALID_CONTEXT } else { status };
            return Err(driver.error("find the calling thread's context", status));
        }
        let mut device: CUdevice = 0;
        // SAFETY: writes one handle, which is there; the thread has a context.
        let status = unsafe { driver.context_get_device(&mut device) };
        if status != Status::SUCCESS {
            return Err(driver.error("find the GPU of the calling thread's context", status));
        }
        // The driver's handles are the ordinals, which only a message has.
        Context::of(driver, device, device as u32, Some((raw, Owner::Caller)))
    }

    /// Opens the GPU of a context of somebody else's, in that context, which `keep` keeps alive.
    ///
    /// # Safety
    ///
    /// 0. `raw` is a context on `device`, and alive for as long as `keep` is.
    /// 1. No graph that has a kernel of this value's is launched after its `Drop`.
    #[cfg(any(feature = "cudarc", test))]
    pub(crate) unsafe fn kept(
        driver: &'static Driver,
        raw: CUcontext,
        device: CUdevice,
        keep: Keep,
    ) -> Result<Context, Error> {
        // SAFETY: the context is alive (obligation 0).
        let status = unsafe { driver.context_set_current(raw) };
        if status != Status::SUCCESS {
            return Err(driver.error("use the GPU's context", status));
        }
        Context::of(driver, device, device as u32, Some((raw, Owner::Kept(keep))))
    }

    /// What keeps the context alive, if it is somebody else's.
    #[cfg(feature = "cudarc")]
    pub(crate) fn keep(&self) -> Option<&(dyn Any + Send + Sync)> {
        match &self.owner {
            Owner::Kept(keep) => Some(&**keep),
            Owner::Us | Owner::Caller => None,
        }
    }

    /// Opens a GPU in this context, which is the calling thread's, or in a new one.
    fn of(
        driver: &'static Driver,
        device: CUdevice,
        ordinal: u32,
        current: Option<(CUcontext, Owner)>,
    ) -> Result<Context, Error> {
        let name = device_name(driver, device);
        let attribute = |attribute| device_attribute(driver, device, attribute);
        let major = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        if major < LEAST_MAJOR {
            return Err(Error::ArchitectureTooOld { ordinal, name, major, minor });
        }
        let shared_limit = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let threads_limit = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        let multiprocessors = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let mut bytes = 0;
        // SAFETY: writes one integer, which is there.
        let status = unsafe { driver.device_total_memory(&mut bytes, device) };
        if status != Status::SUCCESS {
            return Err(driver.error("ask for the GPU's memory size", status));
        }

        let (raw, owner) = match current {
            Some(current) => current,
            None => (create(driver, device)?, Owner::Us),
        };
        // From here on `Drop` gives back what there is, whatever fails.
        let mut context = Context {
            driver,
            raw,
            owner,
            record: ptr::null_mut(),
            record_address: 0,
            transfer: ptr::null_mut(),
            submission: Mutex::default(),
            modules: Mutex::default(),
            checks: Mutex::default(),
            lost: OnceLock::new(),
            name,
            capability: (major, minor),
            total_memory: bytes as u64,
            shared_limit: shared_limit as usize,
            threads_limit,
            multiprocessors,
        };
        // SAFETY: writes one handle, which is there; the context is this thread's.
        let status = unsafe { driver.stream_create(&mut context.transfer, NON_BLOCKING) };
        context.check("create a stream", status)?;
        context.allocate_record()?;
        Ok(context)
    }

    /// Allocates the panic record and writes it empty.
    fn allocate_record(&mut self) -> Result<(), Error> {
        let mut memory: *mut c_void = ptr::null_mut();
        // SAFETY: writes one pointer, which is there; the context is this thread's.
        let status = unsafe { self.driver.host_allocate(&mut memory, size_of::<PanicRecord>(), HOST_MAPPED) };
        self.check("allocate the panic record", status)?;
        let record = memory.cast::<PanicRecord>();
        // SAFETY: page-locked memory of that size, page-aligned, and no GPU thread knows it yet.
        unsafe { record.write(PanicRecord::empty()) };
        self.record = record;
        // SAFETY: writes one address, which is there; the memory is mapped.
        let status = unsafe { self.driver.host_device_address(&mut self.record_address, memory, 0) };
        self.check("map the panic record", status)
    }

    /// Makes this context the calling thread's. Every sequence of driver calls begins with it.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceLost`] if an earlier call found that a kernel had failed.
    pub(crate) fn enter(&self) -> Result<(), Error> {
        if let Some(first) = self.lost.get() {
            return Err(Error::DeviceLost { first: first.clone() });
        }
        let mut current = ptr::null_mut();
        // To ask is cheaper than to set, and mostly it is the one already.
        // SAFETY: writes one handle, which is there.
        let status = unsafe { self.driver.context_get_current(&mut current) };
        if status == Status::SUCCESS && current == self.raw {
            return Ok(());
        }
        // SAFETY: the context is alive (invariant 0).
        let status = unsafe { self.driver.context_set_current(self.raw) };
        self.check("use the GPU's context", status)
    }

    /// Says whether a kernel has failed, after which no call on this context succeeds.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// Turns a driver call's status into a result, and an error of a kernel into the report of it.
    #[inline]
    pub(crate) fn check(&self, doing: &'static str, status: Status) -> Result<(), Error> {
        if status == Status::SUCCESS { Ok(()) } else { Err(self.failed(doing, status)) }
    }

    /// What [`check`](Self::check) makes of a status that is not success.
    #[cold]
    fn failed(&self, doing: &'static str, status: Status) -> Error {
        if !status.is_sticky() {
            return self.driver.error(doing, status);
        }
        if let Some(first) = self.lost.get() {
            return Error::DeviceLost { first: first.clone() };
        }
        let error = self.panic_report().unwrap_or_else(|| Error::KernelTrapped {
            doing,
            code: status.0,
            text: self.driver.text(status),
        });
        self.lose(error)
    }

    /// Marks the device unusable because of `error`, and returns that error, or the first one's if
    /// another came before.
    pub(super) fn lose(&self, error: Error) -> Error {
        match self.lost.set(error.to_string()) {
            Ok(()) => error,
            Err(_) => Error::DeviceLost { first: self.lost.get().cloned().unwrap_or_default() },
        }
    }

    /// Reads the panic record, if a thread has completed it.
    fn panic_report(&self) -> Option<Error> {
        if self.record.is_null() {
            return None;
        }
        // SAFETY: invariant 1; a record that is still being written is discarded below.
        let record = unsafe { self.record.read_volatile() };
        report(&record, &self.checks())
    }

    /// What numbers in the record stand for.
    pub(super) fn checks(&self) -> MutexGuard<'_, Checks> {
        self.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for all work on the GPU.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        self.enter()?;
        // SAFETY: the context is this thread's.
        let status = unsafe { self.driver.context_synchronize() };
        self.check("wait for the GPU", status)
    }

    /// Returns the free device memory in bytes, if the driver says.
    pub(crate) fn free_memory(&self) -> Option<u64> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: writes two integers, which are there.
        let status = unsafe { self.driver.memory_info(&mut free, &mut total) };
        (status == Status::SUCCESS).then_some(free as u64)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        match mem::replace(&mut self.owner, Owner::Caller) {
            Owner::Us => self.destroy(),
            // Graphs that its owner captured may launch our kernels after this, which write the
            // record.
            Owner::Caller => {}
            Owner::Kept(keep) => match self.give_back() {
                Err(_) if !self.is_lost() => mem::forget(keep),
                _ => drop(keep),
            },
        }
    }
}

impl Context {
    /// Destroys the context with all that is in it.
    fn destroy(&mut self) {
        if self.enter().is_ok() {
            // A kernel without buffers may still run, and it may write the panic record.
            // SAFETY: the context is this thread's.
            let _ = unsafe { self.driver.context_synchronize() };
            if !self.record.is_null() {
                // SAFETY: invariant 1, and no kernel runs any more.
                let _ = unsafe { self.driver.host_free(self.record.cast()) };
            }
        }
        // SAFETY: everything that holds handles of this context holds the context as well, so
        // nothing uses it later.
        let _ = unsafe { self.driver.context_destroy(self.raw) };
    }

    /// Gives back what was made in a context that goes on, once its kernels are done.
    ///
    /// # Errors
    ///
    /// Kernels may still run: nothing was given back. The device is lost, or cannot be waited for,
    /// as while a stream of the context is being captured.
    fn give_back(&mut self) -> Result<(), Error> {
        self.synchronize()?;
        if !self.record.is_null() {
            // SAFETY: invariant 1, and no kernel of ours runs any more.
            let _ = unsafe { self.driver.host_free(self.record.cast()) };
        }
        let modules = self.modules.get_mut().unwrap_or_else(PoisonError::into_inner);
        for image in modules.images.drain(..) {
            // SAFETY: the module is alive (`Modules`, 0), and none of its kernels runs or will
            // (`kept`, 1): this is its last use.
            let _ = unsafe { self.driver.module_unload(image.raw) };
        }
        if !self.transfer.is_null() {
            // SAFETY: the stream is alive (invariant 0), and this is its last use.
            let _ = unsafe { self.driver.stream_destroy(self.transfer) };
        }
        Ok(())
    }
}

/// Returns what a panicking GPU thread reported, if the record is whole.
fn report(record: &PanicRecord, checks: &Checks) -> Option<Error> {
    if record.state != panic_record::COMPLETE {
        return None;
    }
    let values = &record.values[..(record.value_count as usize).min(record.values.len())];
    let Check { message, file, line, column } = match record.site {
        0 => Check {
            message: text(&record.message, record.message_bytes),
            file: text(&record.file, record.file_bytes),
            line: record.line,
            column: record.column,
        },
        site => checks.get(site),
    };
    Some(Error::KernelPanicked {
        message: fill_in(&message, values),
        file,
        line,
        column,
        block: record.block,
        thread: Some(record.thread),
    })
}

/// Reads a text of `bytes` bytes, at most the array's.
fn text(array: &[u8], bytes: u32) -> String {
    String::from_utf8_lossy(&array[..(bytes as usize).min(array.len())]).into_owned()
}

/// Replaces each `{}` of a message by the next value.
fn fill_in(message: &str, values: &[u64]) -> String {
    let mut parts = message.split("{}");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    let mut values = values.iter();
    for part in parts {
        match values.next() {
            Some(value) => filled.push_str(&value.to_string()),
            None => filled.push_str("{}"),
        }
        filled.push_str(part);
    }
    filled
}

/// Creates a context on a GPU, which becomes the calling thread's.
fn create(driver: &Driver, device: CUdevice) -> Result<CUcontext, Error> {
    let mut raw: CUcontext = ptr::null_mut();
    // SAFETY: writes one handle, which is there; the driver has returned the device.
    match unsafe { driver.context_create(&mut raw, 0, device) } {
        Status::SUCCESS => Ok(raw),
        status => Err(driver.error(
            "create a context on the GPU (if a kernel failed before in this process, start the program again)",
            status,
        )),
    }
}

/// Returns a GPU's name.
fn device_name(driver: &Driver, device: CUdevice) -> String {
    let mut name = [0_u8; 256];
    // SAFETY: writes at most 255 bytes and a zero into the array.
    let _ = unsafe { driver.device_name(name.as_mut_ptr().cast(), 255, device) };
    CStr::from_bytes_until_nul(&name).map_or_else(|_| "a GPU".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns one of a GPU's attributes.
fn device_attribute(driver: &Driver, device: CUdevice, attribute: CUdevice_attribute) -> Result<u32, Error> {
    let mut value = 0;
    // SAFETY: writes one integer, which is there.
    let status = unsafe { driver.device_attribute(&mut value, attribute as c_int, device) };
    match status {
        Status::SUCCESS => Ok(u32::try_from(value).unwrap_or(0)),
        status => Err(driver.error("ask for an attribute of the GPU", status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(message: &str, values: &[u64]) -> PanicRecord {
        let mut record = PanicRecord {
            state: panic_record::COMPLETE,
            line: 7,
            column: 3,
            block: 2,
            thread: 5,
            ..PanicRecord::empty()
        };
        record.message[..message.len()].copy_from_slice(message.as_bytes());
        record.message_bytes = message.len() as u32;
        record.file[..4].copy_from_slice(b"a.rs");
        record.file_bytes = 4;
        record.values[..values.len()].copy_from_slice(values);
        record.value_count = values.len() as u32;
        record
    }

    #[test]
    fn a_whole_record_becomes_the_report_with_its_values() {
        let error = report(&record("tile index {} is out of range: {} tiles", &[9, 4]), &Checks::default()).unwrap();
        let text = error.to_string();
        assert!(text.contains("tile index 9 is out of range: 4 tiles"), "{text}");
        assert!(text.contains("a.rs:7:3, block 2, thread 5"), "{text}");
    }

    #[test]
    fn a_record_that_is_not_whole_is_no_report() {
        assert!(report(&PanicRecord::empty(), &Checks::default()).is_none());
        let half = PanicRecord { state: panic_record::CLAIMED, ..record("half", &[]) };
        assert!(report(&half, &Checks::default()).is_none());
    }

    #[test]
    fn a_record_of_a_check_has_the_text_of_its_module() {
        let mut checks = Checks::default();
        checks.read("// tilepipe.panic\t2a\t11\t12\tb.rs\tindex {} of {}\n");
        let error = report(&PanicRecord { site: 0x2a, ..record("", &[7, 4]) }, &checks).unwrap();
        let text = error.to_string();
        assert!(text.contains("index 7 of 4") && text.contains("b.rs:11:12, block 2, thread 5"), "{text}");
        let unknown = report(&PanicRecord { site: 1, ..record("", &[7, 4]) }, &checks).unwrap().to_string();
        assert!(unknown.contains("check 0000000000000001 failed"), "{unknown}");
    }

    #[test]
    fn lengths_beyond_the_arrays_are_cut_and_missing_values_stay_open() {
        let wild =
            PanicRecord { message_bytes: u32::MAX, file_bytes: u32::MAX, value_count: 99, ..record("{} {}", &[1]) };
        assert!(report(&wild, &Checks::default()).is_some());
        assert_eq!(fill_in("{} of {}", &[1]), "1 of {}");
        assert_eq!(fill_in("plain", &[1]), "plain");
    }
}
