//! On hardware a number that stands for no variant would become an enum, and a `match` on it could
//! go anywhere.
#![forbid(unsafe_code)]
use tilepipe::Element;

#[derive(Clone, Copy, Element)]
#[repr(u32)]
enum Kind {
    Rise,
    Fall,
}

fn main() {}
