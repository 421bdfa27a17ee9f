//! Checks kernels against the reference, and times those that are right in turns.

use anyhow::{Context, Result};
use tilepipe::launch::Instance;
use tilepipe_host::{Bound, Buffer, Device, Event, Stream, launch};
use tilepipe_runner::data::{self, DEFAULT_SEED, POISON};
use tilepipe_runner::reference::{self, Reference};
use tilepipe_runner::value::Value;

use crate::catalog::Comparison;

/// Rounds before the timed ones.
const WARM_UP: usize = 3;
/// A length that is no multiple of a tile, for the check of the last tile; and a grid whose blocks have several tiles.
const ODD: (usize, u32) = (1_000_003, 64);

/// The device, its stream, and how often each kernel is timed.
pub struct Bench<'a> {
    /// The GPU.
    pub device: &'a Device,
    /// Where all work goes.
    pub stream: &'a Stream,
    /// Timed launches of each kernel.
    pub repetitions: usize,
}

/// The milliseconds of each repetition of one kernel, or what is wrong with its results.
pub type Times = Result<Vec<f64>, String>;

impl Bench<'_> {
    /// Runs comparisons over `elements` elements of type `T`, and calls `done` with the times of our kernel and of each
    /// peer in the comparison's order.
    ///
    /// # Errors
    ///
    /// Too little memory, a kernel that is not in the modules, or one that trapped.
    pub fn run<T: Value>(
        &self,
        elements: usize,
        comparisons: &[&Comparison],
        mut done: impl FnMut(&Comparison, Vec<Times>),
    ) -> Result<()> {
        let host: Vec<T> = data::generate(elements, DEFAULT_SEED).map_err(anyhow::Error::msg)?;
        let odd = &host[..ODD.0.min(elements)];
        let mut work = Work {
            bench: self,
            input: self.device.upload(&host)?,
            odd_input: self.device.upload(odd)?,
            got: data::generate(elements, DEFAULT_SEED + 1).map_err(anyhow::Error::msg)?,
            expected: Vec::new(),
            odd_expected: Vec::new(),
        };
        let mut computed: Option<Reference> = None;
        for comparison in comparisons {
            if computed != Some(comparison.reference) {
                // The old ones go first: each has the size of the input.
                work.expected = Vec::new();
                work.expected = comparison.reference.compute(&host);
                work.odd_expected = comparison.reference.compute(odd);
                computed = Some(comparison.reference);
            }
            done(comparison, work.compare(comparison)?);
        }
        Ok(())
    }
}

/// The data of one element type.
struct Work<'a, T> {
    bench: &'a Bench<'a>,
    input: Buffer<T>,
    odd_input: Buffer<T>,
    /// Room for a result.
    got: Vec<T>,
    expected: Vec<T>,
    odd_expected: Vec<T>,
}

impl<T: Value> Work<'_, T> {
    /// Checks all contestants, times those that are right, and checks them again.
    fn compare(&mut self, comparison: &Comparison) -> Result<Vec<Times>> {
        let instances: Vec<&Instance> =
            std::iter::once(comparison.ours).chain(comparison.peers.iter().map(|peer| &peer.instance)).collect();
        let mut faults = Vec::new();
        for instance in &instances {
            let fault = match self.fault_of_odd(instance)? {
                None => self.fault_of(instance, comparison.grid)?,
                fault => fault,
            };
            faults.push(fault);
        }
        let right: Vec<usize> = (0..instances.len()).filter(|&number| faults[number].is_none()).collect();
        let timed: Vec<&Instance> = right.iter().map(|&number| instances[number]).collect();
        let mut times = self.time(&timed, comparison.grid)?.into_iter();
        let mut results = Vec::new();
        for (instance, fault) in instances.into_iter().zip(faults) {
            let result = match fault {
                Some(fault) => Err(fault),
                None => {
                    let times = times.next().unwrap_or_default();
                    // Once more: a race may show only now.
                    self.fault_of(instance, comparison.grid)?.map_or(Ok(times), Err)
                }
            };
            results.push(result);
        }
        Ok(results)
    }

    /// Times launches in turns, and returns the milliseconds of each instance's repetitions.
    ///
    /// All are put into the stream at once, with one event between any two, so that none of the host's work is in the
    /// times. Each round begins with another instance.
    fn time(&self, instances: &[&Instance], grid: u32) -> Result<Vec<Vec<f64>>> {
        let Bench { device, stream, repetitions } = *self.bench;
        let count = instances.len();
        let mut out = poisoned(device, &self.input)?;
        for instance in instances.repeat(WARM_UP) {
            self.launch(instance, grid, &self.input, &mut out)?;
        }
        let order: Vec<usize> =
            (0..repetitions).flat_map(|round| (0..count).map(move |turn| (round + turn) % count)).collect();
        let mut events: Vec<Event> = vec![stream.record()?];
        for &number in &order {
            self.launch(instances[number], grid, &self.input, &mut out)?;
            events.push(stream.record()?);
        }
        stream.synchronize()?;
        let mut times = vec![Vec::with_capacity(repetitions); count];
        for (pair, number) in events.windows(2).zip(order) {
            times[number].push(pair[1].elapsed_ms_since(&pair[0])?);
        }
        Ok(times)
    }

    /// Runs a kernel once over a poisoned output, and says what is wrong with the result.
    fn fault_of(&mut self, instance: &Instance, grid: u32) -> Result<Option<String>> {
        let mut out = poisoned(self.bench.device, &self.input)?;
        self.launch(instance, grid, &self.input, &mut out)?;
        out.read(&mut self.got)?;
        Ok(reference::compare(&self.got, &self.expected).map(|difference| difference.to_string()))
    }

    /// The same over a length that is no multiple of a tile.
    fn fault_of_odd(&mut self, instance: &Instance) -> Result<Option<String>> {
        let mut out = poisoned(self.bench.device, &self.odd_input)?;
        self.launch(instance, ODD.1, &self.odd_input, &mut out)?;
        let difference = reference::compare(&out.download()?, &self.odd_expected);
        Ok(difference.map(|difference| format!("with {} elements: {difference}", self.odd_input.len())))
    }

    fn launch(&self, instance: &Instance, grid: u32, input: &Buffer<T>, out: &mut Buffer<T>) -> Result<()> {
        launch(self.bench.stream, grid, instance, [Bound::input(input), Bound::output(out)])
            .with_context(|| format!("cannot measure {}", instance.symbol()))
    }
}

/// Makes an output for `input` in which every element that is not written shows.
fn poisoned<T: Value>(device: &Device, input: &Buffer<T>) -> Result<Buffer<T>> {
    Ok(device.filled_with_byte(input.len(), POISON)?)
}
