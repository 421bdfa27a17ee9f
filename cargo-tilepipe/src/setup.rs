//! `cargo tilepipe setup`: the compiler for device code, installed once for all of the user's
//! crates.

use std::process::ExitCode;

use anyhow::{Context, Result};
use tilepipe_build::{Error, toolchain};

use crate::workspace;

/// Installs the compiler where there is none, and says which one is used.
///
/// # Errors
///
/// Those of the installation.
pub fn command() -> Result<ExitCode> {
    let toolchain = match toolchain::find(workspace::target_dir().as_deref()) {
        Err(Error::NoToolchain { .. }) => {
            let folder =
                toolchain::cache().context("neither XDG_CACHE_HOME nor HOME names a folder to install into")?;
            println!("installing the compiler for device code into {} (once)", folder.display());
            toolchain::install(&folder, &mut |step| println!("  {step}"))?
        }
        found => found?,
    };
    println!("device code is built with {}", toolchain.origin());
    Ok(ExitCode::SUCCESS)
}
