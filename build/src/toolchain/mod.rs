//! The tools: a compiler with the library's source, LLVM's tools of the same version, and `ptxas`.

mod find;
mod install;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;
use crate::architecture::Architecture;

pub use find::find;
pub use install::install;

/// The name of the folder in a target folder into which [`install`] puts a toolchain, and where
/// [`find`] looks for it.
pub const FOLDER: &str = "tilepipe-toolchain";

/// What [`install`] leaves in a toolchain's folder: which packages it is made of.
pub(crate) const MANIFEST: &str = "manifest.txt";

/// The environment variable that names an installed toolchain's folder, before every other place.
pub const OVERRIDE: &str = "TILEPIPE_TOOLCHAIN";

/// The user's own folder for a toolchain: the last place where [`find`] looks, and where
/// `cargo tilepipe setup` installs. All crates of the user share it.
///
/// It is `tilepipe/toolchain` in `$XDG_CACHE_HOME`, or in `~/.cache` where that variable is not
/// set. None without a home folder.
pub fn cache() -> Option<PathBuf> {
    cache_of(std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME"))
}

/// The same for these values of the two variables. A relative path counts for none, as the XDG
/// specification has it: it would mean another folder for each crate.
fn cache_of(xdg: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = absolute(xdg).or_else(|| Some(absolute(home)?.join(".cache")))?;
    Some(caches.join("tilepipe").join("toolchain"))
}

/// A complete set of tools. Made by [`find`] or [`install`]; used by [`Builder`](crate::Builder).
#[derive(Debug, Clone)]
pub struct Toolchain {
    rustc: PathBuf,
    cargo: PathBuf,
    sysroot: PathBuf,
    llvm: LlvmTools,
    /// Libraries that the unpacked tools need and the system does not have.
    libraries: Option<PathBuf>,
    ptxas: PathBuf,
    /// `ptxas`'s release, such as (13, 0).
    cuda: (u32, u32),
    /// The architectures that `ptxas` knows, in their order; none if it does not say.
    architectures: Vec<String>,
    /// What all tools say about their versions.
    identity: String,
    origin: String,
}

/// Where LLVM's tools lie and what follows their names, such as `-22`.
#[derive(Debug, Clone)]
struct LlvmTools {
    dir: PathBuf,
    suffix: String,
}

/// The tools of LLVM that a build runs.
const LLVM_TOOLS: [&str; 3] = ["llvm-link", "opt", "llc"];

impl Toolchain {
    /// Where the toolchain was found, for people.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// What every tool says about its version, one block of lines a tool.
    pub fn versions(&self) -> &str {
        &self.identity
    }

    /// The release of `ptxas`, such as `(13, 0)`.
    pub fn cuda_version(&self) -> (u32, u32) {
        self.cuda
    }

    /// The architectures that `ptxas` knows, such as `sm_90a`, in their order. Empty if it does not
    /// say so in a known form.
    pub fn architectures(&self) -> &[String] {
        &self.architectures
    }

    /// The assembler.
    pub fn ptxas(&self) -> &Path {
        &self.ptxas
    }

    /// The disassembler of machine code, if it lies beside `ptxas` or in the search path; tests
    /// read SASS with it.
    pub fn nvdisasm(&self) -> Option<PathBuf> {
        self.beside_ptxas("nvdisasm")
    }

    /// The reader of machine code's resources, if it lies beside `ptxas` or in the search path.
    pub fn cuobjdump(&self) -> Option<PathBuf> {
        self.beside_ptxas("cuobjdump")
    }

    pub(crate) fn rustc(&self) -> &Path {
        &self.rustc
    }

    pub(crate) fn sysroot(&self) -> &Path {
        &self.sysroot
    }

    /// A command for the compiler's `cargo`, not yet cleaned from an outer build's environment.
    pub(crate) fn cargo(&self) -> Command {
        self.command(&self.cargo)
    }

    /// A command for one of LLVM's tools.
    pub(crate) fn llvm(&self, tool: &str) -> Command {
        self.command(&self.llvm.tool(tool))
    }

    /// A command that finds the unpacked tools' libraries.
    pub(crate) fn command(&self, program: &Path) -> Command {
        with_libraries(program, self.libraries.as_deref())
    }

    /// Checks that `ptxas` knows an architecture.
    ///
    /// # Errors
    ///
    /// [`Error::Architecture`] with those that it knows of the ones that kernels can be built for.
    pub(crate) fn require_known(&self, arch: &str) -> Result<(), Error> {
        if self.architectures.is_empty() || self.architectures.iter().any(|known| known == arch) {
            return Ok(());
        }
        let usable = self.architectures.iter().filter(|known| Architecture::parse(known).is_ok());
        let usable: Vec<&str> = usable.map(String::as_str).collect();
        let (major, minor) = self.cuda;
        let reason = format!("ptxas of CUDA {major}.{minor} does not know it; it knows {}", usable.join(", "));
        Err(Error::Architecture { arch: arch.to_string(), reason })
    }

    fn beside_ptxas(&self, name: &str) -> Option<PathBuf> {
        let beside = self.ptxas.with_file_name(name);
        if beside.is_file() { Some(beside) } else { in_path(name) }
    }
}

impl LlvmTools {
    fn tool(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}{}", self.suffix))
    }

    /// The tools that are not there.
    fn missing(&self) -> Vec<&'static str> {
        LLVM_TOOLS.into_iter().filter(|tool| !self.tool(tool).is_file()).collect()
    }
}

/// A command whose library search path begins with `libraries`.
fn with_libraries(program: &Path, libraries: Option<&Path>) -> Command {
    let mut command = Command::new(program);
    if let Some(libraries) = libraries {
        let mut path = OsString::from(libraries);
        if let Some(inherited) = std::env::var_os("LD_LIBRARY_PATH").filter(|inherited| !inherited.is_empty()) {
            path.push(":");
            path.push(inherited);
        }
        command.env("LD_LIBRARY_PATH", path);
    }
    command
}

/// The first file of that name in the search path.
fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}
