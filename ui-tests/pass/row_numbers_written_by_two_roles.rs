//! The accepted neighbour of `fail/row_numbers_written_by_two_roles.rs`.
#![forbid(unsafe_code)]
use tilepipe::product::RowValuesMut;
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn misuse(block: Block<256>, out: RowValuesMut<64>, other: RowValuesMut<64>) {
    let _ = block
        .partition::<WarpRoles<128, 128>>()
        .role(out, |group, (), mut out| {
            let ones = group.rows(1.0);
            out.set(0, &group, &ones);
        })
        .role(other, |group, (), mut out| {
            let ones = group.rows(1.0);
            out.set(0, &group, &ones);
        })
        .run();
}

fn main() {}
