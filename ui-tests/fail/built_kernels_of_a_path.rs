//! A path could name any PTX, which would run on the GPU as one of this crate's kernels.
#![forbid(unsafe_code)]
use tilepipe_host::{Module, built_kernels};

static KERNELS: Module = built_kernels!("other.ptx");

fn main() {
    let _ = &KERNELS;
}
