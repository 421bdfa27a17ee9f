//! An assumption of SOUNDNESS.md as a program: the derive asks `::core` for sizes, and here that is
//! this crate, which lies about one. So a struct with padding becomes plain data, and its padding
//! is read. When this no longer compiles, strike out the assumption.
#![forbid(unsafe_code)]
extern crate core as real;
extern crate self as core;
pub use ::real::assert;

pub mod mem {
    pub use ::real::mem::align_of;
    pub const fn size_of<T>() -> usize {
        let size = ::real::mem::size_of::<T>();
        if size == 8 { 5 } else { size }
    }
}

#[derive(Clone, Copy, tilepipe::Element)]
#[repr(C)]
struct Padded {
    byte: u8,
    word: u32,
}

fn main() {
    let padded = Padded { byte: 1, word: 2 };
    assert_eq!(tilepipe::bytemuck::bytes_of(&padded).len(), 8);
}
