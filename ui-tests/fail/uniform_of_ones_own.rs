//! On hardware a cell that calls itself uniform is written by every thread.
#![forbid(unsafe_code)]
use std::cell::Cell;
use tilepipe::Uniform;

struct Counter<'a>(&'a Cell<u32>);
impl Uniform for Counter<'_> {}

fn main() {}
