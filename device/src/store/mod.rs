//! Stores by the copy engine: rings of output stages in shared memory.
//!
//! Threads fill a stage, one of them has the engine store it, and the next stage is filled while
//! the engine reads. [`Outputs`] is the memory, [`OutputRing`] what a kernel makes of it, and
//! [`Draft`] one tile on its way.
//!
//! | step | PTX |
//! |---|---|
//! | each thread fills its share | `st.shared.v4` |
//! | and orders it before the engine's reads | `fence.proxy.async.shared::cta` |
//! | the first thread waits for the next stage | `cp.async.bulk.wait_group.read COUNT - 2` |
//! | all threads meet | `bar.sync` |
//! | the first thread stores it | `cp.async.bulk(.tensor.2d).global`, `.commit_group` |
//! | a kernel ends | `cp.async.bulk.wait_group.read 0` |

mod bulk;
mod draft;
pub(crate) mod group;
mod held;
mod outputs;
mod ring;
mod slots;
mod sums;
mod view;

pub use draft::Draft;
pub use group::StoringGroup;
pub use held::held_place;
pub use outputs::{Outputs, StoredTile};
pub use ring::OutputRing;
pub use sums::SumPlace;
pub(crate) use sums::check_tile;
pub use view::{Dealt, Stored};
