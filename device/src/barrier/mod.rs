//! Barriers in shared memory (mbarriers), by which one group of threads hands stages to another and
//! gets them back: what they count, where they lie, and the protocol of both ends; and those of a
//! unified pipeline at which copies complete by bytes.

mod ends;
mod landings;
mod lent;
mod memory;
mod protocol;

use crate::isa::Members;
use crate::stage::StageSet;

pub(crate) use ends::{ConsumerBarriers, ProducerBarriers};
pub(crate) use landings::Landings;
pub(crate) use lent::Lent;
pub(crate) use memory::{Memory, control_bytes};
pub(crate) use protocol::EndBarriers;
pub use protocol::EndState;

/// Stages that one group of threads fills and another one reads. Nobody outside this crate can name
/// it, so nobody else can implement it.
pub trait Handover: StageSet {
    /// The threads that fill them.
    const PRODUCERS: Members;
    /// The threads that read them.
    const CONSUMERS: Members;
    /// Whether the consumers' warpgroups are where they are each for itself.
    const APART: bool;
}

/// The other end of the pipeline has left: nothing more comes, or nobody would read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;
