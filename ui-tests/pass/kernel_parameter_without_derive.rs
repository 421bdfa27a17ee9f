//! The accepted neighbour of `fail/kernel_parameter_without_derive.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Element, kernel};

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Settings {
    factor: f32,
    first: u32,
}

#[kernel]
fn scale(block: Block<128>, settings: Settings) {
    let _ = (block, settings.factor, settings.first);
}

fn main() {}
