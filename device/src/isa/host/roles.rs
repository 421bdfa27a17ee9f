//! The roles of a block: each has an OS thread, and one of them runs at a time.
//!
//! The baton is under the mutex of a [`Division`]. A synchronising operation locks it, changes the
//! [`Scheduler`]'s state, and waits there until its role has the baton again.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};

use super::block::{self, Place, with_block};
use super::model::Model;
use super::panics;
use super::scheduler::Scheduler;
use crate::isa::Members;

/// What a block does in roles: for each its members and its body. Pairs in tuples of two to four.
pub(crate) trait Parts {
    /// The bodies' results: on the GPU a thread has only that of its own role, here all are
    /// available.
    type Results;
    /// Each role's members.
    fn members(&self) -> Vec<Members>;
    /// Runs the bodies.
    fn run(self, division: &Arc<Division>) -> Self::Results;
}

macro_rules! parts {
    ($($body:ident $result:ident $index:tt),*) => {
        impl<$($body: FnOnce() -> $result, $result),*> Parts for ($((Members, $body),)*) {
            type Results = ($(Option<$result>,)*);

            fn members(&self) -> Vec<Members> {
                vec![$(self.$index.0),*]
            }

            fn run(self, division: &Arc<Division>) -> Self::Results {
                thread::scope(|scope| {
                    let roles = ($(division.spawn(scope, $index, self.$index.1),)*);
                    division.start();
                    ($(roles.$index.and_then(result_of),)*)
                })
            }
        }
    };
}
parts!(A R 0, B S 1);
parts!(A R 0, B S 1, C T 2);
parts!(A R 0, B S 1, C T 2, D U 3);

/// Runs the body of each role to its end and returns all results.
///
/// # Panics
///
/// With the first panic of a role; if no role can go on; outside of a kernel; inside a role.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[track_caller]
pub(crate) unsafe fn divide<P: Parts>(parts: P) -> P::Results {
    assert!(
        block::is_running(),
        "a block divided into roles outside a kernel: launch the kernel instead of calling it"
    );
    assert!(!is_role(), "a block divided into roles inside a role: roles don't nest");
    block::check_not_unwinding();
    let division = with_block(|block| {
        let mut scheduler = std::mem::replace(&mut block.scheduler, Scheduler::new());
        let members = parts.members();
        scheduler.divide(&members);
        Arc::new(Division {
            wakes: members.iter().map(|_| Condvar::new()).collect(),
            state: Mutex::new(State { scheduler, place: block.place(), left: Vec::new(), failure: None }),
        })
    });
    let results = parts.run(&division);
    let mut state = division.lock();
    let deadlock = state.scheduler.deadlock().map(str::to_owned);
    let failure = state.failure.take();
    with_block(|block| {
        block.scheduler = std::mem::replace(&mut state.scheduler, Scheduler::new());
        block.scheduler.join();
        state.left.drain(..).for_each(|role| block.model.absorb(role));
    });
    drop(state);
    if let Some(failure) = failure {
        panics::note_place(failure.place);
        resume_unwind(failure.payload);
    }
    if let Some(message) = deadlock {
        panic!("{message}");
    }
    results
}

/// Nothing: here no thread has registers of its own.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn share_registers(_from: u32, _to: u32) {}

/// Nothing, as [`share_registers`].
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn restore_registers(_from: u32, _to: u32, _threads: usize) {}

/// A block in roles.
pub(crate) struct Division {
    state: Mutex<State>,
    /// Wakes each role when it gets the baton.
    wakes: Vec<Condvar>,
}

struct State {
    scheduler: Scheduler,
    place: Place,
    /// What roles have left in flight at their ends.
    left: Vec<Model>,
    failure: Option<Failure>,
}

/// The first panic of a role.
struct Failure {
    payload: Box<dyn Any + Send>,
    place: Option<panics::Place>,
}

/// The payload with which a role unwinds when another role has failed.
struct Stopped;

/// The role that an OS thread runs.
struct Role {
    division: Arc<Division>,
    index: usize,
}

thread_local! {
    static ROLE: RefCell<Option<Role>> = const { RefCell::new(None) };
}

/// A body or its result on its way to or from a role's OS thread.
struct Passed<T>(T);

// SAFETY: a body and what it captures are used on one OS thread at a time: by the caller of
// `divide` before and after, which waits meanwhile, and by its role's. What several roles' bodies
// share is used by the one with the baton alone; the mutex that the baton is passed under, and the
// start and end of a thread, order these accesses. All that a type needs `Send` for beyond that is
// a binding to one OS thread (a thread-local, a lock's guard), and the caller of `divide` promises
// that there is none. A `Passed` is made in this file alone, of these bodies and results and of
// nothing else.
unsafe impl<T> Send for Passed<T> {}

impl<T> Passed<T> {
    fn take(self) -> T {
        self.0
    }
}

impl Division {
    /// The state, even after a check of the model has failed in another role: a check fails before
    /// it changes the state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the OS thread of role `index`, which waits for the baton.
    fn spawn<'scope, R: 'scope>(
        self: &Arc<Self>,
        scope: &'scope Scope<'scope, '_>,
        index: usize,
        body: impl FnOnce() -> R + 'scope,
    ) -> Option<ScopedJoinHandle<'scope, Option<Passed<R>>>> {
        let (division, body) = (self.clone(), Passed(body));
        let (place, random) = {
            let mut state = self.lock();
            (state.place, state.scheduler.random_of_role())
        };
        let role = move || {
            block::begin_role(place, random);
            run_role(division, index, body.take()).map(Passed)
        };
        match thread::Builder::new().spawn_scoped(scope, role) {
            Ok(thread) => Some(thread),
            Err(error) => {
                let mut state = self.lock();
                state.scheduler.remove(index);
                // If another failure came first, only the text of this one is lost.
                let _ = state.fail(Box::new(format!("the CPU has no thread for a role: {error}")), None);
                None
            }
        }
    }

    /// Gives the baton to the first role.
    fn start(&self) {
        let mut state = self.lock();
        state.scheduler.start();
        let first = state.scheduler.running();
        drop(state);
        self.wake(first);
    }

    /// Wakes the role that has got the baton, if there is one.
    fn wake(&self, running: Option<usize>) {
        if let Some(next) = running {
            self.wakes[next].notify_one();
        }
    }

    /// Waits until role `index` has the baton. Unwinds if all roles do.
    fn wait_for_baton(&self, mut state: MutexGuard<'_, State>, index: usize) {
        while state.scheduler.running() != Some(index) {
            state = self.wakes[index].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let stopped = state.scheduler.is_stopped();
        drop(state);
        if stopped {
            resume_unwind(Box::new(Stopped));
        }
    }
}

impl State {
    /// Has all roles unwind. The first call reports its panic; a later call gets its payload back.
    fn fail(&mut self, payload: Box<dyn Any + Send>, place: Option<panics::Place>) -> Option<Box<dyn Any + Send>> {
        if self.scheduler.is_stopped() {
            return Some(payload);
        }
        self.failure = Some(Failure { payload, place });
        self.scheduler.stop();
        None
    }
}

/// Runs a role on its OS thread, which is prepared for it, and returns the body's result, if it ran
/// to its end.
fn run_role<R>(division: Arc<Division>, index: usize, body: impl FnOnce() -> R) -> Option<R> {
    ROLE.set(Some(Role { division: division.clone(), index }));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // A body that never runs is dropped by a thread with the baton, too.
        let body = body;
        division.wait_for_baton(division.lock(), index);
        body()
    }));
    ROLE.set(None);
    let left = block::end_role();
    let result = match outcome {
        Ok(result) => Some(result),
        Err(payload) => {
            let second =
                if payload.is::<Stopped>() { None } else { division.lock().fail(payload, panics::take_place()) };
            // Outside the lock, because this may run a destructor of the kernel.
            if let Some(second) = second {
                panics::drop_payload(second);
            }
            None
        }
    };
    let mut state = division.lock();
    state.left.push(left);
    state.scheduler.end();
    let next = state.scheduler.running();
    drop(state);
    division.wake(next);
    result
}

/// The result of a role's OS thread, when that has ended.
fn result_of<R>(thread: ScopedJoinHandle<'_, Option<Passed<R>>>) -> Option<R> {
    thread.join().unwrap_or_else(|payload| resume_unwind(payload)).map(Passed::take)
}

/// Whether this OS thread runs a role.
pub(super) fn is_role() -> bool {
    ROLE.with_borrow(Option::is_some)
}

/// Does a synchronising operation of the running role, or of the block, and goes on when it has the
/// baton again. The operation gets the role's index.
///
/// # Panics
///
/// While the role or block unwinds: see [`block::check_not_unwinding`].
pub(super) fn synchronise<R>(operation: impl FnOnce(&mut Scheduler, usize) -> R) -> R {
    block::check_not_unwinding();
    ROLE.with_borrow(|role| match role {
        Some(Role { division, index }) => {
            let mut state = division.lock();
            let result = operation(&mut state.scheduler, *index);
            let next = state.scheduler.running();
            if next != Some(*index) {
                // The lock is released first: the role that wakes would find it taken and sleep
                // again.
                drop(state);
                division.wake(next);
                state = division.lock();
            }
            division.wait_for_baton(state, *index);
            result
        }
        None => with_block(|block| {
            let result = operation(&mut block.scheduler, 0);
            if let Some(message) = block.scheduler.deadlock() {
                panic!("{message}");
            }
            result
        }),
    })
}

/// The running role passes a scheduling point.
pub(super) fn step() {
    synchronise(|scheduler, _| scheduler.step());
}

/// The running role has waited for its own copies: those that arrive at mbarriers have landed, too.
pub(super) fn waited_for_copies() {
    synchronise(|scheduler, role| {
        scheduler.barriers.land_all_of(role);
        scheduler.step();
    });
}
