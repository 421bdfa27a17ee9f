//! Kernels in a program that uses cudarc: in its context and its streams, over its memory.
//!
//! [`device`] has the device and the streams, [`argument`] the arguments, [`launch`](mod@launch) the
//! launch over memory whose uses cudarc's events order, [`lend`] buffers that are lent to cudarc.

mod argument;
mod device;
mod launch;
mod lend;

pub(crate) use self::argument::Lent;
pub(crate) use self::device::Kept;
pub(crate) use self::launch::launch;
pub use self::lend::{LentBuffer, LentBufferMut};
