//! Checks kernels against the reference, and times those that are right in turns.

use anyhow::{Context, Result, ensure};
use tilepipe::launch::Instance;
use tilepipe_host::{Device, Event, Stream};
use tilepipe_runner::array::{Array, Inputs, Output};
use tilepipe_runner::data::{self, DEFAULT_SEED};
use tilepipe_runner::reference::{self, Difference, Written};
use tilepipe_runner::value::Value;
use tilepipe_runner::work::{Kind, Shape, Work};

use crate::plan::catalog::Comparison;
use crate::statistics::random::Random;

/// Rounds before the timed ones.
const WARM_UP: usize = 3;
/// A length that is no multiple of a tile, for the check of the last tile; and a grid whose blocks
/// have several tiles.
const ODD: (usize, u32) = (1_000_003, 64);
/// Matrices of a batch, a power of two.
const MATRICES: usize = 16;
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
            inputs: Vec::new().into(),
            odd_inputs: Vec::new().into(),
            shapes: None,
            got: data::generate(elements, DEFAULT_SEED).map_err(anyhow::Error::msg)?,
            expected: Written::Elements(Vec::new()),
            odd_expected: Written::Elements(Vec::new()),
        };
        let mut computed = None;
        for comparison in comparisons {
            let work = comparison.work;
            let grids = comparison.grids(self.device, elements)?;
            let by_blocks = follows_from_blocks(work.kind).then_some((work, grids[0]));
            ensure!(
                by_blocks.is_none() || grids.iter().all(|grid| *grid == grids[0]),
                "{} and its peers have different blocks, whose results are not the same",
                comparison.ours.name()
            );
            let of = |elements, grid| Launch { shape: shape(work.kind, elements), grid };
            let launches = [of(elements, grids[0]), of(odd[0].len(), ODD.1)];
            data.arrange(&all, launches.map(|launch| launch.inputs(work, count)))?;
            let wanted = (work.task(), by_blocks);
            if computed.as_ref() != Some(&wanted) {
                // The old ones go first: each has the size of an input.
                data.expected = Written::Elements(Vec::new());
                data.expected = expected(work, &all, launches[0]);
                data.odd_expected = expected(work, &odd, launches[1]);
                computed = Some(wanted);
            }
            let outcomes = data.compare(comparison, &grids)?;
            done(comparison, &grids, outcomes);
        }
        Ok(())
    }
}

/// How so many elements lie: as a matrix of them where the kernels take matrices, as [`MATRICES`]
/// of them where they take batches, or of nearly as many where they are no power of two.
pub fn shape(kind: Kind, elements: usize) -> Shape {
    let matrix = |elements: usize| {
        let height = 1 << (elements.ilog2() / 2);
        (height, elements / height)
    };
    match kind.dimensions() {
        2 if elements.is_power_of_two() => {
            let (height, width) = matrix(elements);
            Shape::Matrix { height, width }
        }
        3 if elements.is_power_of_two() && elements >= MATRICES => {
            let (height, width) = matrix(elements / MATRICES);
            Shape::Batch { matrices: MATRICES, height, width }
        }
        dimensions => Shape::of(elements, dimensions),
    }
}

/// Whether the number of blocks decides what is read or written: there is a number for each block,
/// which is of that block's tiles.
fn follows_from_blocks(kind: Kind) -> bool {
    kind.is_sum() || kind == Kind::ExclusiveScan
}

/// The first input's shape, and the blocks.
#[derive(Clone, Copy)]
struct Launch {
    shape: Shape,
    grid: u32,
}

impl Launch {
    /// The shapes of so many inputs, of which the work takes the first ones.
    fn inputs(self, work: Work, count: usize) -> Vec<Shape> {
        (0..count).map(|nth| work.input(self.shape, self.grid as usize, nth)).collect()
    }
}

/// Computes what all contestants must write.
fn expected<T: Value>(work: Work, inputs: &[&[T]], launch: Launch) -> Written<T> {
    let shapes = launch.inputs(work, work.kind.inputs());
    let inputs: Vec<&[T]> = inputs.iter().zip(shapes).map(|(input, shape)| &input[..shape.elements()]).collect();
    work.written(&inputs, launch.shape, launch.grid as usize)
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
    inputs: Inputs<T>,
    odd_inputs: Inputs<T>,
    /// The shapes of these; none before the first comparison.
    shapes: Option<[Vec<Shape>; 2]>,
    /// Room for a result of the inputs' type.
    got: Vec<T>,
    expected: Written<T>,
    odd_expected: Written<T>,
}

impl<T: Value> Data<'_, T> {
    /// Puts the inputs on the device in these shapes: all elements, and the odd number of them.
    fn arrange(&mut self, inputs: &[&[T]], shapes: [Vec<Shape>; 2]) -> Result<()> {
        if self.shapes.as_ref() == Some(&shapes) {
            return Ok(());
        }
        // The old ones go first.
        (self.inputs, self.odd_inputs) = (Vec::new().into(), Vec::new().into());
        let device = self.bench.device;
        let upload = |shapes: &[Shape]| -> Result<Inputs<T>> {
            let arrays = inputs.iter().zip(shapes).map(|(input, shape)| Array::upload(device, input, *shape));
            Ok(arrays.collect::<Result<Vec<_>, _>>()?.into())
        };
        (self.inputs, self.odd_inputs) = (upload(&shapes[0])?, upload(&shapes[1])?);
        self.shapes = Some(shapes);
        Ok(())
    }

    /// Checks all contestants, times those that are right or race, and checks them again.
    fn compare(&mut self, comparison: &Comparison, grids: &[u32]) -> Result<Vec<Outcome>> {
        let peers = comparison.peers.iter().map(|peer| (&peer.instance, peer.racing));
        let contestants: Vec<Contestant<'_>> = std::iter::once((comparison.ours, false))
            .chain(peers)
            .zip(grids)
            .map(|((instance, racing), &grid)| Contestant { instance, racing, grid })
            .collect();
        let mut before = Vec::new();
        for contestant in &contestants {
            before.push(match self.check_odd(comparison, contestant)? {
                Ok(_) => self.check(comparison, contestant)?,
                wrong => wrong,
            });
        }
        let passed = || contestants.iter().zip(&before).filter(|(_, checked)| checked.is_ok());
        let timed: Vec<Contestant<'_>> = passed().map(|(contestant, _)| *contestant).collect();
        let mut times = self.time(comparison, &timed)?.into_iter();
        let mut outcomes = Vec::new();
        let mut again: Vec<&str> = Vec::new();
        for (contestant, checked) in contestants.iter().zip(before) {
            let name = contestant.instance.name();
            outcomes.push(match checked {
                Err(fault) => Err(fault),
                Ok(before) => {
                    let milliseconds = times.next().unwrap_or_default();
                    // Once more: a race may show only now. A kernel with several grids has one of
                    // them for all.
                    let after = if again.contains(&name) { Ok(before) } else { self.check(comparison, contestant)? };
                    again.push(name);
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
    fn time(&self, comparison: &Comparison, contestants: &[Contestant<'_>]) -> Result<Vec<Vec<f64>>> {
        let Bench { stream, repetitions, .. } = *self.bench;
        let count = contestants.len();
        // Where the blocks play a part, all have as many.
        let mut out = self.poisoned(comparison, 0, contestants.first().map_or(1, |contestant| contestant.grid))?;
        for contestant in contestants.repeat(WARM_UP) {
            self.launch(contestant.instance, contestant.grid, &self.inputs, &mut out)?;
        }
        let mut random = Random::new(self.bench.seed);
        let order: Vec<usize> = (0..repetitions).flat_map(|_| random.order(count)).collect();
        let mut events: Vec<Event> = vec![stream.record()?];
        for &number in &order {
            let Contestant { instance, grid, .. } = contestants[number];
            self.launch(instance, grid, &self.inputs, &mut out)?;
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
    fn check(&mut self, comparison: &Comparison, contestant: &Contestant<'_>) -> Result<Result<usize, String>> {
        let mut out = self.poisoned(comparison, 0, contestant.grid)?;
        self.launch(contestant.instance, contestant.grid, &self.inputs, &mut out)?;
        let difference = match (&out, &self.expected) {
            (Output::Elements(array), Written::Elements(expected)) => {
                let got = &mut self.got[..expected.len()];
                array.read(got)?;
                reference::compare(got, expected)
            }
            _ => out.download()?.compare(&self.expected),
        };
        Ok(judge(contestant, difference, written(&self.expected)))
    }

    /// The same over a length that is no multiple of a tile.
    fn check_odd(&self, comparison: &Comparison, contestant: &Contestant<'_>) -> Result<Result<usize, String>> {
        let mut out = self.poisoned(comparison, 1, ODD.1)?;
        self.launch(contestant.instance, ODD.1, &self.odd_inputs, &mut out)?;
        let difference = out.download()?.compare(&self.odd_expected);
        let judged = judge(contestant, difference, written(&self.odd_expected));
        let elements = self.shapes.as_ref().map_or(0, |shapes| shapes[1][0].elements());
        Ok(judged.map_err(|fault| format!("with {elements} elements: {fault}")))
    }

    fn launch(&self, instance: &Instance, grid: u32, inputs: &Inputs<T>, out: &mut Output<T>) -> Result<()> {
        out.run(self.bench.stream, grid, instance, inputs)
            .with_context(|| format!("cannot measure {}", instance.name()))
    }

    /// Makes an output in which every element that is not written shows, for all elements or (1)
    /// for the odd number of them. Where a kernel adds to it, it is zeros.
    fn poisoned(&self, comparison: &Comparison, which: usize, grid: u32) -> Result<Output<T>> {
        let (shapes, work) = (self.shapes.as_ref().context("no inputs")?, comparison.work);
        Ok(Output::new(self.bench.device, work.kind, work.output(shapes[which][0], grid as usize))?)
    }
}

/// How many elements, keys or counts there are.
fn written<T>(all: &Written<T>) -> usize {
    match all {
        Written::Elements(elements) => elements.len(),
        Written::Keys(keys) => keys.len(),
        Written::Counts(counts) => counts.len(),
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
