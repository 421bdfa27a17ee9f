//! How work uses memory: what both kinds of device order and lock by.

/// How a piece of work uses an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}
