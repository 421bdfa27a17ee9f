//! On hardware padding of a struct would be bytes that no value defines.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[derive(Clone, Copy)]
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
