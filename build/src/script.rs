//! Building from a user's build script.

use std::path::{Path, PathBuf};

use crate::toolchain::{self, MANIFEST, OVERRIDE, Toolchain};
use crate::{Artifact, Builder, Error};

/// Builds the kernel crate in `manifest_dir` from a `build.rs`; `tilepipe_host::built_kernels!()`
/// in the crate embeds what it built.
///
/// `manifest_dir` is relative to the calling package. The script runs again when a source file of
/// the kernel crate or of its path dependencies changes. Nothing is installed.
///
/// [`Artifact::warnings`] become warnings of cargo, whether or not something had to be built:
/// kernels that use local memory, and what `ptxas` warns of.
///
/// # Without a device compiler
///
/// On a machine without one the program is built all the same, without kernels for a GPU: it runs
/// on the CPU. Cargo prints a warning, [`Artifact::absent`] is the reason, and
/// `tilepipe_host::Device::load` of `built_kernels!()` on a GPU is an error that says it. The
/// script looks again in each build until there is a compiler. A build that must have kernels asks
/// for them:
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let artifact = tilepipe_build::build_in_script("kernels")?;
/// if let Some(why) = artifact.absent {
///     return Err(why.into());
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::NotInScript`] outside a build script, [`Error::BadOverride`] where `TILEPIPE_TOOLCHAIN`
/// names a folder that is no complete toolchain, and whatever [`Builder::build`] returns.
pub fn build_in_script(manifest_dir: impl AsRef<Path>) -> Result<Artifact, Error> {
    let [artifact] = build_crates([(manifest_dir.as_ref(), &[])])?;
    Ok(artifact)
}

/// As [`build_in_script`], of several kernel crates: a program's own, and others whose kernels it
/// launches. Of each crate the named kernel functions are built, or all if none are named
/// ([`Builder::kernels`]). The crates have different names.
///
/// ```no_run
/// // Its own kernels, and attention of the crate `tilepipe-kernels`.
/// tilepipe_build::build_all_in_script([
///     ("kernels", &[][..]),
///     ("../tilepipe/kernels", &["attention"]),
/// ])?;
/// # Ok::<(), tilepipe_build::Error>(())
/// ```
///
/// `tilepipe_host::built_kernels!()` embeds what was built of all of them.
///
/// # Errors
///
/// As of `build_in_script`, of the first crate with one.
pub fn build_all_in_script<'a, P: AsRef<Path>, const N: usize>(
    crates: [(P, &'a [&'a str]); N],
) -> Result<[Artifact; N], Error> {
    build_crates(crates.each_ref().map(|(manifest_dir, kernels)| (manifest_dir.as_ref(), *kernels)))
}

fn build_crates<const N: usize>(crates: [(&Path, &[&str]); N]) -> Result<[Artifact; N], Error> {
    let variable = |name: &'static str| std::env::var_os(name).map(PathBuf::from).ok_or(Error::NotInScript { name });
    let out_dir = variable("OUT_DIR")?;
    let package = variable("CARGO_MANIFEST_DIR")?;
    let target_dir = enclosing_target_dir(&out_dir).unwrap_or(&out_dir);
    for name in [OVERRIDE, "CUDA_HOME", "CUDA_PATH", "XDG_CACHE_HOME"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    // Also when the build fails: the next attempt comes when something changes.
    let crates = crates.map(|(manifest_dir, kernels)| (package.join(manifest_dir), kernels));
    for (manifest_dir, _) in &crates {
        println!("cargo::rerun-if-changed={}", manifest_dir.join("src").display());
        println!("cargo::rerun-if-changed={}", manifest_dir.join("Cargo.toml").display());
    }

    let found = toolchain::find(Some(target_dir));
    for file in watched(found.as_ref().ok(), toolchain::cache().as_deref(), &out_dir) {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    let toolchain = match found {
        Err(error @ Error::NoToolchain { .. }) => {
            println!("cargo::warning={WITHOUT}");
            let artifacts = [(); N].map(|()| Artifact::without_kernels(error.to_string()));
            // All say the same.
            Artifact::write_list_of(&artifacts[..N.min(1)], &out_dir)?;
            return Ok(artifacts);
        }
        found => found?,
    };
    let mut artifacts = Vec::with_capacity(N);
    for (nth, (manifest_dir, kernels)) in crates.iter().enumerate() {
        // Each folder is one crate's alone.
        let folder = if nth == 0 { "kernels".to_owned() } else { format!("kernels-{nth}") };
        let builder = Builder::new(manifest_dir)
            .kernels(kernels.iter().copied())
            .target_dir(target_dir.join("tilepipe"))
            .output_dir(out_dir.join(folder))
            .toolchain(toolchain.clone());
        let (artifact, sources) = builder.build_with_sources()?;
        for source in sources {
            println!("cargo::rerun-if-changed={}", source.display());
        }
        for warning in artifact.warnings() {
            println!("cargo::warning={warning}");
        }
        artifacts.push(artifact);
    }
    Artifact::write_list_of(&artifacts, &out_dir)?;
    Ok(artifacts.try_into().unwrap_or_else(|_| unreachable!("an artifact for each crate")))
}

/// What cargo says of a program without kernels.
const WITHOUT: &str = "no kernels were built for GPUs, as this machine has no device compiler: the program runs on the CPU \
                       alone. `cargo tilepipe setup` installs one, and `cargo tilepipe doctor` says what is missing";

/// The files whose change makes the script look for a toolchain again.
///
/// Where none was found, the script runs in each build until one is, wherever that comes from: one
/// of the files is never there, which cargo takes for a change. Where one was found, it is looked
/// for again if the one that `cargo tilepipe setup` made is replaced or goes away.
fn watched(found: Option<&Toolchain>, cache: Option<&Path>, out_dir: &Path) -> Vec<PathBuf> {
    let manifest = cache.map(|cache| cache.join(MANIFEST)).filter(|manifest| found.is_none() || manifest.is_file());
    let never = found.is_none().then(|| out_dir.join("never-there"));
    manifest.into_iter().chain(never).collect()
}

/// The target folder that a build script's output folder lies in: the one that cargo tagged.
fn enclosing_target_dir(out_dir: &Path) -> Option<&Path> {
    out_dir.ancestors().find(|dir| dir.join("CACHEDIR.TAG").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_toolchain_the_script_looks_again_in_each_build() {
        let dir = tempfile::tempdir().unwrap();
        let (manifest, never) = (dir.path().join("manifest.txt"), dir.path().join("out/never-there"));
        let watched = |cache| watched(None, cache, &dir.path().join("out"));
        // It is not there yet, and when it is, it may be older than the last build.
        assert_eq!(watched(Some(dir.path())), [manifest.clone(), never.clone()]);
        std::fs::write(&manifest, "").unwrap();
        assert_eq!(watched(Some(dir.path())), [manifest, never.clone()]);
        assert_eq!(watched(None), [never]);
    }
}
