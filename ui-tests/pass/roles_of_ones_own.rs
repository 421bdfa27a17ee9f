//! The accepted neighbour of `fail/roles_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{RoleMap, WarpRoles};

fn takes<M: RoleMap>() {}

fn main() {
    takes::<WarpRoles<32, 96>>();
}
