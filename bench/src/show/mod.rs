//! What is made of a record for people to read.

pub(crate) mod chart;
pub(crate) mod compare;
pub(crate) mod costs;
pub(crate) mod engines;
pub(crate) mod page;
pub(crate) mod readme;
pub(crate) mod report;
pub(crate) mod small;
pub(crate) mod table;
pub(crate) mod tasks;
