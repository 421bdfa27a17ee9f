//! On hardware two roles of a map that is not checked could share a thread.
#![forbid(unsafe_code)]
use tilepipe::role::RoleMap;

enum Everybody {}
impl RoleMap for Everybody {}

fn main() {}
