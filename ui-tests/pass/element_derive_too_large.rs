//! On hardware no copy moves more than 16 bytes at once, and no view is aligned to more.
#![forbid(unsafe_code)]
use tilepipe::Element;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Sample {
    position: [f32; 3],
    channel: u32,
}

fn main() {}
