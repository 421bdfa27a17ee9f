//! Running the planned configurations one after the other and checking their results.

pub(crate) mod memory;
pub(crate) mod parallel;

use std::path::Path;
use std::time::Duration;

use crate::array::Inputs;
use crate::dtype::{ForType, with_type};
use crate::reference::{Difference, Written};
use crate::value::{DType, Value};
use crate::work::{Shape, Work};
use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use tilepipe_host::Error;

use crate::machine::{self, Launch, Machine};
use crate::plan::Configuration;
use crate::source::Source;

/// What was run and what came of it.
pub struct Row {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The instance's name.
    pub name: &'static str,
    /// The element type.
    pub dtype: DType,
    /// Threads a block.
    pub block: u32,
    /// Pipeline stages, for a kernel that has a choice of them.
    pub stages: Option<u32>,
    /// What tells it from other runs of the kernel.
    pub text: String,
    /// `GPU` or `CPU`.
    pub device: &'static str,
    /// The shape of the first input.
    pub shape: Shape,
    /// Bytes read and written, each once.
    pub bytes: u128,
    /// The result.
    pub outcome: Outcome,
}

/// What came of one configuration.
pub enum Outcome {
    /// Every element is right.
    Verified {
        /// Milliseconds of one run.
        milliseconds: f64,
    },
    /// Some elements are wrong.
    Different {
        /// Milliseconds of one run.
        milliseconds: f64,
        /// Where.
        difference: Difference,
    },
    /// It could not be run to its end.
    Failed(String),
    /// An earlier one took the device with it.
    NotRun,
}

impl Outcome {
    /// Whether every element is right.
    pub fn is_verified(&self) -> bool {
        matches!(self, Outcome::Verified { .. })
    }
}

/// Runs all configurations, grouped by element type so that each input is made once, and returns
/// them in the given order. The output file is written if the run that makes it is verified.
///
/// # Errors
///
/// What makes going on useless: the input cannot be had, the output cannot be written.
pub fn execute(
    machine: Machine,
    configurations: &[Configuration],
    source: &Source,
    output: Option<&Path>,
) -> Result<Vec<Row>> {
    let progress = progress_bar(configurations.len() as u64);
    let mut session = Session { machine, lost: false, source, output, progress };
    let mut rows: Vec<(usize, Row)> = Vec::new();
    for dtype in DType::ALL {
        let group: Vec<(usize, &Configuration)> =
            configurations.iter().enumerate().filter(|(_, one)| one.variant.dtype == dtype).collect();
        if group.is_empty() {
            continue;
        }
        rows.extend(with_type(dtype, Group { session: &mut session, group: &group })?);
    }
    session.progress.finish_and_clear();
    rows.sort_by_key(|(position, _)| *position);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

struct Session<'a> {
    machine: Machine,
    /// Whether the device is gone for good.
    lost: bool,
    source: &'a Source,
    output: Option<&'a Path>,
    progress: ProgressBar,
}

/// Configurations of one element type, each with its position among all.
struct Group<'a, 'b> {
    session: &'a mut Session<'b>,
    group: &'a [(usize, &'a Configuration)],
}

impl ForType for Group<'_, '_> {
    type Output = Result<Vec<(usize, Row)>>;

    fn call<T: Value>(self) -> Self::Output {
        let Group { session, group } = self;
        let count = group.iter().map(|(_, one)| one.variant.work.kind.inputs()).max().unwrap_or(0);
        let inputs: Vec<Vec<T>> = if session.lost { Vec::new() } else { session.source.load(count)? };
        let mut kept = Kept { inputs: &inputs, expected: None, uploaded: None };
        let mut rows = Vec::with_capacity(group.len());
        for (position, configuration) in group {
            let variant = configuration.variant;
            session.progress.set_message(variant.instance.name());
            let shape = session.source.shape(variant.dtype, variant.work.kind.dimensions());
            let grid = machine::grid(variant.work, shape);
            let output = variant.work.output(shape, grid as usize);
            let of_inputs: usize = variant.work.inputs(shape, grid as usize).into_iter().map(Shape::elements).sum();
            let of_indices = variant.work.indices(shape) * DType::U32.bytes();
            let read = of_inputs * variant.dtype.bytes() + of_indices;
            let of_output = variant.work.kind.output_type(variant.dtype);
            let bytes = read as u128 + output.elements() as u128 * of_output.bytes() as u128;
            let outcome = if session.lost {
                Outcome::NotRun
            } else {
                let launch = Launch { instance: variant.instance, kind: variant.work.kind, grid, output };
                session.outcome(&mut kept, variant.work, shape, &launch)?
            };
            let row = Row {
                kernel: configuration.kernel,
                name: variant.instance.name(),
                dtype: variant.dtype,
                block: variant.block,
                stages: variant.stages,
                text: configuration.text.clone(),
                device: session.machine.label(),
                shape,
                bytes,
                outcome,
            };
            rows.push((*position, row));
            session.progress.inc(1);
        }
        Ok(rows)
    }
}

/// What configurations of one element type share.
struct Kept<'a, T> {
    inputs: &'a [Vec<T>],
    /// What the last configuration had to compute, in so many blocks.
    expected: Option<(Work, u32, Written<T>)>,
    /// The inputs on the device, as the last configuration took them.
    uploaded: Option<Uploaded<T>>,
}

/// Inputs on the device, in these shapes and with so many indices.
struct Uploaded<T> {
    shapes: Vec<Shape>,
    indices: usize,
    inputs: Inputs<T>,
}

impl<T: Value> Kept<'_, T> {
    fn expect(&mut self, work: Work, shape: Shape, grid: u32) -> &Written<T> {
        if self.expected.as_ref().is_none_or(|(of, blocks, _)| (*of, *blocks) != (work, grid)) {
            self.expected = None;
        }
        let inputs = self.inputs;
        let compute = || {
            let shapes = work.inputs(shape, grid as usize).into_iter();
            let inputs: Vec<&[T]> = inputs.iter().zip(shapes).map(|(input, of)| &input[..of.elements()]).collect();
            (work, grid, work.written(&inputs, shape, grid as usize))
        };
        &self.expected.get_or_insert_with(compute).2
    }

    fn upload(&mut self, machine: &Machine, work: Work, shape: Shape, grid: u32) -> Result<&Inputs<T>, Error> {
        let (shapes, indices) = (work.inputs(shape, grid as usize), work.indices(shape));
        let kept = self.uploaded.take().filter(|kept| kept.shapes == shapes && kept.indices == indices);
        let uploaded = match kept {
            Some(kept) => kept,
            None => {
                let inputs = Inputs::upload(&machine.device, work, self.inputs, shape, grid as usize)?;
                Uploaded { shapes, indices, inputs }
            }
        };
        Ok(&self.uploaded.insert(uploaded).inputs)
    }
}

impl Session<'_> {
    fn outcome<T: Value>(
        &mut self,
        kept: &mut Kept<'_, T>,
        work: Work,
        shape: Shape,
        launch: &Launch<'_>,
    ) -> Result<Outcome> {
        let uploaded = kept.upload(&self.machine, work, shape, launch.grid);
        match uploaded.and_then(|inputs| self.machine.run(launch, inputs)) {
            Ok((got, milliseconds)) => {
                let expected = kept.expect(work, shape, launch.grid);
                self.judge(&got, expected, launch.output, milliseconds)
            }
            Err(error) => {
                if self.device_is_gone(&error)? {
                    kept.uploaded = None;
                }
                Ok(Outcome::Failed(error.to_string()))
            }
        }
    }

    fn judge<T: Value>(
        &self,
        got: &Written<T>,
        expected: &Written<T>,
        shape: Shape,
        milliseconds: f64,
    ) -> Result<Outcome> {
        if let Some(difference) = got.compare(expected) {
            return Ok(Outcome::Different { milliseconds, difference });
        }
        if let Some(path) = self.output {
            match got {
                Written::Elements(elements) => self.source.write(path, elements, shape)?,
                Written::Keys(keys) => self.source.write(path, keys, shape)?,
                Written::Counts(counts) => self.source.write(path, counts, shape)?,
            }
        }
        Ok(Outcome::Verified { milliseconds })
    }

    /// Whether `error` made the device and its buffers unusable. The CPU is then opened anew; a GPU
    /// stays lost.
    fn device_is_gone(&mut self, error: &Error) -> Result<bool> {
        match error {
            Error::KernelPanicked { .. } | Error::KernelTrapped { .. } | Error::DeviceLost { .. } => {
                match self.machine.reopen()? {
                    Some(machine) => self.machine = machine,
                    None => self.lost = true,
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// A bar on standard error; nothing where that is no terminal.
fn progress_bar(runs: u64) -> ProgressBar {
    let bar = ProgressBar::new(runs);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
