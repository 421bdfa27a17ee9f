//! `cargo xtask setup`: the compiler for device code, fetched once.

use std::process::Command;

use anyhow::Result;
use tilepipe_build::toolchain::{self, Toolchain};

use crate::project;

/// Fetches the compiler if there is none, and says which one is used.
///
/// # Errors
///
/// Those of the installation.
pub fn command() -> Result<()> {
    let toolchain = ensure()?;
    println!("device code is built with {}", toolchain.origin());
    Ok(())
}

/// Returns the compiler that there is; where there is none, fetches it to
/// `target/tilepipe-toolchain` first.
///
/// # Errors
///
/// Those of the installation.
pub fn ensure() -> Result<Toolchain> {
    match toolchain::find(Some(&project::target())) {
        Err(tilepipe_build::Error::NoToolchain { .. }) => {
            let folder = project::toolchain();
            println!("fetching the compiler for device code to {} (once)", folder.display());
            Ok(toolchain::install(&folder, &mut |step| println!("  {step}"))?)
        }
        found => Ok(found?),
    }
}

/// Tells a test process where the fetched compiler lies, unless the user has chosen another one.
pub fn export(command: &mut Command) {
    let folder = project::toolchain();
    if std::env::var_os(toolchain::OVERRIDE).is_none() && folder.is_dir() {
        command.env(toolchain::OVERRIDE, folder);
    }
}
