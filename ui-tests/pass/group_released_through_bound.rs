//! A bound says for which groups and scopes a kernel is.
#![forbid(unsafe_code)]
use tilepipe::BlockScope;
use tilepipe::group::{Deal, Meet};

fn parts<G: Meet<BlockScope>>() -> usize {
    <G as Deal<BlockScope>>::PARTS
}

fn main() {
    assert_eq!(parts::<tilepipe::group::InBlock<'static, 2>>(), 1);
}
