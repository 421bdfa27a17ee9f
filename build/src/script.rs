//! Building from a user's build script.

use std::path::{Path, PathBuf};

use crate::toolchain::OVERRIDE;
use crate::{Artifact, Builder, Error};

/// Builds the kernel crate in `manifest_dir` from a `build.rs`; `tilepipe_host::built_kernels!()`
/// in the crate embeds what it built.
///
/// `manifest_dir` is relative to the calling package. The script runs again when a source file of
/// the kernel crate or of its path dependencies changes. Nothing is installed: a missing toolchain
/// is an error that says what to run.
///
/// [`Artifact::warnings`] become warnings of cargo, whether or not something had to be built:
/// kernels that use local memory, and what `ptxas` warns of.
///
/// # Errors
///
/// [`Error::NotInScript`] outside a build script, and whatever [`Builder::build`] returns.
pub fn build_in_script(manifest_dir: impl AsRef<Path>) -> Result<Artifact, Error> {
    let variable = |name: &'static str| std::env::var_os(name).map(PathBuf::from).ok_or(Error::NotInScript { name });
    let out_dir = variable("OUT_DIR")?;
    let package = variable("CARGO_MANIFEST_DIR")?;
    let target_dir = enclosing_target_dir(&out_dir).unwrap_or(&out_dir);
    for name in [OVERRIDE, "CUDA_HOME", "CUDA_PATH"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    // Also when the build fails: the next attempt comes when something changes.
    let manifest_dir = package.join(manifest_dir);
    println!("cargo::rerun-if-changed={}", manifest_dir.join("src").display());
    println!("cargo::rerun-if-changed={}", manifest_dir.join("Cargo.toml").display());

    let mut builder =
        Builder::new(&manifest_dir).target_dir(target_dir.join("tilepipe")).output_dir(out_dir.join("kernels"));
    if std::env::var_os(OVERRIDE).is_none() {
        builder = builder.toolchain(crate::toolchain::find(Some(target_dir))?);
    }
    let (artifact, sources) = builder.build_with_sources()?;
    for source in sources {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    artifact.write_list(&out_dir)?;
    for warning in artifact.warnings() {
        println!("cargo::warning={warning}");
    }
    Ok(artifact)
}

/// The target folder that a build script's output folder lies in: the one that cargo tagged.
fn enclosing_target_dir(out_dir: &Path) -> Option<&Path> {
    out_dir.ancestors().find(|dir| dir.join("CACHEDIR.TAG").is_file())
}
