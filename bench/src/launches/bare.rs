//! `tilepipe-bench launches --bare`: our typed launch beside `cuLaunchKernel` with the same
//! function and the same arguments, in one process, a round of each in turns.

use std::ffi::c_void;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use cudarc::driver::result::{self, stream};
use cudarc::driver::sys::{CUfunction, CUstream};
use cudarc::driver::{CudaContext, CudaSlice, DevicePtr, DevicePtrMut};
use tilepipe::launch::Instance;
use tilepipe_host::foreign::{self, Call};
use tilepipe_host::{Bound, Device, ForeignSlice, ForeignSliceMut};
use tilepipe_kernels::compute::NeighbourSum;
use tilepipe_kernels::{example_kernel, without_memcpy_async};
use tilepipe_runner::built;

use super::{KERNELS, Options, WARM_UP, round};
use crate::machine;
use crate::record::costs::{Launch, Launches};

/// What the third kernel takes: a launch of it uses other buffers than the one before, so that what
/// comes after that one alone needs an event.
const IN_TURNS: &str = "one input, two outputs in turns";
/// What the fourth one takes: memory at addresses, in a stream of somebody else's, as from PyTorch.
const FOREIGN: &str = "memory of others, in their stream";
/// What the others take: slices of cudarc's. What is beside them is the driver's call alone, and
/// that between the waits and events by which cudarc orders the slice's uses.
const SLICES: [&str; 2] = ["slices of cudarc's", "slices of cudarc's, beside its own guards"];
/// Slices that were allocated without such events, which their stream alone orders.
const UNTRACKED: &str = "slices of cudarc's without its events";

/// Times both ways to launch each kernel.
///
/// # Errors
///
/// No GPU, kernels that are missing, or a call that failed.
pub fn measure(options: &Options, module: &Path) -> Result<Launches> {
    let date = machine::now();
    let device = Device::gpu(0).context("the launches need a GPU")?;
    device.load(&built::read(module)?)?;
    let mut kernels = over_buffers(options, &device)?;
    kernels.extend(over_memory_of_others(options, module)?);
    Ok(Launches {
        date,
        commit: options.origin.commit.clone(),
        command: options.origin.command(),
        gpu: device.name().to_owned(),
        launches: options.launches,
        kernels,
    })
}

/// Times launches over our buffers, in our stream.
fn over_buffers(options: &Options, device: &Device) -> Result<Vec<Launch>> {
    let (stream, own) = (device.stream()?, OwnStream::new(device)?);
    let (left, right, mut out) = (device.zeroed::<i32>(1)?, device.zeroed::<i32>(1)?, device.zeroed::<i32>(1)?);
    let wait = || Ok(stream.synchronize()?);

    let calls = [foreign::call(device, one_input()?, &[Bound::input(&left), Bound::output(&mut out)])?];
    let typed = || Ok(without_memcpy_async::launch::<i32, NeighbourSum, 128>(&stream, 1, &left, &mut out)?);
    let one = beside(options, KERNELS[0], (typed, wait), (own.driver(calls), || own.wait()))?;

    let arguments = [Bound::input(&left), Bound::input(&right), Bound::output(&mut out)];
    let calls = [foreign::call(device, two_inputs()?, &arguments)?];
    let typed = || Ok(example_kernel::launch::<i32, 128>(&stream, 1, &left, &right, &mut out)?);
    let two = beside(options, KERNELS[1], (typed, wait), (own.driver(calls), || own.wait()))?;

    let mut outs = [out, device.zeroed::<i32>(1)?];
    let kernel = one_input()?;
    let [first, second] =
        outs.each_mut().map(|out| foreign::call(device, kernel, &[Bound::input(&left), Bound::output(out)]));
    let calls = [first?, second?];
    let typed = || {
        outs.swap(0, 1);
        Ok(without_memcpy_async::launch::<i32, NeighbourSum, 128>(&stream, 1, &left, &mut outs[0])?)
    };
    let turns = beside(options, IN_TURNS, (typed, wait), (own.driver(calls), || own.wait()))?;
    Ok(vec![one, two, turns])
}

/// Times launches in a program that uses cudarc, whose context is the one of CUDA's runtime.
fn over_memory_of_others(options: &Options, module: &Path) -> Result<Vec<Launch>> {
    let context = CudaContext::new(0)?;
    let theirs = context.new_stream()?;
    let input = theirs.clone_htod(&[0_i32])?;
    let mut outputs = [theirs.alloc_zeros::<i32>(1)?, theirs.alloc_zeros::<i32>(1)?];
    theirs.synchronize()?;
    let mut launches = Vec::new();

    // As from PyTorch: what is known of the memory is where it lies.
    let device = Device::primary(0)?;
    device.load(&built::read(module)?)?;
    let own = OwnStream::new(&device)?;
    // SAFETY: a stream of the primary context, which stays until the program ends and which nobody
    // captures, with kernels of this program alone.
    let stream = unsafe { device.stream_from_raw(own.0.cast()) }?;
    let address = |slice: &CudaSlice<i32>| slice.device_ptr(&theirs).0;
    // SAFETY: (0) one number lies there, in the primary context; (1) the slices outlive the
    // launches, which are waited for; (2) and nobody else uses them meanwhile.
    let from = unsafe { ForeignSlice::<i32>::new(&device, address(&input), 1) }?;
    // SAFETY: as for the input.
    let mut to = unsafe { ForeignSliceMut::<i32>::new(&device, address(&outputs[0]), 1) }?;
    let (buffer, mut written) = (device.zeroed::<i32>(1)?, device.zeroed::<i32>(1)?);
    let calls = [foreign::call(&device, one_input()?, &[Bound::input(&buffer), Bound::output(&mut written)])?];
    let typed = || Ok(without_memcpy_async::launch::<i32, NeighbourSum, 128>(&stream, 1, &from, &mut to)?);
    let wait = || Ok(stream.synchronize()?);
    launches.push(beside(options, FOREIGN, (typed, wait), (own.driver(calls), || own.wait()))?);

    let device = Device::from_cudarc(&context)?;
    device.load(&built::read(module)?)?;
    let (own, stream) = (OwnStream::new(&device)?, device.stream_from_cudarc(&theirs)?);
    let (buffer, mut written) = (device.zeroed::<i32>(1)?, device.zeroed::<i32>(1)?);
    let [out, other] = &mut outputs;
    let wait = || Ok(stream.synchronize()?);
    for (name, is_guarded) in SLICES.into_iter().zip([false, true]) {
        let typed = || Ok(without_memcpy_async::launch::<i32, NeighbourSum, 128>(&stream, 1, &input, &mut *out)?);
        let calls = [foreign::call(&device, one_input()?, &[Bound::input(&buffer), Bound::output(&mut written)])?];
        let mut driver = own.driver(calls);
        let bare = || {
            let _guards = is_guarded.then(|| (input.device_ptr(&theirs), other.device_ptr_mut(&theirs)));
            driver()
        };
        launches.push(beside(options, name, (typed, wait), (bare, || own.wait()))?);
    }

    // SAFETY: from here on memory is used in one stream, or waited for.
    unsafe { context.disable_event_tracking() };
    let (input, mut out) = (theirs.clone_htod(&[0_i32])?, theirs.alloc_zeros::<i32>(1)?);
    let typed = || Ok(without_memcpy_async::launch::<i32, NeighbourSum, 128>(&stream, 1, &input, &mut out)?);
    let calls = [foreign::call(&device, one_input()?, &[Bound::input(&buffer), Bound::output(&mut written)])?];
    launches.push(beside(options, UNTRACKED, (typed, wait), (own.driver(calls), || own.wait()))?);
    Ok(launches)
}

fn one_input() -> Result<&'static Instance> {
    instance("without_memcpy_async", &[("T", "i32"), ("C", "NeighbourSum")])
}

fn two_inputs() -> Result<&'static Instance> {
    instance("example_kernel", &[("T", "i32")])
}

/// The instance of one of our kernels with 128 threads and these generic arguments.
fn instance(kernel: &str, generics: &[(&str, &str)]) -> Result<&'static Instance> {
    let last = |path: &'static str| path.rsplit("::").next().unwrap_or(path);
    let fits = |one: &&Instance| {
        let has = |(name, value): &(&str, &str)| one.generic(name).is_some_and(|path| last(path) == *value);
        one.kernel() == kernel && one.threads() == 128 && generics.iter().all(has)
    };
    let fitting: Vec<&'static Instance> = tilepipe_kernels::registry().into_iter().flatten().filter(fits).collect();
    ensure!(fitting.len() == 1, "{} instances of `{kernel}` fit, and one is needed", fitting.len());
    Ok(fitting[0])
}

/// A stream of the device, for calls of the driver. It stays until the program ends.
struct OwnStream(CUstream);

impl OwnStream {
    /// Makes a stream in the device's context.
    fn new(device: &Device) -> Result<OwnStream> {
        // Makes the device's context this thread's, which the call below uses.
        device.synchronize()?;
        Ok(OwnStream(stream::create(stream::StreamKind::NonBlocking).context("cannot make a stream")?))
    }

    /// The driver's calls, one by one in turns if there are several.
    fn driver<const CALLS: usize>(&self, mut calls: [Call; CALLS]) -> impl FnMut() -> Result<()> {
        let stream = self.0;
        let mut turn = 0;
        let mut parameters = Vec::new();
        move || {
            let call = &mut calls[turn % CALLS];
            turn += 1;
            let (function, threads): (CUfunction, _) = (call.function.cast(), (call.threads, 1, 1));
            parameters.clear();
            parameters.extend(call.parameters.iter_mut().map(|one| one.as_mut_ptr().cast::<c_void>()));
            // SAFETY: the function is alive as long as the device, which the caller of `driver`
            // holds; it has as many parameters as there are pointers, each to 32 bytes, which is
            // what `foreign::call` gives for it; its memory is that of the caller's buffers, which
            // nobody else uses: launches of the two ways are waited for before the others begin.
            unsafe { result::launch_kernel(function, (1, 1, 1), threads, call.shared_bytes, stream, &mut parameters) }
                .context("cannot launch a kernel by the driver alone")
        }
    }

    /// Waits for the driver's launches.
    fn wait(&self) -> Result<()> {
        // SAFETY: the stream was made by `new`, and is never destroyed.
        unsafe { stream::synchronize(self.0) }.context("cannot wait for the GPU")
    }
}

/// Times rounds of our launch and of the driver's in turns, the one that begins changing; each with
/// what waits for its launches.
fn beside(
    options: &Options,
    kernel: &str,
    (mut typed, mut wait): (impl FnMut() -> Result<()>, impl FnMut() -> Result<()>),
    (mut bare, mut wait_bare): (impl FnMut() -> Result<()>, impl FnMut() -> Result<()>),
) -> Result<Launch> {
    round(WARM_UP, &mut typed, &mut wait)?;
    round(WARM_UP, &mut bare, &mut wait_bare)?;
    let mut launch = Launch { kernel: kernel.to_owned(), checked: Vec::new(), bare: Vec::new() };
    for number in 0..options.rounds {
        if number % 2 == 0 {
            launch.checked.push(round(options.launches, &mut typed, &mut wait)?);
        }
        launch.bare.push(round(options.launches, &mut bare, &mut wait_bare)?);
        if number % 2 == 1 {
            launch.checked.push(round(options.launches, &mut typed, &mut wait)?);
        }
    }
    Ok(launch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instances_are_those_of_the_typed_launches() {
        assert_eq!(one_input().unwrap().name(), "without_memcpy_async__i32_NeighbourSum_128");
        assert_eq!(two_inputs().unwrap().name(), "example_kernel__i32_128");
        assert!(instance("example_kernel", &[]).is_err() && instance("no_kernel", &[]).is_err());
    }

    #[test]
    fn the_cpu_has_no_call() {
        let device = Device::cpu(tilepipe_host::Schedule::Lazy);
        let (input, mut out) = (device.zeroed::<i32>(1).unwrap(), device.zeroed::<i32>(1).unwrap());
        let arguments = [Bound::input(&input), Bound::output(&mut out)];
        let error = foreign::call(&device, one_input().unwrap(), &arguments).unwrap_err();
        assert!(error.to_string().contains("GPU"), "{error}");
        let error = foreign::call(&device, one_input().unwrap(), &arguments[..1]).unwrap_err();
        assert!(matches!(error, tilepipe_host::Error::ArgumentCount { given: 1, .. }), "{error}");
    }
}
