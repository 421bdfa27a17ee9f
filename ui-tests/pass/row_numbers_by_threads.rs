//! The accepted neighbour of `fail/row_numbers_by_threads.rs`.
#![forbid(unsafe_code)]
use tilepipe::product::RowValuesMut;
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn misuse(block: Block<256>, out: RowValuesMut<64>) {
    let _ = block
        .partition::<WarpRoles<128, 128>>()
        .role((), |_, (), ()| {})
        .role(out, |group, (), mut out| {
            let ones = group.rows(1.0);
            out.set(0, &group, &ones);
        })
        .run();
}

fn main() {}
