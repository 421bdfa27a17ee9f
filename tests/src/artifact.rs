//! The built kernels: where they lie and what the assembler reported of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Names the folder of the built kernels; `cargo xtask test` and the bundle set it.
pub const FOLDER_VARIABLE: &str = "TILEPIPE_PTX_DIR";

/// Returns the folder of the built kernels: the one that the environment names, else `target/ptx` of the workspace.
///
/// # Errors
///
/// A message that says how to build them, if there is no such folder.
pub fn folder() -> Result<PathBuf, String> {
    let named = std::env::var_os(FOLDER_VARIABLE).filter(|folder| !folder.is_empty());
    let folder = match named {
        Some(folder) => PathBuf::from(folder),
        None => workspace_target().join("ptx"),
    };
    match folder.is_dir() {
        true => Ok(folder),
        false => Err(format!(
            "no built kernels in {}: run `cargo xtask ptx`, or set {FOLDER_VARIABLE} to their folder",
            folder.display()
        )),
    }
}

/// Returns the text of the kernels' PTX.
///
/// # Errors
///
/// As for [`folder`]; or the folder holds not one `.ptx` file, or it cannot be read.
pub fn ptx() -> Result<String, String> {
    let path = the_only_file(&folder()?, ".ptx")?;
    std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Returns what the assembler reported: one object for each kernel and architecture.
///
/// # Errors
///
/// As for [`folder`]; or there is no list in `report.json`.
pub fn report() -> Result<Vec<Value>, String> {
    let path = folder()?.join("report.json");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{} is no report: {error}", path.display()))
}

/// Returns the machine code of the kernels for an architecture such as `sm_90`, disassembled.
///
/// # Errors
///
/// As for [`folder`]; or there is no such cubin, or no `nvdisasm`.
pub fn sass(architecture: &str) -> Result<String, String> {
    let cubin = the_only_file(&folder()?, &format!(".{architecture}.cubin"))?;
    let toolchain = tilepipe_build::toolchain::find(Some(&workspace_target())).map_err(|error| error.to_string())?;
    let nvdisasm =
        toolchain.nvdisasm().ok_or("no nvdisasm beside ptxas or in the search path: run `cargo xtask setup`")?;
    let output = Command::new(&nvdisasm)
        .arg("-c")
        .arg(&cubin)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", nvdisasm.display()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} failed on {}: {text}", nvdisasm.display(), cubin.display()));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// Cargo's target folder, as far as a test program can tell.
fn workspace_target() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => root.join(target),
        None => root.join("target"),
    }
}

/// The one file of a folder whose name has this ending.
fn the_only_file(folder: &Path, ending: &str) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && path.to_string_lossy().ends_with(ending))
        .collect();
    match (files.pop(), files.len()) {
        (Some(file), 0) => Ok(file),
        (found, _) => Err(format!(
            "{} holds {} files that end in {ending}, and one is wanted: run `cargo xtask ptx`",
            folder.display(),
            files.len() + usize::from(found.is_some())
        )),
    }
}
