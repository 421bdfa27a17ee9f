//! On hardware the words of an argument would become a type that the launch knows nothing of.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

struct Settings(f32);
#[kernel]
fn scale(block: Block<128>, settings: Settings) {
    let _ = (block, settings.0);
}

fn main() {}
