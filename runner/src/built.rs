//! Kernels that `cargo xtask ptx` has built, read from a folder.

use std::path::Path;

use tilepipe_host::{Error, Module};

/// Reads the PTX and the cubins of a folder that `cargo xtask ptx` has written, or
/// `peers/build.sh`. Who names the folder, a user by a program's arguments, answers for what is in
/// it.
///
/// # Errors
///
/// As for [`Module::read`].
pub fn read(folder: &Path) -> Result<Module, Error> {
    // SAFETY: each kernel that tilepipe's builder made has a contract, which its first launch
    // compares. For those without one, the peers and the twins, and for a folder that something
    // else has written, the name of a kernel is all that says so: the programs of this workspace
    // describe what its own sources build, and their users are told to name these folders.
    unsafe { Module::read(folder) }
}
