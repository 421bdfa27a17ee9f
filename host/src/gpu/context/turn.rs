//! Whose turn it is to put work into streams of a context, and what is used in turns alone.

use std::cell::{RefCell, RefMut};
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Arc, MutexGuard, PoisonError};

use super::Context;
use crate::gpu::loaded::Recent;

/// The right to put work into streams of a context, and to record it at its buffers.
///
/// It stays in the thread that took it.
#[must_use = "others put work into streams meanwhile unless the turn is kept"]
pub(in crate::gpu) struct Turn<'a> {
    context: &'a Context,
    /// The context has one, so that there is one turn at a time.
    recent: MutexGuard<'a, Recent>,
    /// Neither `Send` nor `Sync`.
    thread: PhantomData<*const ()>,
}

impl Context {
    /// Waits until nobody else puts work into a stream of the context.
    pub(in crate::gpu) fn turn(&self) -> Turn<'_> {
        let recent = self.submission.lock().unwrap_or_else(PoisonError::into_inner);
        Turn { context: self, recent, thread: PhantomData }
    }
}

impl Turn<'_> {
    /// The kernels that were launched last.
    pub(in crate::gpu) fn recent(&self) -> &Recent {
        &self.recent
    }

    pub(in crate::gpu) fn recent_mut(&mut self) -> &mut Recent {
        &mut self.recent
    }
}

/// What is used in turns of one context alone, and so needs no lock of its own: a launch would take
/// and give back one for each buffer several times.
pub(in crate::gpu) struct InTurn<T> {
    context: Arc<Context>,
    value: RefCell<T>,
}

// SAFETY: `borrow` alone reaches the value through a shared reference. It has a turn of the value's
// context, which it borrows for as long as what it returns is there. The context has one turn at a
// time, by its mutex (`Turn::recent`), and threads share none (`Turn` is not `Sync`): no two of
// them are there at once, and what one did is seen by the next.
unsafe impl<T: Send> Sync for InTurn<T> {}

impl<T> InTurn<T> {
    /// Keeps a value for turns of the context.
    pub(in crate::gpu) fn new(context: &Arc<Context>, value: T) -> Self {
        InTurn { context: Arc::clone(context), value: RefCell::new(value) }
    }

    /// The value, for somebody whose turn it is.
    ///
    /// # Panics
    ///
    /// If it is a turn of another context, or the value is borrowed: errors of this crate.
    pub(in crate::gpu) fn borrow<'t>(&'t self, turn: &'t Turn<'_>) -> RefMut<'t, T> {
        assert!(ptr::eq(turn.context, &*self.context), "a turn of another context");
        self.value.borrow_mut()
    }

    /// The value, for whoever has nobody beside them.
    pub(in crate::gpu) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::gpu::driver::Driver;

    fn context() -> Arc<Context> {
        Arc::new(Context::open_with(&Driver::FAKE, 0).unwrap())
    }

    #[test]
    fn turns_of_several_threads_come_one_after_the_other() {
        const ROUNDS: usize = 1000;
        let context = context();
        let counted = InTurn::new(&context, 0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..ROUNDS).for_each(|_| *counted.borrow(&context.turn()) += 1));
            }
        });
        assert_eq!(*counted.borrow(&context.turn()), 4 * ROUNDS);
    }

    #[test]
    #[should_panic(expected = "a turn of another context")]
    fn a_turn_of_another_context_is_none() {
        let [context, other] = [context(), context()];
        *InTurn::new(&context, 0).borrow(&other.turn()) += 1;
    }

    #[test]
    #[should_panic(expected = "already")]
    fn what_is_used_is_not_lent_again_in_the_same_turn() {
        let context = context();
        let value = InTurn::new(&context, 0);
        let turn = context.turn();
        let (one, two) = (value.borrow(&turn), value.borrow(&turn));
        drop((one, two));
    }
}
