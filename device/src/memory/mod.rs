//! Shared memory: typed, given out once, given back when its user is finished.

pub(crate) mod shared;
