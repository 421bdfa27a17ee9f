//! What the scenes need of a model checker.

use std::sync::atomic::Ordering;

/// A model checker.
pub(super) trait Checker: Sized + 'static {
    /// Something that threads use in turn.
    type Turns: Send + Sync;
    /// A thread that waits.
    type Waiter: Send;

    /// Makes something that threads use in turn.
    fn turns() -> Self::Turns;

    /// Begins the calling thread's next step. The checker tries every order of the steps with these
    /// turns that are `ordered`. No other thread runs before the thread's next call of a function
    /// of the checker.
    fn step(turns: &Self::Turns, ordered: bool);

    /// The calling thread, which is about to wait.
    fn waiter() -> Self::Waiter;

    /// Waits for a wake-up, or less.
    fn park();

    /// Wakes a thread.
    fn wake(waiter: &Self::Waiter);

    /// Starts a thread; what it returns waits for its end.
    fn spawn(body: impl FnOnce() + Send + 'static) -> impl FnOnce();

    /// Lets the other threads run before this one goes on polling.
    fn yield_now();
}

macro_rules! checker {
    ($(#[$documentation:meta])* $name:ident, $tool:ident) => {
        $(#[$documentation])*
        pub(super) struct $name;

        impl Checker for $name {
            type Turns = $tool::sync::atomic::AtomicUsize;
            type Waiter = $tool::thread::Thread;

            fn turns() -> Self::Turns {
                $tool::sync::atomic::AtomicUsize::new(0)
            }

            fn step(turns: &Self::Turns, ordered: bool) {
                // Loads commute for a checker.
                match ordered {
                    true => turns.fetch_add(1, Ordering::SeqCst),
                    false => turns.load(Ordering::SeqCst),
                };
            }

            fn waiter() -> Self::Waiter {
                $tool::thread::current()
            }

            fn park() {
                $tool::thread::park();
            }

            fn wake(waiter: &Self::Waiter) {
                waiter.unpark();
            }

            fn spawn(body: impl FnOnce() + Send + 'static) -> impl FnOnce() {
                let thread = $tool::thread::spawn(body);
                || thread.join().expect("the thread ends")
            }

            fn yield_now() {
                $tool::thread::yield_now();
            }
        }
    };
}

checker! {
    /// loom: all orders of steps that differ.
    Loom, loom
}
checker! {
    /// shuttle: random orders of steps.
    Shuttle, shuttle
}
