//! Unified pipelines: every thread of the scope both produces and consumes.
//!
//! A [`Pipeline`]'s type counts its stages: [`Free`], [`InFlight`] (committed), [`Held`] (waited for, being read) and
//! [`Dirty`] (released, but other threads may still be reading). Each step takes the pipeline and returns it in its next
//! state, so that a step out of order is a type error, and a loop compiles only if its body returns the state it began
//! with. Which barriers are needed follows from the state: none is written, none is forgotten, none is one too many.
//!
//! ```text
//!  acquire      Free -> Acquired                    nothing; if only Dirty stages are left: one barrier, Dirty -> Free
//!  copy         Acquired -> Filled                  cp.async
//!  commit       Filled -> InFlight                  cp.async.commit_group
//!  wait         InFlight -> Held, all Dirty -> Free cp.async.wait_group, one barrier
//!  release      Held -> Dirty                       nothing
//!  weaken       Free -> Dirty                       nothing
//! ```
//!
//! A loop's body must return the pipeline in the state in which it took it, so "mismatched types: expected `Free<2>`, found
//! `Free<1>`" in a loop says that a round acquires a stage that it does not give back (or the reverse). [`weaken`](Pipeline::weaken)
//! counts a free stage as dirty, for a loop whose rounds end with a `release`.

#![expect(clippy::type_complexity, reason = "the state is the type")]

mod count;
mod for_each;
mod ring;
mod stage;
mod steps;

pub use count::{AcquireFrom, Decrement, Dirty, Free, Held, InFlight, Increment, Launder};
pub use count::{NothingHeld, SomeFree, SomeInFlight, StageAcquired, StageIsFilled, StageLeft, TileHeld};
pub use stage::{Ready, Stage, StageFilled};
pub use steps::{Acquired, Filled, Idle, Pipeline, Setup, Unified};
