//! Where things lie.

use std::path::PathBuf;

pub use xtask_front::project::{program, root, target};

/// The folder of the kernels' PTX and cubins.
pub fn ptx() -> PathBuf {
    target().join("ptx")
}

/// The folder of the PTX that only tests read.
pub fn test_ptx() -> PathBuf {
    target().join("test-ptx")
}

/// The folder of the compiler for device code, if `cargo xtask setup` had to fetch it.
pub fn toolchain() -> PathBuf {
    target().join(tilepipe_build::toolchain::FOLDER)
}
