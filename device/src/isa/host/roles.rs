//! The roles of a block: each has an OS thread, and one of them runs at a time. A role whose
//! warpgroups run apart has one for each of these, as if they were roles.
//!
//! The baton is under the mutex of a [`Division`]. A synchronising operation locks it, changes the
//! [`Scheduler`]'s state, and waits there until its role has the baton again.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};

use super::block::{self, Place, with_block};
use super::model::Model;
use super::panics;
use super::scheduler::Scheduler;
use crate::isa::product::WARPGROUP;
use crate::isa::{Members, Part};

/// What a block does in roles: a [`Part`] for each, in tuples of two to four.
pub(crate) trait Parts {
    /// The bodies' results: on the GPU a thread has only that of its own role, here all are
    /// available.
    type Results;

    /// Has `run` run the bodies, and returns their results.
    fn run(self, run: impl FnOnce(&[Erased<'_>])) -> Self::Results;
}

/// What a role runs, or each of its warpgroups that runs apart, of whatever type it is: so the
/// machinery of threads is compiled once, and not for each role of each kernel. With `true` it
/// runs. With `false` it is dropped, if it has not.
pub(crate) struct Erased<'a> {
    members: Members,
    apart: bool,
    body: &'a dyn Fn(bool),
}

macro_rules! parts {
    ($($body:ident $result:ident $index:tt),*) => {
        impl<$($body: FnOnce() -> $result, $result),*> Parts for ($(Part<$body>,)*) {
            type Results = ($(Option<$result>,)*);

            fn run(self, run: impl FnOnce(&[Erased<'_>])) -> Self::Results {
                let results = ($(Cell::new(None::<$result>),)*);
                let roles = ($((self.$index.members, self.$index.apart, Cell::new(Some(self.$index.body))),)*);
                run(&[$(Erased {
                    members: roles.$index.0,
                    apart: roles.$index.1,
                    body: &|runs| {
                        let (_, apart, body) = &roles.$index;
                        let body = if *apart {
                            // SAFETY: nobody takes it, and the caller of `divide` promises that it
                            // may run from several copies.
                            unsafe { body.as_ptr().read() }
                        } else {
                            body.take()
                        };
                        if let Some(body) = body.filter(|_| runs) {
                            results.$index.set(Some(body()));
                        }
                    },
                }),*]);
                ($(results.$index.into_inner(),)*)
            }
        }
    };
}
parts!(A R 0, B S 1);
parts!(A R 0, B S 1, C T 2);
parts!(A R 0, B S 1, C T 2, D U 3);

/// What runs for itself: a role, or the warpgroup of one.
struct Single<'a> {
    members: Members,
    /// Of a warpgroup the ranks of its threads in the role.
    own: Option<Range<usize>>,
    body: &'a dyn Fn(bool),
}

impl<'a> Erased<'a> {
    fn singles(&self) -> impl Iterator<Item = Single<'a>> {
        let Erased { members, apart, body } = *self;
        let of_one = if apart { WARPGROUP } else { members.count };
        (0..if apart { members.count / WARPGROUP } else { 1 }).map(move |nth| Single {
            members: Members { first: members.first + nth * of_one, count: of_one, ..members },
            own: apart.then(|| nth * of_one..(nth + 1) * of_one),
            body,
        })
    }
}

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
    parts.run(run_roles)
}

/// Runs each role on an OS thread of its own.
#[track_caller]
fn run_roles(roles: &[Erased<'_>]) {
    assert!(
        block::is_running(),
        "a block divided into roles outside a kernel: launch the kernel instead of calling it"
    );
    assert!(!is_role(), "a block divided into roles inside a role: roles don't nest");
    block::check_not_unwinding();
    let singles: Vec<Single<'_>> = roles.iter().flat_map(Erased::singles).collect();
    let division = with_block(|block| {
        let mut scheduler = std::mem::replace(&mut block.scheduler, Scheduler::new());
        let members: Vec<Members> = singles.iter().map(|single| single.members).collect();
        scheduler.divide(&members);
        Arc::new(Division {
            wakes: members.iter().map(|_| Condvar::new()).collect(),
            state: Mutex::new(State { scheduler, place: block.place(), left: Vec::new(), failure: None }),
        })
    });
    thread::scope(|scope| {
        let threads: Vec<_> =
            singles.into_iter().enumerate().map(|(index, single)| division.spawn(scope, index, single)).collect();
        division.start();
        // The end of a scope alone doesn't wait for the destructors of thread-locals.
        for thread in threads.into_iter().flatten() {
            thread.join().unwrap_or_else(|payload| resume_unwind(payload));
        }
    });
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

/// The role that an OS thread runs, or the warpgroup of one.
struct Role {
    division: Arc<Division>,
    index: usize,
    /// Of a warpgroup the ranks of its threads in the role.
    own: Option<Range<usize>>,
}

thread_local! {
    static ROLE: RefCell<Option<Role>> = const { RefCell::new(None) };
}

/// A body on its way to a role's OS thread.
struct Passed<T>(T);

// SAFETY: a body and what it captures are used on one OS thread at a time: by the caller of
// `divide` before and after, which waits meanwhile, and by its role's. What several roles' bodies
// share is used by the one with the baton alone; the mutex that the baton is passed under, and the
// start and end of a thread, order these accesses. All that a type needs `Send` for beyond that is
// a binding to one OS thread (a thread-local, a lock's guard), and the caller of `divide` promises
// that there is none. A `Passed` is made in this file alone, of these bodies and of nothing else.
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
    fn spawn<'scope>(
        self: &Arc<Self>,
        scope: &'scope Scope<'scope, '_>,
        index: usize,
        single: Single<'scope>,
    ) -> Option<ScopedJoinHandle<'scope, ()>> {
        let Single { own, body, .. } = single;
        let (division, body) = (self.clone(), Passed(body));
        let (place, random) = {
            let mut state = self.lock();
            (state.place, state.scheduler.random_of_role())
        };
        let role = move || {
            block::begin_role(place, random);
            run_role(Role { division, index, own }, body.take());
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

/// Runs a role on its OS thread, which is prepared for it.
fn run_role(role: Role, body: &dyn Fn(bool)) {
    let (division, index) = (role.division.clone(), role.index);
    ROLE.set(Some(role));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // A body that never runs is dropped by a thread with the baton, too.
        let dropped = DropUnrun(body);
        division.wait_for_baton(division.lock(), index);
        body(true);
        drop(dropped);
    }));
    ROLE.set(None);
    let left = block::end_role();
    if let Err(payload) = outcome {
        let second = if payload.is::<Stopped>() { None } else { division.lock().fail(payload, panics::take_place()) };
        // Outside the lock, because this may run a destructor of the kernel.
        if let Some(second) = second {
            panics::drop_payload(second);
        }
    }
    let mut state = division.lock();
    state.left.push(left);
    state.scheduler.end();
    let next = state.scheduler.running();
    drop(state);
    division.wake(next);
}

/// Drops a body, if it has not run.
struct DropUnrun<'a>(&'a dyn Fn(bool));

impl Drop for DropUnrun<'_> {
    fn drop(&mut self) {
        (self.0)(false);
    }
}

/// Whether this OS thread runs a role.
pub(super) fn is_role() -> bool {
    ROLE.with_borrow(Option::is_some)
}

/// The ranks of those of a role's threads that this OS thread runs: all of them, or those of a
/// warpgroup that runs apart.
pub(super) fn own(members: Members) -> Range<usize> {
    let own = ROLE.with_borrow(|role| role.as_ref().and_then(|role| role.own.clone()));
    own.unwrap_or(0..members.count)
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
        Some(Role { division, index, .. }) => {
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
