//! Where things lie.

use std::path::PathBuf;

pub use xtask_front::project::{program, root, target};

/// The folder of the kernels' PTX and cubins.
pub fn ptx() -> PathBuf {
    target().join("ptx")
}

/// The folder of what is made on the way from kernels to PTX, and kept of it.
pub fn device() -> PathBuf {
    target().join("device")
}

/// The folder of the PTX and cubins that `cargo xtask run` has built.
pub fn run_ptx() -> PathBuf {
    target().join("run-ptx")
}

/// The folder of the PTX and cubins of the last stress run's kernels.
pub fn stress_ptx() -> PathBuf {
    run_ptx().join("stress")
}

/// The folder of the PTX and cubins of tests, with a folder for each of their kernel crates.
pub fn test_ptx() -> PathBuf {
    target().join("test-ptx")
}

/// The folder of the PTX and cubins that bundles are made of.
pub fn bundle_ptx() -> PathBuf {
    target().join("bundle-ptx")
}

/// The folder of the bundle of one suite, or of all.
pub fn bundle(suite: Option<&str>) -> PathBuf {
    target().join(suite.map_or_else(|| "bundle".to_owned(), |suite| format!("bundle-{suite}")))
}

/// The folder of the compiler for device code, if `cargo xtask setup` had to fetch it.
pub fn toolchain() -> PathBuf {
    target().join(tilepipe_build::toolchain::FOLDER)
}
