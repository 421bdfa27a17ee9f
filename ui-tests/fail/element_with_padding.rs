//! On hardware padding is copied too: bytes that no value defines, in a type that promises any.
#![forbid(unsafe_code)]
use bytemuck::{Pod, Zeroable};
use tilepipe::Element;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Sample {
    time: f64,
    valid: u32,
}

impl Element for Sample {}

fn main() {}
