//! A launch would take a number for an address: the crate describes another function, with names
//! for the real one's parameters.
#![forbid(unsafe_code)]
extern crate self as tilepipe;
extern crate tilepipe as real;
pub use real::{Block, TilesMut, launch};

pub mod entry {
    pub use real::entry::{AnotherModule, KernelModule, check_module, is_parameter};
    pub const fn instance<F: Copy>(
        _: F,
        package: (&'static str, &'static str),
        name: &'static str,
        symbol: &'static str,
        generics: &'static [(&'static str, &'static str)],
        parameters: &'static [&'static str],
    ) -> real::launch::Instance {
        real::entry::instance(scalar, package, name, symbol, generics, parameters)
    }
    fn scalar(_: real::Block<32>, _: u64) {}
}

#[real::kernel]
pub fn write_anywhere(block: Block<32>, out: TilesMut<u32, 32>) {
    let _ = (block, out);
}

fn main() {}
