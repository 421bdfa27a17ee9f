//! The accepted neighbour of `fail/map_rows_captures_cell.rs`.
#![forbid(unsafe_code)]
use core::cell::Cell;
use tilepipe::product::{Columns, Sums};
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn neighbour(block: Block<256>) {
    let _ = block
        .partition::<WarpRoles<128, 128>>()
        .role((), |_, (), ()| {})
        .role((), |group, (), ()| {
            let sums: Sums<Columns<64>, 128> = group.sums(1.0);
            let last = Cell::new(0.0);
            let _ = sums.map_rows(&group, &group.rows(2.0), |sum, of_row| sum * of_row);
            if last.get() > 0.0 {
                group.sync();
            }
        })
        .run();
}

fn main() {}
