//! The accepted neighbour of `fail/role_shared_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::RoleShared;

struct Board(u32);

fn takes<T: RoleShared>(_: T) {}

fn main() {
    takes(Board(0));
}
