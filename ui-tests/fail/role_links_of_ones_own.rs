//! On hardware barriers that nobody made, or that count other threads, would never complete.
#![forbid(unsafe_code)]
use tilepipe::role::Links;

struct Nothing;
impl Links for Nothing {
    type Memory = ();
}

fn main() {}
