//! Devices: a GPU or the CPU.

use std::sync::Arc;

use tilepipe::cpu::Schedule;
use tilepipe::launch::Instance;

use crate::cpu::{self, CpuDevice};
use crate::error::Error;
use crate::gpu::context::Context;
use crate::gpu::module::Resources;
use crate::module::Module;

/// What kind of device runs the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// An NVIDIA GPU.
    Gpu,
    /// The CPU, by the executor of the `tilepipe` crate.
    Cpu,
}

/// A GPU or the CPU, opened to run kernels. Clones are the same device.
///
/// Every call to [`Device::open`], [`Device::gpu`] or [`Device::cpu`] opens a device anew: a GPU
/// with a context of its own. Buffers, streams and events belong to the device that made them.
/// After a kernel has panicked or trapped the device is unusable, and every call says so with the
/// first failure's message; open it anew then.
///
/// # Examples
///
/// ```
/// use tilepipe_host::{Device, DeviceKind, Schedule};
///
/// let device = Device::cpu(Schedule::Random { seed: 7 });
/// assert_eq!(device.kind(), DeviceKind::Cpu);
/// let buffer = device.upload(&[1, 2, 3])?;
/// assert_eq!(buffer.download()?, [1, 2, 3]);
/// # Ok::<(), tilepipe_host::Error>(())
/// ```
#[derive(Clone)]
pub struct Device {
    pub(crate) backend: Backend,
}

/// The two kinds of device.
#[derive(Clone)]
pub(crate) enum Backend {
    Gpu(Arc<Context>),
    Cpu(Arc<CpuDevice>),
}

impl Device {
    /// Opens GPU 0 if there are a driver and a GPU, else the CPU with the default schedule.
    ///
    /// # Errors
    ///
    /// Those of [`Device::gpu`], except for a missing driver or GPU: a GPU that is there and cannot
    /// be used is not silently replaced.
    pub fn open() -> Result<Device, Error> {
        match Device::gpu(0) {
            Err(Error::NoDriver | Error::NoSuchGpu { .. }) => Ok(Device::cpu(Schedule::default())),
            opened => opened,
        }
    }

    /// Opens GPU `ordinal`, counted from 0 as the driver does (`CUDA_VISIBLE_DEVICES` applies).
    ///
    /// # Errors
    ///
    /// [`Error::NoDriver`], [`Error::DriverTooOld`], [`Error::NoSuchGpu`],
    /// [`Error::ArchitectureTooOld`] below `sm_80`, and [`Error::Driver`] if the driver refuses a
    /// context.
    pub fn gpu(ordinal: u32) -> Result<Device, Error> {
        Ok(Device { backend: Backend::Gpu(Arc::new(Context::open(ordinal)?)) })
    }

    /// Opens the CPU; asynchronous copies land when the schedule says so.
    pub fn cpu(schedule: Schedule) -> Device {
        Device { backend: Backend::Cpu(Arc::new(CpuDevice::new(schedule))) }
    }

    /// Returns the device's name, for people.
    pub fn name(&self) -> &str {
        match &self.backend {
            Backend::Gpu(context) => &context.name,
            Backend::Cpu(device) => &device.name,
        }
    }

    /// Returns whether this is a GPU or the CPU.
    pub fn kind(&self) -> DeviceKind {
        match &self.backend {
            Backend::Gpu(_) => DeviceKind::Gpu,
            Backend::Cpu(_) => DeviceKind::Cpu,
        }
    }

    /// Returns the compute capability, major and minor, of a GPU: (9, 0) for `sm_90`.
    pub fn compute_capability(&self) -> Option<(u32, u32)> {
        match &self.backend {
            Backend::Gpu(context) => Some(context.capability),
            Backend::Cpu(_) => None,
        }
    }

    /// Returns the device's memory in bytes; for the CPU the machine's, or 0 where it does not say.
    pub fn total_memory(&self) -> u64 {
        match &self.backend {
            Backend::Gpu(context) => context.total_memory,
            Backend::Cpu(_) => cpu::memory_information("MemTotal:").unwrap_or(0),
        }
    }

    /// Returns how many bytes of shared memory a block can have: what a GPU grants on request, 227
    /// KiB on the CPU.
    pub fn shared_memory_limit(&self) -> usize {
        match &self.backend {
            Backend::Gpu(context) => context.shared_limit,
            Backend::Cpu(_) => cpu::SHARED_LIMIT,
        }
    }

    /// Returns how many threads a block can have; a kernel that uses many registers may have fewer.
    pub fn threads_limit(&self) -> u32 {
        match &self.backend {
            Backend::Gpu(context) => context.threads_limit,
            Backend::Cpu(_) => cpu::THREADS_LIMIT,
        }
    }

    /// Returns how many multiprocessors a GPU has; none for the CPU. Times [`Resources::blocks`]
    /// that is the largest grid all of whose blocks run at once.
    pub fn multiprocessors(&self) -> Option<u32> {
        match &self.backend {
            Backend::Gpu(context) => Some(context.multiprocessors),
            Backend::Cpu(_) => None,
        }
    }

    /// Makes a module's kernels launchable on this device; does nothing on the CPU.
    ///
    /// A GPU takes a cubin of its own major architecture and no newer minor one, or else compiles
    /// the PTX. Loading the same module again has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::PtxTooNew`], [`Error::Compilation`] with the driver's log, [`Error::BadModule`],
    /// [`Error::DeviceLost`]; [`Error::NoKernels`] on a GPU if the program was built without them.
    pub fn load(&self, module: &Module) -> Result<(), Error> {
        match &self.backend {
            Backend::Gpu(context) => module.images()?.iter().try_for_each(|image| context.load(image)),
            Backend::Cpu(device) => device.enter(),
        }
    }

    /// Returns what a block of a kernel takes of a GPU, and how many of them fit on a
    /// multiprocessor at once; none on the CPU.
    ///
    /// CUDA: `cudaFuncGetAttributes`, `cudaOccupancyMaxActiveBlocksPerMultiprocessor`.
    ///
    /// # Errors
    ///
    /// [`Error::NotLoaded`]; [`Error::SharedMemory`] and [`Error::BlockTooLarge`] for a block that
    /// is too large for the GPU; [`Error::DeviceLost`].
    pub fn resources(&self, instance: &Instance) -> Result<Option<Resources>, Error> {
        match &self.backend {
            Backend::Gpu(context) => context.resources(instance).map(Some),
            Backend::Cpu(_) => Ok(None),
        }
    }

    /// Waits for all work on the device.
    ///
    /// # Errors
    ///
    /// [`Error::KernelPanicked`] or [`Error::KernelTrapped`] if a kernel failed,
    /// [`Error::DeviceLost`] afterwards.
    pub fn synchronize(&self) -> Result<(), Error> {
        match &self.backend {
            Backend::Gpu(context) => context.synchronize(),
            Backend::Cpu(device) => device.enter(),
        }
    }

    /// Says whether a kernel has failed on this device, which is unusable since.
    pub fn is_lost(&self) -> bool {
        match &self.backend {
            Backend::Gpu(context) => context.is_lost(),
            Backend::Cpu(device) => device.enter().is_err(),
        }
    }

    /// Says whether both are the same device, opened by the same call.
    pub(crate) fn is(&self, other: &Device) -> bool {
        match (&self.backend, &other.backend) {
            (Backend::Gpu(one), Backend::Gpu(two)) => Arc::ptr_eq(one, two),
            (Backend::Cpu(one), Backend::Cpu(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }

    /// Fails unless `owner`, the maker of `what`, is this device.
    pub(crate) fn expect(&self, owner: &Device, what: impl FnOnce() -> String) -> Result<(), Error> {
        if self.is(owner) {
            return Ok(());
        }
        let name = |device: &Device, other: &Device| match device.name() == other.name() {
            true => format!("{} as another call opened it", device.name()),
            false => device.name().to_owned(),
        };
        Err(Error::WrongDevice { what: what(), owner: name(owner, self), device: self.name().to_owned() })
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Device").field("name", &self.name()).field("lost", &self.is_lost()).finish()
    }
}
