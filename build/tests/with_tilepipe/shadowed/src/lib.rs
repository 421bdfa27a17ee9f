//! Safe code that would have the entry point of a kernel do something else than to enter it.
#![no_std]
#![forbid(unsafe_code)]

extern crate tilepipe as real;
#[cfg(any(feature = "own_parameters", feature = "other_function"))]
extern crate self as tilepipe;

use real::{Block, TilesMut};

/// A function of one's own that gets the parameters, and only names the one that enters a kernel.
#[cfg(feature = "own_parameters")]
pub mod entry {
    pub use real::entry::{AnotherModule, KernelModule, bounds, check_module};

    pub fn enter<F: real::entry::KernelFunction<A>, A>(_: F, raw: [*const u8; 1]) {
        let named: unsafe fn(F, [*const u8; 1]) = real::entry::enter::<F, A, 1>;
        core::hint::black_box(named);
        assert!(raw[0].is_null());
    }
}

/// Another function that is `unsafe`, for an argument that is an address.
#[cfg(feature = "other_function")]
pub mod entry {
    pub use core::ptr::write as enter;
    pub use real::entry::{AnotherModule, KernelModule, check_module};

    pub const fn bounds<F>(_: &F, _: Option<usize>, _: Option<usize>) -> [u32; 3] {
        [32, u32::MAX, u32::MAX]
    }
}

/// The attribute drops the function on the GPU, but not what stands beside it.
#[cfg_attr(not(feature = "more_parameters"), real::kernel)]
#[cfg_attr(feature = "other_function", test)]
pub fn fill(block: Block<32>, out: TilesMut<u32, 32>) {
    let _ = (block, out);
}

#[cfg(feature = "other_function")]
fn other(block: Block<32>, out: TilesMut<u32, 32>) {
    let _ = (block, out);
}

/// An address that names the function that enters a kernel.
#[cfg(feature = "other_function")]
#[allow(non_upper_case_globals)]
const fill: *mut [*const u8; 1] = {
    const fn near<F: real::entry::KernelFunction<A>, A>(_: F) -> *mut [*const u8; 1] {
        let named: unsafe fn(F, [*const u8; 1]) = real::entry::enter::<F, A, 1>;
        (named as *mut [*const u8; 1]).wrapping_byte_add(4096)
    }
    near(other)
};

/// Parameters that the attribute sees and the function does not have.
#[cfg(feature = "more_parameters")]
#[real::kernel]
pub fn fill_more(block: Block<32>, out: TilesMut<u32, 32>, #[cfg(any())] more: u32) {
    let _ = (block, out);
}
