//! The accepted neighbour of `fail/role_links_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::Links;

fn takes<L: Links>(_: L) {}

fn main() {
    takes(());
}
