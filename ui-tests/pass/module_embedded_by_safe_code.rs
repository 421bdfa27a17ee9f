//! What other programs built is loaded by who vouches for it.
use tilepipe_host::{Device, Error, Module, Schedule};

// SAFETY: a module without kernels.
static KERNELS: Module = unsafe { Module::embedded(&[(".version 7.1\n.target sm_80\n.address_size 64\n", &[])]) };

fn main() -> Result<(), Error> {
    Device::cpu(Schedule::Lazy).load(&KERNELS)
}
