//! The stages of pipelines: what one holds, what it is filled from, and what is remembered of that.

pub(crate) mod batches;
pub(crate) mod contents;
pub(crate) mod presence;
