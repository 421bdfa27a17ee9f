//! A method that is safe can be called through a public bound, whoever implements the trait: to
//! write over any memory, or to learn a rank.
#![forbid(unsafe_code)]
use tilepipe::BlockScope;
use tilepipe::group::Synchronise;

fn overwrite<G: Synchronise<BlockScope>>(victim: *const u8) {
    G::released(victim, 8);
    G::deal(|_, rank| println!("rank {rank}"));
}

fn main() {
    let _ = overwrite::<tilepipe::group::InBlock<'static, 2>>;
}
