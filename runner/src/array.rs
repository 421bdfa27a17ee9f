//! Arrays of one to three dimensions in a device's memory, and launches over them.

use tilepipe::launch::{Instance, ParameterKind};
use tilepipe_host::{Bound, Buffer, Buffer2D, BufferNd, Device, Error, Stream, launch};

use crate::data::{self, POISON};
use crate::reference::{self, Written};
use crate::value::Value;
use crate::work::{Kind, Shape, Work};

/// An array in a device's memory.
#[derive(Debug)]
pub enum Array<T> {
    /// Elements in a row.
    Row(Buffer<T>),
    /// Rows of equal length.
    Matrix(Buffer2D<T>),
    /// Matrices of equal size.
    Batch(BufferNd<T, 3>),
}

impl<T: Value> Array<T> {
    /// Copies the first elements of `values` to the device, as many as `shape` has, row after row.
    ///
    /// # Errors
    ///
    /// Those of the device.
    ///
    /// # Panics
    ///
    /// If there are fewer values.
    pub fn upload(device: &Device, values: &[T], shape: Shape) -> Result<Self, Error> {
        let values = &values[..shape.elements()];
        Ok(match shape {
            Shape::Row(_) => Array::Row(device.upload(values)?),
            Shape::Matrix { width, .. } => Array::Matrix(device.upload_2d(values, width)?),
            Shape::Batch { matrices, height, width } => {
                Array::Batch(device.upload_nd(values, [matrices, height, width])?)
            }
        })
    }

    /// Makes an array of which every byte is [`POISON`].
    ///
    /// # Errors
    ///
    /// Those of the device.
    pub fn poisoned(device: &Device, shape: Shape) -> Result<Self, Error> {
        Ok(match shape {
            Shape::Row(elements) => Array::Row(device.filled_with_byte(elements, POISON)?),
            Shape::Matrix { height, width } => Array::Matrix(device.filled_with_byte_2d(width, height, POISON)?),
            Shape::Batch { matrices, height, width } => {
                Array::Batch(device.filled_with_byte_nd([matrices, height, width], POISON)?)
            }
        })
    }

    /// Makes the output of a kernel of this kind: zeros where it adds to them, and otherwise every
    /// byte is [`POISON`].
    ///
    /// # Errors
    ///
    /// Those of the device.
    pub fn of_output(device: &Device, kind: Kind, shape: Shape) -> Result<Self, Error> {
        if !kind.adds() {
            return Array::poisoned(device, shape);
        }
        Ok(match shape {
            Shape::Row(elements) => Array::Row(device.zeroed(elements)?),
            Shape::Matrix { height, width } => Array::Matrix(device.zeroed_2d(width, height)?),
            Shape::Batch { matrices, height, width } => Array::Batch(device.zeroed_nd([matrices, height, width])?),
        })
    }

    /// The argument for a parameter that is read.
    fn as_input(&self) -> Bound<'static> {
        match self {
            Array::Row(buffer) => Bound::input(buffer),
            Array::Matrix(buffer) => Bound::input_2d(buffer),
            Array::Batch(buffer) => Bound::input_nd(buffer),
        }
    }

    /// The argument for the parameter that an instance writes, which is its last one.
    fn as_output(&mut self, instance: &Instance) -> Bound<'static> {
        let last = instance.parameters().next_back().map(|(_, info)| info.kind);
        match self {
            Array::Row(buffer) if last == Some(ParameterKind::Reduction) => Bound::reduction(buffer),
            Array::Row(buffer) => Bound::output(buffer),
            Array::Matrix(buffer) => Bound::output_2d(buffer),
            Array::Batch(buffer) => Bound::output_nd(buffer),
        }
    }

    /// Returns the elements, row after row, once the launches that write them are done.
    ///
    /// # Errors
    ///
    /// Those of the device and of the launches.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        match self {
            Array::Row(buffer) => buffer.download(),
            Array::Matrix(buffer) => buffer.download(),
            Array::Batch(buffer) => buffer.download(),
        }
    }

    /// Copies the elements to `values`, row after row, once the launches that write them are done.
    ///
    /// # Errors
    ///
    /// Another number of values; those of the device and of the launches.
    pub fn read(&self, values: &mut [T]) -> Result<(), Error> {
        match self {
            Array::Row(buffer) => buffer.read(values),
            Array::Matrix(buffer) => buffer.read(values),
            Array::Batch(buffer) => buffer.read(values),
        }
    }
}

/// What a kernel reads, in a device's memory.
#[derive(Debug)]
pub struct Inputs<T> {
    /// Indices of the first input's elements, if the kernel takes some ([`Kind::takes_indices`]).
    indices: Option<Buffer<u32>>,
    arrays: Vec<Array<T>>,
}

impl<T: Value> Inputs<T> {
    /// Copies to the device what `grid` blocks with this work take of the inputs, the first of
    /// which has this shape, and makes what they take beside them.
    ///
    /// # Errors
    ///
    /// Those of the device.
    ///
    /// # Panics
    ///
    /// If an input has fewer elements; if there is no memory for the indices.
    pub fn upload<V: AsRef<[T]>>(
        device: &Device,
        work: Work,
        inputs: &[V],
        first: Shape,
        grid: usize,
    ) -> Result<Self, Error> {
        let arrays = inputs.iter().zip(work.inputs(first, grid));
        let arrays = arrays.map(|(input, shape)| Array::upload(device, input.as_ref(), shape));
        let indices = match work.indices(first) {
            0 => None,
            count => {
                let indices = data::indices(count, first.elements()).unwrap_or_else(|error| panic!("{error}"));
                Some(device.upload(&indices)?)
            }
        };
        Ok(Inputs { indices, arrays: arrays.collect::<Result<_, _>>()? })
    }
}

/// Inputs of elements and nothing beside them.
impl<T> From<Vec<Array<T>>> for Inputs<T> {
    fn from(arrays: Vec<Array<T>>) -> Self {
        Inputs { indices: None, arrays }
    }
}

/// The output of a kernel of some kind, in a device's memory.
#[derive(Debug)]
pub enum Output<T> {
    /// Elements of the inputs' type.
    Elements(Array<T>),
    /// Keys.
    Keys(Array<u64>),
    /// Counts.
    Counts(Array<u32>),
}

impl<T: Value> Output<T> {
    /// Makes the output as [`Array::of_output`] does.
    ///
    /// # Errors
    ///
    /// Those of the device.
    pub fn new(device: &Device, kind: Kind, shape: Shape) -> Result<Self, Error> {
        Ok(if kind.writes_keys() {
            Output::Keys(Array::of_output(device, kind, shape)?)
        } else if kind.writes_counts() {
            Output::Counts(Array::of_output(device, kind, shape)?)
        } else {
            Output::Elements(Array::of_output(device, kind, shape)?)
        })
    }

    /// Launches as [`run`] does, with this output, and with what the kernel takes beside the
    /// inputs.
    ///
    /// # Errors
    ///
    /// Those of [`tilepipe_host::launch`].
    pub fn run(&mut self, stream: &Stream, grid: u32, instance: &Instance, inputs: &Inputs<T>) -> Result<(), Error> {
        let Inputs { indices, arrays } = inputs;
        let output = match self {
            Output::Elements(array) => array.as_output(instance),
            Output::Keys(array) => array.as_output(instance),
            Output::Counts(array) => array.as_output(instance),
        };
        launch(stream, grid, instance, arguments(instance, indices.as_ref(), arrays, output))
    }

    /// Returns what was written, once the launches that write it are done.
    ///
    /// # Errors
    ///
    /// Those of the device and of the launches.
    pub fn download(&self) -> Result<Written<T>, Error> {
        Ok(match self {
            Output::Elements(array) => Written::Elements(array.download()?),
            Output::Keys(array) => Written::Keys(array.download()?),
            Output::Counts(array) => Written::Counts(array.download()?),
        })
    }
}

/// Launches `grid` blocks of an instance that takes these inputs and this output. A filter is
/// [`reference::filter`], a factor [`reference::ALPHA`].
///
/// # Errors
///
/// Those of [`tilepipe_host::launch`].
pub fn run<T: Value, U: Value>(
    stream: &Stream,
    grid: u32,
    instance: &Instance,
    inputs: &[Array<T>],
    output: &mut Array<U>,
) -> Result<(), Error> {
    let output = output.as_output(instance);
    launch(stream, grid, instance, arguments(instance, None, inputs, output))
}

/// The arguments of an instance, in the order of its parameters; of too few the launch says so.
fn arguments<T: Value>(
    instance: &Instance,
    indices: Option<&Buffer<u32>>,
    inputs: &[Array<T>],
    output: Bound<'static>,
) -> Vec<Bound<'static>> {
    let mut inputs = indices.map(Bound::input).into_iter().chain(inputs.iter().map(Array::as_input));
    let mut output = Some(output);
    let argument = |kind| match kind {
        ParameterKind::Input => inputs.next(),
        ParameterKind::Output | ParameterKind::Reduction => output.take(),
        ParameterKind::Constant => filter::<T>(instance),
        ParameterKind::Scalar => Some(Bound::scalar(f32::from(reference::ALPHA))),
    };
    instance.parameters().map(|(_, info)| info.kind).filter_map(argument).collect()
}

/// The filter of an instance, of as many elements as its parameter `TAPS` says.
fn filter<T: Value>(instance: &Instance) -> Option<Bound<'static>> {
    match instance.generic("TAPS")? {
        "17" => Some(bound_filter::<T, 17>()),
        "33" => Some(bound_filter::<T, 33>()),
        _ => None,
    }
}

fn bound_filter<T: Value, const TAPS: usize>() -> Bound<'static> {
    let filter = reference::filter(TAPS as u8);
    Bound::constant::<[T; TAPS]>(&std::array::from_fn(|tap| filter[tap]))
}
