//! The accepted neighbour of `fail/engine_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::Engine;

fn of_any_engine<E: Engine>(_: tilepipe::Shared<tilepipe::Stages<[i32; 128], 2, E>>) {}

fn main() {}
