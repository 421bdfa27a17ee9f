//! Launches over memory and in streams that this crate did not make, for the benchmark's C library
//! and for its graphs.
//!
//! It is no public interface: nothing here keeps memory alive or orders launches, so that all of it
//! is for the caller to answer for. Arguments are checked as those of [`launch`](crate::launch())
//! are.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

use tilepipe::launch::{Instance, ParameterInfo, ParameterKind, RawElements, RawRows};

use crate::argument::{Bound, Bytes, NOTHING, Padded, Value, matrices, matrices_of_rows, tensor};
use crate::device::{Backend, Device};
use crate::error::Error;
use crate::gpu;
use crate::gpu::context::Context;
use crate::grid::Grid;
use crate::launch::{Parameters, check_arguments, check_count, describe};

/// Elements in the GPU's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The address of the first one.
    pub address: u64,
    /// How they lie.
    pub shape: Shape,
    /// One element's size in bytes.
    pub element_bytes: usize,
    /// Whether the kernel writes them.
    pub is_output: bool,
}

/// What is passed for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument<'a> {
    /// For a view.
    View(View),
    /// For a `Constant` or a plain value such as an `f32`: its bytes, which the launch copies. A
    /// `bool` is a byte 0 or 1.
    Constant(&'a [u8]),
}

/// How the elements of a view lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// In one row.
    Row {
        /// The number of elements.
        len: u64,
    },
    /// In rows.
    Rows {
        /// Elements in a row.
        width: u64,
        /// The number of rows.
        height: u64,
        /// Elements from one row's start to the next one's.
        pitch: u64,
    },
    /// In rows that are those of matrices, parts of the rows and of their elements: for a tensor of
    /// [`Panels4`](tilepipe::Panels4), as [`Bound::in_matrices`](crate::Bound::in_matrices).
    Matrices {
        /// Elements in a row of all.
        width: u64,
        /// The number of all rows.
        height: u64,
        /// Elements from one row's start to the next one's.
        pitch: u64,
        /// Rows of a matrix, and elements in a row of it. Each divides the whole.
        of: [u64; 2],
    },
    /// In rows, each of which is matrices side by side, as
    /// [`Bound::rows_in_matrices`](crate::Bound::rows_in_matrices).
    RowsOfMatrices {
        /// Elements in a row.
        width: u64,
        /// The number of rows.
        height: u64,
        /// Elements from one row's start to the next one's.
        pitch: u64,
        /// Rows of a matrix, and elements in a row of it. What both make divides a row.
        of: [u64; 2],
    },
    /// None, for what a launch may leave out.
    Nothing,
}

/// Opens the GPU of the context that is the calling thread's, in that context.
///
/// The device gives back nothing when it is dropped: what its kernels need stays for the context's
/// life, since graphs that the context's owner has captured may launch them at any time.
///
/// # Errors
///
/// Those of [`Device::gpu`]; [`Error::Driver`] if the thread has no context.
///
/// # Safety
///
/// The context lives as long as the program uses the device and what comes from it.
pub unsafe fn current_device() -> Result<Device, Error> {
    Ok(Device { backend: Backend::Gpu(Arc::new(Context::current()?)) })
}

/// Returns how many blocks a launch of these arguments would have, after the same checks.
///
/// # Errors
///
/// As for [`launch`].
pub fn blocks(device: &Device, grid: Grid, instance: &Instance, arguments: &[Argument<'_>]) -> Result<u32, Error> {
    grid.blocks(device, instance, &bind(device, instance, arguments)?)
}

/// Starts blocks of an instance in a stream, ordered with that stream's work alone.
///
/// The first launch of an instance looks its entry up in the loaded modules, compares the contracts
/// and may wait for the GPU. Every later one only starts the kernel, and a stream that is captured
/// into a graph takes it.
///
/// # Errors
///
/// As for [`launch`](crate::launch()), where memory is compared by addresses;
/// [`Error::WrongDevice`] if the device is the CPU.
///
/// # Safety
///
/// 0. `stream` is a stream of the device's context, or null for its default stream.
/// 1. At each view's address lies memory of that context for all of its elements (rows are `pitch`
///    elements apart, and `pitch` is at least `width`), those of an input with values of the
///    parameter's element type, and a constant's bytes are a value of its type. The memory stays
///    until the launch is done, and so does every replay of a graph that captured it. So does the
///    device, if it is one of `Device::from_cudarc`.
/// 2. Nothing else writes the inputs or uses the outputs while the kernel runs, but work before it
///    in the stream, whose end it waits for.
/// 3. A kernel that somebody else launched into the stream as a dependent one (programmatic
///    dependent launch) waits for the one before it before it ends.
pub unsafe fn launch(
    device: &Device,
    stream: *mut c_void,
    grid: Grid,
    instance: &Instance,
    arguments: &[Argument<'_>],
) -> Result<(), Error> {
    let arguments = bind(device, instance, arguments)?;
    let grid = grid.blocks(device, instance, &arguments)?;
    let Backend::Gpu(context) = &device.backend else {
        let (owner, device) = ("a GPU".to_owned(), device.name().to_owned());
        return Err(Error::WrongDevice { what: "the stream".to_owned(), owner, device });
    };
    let tensors = tensor::tensors(instance, &arguments, |parameter, array, info, boxes| {
        tensor::on_gpu(context, (instance.kernel(), parameter), array, info, boxes)
    })?;
    let mut parameters = Parameters::of(instance, &arguments, &tensors);
    // SAFETY: (0) an instance describes its entry (`Instance`, 1; `gpu::module` compares the
    // contracts), and `bind` has checked the arguments against it in number, kinds, dimensions and
    // sizes of elements, whose types are the caller's obligation 1; each `Value` has 32 bytes;
    // (1) the stream is the caller's obligation 0, and the memory obligations 1 and 2.
    unsafe { gpu::module::launch_in(context, stream.cast(), grid, instance, parameters.as_mut()) }
}

/// What a launch of one block hands to the driver, for a program that calls `cuLaunchKernel`
/// itself.
#[derive(Clone, Debug)]
pub struct Call {
    /// The `CUfunction`, which lives as long as the device's context.
    pub function: *mut c_void,
    /// Threads a block.
    pub threads: u32,
    /// Bytes of dynamic shared memory a block.
    pub shared_bytes: u32,
    /// The bytes of each parameter, of which the first ones count.
    pub parameters: Vec<[u64; 4]>,
}

/// Returns what a launch of these arguments hands to the driver, after the checks of
/// [`launch`](crate::launch()), and makes the device's context the calling thread's.
///
/// # Errors
///
/// As for [`launch`](crate::launch()); [`Error::WrongDevice`] if the device is the CPU;
/// [`Error::ArgumentType`] for what is not passed in 32 bytes.
pub fn call(device: &Device, instance: &Instance, arguments: &[Bound<'_>]) -> Result<Call, Error> {
    check_arguments(device, instance, arguments)?;
    let Backend::Gpu(context) = &device.backend else {
        let (owner, device) = ("a GPU".to_owned(), device.name().to_owned());
        return Err(Error::WrongDevice { what: "the call".to_owned(), owner, device });
    };
    let (function, shared_bytes) = gpu::module::entry(context, instance)?;
    let parameters = instance.parameters().zip(arguments).map(|((parameter, info), argument)| {
        argument.value.words().ok_or_else(|| Error::ArgumentType {
            kernel: instance.kernel(),
            parameter,
            wanted: describe(info),
            given: "what is not passed in 32 bytes".to_owned(),
            instead: "a kernel without it".to_owned(),
        })
    });
    let parameters = parameters.collect::<Result<_, Error>>()?;
    Ok(Call { function: function.cast(), threads: instance.threads(), shared_bytes, parameters })
}

/// Checks what was passed as the arguments of every launch are checked.
fn bind(device: &Device, instance: &Instance, arguments: &[Argument<'_>]) -> Result<Vec<Bound<'static>>, Error> {
    check_count(instance, arguments.len())?;
    let mut bound = Vec::with_capacity(arguments.len());
    for ((parameter, info), argument) in instance.parameters().zip(arguments) {
        check_size(instance, parameter, info, argument)?;
        bound.push(argument.bind(info));
    }
    check_arguments(device, instance, &bound)?;
    check_overlap(instance, arguments)?;
    Ok(bound)
}

/// Checks the size of a view's elements, or of a constant: their type is not known here. Whether it
/// is the one or the other is checked later.
fn check_size(
    instance: &Instance,
    parameter: &'static str,
    info: &ParameterInfo,
    argument: &Argument<'_>,
) -> Result<(), Error> {
    let (bytes, given) = match (info.kind, argument) {
        (ParameterKind::Input | ParameterKind::Output | ParameterKind::Reduction, Argument::View(view)) => {
            (view.element_bytes, "a view of elements")
        }
        (ParameterKind::Constant | ParameterKind::Scalar, Argument::Constant(bytes)) => (bytes.len(), "a constant"),
        (ParameterKind::Input | ParameterKind::Output | ParameterKind::Reduction, Argument::Constant(_))
        | (ParameterKind::Constant | ParameterKind::Scalar, Argument::View(_)) => return Ok(()),
    };
    if bytes == info.element_bytes {
        return Ok(());
    }
    let wanted_bytes = info.element_bytes;
    Err(Error::ArgumentType {
        kernel: instance.kernel(),
        parameter,
        wanted: describe(info),
        given: format!("{given} of {bytes} bytes"),
        instead: match argument {
            Argument::View(_) => format!("elements of {wanted_bytes} bytes"),
            Argument::Constant(_) => format!("{wanted_bytes} bytes"),
        },
    })
}

/// Checks that no output has a byte in common with another view.
fn check_overlap(instance: &Instance, arguments: &[Argument<'_>]) -> Result<(), Error> {
    let views = || {
        instance.parameters().zip(arguments).filter_map(|((name, _), argument)| match argument {
            Argument::View(view) => Some((name, view)),
            Argument::Constant(_) => None,
        })
    };
    for (later, (second, view)) in views().enumerate() {
        for (first, other) in views().take(later) {
            let (one, two) = (view.bytes(), other.bytes());
            let is_shared = one.start < two.end && two.start < one.end;
            if is_shared && (view.is_output || other.is_output) {
                return Err(Error::Aliased { kernel: instance.kernel(), first, second });
            }
        }
    }
    Ok(())
}

impl Argument<'_> {
    /// Makes the argument for a parameter; its type is the parameter's.
    fn bind(&self, info: &ParameterInfo) -> Bound<'static> {
        match self {
            Argument::View(view) => view.bind(info),
            Argument::Constant(bytes) => {
                // `check_size` has compared the size of either.
                let (kind, value) = match info.kind {
                    ParameterKind::Scalar => (ParameterKind::Scalar, Value::scalar(bytes)),
                    // Views among them: their check refuses a constant.
                    ParameterKind::Constant
                    | ParameterKind::Input
                    | ParameterKind::Output
                    | ParameterKind::Reduction => (ParameterKind::Constant, Value::Constant(Bytes::copied(bytes))),
                };
                let (element, element_name) = ((info.element)(), (info.element_name)());
                Bound { value, kind, element, element_name, place: None, padding: 0 }
            }
        }
    }
}

impl View {
    /// Makes the argument for a parameter; its element type is the parameter's.
    fn bind(&self, info: &ParameterInfo) -> Bound<'static> {
        let View { address, shape, is_output, .. } = *self;
        let value = match shape {
            Shape::Row { len } => Value::Elements(Padded::new(RawElements { address, len })),
            Shape::Rows { width, height, pitch } => Value::Rows(RawRows { address, width, height, pitch }),
            Shape::Matrices { width, height, pitch, of } => {
                // What is not divided so has no elements, which the launch refuses.
                matrices(RawRows { address, width, height, pitch }, of).unwrap_or(NOTHING)
            }
            Shape::RowsOfMatrices { width, height, pitch, of } => {
                matrices_of_rows(RawRows { address, width, height, pitch }, of).unwrap_or(NOTHING)
            }
            Shape::Nothing => NOTHING,
        };
        Bound {
            value,
            kind: match info.kind {
                _ if !is_output => ParameterKind::Input,
                ParameterKind::Reduction => ParameterKind::Reduction,
                // Some of them take no output: their check refuses it.
                ParameterKind::Output | ParameterKind::Input | ParameterKind::Scalar | ParameterKind::Constant => {
                    ParameterKind::Output
                }
            },
            element: (info.element)(),
            element_name: (info.element_name)(),
            place: None,
            // Whose the bytes behind a row are is not known.
            padding: 0,
        }
    }

    /// The bytes from the first element's start to the last one's end.
    fn bytes(&self) -> Range<u64> {
        let elements = match self.shape {
            Shape::Row { len } => len,
            Shape::Rows { width, height, pitch }
            | Shape::Matrices { width, height, pitch, .. }
            | Shape::RowsOfMatrices { width, height, pitch, .. } => {
                height.saturating_sub(1).saturating_mul(pitch).saturating_add(width)
            }
            Shape::Nothing => 0,
        };
        self.address..self.address.saturating_add(elements.saturating_mul(self.element_bytes as u64))
    }
}
