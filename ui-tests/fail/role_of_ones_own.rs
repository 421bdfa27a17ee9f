//! On hardware a role that no map checks could have any threads.
#![forbid(unsafe_code)]
use tilepipe::role::Role;

enum Watchers {}
impl Role for Watchers {
    type Group<'r> = ();
}

fn main() {}
