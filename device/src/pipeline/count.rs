//! The counts in a pipeline's type, and the arithmetic on them.
//!
//! Each step states what it needs of the counts as a bound on the method, so that a missing one is reported in words.

use crate::engine::Pending;

/// `N` stages hold nothing of interest: they can be acquired.
pub enum Free<const N: usize> {}
/// `N` stages were committed and not yet waited for.
pub enum InFlight<const N: usize> {}
/// `N` stages (0 or 1) were waited for and are held by a [`Ready`](super::Ready) tile.
pub enum Held<const N: usize> {}
/// `N` stages were released, but a slower thread may still be reading them: not free before the next barrier.
pub enum Dirty<const N: usize> {}

/// A count with one more.
pub trait Increment {
    /// The count plus one.
    type More;
}

/// A count of at least one, and what is left when one is taken.
#[diagnostic::on_unimplemented(
    message = "this step needs a stage that the pipeline does not have: it has `{Self}`",
    label = "the pipeline is in the wrong state for this step",
    note = "`wait` needs a stage in flight: `acquire`, `copy` and `commit` one first",
    note = "`release` needs a held tile: `wait` for one first; `weaken` needs a free stage"
)]
pub trait Decrement {
    /// The count minus one.
    type Less;
    /// The count minus one, as a number.
    const LESS: usize;
}

/// Where `acquire` takes its stage from: a free stage, or a dirty one behind a barrier.
///
/// Implemented for a pair of `Free` and `Dirty` counts that are not both 0.
#[diagnostic::on_unimplemented(
    message = "no stage is left to acquire: every stage of this pipeline is in flight or held",
    label = "the pipeline has `{Self}`",
    note = "`wait()` for the oldest stage and `release` its tile first, or give the pipeline more stages"
)]
pub trait AcquireFrom {
    /// The stages that are free afterwards.
    type Free;
    /// The stages that are dirty afterwards.
    type Dirty;
    /// Whether a barrier is needed to free a dirty stage.
    const BARRIER: bool;
}

/// What a barrier makes of dirty stages: free ones.
pub trait Launder {
    /// All free and formerly dirty stages.
    type Free;
}

/// Says that no tile is held.
#[diagnostic::on_unimplemented(
    message = "a tile of this pipeline is still held",
    label = "`release` the tile before this step",
    note = "a stage that is read can't be waited for again or given back: call `pipe.release(tile)` first"
)]
pub trait NothingHeld {}

impl NothingHeld for Held<0> {}

/// The groups that may stay in flight when the oldest of `InFlight<N>` is waited for.
impl<const N: usize> Pending for InFlight<N> {
    const GROUPS: usize = N.saturating_sub(1);
}

macro_rules! neighbours {
    ($count:ident: $($n:literal)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Increment for $count<$n> {
            type More = $count<{ $n + 1 }>;
        }
        #[diagnostic::do_not_recommend]
        impl Decrement for $count<{ $n + 1 }> {
            type Less = $count<$n>;
            const LESS: usize = $n;
        }
    )*};
}
neighbours!(Free: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
neighbours!(InFlight: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
neighbours!(Held: 0);
neighbours!(Dirty: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);

macro_rules! pairs {
    ($free:tt: $($dirty:tt)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Launder for (Free<$free>, Dirty<$dirty>) {
            type Free = Free<{ $free + $dirty }>;
        }
        pairs!(@acquire $free $dirty);
    )*};
    (@acquire 0 0) => {};
    (@acquire 0 $dirty:tt) => {
        #[diagnostic::do_not_recommend]
        impl AcquireFrom for (Free<0>, Dirty<$dirty>) {
            type Free = Free<{ $dirty - 1 }>;
            type Dirty = Dirty<0>;
            const BARRIER: bool = true;
        }
    };
    (@acquire $free:tt $dirty:tt) => {
        #[diagnostic::do_not_recommend]
        impl AcquireFrom for (Free<$free>, Dirty<$dirty>) {
            type Free = Free<{ $free - 1 }>;
            type Dirty = Dirty<$dirty>;
            const BARRIER: bool = false;
        }
    };
}
macro_rules! all_pairs {
    ($($free:tt)*) => {$( pairs!($free: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16); )*};
}
all_pairs!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
