//! The launch over memory whose uses cudarc's events order.

use cudarc::driver::CudaStream;
use tilepipe::launch::Instance;

use super::kept::failed;
use crate::argument::lent::Lent;
use crate::argument::{Bound, Place};
use crate::error::Error;
use crate::gpu::queue::refuse_per_thread;
use crate::gpu::tracked::Tracked;
use crate::grid::Grid;
use crate::launch::{check_count, start};
use crate::stream::Stream;

/// Launches an instance of whose arguments some are cudarc's memory.
///
/// As cudarc's own launch, it waits for the events of the memory, and records them anew after it.
/// It keeps what cudarc's launch does not: a read in one stream stays known when the memory is read
/// in another one later (docs/decisions/69).
pub(crate) fn launch(stream: &Stream, grid: Grid, instance: &Instance, arguments: &[Bound<'_>]) -> Result<(), Error> {
    check_count(instance, arguments.len())?;
    let (device, kernel) = (stream.device(), instance.kernel());
    let parameters = || instance.parameters().map(|(name, _)| name).zip(arguments);
    let lent = || parameters().filter_map(|(name, argument)| Some((name, argument, argument.lent()?)));
    let mut owner = None;
    for (parameter, argument, lent) in lent() {
        let what = || format!("kernel `{kernel}`, parameter `{parameter}`: cudarc's memory");
        owner = Some(lent.with_home(|home| {
            refuse_per_thread(home.cu_stream())?;
            device.cudarc_context(home, what)
        })?);
        if argument.value.array().is_some_and(|array| array.extents.contains(&0)) {
            return Err(Error::EmptyBuffer { element: argument.element_name });
        }
    }
    let (Some((context, kept)), Some(gpu)) = (owner, &stream.gpu) else {
        return start(stream, grid, instance, arguments);
    };
    // Every stream of such a device is cudarc's.
    let Some(own) = gpu.keep().and_then(|keep| keep.downcast_ref::<CudaStream>()) else {
        return Err(Error::NoDriver);
    };
    let _order = kept.order();
    let homes = lent().map(|(.., lent)| lent.with_home(CudaStream::cu_stream));
    // SAFETY: what `arguments` borrow keeps the streams alive, and `cudarc_context` found them to
    // be of the context.
    unsafe { gpu.refuse_captures(homes) }?;
    // An error that cudarc found where it had nobody to tell would keep it from waiting below.
    let told = || kept.context.check_err().map_err(|error| failed(context.driver, "do what cudarc asked of it", error));
    told()?;
    let (mut bound, mut uses) = (arguments.to_vec(), Vec::with_capacity(arguments.len()));
    for ((parameter, _), argument) in instance.parameters().zip(&mut bound) {
        let Some(lent) = argument.lent() else { continue };
        let (address, event) = lent.begin(own);
        let home = lent.with_home(CudaStream::cu_stream);
        let is_tracked = !event.is_null() && kept.context.is_event_tracking();
        if !is_tracked && home != own.cu_stream() {
            return Err(Error::Untracked { kernel: instance.kernel(), parameter });
        }
        let event = if is_tracked { event } else { std::ptr::null_mut() };
        // For a write cudarc's own wait was for this event, for a read for that of the last write.
        let is_awaited = matches!(lent, Lent::Exclusive(_));
        uses.push(Tracked { event, is_awaited, home });
        argument.value.move_by(address);
    }
    told()?;
    // SAFETY: the events are those of memory that `arguments` borrow, whose context
    // `cudarc_context` found to be the device's, and is the thread's (`refuse_captures`; cudarc
    // makes no other one current for memory of it); the memory keeps its streams alive.
    unsafe { gpu.come_after(&uses) }?;
    start(stream, grid, instance, &bound)?;
    // SAFETY: as for `come_after`: `arguments` are still there.
    unsafe { gpu.leave_events(&uses) }
}

impl<'a> Bound<'a> {
    /// What cudarc lends for the argument.
    pub(crate) fn lent(&self) -> Option<&Lent<'a>> {
        match &self.place {
            Some(Place::Lent(lent)) => Some(lent),
            Some(Place::Buffer(_) | Place::Foreign(..)) | None => None,
        }
    }
}
