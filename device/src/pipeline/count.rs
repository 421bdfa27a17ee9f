//! The counts in a pipeline's type, and the arithmetic on them.
//!
//! Each step states what it needs of the counts as a bound on the method, so that a missing one is
//! reported in words.

use super::view::{AtScope, Published};
use crate::isa::PendingGroups;
use crate::scope::{BlockScope, ThreadScope, WarpScope};

/// `N` stages hold nothing of interest: they can be acquired.
pub enum Free<const N: usize> {}
/// `N` stages were committed and not yet waited for.
pub enum InFlight<const N: usize> {}
/// `N` stages (0 or 1) were waited for and are held by a [`Ready`](super::Ready) tile.
pub enum Held<const N: usize> {}
/// `N` stages were released, but a slower thread may still be reading them: not free before the
/// next barrier.
pub enum Dirty<const N: usize> {}

/// Says that a stage is in flight.
#[diagnostic::on_unimplemented(
    message = "nothing is in flight to wait for: every committed stage of this pipeline was waited for already",
    label = "the pipeline has `{Self}`",
    note = "`acquire`, `copy` and `commit` a stage before each `wait`; in a queue `copy` before each `wait_prior`"
)]
pub trait SomeInFlight {}

/// Says that no tile is held.
#[diagnostic::on_unimplemented(
    message = "a tile of this pipeline is still held",
    label = "`release` the tile before this step",
    note = "a stage that is read can't be waited for again or given back: call `pipe.release(tile)` first"
)]
pub trait NothingHeld {}

/// Says that a tile is held.
#[diagnostic::on_unimplemented(
    message = "this pipeline holds no tile: none was waited for, or it was released already",
    label = "the pipeline has `{Self}`",
    note = "`release` takes the tile that the pipeline's own last `wait` returned, once; `publish` takes it before that"
)]
pub trait TileHeld {}

/// Says that a stage can be acquired: at least one of a pair of counts is not 0.
#[diagnostic::on_unimplemented(
    message = "no stage is left to acquire: every stage of this pipeline is in flight or held",
    label = "the pipeline has `{Self}`",
    note = "`wait()` for the oldest stage and `release` its tile first, or give the pipeline more stages"
)]
pub trait StageLeft {}

/// Says that a stage is free.
#[diagnostic::on_unimplemented(
    message = "no stage is free",
    label = "the pipeline has `{Self}`",
    note = "`weaken` counts a free stage as dirty; a stage becomes free by the barrier in `wait`"
)]
pub trait SomeFree {}

/// Says that a stage was acquired, to be filled. No pipeline between two steps has this.
#[diagnostic::on_unimplemented(
    message = "no stage of this pipeline was acquired to copy into",
    label = "call `acquire()` first",
    note = "a stage is filled between `acquire` and `commit`: `pipe.acquire().copy(tile).commit()`"
)]
pub trait StageAcquired {}

/// Says that a stage was filled, to be committed.
#[diagnostic::on_unimplemented(
    message = "no filled stage to commit",
    label = "call `acquire()` and `copy(tile)` first",
    note = "`commit` closes a stage that was filled, once: `pipe.acquire().copy(tile).commit()`"
)]
pub trait StageIsFilled {}

/// Counts up. The operation is total, so that a step's type is known even where the step is not
/// allowed.
pub trait Increment {
    /// The count plus one.
    type More;
}

/// Counts down, and stays at 0. The operation is total as well; the predicates above say that there
/// is something to take.
pub trait Decrement {
    /// The count minus one.
    type Less;
}

/// Takes a stage to acquire: a free one, or a dirty one after a barrier.
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
    /// Whether any stage is dirty.
    const DIRTY: bool;
}

/// What a scope's `wait` makes of free and dirty stages: its barrier, if it has one, frees the
/// dirty ones.
pub trait Waits<F, D> {
    /// The stages that are free afterwards.
    type Free;
    /// The stages that are dirty afterwards.
    type Dirty;
    /// Whether the scope's barrier frees any stage: where copies complete by bytes a wait has a
    /// barrier only then.
    const FREES: bool;
}

impl<F, D> Waits<F, D> for BlockScope
where
    (F, D): Launder,
{
    type Free = <(F, D) as Launder>::Free;
    type Dirty = Dirty<0>;
    const FREES: bool = <(F, D) as Launder>::DIRTY;
}

impl<F, D> Waits<F, D> for WarpScope
where
    (F, D): Launder,
{
    type Free = <(F, D) as Launder>::Free;
    type Dirty = Dirty<0>;
    const FREES: bool = <(F, D) as Launder>::DIRTY;
}

impl<F, D> Waits<F, D> for ThreadScope {
    type Free = F;
    type Dirty = D;
    const FREES: bool = false;
}

/// What a scope's `release` makes of the stage of a tile that was viewed as `V`.
pub trait Releases<V, F, D> {
    /// The stages that are free afterwards.
    type Free;
    /// The stages that are dirty afterwards.
    type Dirty;
}

impl<F, D: Increment> Releases<AtScope, F, D> for BlockScope {
    type Free = F;
    type Dirty = D::More;
}

impl<F, D: Increment> Releases<AtScope, F, D> for WarpScope {
    type Free = F;
    type Dirty = D::More;
}

/// A published tile was read by the whole block.
impl<F, D: Increment> Releases<Published, F, D> for ThreadScope {
    type Free = F;
    type Dirty = D::More;
}

/// Nobody else reads a thread's own elements, so their stage is free at once. But stages are
/// acquired in the order of the ring: after an older dirty stage this one must be dirty too, or
/// `acquire` would treat the older one as free.
impl<F: Increment> Releases<AtScope, F, Dirty<0>> for ThreadScope {
    type Free = F::More;
    type Dirty = Dirty<0>;
}

impl NothingHeld for Held<0> {}
impl TileHeld for Held<1> {}

/// The groups that may stay in flight when the oldest of `InFlight<N>` is waited for.
impl<const N: usize> PendingGroups for InFlight<N> {
    const GROUPS: usize = N.saturating_sub(1);
}

/// The highest counts of the steps by hand; `for_each` has no such limit.
macro_rules! for_all_counts {
    ($with:ident) => {
        $with!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    };
}

macro_rules! neighbours {
    ($($n:literal)*) => {
        neighbours!(@of Free: $($n)*);
        neighbours!(@of InFlight: $($n)*);
        neighbours!(@of Held: $($n)*);
        neighbours!(@of Dirty: $($n)*);
        $(
            #[diagnostic::do_not_recommend]
            impl SomeInFlight for InFlight<{ $n + 1 }> {}
            #[diagnostic::do_not_recommend]
            impl SomeFree for Free<{ $n + 1 }> {}
        )*
    };
    (@of $count:ident: $($n:literal)*) => {
        $(
            impl Increment for $count<$n> {
                type More = $count<{ $n + 1 }>;
            }
            impl Decrement for $count<{ $n + 1 }> {
                type Less = $count<$n>;
            }
        )*
        impl Decrement for $count<0> {
            type Less = $count<0>;
        }
    };
}
for_all_counts!(neighbours);

/// A thread's own tile, released after `$n` dirty stages.
macro_rules! behind_dirty {
    (0 $($n:literal)*) => {$(
        impl<F> Releases<AtScope, F, Dirty<$n>> for ThreadScope {
            type Free = F;
            type Dirty = Dirty<{ $n + 1 }>;
        }
    )*};
}
for_all_counts!(behind_dirty);

macro_rules! pairs {
    ($($free:tt)*) => {$( for_each_dirty!($free: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16); )*
        for_each_dirty!(16: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    };
}

macro_rules! for_each_dirty {
    ($free:tt: $($dirty:tt)*) => {$(
        impl Launder for (Free<$free>, Dirty<$dirty>) {
            type Free = Free<{ $free + $dirty }>;
            const DIRTY: bool = $dirty > 0;
        }
        impl AcquireFrom for (Free<$free>, Dirty<$dirty>) {
            acquire_from!($free $dirty);
        }
        stage_left!($free $dirty);
    )*};
}

macro_rules! acquire_from {
    (0 0) => {
        type Free = Free<0>;
        type Dirty = Dirty<0>;
        const BARRIER: bool = false;
    };
    (0 $dirty:tt) => {
        type Free = Free<{ $dirty - 1 }>;
        type Dirty = Dirty<0>;
        const BARRIER: bool = true;
    };
    ($free:tt $dirty:tt) => {
        type Free = Free<{ $free - 1 }>;
        type Dirty = Dirty<$dirty>;
        const BARRIER: bool = false;
    };
}

macro_rules! stage_left {
    (0 0) => {};
    ($free:tt $dirty:tt) => {
        #[diagnostic::do_not_recommend]
        impl StageLeft for (Free<$free>, Dirty<$dirty>) {}
    };
}
for_all_counts!(pairs);
