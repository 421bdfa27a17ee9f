//! The accepted neighbour of `fail/element_with_padding.rs`.
#![forbid(unsafe_code)]
use bytemuck::{Pod, Zeroable};
use tilepipe::Element;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Sample {
    time: f64,
    valid: u64,
}

impl Element for Sample {}

fn main() {}
