//! The accepted neighbour of `fail/role_result_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Of, Role0, RoleResult, WarpRoles};

fn takes<O: RoleResult<Of<WarpRoles<32, 96>, Role0>>>(_: O) {}

fn main() {
    takes(1_u32);
}
