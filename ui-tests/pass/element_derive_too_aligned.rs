//! On hardware no view and no parameter is aligned to more than 16 bytes, so that a copy of such a
//! struct would begin between two of them.
#![forbid(unsafe_code)]
use tilepipe::Element;

#[derive(Clone, Copy, Element)]
#[repr(C, align(16))]
struct Sample {
    position: [f32; 8],
}

fn main() {}
