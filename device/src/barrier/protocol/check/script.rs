//! What a role does with its ends, in each of its threads.

use std::collections::VecDeque;

use super::super::{EndBarriers, EndState};
use super::checker::Checker;
use super::ends::{ConsumerBarriers, ProducerBarriers};
use super::pipeline::{Event, Mistake};
use crate::barrier::Closed;

/// One step of a role at one of its pipelines, by number. A role stops early if a pipeline turns
/// out to be closed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Takes the next stage, fills or reads it, and passes it.
    Pass(usize),
    /// The same until the pipeline is closed.
    All(usize),
    /// As `Pass` if the stage comes within this number of polls.
    Try(usize, u32),
    /// As `Try`; without a stage the role stops.
    TryOrStop(usize, u32),
    /// Takes the next stage, fills or reads it, and forgets it.
    Keep(usize),
    /// Leaves the pipeline while the role goes on.
    Quit(usize),
    /// Takes and passes the next stage as a driver's loop does, whose other end never leaves.
    Drive(usize),
    /// Takes the next stage and reads it, whatever is in hand.
    Hold(usize),
    /// As `Hold` if the stage comes within this number of polls.
    TryHold(usize, u32),
    /// Reads the oldest stage in hand, and passes it.
    Release(usize),
    /// Until the pipeline is closed takes the next stage with so many in hand, and then releases
    /// the oldest one.
    AllHolding(usize, usize),
}

impl Step {
    /// The pipeline.
    fn link(self) -> usize {
        match self {
            Step::Pass(link)
            | Step::All(link)
            | Step::Try(link, _)
            | Step::TryOrStop(link, _)
            | Step::Keep(link)
            | Step::Quit(link)
            | Step::Drive(link)
            | Step::Hold(link)
            | Step::TryHold(link, _)
            | Step::Release(link)
            | Step::AllHolding(link, _) => link,
        }
    }
}

/// One thread of an end with its state.
pub(super) struct Running<W> {
    barriers: W,
    state: EndState,
    tile: u32,
    /// The stages in hand, of tiles from `tile` on.
    held: VecDeque<u32>,
    events: Vec<Event>,
}

/// What differs between producers and consumers.
pub(super) trait Side: EndBarriers {
    /// Fills or reads the stage, which the end has.
    fn touch(&self, stage: u32, tile: u32);

    /// Says what the stage holds, in the step that passes it.
    fn tell(&self, _stage: u32, _tile: u32) {}

    /// Records what the end saw in this thread.
    fn record(&self, events: Vec<Event>);

    /// Whether the end makes this mistake.
    fn makes(&self, mistake: Mistake) -> bool;

    /// The end leaves in a mistaken way instead of the protocol's. Returns whether it does.
    fn leave_by_mistake(&self, _state: &mut EndState, _held: u32) -> bool {
        false
    }
}

impl<C: Checker, const STAGES: usize> Side for ProducerBarriers<'_, C, STAGES> {
    fn touch(&self, stage: u32, tile: u32) {
        self.fill(stage, tile);
    }

    fn tell(&self, stage: u32, tile: u32) {
        ProducerBarriers::tell(self, stage, tile);
    }

    fn record(&self, events: Vec<Event>) {
        self.0.pipeline.events[0].lock().expect("no thread has failed").push(events);
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.0.pipeline.setup.has(mistake)
    }

    fn leave_by_mistake(&self, _: &mut EndState, _: u32) -> bool {
        let mistaken = self.0.pipeline.setup.mistake == Some(Mistake::LeaveByDrop);
        if mistaken {
            (0..STAGES as u32).for_each(|stage| self.0.thread.arrive_drop(self.full(stage)));
        }
        mistaken
    }
}

impl<C: Checker, const STAGES: usize> Side for ConsumerBarriers<'_, C, STAGES> {
    fn touch(&self, stage: u32, tile: u32) {
        self.read(stage, tile);
    }

    fn record(&self, events: Vec<Event>) {
        self.0.pipeline.events[1].lock().expect("no thread has failed").push(events);
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.0.pipeline.setup.has(mistake)
    }

    fn leave_by_mistake(&self, state: &mut EndState, held: u32) -> bool {
        if self.makes(Mistake::PassAllOnLeaving) {
            let closed = state.closed;
            for left in (2..=held).rev().filter(|_| !closed) {
                state.pass_oldest::<Self>(left, |stage| self.pass(stage));
            }
        }
        let mistaken = self.0.pipeline.setup.mistake == Some(Mistake::LeaveWithoutStage);
        if mistaken && !state.closed {
            state.close(self);
        }
        mistaken
    }
}

/// An end of either side.
pub(super) trait AnyEnd {
    /// Takes one step. Returns whether the role goes on.
    fn step(&mut self, step: Step) -> bool;
    /// Waits for this thread's copies.
    fn drain(&self);
    /// Leaves if that needs no waiting.
    fn try_leave(&mut self) -> bool;
    /// Leaves.
    fn leave(&mut self);
    /// Whether it makes this mistake.
    fn makes(&self, mistake: Mistake) -> bool;
    /// Whether its threads go different ways.
    fn is_apart(&self) -> bool;
    /// Says that it has left.
    fn say_left(&mut self);
    /// Waits for the copies into a stage that it had.
    fn land_kept(&mut self);
    /// Records what the end saw.
    fn record(&mut self);
}

impl<W: Side> Running<W> {
    /// An end that begins.
    pub(super) fn new(barriers: W, state: EndState) -> Self {
        Running { barriers, state, tile: 0, held: VecDeque::new(), events: Vec::new() }
    }

    fn pass(&mut self, stage: u32) {
        let Running { barriers, state, tile, .. } = self;
        barriers.touch(stage, *tile);
        state.pass_told(barriers, |told| barriers.tell(told, *tile));
        self.events.push(Event::Passed(*tile));
        *tile += 1;
    }

    /// Takes a further stage in hand, and reads it. Returns whether one came.
    fn hold(&mut self, polls: Option<u32>) -> Option<bool> {
        let taken = match polls {
            None => Some(self.state.take_another(&self.barriers, self.held.len() as u32)),
            Some(polls) => {
                let mut left = polls;
                self.state.take_another_while(&self.barriers, self.held.len() as u32, || {
                    left -= 1;
                    left > 0
                })
            }
        };
        self.note(&taken);
        let stage = match taken? {
            Ok(stage) => stage,
            Err(Closed) => return Some(false),
        };
        self.barriers.touch(stage, self.tile + self.held.len() as u32);
        self.held.push_back(stage);
        Some(true)
    }

    /// Reads the oldest stage in hand once more, and passes it.
    fn release(&mut self) {
        let Running { barriers, state, tile, held, .. } = self;
        let (early, in_hand) = (barriers.makes(Mistake::ReleaseBeforeReads), held.len() as u32);
        let newest = *held.back().expect("a stage is in hand");
        let oldest = held.pop_front().expect("a stage is in hand");
        let counts = !state.closed;
        if !early {
            barriers.touch(oldest, *tile);
        }
        state.pass_oldest::<W>(in_hand, |stage| {
            assert_eq!(stage, oldest);
            barriers.pass(if barriers.makes(Mistake::ReleaseNewest) { newest } else { stage });
        });
        if early {
            barriers.touch(oldest, *tile);
        }
        // Behind the last stage nothing is passed.
        if counts {
            self.events.push(Event::Passed(*tile));
        }
        *tile += 1;
    }

    fn keep(&mut self, stage: u32) {
        self.barriers.touch(stage, self.tile);
        self.events.push(Event::Kept);
    }

    fn take(&mut self, polls: Option<u32>) -> Option<Result<u32, Closed>> {
        let taken = match polls {
            None => Some(self.state.take(&self.barriers)),
            Some(polls) => self.take_while(polls),
        };
        self.note(&taken);
        taken
    }

    fn take_while(&mut self, polls: u32) -> Option<Result<u32, Closed>> {
        let mut left = polls;
        self.state.take_while(&self.barriers, || {
            left -= 1;
            left > 0
        })
    }

    fn note(&mut self, taken: &Option<Result<u32, Closed>>) {
        match taken {
            None => self.events.push(Event::TimedOut),
            Some(Err(Closed)) if self.held.is_empty() => self.events.push(Event::Closed),
            Some(Err(Closed)) => self.events.push(Event::ClosedWith(self.held.len())),
            Some(Ok(_)) => {}
        }
    }

    /// Takes and passes a stage. Returns whether it did, or `otherwise` if none came in time.
    fn take_and_pass(&mut self, polls: Option<u32>, otherwise: bool) -> bool {
        match self.take(polls) {
            Some(Ok(stage)) => {
                self.pass(stage);
                true
            }
            Some(Err(Closed)) => false,
            None => otherwise,
        }
    }
}

impl<W: Side> AnyEnd for Running<W> {
    fn step(&mut self, step: Step) -> bool {
        match step {
            Step::Pass(_) => self.take_and_pass(None, false),
            Step::All(_) => {
                while self.take_and_pass(None, false) {}
                true
            }
            Step::Try(_, polls) => self.take_and_pass(Some(polls), true),
            Step::TryOrStop(_, polls) => self.take_and_pass(Some(polls), false),
            Step::Keep(_) => match self.take(None) {
                Some(Ok(stage)) => {
                    self.keep(stage);
                    true
                }
                _ => false,
            },
            Step::Quit(_) => {
                self.barriers.drain();
                self.leave();
                true
            }
            Step::Drive(_) => {
                let stage = self.state.take_open(&self.barriers);
                self.pass(stage);
                true
            }
            Step::Hold(_) => self.hold(None) == Some(true),
            Step::TryHold(_, polls) => self.hold(Some(polls)) != Some(false),
            Step::Release(_) => {
                self.release();
                true
            }
            Step::AllHolding(_, most) => {
                while self.hold(None) == Some(true) {
                    while self.held.len() > most {
                        self.release();
                    }
                }
                while !self.held.is_empty() {
                    self.release();
                }
                true
            }
        }
    }

    fn drain(&self) {
        self.barriers.drain();
    }

    fn try_leave(&mut self) -> bool {
        self.state.try_leave(&self.barriers)
    }

    fn leave(&mut self) {
        if !self.barriers.leave_by_mistake(&mut self.state, self.held.len() as u32) {
            self.state.leave(&self.barriers);
        }
        // Nobody fills what was in hand, but that of an end which passes all that comes.
        for (stage, tile) in self.held.drain(..).zip(self.tile..).filter(|_| !self.barriers.is_apart()) {
            self.barriers.touch(stage, tile);
        }
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.barriers.makes(mistake)
    }

    fn is_apart(&self) -> bool {
        self.barriers.is_apart()
    }

    fn say_left(&mut self) {
        self.state.say_left(&self.barriers);
    }

    fn land_kept(&mut self) {
        self.state.land_kept(&self.barriers);
    }

    fn record(&mut self) {
        self.barriers.record(std::mem::take(&mut self.events));
    }
}

/// Runs a role's steps in one thread, and leaves as [`Partition::run`](crate::role::Partition::run)
/// does.
pub(super) fn play<C: Checker>(ends: &mut [Option<Box<dyn AnyEnd + '_>>], steps: &[Step]) {
    // An end that goes its own way polls, too.
    let polls = ends.len() > 1 || ends.iter().flatten().any(|end| end.is_apart());
    let says_early = |end: &mut Option<Box<dyn AnyEnd + '_>>| match end {
        Some(end) if end.makes(Mistake::LeftBeforeLeaving) => end.say_left(),
        _ => {}
    };
    ends.iter_mut().for_each(says_early);
    for step in steps {
        if !ends[step.link()].as_mut().expect("the role has this end").step(*step) {
            break;
        }
    }
    let mut ends: Vec<_> = ends.iter_mut().flatten().collect();
    if !steps.iter().any(|step| matches!(step, Step::Drive(_))) {
        ends.iter().for_each(|end| end.drain());
        if polls {
            // Every end is tried.
            while ends.iter_mut().fold(false, |waits, end| !end.try_leave() | waits) {
                C::yield_now();
            }
        }
        ends.iter_mut().for_each(|end| end.leave());
        let says_late = |end: &&mut Box<dyn AnyEnd + '_>| !end.makes(Mistake::LeftBeforeLeaving);
        // Every end says so before one waits.
        ends.iter_mut().filter(|end| says_late(end)).for_each(|end| end.say_left());
        ends.iter_mut().for_each(|end| end.land_kept());
    }
    ends.iter_mut().for_each(|end| end.record());
}
