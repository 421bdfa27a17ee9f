//! On hardware the fields would stand in the order that another compilation, that of the host,
//! chose for itself.
#![forbid(unsafe_code)]
use tilepipe::Element;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Sample {
    time: f64,
    value: f64,
}

fn main() {}
