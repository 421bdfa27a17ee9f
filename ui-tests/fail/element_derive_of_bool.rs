//! On hardware a byte that is neither 0 nor 1 would become a `bool`, of which there are two.
#![forbid(unsafe_code)]
use tilepipe::Element;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Sample {
    value: u8,
    valid: bool,
}

fn main() {}
