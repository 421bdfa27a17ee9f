//! Bins in shared memory: threads add to them in any order, and then all read them.
//!
//! [`Bins`] is the memory, [`OpenBins`] what threads add to, and [`Counts`] what all may read.
//!
//! | step | PTX |
//! |---|---|
//! | `Shared::bins`: each thread clears its own, and all meet | `st.shared.v4`, `bar.sync` |
//! | `OpenBins::add`: any thread, any bin | `atom.shared` |
//! | `OpenBins::publish`: all meet; copies are summed, and all meet again | `bar.sync` |
//! | `Counts`: any thread reads any bin | `ld.shared` |
//! | `Counts::add_to`: each thread adds its own to global memory | `red.global` |

mod counts;
mod group;
mod layout;
mod open;

pub use counts::Counts;
pub use group::BinsGroup;
pub use layout::Bins;
pub use open::OpenBins;
