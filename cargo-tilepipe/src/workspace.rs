//! The workspace in the working folder, as cargo knows it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The crate that kernels are written with.
const DEVICE_CRATE: &str = "tilepipe";

/// A crate with kernels.
#[derive(Debug, PartialEq, Eq)]
pub struct KernelCrate {
    /// The package's name.
    pub name: String,
    /// The folder of its manifest.
    pub folder: PathBuf,
}

/// Returns the workspace's target folder, if there is a workspace.
pub fn target_dir() -> Option<PathBuf> {
    Some(PathBuf::from(metadata().ok()?["target_directory"].as_str()?))
}

/// Returns the crate of this name, or the only one that has kernels.
///
/// # Errors
///
/// If there is no workspace, or no such crate, or several have kernels.
pub fn kernel_crate(name: Option<&str>) -> Result<KernelCrate> {
    choose(kernel_crates(&metadata()?), name)
}

/// What cargo says of the workspace's own packages.
fn metadata() -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(&cargo)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .with_context(|| format!("cannot run `{}`", cargo.display()))?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("error: "));
    }
    serde_json::from_slice(&output.stdout).context("`cargo metadata` prints no JSON")
}

/// The libraries that depend on the device crate. Its own helpers are not among them, as those
/// depend on it for tests alone.
fn kernel_crates(metadata: &Value) -> Vec<KernelCrate> {
    let packages = list(&metadata["packages"]).filter(|package| {
        let depends = list(&package["dependencies"]).any(|one| one["name"] == DEVICE_CRATE && one["kind"].is_null());
        let is_library = list(&package["targets"]).any(|target| list(&target["kind"]).any(|kind| kind == "lib"));
        depends && is_library
    });
    let read = |package: &Value| {
        let manifest = PathBuf::from(package["manifest_path"].as_str()?);
        Some(KernelCrate { name: package["name"].as_str()?.to_string(), folder: manifest.parent()?.to_path_buf() })
    };
    packages.filter_map(read).collect()
}

fn choose(mut crates: Vec<KernelCrate>, name: Option<&str>) -> Result<KernelCrate> {
    let names = crates.iter().map(|one| format!("`{}`", one.name)).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => match crates.iter().position(|one| one.name == name) {
            Some(at) => Ok(crates.swap_remove(at)),
            None if crates.is_empty() => bail!("{NONE}"),
            None => bail!("no crate `{name}` with kernels in this workspace: there are {names}"),
        },
        None => match crates.len() {
            0 => bail!("{NONE}"),
            1 => Ok(crates.remove(0)),
            _ => bail!("several crates of this workspace have kernels: choose one by `--package`: {names}"),
        },
    }
}

const NONE: &str = "no library of this workspace depends on `tilepipe`: run this in a workspace with a kernel crate, such as \
                    `cargo tilepipe new demo` writes";

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn package(name: &str, dependencies: &[(&str, Value)], kind: &str) -> Value {
        let dependencies = dependencies.iter().map(|(name, kind)| json!({ "name": name, "kind": kind }));
        json!({
            "name": name, "manifest_path": format!("/w/{name}/Cargo.toml"),
            "dependencies": dependencies.collect::<Vec<_>>(), "targets": [{ "kind": [kind] }],
        })
    }

    #[test]
    fn kernel_crates_are_libraries_that_depend_on_tilepipe() {
        let metadata = json!({ "packages": [
            package("program", &[("tilepipe", Value::Null)], "bin"),
            package("kernels", &[("serde", Value::Null), ("tilepipe", Value::Null)], "lib"),
            package("helper", &[("tilepipe", json!("dev"))], "lib"),
            package("other", &[("tilepipe-host", Value::Null)], "lib"),
        ] });
        let folder = PathBuf::from("/w/kernels");
        assert_eq!(kernel_crates(&metadata), [KernelCrate { name: "kernels".to_string(), folder }]);
    }

    #[test]
    fn one_of_several_has_to_be_named() {
        let crates = |names: &[&str]| -> Vec<KernelCrate> {
            names.iter().map(|name| KernelCrate { name: (*name).to_string(), folder: PathBuf::new() }).collect()
        };
        let chosen = |names: &[&str], name: Option<&str>| {
            choose(crates(names), name).map(|one| one.name).map_err(|error| error.to_string())
        };
        assert_eq!(chosen(&["a"], None), Ok("a".to_string()));
        assert_eq!(chosen(&["a", "b"], Some("b")), Ok("b".to_string()));
        assert!(chosen(&["a", "b"], None).unwrap_err().ends_with("choose one by `--package`: `a`, `b`"));
        assert!(chosen(&["a", "b"], Some("c")).unwrap_err().ends_with("there are `a`, `b`"));
        for name in [None, Some("a")] {
            assert!(chosen(&[], name).unwrap_err().contains("`cargo tilepipe new demo`"));
        }
    }
}
