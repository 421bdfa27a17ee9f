//! A bound says for which groups and scopes a kernel is.
#![forbid(unsafe_code)]
use tilepipe::BlockScope;
use tilepipe::group::{Deal, Synchronise};

fn parts<G: Synchronise<BlockScope>>() -> usize {
    <G as Deal<BlockScope>>::PARTS
}

fn main() {
    assert_eq!(parts::<tilepipe::group::InBlock<'static, 2>>(), 1);
}
