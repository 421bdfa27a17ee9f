//! On hardware anything could be handed to a role, such as the block, whose barrier the others
//! would not reach.
#![forbid(unsafe_code)]
use tilepipe::role::Handed;

struct Anything<T>(T);
impl<R, T> Handed<R> for Anything<T> {}

fn main() {}
