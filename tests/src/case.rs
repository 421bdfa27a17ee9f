//! One launch of one instance, and what it must compute.

use tilepipe::cpu::Schedule;
use tilepipe::launch::Instance;
use tilepipe_host::{Device, Error, Stream};
use tilepipe_runner::array::{Inputs, Output};
use tilepipe_runner::data;
use tilepipe_runner::dtype;
use tilepipe_runner::reference::Written;
use tilepipe_runner::value::{DType, Value};
use tilepipe_runner::work::{Shape, Work};

pub use tilepipe_runner::dtype::{ForType, with_type};

/// The CPU's schedules that tests go through: both ends, and three between.
pub const SCHEDULES: [Schedule; 5] = [
    Schedule::Eager,
    Schedule::Lazy,
    Schedule::Random { seed: 1 },
    Schedule::Random { seed: 0x5DEE_CE66_D5A1_0007 },
    Schedule::Random { seed: u64::MAX },
];

/// Instances that compute the same from the same elements.
pub struct Group {
    /// The element type.
    pub dtype: DType,
    /// What they compute.
    pub work: Work,
    /// The instances.
    pub instances: Vec<&'static Instance>,
}

/// Returns the instances of one kernel in groups, every instance once.
///
/// # Panics
///
/// If there is no such kernel, an element type is unknown, or nobody has written down what an
/// instance computes.
pub fn groups(kernel: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for instance in tilepipe_kernels::registry().into_iter().flatten() {
        if instance.kernel() != kernel {
            continue;
        }
        let dtype = dtype_of(instance);
        let Some(work) = Work::of(instance) else { panic!("no reference for {}", instance.name()) };
        match groups.iter_mut().find(|group| (group.dtype, group.work) == (dtype, work)) {
            Some(group) => group.instances.push(instance),
            None => groups.push(Group { dtype, work, instances: vec![instance] }),
        }
    }
    assert!(!groups.is_empty(), "no kernel `{kernel}` in the registry");
    groups
}

/// Returns an instance's element type.
///
/// # Panics
///
/// If it has none that is known.
pub fn dtype_of(instance: &Instance) -> DType {
    dtype::of_instance(instance).unwrap_or_else(|| panic!("{}: no known element type", instance.name()))
}

/// How large a launch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The shape of each input.
    pub shape: Shape,
    /// Blocks.
    pub grid: u32,
}

/// Returns sizes around what a block takes at a time: less than that, as much, more, fewer tiles
/// than blocks, and enough for a block to go round a ring of eight stages and end with a partial
/// tile.
pub fn small_sizes(work: Work) -> Vec<Size> {
    match work.kind.dimensions() {
        1 => {}
        2 => return small_matrices(work),
        _ => return small_batches(work),
    }
    let row = |elements, grid| Size { shape: Shape::Row(elements), grid };
    let portion = work.portion();
    vec![
        row(1, 1),
        row((portion - 1).max(1), 1),
        row(portion, 1),
        row(portion + 1, 1),
        row(portion + 1, 5),
        row(7 * portion + 3, 2),
        row(21 * portion + 3, 2),
        row(16 * portion, 1),
    ]
}

/// As [`small_sizes`], in both directions.
fn small_matrices(work: Work) -> Vec<Size> {
    let matrix = |height, width, grid| Size { shape: Shape::Matrix { height, width }, grid };
    let (rows, columns) = (work.rows, work.columns);
    vec![
        matrix(1, 1, 1),
        matrix((rows - 1).max(1), columns - 1, 1),
        matrix(rows, columns, 1),
        matrix(rows + 1, columns + 1, 7),
        matrix(1, 5 * columns + 2, 2),
        matrix(5 * rows + 2, 1, 2),
        matrix(4 * rows - 1, 3 * columns + 3, 2),
        matrix(2 * rows, 4 * columns, 1),
    ]
}

/// As [`small_matrices`], of one matrix and of several: boxes end with their matrix.
fn small_batches(work: Work) -> Vec<Size> {
    let batch = |matrices, height, width, grid| Size { shape: Shape::Batch { matrices, height, width }, grid };
    let (rows, columns) = (work.rows, work.columns);
    vec![
        batch(1, 1, 1, 1),
        batch(5, 1, 1, 2),
        batch(3, rows - 1, columns - 1, 1),
        batch(2, rows, columns, 1),
        batch(2, rows + 1, columns + 1, 7),
        batch(3, 1, 3 * columns + 2, 2),
        batch(3, 3 * rows + 2, 1, 2),
        batch(1, 4 * rows - 1, 3 * columns + 3, 2),
        batch(2, 2 * rows, 3 * columns, 1),
    ]
}

/// Returns one size at which blocks have whole and partial tiles, and several of them.
pub fn medium_size(work: Work) -> Size {
    let (height, width) = (3 * work.rows + 5, 3 * work.columns + 7);
    let shape = match work.kind.dimensions() {
        1 => Shape::Row(9 * work.portion() + 5),
        2 => Shape::Matrix { height, width },
        _ => Shape::Batch { matrices: 2, height, width },
    };
    Size { shape, grid: 3 }
}

/// Uploads what a kernel with this work takes of its inputs at this size, which is the first one's.
///
/// # Errors
///
/// Those of the device.
pub fn upload<T: Value>(device: &Device, work: Work, inputs: &[Vec<T>], size: Size) -> Result<Inputs<T>, Error> {
    Inputs::upload(device, work, inputs, size.shape, size.grid as usize)
}

/// Runs one instance over an output in which every element that is not written shows, and returns
/// it.
///
/// # Errors
///
/// Those of the launch, the device or the kernel.
pub fn run<T: Value>(
    stream: &Stream,
    instance: &Instance,
    output: Shape,
    grid: u32,
    inputs: &Inputs<T>,
) -> Result<Written<T>, Error> {
    let kind = Work::of(instance).unwrap_or_else(|| panic!("{} has no reference", instance.name())).kind;
    let mut out = Output::new(stream.device(), kind, output)?;
    out.run(stream, grid, instance, inputs)?;
    out.download()
}

/// Computes what a group's instances must compute.
pub fn expected<T: Value>(work: Work, inputs: &[Vec<T>], size: Size) -> Written<T> {
    let shapes = work.inputs(size.shape, size.grid as usize).into_iter();
    let inputs: Vec<&[T]> = inputs.iter().zip(shapes).map(|(input, shape)| &input[..shape.elements()]).collect();
    work.written(&inputs, size.shape, size.grid as usize)
}

/// Runs all instances of a group at one size on each of the devices and compares each output with
/// the reference's, bit for bit (a NaN is any NaN).
///
/// # Panics
///
/// If an output differs or a launch fails: with the instance, the size and the device.
pub fn check_group(devices: &[Device], group: &Group, size: Size) {
    with_type(group.dtype, CheckGroup { devices, group, size });
}

/// Makes elements of random bits: of floats every kind, NaN and infinities included.
///
/// # Panics
///
/// If there is no memory for them.
pub fn random_bits<T: Value>(elements: usize, seed: u64) -> Vec<T> {
    let mut values = vec![T::zero(); elements];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
    let Ok(bits) = data::generate::<u8>(bytes.len(), seed) else {
        panic!("no memory for {elements} elements");
    };
    bytes.copy_from_slice(&bits);
    values
}

struct CheckGroup<'a> {
    devices: &'a [Device],
    group: &'a Group,
    size: Size,
}

impl ForType for CheckGroup<'_> {
    type Output = ();

    fn call<T: Value>(self) {
        let CheckGroup { devices, group: Group { work, instances, .. }, size } = self;
        let Ok(inputs) = data::inputs::<T>(work.kind.inputs(), size.shape.elements(), data::DEFAULT_SEED) else {
            panic!("no memory for {}", size.shape);
        };
        let expected = expected(*work, &inputs, size);
        let output = work.output(size.shape, size.grid as usize);
        let check = |device: &Device, instance: &Instance, inputs: &Inputs<T>| -> Result<(), Error> {
            let got = run(&device.stream()?, instance, output, size.grid, inputs)?;
            if let Some(difference) = got.compare(&expected) {
                panic!("{} on {}, {size:?}: {difference}", instance.name(), device.name());
            }
            Ok(())
        };
        for device in devices {
            let uploaded = upload(device, *work, &inputs, size)
                .unwrap_or_else(|error| panic!("{size:?} on {}: {error}", device.name()));
            for instance in instances {
                if let Err(error) = check(device, instance, &uploaded) {
                    panic!("{} on {}, {size:?}: {error}", instance.name(), device.name());
                }
            }
        }
    }
}
