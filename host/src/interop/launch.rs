//! The launch over memory whose uses cudarc's events order.

use std::ptr;

use cudarc::driver::CudaStream;
use smallvec::SmallVec;
use tilepipe::launch::Instance;

use super::kept::failed;
use crate::argument::lent::Lent;
use crate::argument::{Bound, Place};
use crate::error::Error;
use crate::gpu::queue::{Captures, refuse_per_thread};
use crate::gpu::tracked::Tracked;
use crate::grid::Grid;
use crate::launch::{check_count, start};
use crate::stream::Stream;

/// What there is for each argument: without an allocation where those are not many.
type Few<T> = SmallVec<[T; 8]>;

/// Launches an instance of whose arguments some are cudarc's memory.
///
/// As cudarc's own launch, it waits for the events of the memory, and records them anew after it.
/// It keeps what cudarc's launch does not: a read in one stream stays known when the memory is read
/// in another one later (docs/decisions/69).
pub(crate) fn launch(stream: &Stream, grid: Grid, instance: &Instance, arguments: &[Bound<'_>]) -> Result<(), Error> {
    check_count(instance, arguments.len())?;
    let (device, kernel) = (stream.device(), instance.kernel());
    let (kept, mut uses) = (device.kept(), Few::new());
    for ((parameter, _), argument) in instance.parameters().zip(arguments) {
        let Some(lent) = argument.lent() else { continue };
        let home = lent.home();
        refuse_per_thread(home.cu_stream())?;
        if !kept.is_some_and(|(_, kept)| kept.has(home)) {
            return Err(device
                .other_cudarc_context(home, format!("kernel `{kernel}`, parameter `{parameter}`: cudarc's memory")));
        }
        // For a write cudarc's own wait is for the event that is recorded, for a read for that of
        // the last write.
        uses.push(Tracked { event: ptr::null_mut(), is_awaited: lent.is_exclusive(), home: home.cu_stream() });
        if argument.value.is_empty() {
            return Err(Error::EmptyBuffer { element: argument.element_name });
        }
    }
    let (Some((context, kept)), Some(gpu)) = (kept, &stream.gpu) else {
        return start(stream, grid, instance, arguments, Captures::Unknown);
    };
    // Every stream of such a device is cudarc's.
    let Some(own) = gpu.keep().and_then(|keep| keep.downcast_ref::<CudaStream>()) else {
        return Err(Error::NoDriver);
    };
    let _order = kept.order();
    // SAFETY: what `arguments` borrow keeps the streams alive, and `Kept::has` found them to be
    // of the context.
    unsafe { gpu.refuse_captures(uses.iter().map(|tracked| tracked.home)) }?;
    // An error that cudarc found where it had nobody to tell would keep it from waiting below.
    let told = || kept.context.check_err().map_err(|error| failed(context.driver, "do what cudarc asked of it", error));
    told()?;
    let (mut bound, mut tracked) = (Few::new(), uses.iter_mut());
    for ((parameter, _), argument) in instance.parameters().zip(arguments) {
        let with_use = argument.lent().and_then(|lent| Some((lent, tracked.next()?)));
        let Some((lent, tracked)) = with_use else {
            bound.push(argument.clone());
            continue;
        };
        // SAFETY: copies of a borrow are of one memory, whose `CudaContext` is the one that is kept
        // here (`Kept::has`). Of that there is no other `Kept` while this device is there
        // (`Device::from_cudarc`), so that whoever calls this for one of them has `_order`.
        let (address, event) = unsafe { lent.begin(own) };
        if !event.is_null() && kept.context.is_event_tracking() {
            tracked.event = event;
        } else if tracked.home != own.cu_stream() {
            return Err(Error::Untracked { kernel, parameter });
        }
        bound.push(argument.moved_by(address));
    }
    told()?;
    // SAFETY: the events are those of memory that `arguments` borrow, whose context
    // `Kept::has` found to be the device's, and is the thread's (`refuse_captures`; cudarc
    // makes no other one current for memory of it); the memory keeps its streams alive.
    unsafe { gpu.come_after(&uses) }?;
    start(stream, grid, instance, &bound, Captures::Refused)?;
    // SAFETY: as for `come_after`: `arguments` are still there.
    unsafe { gpu.leave_events(&uses) }
}

impl<'a> Bound<'a> {
    /// What cudarc lends for the argument.
    pub(crate) fn lent(&self) -> Option<&Lent<'a>> {
        match &self.place {
            Some(Place::Lent(lent)) => Some(lent),
            Some(Place::Buffer(_) | Place::Borrowed(_) | Place::Foreign(_) | Place::Found) | None => None,
        }
    }

    /// The argument, of memory of cudarc's, once it is known that the memory starts at this
    /// address.
    fn moved_by(&self, address: u64) -> Bound<'static> {
        let Bound { ref value, kind, element, element_name, padding, place: _ } = *self;
        let mut value = value.clone();
        value.move_by(address);
        Bound { value, kind, element, element_name, place: Some(Place::Found), padding }
    }
}
