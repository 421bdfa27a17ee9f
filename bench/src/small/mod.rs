//! Small sizes: what a launch takes where it is too short to be timed alone.
//!
//! Launches are put into CUDA graphs of [`LAUNCHES`], each launch on the next of a ring of buffers
//! which together are several times as large as the L2 cache. Graphs are replayed in random order,
//! with an event between any two.

mod graph;
mod ring;

use std::path::Path;

use anyhow::{Context, Result};
use libloading::Library;
use tilepipe_host::foreign::{self, Argument};
use tilepipe_host::{Device, Grid};
use tilepipe_runner::reference;
use tilepipe_runner::work;

use crate::ceilings::{self, Function};
use crate::copy::{milliseconds, record};
use crate::measure::{Bench, input};
use crate::plan::small::{Contestant, Launched, SIZES_LOG2, Task, WANTED, tasks};
use crate::record::small::{self, AtGrid, Small};
use crate::statistics::random::Random;
use graph::{Graph, Stream};
use ring::{LAUNCHES, Layout, Ring};

/// Rounds before the timed ones.
const WARM_UP: usize = 3;

/// Measures every task at every small size that is not larger than `2^largest_log2` bytes, if asked
/// for with further shapes of ours.
///
/// # Errors
///
/// A library or a kernel that is missing, too little memory, a kernel that trapped, or a call of
/// the driver that failed.
pub fn measure(
    bench: &Bench<'_>,
    library: Option<&Path>,
    largest_log2: u32,
    with_candidates: bool,
) -> Result<Vec<Small>> {
    // Makes the device's context this thread's, which the driver's calls use.
    bench.device.synchronize()?;
    let library = library.map(ceilings::open).transpose()?;
    let ring = ring::bytes()?;
    let sizes: Vec<Size> =
        SIZES_LOG2.into_iter().filter(|log2| *log2 <= largest_log2).map(|log2| Size::new(log2, ring)).collect();
    let longest = sizes.iter().map(Size::ints).max().unwrap_or(0);
    let data = input::<i32>(0, longest)?;
    let mut measured = Vec::new();
    for task in tasks(library.is_some(), with_candidates)? {
        // No element depends on ones of another buffer, so all buffers are computed as one.
        let expected = task.work.compute(&[&data], work::Shape::Row(longest), 1);
        for size in &sizes {
            let field = Field { bench, size, input: &data[..size.ints()], expected: &expected[..size.ints()] };
            measured.push(field.measure(&task, library.as_ref())?);
        }
    }
    Ok(measured)
}

/// A size, and the ring for it.
#[derive(Clone, Copy)]
struct Size {
    /// Bytes of an input.
    bytes: u64,
    layout: Layout,
}

impl Size {
    fn new(bytes_log2: u32, ring: u64) -> Size {
        let bytes = 1 << bytes_log2;
        Size { bytes, layout: Layout::new(2 * bytes, ring) }
    }

    /// Ints of an input.
    fn len(&self) -> usize {
        self.bytes as usize / size_of::<i32>()
    }

    /// Ints of all inputs.
    fn ints(&self) -> usize {
        self.len() * self.layout.buffers
    }
}

/// One task at one size.
struct Field<'a> {
    bench: &'a Bench<'a>,
    size: &'a Size,
    /// All inputs of the ring, one after another, and all outputs.
    input: &'a [i32],
    expected: &'a [i32],
}

/// A contestant with one grid.
struct Entry<'a> {
    contestant: &'a Contestant,
    blocks: String,
    grid: Option<u32>,
    graphs: Vec<Graph<'a>>,
    /// What is wrong with its results.
    fault: Option<String>,
    /// Milliseconds of a launch.
    milliseconds: Vec<f64>,
}

impl Field<'_> {
    fn measure(&self, task: &Task, library: Option<&Library>) -> Result<Small> {
        let Size { layout, .. } = *self.size;
        let ring = Ring::new(layout, self.size.len(), self.input)?;
        // Whatever is put into the stream comes after the inputs.
        let stream = Stream::new(self.bench.device)?;
        let mut function = library.map(|library| Function::transform(library, self.size.len())).transpose()?;
        let mut entries = Vec::new();
        for contestant in &task.contestants {
            for (blocks, grid) in contestant.launched.grids(self.bench.device, self.size.len())? {
                let mut launch = Launch {
                    device: self.bench.device,
                    launched: &contestant.launched,
                    grid,
                    function: function.as_mut(),
                };
                let graphs = self.graphs(&stream, &ring, &mut launch).with_context(|| {
                    format!("cannot measure {} at {}", contestant.name, small::size(self.size.bytes))
                })?;
                entries.push(Entry { contestant, blocks, grid, graphs, fault: None, milliseconds: Vec::new() });
            }
        }
        let mut got = vec![0; self.expected.len()];
        self.check(&stream, &ring, &mut entries, &mut got)?;
        self.time(&stream, &mut entries)?;
        // Once more: a race may show only now.
        self.check(&stream, &ring, &mut entries, &mut got)?;
        Ok(self.record(task, &entries))
    }

    /// Makes all graphs of a contestant.
    fn graphs<'r>(&self, stream: &Stream<'_>, ring: &'r Ring, launch: &mut Launch<'_, '_>) -> Result<Vec<Graph<'r>>> {
        // The first launch of a kernel looks it up and may load it, which a capture would not take.
        launch.start(stream, ring, 0, 0)?;
        stream.synchronize()?;
        let of_graph = |graph| {
            let all = || (0..LAUNCHES).try_for_each(|number| launch.start(stream, ring, graph, number));
            // SAFETY: (0) launches use the ring's memory, which lives for `'r`, and that of CUB's
            // function, which `measure` keeps until the graphs are gone; both are a `Memory`, whose
            // freeing waits; (1) `all` alone uses the stream; (2) launches may be repeated, and all
            // that uses the ring or the function is in one stream.
            unsafe { Graph::capture(stream, all) }
        };
        (0..self.size.layout.graphs).map(of_graph).collect()
    }

    /// Replays every graph over poisoned outputs, and keeps what is wrong with them.
    fn check(&self, stream: &Stream<'_>, ring: &Ring, entries: &mut [Entry<'_>], got: &mut [i32]) -> Result<()> {
        for entry in entries.iter_mut().filter(|entry| entry.fault.is_none()) {
            ring.poison(stream)?;
            for graph in &entry.graphs {
                graph.replay(stream)?;
            }
            ring.read(stream, got).with_context(|| format!("cannot measure {}", entry.contestant.name))?;
            entry.fault = reference::compare(got, self.expected).map(|difference| difference.to_string());
        }
        Ok(())
    }

    /// Times the graphs of those that are right. All is put into the stream at once; each round has
    /// an order of its own.
    fn time(&self, stream: &Stream<'_>, entries: &mut [Entry<'_>]) -> Result<()> {
        let mut right: Vec<&mut Entry<'_>> = entries.iter_mut().filter(|entry| entry.fault.is_none()).collect();
        let Bench { repetitions, seed, .. } = *self.bench;
        // Whoever's turn it is goes on where the one before has left the ring.
        let mut graphs = (0..self.size.layout.graphs).cycle();
        let mut replay = |entry: &Entry<'_>| {
            let graph = graphs.next().unwrap_or(0);
            entry.graphs[graph].replay(stream)
        };
        for _ in 0..WARM_UP {
            right.iter().try_for_each(|entry| replay(entry))?;
        }
        let mut random = Random::new(seed);
        let order: Vec<usize> = (0..repetitions).flat_map(|_| random.order(right.len())).collect();
        let mut events = vec![record(stream.raw())?];
        for number in &order {
            replay(right[*number])?;
            events.push(record(stream.raw())?);
        }
        for (number, milliseconds) in order.into_iter().zip(milliseconds(events)?) {
            right[number].milliseconds.push(milliseconds / LAUNCHES as f64);
        }
        Ok(())
    }

    /// Puts on record what was measured of all.
    fn record(&self, task: &Task, entries: &[Entry<'_>]) -> Small {
        let grids = |contestant: &Contestant| {
            let own = entries.iter().filter(|entry| std::ptr::eq(entry.contestant, contestant));
            own.map(Entry::record).collect()
        };
        let contestants = task.contestants.iter().map(|contestant| small::Contestant {
            name: contestant.name.clone(),
            class: contestant.class,
            symbol: match &contestant.launched {
                Launched::Kernel { instance, .. } => instance.name().to_owned(),
                Launched::Library => ceilings::TRANSFORM.to_owned(),
            },
            grids: grids(contestant),
            best: None,
        });
        let mut measured = Small {
            task: task.work.task(),
            bytes: self.size.bytes,
            moved: 2 * self.size.bytes,
            launches: LAUNCHES,
            buffers: self.size.layout.buffers,
            contestants: contestants.collect(),
            ours: None,
            other: None,
            ratio: None,
            interval: None,
            wanted: WANTED,
            met: false,
        };
        measured.derive();
        measured
    }
}

impl Entry<'_> {
    fn record(&self) -> AtGrid {
        // A process that found a fault has no samples, be it before the timed rounds or after them.
        let samples = if self.fault.is_none() { self.milliseconds.clone() } else { Vec::new() };
        AtGrid {
            blocks: self.blocks.clone(),
            grid: self.grid,
            timing: None,
            fault: self.fault.clone(),
            samples: vec![samples],
        }
    }
}

/// What one launch of a contestant is.
struct Launch<'a, 'l> {
    device: &'a Device,
    launched: &'a Launched,
    grid: Option<u32>,
    function: Option<&'a mut Function<'l>>,
}

impl Launch<'_, '_> {
    /// Puts a launch of a graph into the stream.
    fn start(&mut self, stream: &Stream<'_>, ring: &Ring, graph: usize, number: usize) -> Result<()> {
        let views = ring.views(graph, number);
        match self.launched {
            Launched::Kernel { instance, .. } => {
                let grid = Grid::from(self.grid.context("a kernel without a grid")?);
                let views = views.map(Argument::View);
                // SAFETY: (0) the stream is of the device's context; (1) the ring's memory is of
                // that context, has random ints in all inputs, and stays until the launch is done,
                // as freeing it waits; (2) all that uses the ring is in this one stream; (3) no
                // peer starts early.
                unsafe { foreign::launch(self.device, stream.raw().cast(), grid, instance, &views) }?;
                Ok(())
            }
            Launched::Library => {
                let [input, output] = views.map(|view| view.address);
                let function = self.function.as_mut().context("CUB without its library")?;
                // SAFETY: (0) the stream is of the thread's context, which is the device's; (1) the
                // function is for as many ints as a view has, which are memory of that context; (2)
                // freeing any of it waits, and all that uses it is in this one stream.
                unsafe { function.start([input, input, output], stream.raw()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_buffers_computed_as_one_are_what_each_is_alone() {
        let (len, count) = (1 << 10, 3);
        let data = input::<i32>(0, len * count).unwrap();
        for task in tasks(false, true).unwrap() {
            let compute = |part: &[i32]| task.work.compute(&[part], work::Shape::Row(part.len()), 1);
            let alone: Vec<i32> = data.chunks(len).flat_map(compute).collect();
            assert_eq!(compute(&data), alone, "{}", task.work.task());
            assert_ne!(alone[..len], alone[len..2 * len]);
        }
    }

    #[test]
    fn all_contestants_of_a_task_compute_the_same() {
        for task in tasks(false, true).unwrap() {
            let registry = || tilepipe_kernels::registry().into_iter().flatten();
            let own = task.contestants.iter().filter_map(|contestant| match &contestant.launched {
                Launched::Kernel { instance, .. } => registry().find(|one| one.name() == instance.name()),
                Launched::Library => None,
            });
            let computed: Vec<String> = own.map(|one| work::Work::of(one).unwrap().task()).collect();
            assert!(computed.len() >= 4 && computed.iter().all(|one| *one == task.work.task()), "{computed:?}");
        }
    }

    #[test]
    fn what_was_measured_is_on_record_with_every_grid_and_a_wrong_one_has_no_time() {
        let tasks = tasks(true, false).unwrap();
        let task = &tasks[1];
        let bench_size = Size::new(16, 1 << 20);
        assert_eq!((bench_size.len(), bench_size.ints()), (16_384, 16_384 * 10));
        let entry = |contestant: usize, blocks: &str, grid, milliseconds: f64| Entry {
            contestant: &task.contestants[contestant],
            blocks: blocks.to_owned(),
            grid,
            graphs: Vec::new(),
            fault: None,
            milliseconds: vec![milliseconds, 1.01 * milliseconds],
        };
        let last = task.contestants.len() - 1;
        let mut wrong = entry(2, "a block a tile", Some(32), 0.5);
        wrong.fault = Some("element 3 is 1".to_owned());
        let entries = [
            entry(0, "a block a tile", Some(64), 2.0),
            entry(0, "resident blocks", Some(32), 1.0),
            wrong,
            entry(last, "its own grid", None, 0.98),
        ];
        let device = Device::cpu(tilepipe_host::Schedule::Lazy);
        let stream = device.stream().unwrap();
        let bench = Bench { device: &device, stream: &stream, repetitions: 2, seed: 1 };
        let field = Field { bench: &bench, size: &bench_size, input: &[], expected: &[] };
        let measured = field.record(task, &entries);
        let (ours, other) = (measured.ours.as_ref().unwrap(), measured.other.as_ref().unwrap());
        assert_eq!((ours.blocks.as_str(), ours.grid), ("resident blocks", Some(32)));
        assert_eq!((other.name.as_str(), other.grid), ("CUB", None));
        assert!(measured.met && (measured.ratio.unwrap().median - 0.98).abs() < 1e-12, "{:?}", measured.ratio);
        assert_eq!((measured.moved, measured.buffers, measured.launches), (1 << 17, 10, 100));
        assert_eq!(measured.contestants[0].best.as_deref(), Some("resident blocks"));
        let wrong = &measured.contestants[2].grids[0];
        assert_eq!((&wrong.timing, &wrong.samples), (&None, &vec![Vec::new()]));
        assert_eq!(measured.contestants[last].symbol, "cub::DeviceTransform::Transform");
        assert!(measured.failures()[0].contains("a block a tile: element 3 is 1"), "{:?}", measured.failures());
    }
}
