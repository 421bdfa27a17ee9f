//! Device memory, and the order of what uses it.
//!
//! Whatever reads or writes an allocation goes through [`submit`]: it makes the stream wait for the
//! uses that conflict, and leaves the [`Point`] at which the work ends. So two streams never touch
//! a buffer in conflict, and memory is freed only when its last point has been reached, whoever
//! forgot or dropped which handle.

use std::cell::RefMut;
use std::ffi::c_void;
use std::sync::Arc;
use std::{mem, ptr};

use cudarc::driver::sys::CUdeviceptr;

use super::context::Context;
use super::context::turn::{InTurn, Turn};
use super::driver::Status;
use super::point::{Point, Taken};
#[cfg(any(feature = "cudarc", test))]
use super::queue::GpuStream;
use super::queue::{Captures, Lane};
use crate::access::Access;
use crate::error::Error;

/// Above this many recorded readers, those that are done are dropped from the list.
const MANY_READERS: usize = 8;

/// The uses that later work may have to wait for: the ends of the work that they are part of.
#[derive(Default)]
struct Uses {
    last_write: Option<Arc<Point>>,
    /// Reads since that write, at most one a stream.
    reads: Vec<Arc<Point>>,
    /// How many loans to be read there are.
    lent: usize,
    /// Whether it is lent to be written.
    is_lent_to_write: bool,
}

impl Uses {
    /// Fails if the memory is lent in a way that excludes this access.
    fn refuse_lent(&self, access: Access) -> Result<(), Error> {
        match access {
            _ if self.is_lent_to_write => Err(Error::Lent { written: true }),
            Access::Write if self.lent > 0 => Err(Error::Lent { written: false }),
            Access::Read | Access::Write => Ok(()),
        }
    }

    /// Returns the uses that work with this access must come after.
    fn conflicting(&self, access: Access) -> impl Iterator<Item = &Arc<Point>> {
        let reads = if access == Access::Write { self.reads.as_slice() } else { &[] };
        self.last_write.iter().chain(reads)
    }

    /// Returns those that work with this access in a stream of this number has to be held back for:
    /// none of its own stream, none that is over, and not the last write if that stream has read
    /// since, as then it has waited.
    fn to_wait_for(&self, access: Access, stream: u64) -> impl Iterator<Item = &Arc<Point>> {
        let has_read = self.reads.iter().any(|read| read.stream() == stream);
        let write = self.last_write.as_ref().filter(|_| !has_read);
        let reads = if access == Access::Write { self.reads.as_slice() } else { &[] };
        write.into_iter().chain(reads).filter(move |earlier| earlier.stream() != stream && !earlier.is_over())
    }

    /// Adds a use that comes after all it conflicts with.
    fn add(&mut self, access: Access, new: &Arc<Point>) {
        match access {
            Access::Write => {
                self.reads.clear();
                self.last_write = Some(Arc::clone(new));
            }
            Access::Read => {
                self.reads.retain(|read| read.stream() != new.stream());
                if self.reads.len() >= MANY_READERS {
                    self.reads.retain(|read| !read.is_reached());
                }
                self.reads.push(Arc::clone(new));
            }
        }
    }

    /// How many of the uses are `point`, and no more once a use with this access is added in its
    /// stream.
    fn superseded(&self, access: Access, point: &Arc<Point>) -> usize {
        let is_written =
            access == Access::Write && self.last_write.as_ref().is_some_and(|last| Arc::ptr_eq(last, point));
        let reads = self.reads.iter().filter(|read| Arc::ptr_eq(read, point)).count();
        usize::from(is_written) + reads
    }

    /// Says whether adding a use with this access at `point` would change nothing: then there is
    /// nothing to wait for either in the point's stream, where the work that the point is of came
    /// after all that it conflicts with.
    fn has(&self, access: Access, point: &Arc<Point>) -> bool {
        let is_point = |one: &Arc<Point>| Arc::ptr_eq(one, point);
        match access {
            Access::Write => self.reads.is_empty() && self.last_write.as_ref().is_some_and(is_point),
            Access::Read => self.reads.iter().any(is_point),
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
    uses: InTurn<Uses>,
}

impl GpuMemory {
    /// Allocates `bytes` bytes and fills them with `byte`.
    pub(crate) fn filled(context: &Arc<Context>, bytes: usize, byte: u8) -> Result<GpuMemory, Error> {
        let memory = GpuMemory::allocate(context, bytes)?;
        transfer(context, (&memory, Access::Write), "fill device memory", || {
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
                Ok(GpuMemory {
                    context: Arc::clone(context),
                    address,
                    bytes,
                    uses: InTurn::new(context, Uses::default()),
                })
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
        let end = transfer(context, (self, Access::Write), "copy to the device", || {
            // SAFETY: reads `data` and writes within the allocation (invariant 0, asserted above)
            // in the order that `submit` provides; `data` is borrowed until the wait below.
            unsafe {
                context.driver.copy_to_device(
                    self.address,
                    data.as_ptr().cast::<c_void>(),
                    data.len(),
                    context.transfer,
                )
            }
        })?;
        end.synchronize(context)
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
        let end = transfer(context, (self, Access::Read), "copy from the device", || {
            // SAFETY: writes `data` and reads within the allocation (invariant 0, asserted above)
            // in the order that `submit` provides; `data` is borrowed until the wait below, and
            // after an error there the context is dead and copies no more.
            unsafe {
                context.driver.copy_to_host(
                    data.as_mut_ptr().cast::<c_void>(),
                    self.address,
                    data.len(),
                    context.transfer,
                )
            }
        })?;
        end.synchronize(context)
    }

    /// Waits on the calling thread for the uses that conflict with this access.
    fn wait_for_uses(&self, access: Access) -> Result<(), Error> {
        let earlier: Vec<Arc<Point>> = self.uses(&self.context.turn()).conflicting(access).cloned().collect();
        earlier.iter().try_for_each(|end| end.synchronize(&self.context))
    }

    fn uses<'t>(&'t self, turn: &'t Turn<'_>) -> RefMut<'t, Uses> {
        self.uses.borrow(turn)
    }
}

/// Memory that is lent to somebody else's work in a stream.
///
/// While it is lent, work of this crate that it excludes is refused, and the memory stays alive:
/// for ever, if the loan is forgotten. When it is dropped, later work comes after all that is in
/// the stream then.
#[cfg(any(feature = "cudarc", test))]
pub(crate) struct Loan {
    memory: Arc<GpuMemory>,
    access: Access,
    stream: GpuStream,
}

#[cfg(any(feature = "cudarc", test))]
impl GpuMemory {
    /// Lends the memory, to be used as `access` says in a stream: what is put there from now on
    /// comes after the uses that it conflicts with.
    ///
    /// # Errors
    ///
    /// [`Error::Lent`], [`Error::Captured`]; what the driver says.
    pub(crate) fn lend(self: &Arc<Self>, access: Access, stream: GpuStream) -> Result<Loan, Error> {
        let (context, lane) = (&self.context, stream.lane());
        let turn = context.turn();
        context.enter()?;
        lane.refuse_capture()?;
        self.uses(&turn).refuse_lent(access)?;
        let earlier: Vec<Arc<Point>> = self.uses(&turn).to_wait_for(access, lane.number()).cloned().collect();
        for earlier in earlier {
            // SAFETY: the stream is alive (invariant 0 of `Lane`).
            unsafe { earlier.hold_back(lane.raw(), context, &turn) }?;
        }
        let mut uses = self.uses(&turn);
        match access {
            Access::Read => uses.lent += 1,
            Access::Write => uses.is_lent_to_write = true,
        }
        drop(uses);
        drop(turn);
        Ok(Loan { memory: Arc::clone(self), access, stream })
    }
}

#[cfg(any(feature = "cudarc", test))]
impl Loan {
    /// The memory that is lent.
    pub(crate) fn memory(&self) -> &GpuMemory {
        &self.memory
    }

    /// Records where the stream ends.
    fn end(&self) -> Result<(), Error> {
        let (context, lane) = (&self.memory.context, self.stream.lane());
        let turn = context.turn();
        context.enter()?;
        lane.refuse_capture()?;
        // SAFETY: the stream is alive (invariant 0 of `Lane`) until the point is closed below. What
        // others put into it meanwhile is waited for too.
        let point = Arc::new(unsafe { Point::open(lane.number(), lane.raw()) });
        let closed = point.close(context, &turn);
        if context.is_lost() {
            return closed;
        }
        let mut uses = self.memory.uses(&turn);
        match self.access {
            Access::Read => uses.lent -= 1,
            Access::Write => uses.is_lent_to_write = false,
        }
        // After an error its work is over.
        uses.add(self.access, &point);
        Ok(())
    }
}

#[cfg(any(feature = "cudarc", test))]
impl Drop for Loan {
    fn drop(&mut self) {
        if self.end().is_err() && !self.memory.context.is_lost() {
            // Where the work ends is not known, as while the stream is being captured: it stays
            // lent, and alive.
            std::mem::forget(Arc::clone(&self.memory));
        }
    }
}

impl Drop for GpuMemory {
    fn drop(&mut self) {
        let uses = mem::take(self.uses.get_mut());
        let waited = uses.conflicting(Access::Write).try_for_each(|end| end.synchronize(&self.context));
        // A dead context's memory goes with it. An error while waiting means that it is dead.
        if waited.is_ok() && self.context.enter().is_ok() {
            // SAFETY: the memory is alive (invariant 0), nothing uses it any more (invariant 1),
            // and this is its last use.
            let _ = unsafe { self.context.driver.memory_free(self.address) };
        }
    }
}

/// Puts work that uses one allocation into the context's own stream, and returns its end.
fn transfer(
    context: &Arc<Context>,
    access: (&GpuMemory, Access),
    doing: &'static str,
    work: impl FnOnce() -> Status,
) -> Result<Arc<Point>, Error> {
    let (turn, lane) = (context.turn(), Lane::transfer(context));
    submit(&turn, lane, [access].into_iter(), Captures::Unknown, doing, work, Arc::clone)
}

/// Puts work into a stream after everything that it conflicts with, and returns what `then` says of
/// its end.
///
/// `work` makes one driver call on that stream, described by `doing`, which uses the memory of
/// `accesses` as they say and no other memory that is freed or written elsewhere. The context is
/// the calling thread's then.
pub(super) fn submit<'a, T>(
    turn: &Turn<'_>,
    lane: Lane<'_>,
    accesses: impl Iterator<Item = (&'a GpuMemory, Access)> + Clone,
    captures: Captures,
    doing: &'static str,
    work: impl FnOnce() -> Status,
    then: impl FnOnce(&Arc<Point>) -> T,
) -> Result<T, Error> {
    let context = lane.context();
    if captures == Captures::Unknown {
        context.enter()?;
        // Before anything is put into it, which would break the capture.
        lane.refuse_capture()?;
    }
    let mut points = lane.points().map(|points| points.take(turn));
    let open = points.as_ref().and_then(Taken::last_open);
    let latest = open.map(Arc::as_ptr);
    let (mut superseded, mut is_known, mut has_to_wait) = (0, true, false);
    for (place, (memory, access)) in accesses.clone().enumerate() {
        let uses = memory.uses(turn);
        uses.refuse_lent(access)?;
        let is_there = open.is_some_and(|open| uses.has(access, open));
        is_known &= is_there;
        // What is there has waited.
        has_to_wait |= !is_there && uses.to_wait_for(access, lane.number()).next().is_some();
        if let Some(open) = open
            && !accesses.clone().take(place).any(|(before, _)| ptr::eq(before, memory))
        {
            superseded += uses.superseded(access, open);
        }
    }
    let transfer;
    let point = match &mut points {
        Some(points) => {
            // SAFETY: (0) number and stream are the lane's, whose stream ends its points (`Drop`);
            // (1) work is put into it here alone (`GpuStream`, 1).
            unsafe { points.next(lane.number(), lane.raw(), superseded, context, turn) }?
        }
        None => {
            // SAFETY: the transfer stream lives as long as the context, and the point is closed
            // before anybody else's turn.
            transfer = Arc::new(unsafe { Point::open(lane.number(), lane.raw()) });
            transfer.prepare(context)?;
            &transfer
        }
    };
    // After the stream's earlier work got its event, which must not wait for these.
    if has_to_wait {
        for (memory, access) in accesses.clone() {
            for earlier in memory.uses(turn).to_wait_for(access, lane.number()) {
                // SAFETY: the stream is alive (invariant 0 of `Lane`).
                unsafe { earlier.hold_back(lane.raw(), context, turn) }?;
            }
        }
    }
    context.check(doing, work())?;
    if !is_known || latest != Some(Arc::as_ptr(point)) {
        accesses.for_each(|(memory, access)| memory.uses(turn).add(access, point));
    }
    if lane.points().is_none() || lane.is_shared() {
        point.close(context, turn)?;
    }
    Ok(then(point))
}

/// Puts work into a stream that uses no memory of this crate's.
pub(super) fn submit_alone(
    lane: Lane<'_>,
    captures: Captures,
    doing: &'static str,
    work: impl FnOnce() -> Status,
) -> Result<(), Error> {
    if captures == Captures::Unknown {
        lane.context().enter()?;
        if !lane.may_be_captured() {
            lane.refuse_capture()?;
        }
    }
    lane.context().check(doing, work())
}

/// The bytes of as many units as `bytes` bytes take. (A size so large that there is no such number
/// is out of memory anyway.)
fn whole_units(bytes: usize) -> usize {
    bytes.checked_next_multiple_of(UNIT).unwrap_or(bytes)
}
