//! Checks kernels against the reference, and times those that are right in turns.

use anyhow::{Context, Result, ensure};
use tilepipe::launch::Instance;
use tilepipe_host::{Bound, Buffer, Device, Event, Stream, launch};
use tilepipe_runner::data::{self, DEFAULT_SEED, POISON};
use tilepipe_runner::reference::{self, Difference};
use tilepipe_runner::value::Value;
use tilepipe_runner::work::Shape;

use crate::plan::catalog::Comparison;
use crate::statistics::random::Random;

/// Rounds before the timed ones.
const WARM_UP: usize = 3;
/// A length that is no multiple of a tile, for the check of the last tile; and a grid whose blocks
/// have several tiles.
const ODD: (usize, u32) = (1_000_003, 64);
/// A kernel that races is wrong for another reason if more than one in so many elements is wrong.
const RACING: usize = 10;

/// The device, its stream, and how often each kernel is timed.
pub struct Bench<'a> {
    /// The GPU.
    pub device: &'a Device,
    /// Where all work goes.
    pub stream: &'a Stream,
    /// Timed launches of each kernel.
    pub repetitions: usize,
    /// What the order of launches is drawn from.
    pub seed: u64,
}

/// What was measured of one kernel, or what is wrong with its results.
pub type Outcome = Result<Measurement, String>;

/// The times of one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Milliseconds of each repetition.
    pub milliseconds: Vec<f64>,
    /// Wrong elements in the run before the timed ones and in the run after them: 0 and 0 unless
    /// the kernel races.
    pub wrong: [usize; 2],
}

impl Bench<'_> {
    /// Runs comparisons over `elements` elements of type `T` in every input, and calls `done` with
    /// the blocks and what came of our kernel and of each peer, in the comparison's order.
    ///
    /// # Errors
    ///
    /// Too little memory, a kernel that is not in the modules, or one that trapped.
    pub fn run<T: Value>(
        &self,
        elements: usize,
        comparisons: &[&Comparison],
        mut done: impl FnMut(&Comparison, &[u32], Vec<Outcome>),
    ) -> Result<()> {
        let Some(count) = comparisons.iter().map(|comparison| comparison.work.kind.inputs()).max() else {
            return Ok(());
        };
        let host: Vec<Vec<T>> = (0..count).map(|number| input(number, elements)).collect::<Result<_>>()?;
        let all: Vec<&[T]> = host.iter().map(Vec::as_slice).collect();
        let odd: Vec<&[T]> = all.iter().map(|input| &input[..ODD.0.min(elements)]).collect();
        let mut data = Data {
            bench: self,
            inputs: self.upload(&all)?,
            odd_inputs: self.upload(&odd)?,
            got: data::generate(elements, DEFAULT_SEED).map_err(anyhow::Error::msg)?,
            expected: Vec::new(),
            odd_expected: Vec::new(),
        };
        let mut computed: Option<String> = None;
        for comparison in comparisons {
            let (kind, name) = (comparison.work.kind, comparison.ours.name());
            ensure!(!kind.is_sum() && !kind.is_matrix(), "{name} does not write a row of as many elements as it reads");
            let task = comparison.work.task();
            if computed.as_ref() != Some(&task) {
                // The old ones go first: each has the size of an input.
                data.expected = Vec::new();
                data.expected = comparison.work.compute(&all, Shape::Row(elements), ODD.1 as usize);
                data.odd_expected = comparison.work.compute(&odd, Shape::Row(odd[0].len()), ODD.1 as usize);
                computed = Some(task);
            }
            let grids = comparison.grids(self.device, elements)?;
            let outcomes = data.compare(comparison, &grids)?;
            done(comparison, &grids, outcomes);
        }
        Ok(())
    }

    fn upload<T: Value>(&self, inputs: &[&[T]]) -> Result<Vec<Buffer<T>>> {
        inputs.iter().map(|input| Ok(self.device.upload(input)?)).collect()
    }
}

/// Makes input `number`; no two have a part in common.
///
/// # Errors
///
/// Too little memory.
pub fn input<T: Value>(number: usize, elements: usize) -> Result<Vec<T>> {
    // Neighbouring seeds would give the same numbers, one place further.
    data::generate(elements, DEFAULT_SEED.rotate_left(8 * number as u32)).map_err(anyhow::Error::msg)
}

/// One side of a comparison.
#[derive(Clone, Copy)]
struct Contestant<'a> {
    instance: &'a Instance,
    racing: bool,
    grid: u32,
}

/// The data of one element type.
struct Data<'a, T> {
    bench: &'a Bench<'a>,
    /// As many as the comparison with the most inputs needs; the others use the first ones.
    inputs: Vec<Buffer<T>>,
    odd_inputs: Vec<Buffer<T>>,
    /// Room for a result.
    got: Vec<T>,
    expected: Vec<T>,
    odd_expected: Vec<T>,
}

impl<T: Value> Data<'_, T> {
    /// Checks all contestants, times those that are right or race, and checks them again.
    fn compare(&mut self, comparison: &Comparison, grids: &[u32]) -> Result<Vec<Outcome>> {
        let peers = comparison.peers.iter().map(|peer| (&peer.instance, peer.racing));
        let contestants: Vec<Contestant<'_>> = std::iter::once((comparison.ours, false))
            .chain(peers)
            .zip(grids)
            .map(|((instance, racing), &grid)| Contestant { instance, racing, grid })
            .collect();
        let inputs = comparison.work.kind.inputs();
        let mut before = Vec::new();
        for contestant in &contestants {
            before.push(match self.check_odd(contestant, inputs)? {
                Ok(_) => self.check(contestant, inputs)?,
                wrong => wrong,
            });
        }
        let passed = || contestants.iter().zip(&before).filter(|(_, checked)| checked.is_ok());
        let timed: Vec<Contestant<'_>> = passed().map(|(contestant, _)| *contestant).collect();
        let mut times = self.time(&timed, inputs)?.into_iter();
        let mut outcomes = Vec::new();
        for (contestant, checked) in contestants.iter().zip(before) {
            outcomes.push(match checked {
                Err(fault) => Err(fault),
                Ok(before) => {
                    let milliseconds = times.next().unwrap_or_default();
                    // Once more: a race may show only now.
                    let after = self.check(contestant, inputs)?;
                    after.map(|after| Measurement { milliseconds, wrong: [before, after] })
                }
            });
        }
        Ok(outcomes)
    }

    /// Times launches in turns, and returns the milliseconds of each contestant's repetitions.
    ///
    /// All are put into the stream at once, with one event between any two, so that none of the
    /// host's work is in the times. Each round has an order of its own.
    fn time(&self, contestants: &[Contestant<'_>], inputs: usize) -> Result<Vec<Vec<f64>>> {
        let Bench { stream, repetitions, .. } = *self.bench;
        let count = contestants.len();
        let inputs = &self.inputs[..inputs];
        let mut out = self.poisoned(inputs)?;
        for contestant in contestants.repeat(WARM_UP) {
            self.launch(contestant.instance, contestant.grid, inputs, &mut out)?;
        }
        let mut random = Random::new(self.bench.seed);
        let order: Vec<usize> = (0..repetitions).flat_map(|_| random.order(count)).collect();
        let mut events: Vec<Event> = vec![stream.record()?];
        for &number in &order {
            let Contestant { instance, grid, .. } = contestants[number];
            self.launch(instance, grid, inputs, &mut out)?;
            events.push(stream.record()?);
        }
        stream.synchronize()?;
        let mut times = vec![Vec::with_capacity(repetitions); count];
        for (pair, number) in events.windows(2).zip(order) {
            times[number].push(pair[1].elapsed_ms_since(&pair[0])?);
        }
        Ok(times)
    }

    /// Runs a kernel once over a poisoned output, and returns how many elements are wrong: more
    /// than 0 only if it races.
    fn check(&mut self, contestant: &Contestant<'_>, inputs: usize) -> Result<Result<usize, String>> {
        let inputs = &self.inputs[..inputs];
        let mut out = self.poisoned(inputs)?;
        self.launch(contestant.instance, contestant.grid, inputs, &mut out)?;
        out.read(&mut self.got)?;
        Ok(judge(contestant, reference::compare(&self.got, &self.expected), self.expected.len()))
    }

    /// The same over a length that is no multiple of a tile.
    fn check_odd(&self, contestant: &Contestant<'_>, inputs: usize) -> Result<Result<usize, String>> {
        let inputs = &self.odd_inputs[..inputs];
        let mut out = self.poisoned(inputs)?;
        self.launch(contestant.instance, ODD.1, inputs, &mut out)?;
        let elements = self.odd_expected.len();
        let judged = judge(contestant, reference::compare(&out.download()?, &self.odd_expected), elements);
        Ok(judged.map_err(|fault| format!("with {elements} elements: {fault}")))
    }

    fn launch(&self, instance: &Instance, grid: u32, inputs: &[Buffer<T>], out: &mut Buffer<T>) -> Result<()> {
        let arguments = inputs.iter().map(Bound::input).chain([Bound::output(out)]);
        launch(self.bench.stream, grid, instance, arguments)
            .with_context(|| format!("cannot measure {}", instance.name()))
    }

    /// Makes an output for `inputs` in which every element that is not written shows.
    fn poisoned(&self, inputs: &[Buffer<T>]) -> Result<Buffer<T>> {
        let elements = inputs.first().map_or(0, Buffer::len);
        Ok(self.bench.device.filled_with_byte(elements, POISON)?)
    }
}

/// Returns how many elements are wrong, or a fault if any are and the kernel does not race, or too
/// many for a race are.
fn judge(contestant: &Contestant<'_>, difference: Option<Difference>, elements: usize) -> Result<usize, String> {
    match difference {
        None => Ok(0),
        Some(difference) if contestant.racing && difference.count <= elements / RACING => Ok(difference.count),
        Some(difference) => Err(difference.to_string()),
    }
}

#[cfg(test)]
mod tests;
