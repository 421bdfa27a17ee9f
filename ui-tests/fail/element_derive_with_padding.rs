//! On hardware padding is copied too: bytes that no value defines, which a reader of the tile would
//! then see.
#![forbid(unsafe_code)]
use tilepipe::Element;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Sample {
    time: f64,
    channel: u32,
}

fn main() {}
