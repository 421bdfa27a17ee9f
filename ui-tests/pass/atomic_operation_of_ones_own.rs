//! The accepted neighbour of `fail/atomic_operation_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::AtomicOperation;
use tilepipe::reduce::Xor;

fn combines<O: AtomicOperation<u32>>() {}

fn use_it() {
    combines::<Xor>();
    let _ = use_it;
}

fn main() {}
