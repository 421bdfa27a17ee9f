//! The ceilings of libraries and driver: CUB's reductions and its transformation, and the driver's
//! copy, beside ours, which compute the same.
//!
//! The library of `peers/ceilings.cu` works in the context of the device, on memory of its own with
//! the same data. All sides are timed in turns of several launches, with an event between any two.

mod sides;

use std::ffi::c_void;
use std::marker::PhantomData;
use std::path::Path;
use std::{ptr, slice};

use anyhow::{Context, Result, ensure};
use cudarc::driver::result;
use cudarc::driver::sys::CUstream;
use libloading::{Library, Symbol};
use tilepipe::launch::Instance;
use tilepipe_host::Device;
use tilepipe_runner::array::{self, Array};
use tilepipe_runner::data::POISON;
use tilepipe_runner::reference;
use tilepipe_runner::value::DType::I32;
use tilepipe_runner::work::{COPY, COPY_ROWS, Shape, TRIPLE, Work};

use crate::copy::{self, Memory, milliseconds, record};
use crate::measure::{Bench, Measurement, Outcome, input, shape};
use crate::plan::blocks::Blocks::{self, Resident, Tiles};
use crate::plan::pairings::Pairing;
use crate::plan::peers::THREADS;
use crate::plan::wide::WANTED;
use crate::record::{Class, PeerRow, Row};
use crate::show::report;

use sides::Side;

/// Launches of one side before the other has its turn.
const TURN: usize = 10;
/// Rounds before the timed ones.
const WARM_UP: usize = 3;
/// What [`Function::transform`] calls.
pub const TRANSFORM: &str = "cub::DeviceTransform::Transform";
/// What a copy must reach of the driver's.
const OF_THE_COPY: f64 = 0.97;
/// A function of the library: memory to work in and its bytes, two inputs, the output, a length, a
/// stream.
type Call = unsafe extern "C" fn(*mut c_void, *mut usize, u64, u64, u64, usize, CUstream) -> i32;

/// What is computed on both sides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Job {
    Sum,
    Dot,
    Triple,
    Copy,
    /// Of a matrix, whose rows the driver copies as they lie.
    CopyRows,
}

impl Job {
    /// The function, which is the library's but for the copy, and what it calls.
    fn of_library(self) -> (&'static str, &'static str) {
        match self {
            Job::Sum => ("tilepipe_cub_sum", "cub::DeviceReduce::Sum"),
            Job::Dot => ("tilepipe_cub_dot", "cub::DeviceReduce::TransformReduce"),
            Job::Triple => ("tilepipe_cub_triple", TRANSFORM),
            Job::Copy | Job::CopyRows => ("the driver's copy", "cuMemcpyDtoDAsync"),
        }
    }

    /// Who does it beside us.
    fn other(self) -> &'static str {
        if self.is_copy() { "the driver's copy" } else { "CUB" }
    }

    /// What ours must reach of that.
    fn wanted(self) -> Option<f64> {
        match self {
            Job::Sum | Job::Dot => Some(1.0),
            Job::Triple => None,
            Job::Copy | Job::CopyRows => Some(OF_THE_COPY),
        }
    }

    /// Whether the result has one element, which blocks' results are added to.
    fn is_sum(self) -> bool {
        matches!(self, Job::Sum | Job::Dot)
    }

    /// Whether the result is the input.
    fn is_copy(self) -> bool {
        matches!(self, Job::Copy | Job::CopyRows)
    }

    fn inputs(self) -> usize {
        if self == Job::Dot { 2 } else { 1 }
    }

    /// The result's elements for inputs of `len`.
    fn outputs(self, len: usize) -> usize {
        if self.is_sum() { 1 } else { len }
    }

    /// Bytes read and written for inputs of `bytes` bytes each.
    fn moved(self, bytes: u64) -> u64 {
        if self.is_sum() { bytes * self.inputs() as u64 } else { 2 * bytes }
    }

    /// What is computed, as the rows of other contestants say it.
    fn task(self) -> &'static str {
        match self {
            Job::Sum => "sum",
            Job::Dot => "dot product",
            Job::Triple => TRIPLE,
            Job::Copy => COPY,
            Job::CopyRows => COPY_ROWS,
        }
    }

    fn compute(self, inputs: &[Vec<i32>]) -> Vec<i32> {
        match self {
            Job::Sum => vec![inputs[0].iter().fold(0, |sum: i32, value| sum.wrapping_add(*value))],
            Job::Dot => {
                let products = inputs[0].iter().zip(&inputs[1]).map(|(left, right)| left.wrapping_mul(*right));
                vec![products.fold(0, i32::wrapping_add)]
            }
            Job::Triple => reference::tripled(&inputs[0]),
            Job::Copy | Job::CopyRows => reference::copied(&inputs[0]),
        }
    }
}

/// One of our kernels that does a job: its name, its threads and its generic arguments.
type Kernel = (&'static str, u32, &'static [(&'static str, &'static str)]);

/// All of them. A sum adds each block's result to one with a second launch of [`LAST`].
const JOBS: [(Job, Kernel, Blocks); 20] = [
    (Job::Sum, ("sum", THREADS, &[("LEN", "1024"), ("STAGES", "4")]), Resident),
    (Job::Sum, ("sum", THREADS, &[("LEN", "1024"), ("STAGES", "8")]), Resident),
    (Job::Sum, ("sum_bulk", THREADS, &[("LEN", "1024"), ("STAGES", "4")]), Resident),
    (Job::Sum, ("sum_bulk", THREADS, &[("LEN", "4096"), ("STAGES", "4")]), Resident),
    (Job::Dot, ("dot", THREADS, &[("LEN", "1024"), ("STAGES", "2")]), Resident),
    (Job::Dot, ("dot", THREADS, &[("LEN", "1024"), ("STAGES", "4")]), Resident),
    (Job::Dot, ("dot_bulk", THREADS, &[("LEN", "1024"), ("STAGES", "2")]), Resident),
    (Job::Dot, ("dot_bulk", THREADS, &[("LEN", "1024"), ("STAGES", "4")]), Resident),
    (Job::Triple, ("scale_own", THREADS, &[("S", "BlockScope"), ("STAGES", "4"), ("E", "CpAsync")]), Resident),
    (Job::Copy, ("copy_reads", 128, &[]), Tiles),
    (Job::Copy, ("copy_bulk", 128, &[("STAGES", "2")]), Tiles),
    (Job::Copy, ("copy_bulk", 128, &[("STAGES", "2")]), Resident),
    (Job::Copy, ("copy_bulk", 128, &[("STAGES", "4")]), Resident),
    (Job::Copy, ("copy_bulk", 256, &[("STAGES", "2")]), Tiles),
    (Job::Copy, ("copy_bulk", 256, &[("STAGES", "2")]), Resident),
    (Job::Copy, ("copy_bulk", 256, &[("STAGES", "4")]), Resident),
    (Job::Copy, ("copy_stored_bulk", 32, &[("LEN", "1024"), ("STAGES", "4")]), Resident),
    (Job::Copy, ("copy_stored_bulk", 32, &[("LEN", "4096"), ("STAGES", "2")]), Resident),
    (Job::Copy, ("copy_stored_bulk", 32, &[("LEN", "4096"), ("STAGES", "4")]), Resident),
    (Job::CopyRows, ("copy_tma", 32, &[("ROWS", "128"), ("STAGES", "4")]), Resident),
];

/// What adds the blocks' results of a sum or a dot product.
const LAST: Kernel = ("sum", THREADS, &[("LEN", "1024"), ("STAGES", "4")]);

fn resolved((kernel, threads, generics): Kernel) -> Result<&'static Instance> {
    let generics = generics.to_vec();
    let pairing = Pairing { kernel, dtype: I32, generics, blocks: Blocks::Of(1), threads, peers: Vec::new() };
    Ok(pairing.resolve()?.ours)
}

/// Our kernels that are measured, some of them several times.
#[cfg(test)]
pub fn kernels() -> Vec<&'static str> {
    JOBS.into_iter().map(|(_, ours, _)| resolved(ours).unwrap().kernel()).collect()
}

/// Measures those of them whose kernel is wanted, over inputs of `len` numbers of 4 bytes.
///
/// # Errors
///
/// A library that cannot be loaded, too little memory, a kernel that is not in the modules, or a
/// call that failed.
pub fn measure(bench: &Bench<'_>, library: &Path, len: usize, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<Row>> {
    let mut jobs = JOBS.to_vec();
    jobs.retain(|(_, (kernel, ..), _)| is_wanted(kernel));
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let library = open(library)?;
    let inputs = [input(0, len)?, input(1, len)?];
    jobs.into_iter().map(|job| compare(bench, &library, job, &inputs)).collect()
}

/// Loads the library with CUB's work.
///
/// # Errors
///
/// A library that cannot be loaded.
pub fn open(path: &Path) -> Result<Library> {
    // SAFETY: the library is the one that `peers/build.sh` makes of `ceilings.cu`, whose
    // initialisers are the CUDA runtime's.
    unsafe { Library::new(path) }.with_context(|| format!("cannot load {}", path.display()))
}

/// The C++ that is measured here.
#[cfg(test)]
pub fn twins() -> Vec<Instance> {
    JOBS.into_iter().filter_map(|(job, ours, _)| Some(sides::twin(job, resolved(ours).unwrap())?.instance)).collect()
}

/// Measures one of them on all sides.
fn compare(
    bench: &Bench<'_>,
    library: &Library,
    (job, kernel, blocks): (Job, Kernel, Blocks),
    inputs: &[Vec<i32>],
) -> Result<Row> {
    let inputs = &inputs[..job.inputs()];
    let expected = job.compute(inputs);
    let instance = resolved(kernel)?;
    let work = Work::of(instance).with_context(|| format!("{} has no reference", instance.name()))?;
    let grid = blocks.number(bench.device, instance, inputs[0].len().div_ceil(work.portion()))?;
    let mut sides = vec![
        Side::Kernel(Ours::new(bench, work, instance, grid, inputs)?),
        Side::Library(Theirs::new(bench.device, library, job, inputs)?),
    ];
    let twin = sides::twin(job, instance).map(|twin| (twin.name, &*Box::leak(Box::new(twin.instance))));
    let mut grid_of_twin = grid;
    if let Some((_, instance)) = twin {
        grid_of_twin = blocks.number(bench.device, instance, inputs[0].len().div_ceil(work.portion()))?;
        sides.push(Side::Kernel(Ours::new(bench, work, instance, grid_of_twin, inputs)?));
    }
    for side in &mut sides {
        side.turn(WARM_UP)?;
    }
    let faults = |sides: &mut Vec<Side<'_>>| -> Result<Vec<Option<String>>> {
        sides.iter_mut().map(|side| side.fault(&expected)).collect()
    };
    let before = faults(&mut sides)?;
    let mut times = vec![Vec::new(); before.len()];
    while times[0].len() < bench.repetitions {
        for (side, times) in sides.iter_mut().zip(&mut times) {
            times.extend(side.turn(TURN)?);
        }
    }
    let after = faults(&mut sides)?;
    let outcome = |(milliseconds, fault): (Vec<f64>, Option<String>)| -> Outcome {
        fault.map_or(Ok(Measurement { milliseconds, wrong: [0, 0] }), Err)
    };
    let faults = before.into_iter().zip(after).map(|(before, after)| before.or(after));
    let outcomes: Vec<Outcome> = times.into_iter().zip(faults).map(outcome).collect();
    let (own, other) = (&outcomes[0], &outcomes[1]);
    let (_, symbol) = job.of_library();
    let theirs = PeerRow { class: Some(Class::Library), ..PeerRow::new(job.other(), symbol, job.wanted(), other) };
    let by_hand = twin.map(|(name, instance)| PeerRow {
        class: Some(Class::Hand),
        grid: (grid_of_twin != grid).then_some(grid_of_twin),
        ..PeerRow::new(name, instance.name(), Some(WANTED), &outcomes[2])
    });
    let mut row = Row {
        kernel: instance.kernel().to_owned(),
        task: job.task().to_owned(),
        symbol: instance.name().to_owned(),
        dtype: I32.to_string(),
        stages: instance.generic("STAGES").map(str::to_owned),
        threads: instance.threads(),
        grid,
        inputs: inputs.len(),
        moved: job.moved(size_of_val(&inputs[0][..]) as u64),
        timing: None,
        resources: None,
        samples: report::samples(own),
        peers: std::iter::once(theirs).chain(by_hand).collect(),
        fault: own.as_ref().err().cloned(),
    };
    row.derive();
    Ok(row)
}

/// What is wrong with a result.
fn difference(got: &[i32], expected: &[i32]) -> Option<String> {
    reference::compare(got, expected).map(|difference| difference.to_string())
}

/// Our side.
struct Ours<'a> {
    bench: &'a Bench<'a>,
    instance: &'static Instance,
    grid: u32,
    /// `sum`, which adds the blocks' results.
    last: &'static Instance,
    inputs: Vec<Array<i32>>,
    /// Each block's result; none where there is one for each element.
    partial: Option<Array<i32>>,
    shape: Shape,
    out: Array<i32>,
}

impl<'a> Ours<'a> {
    fn new(
        bench: &'a Bench<'a>,
        work: Work,
        instance: &'static Instance,
        grid: u32,
        inputs: &[Vec<i32>],
    ) -> Result<Self> {
        let (device, is_sum) = (bench.device, work.kind.is_sum());
        let of_inputs = shape(work.kind, inputs[0].len());
        let shape = if is_sum { Shape::Row(1) } else { of_inputs };
        let partial = is_sum.then(|| Array::poisoned(device, Shape::Row(grid as usize)));
        Ok(Ours {
            bench,
            instance,
            grid,
            last: resolved(LAST)?,
            inputs: inputs.iter().map(|input| Ok(Array::upload(device, input, of_inputs)?)).collect::<Result<_>>()?,
            partial: partial.transpose()?,
            shape,
            out: Array::poisoned(device, shape)?,
        })
    }

    /// Runs it `count` times and returns the milliseconds of each.
    fn turn(&mut self, count: usize) -> Result<Vec<f64>> {
        let stream = self.bench.stream;
        let mut events = vec![stream.record()?];
        for _ in 0..count {
            let out = self.partial.as_mut().unwrap_or(&mut self.out);
            array::run(stream, self.grid, self.instance, &self.inputs, out)?;
            if let Some(partial) = &self.partial {
                array::run(stream, 1, self.last, slice::from_ref(partial), &mut self.out)?;
            }
            events.push(stream.record()?);
        }
        stream.synchronize()?;
        events.windows(2).map(|pair| Ok(pair[1].elapsed_ms_since(&pair[0])?)).collect()
    }

    /// What is wrong with a run over a poisoned output.
    fn fault(&mut self, expected: &[i32]) -> Result<Option<String>> {
        self.out = Array::poisoned(self.bench.device, self.shape)?;
        self.turn(1)?;
        Ok(difference(&self.out.download()?, expected))
    }
}

/// A function of the library, or the driver's copy, with the memory that it works in, for inputs of
/// one length.
pub struct Function<'a> {
    call: Call,
    /// Where `call` stays as long as this lives.
    library: PhantomData<&'a Library>,
    /// Its name.
    pub name: &'static str,
    work: Memory,
    work_bytes: usize,
    len: usize,
}

impl<'a> Function<'a> {
    /// Finds `cub::DeviceTransform` for inputs of `len` numbers. The device's context is the
    /// thread's.
    ///
    /// # Errors
    ///
    /// A library without it, or a call of it that failed.
    pub fn transform(library: &'a Library, len: usize) -> Result<Self> {
        Function::new(library, Job::Triple, len)
    }

    fn new(library: &'a Library, job: Job, len: usize) -> Result<Self> {
        let (name, _) = job.of_library();
        let of_library = || -> Result<Call> {
            // SAFETY: `ceilings.cu` has this function with these parameters.
            let found: Result<Symbol<'a, Call>, _> = unsafe { library.get(name.as_bytes()) };
            Ok(*found.with_context(|| format!("the library has no `{name}`"))?)
        };
        let call = if job.is_copy() { copy::start } else { of_library()? };
        let mut work_bytes = 0;
        // SAFETY: without memory the call writes the number of bytes that it wants, and nothing
        // else.
        let status = unsafe { call(ptr::null_mut(), &mut work_bytes, 0, 0, 0, len, ptr::null_mut()) };
        ensure!(status == 0, "`{name}` failed with CUDA error {status}");
        let work = Memory::allocate(work_bytes.max(1))?;
        Ok(Function { call, library: PhantomData, name, work, work_bytes, len })
    }

    /// Starts it in a stream.
    ///
    /// # Errors
    ///
    /// A call that failed.
    ///
    /// # Safety
    ///
    /// 0. `stream` is one of the thread's context, or null for its default one.
    /// 1. `left` and `right` are memory of it, of as many numbers as the function is for, and may
    ///    be the same; `out` is, of as many as the result has.
    /// 2. That memory and the function's own stay until the work is done, and nothing else uses the
    ///    output or the function meanwhile.
    pub unsafe fn start(&mut self, [left, right, out]: [u64; 3], stream: CUstream) -> Result<()> {
        let work = ptr::with_exposed_provenance_mut(self.work.address() as usize);
        // SAFETY: the work memory has as many bytes as the call wants; all else is the caller's
        // (0), (1) and (2).
        let status = unsafe { (self.call)(work, &mut self.work_bytes, left, right, out, self.len, stream) };
        ensure!(status == 0, "`{}` failed with CUDA error {status}", self.name);
        Ok(())
    }
}

/// The library's side.
struct Theirs<'a> {
    function: Function<'a>,
    inputs: Vec<Memory>,
    out: Memory,
    outputs: usize,
}

impl<'a> Theirs<'a> {
    fn new(device: &Device, library: &'a Library, job: Job, inputs: &[Vec<i32>]) -> Result<Self> {
        // Makes the device's context this thread's, which the calls below use.
        device.synchronize()?;
        let len = inputs[0].len();
        let function = Function::new(library, job, len)?;
        let copies =
            inputs.iter().map(|input| Memory::filled(bytemuck::cast_slice(input))).collect::<Result<Vec<_>>>()?;
        let outputs = job.outputs(len);
        Ok(Theirs { function, inputs: copies, out: Memory::allocate(4 * outputs)?, outputs })
    }

    fn turn(&mut self, count: usize) -> Result<Vec<f64>> {
        let stream = ptr::null_mut();
        let (left, right) = (self.inputs[0].address(), self.inputs[self.inputs.len() - 1].address());
        let mut events = vec![record(stream)?];
        for _ in 0..count {
            // SAFETY: (0) it is the default stream; (1) inputs and output have the lengths that
            // `new` gives both; (2) all live until the events below were waited for, and calls of
            // one stream come one after another.
            unsafe { self.function.start([left, right, self.out.address()], stream) }?;
            events.push(record(stream)?);
        }
        milliseconds(events)
    }

    fn fault(&mut self, expected: &[i32]) -> Result<Option<String>> {
        // SAFETY: the memory has so many bytes.
        unsafe { result::memset_d8_sync(self.out.address(), POISON, 4 * self.outputs) }
            .context("cannot fill memory")?;
        self.turn(1)?;
        let mut got = vec![0_i32; self.outputs];
        // SAFETY: the memory has as many bytes as `got`.
        unsafe { result::memcpy_dtoh_sync(&mut got, self.out.address()) }.context("cannot copy from the GPU")?;
        Ok(difference(&got, expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::catalog;

    #[test]
    fn our_kernels_exist_and_the_jobs_compute_what_they_say() {
        let jobs = [
            (Job::Sum, vec![6]),
            (Job::Dot, vec![20]),
            (Job::Triple, vec![3, 6, 9]),
            (Job::Copy, vec![1, 2, 3]),
            (Job::CopyRows, vec![1, 2, 3]),
        ];
        for (job, expected) in jobs {
            assert_eq!(job.compute(&[vec![1, 2, 3], vec![4, 5, 2]]), expected);
            assert_eq!(job.outputs(3), expected.len());
        }
        for (job, ours, _) in JOBS {
            let work = Work::of(resolved(ours).unwrap()).unwrap();
            assert_eq!((work.task().as_str(), work.kind.is_sum()), (job.task(), job.is_sum()));
        }
        assert_eq!([Job::Sum, Job::Dot, Job::Triple, Job::Copy].map(|job| job.moved(8)), [8, 16, 16, 16]);
        assert_eq!(difference(&[1, 2], &[1, 2]), None);
        assert!(difference(&[1, 2], &[1, 3]).unwrap().starts_with("element 1 is 2, expected 3"));
    }

    #[test]
    fn no_kernel_has_a_row_of_the_comparison_with_the_same_blocks() {
        let rows = catalog::comparisons().unwrap();
        for (_, ours, blocks) in JOBS {
            let name = resolved(ours).unwrap().name();
            assert!(!rows.iter().any(|row| row.ours.name() == name && row.blocks == blocks), "{name}");
        }
    }

    #[test]
    fn the_source_has_the_functions() {
        let source = include_str!("../peers/ceilings.cu");
        for job in [Job::Sum, Job::Dot, Job::Triple] {
            let (function, name) = job.of_library();
            assert!(source.contains(&format!("int {function}(void *memory")) && source.contains(name), "{function}");
        }
    }
}
