//! On hardware a role that waits for itself hangs.
#![forbid(unsafe_code)]
use tilepipe::role::Another;

struct Mirror;
impl Another<Mirror> for Mirror {}

fn main() {}
