//! A pipeline's barriers, words and stages.

use std::sync::{Arc, Mutex};

use super::barrier::{Barrier, Manner};
use super::checker::Checker;
use super::memory::{Clock, Place};

/// A mistake that the checks are to find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mistake {
    /// A producer that leaves arrives once more at each barrier, for good, instead of waiting for
    /// its copies and passing a closed stage.
    LeaveByDrop,
    /// No wait for the arrivals of committed stages.
    NoSettling,
    /// No wait for the copies before the closed stage is passed.
    NoDraining,
    /// A consumer closes the next stage without waiting for it.
    LeaveWithoutStage,
    /// The closed stage is passed by an arrival that orders copies only.
    CloseBehindCopies,
    /// Each thread decides for itself.
    NoAgreement,
    /// Both ends write the same closing word.
    OneClosingWord,
    /// One decision word instead of two in turn.
    OneDecisionWord,
    /// The bytes of a stage are announced twice.
    TwoAnnouncements,
    /// The bytes of a stage are not announced.
    NoAnnouncement,
    /// Of the producers only the one that issues bulk copies arrives.
    OneArrival,
    /// Readers hand a stage back without a fence between the proxies.
    NoFence,
    /// Of several stages in hand the newest is handed back.
    ReleaseNewest,
    /// A stage is handed back while it is still read, as by products that are not complete.
    ReleaseBeforeReads,
    /// A consumer that leaves hands back all stages in hand, and closes the last of them.
    PassAllOnLeaving,
    /// A consumer that leaves marks the stage behind those in hand.
    MarkBehindHeld,
    /// Producers that leave mark the phase of the parity with which they get a stage.
    MarkOwnParity,
    /// A producer marks the stage in front of the next one.
    MarkOneEarly,
    /// Nobody waits for copies into a stage that producers never passed on.
    NoLanding,
    /// Producers wait for them while consumers may still wait for that stage.
    LandingBeforeLeft,
    /// The first producer waits for them while others may wait for the phase before.
    LandingAlone,
    /// Consumers say that they have left before they leave.
    LeftBeforeLeaving,
}

/// How the producers fill stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fills {
    /// By ordinary stores.
    Stores,
    /// By asynchronous copies of each thread.
    Copies,
    /// By bulk copies of the first thread, whose bytes it announces before it starts them.
    Bulk,
    /// The same, announced after it has started them.
    BulkAnnouncedLate,
}

/// How a pipeline is built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    /// Threads that fill.
    pub(super) producers: usize,
    /// Threads that read.
    pub(super) consumers: usize,
    /// How they fill.
    pub(super) fills: Fills,
    /// Whether a word says what each stage holds. Where copies arrive later than the thread that
    /// wrote it, it has an arrival of its own.
    pub(super) told: bool,
    /// Whether the ends leave by a mark.
    pub(super) marks: bool,
    /// Whether each consumer goes its own way.
    pub(super) apart: bool,
    /// What is wrong.
    pub(super) mistake: Option<Mistake>,
}

impl Setup {
    /// A pipeline with asynchronous copies and no word.
    pub(super) const fn new(producers: usize, consumers: usize) -> Self {
        Setup { producers, consumers, fills: Fills::Copies, told: false, marks: false, apart: false, mistake: None }
    }

    /// Its producers write by ordinary stores.
    pub(super) const fn with_stores(self) -> Self {
        Setup { fills: Fills::Stores, ..self }
    }

    /// Its first producer starts bulk copies, and announces them before or after.
    pub(super) const fn with_bulk(self, announced_late: bool) -> Self {
        Setup { fills: if announced_late { Fills::BulkAnnouncedLate } else { Fills::Bulk }, ..self }
    }

    /// Whether its first producer starts bulk copies.
    pub(super) fn is_bulk(&self) -> bool {
        matches!(self.fills, Fills::Bulk | Fills::BulkAnnouncedLate)
    }

    /// What the copier of the producer of this rank does for a fill: lands bulk copies, or arrives.
    pub(super) fn steps_of_copier(&self, rank: usize) -> usize {
        match (self.is_bulk(), rank) {
            (true, 0) => self.producers,
            (true, _) => 0,
            (false, _) => 1,
        }
    }

    /// Arrivals that fill a stage.
    pub(super) fn filled(&self) -> usize {
        match self.has(Mistake::OneArrival) {
            true => 1,
            false => self.producers + usize::from(self.told && !self.is_bulk()),
        }
    }

    /// A word says what each stage holds.
    pub(super) const fn told(self) -> Self {
        Setup { told: true, ..self }
    }

    /// Its ends leave by a mark.
    pub(super) const fn marking(self) -> Self {
        Setup { marks: true, ..self }
    }

    /// With a mistake.
    pub(super) const fn with(self, mistake: Mistake) -> Self {
        Setup { mistake: Some(mistake), ..self }
    }

    /// Whether this is the mistake.
    pub(super) fn has(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }
}

/// What became of an end, in one thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    /// It passed the stage with this tile.
    Passed(u32),
    /// It held a stage and never passed it.
    Kept,
    /// There was no stage in time.
    TimedOut,
    /// The other end had left.
    Closed,
    /// The same, when so many stages were in hand.
    ClosedWith(usize),
}

/// A pipeline. Its words and stages are as in [`memory`](crate::barrier::memory), but that each end
/// has closing words of its own.
pub(super) struct Pipeline<C: Checker, const STAGES: usize> {
    pub(super) setup: Setup,
    pub(super) full: [Arc<Barrier<C>>; STAGES],
    pub(super) empty: [Arc<Barrier<C>>; STAGES],
    pub(super) decided: [Barrier<C>; 2],
    /// Where consumers arrive when they have left, and producers with a stage in hand.
    pub(super) left: Barrier<C>,
    /// Which end has passed which stage as closed: the producers' words and the consumers'.
    pub(super) closed: [[Place; STAGES]; 2],
    pub(super) present: [Place; STAGES],
    pub(super) decisions: [[Place; 2]; 2],
    /// The part of each stage that each producer fills.
    pub(super) parts: [Vec<Arc<Place>>; STAGES],
    /// The events of each thread of the producers' end and of the consumers'.
    pub(super) events: [Mutex<Vec<Vec<Event>>>; 2],
}

impl<C: Checker, const STAGES: usize> Pipeline<C, STAGES> {
    /// Makes the pipeline and its barriers.
    pub(super) fn new(name: &str, setup: Setup, manner: Manner) -> Arc<Self> {
        let barriers =
            |kind| std::array::from_fn(|stage| Arc::new(Barrier::new(format!("{name} {kind} {stage}"), manner)));
        let pipeline = Pipeline {
            setup,
            full: barriers("full"),
            empty: barriers("empty"),
            decided: std::array::from_fn(|end| {
                Barrier::new(format!("{name} decided {end}"), Manner { polled: false, ..manner })
            }),
            left: Barrier::new(format!("{name} left"), Manner { polled: false, ..manner }),
            closed: std::array::from_fn(|_| std::array::from_fn(|_| Place::default())),
            present: std::array::from_fn(|_| Place::default()),
            decisions: std::array::from_fn(|_| std::array::from_fn(|_| Place::default())),
            parts: std::array::from_fn(|_| (0..setup.producers).map(|_| Arc::default()).collect()),
            events: [Mutex::default(), Mutex::default()],
        };
        for stage in 0..STAGES {
            pipeline.full[stage].init(setup.filled());
            pipeline.empty[stage].init(setup.consumers);
        }
        pipeline.decided[0].init(setup.producers);
        pipeline.decided[1].init(setup.consumers);
        pipeline.left.init(setup.producers + setup.consumers);
        Arc::new(pipeline)
    }

    /// Ends the barriers after the steps of `taken`, and checks what the ends saw. Returns the
    /// producers' events and the consumers'.
    pub(super) fn end(&self, taken: &Clock) -> [Vec<Event>; 2] {
        let barriers = self.full.iter().chain(&self.empty).map(|barrier| &**barrier).chain(&self.decided);
        barriers.for_each(|barrier| barrier.inval(taken));
        self.left.inval_within_phase(taken);
        for part in self.parts.iter().flatten() {
            assert!(!part.is_being_written(), "a copy is under way behind the scope");
        }
        let [producers, consumers] = &self.events;
        let producers = common(producers, self.setup.producers);
        if self.setup.apart {
            return [producers.clone(), self.each_for_itself(consumers, &producers)];
        }
        let events = [producers, common(consumers, self.setup.consumers)];
        let [committed, read] = events.each_ref().map(|events| tiles(events));
        assert!(read <= committed && committed <= read + STAGES, "{committed} tiles passed, {read} read");
        let [filled_up, read_up] = events.each_ref().map(|events| match events.last() {
            Some(Event::Closed) => Some(0),
            Some(Event::ClosedWith(held)) => Some(*held),
            _ => None,
        });
        let closed_in_time = read_up.is_none_or(|held| read + held == committed);
        assert!(closed_in_time, "closed behind {read} tiles of {committed}");
        assert!(filled_up.is_none() || read_up.is_none(), "each end left because the other one had");
        events
    }
}

impl<C: Checker, const STAGES: usize> Pipeline<C, STAGES> {
    /// Checks what consumers saw who go different ways: each tiles in order, and those who read
    /// until the pipeline was closed all. Returns what they saw, one after the other.
    fn each_for_itself(&self, consumers: &Mutex<Vec<Vec<Event>>>, producers: &[Event]) -> Vec<Event> {
        let (all, committed) = (consumers.lock().expect("no thread has failed"), tiles(producers));
        assert_eq!(all.len(), self.setup.consumers);
        for events in &*all {
            let read = tiles(events);
            let closed = events.last() == Some(&Event::Closed);
            assert!(read <= committed && (!closed || read == committed), "closed behind {read} tiles of {committed}");
        }
        assert!(!producers.contains(&Event::Closed), "producers don't learn that consumers have left");
        all.concat()
    }
}

/// The events of an end, which all its threads have seen.
fn common(events: &Mutex<Vec<Vec<Event>>>, threads: usize) -> Vec<Event> {
    let events = events.lock().expect("no thread has failed");
    assert_eq!(events.len(), threads);
    assert!(events.iter().all(|other| *other == events[0]), "the threads of a role saw different outcomes: {events:?}");
    events[0].clone()
}

/// How many tiles an end passed, in order.
pub(super) fn tiles(events: &[Event]) -> usize {
    let passed = events.iter().filter_map(|event| match event {
        Event::Passed(tile) => Some(*tile),
        _ => None,
    });
    let count = passed.clone().count();
    assert!(passed.eq(0..count as u32), "tiles out of order: {events:?}");
    count
}
