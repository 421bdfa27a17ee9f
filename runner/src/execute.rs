//! Running the planned configurations one after the other and checking their results.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow};
use indicatif::{ProgressBar, ProgressStyle};
use tilepipe::Vec4;
use tilepipe_host::Error;
use tilepipe_runner::reference::{self, Difference, Reference};
use tilepipe_runner::value::{DType, Value};
use tilepipe_runner::{data, npy};

use crate::machine::Machine;
use crate::plan::Configuration;

/// Where the input comes from.
pub enum Source {
    /// Generated, the same in every run.
    Generated {
        /// How many.
        elements: usize,
    },
    /// Read from a NumPy file.
    File {
        /// The file.
        path: PathBuf,
        /// How many its header promises.
        elements: usize,
    },
}

impl Source {
    /// The number of elements.
    pub fn elements(&self) -> usize {
        match self {
            Source::Generated { elements } | Source::File { elements, .. } => *elements,
        }
    }

    fn load<T: Value>(&self) -> Result<Vec<T>> {
        match self {
            Source::Generated { elements } => {
                data::generate(*elements, data::DEFAULT_SEED).map_err(|text| anyhow!(text))
            }
            Source::File { path, .. } => Ok(npy::read(path)?),
        }
    }
}

/// One configuration and what came of it.
pub struct Row {
    /// What was run.
    pub configuration: Configuration,
    /// `GPU` or `CPU`.
    pub device: &'static str,
    /// Elements in and out.
    pub elements: usize,
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

/// Runs all configurations, grouped by element type so that each input is made once, and returns them in the given order.
/// The output file is written if the run that makes it is verified.
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
        rows.extend(match dtype {
            DType::I32 => session.group::<i32>(&group),
            DType::U32 => session.group::<u32>(&group),
            DType::F32 => session.group::<f32>(&group),
            DType::F64 => session.group::<f64>(&group),
            DType::I32x4 => session.group::<Vec4<i32>>(&group),
            DType::U32x4 => session.group::<Vec4<u32>>(&group),
            DType::F32x4 => session.group::<Vec4<f32>>(&group),
        }?);
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

impl Session<'_> {
    fn group<T: Value>(&mut self, group: &[(usize, &Configuration)]) -> Result<Vec<(usize, Row)>> {
        let input: Vec<T> = if self.lost { Vec::new() } else { self.source.load()? };
        let mut expected: Option<(Reference, Vec<T>)> = None;
        let mut rows = Vec::with_capacity(group.len());
        let mut uploaded = None;
        for (position, configuration) in group {
            let reference = configuration.reference;
            self.progress.set_message(configuration.variant.instance.symbol());
            let outcome = if self.lost {
                Outcome::NotRun
            } else {
                if expected.as_ref().is_none_or(|(of, _)| *of != reference) {
                    drop(expected.take());
                    expected = Some((reference, reference.compute(&input)));
                }
                let values = expected.as_ref().map_or(&[][..], |(_, values)| values);
                let buffer = match uploaded.take() {
                    Some(buffer) => Ok(buffer),
                    None => self.machine.device.upload(&input),
                };
                let result = buffer.and_then(|buffer| {
                    let result = self.machine.run(configuration, &buffer);
                    uploaded = Some(buffer);
                    result
                });
                match result {
                    Ok((got, milliseconds)) => self.judge(&got, values, milliseconds)?,
                    Err(error) => {
                        if self.device_is_gone(&error)? {
                            uploaded = None;
                        }
                        Outcome::Failed(error.to_string())
                    }
                }
            };
            let device = self.machine.label();
            let elements = self.source.elements();
            rows.push((*position, Row { configuration: **configuration, device, elements, outcome }));
            self.progress.inc(1);
        }
        Ok(rows)
    }

    fn judge<T: Value>(&self, got: &[T], expected: &[T], milliseconds: f64) -> Result<Outcome> {
        if let Some(difference) = reference::compare(got, expected) {
            return Ok(Outcome::Different { milliseconds, difference });
        }
        if let Some(path) = self.output {
            npy::write(path, got)?;
        }
        Ok(Outcome::Verified { milliseconds })
    }

    /// Whether `error` made the device and its buffers unusable. The CPU is then opened anew; a GPU stays lost.
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
