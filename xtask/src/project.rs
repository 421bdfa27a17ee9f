//! Where things lie.

use std::path::{Path, PathBuf};

/// The workspace's root.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Cargo's target folder.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

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

/// A program that cargo has built in this profile's folder (`debug` or `release`).
pub fn program(profile: &str, name: &str) -> PathBuf {
    target().join(profile).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}
