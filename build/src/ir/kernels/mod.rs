//! What a module says of its kernels: launch bounds, contracts, and what their entry points do.

pub(crate) mod bounds;
pub(crate) mod contract;
pub(crate) mod entry;
