//! Which ends of its pipelines a role has.

use core::marker::PhantomData;

use super::channel::{Between, Channel};
use super::end::Consumer;
use super::end::Producer;
use super::map::sealed::Role as _;
use super::map::{Of, Role0, Role1, Role2, Role3};
use crate::barrier::EndState;
use crate::barrier::{ConsumerBarriers, ProducerBarriers};
use crate::barrier::{Handover, Memory};
use crate::engine::{Completion, CompletionOf};
use crate::isa::SharedOrigin;
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::memory::Shared;

/// A pipeline between two roles that has not begun: made by
/// [`Partition::pipeline`](super::Partition::pipeline).
///
/// # Invariants
///
/// 0. `offset` is where the channel's layout starts in the block's shared memory, which belongs to
///    this value alone.
pub struct Link<'s, K> {
    offset: usize,
    brand: Brand<'s>,
    level: BlockLevel,
    channel: PhantomData<K>,
}

impl<K> !Uniform for Link<'_, K> {}

impl<'s, K: Channel> Link<'s, K> {
    #[inline(always)]
    pub(super) fn new(shared: Shared<'s, K::Layout, K::Position>) -> Self {
        Link { offset: shared.offset(), brand: PhantomData, level: PhantomData, channel: PhantomData }
    }

    #[inline(always)]
    pub(super) fn memory(&self) -> Memory<K> {
        self.memory_from(None)
    }

    /// The same for a role that has the address of shared memory.
    #[inline(always)]
    fn memory_from(&self, origin: SharedOrigin) -> Memory<K> {
        // SAFETY: the memory belongs to this link (0), and a `Shared` of this layout is aligned
        // to 16.
        unsafe { Memory::new(self.offset, origin) }
    }
}

/// The pipelines of a partition: none, a [`Link`], or a tuple of links. Sealed.
pub trait Links: sealed::Sealed {
    /// What they give back when all roles have left.
    type Memory;

    /// Makes the barriers.
    ///
    /// # Safety
    ///
    /// Called by one thread of the block; the others use them after a barrier of the block.
    #[doc(hidden)]
    unsafe fn init(&self);

    /// Whether the copies of one of them complete by bytes.
    #[doc(hidden)]
    const BY_BYTES: bool;

    /// Whether tensor cores alone read the stages of all of them.
    #[doc(hidden)]
    const OF_PRODUCTS: bool;

    /// Ends the barriers.
    ///
    /// # Safety
    ///
    /// Called by one thread of the block, after a barrier of the block that follows the last use.
    #[doc(hidden)]
    unsafe fn inval(&self);

    /// Gives the memory back.
    ///
    /// # Safety
    ///
    /// Called after a barrier of the block that follows `inval`; all copies have landed, and no
    /// thread reads the stages.
    #[doc(hidden)]
    unsafe fn give_back(self) -> Self::Memory;
}

/// Which ends of its pipelines the role `I` has: one for each, in order, `()` where it takes no
/// part. Sealed.
pub trait Ends<I>: sealed::Sealed {
    /// The ends, for a run `'r` of the role's closure.
    type At<'r>;
    /// What each of the role's threads keeps of the ends.
    #[doc(hidden)]
    type State;
    /// Whether the ends are left by trying: several ones, which could wait for one another, or one
    /// whose warps go different ways.
    #[doc(hidden)]
    const TRIES: bool = Self::APART;
    /// Whether an end is one whose warps go different ways.
    #[doc(hidden)]
    const APART: bool = false;

    /// The state at the beginning.
    #[doc(hidden)]
    fn state() -> Self::State;

    /// The ends, for a role that has the address of shared memory.
    ///
    /// # Safety
    ///
    /// Called in role-level code of the role `I`, with the state that `state` returned, when no
    /// other ends are left that were made of it.
    #[doc(hidden)]
    unsafe fn ends<'r>(&self, state: &'r mut Self::State, origin: SharedOrigin) -> Self::At<'r>;

    /// Says of the state what is the same in the threads of a warp: all of it. Without that, as
    /// threads leave one by one, the assembler would take a stage's number for a value of each
    /// thread, in the role's loops too.
    ///
    /// # Safety
    ///
    /// As for `try_leave`.
    #[doc(hidden)]
    unsafe fn before_leave(&self, state: &mut Self::State);

    /// Whether the other ends of all ends have left, asked by the calling thread for its warp. All
    /// are asked before the first answer is needed: at a kernel's end they have mostly left.
    ///
    /// # Safety
    ///
    /// As for `try_leave`.
    #[doc(hidden)]
    unsafe fn others_have_left(&self, state: &Self::State) -> bool;

    /// Leaves each end that can be left without waiting; whether all have left.
    ///
    /// # Safety
    ///
    /// Called in role-level code of the role `I`, after its closure.
    #[doc(hidden)]
    unsafe fn try_leave(&self, state: &mut Self::State) -> bool;

    /// Leaves all ends, and waits until their arrivals have happened. Where `TRIES` says so it is
    /// called after `try_leave` has returned true.
    ///
    /// # Safety
    ///
    /// As for `try_leave`.
    #[doc(hidden)]
    unsafe fn leave(&self, state: &mut Self::State);

    /// Says of all ends that the role has left.
    ///
    /// # Safety
    ///
    /// Called in role-level code of the role `I`, once, after `leave`.
    #[doc(hidden)]
    unsafe fn say_left(&self, state: &Self::State);

    /// Waits for copies into stages that were never passed on.
    ///
    /// # Safety
    ///
    /// Called in role-level code of the role `I`, once, after `say_left`.
    #[doc(hidden)]
    unsafe fn land_kept(&self, state: &Self::State);
}

mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no pipeline of a partition: its traits are sealed",
        label = "not made by `.pipeline(..)`",
        note = "a partition's barriers count the threads of its own pipelines: add one with `.pipeline(shared)` or `.pipeline_between(..)`"
    )]
    pub trait Sealed {}
    impl Sealed for () {}
    impl<K> Sealed for super::Link<'_, K> {}
    impl<A, B> Sealed for (A, B) {}
    impl<A, B, C> Sealed for (A, B, C) {}
    impl<A, B, C, D> Sealed for (A, B, C, D) {}
}

/// No end.
macro_rules! no_end {
    () => {
        type At<'r> = ();
        type State = ();
        #[inline(always)]
        fn state() {}
        #[inline(always)]
        unsafe fn ends(&self, (): &mut (), _: SharedOrigin) {}
        #[inline(always)]
        unsafe fn before_leave(&self, (): &mut ()) {}
        #[inline(always)]
        unsafe fn others_have_left(&self, (): &()) -> bool {
            true
        }
        #[inline(always)]
        unsafe fn try_leave(&self, (): &mut ()) -> bool {
            true
        }
        #[inline(always)]
        unsafe fn leave(&self, (): &mut ()) {}
        #[inline(always)]
        unsafe fn say_left(&self, (): &()) {}
        #[inline(always)]
        unsafe fn land_kept(&self, (): &()) {}
    };
}

impl Links for () {
    type Memory = ();
    const BY_BYTES: bool = false;
    const OF_PRODUCTS: bool = false;
    #[inline(always)]
    unsafe fn init(&self) {}
    #[inline(always)]
    unsafe fn inval(&self) {}
    #[inline(always)]
    unsafe fn give_back(self) {}
}
impl<I> Ends<I> for () {
    no_end! {}
}

impl<'s, K: Channel> Links for Link<'s, K> {
    type Memory = Shared<'s, K::Layout, K::Position>;
    const BY_BYTES: bool = CompletionOf::<K::Engine>::BY_BYTES;
    const OF_PRODUCTS: bool = Memory::<K>::OF_PRODUCTS;

    #[inline(always)]
    unsafe fn init(&self) {
        // SAFETY: the caller's promise.
        unsafe { self.memory().init(K::From::MEMBERS) };
    }

    #[inline(always)]
    unsafe fn inval(&self) {
        // SAFETY: the caller's promise.
        unsafe { self.memory().inval() };
    }

    #[inline(always)]
    unsafe fn give_back(self) -> Shared<'s, K::Layout, K::Position> {
        // SAFETY: the memory that `new` took; the caller's promise for its copies and readers.
        unsafe { Shared::new(self.offset) }
    }
}

/// One end of a channel.
macro_rules! end {
    ($barriers:expr, $state:expr, $members:ident, $apart:expr, $end:ident, $channel:ty) => {
        type At<'r> = $end<'r, $channel>;
        type State = EndState;
        const APART: bool = $apart;

        #[inline(always)]
        fn state() -> EndState {
            $state
        }

        #[inline(always)]
        unsafe fn ends<'r>(&self, state: &'r mut EndState, origin: SharedOrigin) -> $end<'r, $channel> {
            // SAFETY: the caller's promise, for this link's channel.
            unsafe { $end::new(self.memory_from(origin), state) }
        }

        #[inline(always)]
        unsafe fn before_leave(&self, state: &mut EndState) {
            // SAFETY: the caller's promise: all threads of the role, whose steps are the same.
            state.say_the_same(|same| unsafe {
                Memory::<$channel>::same_in_warps(same, <$channel as Handover>::$members)
            });
        }

        #[inline(always)]
        unsafe fn others_have_left(&self, state: &EndState) -> bool {
            state.other_has_left(&$barriers(self.memory()))
        }

        #[inline(always)]
        unsafe fn try_leave(&self, state: &mut EndState) -> bool {
            state.try_leave(&$barriers(self.memory()))
        }

        #[inline(always)]
        unsafe fn leave(&self, state: &mut EndState) {
            state.leave(&$barriers(self.memory()));
        }

        #[inline(always)]
        unsafe fn say_left(&self, state: &EndState) {
            state.say_left(&$barriers(self.memory()));
        }

        #[inline(always)]
        unsafe fn land_kept(&self, state: &EndState) {
            state.land_kept(&$barriers(self.memory()));
        }
    };
}

/// The ends of a pipeline from one role to another, and of the two roles that take no part in it.
macro_rules! pairs {
    ($($from:ident => $to:ident, $other:ident $another:ident;)*) => {$(
        impl<'s, L, M, P> Ends<$from> for Link<'s, Between<L, Of<M, $from>, Of<M, $to>, P>>
        where
            Between<L, Of<M, $from>, Of<M, $to>, P>: Channel,
        {
            end! { ProducerBarriers::of_role, EndState::producer(), PRODUCERS, false, Producer, Between<L, Of<M, $from>, Of<M, $to>, P> }
        }
        impl<'s, L, M, P> Ends<$to> for Link<'s, Between<L, Of<M, $from>, Of<M, $to>, P>>
        where
            Between<L, Of<M, $from>, Of<M, $to>, P>: Channel,
        {
            end! {
                ConsumerBarriers, EndState::consumer(), CONSUMERS,
                <Between<L, Of<M, $from>, Of<M, $to>, P> as Handover>::APART, Consumer,
                Between<L, Of<M, $from>, Of<M, $to>, P>
            }
        }
        impl<'s, L, M, P> Ends<$other> for Link<'s, Between<L, Of<M, $from>, Of<M, $to>, P>> {
            no_end! {}
        }
        impl<'s, L, M, P> Ends<$another> for Link<'s, Between<L, Of<M, $from>, Of<M, $to>, P>> {
            no_end! {}
        }
        impl Another<$to> for $from {}
        impl sealed_another::Another<$to> for $from {}
    )*};
}

/// Says that two roles are not the same.
#[diagnostic::on_unimplemented(
    message = "a pipeline goes from one role to another, not from `{Self}` to `{To}`",
    label = "both ends would be in one closure",
    note = "a role that waits for itself would hang: for threads that both fill and read use `shared.pipeline(&block)`, which needs no mbarrier"
)]
pub trait Another<To>: sealed_another::Another<To> {}

mod sealed_another {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no role beside `{To}`: `Another` is sealed",
        label = "not `Role0`, `Role1`, `Role2` or `Role3`",
        note = "a pipeline between a role and itself would hang"
    )]
    pub trait Another<To> {}
}

pairs! {
    Role0 => Role1, Role2 Role3;
    Role0 => Role2, Role1 Role3;
    Role0 => Role3, Role1 Role2;
    Role1 => Role0, Role2 Role3;
    Role1 => Role2, Role0 Role3;
    Role1 => Role3, Role0 Role2;
    Role2 => Role0, Role1 Role3;
    Role2 => Role1, Role0 Role3;
    Role2 => Role3, Role0 Role1;
    Role3 => Role0, Role1 Role2;
    Role3 => Role1, Role0 Role2;
    Role3 => Role2, Role0 Role1;
}

macro_rules! tuples {
    ($($link:ident $number:tt),*) => {
        impl<$($link: Links),*> Links for ($($link,)*) {
            type Memory = ($($link::Memory,)*);
            const BY_BYTES: bool = false $(|| $link::BY_BYTES)*;
            const OF_PRODUCTS: bool = true $(&& $link::OF_PRODUCTS)*;

            #[inline(always)]
            unsafe fn init(&self) {
                $(
                    // SAFETY: the caller's promise.
                    unsafe { self.$number.init() };
                )*
            }

            #[inline(always)]
            unsafe fn inval(&self) {
                $(
                    // SAFETY: the caller's promise.
                    unsafe { self.$number.inval() };
                )*
            }

            #[inline(always)]
            unsafe fn give_back(self) -> Self::Memory {
                ($(
                    // SAFETY: the caller's promise.
                    unsafe { self.$number.give_back() },
                )*)
            }
        }
        impl<I, $($link: Ends<I>),*> Ends<I> for ($($link,)*) {
            type At<'r> = ($($link::At<'r>,)*);
            type State = ($($link::State,)*);
            const TRIES: bool = true;
            const APART: bool = false $(|| $link::APART)*;

            #[inline(always)]
            fn state() -> Self::State {
                ($($link::state(),)*)
            }

            #[inline(always)]
            unsafe fn ends<'r>(&self, state: &'r mut Self::State, origin: SharedOrigin) -> Self::At<'r> {
                ($(
                    // SAFETY: the caller's promise.
                    unsafe { self.$number.ends(&mut state.$number, origin) },
                )*)
            }

            #[inline(always)]
            unsafe fn before_leave(&self, state: &mut Self::State) {
                $(
                    // SAFETY: the caller's promise.
                    unsafe { self.$number.before_leave(&mut state.$number) };
                )*
            }

            #[inline(always)]
            unsafe fn others_have_left(&self, state: &Self::State) -> bool {
                true $(&
                    // SAFETY: the caller's promise.
                    unsafe { self.$number.others_have_left(&state.$number) }
                )*
            }

            #[inline(always)]
            unsafe fn try_leave(&self, state: &mut Self::State) -> bool {
                // Every end is tried, whether the one before has left or not.
                true $(&
                    // SAFETY: the caller's promise.
                    unsafe { self.$number.try_leave(&mut state.$number) }
                )*
            }

            #[inline(always)]
            unsafe fn leave(&self, state: &mut Self::State) {
                $(
                    // SAFETY: the caller's promise.
                    unsafe { self.$number.leave(&mut state.$number) };
                )*
            }

            #[inline(always)]
            unsafe fn say_left(&self, state: &Self::State) {
                $(
                    // SAFETY: the caller's promise.
                    unsafe { self.$number.say_left(&state.$number) };
                )*
            }

            #[inline(always)]
            unsafe fn land_kept(&self, state: &Self::State) {
                $(
                    // SAFETY: the caller's promise.
                    unsafe { self.$number.land_kept(&state.$number) };
                )*
            }
        }
    };
}
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);

/// Adds a link to the existing links: none, one, two or three. Sealed.
pub trait Append<K>: sealed_append::Append<K> {}

pub(super) mod sealed_append {
    pub trait Append<K> {
        type Links;
        fn append(self, link: K) -> Self::Links;
    }
}

macro_rules! append {
    ($([$($generic:tt)*] $before:ty, $links:pat => $after:ty, $all:expr, $link:ident;)*) => {$(
        impl<$($generic)* Z> Append<Z> for $before {}
        impl<$($generic)* Z> sealed_append::Append<Z> for $before {
            type Links = $after;
            #[inline(always)]
            fn append(self, $link: Z) -> $after {
                let $links = self;
                $all
            }
        }
    )*};
}
append! {
    [] (), () => Z, last, last;
    ['s, K,] Link<'s, K>, first => (Link<'s, K>, Z), (first, last), last;
    [A, B,] (A, B), (a, b) => (A, B, Z), (a, b, last), last;
    [A, B, C,] (A, B, C), (a, b, c) => (A, B, C, Z), (a, b, c, last), last;
}
