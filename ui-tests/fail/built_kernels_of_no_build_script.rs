//! Without a build script of the crate's own there is nothing that this crate's kernels are known
//! to be.
#![forbid(unsafe_code)]
use tilepipe_host::{Module, built_kernels};

static KERNELS: Module = built_kernels!();

fn main() {
    let _ = &KERNELS;
}
