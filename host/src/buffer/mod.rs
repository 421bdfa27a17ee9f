//! Buffers: typed memory of a device.

mod buffer2d;
mod nd;
mod rows;
mod slice;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;
use tilepipe::Element;

pub use self::buffer2d::Buffer2D;
pub(crate) use self::buffer2d::elements_aligned_to;
pub use self::nd::{BufferNd, SliceNd, SliceNdMut};
pub(crate) use self::nd::{DIMENSIONS, Layout};
pub(crate) use self::rows::Rectangle;
#[cfg(feature = "cudarc")]
pub(crate) use self::rows::dense;
pub use self::rows::{Rows, RowsMut};
pub use self::slice::{Slice, SliceMut};
#[cfg(feature = "cudarc")]
use crate::access::Access;
use crate::cpu::CpuMemory;
use crate::device::{Backend, Device};
use crate::error::Error;
use crate::gpu::memory::GpuMemory;
#[cfg(feature = "cudarc")]
use crate::gpu::{memory::Loan, queue::GpuStream};

/// `len` elements in the memory of a device, at least one.
///
/// Made by [`Device::upload`], [`Device::zeroed`] and [`Device::filled_with_byte`]. The memory is
/// shared with the launches that use it: dropping or forgetting a buffer under a running kernel is
/// fine, and its memory is freed when the kernel is done. Reads and writes from the host wait for
/// the launches that they conflict with.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Input, TilesMut, kernel};
/// use tilepipe_host::{Device, Schedule};
///
/// #[kernel]
/// fn add_one(block: Block<64>, input: Input<i32>, mut out: TilesMut<i32, 64>) {
///     let mut results = out.for_block(&block);
///     for i in 0..results.len() {
///         let first = 64 * results.number(i);
///         let result = results.get_mut(i);
///         block.threads(|t| result.set(&t, input.get(first + t.rank()).unwrap_or(0) + 1));
///     }
/// }
///
/// fn main() -> Result<(), tilepipe_host::Error> {
///     let device = Device::cpu(Schedule::Lazy);
///     let stream = device.stream()?;
///     let (mut numbers, mut others) = (device.upload(&[5; 100])?, device.zeroed(100)?);
///     // The second launch reads what the first one writes, so it waits; so does `download`.
///     add_one::launch(&stream, 2, &numbers, &mut others)?;
///     add_one::launch(&stream, 2, &others, &mut numbers)?;
///     assert_eq!(numbers.download()?, [7; 100]);
///     numbers.write(&[1; 100])
/// }
/// ```
pub struct Buffer<T> {
    pub(crate) device: Device,
    pub(crate) memory: Memory,
    len: usize,
    element: PhantomData<fn(T) -> T>,
}

/// The memory behind a buffer, counted by its handles.
#[derive(Clone)]
pub(crate) enum Memory {
    Gpu(Arc<GpuMemory>),
    Cpu(Arc<CpuMemory>),
}

impl Memory {
    /// Returns the address of the first byte.
    pub(crate) fn address(&self) -> u64 {
        match self {
            Memory::Gpu(memory) => memory.address,
            Memory::Cpu(memory) => memory.address(),
        }
    }

    /// Returns the device that it is of.
    pub(crate) fn device(&self) -> Device {
        Device {
            backend: match self {
                Memory::Gpu(memory) => Backend::Gpu(Arc::clone(&memory.context)),
                Memory::Cpu(memory) => Backend::Cpu(Arc::clone(memory.device())),
            },
        }
    }

    /// Says whether it is memory of this device, opened by the same call.
    pub(crate) fn is_of(&self, device: &Device) -> bool {
        match (self, &device.backend) {
            (Memory::Gpu(memory), Backend::Gpu(context)) => Arc::ptr_eq(&memory.context, context),
            (Memory::Cpu(memory), Backend::Cpu(cpu)) => Arc::ptr_eq(memory.device(), cpu),
            _ => false,
        }
    }

    /// Lends the memory, which is of the stream's context.
    #[cfg(feature = "cudarc")]
    pub(crate) fn lend(&self, access: Access, stream: GpuStream) -> Result<Loan, Error> {
        match self {
            Memory::Gpu(memory) => memory.lend(access, stream),
            // No stream is of its context.
            Memory::Cpu(_) => Err(Error::NoDriver),
        }
    }

    /// Says whether both are the same allocation.
    pub(crate) fn is(&self, other: &Memory) -> bool {
        match (self, other) {
            (Memory::Gpu(one), Memory::Gpu(two)) => Arc::ptr_eq(one, two),
            (Memory::Cpu(one), Memory::Cpu(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }
}

impl Device {
    /// Makes a buffer that holds a copy of `data`.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyBuffer`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<T>, Error> {
        let bytes = size_in_bytes::<T>(data.len())?;
        let memory = match &self.backend {
            Backend::Gpu(context) => Memory::Gpu(Arc::new(GpuMemory::from_bytes(context, bytemuck::cast_slice(data))?)),
            Backend::Cpu(device) => {
                let memory = CpuMemory::filled(device, bytes, 0)?;
                memory.write(bytemuck::cast_slice(data))?;
                Memory::Cpu(Arc::new(memory))
            }
        };
        Ok(Buffer::new(self, memory, data.len()))
    }

    /// Makes a buffer of `len` elements whose bytes are all zero.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyBuffer`], [`Error::SizeOverflow`], [`Error::OutOfMemory`],
    /// [`Error::DeviceLost`].
    pub fn zeroed<T: Element>(&self, len: usize) -> Result<Buffer<T>, Error> {
        self.filled_with_byte(len, 0)
    }

    /// Makes a buffer of `len` elements whose bytes are all `byte`: poison that shows what a kernel
    /// did not write.
    ///
    /// # Errors
    ///
    /// As for [`Device::zeroed`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// let poisoned = device.filled_with_byte::<u32>(2, 0xA5)?;
    /// assert_eq!(poisoned.download()?, [0xA5A5_A5A5, 0xA5A5_A5A5]);
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    pub fn filled_with_byte<T: Element>(&self, len: usize, byte: u8) -> Result<Buffer<T>, Error> {
        let bytes = size_in_bytes::<T>(len)?;
        let memory = match &self.backend {
            Backend::Gpu(context) => Memory::Gpu(Arc::new(GpuMemory::filled(context, bytes, byte)?)),
            Backend::Cpu(device) => Memory::Cpu(Arc::new(CpuMemory::filled(device, bytes, byte)?)),
        };
        Ok(Buffer::new(self, memory, len))
    }
}

impl<T: Element> Buffer<T> {
    /// Wraps memory of `len` elements of `device`.
    pub(crate) fn new(device: &Device, memory: Memory, len: usize) -> Self {
        Buffer { device: device.clone(), memory, len, element: PhantomData }
    }

    /// Returns the number of elements, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "no buffer is empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the device whose memory this is.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits for the launches that write the buffer, and returns a copy of its elements.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] of the host, [`Error::KernelPanicked`] or [`Error::KernelTrapped`] if
    /// a kernel failed, [`Error::DeviceLost`] afterwards.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        let mut data = zeroed_vec(self.len)?;
        self.read(&mut data)?;
        Ok(data)
    }

    /// Waits for the launches that write the buffer, and copies its elements to `data`, which must
    /// have as many.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`]; else as for [`Buffer::download`].
    pub fn read(&self, data: &mut [T]) -> Result<(), Error> {
        self.expect_length(data.len())?;
        let bytes = bytemuck::cast_slice_mut(data);
        match &self.memory {
            Memory::Gpu(memory) => memory.read(bytes),
            Memory::Cpu(memory) => memory.read(bytes),
        }
    }

    /// Waits for the launches that use the buffer, and replaces its elements by `data`, which must
    /// be as many.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`]; [`Error::KernelPanicked`] or [`Error::KernelTrapped`] if a kernel
    /// failed, [`Error::DeviceLost`] afterwards.
    pub fn write(&mut self, data: &[T]) -> Result<(), Error> {
        self.expect_length(data.len())?;
        let bytes = bytemuck::cast_slice(data);
        match &self.memory {
            Memory::Gpu(memory) => memory.write(bytes),
            Memory::Cpu(memory) => memory.write(bytes),
        }
    }

    fn expect_length(&self, given: usize) -> Result<(), Error> {
        if given == self.len {
            return Ok(());
        }
        Err(Error::LengthMismatch { given, len: self.len })
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let element = std::any::type_name::<T>();
        formatter.debug_struct("Buffer").field("element", &element).field("len", &self.len).finish_non_exhaustive()
    }
}

/// Returns `len` zeroed elements in the host's memory; their bytes fit in an `isize`.
fn zeroed_vec<T: Element>(len: usize) -> Result<Vec<T>, Error> {
    let mut data = Vec::new();
    data.try_reserve_exact(len).map_err(|_| Error::OutOfMemory {
        device: "the host".to_owned(),
        wanted: len * size_of::<T>(),
        free: None,
    })?;
    data.resize(len, T::zeroed());
    Ok(data)
}

/// Returns the size of `len` elements, at least 1, in bytes.
fn size_in_bytes<T: Pod>(len: usize) -> Result<usize, Error> {
    let element = std::any::type_name::<T>();
    if len == 0 || size_of::<T>() == 0 {
        return Err(Error::EmptyBuffer { element });
    }
    let limit = isize::MAX as usize / size_of::<T>();
    if len > limit {
        return Err(Error::SizeOverflow { elements: len, element, limit });
    }
    Ok(len * size_of::<T>())
}
