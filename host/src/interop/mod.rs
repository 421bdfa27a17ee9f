//! Kernels in a program that uses cudarc: in its context and its streams, over its memory.
//!
//! [`kept`] has what lies under a device and its streams, [`device`] how they are made,
//! [`argument`] and [`rows`] the arguments, [`launch`](mod@launch) the launch over memory whose
//! uses cudarc's events order, [`lend`] buffers that are lent to cudarc.

mod argument;
mod device;
mod kept;
mod launch;
mod lend;
mod rows;

pub(crate) use self::kept::Kept;
pub(crate) use self::launch::launch;
pub use self::lend::{LentBuffer, LentBufferMut};
pub use self::rows::{CudaRows, CudaRowsMut};
