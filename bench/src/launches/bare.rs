//! `tilepipe-bench launches --bare`: our typed launch beside `cuLaunchKernel` with the same
//! function and the same arguments, in one process, a round of each in turns.

use std::ffi::c_void;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use cudarc::driver::result::{self, stream};
use cudarc::driver::sys::{CUfunction, CUstream};
use tilepipe::launch::Instance;
use tilepipe_host::foreign::{self, Call};
use tilepipe_host::{Bound, Device};
use tilepipe_kernels::compute::NeighbourSum;
use tilepipe_kernels::{example_kernel, without_memcpy_async};
use tilepipe_runner::built;

use super::{KERNELS, Options, WARM_UP, round};
use crate::machine;
use crate::record::costs::{Launch, Launches};

/// What the third kernel takes: a launch of it uses other buffers than the one before, so that what
/// comes after that one alone needs an event.
const IN_TURNS: &str = "one input, two outputs in turns";

/// Times both ways to launch each kernel.
///
/// # Errors
///
/// No GPU, kernels that are missing, or a call that failed.
pub fn measure(options: &Options, module: &Path) -> Result<Launches> {
    let date = machine::now();
    let device = Device::gpu(0).context("the launches need a GPU")?;
    device.load(&built::read(module)?)?;
    let (stream, own) = (device.stream()?, OwnStream::new(&device)?);
    let (left, right, mut out) = (device.zeroed::<i32>(1)?, device.zeroed::<i32>(1)?, device.zeroed::<i32>(1)?);

    let calls = [foreign::call(&device, one_input()?, &[Bound::input(&left), Bound::output(&mut out)])?];
    let mut typed = || Ok(without_memcpy_async::launch::<i32, NeighbourSum, 128>(&stream, 1, &left, &mut out)?);
    let one = own.beside(options, KERNELS[0], calls, &mut typed, &mut || Ok(stream.synchronize()?))?;

    let arguments = [Bound::input(&left), Bound::input(&right), Bound::output(&mut out)];
    let calls = [foreign::call(&device, two_inputs()?, &arguments)?];
    let mut typed = || Ok(example_kernel::launch::<i32, 128>(&stream, 1, &left, &right, &mut out)?);
    let two = own.beside(options, KERNELS[1], calls, &mut typed, &mut || Ok(stream.synchronize()?))?;

    let mut outs = [out, device.zeroed::<i32>(1)?];
    let kernel = one_input()?;
    let [first, second] =
        outs.each_mut().map(|out| foreign::call(&device, kernel, &[Bound::input(&left), Bound::output(out)]));
    let calls = [first?, second?];
    let mut typed = || {
        outs.swap(0, 1);
        Ok(without_memcpy_async::launch::<i32, NeighbourSum, 128>(&stream, 1, &left, &mut outs[0])?)
    };
    let turns = own.beside(options, IN_TURNS, calls, &mut typed, &mut || Ok(stream.synchronize()?))?;
    Ok(Launches {
        date,
        commit: options.origin.commit.clone(),
        command: options.origin.command(),
        gpu: device.name().to_owned(),
        launches: options.launches,
        kernels: vec![one, two, turns],
    })
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

    /// Times rounds of our launch and of the driver's in turns, the one that begins changing. The
    /// driver's calls, if there are several, take turns too.
    fn beside<const CALLS: usize>(
        &self,
        options: &Options,
        kernel: &str,
        mut calls: [Call; CALLS],
        typed: &mut dyn FnMut() -> Result<()>,
        wait: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Launch> {
        let mut next = calls.each_mut().map(|call| {
            let parameters = call.parameters.iter_mut().map(|one| one.as_mut_ptr().cast()).collect();
            (call.function.cast(), call.threads, call.shared_bytes, parameters)
        });
        let mut bare = || {
            next.rotate_left(1);
            let (function, threads, shared_bytes, parameters): &mut (CUfunction, u32, u32, Vec<*mut c_void>) =
                &mut next[0];
            // SAFETY: the function is alive as long as the device, which the caller of `beside`
            // holds; it has as many parameters as there are pointers, each to 32 bytes, which is
            // what `foreign::call` gives for it; its memory is that of the caller's buffers, which
            // nobody else uses: launches of the two ways are waited for before the others begin.
            unsafe {
                let threads = (*threads, 1, 1);
                result::launch_kernel(*function, (1, 1, 1), threads, *shared_bytes, self.0, parameters)
            }
            .context("cannot launch a kernel by the driver alone")
        };
        let mut wait_bare = || {
            // SAFETY: the stream was made by `new`, and is never destroyed.
            unsafe { stream::synchronize(self.0) }.context("cannot wait for the GPU")
        };
        round(WARM_UP, typed, wait)?;
        round(WARM_UP, &mut bare, &mut wait_bare)?;
        let mut launch = Launch { kernel: kernel.to_owned(), checked: Vec::new(), bare: Vec::new() };
        for number in 0..options.rounds {
            if number % 2 == 0 {
                launch.checked.push(round(options.launches, typed, wait)?);
            }
            launch.bare.push(round(options.launches, &mut bare, &mut wait_bare)?);
            if number % 2 == 1 {
                launch.checked.push(round(options.launches, typed, wait)?);
            }
        }
        Ok(launch)
    }
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
