//! What a build leaves behind.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Error, cache};

/// The built module: PTX, machine code for each architecture, and what it costs.
///
/// The files lie in one folder, `<crate>.ptx`, `<crate>.<arch>.cubin`, `<crate>.ll` and `report.json`, from which
/// `tilepipe_host::Module::read` loads them.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// The PTX for the build's target, as text. Machine code for `sm_90` and newer is assembled from this text with other waits
    /// at mbarriers; see [`Builder::target_cpu`](crate::Builder::target_cpu).
    pub ptx: PathBuf,
    /// The optimised LLVM IR that the PTX was made of, as text.
    pub ir: PathBuf,
    /// The machine code, in the order of the requested architectures.
    pub cubins: Vec<Cubin>,
    /// What each kernel uses on each architecture, ordered by architecture as requested, then by `ptxas`.
    pub report: Vec<KernelReport>,
    /// Whether everything was up to date and nothing was linked or assembled.
    pub fresh: bool,
}

/// The machine code of one architecture.
#[derive(Debug, Clone)]
pub struct Cubin {
    /// The architecture, such as `sm_90`.
    pub arch: String,
    /// The file.
    pub path: PathBuf,
}

/// What one kernel uses on one architecture, as `ptxas` reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KernelReport {
    /// The kernel's symbol.
    pub kernel: String,
    /// The architecture, such as `sm_90`.
    pub arch: String,
    /// Threads a block, from the kernel's launch bounds.
    pub threads: u32,
    /// Registers of each thread.
    pub registers: u32,
    /// Bytes stored to local memory because registers ran out.
    pub spill_stores: u32,
    /// Bytes loaded from local memory because registers ran out.
    pub spill_loads: u32,
    /// Bytes of each thread's stack in local memory.
    pub stack_frame: u32,
    /// Bytes of static shared memory of each block. Dynamic shared memory is known at launch only.
    pub shared_bytes: u32,
    /// Bytes of constant memory, the arguments included.
    pub constant_bytes: u32,
    /// Hardware barriers of each block.
    pub barriers: u32,
}

impl Artifact {
    /// Writes the list of files that `tilepipe_host::built_kernels!()` embeds, `tilepipe-kernels.txt`: a line `ptx PATH`,
    /// and a line `cubin 90 PATH` for each architecture. `folder` is the output folder of the crate's build script, where
    /// the macro looks for it.
    ///
    /// The file is replaced only if its content changes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be written or the working folder is gone.
    pub fn write_list(&self, folder: &Path) -> Result<(), Error> {
        let path = &folder.join(LIST);
        let mut text = format!("ptx {}\n", absolute(&self.ptx)?.display());
        for cubin in &self.cubins {
            let number: String = cubin.arch.chars().filter(char::is_ascii_digit).collect();
            text.push_str(&format!("cubin {number} {}\n", absolute(&cubin.path)?.display()));
        }
        if std::fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
            return Ok(());
        }
        cache::write_atomically(path, text.as_bytes())
    }
}

/// The list's name: the device crate's macro `built_files` reads it.
const LIST: &str = "tilepipe-kernels.txt";

/// A path that means the same wherever the list is read.
fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(Error::io("find", path))
}

#[cfg(test)]
mod tests {
    use super::{Artifact, Cubin};

    #[test]
    fn the_list_names_ptx_and_machine_code() {
        let dir = tempfile::tempdir().unwrap();
        let artifact = Artifact {
            ptx: dir.path().join("k.ptx"),
            ir: dir.path().join("k.ll"),
            cubins: vec![Cubin { arch: "sm_100a".into(), path: dir.path().join("k.sm_100a.cubin") }],
            report: Vec::new(),
            fresh: false,
        };
        artifact.write_list(dir.path()).unwrap();
        let folder = dir.path().display();
        let text = std::fs::read_to_string(dir.path().join("tilepipe-kernels.txt")).unwrap();
        assert_eq!(text, format!("ptx {folder}/k.ptx\ncubin 100 {folder}/k.sm_100a.cubin\n"));
    }
}
