//! The order that points make is the one that an event for each work would make: no less, and no
//! more.

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;

use crate::buffer::{Buffer, Memory};
use crate::device::Device;
use crate::gpu::driver::fake::{self, Step};
use crate::launch::tests::{device, start};
use crate::stream::Stream;

const STREAMS: usize = 3;
const BUFFERS: usize = 5;

/// What a program does.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Launches a kernel that reads two buffers, or one twice, and writes another one.
    Launch {
        stream: usize,
        left: usize,
        right: usize,
        out: usize,
    },
    Read(usize),
    Write(usize),
    /// Drops a buffer and makes a new one.
    Replace(usize),
    /// Drops a stream and makes a new one.
    Renew(usize),
}

fn act() -> impl Strategy<Value = Act> {
    let inputs = 1..BUFFERS;
    let launch = (0..STREAMS, inputs.clone(), inputs, 0..BUFFERS).prop_map(|(stream, left, right, out)| {
        // No input is the output.
        let [left, right] = [left, right].map(|places| (out + places) % BUFFERS);
        Act::Launch { stream, left, right, out }
    });
    prop_oneof![
        12 => launch,
        1 => (0..BUFFERS).prop_map(Act::Read),
        1 => (0..BUFFERS).prop_map(Act::Write),
        1 => (0..BUFFERS).prop_map(Act::Replace),
        1 => (0..STREAMS).prop_map(Act::Renew),
    ]
}

type Works = BTreeSet<usize>;

/// What is known to be over before what follows: in each stream, at each event, on the host.
#[derive(Default)]
struct Order {
    streams: HashMap<usize, Works>,
    events: HashMap<usize, Works>,
    host: Works,
    /// Of each work, what is over before it begins.
    before: Vec<Works>,
}

impl Order {
    /// Follows what the driver was asked for.
    fn follow(&mut self, steps: &[Step]) {
        for step in steps {
            match *step {
                Step::Work { stream } => {
                    let work = self.before.len();
                    let in_stream = self.streams.entry(stream).or_default();
                    self.before.push(in_stream.union(&self.host).copied().collect());
                    in_stream.insert(work);
                }
                Step::Record { event, stream } => {
                    let in_stream = self.streams.entry(stream).or_default().clone();
                    self.events.insert(event, in_stream);
                }
                Step::HoldBack { stream, event } => {
                    let works = self.events[&event].clone();
                    self.streams.entry(stream).or_default().extend(works);
                }
                Step::WaitForEvent { event } => self.host.extend(&self.events[&event]),
                Step::WaitForStream { stream } => self.host.extend(&self.streams[&stream]),
                Step::WaitForAll | Step::Free { .. } | Step::DestroyStream { .. } => {}
            }
        }
    }
}

/// The same with an event for each work.
#[derive(Default)]
struct Oracle {
    streams: HashMap<usize, Works>,
    host: Works,
    before: Vec<Works>,
    /// The work that wrote a buffer last, and the works that have read it since.
    writes: HashMap<u64, usize>,
    reads: HashMap<u64, Works>,
}

impl Oracle {
    /// What is over when this work is.
    fn after(&self, work: usize) -> Works {
        self.before[work].iter().copied().chain([work]).collect()
    }

    /// What is over once all is that a use of a buffer conflicts with.
    fn conflicting(&self, buffer: u64, writes: bool) -> Works {
        let reads = self.reads.get(&buffer).filter(|_| writes).into_iter().flatten();
        self.writes.get(&buffer).into_iter().chain(reads).flat_map(|work| self.after(*work)).collect()
    }

    /// Puts work into a stream, and returns it.
    fn work(&mut self, stream: usize, reads: &[u64], write: Option<u64>) -> usize {
        let work = self.before.len();
        let mut before = self.streams.get(&stream).cloned().unwrap_or_default();
        for (buffer, writes) in reads.iter().map(|read| (*read, false)).chain(write.map(|write| (write, true))) {
            before.extend(self.conflicting(buffer, writes));
        }
        self.streams.insert(stream, before.iter().copied().chain([work]).collect());
        self.before.push(before.union(&self.host).copied().collect());
        for read in reads {
            self.reads.entry(*read).or_default().insert(work);
        }
        if let Some(write) = write {
            self.writes.insert(write, work);
            self.reads.remove(&write);
        }
        work
    }

    /// The host waits for what a use of a buffer conflicts with.
    fn wait(&mut self, buffer: u64, writes: bool) {
        let works = self.conflicting(buffer, writes);
        self.host.extend(works);
    }

    /// The host uses a buffer: it waits, copies in the transfer stream, and waits for that.
    fn copy(&mut self, buffer: u64, writes: bool) {
        self.wait(buffer, writes);
        let reads = [buffer];
        let work = self.work(TRANSFER, if writes { &[] } else { &reads }, writes.then_some(buffer));
        let works = self.after(work);
        self.host.extend(works);
    }
}

/// What the oracle calls the transfer stream; the others have numbers below.
const TRANSFER: usize = usize::MAX;

/// A program under way, in the driver's terms and in the oracle's.
struct Program {
    device: Device,
    streams: Vec<(Stream, usize)>,
    buffers: Vec<Buffer<i32>>,
    order: Order,
    oracle: Oracle,
}

fn address(buffer: &Buffer<i32>) -> u64 {
    let Memory::Gpu(memory) = &buffer.memory else { panic!("the fake driver's") };
    memory.address
}

impl Program {
    fn new() -> Program {
        let device = device();
        let streams = (0..STREAMS).map(|number| (device.stream().unwrap(), number)).collect();
        fake::steps();
        let (order, oracle) = Default::default();
        let mut program = Program { device, streams, buffers: Vec::new(), order, oracle };
        for _ in 0..BUFFERS {
            let buffer = program.fill();
            program.buffers.push(buffer);
        }
        program
    }

    fn fill(&mut self) -> Buffer<i32> {
        let buffer = self.device.zeroed(100).unwrap();
        self.oracle.work(TRANSFER, &[], Some(address(&buffer)));
        buffer
    }

    /// Does it, and follows it in both.
    fn act(&mut self, act: Act) {
        match act {
            Act::Launch { stream, left, right, out } => {
                let [read, also_read, written] = [left, right, out].map(|place| address(&self.buffers[place]));
                let (stream, number) = &self.streams[stream];
                // The borrows of safe programs are disjoint, too.
                let mut written_buffer = self.buffers.swap_remove(out);
                let at = |place: usize| if place == self.buffers.len() { out } else { place };
                let (left, right) = (&self.buffers[at(left)], &self.buffers[at(right)]);
                start(stream, left, right, &mut written_buffer).unwrap();
                self.buffers.push(written_buffer);
                let last = self.buffers.len() - 1;
                self.buffers.swap(out, last);
                self.oracle.work(*number, &[read, also_read], Some(written));
            }
            Act::Read(place) => {
                drop(self.buffers[place].download().unwrap());
                self.oracle.copy(address(&self.buffers[place]), false);
            }
            Act::Write(place) => {
                self.buffers[place].write(&[1; 100]).unwrap();
                self.oracle.copy(address(&self.buffers[place]), true);
            }
            Act::Replace(place) => {
                let new = self.fill();
                let old = std::mem::replace(&mut self.buffers[place], new);
                let memory = address(&old);
                drop(old);
                self.oracle.wait(memory, true);
            }
            Act::Renew(place) => {
                let number = self.streams[place].1 + STREAMS;
                self.streams[place] = (self.device.stream().unwrap(), number);
            }
        }
    }

    /// Compares both orders.
    fn compare(&mut self, act: Act) -> Result<(), TestCaseError> {
        self.order.follow(&fake::steps());
        prop_assert_eq!(&self.order.before, &self.oracle.before, "after {:?}", act);
        prop_assert_eq!(&self.order.host, &self.oracle.host, "on the host, after {:?}", act);
        Ok(())
    }
}

proptest! {
    #[test]
    fn work_waits_for_what_it_conflicts_with_and_for_nothing_else(acts in prop::collection::vec(act(), 1..60)) {
        let mut program = Program::new();
        program.order.follow(&fake::steps());
        for act in acts {
            program.act(act);
            program.compare(act)?;
        }
    }
}

#[test]
fn a_download_does_not_wait_for_a_later_launch_on_other_buffers() {
    let mut program = Program::new();
    for out in [2, 3, 2, 3] {
        program.act(Act::Launch { stream: 0, left: 0, right: 1, out });
    }
    program.act(Act::Read(2));
    program.order.follow(&fake::steps());
    let last = BUFFERS + 3;
    assert!(
        program.order.host.contains(&(last - 1)) && !program.order.host.contains(&last),
        "{:?}",
        program.order.host
    );
}
