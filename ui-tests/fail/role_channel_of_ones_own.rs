//! On hardware a channel that names other roles than its barriers count would never complete a
//! phase.
#![forbid(unsafe_code)]
use tilepipe::role::Channel;

struct Rumour;
impl Channel for Rumour {}

fn main() {}
