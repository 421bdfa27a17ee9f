//! On hardware a token kept from one closure and used in the next lets a thread write a slot that
//! is another's by then.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn keep_the_token(block: Block<128>) {
    let mut kept = block.map(|_| None);
    block.update(&mut kept, |t, slot| *slot = Some(t));
}

fn main() {}
