//! The launch of a kernel: one path for both devices, and everything that is checked on it.

use std::ffi::c_void;
use std::ptr;

use tilepipe::launch::{Instance, ParameterInfo, ParameterKind, RawParameter, RawTensor};

use crate::access::Access;
use crate::argument::{Bound, Place, tensor};
use crate::buffer::{Memory, elements_aligned_to};
use crate::cpu::{self, CpuMemory};
use crate::device::{Backend, Device};
use crate::error::Error;
use crate::gpu::{self, memory::GpuMemory, queue::Captures};
use crate::grid::Grid;
#[cfg(feature = "cudarc")]
use crate::interop;
use crate::stream::Stream;

/// Launches blocks of a kernel's instance in a stream, as many as `grid` says: a number or a
/// [`Grid`].
///
/// The `launch` function that `#[kernel]` makes beside every kernel calls this with arguments of
/// the right types; programs call it themselves for an instance that they choose at run time, with
/// arguments made by [`Bound::input`], [`Bound::output`], their relatives, [`Bound::reduction`],
/// [`Bound::scalar`] and [`Bound::constant`]. On a GPU it returns as soon as the kernel is under
/// way, on the CPU when all blocks are done. Buffers may be dropped or used again at once: what
/// conflicts waits.
///
/// A kernel for sm_90 or newer starts while the one before it in the stream ends, and waits for
/// that end before it touches memory of the GPU (CUDA: programmatic dependent launch, from the
/// driver of CUDA 12.3 on).
///
/// The instance is one that `#[kernel]` made from the kernel's own function. On a GPU the first
/// launch of an instance compares its contract with that of the entry in the loaded
/// [`Module`](crate::Module): versions, parameters, threads and shared memory.
///
/// # Errors
///
/// Nothing runs if the grid, the number of arguments, one of their kinds, element types,
/// dimensions, alignments, pitches or devices, the threads or the shared memory of a block do not
/// fit, if another argument uses an output's buffer too, if no loaded module has the kernel or the
/// one that has it was built from other code, or if the caller is inside a kernel. A kernel that
/// panics is [`Error::KernelPanicked`], on a GPU from whichever later call finds out.
pub fn launch<'a>(
    stream: &Stream,
    grid: impl Into<Grid>,
    instance: &Instance,
    arguments: impl AsRef<[Bound<'a>]>,
) -> Result<(), Error> {
    let (arguments, grid) = (arguments.as_ref(), grid.into());
    #[cfg(feature = "cudarc")]
    if arguments.iter().any(|argument| argument.lent().is_some()) {
        return interop::launch(stream, grid, instance, arguments);
    }
    start(stream, grid, instance, arguments, Captures::Unknown)
}

/// Launches an instance, where whoever lends memory has said where it lies.
pub(crate) fn start(
    stream: &Stream,
    grid: Grid,
    instance: &Instance,
    arguments: &[Bound<'_>],
    captures: Captures,
) -> Result<(), Error> {
    let device = stream.device();
    check_arguments(device, instance, arguments)?;
    check_aliases(instance, arguments)?;
    if let Some(gpu) = stream.gpu.as_ref().filter(|_| grid.asks_for_kernel()) {
        gpu.refuse_first_in_capture(instance)?;
    }
    let grid = grid.blocks(device, instance, arguments)?;
    match (&device.backend, &stream.gpu) {
        (Backend::Gpu(_), Some(stream)) => {
            let accesses = arguments.iter().filter_map(gpu_access);
            let context = &stream.context;
            let tensors = tensor::tensors(instance, arguments, |parameter, array, info, boxes| {
                tensor::on_gpu(context, (instance.kernel(), parameter), array, info, boxes)
            })?;
            let mut parameters = Parameters::of(instance, arguments, &tensors);
            // SAFETY: (0) an instance describes its entry (`Instance`, 1; `gpu::module` compares
            // the contracts), and the arguments were checked against it in number, kinds and
            // element types; (1) `gpu_access` names the memory of every view of a buffer, all of
            // this device, and no output has a byte in common with another argument. Other memory
            // is of this device, and stays alive and in order: the maker of a `Foreign` argument
            // has promised it, and for what cudarc lends `interop::launch` sees to it.
            unsafe { gpu::module::launch(stream, grid, instance, parameters.as_mut(), accesses, captures) }
        }
        (Backend::Cpu(cpu), _) => {
            if !instance.runs_on_cpu() {
                return Err(Error::NotForCpu { kernel: instance.name() });
            }
            check_block_on_cpu(device, instance)?;
            let accesses: Vec<_> = arguments.iter().filter_map(cpu_access).collect();
            let tensors = tensor::tensors(instance, arguments, tensor::on_cpu)?;
            let mut tensors = tensors.iter();
            let raw = |(info, argument): (&ParameterInfo, &Bound)| match info.boxes.and_then(|_| tensors.next()) {
                Some(tensor) => RawParameter::of(*tensor),
                None => argument.value.raw(),
            };
            let infos = instance.parameters().map(|(_, info)| info);
            let parameters: Vec<RawParameter> = infos.zip(arguments).map(raw).collect();
            // SAFETY: (0) an instance describes its function (`Instance`, 0), and the arguments
            // were checked against it in number, kinds and element types; the bytes of constants
            // lie in `arguments`, which outlive the launch; (1) `cpu_access` names the memory of
            // every view of a buffer, and no output has a byte in common with another argument;
            // the maker of a `Foreign` argument has promised that nobody else uses its memory so.
            unsafe { cpu::launch(cpu, grid, instance, parameters, &accesses) }
        }
        (Backend::Gpu(_), None) => {
            let (owner, device) = ("the CPU".to_owned(), device.name().to_owned());
            Err(Error::WrongDevice { what: "the stream".to_owned(), owner, device })
        }
    }
}

/// So many parameters need no memory of their own for where they lie.
const FEW: usize = 16;

/// Bytes that the copy engine writes at once.
const ENGINE_PIECE: usize = 16;

/// Where the bytes of each argument lie, for the driver.
pub(crate) enum Parameters {
    Few([*mut c_void; FEW], usize),
    Many(Vec<*mut c_void>),
}

impl Parameters {
    /// Where those of an instance lie; `tensors` has one for each that is a tensor.
    pub(crate) fn of(instance: &Instance, arguments: &[Bound<'_>], tensors: &[RawTensor]) -> Parameters {
        let mut tensors = tensors.iter();
        let infos = instance.parameters().map(|(_, info)| info);
        let pointers = infos.zip(arguments).map(|(info, argument)| match info.boxes.and_then(|_| tensors.next()) {
            Some(tensor) => ptr::from_ref(tensor).cast::<c_void>().cast_mut(),
            None => argument.value.as_ptr().cast_mut(),
        });
        if arguments.len() > FEW {
            return Parameters::Many(pointers.collect());
        }
        let mut few = [ptr::null_mut(); FEW];
        few.iter_mut().zip(pointers).for_each(|(place, pointer)| *place = pointer);
        Parameters::Few(few, arguments.len())
    }

    pub(crate) fn as_mut(&mut self) -> &mut [*mut c_void] {
        match self {
            Parameters::Few(few, len) => &mut few[..*len],
            Parameters::Many(many) => many,
        }
    }
}

/// Checks number, kinds, element types, dimensions, devices, alignments and pitches.
pub(crate) fn check_arguments(device: &Device, instance: &Instance, arguments: &[Bound<'_>]) -> Result<(), Error> {
    let kernel = instance.kernel();
    check_count(instance, arguments.len())?;
    for ((parameter, info), argument) in instance.parameters().zip(arguments) {
        let dimensions_fit = argument.value.dimensions() == info.dimensions();
        if argument.kind != info.kind || argument.element != (info.element)() || !dimensions_fit {
            return Err(other_type(kernel, parameter, info, argument));
        }
        if argument.value.is_empty() && !info.optional {
            return Err(Error::EmptyBuffer { element: argument.element_name });
        }
        // A value has neither a place nor an address.
        let Some(address) = argument.value.address() else { continue };
        let stranger = argument.place.as_ref().filter(|place| !place.is_of(device)).and_then(Place::device);
        if let Some(owner) = stranger {
            device.expect(&owner, || format!("kernel `{kernel}`, parameter `{parameter}`: the buffer"))?;
        }
        if let Some(alignment) = info.row_alignment {
            // The pitch's bytes are part of the memory's, whose number fits.
            let pitch = argument.value.pitch().unwrap_or_default().saturating_mul(info.element_bytes);
            if !is_aligned(pitch as u64, alignment) {
                let elements = elements_aligned_to(alignment, info.element_bytes);
                return Err(Error::MisalignedRows { kernel, parameter, pitch, alignment, elements });
            }
        }
        if !is_aligned(address, info.alignment) {
            let (alignment, elements) = (info.alignment, elements_aligned_to(info.alignment, info.element_bytes));
            return Err(Error::Misaligned { kernel, parameter, address, alignment, elements });
        }
        if info.boxes.is_some() {
            check_row_ends(kernel, parameter, info, argument)?;
        }
    }
    Ok(())
}

/// Says whether a number is a multiple of an alignment, mostly a power of two: without a division
/// then.
fn is_aligned(number: u64, alignment: usize) -> bool {
    let alignment = alignment.max(1) as u64;
    if alignment.is_power_of_two() { number & (alignment - 1) == 0 } else { number.is_multiple_of(alignment) }
}

/// The error for an argument of another kind, element type or number of dimensions.
#[cold]
fn other_type(kernel: &'static str, parameter: &'static str, info: &ParameterInfo, argument: &Bound<'_>) -> Error {
    Error::ArgumentType {
        kernel,
        parameter,
        wanted: describe(info),
        given: describe_as(argument.kind, argument.value.dimensions(), argument.element_name),
        instead: what_to_pass(info),
    }
}

/// Checks that what the copy engine writes of each row of an output in boxes is the row's, or
/// nobody's: it writes whole pieces of 16 bytes, the last one too.
fn check_row_ends(
    kernel: &'static str,
    parameter: &'static str,
    info: &ParameterInfo,
    argument: &Bound<'_>,
) -> Result<(), Error> {
    if !info.kind.writes() {
        return Ok(());
    }
    let Some(array) = argument.value.array() else { return Ok(()) };
    // No overflow: rows are shorter than memory.
    let beyond = (array.extents[0] as usize * info.element_bytes) % ENGINE_PIECE;
    if beyond == 0 || beyond + argument.padding * info.element_bytes >= ENGINE_PIECE {
        return Ok(());
    }
    let reason = format!(
        "the copy engine writes {ENGINE_PIECE} bytes at once, and its rows of {} elements end {beyond} bytes behind a multiple of those, \
         where other elements of the buffer follow; end the slice at a multiple of {} elements or at the buffer's last column",
        array.extents[0],
        elements_aligned_to(ENGINE_PIECE, info.element_bytes)
    );
    Err(Error::TensorMap { kernel, parameter, reason })
}

/// Checks the number of arguments.
#[inline]
pub(crate) fn check_count(instance: &Instance, given: usize) -> Result<(), Error> {
    if given == instance.parameters().len() { Ok(()) } else { Err(other_count(instance, given)) }
}

/// The error for a number of arguments that is not the kernel's.
#[cold]
fn other_count(instance: &Instance, given: usize) -> Error {
    let wanted = instance.parameters().len();
    let names: Vec<_> = instance.parameters().map(|(name, info)| format!("{name}: {}", describe(info))).collect();
    Error::ArgumentCount { kernel: instance.kernel(), given, wanted, names: names.join(", ") }
}

/// Checks that no other argument of the launch uses the memory of an output or a reduction: by the
/// addresses of their bytes, whosever memory it is.
///
/// Parts of one buffer count as the same memory even if they do not overlap: launches are ordered,
/// and memory is locked on the CPU, by allocation.
fn check_aliases(instance: &Instance, arguments: &[Bound<'_>]) -> Result<(), Error> {
    for (later, ((second, info), output)) in instance.parameters().zip(arguments).enumerate() {
        let Some(place) = &output.place else { continue };
        for ((first, other_info), other) in instance.parameters().zip(&arguments[..later]) {
            let Some(other_place) = &other.place else { continue };
            if !output.kind.writes() && !other.kind.writes() {
                continue;
            }
            let kernel = instance.kernel();
            match (place.memory(), other_place.memory()) {
                (Some(one), Some(two)) if one.is(two) => return Err(Error::Aliased { kernel, first, second }),
                // Two allocations have no byte in common.
                (Some(_), Some(_)) => {}
                _ => {
                    if let (Some(one), Some(two)) = (output.bytes(info), other.bytes(other_info))
                        && one.start < two.end
                        && two.start < one.end
                    {
                        return Err(Error::Overlap { kernel, first, second });
                    }
                }
            }
        }
    }
    Ok(())
}

/// Checks a block's threads and shared memory against the CPU model; a GPU says itself what a
/// function can have.
fn check_block_on_cpu(device: &Device, instance: &Instance) -> Result<(), Error> {
    let limit = device.threads_limit();
    if instance.threads() == 0 || instance.threads() > limit {
        let device = device.name().to_owned();
        return Err(Error::BlockTooLarge { instance: instance.name(), threads: instance.threads(), limit, device });
    }
    let limit = device.shared_memory_limit();
    if instance.shared_bytes() > limit {
        let (wanted, device) = (instance.shared_bytes(), device.name().to_owned());
        return Err(Error::SharedMemory { instance: instance.name(), wanted, limit, device });
    }
    Ok(())
}

fn gpu_access<'a>(argument: &'a Bound<'_>) -> Option<(&'a GpuMemory, Access)> {
    match argument.place.as_ref().and_then(Place::memory) {
        Some(Memory::Gpu(memory)) => Some((memory, argument.access())),
        _ => None,
    }
}

fn cpu_access<'a>(argument: &'a Bound<'_>) -> Option<(&'a CpuMemory, Access)> {
    match argument.place.as_ref().and_then(Place::memory) {
        Some(Memory::Cpu(memory)) => Some((memory, argument.access())),
        _ => None,
    }
}

pub(crate) fn describe(info: &ParameterInfo) -> String {
    describe_as(info.kind, info.dimensions(), (info.element_name)())
}

fn describe_as(kind: ParameterKind, dimensions: usize, element: &str) -> String {
    match (kind, dimensions) {
        (ParameterKind::Input, 1) => format!("an input view of {element}"),
        (ParameterKind::Input, 2) => format!("a two-dimensional input view of {element}"),
        (ParameterKind::Input, _) => format!("an input view of {dimensions} dimensions of {element}"),
        (ParameterKind::Output, 1) => format!("an output view of {element}"),
        (ParameterKind::Output, 2) => format!("a two-dimensional output view of {element}"),
        (ParameterKind::Output, _) => format!("an output view of {dimensions} dimensions of {element}"),
        (ParameterKind::Reduction, _) => format!("a reduction of {element}"),
        (ParameterKind::Scalar, _) => format!("a value of type {element}"),
        (ParameterKind::Constant, _) => format!("a constant of type {element}"),
    }
}

fn what_to_pass(info: &ParameterInfo) -> String {
    let element = (info.element_name)();
    match (info.kind, info.dimensions()) {
        (ParameterKind::Input, 2) => {
            format!(
                "`&buffer` (`Bound::input_2d`) of a `Buffer2D<{element}>`, or `rows(width)` of a `Buffer<{element}>`"
            )
        }
        (ParameterKind::Input, dimensions @ 3..) => {
            format!("`&buffer` (`Bound::input_nd`) of a `BufferNd<{element}, {dimensions}>`")
        }
        (ParameterKind::Input, _) => format!("`&buffer` (`Bound::input`) of a `Buffer<{element}>`"),
        (ParameterKind::Output, 2) => format!(
            "`&mut buffer` (`Bound::output_2d`) of a `Buffer2D<{element}>`, or `rows_mut(width)` of a `Buffer<{element}>`"
        ),
        (ParameterKind::Output, dimensions @ 3..) => {
            format!("`&mut buffer` (`Bound::output_nd`) of a `BufferNd<{element}, {dimensions}>`")
        }
        (ParameterKind::Output, _) => format!("`&mut buffer` (`Bound::output`) of a `Buffer<{element}>`"),
        (ParameterKind::Reduction, _) => {
            format!("`&mut buffer` (`Bound::reduction`) of a `Buffer<{element}>`")
        }
        (ParameterKind::Scalar, _) => format!("a value (`Bound::scalar`) of type `{element}`"),
        (ParameterKind::Constant, _) => format!("`&value` (`Bound::constant`) of type `{element}`"),
    }
}

#[cfg(test)]
pub(crate) mod tests;
