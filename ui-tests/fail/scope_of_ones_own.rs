//! On hardware a scope of one's own may wait for nobody: copies that are under way are read.
#![forbid(unsafe_code)]
use tilepipe::Scope;

enum NobodyScope {}
impl Scope for NobodyScope {}

fn main() {}
