//! The two ends of a pipeline between roles.

mod consumer;
mod holding;
mod producer;

pub use consumer::{Consumer, Ready};
pub use holding::{HeldTile, Holding, NoMore, ReleaseOne, StagesHeld};
pub use producer::{Acquired, Filled, Producer};

/// Why a timed step, or one that does not wait, has no stage.
#[derive(Debug, PartialEq, Eq)]
pub enum Unready<End> {
    /// No stage came in time. The end is unchanged.
    TimedOut(End),
    /// The other end of the pipeline has left. This end is of no use any more.
    Closed(Spent<End>),
}

impl<End> Unready<End> {
    /// Returns the end if it is still of use: after a time-out.
    #[inline(always)]
    pub fn end(self) -> Option<End> {
        match self {
            Unready::TimedOut(end) => Some(end),
            Unready::Closed(_) => None,
        }
    }
}

/// An end whose other end has left: nothing can be done with it.
#[derive(Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Spent<End> {
    // Kept so that all outcomes of a step have the end in the same place (`Lent`).
    end: End,
}
