//! On hardware two roles could write one element through what they share.
#![forbid(unsafe_code)]
use core::cell::Cell;
use tilepipe::role::RoleShared;

struct Board(Cell<u32>);
unsafe impl RoleShared for Board {}

fn main() {}
