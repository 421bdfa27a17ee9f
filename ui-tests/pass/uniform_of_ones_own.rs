//! The accepted neighbour of `fail/uniform_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::Uniform;

struct Counter<'a>(&'a u32);
fn is_uniform<T: Uniform>() {}
const _: fn() = is_uniform::<Counter<'static>>;

fn main() {}
