//! Any PTX of that folder would run on the GPU under the name of a kernel, and write wherever it
//! likes.
#![forbid(unsafe_code)]
use tilepipe_host::{Error, Module};

fn main() -> Result<(), Error> {
    Module::read("kernels").map(drop)
}
