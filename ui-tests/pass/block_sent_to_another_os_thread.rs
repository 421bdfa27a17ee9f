//! The accepted neighbour of `fail/block_sent_to_another_os_thread.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn spawn(block: Block<128>) {
    std::thread::scope(|scope| {
        scope.spawn(|| ());
    });
    block.sync();
}

fn main() {}
