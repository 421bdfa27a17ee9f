//! On hardware there is no instruction for it, and the library would take another operation for it.
#![forbid(unsafe_code)]
use tilepipe::AtomicOperation;

enum Multiply {}

impl AtomicOperation<u32> for Multiply {}

fn main() {}
