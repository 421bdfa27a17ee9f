//! rustdoc's description of a crate as JSON.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustdoc_types::{Crate, FORMAT_VERSION};
use serde_json::Value;

/// What makes rustdoc write JSON, with everything in it that is private or hidden.
const AS_JSON: [&str; 5] =
    ["-Zunstable-options", "--output-format", "json", "--document-private-items", "--document-hidden-items"];

/// Describes a library of the workspace whose root is `root`, in a target folder of its own under
/// `target`.
///
/// # Errors
///
/// What cargo said, if it failed; else as for [`parse`].
pub fn of_package(root: &Path, target: &Path, package: &str) -> Result<Crate, String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(["rustdoc", "--quiet", "--lib", "--package", package, "--target-dir"]).arg(target);
    command.arg("--").args(AS_JSON).args(["--cap-lints", "allow"]);
    // Flags of this shell are no part of the crate.
    for flags in ["RUSTFLAGS", "RUSTDOCFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_ENCODED_RUSTDOCFLAGS"] {
        command.env_remove(flags);
    }
    run(command.env("RUSTC_BOOTSTRAP", "1"))?;
    read(&target.join("doc").join(format!("{}.json", package.replace('-', "_"))))
}

/// Describes a crate that is this one file and depends on nothing but the standard library.
///
/// # Errors
///
/// What rustdoc said, if it failed; else as for [`parse`].
pub fn of_source(source: &str) -> Result<Crate, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = folder.path().join("fixture.rs");
    fs::write(&file, source).map_err(|error| error.to_string())?;
    let mut command = Command::new(std::env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into()));
    command.arg(&file).args(["--edition", "2024", "--crate-name", "fixture", "--out-dir"]).arg(folder.path());
    run(command.args(AS_JSON).env("RUSTC_BOOTSTRAP", "1"))?;
    read(&folder.path().join("fixture.json"))
}

/// Reads a description.
///
/// # Errors
///
/// If it is of another version of the format, or none.
pub fn parse(text: &str) -> Result<Crate, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("rustdoc wrote no JSON: {error}"))?;
    match value["format_version"].as_u64() {
        Some(version) if version == u64::from(FORMAT_VERSION) => {}
        version => {
            let version = version.map_or_else(|| "none".to_owned(), |version| version.to_string());
            return Err(format!(
                "rustdoc's JSON has format {version}, `rustdoc-types` reads {FORMAT_VERSION}: pin the version of \
                 `rustdoc-types` in Cargo.toml that belongs to this compiler (its minor version is the format's)"
            ));
        }
    }
    serde_json::from_value(value).map_err(|error| format!("rustdoc's JSON is not of format {FORMAT_VERSION}: {error}"))
}

fn read(path: &Path) -> Result<Crate, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    parse(&text)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command:?} failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}
