//! The model of an mbarrier.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::checker::Checker;
use super::memory::{Clock, Copy, Known};

/// An mbarrier. It fails on whatever the PTX ISA leaves undefined: use before `init` or after
/// `inval`, more arrivals than counted, `inval` while an arrival is pending.
///
/// A wait returns the same whenever it begins, unless the next phase ends before it returns, which
/// fails; and the arrivals of a phase commute. So only what `test_wait` sees depends on an order,
/// and the checker tries no others, unless [`Manner::waits_look`].
pub(super) struct Barrier<C: Checker> {
    name: String,
    turns: C::Turns,
    manner: Manner,
    state: Mutex<State<C>>,
}

/// How the model's barriers work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// Whether copiers make the arrivals that follow copies, at any time. Otherwise they happen as
    /// late as they can: when somebody waits for a phase to which nothing else is missing.
    pub(super) copiers: bool,
    /// Whether the checker tries the orders of waits too.
    pub(super) waits_look: bool,
    /// Whether there are polls.
    pub(super) polled: bool,
}

impl Manner {
    /// Copies land as late as they can.
    pub(super) const LATE: Manner = Manner { copiers: false, waits_look: false, polled: false };
    /// Copies land at any time.
    pub(super) const ANY_TIME: Manner = Manner { copiers: true, ..Manner::LATE };

    /// The checker tries the orders of waits, too.
    pub(super) const fn every_order(self) -> Self {
        Manner { waits_look: true, ..self }
    }
}

struct State<C: Checker> {
    valid: bool,
    manner: Manner,
    count: usize,
    /// What the barrier counts from the next phase on.
    next_count: usize,
    /// Completed phases.
    completed: u32,
    arrived: Vec<usize>,
    promised: Vec<Promise>,
    /// The bytes that the phase still waits for: one for each copy.
    bytes: i32,
    /// Bulk copies that have not landed, and the threads that started them.
    bulk: Vec<(usize, Arc<Copy>)>,
    /// What the arrivals of this phase tell.
    told: Known,
    /// The same of the last phase that ended.
    released: Known,
    /// Who has waited for the last phase.
    waited: Clock,
    /// All arrivals.
    arrivals: Clock,
    /// The parity of the phase that is marked as one that does not come.
    marked: Option<u32>,
    /// Who waits for the end of the phase.
    waiters: Vec<Waiting<C>>,
    /// The copiers that have nothing to do, by the numbers of the threads that they copy for.
    copiers: Vec<(usize, C::Waiter)>,
    /// Threads that the step which is being taken wakes.
    to_wake: Vec<C::Waiter>,
}

/// An arrival that happens when its copies have landed.
struct Promise {
    who: usize,
    copies: Vec<Arc<Copy>>,
    /// The steps before it, and its own.
    taken: Clock,
}

/// A thread that waits for the end of the phase.
struct Waiting<C: Checker> {
    thread: C::Waiter,
    answer: Answer,
    step: Clock,
    /// Whether it goes on if the phase is marked.
    looks: bool,
}

/// Where a waiter finds how many phases have ended, and what that orders; nothing of either if the
/// phase is marked.
type Answer = Arc<Mutex<Option<Option<(u32, Known)>>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<C: Checker> State<C> {
    fn new(valid: bool, count: usize, manner: Manner) -> Self {
        State {
            valid,
            manner,
            count,
            next_count: count,
            completed: 0,
            arrived: Vec::new(),
            promised: Vec::new(),
            bytes: 0,
            bulk: Vec::new(),
            told: Known::default(),
            released: Known::default(),
            waited: Clock::default(),
            arrivals: Clock::default(),
            marked: None,
            waiters: Vec::new(),
            copiers: Vec::new(),
            to_wake: Vec::new(),
        }
    }

    fn arrive(&mut self, name: &str, who: usize, told: &Known) {
        assert!(!self.arrived.contains(&who), "{name}: {who} arrives twice in one phase");
        self.arrived.push(who);
        self.told.join(told);
        self.arrivals.join(&told.taken);
        assert!(self.arrived.len() <= self.count, "{name}: more arrivals than counted");
        self.end_phase_if_over(name);
    }

    fn end_phase_if_over(&mut self, name: &str) {
        if self.arrived.len() == self.count && self.bytes == 0 {
            self.end_phase(name);
        }
    }

    /// Lands bulk copy number `index`, which completes its byte.
    fn land_bulk(&mut self, name: &str, index: usize) {
        let (_, copy) = self.bulk.remove(index);
        let ordered = land(&[copy]);
        self.told.join(&Known { ordered, taken: ordered, ..Known::default() });
        self.bytes -= 1;
        self.end_phase_if_over(name);
    }

    /// Lands all bulk copies if the phase waits for nothing else.
    fn land_last_bulk(&mut self, name: &str) {
        while !self.manner.copiers && self.arrived.len() == self.count && !self.bulk.is_empty() {
            self.land_bulk(name, 0);
        }
    }

    fn end_phase(&mut self, name: &str) {
        // A thread that waited for the last phase has returned before this one's end, or it might
        // miss both.
        self.released = std::mem::take(&mut self.told);
        assert!(
            self.released.taken.knows(&self.waited),
            "{name}: a phase ends while a thread waits for the one before"
        );
        self.waited = Clock::default();
        self.arrived.clear();
        self.count = self.next_count;
        self.completed += 1;
        for Waiting { thread, answer, step, .. } in self.waiters.drain(..) {
            self.waited.join(&step);
            *lock(&answer) = Some(Some((self.completed, self.released)));
            self.to_wake.push(thread);
        }
    }

    /// Wakes the copier of the thread, if it sleeps.
    fn wake_copier(&mut self, who: usize) -> bool {
        let sleeping = self.copiers.iter().position(|(thread, _)| *thread == who);
        self.to_wake.extend(sleeping.map(|index| self.copiers.remove(index).1));
        sleeping.is_some()
    }

    /// Makes the arrival that the thread promised.
    fn keep_promise(&mut self, name: &str, thread: usize) {
        let index = self.promised.iter().position(|promise| promise.who == thread).expect("it is promised");
        let promise = self.promised.remove(index);
        let ordered = land(&promise.copies);
        self.arrive(name, promise.who, &Known { ordered, taken: promise.taken, ..Known::default() });
    }

    /// Makes all arrivals that are promised if the phase waits for nothing else.
    fn keep_last_promises(&mut self, name: &str) {
        if !self.manner.copiers && self.arrived.len() + self.promised.len() >= self.count {
            while let Some(promise) = self.promised.first() {
                self.keep_promise(name, promise.who);
            }
        }
        self.land_last_bulk(name);
    }

    /// Whether the phase of this parity is the last one that ended.
    fn has_ended(&self, parity: u32) -> bool {
        self.completed & 1 != parity
    }
}

/// Lands the copies; returns what that orders.
pub(super) fn land(copies: &[Arc<Copy>]) -> Clock {
    let mut ordered = Clock::default();
    for copy in copies {
        copy.land();
        ordered.join(&copy.done());
    }
    ordered
}

impl<C: Checker> Barrier<C> {
    /// Memory for a barrier.
    pub(super) fn new(name: String, manner: Manner) -> Self {
        Barrier { name, turns: C::turns(), manner, state: Mutex::new(State::new(false, 0, manner)) }
    }

    /// `mbarrier.init`
    pub(super) fn init(&self, count: usize) {
        *lock(&self.state) = State::new(true, count, self.manner);
    }

    /// `mbarrier.arrive`
    pub(super) fn arrive(&self, who: usize, told: &Known) {
        self.step(|state| {
            state.arrive(&self.name, who, told);
            if !state.waiters.is_empty() {
                state.keep_last_promises(&self.name);
            }
        });
    }

    /// `mbarrier.arrive_drop`
    pub(super) fn arrive_drop(&self, who: usize, told: &Known) {
        self.step(|state| {
            state.next_count -= 1;
            state.arrive(&self.name, who, told);
        });
    }

    /// `cp.async.mbarrier.arrive.noinc`: an arrival after the copies and after the steps of
    /// `taken`, one of which is its own.
    pub(super) fn promise(&self, who: usize, copies: Vec<Arc<Copy>>, taken: Clock) {
        self.step(|state| {
            state.promised.push(Promise { who, copies, taken });
            if state.wake_copier(who) {
                return;
            }
            if !state.waiters.is_empty() {
                state.keep_last_promises(&self.name);
            }
        });
    }

    /// `mbarrier.expect_tx`, for so many bulk copies.
    pub(super) fn expect(&self, bytes: usize) {
        self.step(|state| state.bytes += bytes as i32);
    }

    /// `cp.async.bulk`, by the thread `who`.
    pub(super) fn bulk(&self, who: usize, copy: Arc<Copy>) {
        self.step(|state| {
            state.bulk.push((who, copy));
            state.wake_copier(who);
        });
    }

    /// Makes the next arrival that `thread` promises, or lands one of its bulk copies, in its
    /// copier. Returns whether there was one before the barrier's end.
    pub(super) fn copier(&self, thread: usize) -> bool {
        loop {
            // A poll is no step: with nothing to do the copier sleeps as if it had not polled.
            let mut state = lock(&self.state);
            if !state.valid {
                return false;
            }
            let bulk = state.bulk.iter().any(|(who, _)| *who == thread);
            if bulk || state.promised.iter().any(|promise| promise.who == thread) {
                break;
            }
            state.copiers.push((thread, C::waiter()));
            drop(state);
            C::park();
        }
        self.step(|state| match state.bulk.iter().position(|(who, _)| *who == thread) {
            Some(index) => state.land_bulk(&self.name, index),
            None => state.keep_promise(&self.name, thread),
        });
        true
    }

    /// `mbarrier.try_wait.parity` until it succeeds, by the thread `who`. Returns how many phases
    /// have ended.
    pub(super) fn wait(&self, parity: u32, who: usize, known: &mut Known) -> u32 {
        self.wait_looking(parity, who, known, false).expect("it looks for no mark")
    }

    /// As [`wait`](Self::wait), unless the phase is marked: nothing then.
    pub(super) fn wait_unless(&self, parity: u32, who: usize, known: &mut Known) -> Option<u32> {
        self.wait_looking(parity, who, known, true)
    }

    /// Says that the phase of this parity does not come. (A word that is written and read without
    /// an order to other memory.)
    pub(super) fn mark(&self, parity: u32) {
        self.step(|state| {
            state.marked = Some(parity);
            if state.has_ended(parity) {
                return;
            }
            let (told, others) = state.waiters.drain(..).partition(|waiting| waiting.looks);
            state.waiters = others;
            for Waiting { thread, answer, .. } in told {
                *lock(&answer) = Some(None);
                state.to_wake.push(thread);
            }
        });
    }

    /// Whether the phase of this parity is marked.
    pub(super) fn is_marked(&self, parity: u32) -> bool {
        self.step(|state| state.marked == Some(parity))
    }

    /// Makes all arrivals of the phase in place of the threads that make none.
    pub(super) fn arrive_for_all(&self, told: &Known) {
        self.step(|state| {
            for who in 0..state.count {
                state.arrive(&self.name, who, told);
            }
        });
    }

    fn wait_looking(&self, parity: u32, who: usize, known: &mut Known, looks: bool) -> Option<u32> {
        let waits = |state: &mut State<C>| {
            let answer = Answer::default();
            if state.has_ended(parity) {
                state.waited.join(&known.taken.step_of(who));
                *lock(&answer) = Some(Some((state.completed, state.released)));
            } else if looks && state.marked == Some(parity) {
                *lock(&answer) = Some(None);
            } else {
                let step = known.taken.step_of(who);
                state.waiters.push(Waiting { thread: C::waiter(), answer: answer.clone(), step, looks });
                state.keep_last_promises(&self.name);
            }
            answer
        };
        // A wait that lands copies does not commute with polls.
        let looks = self.manner.waits_look || (self.manner.polled && !self.manner.copiers);
        let answer = if looks { self.step(waits) } else { self.within_step(waits) };
        loop {
            match *lock(&answer) {
                Some(Some((completed, released))) => {
                    known.join(&released);
                    return Some(completed);
                }
                Some(None) => return None,
                None => {}
            }
            C::park();
        }
    }

    /// `mbarrier.test_wait.parity`, by the thread `who`.
    pub(super) fn test_wait(&self, parity: u32, who: usize, known: &mut Known) -> bool {
        let released = self.step(|state| {
            let released = state.has_ended(parity).then_some(state.released);
            match released {
                Some(_) => state.waited.join(&known.taken.step_of(who)),
                // What is promised has not landed now. It will have landed at the next poll.
                None => state.keep_last_promises(&self.name),
            }
            released
        });
        released.inspect(|released| known.join(released)).is_some()
    }

    /// `mbarrier.inval`, after a barrier of all threads. These know that the steps of `taken` have
    /// been taken. (So it is no step.)
    pub(super) fn inval(&self, taken: &Clock) {
        assert!(lock(&self.state).arrived.is_empty(), "{}: ended while an arrival is pending", self.name);
        self.inval_within_phase(taken);
    }

    /// The same of a barrier to whose phase arrivals may be missing that nobody makes.
    pub(super) fn inval_within_phase(&self, taken: &Clock) {
        let mut state = lock(&self.state);
        let pending = !state.promised.is_empty() || !state.bulk.is_empty() || state.bytes != 0;
        let unordered = !taken.knows(&state.arrivals);
        assert!(state.valid && !pending && !unordered, "{}: ended while an arrival is pending", self.name);
        state.valid = false;
        let copiers: Vec<_> = state.copiers.drain(..).collect();
        drop(state);
        copiers.iter().for_each(|(_, copier)| C::wake(copier));
    }

    fn step<R>(&self, step: impl FnOnce(&mut State<C>) -> R) -> R {
        C::step(&self.turns, self.manner.waits_look || self.manner.polled);
        self.within_step(step)
    }

    fn within_step<R>(&self, step: impl FnOnce(&mut State<C>) -> R) -> R {
        let mut state = lock(&self.state);
        assert!(state.valid, "{}: used while it is none", self.name);
        let result = step(&mut state);
        let to_wake = std::mem::take(&mut state.to_wake);
        drop(state);
        to_wake.iter().for_each(C::wake);
        result
    }
}
