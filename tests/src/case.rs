//! One launch of one instance, and what it must compute.

use tilepipe::cpu::Schedule;
use tilepipe::launch::Instance;
use tilepipe_host::{Bound, Buffer, Device, Error, Stream, launch};
use tilepipe_runner::data::{self, POISON};
use tilepipe_runner::reference::{self, Reference};
use tilepipe_runner::value::{DType, Value};

/// The CPU's schedules that tests go through: both ends, and three between.
pub const SCHEDULES: [Schedule; 5] = [
    Schedule::Eager,
    Schedule::Lazy,
    Schedule::Random { seed: 1 },
    Schedule::Random { seed: 0x5DEE_CE66_D5A1_0007 },
    Schedule::Random { seed: u64::MAX },
];

/// What a kernel computes, as a plain loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oracle {
    /// What the runner checks too.
    Runner(Reference),
    /// Each tile of this many elements backwards; beyond the end there are zeros.
    Reverse(usize),
}

impl Oracle {
    /// Returns what an instance computes.
    ///
    /// # Panics
    ///
    /// If nobody has written down what it computes: a new kernel needs an oracle.
    pub fn of(instance: &Instance) -> Oracle {
        let tile = instance.threads() as usize;
        match instance.generic("C").and_then(|path| path.rsplit("::").next()) {
            Some("Reverse") => Oracle::Reverse(tile),
            None | Some("NeighbourSum") => match Reference::of_kernel(instance.kernel(), tile) {
                Some(reference) => Oracle::Runner(reference),
                None => panic!("no oracle for kernel `{}`", instance.kernel()),
            },
            Some(other) => panic!("no oracle for `{other}` of kernel `{}`", instance.kernel()),
        }
    }

    /// Computes the output for `input`.
    pub fn compute<T: Value>(self, input: &[T]) -> Vec<T> {
        match self {
            Oracle::Runner(reference) => reference.compute(input),
            Oracle::Reverse(tile) => {
                let mirrored = |index: usize| index / tile * tile + (tile - 1 - index % tile);
                let at = |index: usize| input.get(mirrored(index)).copied().unwrap_or(T::zeroed());
                (0..input.len()).map(at).collect()
            }
        }
    }
}

/// Instances that compute the same from the same elements.
pub struct Group {
    /// The element type.
    pub dtype: DType,
    /// What they compute.
    pub oracle: Oracle,
    /// Threads of a block, which are the elements of a tile.
    pub threads: usize,
    /// The instances.
    pub instances: Vec<&'static Instance>,
}

/// Returns the instances of one kernel in groups, every instance once.
///
/// # Panics
///
/// If there is no such kernel, or an element type is unknown.
pub fn groups(kernel: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for instance in tilepipe_kernels::registry().into_iter().flatten() {
        if instance.kernel() != kernel {
            continue;
        }
        let dtype = dtype_of(instance);
        let (oracle, threads) = (Oracle::of(instance), instance.threads() as usize);
        let same = |group: &&mut Group| (group.dtype, group.oracle, group.threads) == (dtype, oracle, threads);
        match groups.iter_mut().find(same) {
            Some(group) => group.instances.push(instance),
            None => groups.push(Group { dtype, oracle, threads, instances: vec![instance] }),
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
    let name = instance.generic("T").unwrap_or("none");
    let last = name.rsplit("::").next().unwrap_or(name);
    last.parse().unwrap_or_else(|error| panic!("{}: {error}", instance.symbol()))
}

/// How large a launch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Elements in and out.
    pub elements: usize,
    /// Blocks.
    pub grid: u32,
}

/// Returns sizes around a tile of `threads` elements: less than one, one, more than one, fewer tiles than blocks, and
/// enough for a block to go round a ring of eight stages and end with a partial tile.
pub fn small_sizes(threads: usize) -> Vec<Size> {
    let size = |elements, grid| Size { elements, grid };
    vec![
        size(1, 1),
        size(threads - 1, 1),
        size(threads, 1),
        size(threads + 1, 1),
        size(threads + 1, 5),
        size(7 * threads + 3, 2),
        size(21 * threads + 3, 2),
        size(16 * threads, 1),
    ]
}

/// Runs one instance over a poisoned output and returns the output.
///
/// # Errors
///
/// Those of the launch, the device or the kernel.
pub fn run<T: Value>(stream: &Stream, instance: &Instance, grid: u32, input: &Buffer<T>) -> Result<Vec<T>, Error> {
    let mut out = stream.device().filled_with_byte::<T>(input.len(), POISON)?;
    launch(stream, grid, instance, [Bound::input(input), Bound::output(&mut out)])?;
    out.download()
}

/// Runs all instances of a group at one size and compares each output with the oracle's, bit for bit (a NaN is any NaN).
///
/// # Panics
///
/// If an output differs or a launch fails: with the instance, the size and the device.
pub fn check_group(device: &Device, group: &Group, size: Size) {
    with_type(group.dtype, CheckGroup { device, group, size });
}

/// Makes elements of random bits: of floats every kind, NaN and infinities included.
pub fn random_bits<T: Value>(elements: usize, seed: u64) -> Vec<T> {
    let mut values = vec![T::zeroed(); elements];
    let words: &mut [u32] = bytemuck::cast_slice_mut(&mut values);
    let Ok(bits) = data::generate::<u32>(words.len(), seed) else {
        panic!("no memory for {elements} elements");
    };
    words.copy_from_slice(&bits);
    values
}

/// Something to do with elements whose type is known at run time.
pub trait ForType {
    /// Does it.
    fn call<T: Value>(self);
}

/// Calls `body` with the type of that name.
pub fn with_type(dtype: DType, body: impl ForType) {
    match dtype {
        DType::I32 => body.call::<i32>(),
        DType::U32 => body.call::<u32>(),
        DType::F32 => body.call::<f32>(),
        DType::F64 => body.call::<f64>(),
        DType::I32x4 => body.call::<tilepipe::I32x4>(),
        DType::U32x4 => body.call::<tilepipe::U32x4>(),
        DType::F32x4 => body.call::<tilepipe::F32x4>(),
    }
}

struct CheckGroup<'a> {
    device: &'a Device,
    group: &'a Group,
    size: Size,
}

impl ForType for CheckGroup<'_> {
    fn call<T: Value>(self) {
        let CheckGroup { device, group, size } = self;
        let Ok(input) = data::generate::<T>(size.elements, data::DEFAULT_SEED) else {
            panic!("no memory for {} elements", size.elements);
        };
        let expected = group.oracle.compute(&input);
        let checked = || -> Result<(), Error> {
            let stream = device.stream()?;
            let input = device.upload(&input)?;
            for instance in &group.instances {
                let got = run(&stream, instance, size.grid, &input)?;
                if let Some(difference) = reference::compare(&got, &expected) {
                    let symbol = instance.symbol();
                    panic!("{symbol} on {}, {size:?}: {difference}", device.name());
                }
            }
            Ok(())
        };
        if let Err(error) = checked() {
            let symbols: Vec<_> = group.instances.iter().map(|instance| instance.symbol()).collect();
            panic!("one of {symbols:?} on {}, {size:?}: {error}", device.name());
        }
    }
}
