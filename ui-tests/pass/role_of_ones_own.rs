//! The accepted neighbour of `fail/role_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Of, Role, Role1, WarpRoles};

fn takes<R: Role>() {}

fn main() {
    takes::<Of<WarpRoles<32, 96>, Role1>>();
}
