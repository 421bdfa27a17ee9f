//! The accepted neighbour of `fail/scope_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::Scope;

type Stages<S> = tilepipe::Stages<[i32; 128], 2, tilepipe::CpAsync, S>;
fn of_any_scope<S: Scope>(_: tilepipe::Shared<Stages<S>>) {}

fn main() {}
