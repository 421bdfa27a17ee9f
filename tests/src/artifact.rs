//! The built kernels: where they lie and what the assembler reported of them.
//!
//! There are the kernels of `kernels/` and, built by the same command, those that only tests launch
//! or read: [`Module`] tells them apart.

use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use serde_json::Value;

/// Names the folder of the built kernels; `cargo xtask test` and the bundle set it.
pub const FOLDER_VARIABLE: &str = "TILEPIPE_PTX_DIR";

/// Names the folder of what is built for tests alone; `cargo xtask test` and the bundle set it.
pub const TEST_FOLDER_VARIABLE: &str = "TILEPIPE_TEST_PTX_DIR";

/// A kernel crate that is built to a folder of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// `kernels/`.
    Kernels,
    /// `tests/kernels/`.
    TestKernels,
    /// `tests/codegen-kernels/`.
    CodegenKernels,
    /// `tests/twins/`.
    Twins,
}

impl Module {
    /// Returns the folder of the built module: in the one that the environment names, else in the
    /// workspace's target folder.
    ///
    /// # Errors
    ///
    /// A message that says how to build it, if there is no such folder.
    pub fn folder(self) -> Result<PathBuf, String> {
        let in_tests = |name: &str| named_or(TEST_FOLDER_VARIABLE, "test-ptx").join(name);
        let folder = match self {
            Module::Kernels => named_or(FOLDER_VARIABLE, "ptx"),
            Module::TestKernels => in_tests("kernels"),
            Module::CodegenKernels => in_tests("codegen-kernels"),
            Module::Twins => in_tests("twins"),
        };
        match folder.is_dir() {
            true => Ok(folder),
            false => Err(format!(
                "no built kernels in {}: run `cargo xtask ptx`, or set {FOLDER_VARIABLE} and {TEST_FOLDER_VARIABLE} to their folders",
                folder.display()
            )),
        }
    }

    /// Returns the text of the PTX of all of the module's images, one after the other.
    ///
    /// # Errors
    ///
    /// As for [`folder`](Self::folder); or the folder holds no `.ptx` file, or one cannot be read.
    pub fn ptx(self) -> Result<String, String> {
        let paths = files(&self.folder()?, ".ptx")?;
        paths.iter().try_fold(String::new(), |all, path| {
            let text = std::fs::read_to_string(path);
            Ok(all + &text.map_err(|error| format!("cannot read {}: {error}", path.display()))?)
        })
    }

    /// Returns what the assembler reported: one object for each kernel and architecture.
    ///
    /// # Errors
    ///
    /// As for [`folder`](Self::folder); or there is no list in `report.json`.
    pub fn report(self) -> Result<Vec<Value>, String> {
        let path = self.folder()?.join("report.json");
        let text =
            std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{} is no report: {error}", path.display()))
    }

    /// Returns the machine code of all of the module's images for an architecture such as `sm_90`,
    /// disassembled.
    ///
    /// # Errors
    ///
    /// As for [`folder`](Self::folder); or there is no such cubin, or no `nvdisasm`.
    pub fn sass(self, architecture: &str) -> Result<String, String> {
        let cubins = files(&self.folder()?, &format!(".{architecture}.cubin"))?;
        let toolchain =
            tilepipe_build::toolchain::find(Some(&workspace_target())).map_err(|error| error.to_string())?;
        let nvdisasm =
            toolchain.nvdisasm().ok_or("no nvdisasm beside ptxas or in the search path: run `cargo xtask setup`")?;
        let texts: Result<Vec<String>, String> =
            cubins.par_iter().map(|cubin| disassembled(&nvdisasm, cubin)).collect();
        Ok(texts?.concat())
    }
}

/// One cubin's machine code as text.
fn disassembled(nvdisasm: &Path, cubin: &Path) -> Result<String, String> {
    let output = Command::new(nvdisasm)
        .arg("-c")
        .arg(cubin)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", nvdisasm.display()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} failed on {}: {text}", nvdisasm.display(), cubin.display()));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// The folder that a variable names, else the one of this name in the target folder.
fn named_or(variable: &str, name: &str) -> PathBuf {
    let named = std::env::var_os(variable).filter(|folder| !folder.is_empty());
    named.map_or_else(|| workspace_target().join(name), PathBuf::from)
}

/// Cargo's target folder, as far as a test program can tell.
fn workspace_target() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => root.join(target),
        None => root.join("target"),
    }
}

/// The files of a folder whose names have this ending, by their names; at least one.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && path.to_string_lossy().ends_with(ending))
        .collect();
    files.sort();
    match files.is_empty() {
        true => Err(format!("{} holds no file that ends in {ending}: run `cargo xtask ptx`", folder.display())),
        false => Ok(files),
    }
}
