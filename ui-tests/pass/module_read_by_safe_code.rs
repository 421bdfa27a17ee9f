//! What other programs built is read by who vouches for it.
use tilepipe_host::{Error, Module};

fn main() {
    // SAFETY: there is nothing to read.
    let missing = unsafe { Module::read("no such folder") };
    assert!(matches!(missing, Err(Error::BadModule { .. })));
}
