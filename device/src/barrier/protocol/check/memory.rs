//! Memory that reports races, by vector clocks.
//!
//! The barriers of the model are locks of the checker, which order more than an mbarrier does:
//! whoever arrives by `cp.async.mbarrier.arrive.noinc` has ordered its copies, but not its stores.
//! So the order that counts is kept here, and not taken from the checker's own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The largest number of threads and copiers that a scene has.
const ACTORS: usize = 16;

/// Which steps of each thread come before: one number per thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Clock([u32; ACTORS]);

impl Clock {
    /// The clock of a thread that begins.
    pub(super) fn first(actor: usize) -> Self {
        Clock::only(actor, 1)
    }

    /// Nothing but one step of one thread.
    pub(super) fn only(actor: usize, step: u32) -> Self {
        let mut clock = Clock::default();
        clock.0[actor] = step;
        clock
    }

    /// Adds what the other clock knows.
    pub(super) fn join(&mut self, other: &Clock) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = (*mine).max(theirs);
        }
    }

    /// Begins the thread's next step.
    pub(super) fn tick(&mut self, actor: usize) {
        self.0[actor] += 1;
    }

    /// The thread's present step alone.
    pub(super) fn step_of(&self, actor: usize) -> Clock {
        Clock::only(actor, self.0[actor])
    }

    /// Whether all that the other clock knows comes before this one's next step.
    pub(super) fn knows(&self, other: &Clock) -> bool {
        self.0.iter().zip(other.0).all(|(mine, theirs)| *mine >= theirs)
    }
}

/// What a thread knows, and what an arrival tells.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    /// The accesses that come before, as the PTX memory model orders them.
    pub(super) ordered: Clock,
    /// All steps that must have been taken by now.
    pub(super) taken: Clock,
    /// Of `ordered` what a fence between the proxies has followed: this comes before bulk copies.
    pub(super) fenced: Clock,
}

impl Known {
    /// What a thread knows when it begins.
    pub(super) fn first(actor: usize) -> Self {
        Known { ordered: Clock::first(actor), taken: Clock::first(actor), fenced: Clock::default() }
    }

    /// Adds what the other one tells.
    pub(super) fn join(&mut self, other: &Known) {
        self.ordered.join(&other.ordered);
        self.taken.join(&other.taken);
        self.fenced.join(&other.fenced);
    }

    /// `fence.proxy.async`.
    pub(super) fn fence(&mut self) {
        let ordered = self.ordered;
        self.fenced.join(&ordered);
    }

    /// What is ordered before a bulk copy that the thread starts.
    pub(super) fn before_bulk(&self) -> Known {
        Known { ordered: self.fenced, ..*self }
    }

    /// Begins the thread's next step.
    pub(super) fn tick(&mut self, actor: usize) {
        self.ordered.tick(actor);
        self.taken.tick(actor);
    }
}

/// One place in shared memory.
#[derive(Default)]
pub(super) struct Place(Mutex<Accesses>);

#[derive(Default)]
struct Accesses {
    value: u32,
    written: Clock,
    read: Clock,
    branched_on: Clock,
    /// Copies into the place that have been started and have not landed.
    under_way: u32,
}

impl Place {
    /// Reads the value, as the thread `actor`.
    pub(super) fn read(&self, actor: usize, known: &Known) -> u32 {
        self.read_as(actor, known, |place| &mut place.read)
    }

    /// Reads the value and decides by it what to do next. So the value is read before the thread's
    /// next step, and no arrival has to say so: a write after that step does not race with the
    /// read.
    pub(super) fn branch_on(&self, actor: usize, known: &Known) -> u32 {
        self.read_as(actor, known, |place| &mut place.branched_on)
    }

    fn read_as(&self, actor: usize, known: &Known, reads: impl FnOnce(&mut Accesses) -> &mut Clock) -> u32 {
        let (value, race) = self.with(|place| {
            reads(place).join(&known.ordered.step_of(actor));
            (place.value, place.under_way > 0 || !known.ordered.knows(&place.written))
        });
        assert!(!race, "race: {actor} reads what is being written");
        value
    }

    /// Writes the value.
    pub(super) fn write(&self, actor: usize, known: &Known, value: u32) {
        let race = self.with(|place| {
            let behind_reads = known.ordered.knows(&place.read) && known.taken.knows(&place.branched_on);
            let race = place.under_way > 0 || !known.ordered.knows(&place.written) || !behind_reads;
            (place.value, place.written) = (value, known.ordered.step_of(actor));
            race
        });
        assert!(!race, "race: {actor} writes what is being read or written");
    }

    /// Whether a copy into the place has not landed.
    pub(super) fn is_being_written(&self) -> bool {
        self.with(|place| place.under_way > 0)
    }

    fn with<R>(&self, access: impl FnOnce(&mut Accesses) -> R) -> R {
        access(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An asynchronous copy of one value into one place.
pub(super) struct Copy {
    to: Arc<Place>,
    value: u32,
    /// What the thread knew that started it.
    before: Known,
    copier: usize,
    step: u32,
    landed: AtomicBool,
}

impl Copy {
    /// Starts the copy: step `step` of `copier`, which copies for a thread that knows `before`.
    pub(super) fn start(to: &Arc<Place>, value: u32, before: &Known, copier: usize, step: u32) -> Arc<Self> {
        let race = to.with(|place| {
            place.under_way += 1;
            place.under_way > 1
        });
        assert!(!race, "race: two copies into one place");
        Arc::new(Copy { to: to.clone(), value, before: *before, copier, step, landed: AtomicBool::new(false) })
    }

    /// Writes the value, unless that has happened.
    pub(super) fn land(&self) {
        if !self.landed.swap(true, Ordering::Relaxed) {
            self.to.with(|place| place.under_way -= 1);
            let mut known = self.before;
            known.ordered.join(&self.done());
            self.to.write(self.copier, &known, self.value);
        }
    }

    /// What is ordered before whoever waits for the copy alone.
    pub(super) fn done(&self) -> Clock {
        Clock::only(self.copier, self.step)
    }
}
