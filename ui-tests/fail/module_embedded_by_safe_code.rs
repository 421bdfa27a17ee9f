//! Any PTX would run on the GPU under the name of a kernel, and write wherever it likes.
#![forbid(unsafe_code)]
use tilepipe_host::Module;

static KERNELS: Module = Module::embedded(&[(".version 7.1\n.target sm_80\n.address_size 64\n", &[])]);

fn main() {
    let _ = &KERNELS;
}
