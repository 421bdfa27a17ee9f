//! Launches in the primary context, over memory and in streams of somebody else's: cudarc's here,
//! which works in that context, as CUDA's runtime does.

use std::sync::Arc;
use std::thread;

use tilepipe::{Tiles, TilesMut};
use tilepipe_host::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use tilepipe_host::cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr};
use tilepipe_host::{Argument, Bound, Device, Error, ForeignSlice, ForeignSliceMut, Stream, launch};

use super::common::{INCREMENT, KERNELS};
use super::in_a_process_of_its_own;

/// Elements of the memory.
const LEN: usize = 4096;

/// A stream of somebody else's as one for launches.
fn adopt(device: &Device, stream: &CudaStream) -> Stream {
    // SAFETY: (0, 1) a stream of the primary context, which outlives what is returned in each test;
    // (2) so does the memory of the launches, which that stream alone uses; (3) no kernel of the
    // tests is launched as a dependent one but by this crate.
    unsafe { device.stream_from_raw(stream.cu_stream().cast()) }.unwrap()
}

/// `out[i] = from[i] + 1`, for the numbers at two addresses.
fn increment(ours: &Stream, [from, to]: [u64; 2]) -> Result<(), Error> {
    // SAFETY: (0) so many numbers lie there; (1) they outlive the launch, which is in their own
    // stream, (2) as is all other work on them.
    let input = unsafe { ForeignSlice::<u32>::new(ours.device(), from, LEN) }?;
    // SAFETY: as for the input.
    let mut out = unsafe { ForeignSliceMut::<u32>::new(ours.device(), to, LEN) }?;
    let output = Argument::<TilesMut<'_, u32, 128>>::bind(&mut out);
    launch(ours, 32, &INCREMENT, [Argument::<Tiles<'_, u32, 128>>::bind(&input), output, Bound::scalar(0_u64)])
}

#[test]
fn a_launch_is_captured_once_the_kernel_is_known_and_a_first_one_ends_no_capture() {
    const TEST: &str = "primary::a_launch_is_captured_once_the_kernel_is_known_and_a_first_one_ends_no_capture";
    // The kernel is known in no other test's process.
    in_a_process_of_its_own(TEST, |_| {
        let context = CudaContext::new(0).unwrap();
        let theirs: [Arc<CudaStream>; 2] = [(); 2].map(|()| context.new_stream().unwrap());
        let numbers: Vec<u32> = (0..LEN as u32).collect();
        let from = theirs.each_ref().map(|stream| stream.clone_htod(&numbers).unwrap());
        let mut out = theirs.each_ref().map(|stream| stream.alloc_zeros::<u32>(LEN).unwrap());
        // cudarc's guards would wait for events, which belong to no capture.
        let address = |slice: &CudaSlice<u32>, stream: &CudaStream| slice.device_ptr(stream).0;
        let addresses = [0, 1].map(|nth| [&from[nth], &out[nth]].map(|slice| address(slice, &theirs[nth])));
        theirs.iter().for_each(|stream| stream.synchronize().unwrap());
        let [captured, other] = &theirs;
        let [out, out_of_other] = &mut out;

        // Everything that is forbidden in any thread while a capture of this kind is under way: to
        // open the device, to load, and the first launch, which another thread makes.
        captured.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL).unwrap();
        let device = Device::primary(0).unwrap();
        device.load(&KERNELS).unwrap();
        let ours = adopt(&device, captured);
        let error = increment(&ours, addresses[0]).unwrap_err();
        assert!(matches!(error, Error::CapturedFirst { .. }), "{error}");
        thread::scope(|scope| {
            let first = || increment(&adopt(&device, other), addresses[1]).unwrap();
            scope.spawn(first).join().unwrap();
        });
        increment(&ours, addresses[0]).unwrap();
        let graph = captured.end_capture(CUgraphInstantiate_flags(0)).unwrap().unwrap();

        let expected: Vec<u32> = numbers.iter().map(|number| number + 1).collect();
        assert_eq!(other.clone_dtoh(out_of_other).unwrap(), expected);
        assert_eq!(captured.clone_dtoh(out).unwrap(), vec![0; LEN], "captured, not run");
        for _ in 0..2 {
            captured.memset_zeros(out).unwrap();
            graph.launch().unwrap();
            assert_eq!(captured.clone_dtoh(out).unwrap(), expected);
        }
    });
}
