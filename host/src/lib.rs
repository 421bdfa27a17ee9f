//! Loads and launches tilepipe kernels, on an NVIDIA GPU or on the CPU.
//!
//! A [`Device`] is opened, kernels are loaded onto it from a [`Module`], [`Buffer`]s and
//! [`Buffer2D`]s hold the data, and launches go into a [`Stream`]. Kernels made by `#[kernel]` have
//! a typed `launch` function of their own; [`launch()`] is the untyped one under it. The NVIDIA
//! driver is loaded at run time: one program runs with and without it.
//!
//! ```
//! use tilepipe_host::{Device, Schedule};
//!
//! let device = Device::cpu(Schedule::Lazy); // or Device::open(): a GPU where there is one
//! let stream = device.stream()?;
//! let input = device.upload(&[1.0_f32, 2.0, 3.0])?;
//! let out = device.zeroed::<f32>(input.len())?;
//! // my_kernel::launch::<f32, 256>(&stream, 1, &input, &mut out)?;
//! stream.synchronize()?;
//! assert_eq!(out.download()?, [0.0; 3]);
//! # Ok::<(), tilepipe_host::Error>(())
//! ```
//!
//! # Where to find what
//!
//! The guide in the repository, `docs/guide.md`, has a whole host program, and says how many blocks
//! to launch and how to time a kernel.
//!
//! ## Devices and streams
//!
//! A device is a GPU or the CPU, and a stream runs launches in order.
//!
//! - [`Device`], of a [`DeviceKind`]; [`Schedule`] says when copies land on the CPU.
//! - [`Stream`], and [`Event`] to time its work.
//!
//! ## Buffers
//!
//! A buffer is memory of a device. A launch takes it whole or in part. (`docs/guide/data.md`)
//!
//! - In one dimension: [`Buffer`], [`Slice`], [`SliceMut`].
//! - With rows: [`Buffer2D`]; [`Rows`], [`RowsMut`] are part of it, or a dense buffer seen as rows.
//! - With up to five dimensions, for tensors: [`BufferNd`], [`SliceNd`], [`SliceNdMut`].
//!
//! ## Kernels
//!
//! What the build script of the crate `tilepipe-build` left is loaded once, and launched by each
//! kernel's own `launch`.
//!
//! - [`Module`], [`built_kernels!`]; [`EmbeddedImage`] and [`EmbeddedCubin`] are what
//!   [`Module::embedded`] takes.
//! - How many blocks: [`Grid`]; how many fit: [`Resources`].
//! - An instance that is chosen at run time: [`launch()`], [`Bound`].
//!
//! ## Memory and streams of others
//!
//! - [`ForeignSlice`], [`ForeignSliceMut`]: elements at an address; [`ForeignRows`],
//!   [`ForeignRowsMut`]: rows.
//! - [`Device::primary`], [`Device::stream_from_raw`]: what CUDA's runtime uses, and so PyTorch.
//!   (`docs/guide/pytorch.md`)
//! - With the feature `cudarc`: `Device::from_cudarc`, `Device::stream_from_cudarc`, arguments that
//!   are `CudaSlice`s, views of them or their rows (`CudaRows`), `Buffer::lend`.
//!   (`docs/guide/cudarc.md`)
//!
//! ## Errors
//!
//! - [`Error`]: with what was wrong, where, and what to do about it.
//!
//! ## Types that name states
//!
//! - Bounds in the signatures of launches: [`Argument`], [`Scalar`].
//!
//! # What holds whatever the program does
//!
//! - Memory outlives every launch that uses it. A buffer's memory is counted by its handles and by
//!   the work under way, so dropping or forgetting a buffer, a stream or an event is always fine.
//! - Two launches that conflict (one writes a buffer that the other uses) run one after the other,
//!   in whichever streams; reads and writes from the host wait likewise. A [`Slice`] and [`Rows`]
//!   count as their whole buffer.
//! - After a kernel has panicked or trapped its device is unusable, and says so with the first
//!   failure's message and place. What belonged to it never gets mixed up with a device that is
//!   opened later.

mod access;
mod argument;
mod buffer;
mod cpu;
mod device;
mod error;
#[doc(hidden)]
pub mod foreign;
mod gpu;
mod grid;
#[cfg(feature = "cudarc")]
mod interop;
mod launch;
mod module;
mod primary;
mod stream;

pub use argument::{Argument, Bound, ForeignRows, ForeignRowsMut, ForeignSlice, ForeignSliceMut, Nothing, Scalar};
pub use buffer::{Buffer, Buffer2D, BufferNd, Rows, RowsMut, Slice, SliceMut, SliceNd, SliceNdMut};
#[cfg(feature = "cudarc")]
pub use cudarc;
pub use device::{Device, DeviceKind};
pub use error::Error;
pub use gpu::module::Resources;
pub use grid::Grid;
#[cfg(feature = "cudarc")]
pub use interop::{CudaRows, CudaRowsMut, LentBuffer, LentBufferMut};
pub use launch::launch;
#[doc(hidden)]
pub use module::BuiltFiles;
pub use module::{EmbeddedCubin, EmbeddedImage, Module};
pub use stream::{Event, Stream};
#[doc(inline)]
pub use tilepipe::cpu::Schedule;
#[doc(hidden)]
pub use tilepipe_macros::built_files;

/// The programs of the guide's pages about programs of others, as tests.
#[cfg(all(doctest, feature = "cudarc"))]
mod guide {
    #[doc = include_str!("../../docs/guide/cudarc.md")]
    mod cudarc {}
    #[doc = include_str!("../../docs/guide/pytorch.md")]
    mod pytorch {}
}
