//! On hardware some threads would have a group of copies more than others, and wait for the wrong
//! one.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Engine, kernel};

fn commit<E: Engine>() {
    <E::Completion>::commit();
}

#[kernel]
fn uneven(block: Block<32>) {
    block.threads(|t| {
        if t.rank() % 2 == 0 {
            commit::<CpAsync>();
        }
    });
}

fn main() {}
