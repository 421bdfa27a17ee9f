//! `cargo xtask bundle`: one folder that runs and tests everything on a GPU machine without Rust,
//! or what one suite of it needs.

mod pack;
mod sources;
mod suite;
#[cfg(test)]
mod tests;

use std::process::Command;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::lock::Lock;
use crate::project;
use crate::size::mib;

use pack::Bundle;
use sources::Sources;
pub use sources::TOOLCHAIN;
use suite::Suite;

/// The options of `cargo xtask bundle`.
#[derive(Args)]
pub struct Options {
    /// Build and pack only what this suite needs, to target/bundle-NAME/
    #[arg(long, value_enum, value_name = "NAME")]
    suite: Option<Suite>,
    /// The GPU architecture to pack machine code for; on others the driver compiles the PTX
    #[arg(long, value_name = "ARCH", default_value = "sm_90", value_parser = architecture)]
    gpu: String,
}

/// Builds what is to be packed, and makes the folder anew.
///
/// # Errors
///
/// What could not be built or packed, or a folder that is too large.
pub fn run(options: &Options) -> Result<()> {
    let suites = options.suite.as_ref().map_or(Suite::value_variants(), std::slice::from_ref);
    // What is built lies there until it is packed. No other bundle is made meanwhile, and nobody
    // cleans up.
    let built = project::bundle_ptx();
    let _lock = Lock::acquire(&built)?;
    let sources = Sources::build(suites, &options.gpu, &built.join(&options.gpu))?;
    let bundle = Bundle { suites, gpu: &options.gpu, commit: &commit() };
    let folder = project::bundle(options.suite.map(Suite::name));
    let sizes = bundle.make(&sources, pack::copy_stripped, &folder)?;
    println!(
        "{}: {} ({} unpacked), {}, for {}",
        folder.display(),
        mib(sizes.packed),
        mib(sizes.unpacked),
        bundle.what(),
        bundle.gpu
    );
    Ok(())
}

fn architecture(name: &str) -> Result<String, String> {
    xtask_front::bundle::check_architecture(name).map(|()| name.to_owned())
}

/// Returns the commit that is built from, for the results that are measured; marked where the
/// working tree differs.
pub fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(project::root()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    match (git(&["rev-parse", "HEAD"]), git(&["status", "--porcelain"])) {
        (Some(head), Some(changes)) if changes.is_empty() => head,
        (Some(head), _) => format!("{head} and changes"),
        _ => "unknown".to_owned(),
    }
}
