//! The threads of a scene, and the copiers that do their asynchronous copies.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

use super::barrier::{Barrier, land};
use super::checker::Checker;
use super::memory::{Clock, Copy, Known, Place};

/// One thread of a role.
pub(super) struct Thread<C> {
    number: usize,
    known: Cell<Known>,
    /// The number of its copier in clocks, and how many copies and arrivals it has started for
    /// that.
    copier: usize,
    of_copier: Cell<u32>,
    /// Copies since the last arrival.
    fresh: RefCell<Vec<Arc<Copy>>>,
    /// All copies.
    started: RefCell<Vec<Arc<Copy>>>,
    checker: PhantomData<C>,
}

impl<C: Checker> Thread<C> {
    fn new(number: usize, copier: usize) -> Self {
        Thread {
            number,
            known: Cell::new(Known::first(number)),
            copier,
            of_copier: Cell::new(0),
            fresh: RefCell::default(),
            started: RefCell::default(),
            checker: PhantomData,
        }
    }

    /// Reads a place.
    pub(super) fn read(&self, place: &Place) -> u32 {
        place.read(self.number, &self.known.get())
    }

    /// Reads a place and decides by it what to do next.
    pub(super) fn branch_on(&self, place: &Place) -> u32 {
        place.branch_on(self.number, &self.known.get())
    }

    /// Writes a place.
    pub(super) fn write(&self, place: &Place, value: u32) {
        place.write(self.number, &self.known.get(), value);
    }

    /// What an arrival of the thread tells. What it does from now on is not in it.
    fn tell(&self) -> Known {
        let told = self.known.get();
        self.learn(|known| known.tick(self.number));
        told
    }

    fn learn<R>(&self, learn: impl FnOnce(&mut Known) -> R) -> R {
        let mut known = self.known.get();
        let result = learn(&mut known);
        self.known.set(known);
        result
    }

    /// Arrives at a barrier: all that the thread did before is ordered before the phase's end.
    pub(super) fn arrive(&self, barrier: &Barrier<C>) {
        barrier.arrive(self.number, &self.tell());
    }

    /// A further arrival of the thread in one phase.
    pub(super) fn arrive_again(&self, barrier: &Barrier<C>) {
        barrier.arrive(self.number + 100, &self.tell());
    }

    /// Makes all arrivals of a phase, in place of threads that make none.
    pub(super) fn arrive_for_all(&self, barrier: &Barrier<C>) {
        barrier.arrive_for_all(&self.tell());
    }

    /// Arrives at a barrier now and in all later phases.
    pub(super) fn arrive_drop(&self, barrier: &Barrier<C>) {
        barrier.arrive_drop(self.number + 200, &self.tell());
    }

    /// Arrives at a barrier when the copies that were started have landed. Orders nothing else.
    pub(super) fn arrive_behind_copies(&self, barrier: &Barrier<C>) {
        let mut taken = self.tell().taken;
        taken.join(&Clock::only(self.copier, self.next_of_copier()));
        barrier.promise(self.number, self.fresh.take(), taken);
    }

    /// Waits for a phase of a barrier. Returns how many have ended.
    pub(super) fn wait(&self, barrier: &Barrier<C>, parity: u32) -> u32 {
        self.learn(|known| barrier.wait(parity, self.number, known))
    }

    /// Waits for a phase of a barrier, unless it is marked: nothing then.
    pub(super) fn wait_unless(&self, barrier: &Barrier<C>, parity: u32) -> Option<u32> {
        self.learn(|known| barrier.wait_unless(parity, self.number, known))
    }

    /// Polls whether a phase of a barrier has ended.
    pub(super) fn test_wait(&self, barrier: &Barrier<C>, parity: u32) -> bool {
        self.learn(|known| barrier.test_wait(parity, self.number, known))
    }

    fn next_of_copier(&self) -> u32 {
        self.of_copier.set(self.of_copier.get() + 1);
        self.of_copier.get()
    }

    /// Starts a copy.
    pub(super) fn copy(&self, to: &Arc<Place>, value: u32) {
        let copy = Copy::start(to, value, &self.known.get(), self.copier, self.next_of_copier());
        self.fresh.borrow_mut().push(copy.clone());
        self.started.borrow_mut().push(copy);
    }

    /// Starts bulk copies of a value into places: each completes a byte at the barrier.
    pub(super) fn copy_bulk(&self, barrier: &Barrier<C>, to: &[Arc<Place>], value: u32) {
        for place in to {
            let before = self.known.get().before_bulk();
            let copy = Copy::start(place, value, &before, self.copier, self.next_of_copier());
            barrier.bulk(self.number, copy);
        }
    }

    /// Announces so many bulk copies to the barrier.
    pub(super) fn expect(&self, barrier: &Barrier<C>, copies: usize) {
        barrier.expect(copies);
    }

    /// `fence.proxy.async`: what the thread did comes before bulk copies that are ordered after it.
    pub(super) fn fence(&self) {
        self.learn(Known::fence);
    }

    /// Waits until all copies have landed, but not for the arrivals that follow them.
    pub(super) fn drain(&self) {
        self.learn(|known| known.ordered.join(&land(&self.started.borrow())));
    }
}

type Body<C> = Box<dyn FnOnce(&Thread<C>) + Send>;

/// A block's threads.
pub(super) struct Threads<C: Checker> {
    bodies: Vec<Body<C>>,
    copiers: Vec<Box<dyn FnOnce() + Send>>,
}

impl<C: Checker> Threads<C> {
    /// A block without threads.
    pub(super) fn new() -> Self {
        Threads { bodies: Vec::new(), copiers: Vec::new() }
    }

    /// Adds a thread, and returns its number.
    pub(super) fn add(&mut self, body: impl FnOnce(&Thread<C>) + Send + 'static) -> usize {
        self.bodies.push(Box::new(body));
        self.bodies.len() - 1
    }

    /// Adds a copier.
    pub(super) fn add_copier(&mut self, body: impl FnOnce() + Send + 'static) {
        self.copiers.push(Box::new(body));
    }

    /// Runs the threads to their ends, then `end`, which is ordered after all that they did and
    /// stops the copiers.
    pub(super) fn run(mut self, end: impl FnOnce(&Clock)) {
        let count = self.bodies.len();
        let last = self.bodies.pop().expect("a scene has threads");
        let copiers: Vec<_> = self.copiers.into_iter().map(C::spawn).collect();
        let all = Arc::new(Mutex::new(Clock::default()));
        let run = |number: usize, body: Body<C>| {
            let all = all.clone();
            move || {
                let thread = Thread::new(number, number + count);
                body(&thread);
                all.lock().expect("no thread has failed").join(&thread.known.get().taken);
            }
        };
        let threads: Vec<_> = (0..).zip(self.bodies).map(|(number, body)| C::spawn(run(number, body))).collect();
        run(count - 1, last)();
        threads.into_iter().for_each(|join| join());
        end(&all.lock().expect("no thread has failed"));
        copiers.into_iter().for_each(|join| join());
    }
}
