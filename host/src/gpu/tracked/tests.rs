//! What a launch over memory of somebody else's asks of the driver, and in which order.

use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::{CUevent, CUstream};

use super::*;
use crate::access::Access;
use crate::argument::Bound;
use crate::buffer::{Buffer, Memory};
use crate::device::{Backend, Device};
use crate::gpu::context::Context;
use crate::gpu::driver::fake::{self, Step};
use crate::gpu::driver::{Driver, Status};
use crate::gpu::memory::Loan;
use crate::launch::launch;
use crate::launch::tests::{MODULE, TWO_INPUTS};
use crate::stream::Stream;

/// Streams and events of somebody else's: handles that the fake driver gives to nobody.
const OWN: usize = 0x11;
const HOME: usize = 0x22;
const READ: usize = 0x33;
const WRITTEN: usize = 0x44;
const AWAITED: usize = 0x66;

fn stream(number: usize) -> CUstream {
    ptr::without_provenance_mut(number)
}

fn tracked(event: usize, home: usize) -> Tracked {
    let event: CUevent = ptr::without_provenance_mut(event);
    Tracked { event, is_awaited: false, home: stream(home) }
}

/// A device in a context of somebody else's, and a counter of what keeps that.
fn kept() -> (Device, Arc<()>) {
    let keep = Arc::new(());
    // SAFETY: the fake driver's contexts are numbers.
    let context = unsafe { Context::kept(&Driver::FAKE, ptr::without_provenance_mut(0x55), 0, keep.clone()) };
    (Device { backend: Backend::Gpu(Arc::new(context.unwrap())) }, keep)
}

fn context(device: &Device) -> &Arc<Context> {
    match &device.backend {
        Backend::Gpu(context) => context,
        Backend::Cpu(_) => unreachable!("a GPU was opened"),
    }
}

/// A stream of somebody else's.
fn borrowed(device: &Device, number: usize) -> GpuStream {
    // SAFETY: the fake driver's streams are numbers.
    unsafe { GpuStream::kept(context(device), stream(number), Arc::new(())) }
}

/// The steps of something.
fn steps(run: impl FnOnce()) -> Vec<Step> {
    drop(fake::steps());
    run();
    fake::steps()
}

#[test]
fn a_launch_waits_for_the_events_that_it_records_anew() {
    let (device, _) = kept();
    let own = borrowed(&device, OWN);
    let awaited = Tracked { is_awaited: true, ..tracked(AWAITED, OWN) };
    let uses = [tracked(READ, OWN), tracked(WRITTEN, OWN), tracked(0, OWN), awaited];
    let made = steps(|| {
        // SAFETY: the fake driver uses nothing.
        unsafe { own.come_after(&uses) }.unwrap();
        // SAFETY: as above.
        unsafe { own.leave_events(&uses) }.unwrap();
    });
    let [read, written] = [READ, WRITTEN].map(|event| Step::HoldBack { stream: OWN, event });
    let again = [READ, WRITTEN, AWAITED].map(|event| Step::Record { event, stream: OWN });
    assert_eq!(made[..2], [read, written]);
    assert_eq!(made[2..], again);
}

#[test]
fn a_launch_in_another_stream_comes_after_the_allocation_and_before_the_free() {
    let (device, _) = kept();
    let own = borrowed(&device, OWN);
    let uses = [tracked(READ, HOME), tracked(WRITTEN, HOME)];
    // SAFETY: the fake driver uses nothing.
    let before = steps(|| unsafe { own.come_after(&uses) }.unwrap());
    let [Step::Record { event, stream: HOME }, waits @ ..] = &before[..] else { panic!("{before:?}") };
    assert_eq!(waits, [*event, READ, WRITTEN].map(|event| Step::HoldBack { stream: OWN, event }));
    // SAFETY: as above.
    let after = steps(|| unsafe { own.leave_events(&uses) }.unwrap());
    let recorded = |event| [Step::Record { event, stream: OWN }, Step::HoldBack { stream: HOME, event }];
    assert_eq!(after, [recorded(READ), recorded(WRITTEN)].concat());
}

#[test]
fn a_launch_that_nobody_could_wait_for_is_waited_for_at_once() {
    let (device, _) = kept();
    let own = borrowed(&device, OWN);
    for failing in ["event_record", "stream_wait_event"] {
        fake::fail(Some((failing, Status::OUT_OF_MEMORY)));
        let made = steps(|| {
            // SAFETY: the fake driver uses nothing.
            let error = unsafe { own.leave_events(&[tracked(WRITTEN, HOME)]) }.unwrap_err();
            assert!(matches!(error, Error::Driver { .. }), "{error}");
        });
        fake::fail(None);
        assert_eq!(made.last(), Some(&Step::WaitForStream { stream: OWN }), "{failing}");
        assert!(!device.is_lost());
    }
}

#[test]
fn nothing_is_put_into_streams_that_are_captured() {
    let (device, _) = kept();
    let own = borrowed(&device, OWN);
    for captured in [OWN, HOME] {
        fake::capture(captured);
        // SAFETY: the fake driver uses nothing.
        let refused =
            steps(|| unsafe { own.refuse_captures([stream(HOME)].into_iter()) }.unwrap_err().assert_captured());
        assert_eq!(refused, []);
    }
    fake::capture(0);
    // SAFETY: as above.
    unsafe { own.refuse_captures([stream(HOME), stream(OWN)].into_iter()) }.unwrap();
    // The default stream, while one that waits for it is captured.
    fake::fail(Some(("stream_is_capturing", Status::STREAM_CAPTURE_IMPLICIT)));
    // SAFETY: as above.
    unsafe { own.refuse_captures([].into_iter()) }.unwrap_err().assert_captured();
    fake::fail(None);
}

impl Error {
    fn assert_captured(&self) {
        assert!(matches!(self, Error::Captured), "{self}");
    }
}

/// A stream of somebody else's, and three buffers of the device.
fn launched(device: &Device) -> (Stream, [Buffer<i32>; 3]) {
    let gpu = Some(borrowed(device, OWN));
    let buffers = std::array::from_fn(|_| device.zeroed::<i32>(100).unwrap());
    (Stream { device: device.clone(), gpu }, buffers)
}

#[test]
fn a_launch_over_buffers_in_a_stream_of_somebody_elses_has_its_event_at_once() {
    let (device, _) = kept();
    device.load(&MODULE).unwrap();
    let (stream, [left, right, mut out]) = launched(&device);
    let mut start =
        || launch(&stream, 1, &TWO_INPUTS, [Bound::input(&left), Bound::input(&right), Bound::output(&mut out)]);
    start().unwrap();
    let made = steps(|| start().unwrap());
    // What others put there later is not waited for.
    let [Step::Work { stream: OWN }, Step::Record { stream: OWN, .. }] = &made[..] else { panic!("{made:?}") };
    fake::capture(OWN);
    assert_eq!(steps(|| start().unwrap_err().assert_captured()), []);
    assert!(matches!(stream.record().map(drop), Err(Error::Captured)));
    fake::capture(0);
    // The stream stays its owner's.
    let given_back = steps(|| drop(stream));
    assert_eq!(given_back, []);
}

#[test]
fn a_device_in_a_context_of_somebody_elses_waits_and_gives_back_what_it_made_there() {
    let (device, keep) = kept();
    device.load(&MODULE).unwrap();
    drop(fake::calls());
    drop(device);
    let calls = fake::calls();
    assert_eq!(calls, ["context_get_current", "context_synchronize", "host_free", "module_unload", "stream_destroy"]);
    assert_eq!(Arc::strong_count(&keep), 1);
    // What cannot be waited for stays, with all that it needs.
    let (device, keep) = kept();
    fake::fail(Some(("context_synchronize", Status(900))));
    drop(fake::calls());
    drop(device);
    fake::fail(None);
    let calls = fake::calls();
    assert!(
        calls.iter().all(|call| !call.contains("free") && !call.contains("unload") && !call.contains("destroy")),
        "{calls:?}"
    );
    assert_eq!(Arc::strong_count(&keep), 2);
}

/// Lends a buffer in a stream.
fn lend(buffer: &Buffer<i32>, access: Access, stream: GpuStream) -> Result<Loan, Error> {
    match &buffer.memory {
        Memory::Gpu(memory) => memory.lend(access, stream),
        Memory::Cpu(_) => unreachable!("a GPU was opened"),
    }
}

#[test]
fn a_loan_comes_after_launches_and_before_later_ones() {
    let (device, _) = kept();
    device.load(&MODULE).unwrap();
    let (stream, [left, right, mut out]) = launched(&device);
    let arguments = [Bound::input(&left), Bound::input(&right), Bound::output(&mut out)];
    launch(&stream, 1, &TWO_INPUTS, &arguments).unwrap();
    let mut loan = None;
    let lent = steps(|| loan = Some(lend(&out, Access::Read, borrowed(&device, HOME)).unwrap()));
    let [Step::HoldBack { stream: HOME, .. }] = &lent[..] else { panic!("{lent:?}") };
    let error = launch(&stream, 1, &TWO_INPUTS, &arguments).unwrap_err();
    assert!(matches!(error, Error::Lent { written: false }), "{error}");
    let returned = steps(|| drop(loan));
    let [Step::Record { event, stream: HOME }] = returned[..] else { panic!("{returned:?}") };
    let later = steps(|| launch(&stream, 1, &TWO_INPUTS, &arguments).unwrap());
    assert!(later.starts_with(&[Step::HoldBack { stream: OWN, event }, Step::Work { stream: OWN }]), "{later:?}");
}

#[test]
fn what_is_lent_to_be_written_is_of_no_use_meanwhile() {
    let (device, _) = kept();
    let (_, [buffer, ..]) = launched(&device);
    let loan = lend(&buffer, Access::Write, borrowed(&device, HOME)).unwrap();
    let again = lend(&buffer, Access::Read, borrowed(&device, OWN)).map(drop);
    assert!(matches!(again, Err(Error::Lent { written: true })));
    assert!(matches!(buffer.download(), Err(Error::Lent { written: true })));
    drop(loan);
    buffer.download().unwrap();
    let readers = [HOME, OWN].map(|number| lend(&buffer, Access::Read, borrowed(&device, number)).unwrap());
    buffer.download().unwrap();
    assert!(matches!(
        lend(&buffer, Access::Write, borrowed(&device, OWN)).map(drop),
        Err(Error::Lent { written: false })
    ));
    drop(readers);
    lend(&buffer, Access::Write, borrowed(&device, OWN)).map(drop).unwrap();
}

#[test]
fn memory_of_a_loan_that_is_forgotten_or_ends_in_a_capture_is_never_freed() {
    for is_forgotten in [true, false] {
        let (device, _) = kept();
        let (_, [buffer, ..]) = launched(&device);
        let address = buffer.memory.address();
        let loan = lend(&buffer, Access::Write, borrowed(&device, HOME)).unwrap();
        fake::capture(HOME);
        if is_forgotten {
            std::mem::forget(loan)
        } else {
            drop(loan)
        }
        fake::capture(0);
        assert!(matches!(buffer.download(), Err(Error::Lent { written: true })));
        let freed = steps(|| drop(buffer));
        assert!(!freed.contains(&Step::Free { address }), "{freed:?}");
    }
    let (device, _) = kept();
    let (_, [buffer, ..]) = launched(&device);
    let address = buffer.memory.address();
    let loan = lend(&buffer, Access::Write, borrowed(&device, HOME)).unwrap();
    let kept_by_loan = steps(|| drop(buffer));
    assert_eq!(kept_by_loan, []);
    let freed = steps(|| drop(loan));
    let [Step::Record { event, stream: HOME }, Step::WaitForEvent { event: waited }, Step::Free { address: at }] =
        freed[..]
    else {
        panic!("{freed:?}")
    };
    assert_eq!((waited, at), (event, address));
}
