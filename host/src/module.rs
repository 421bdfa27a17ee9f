//! Built kernels: PTX and cubins, embedded in the program or read from a folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Kernels as `tilepipe-build` left them: PTX, and cubins for some architectures.
///
/// [`Device::load`](crate::Device::load) makes them launchable on a GPU. The macro [`built_kernels!`](crate::built_kernels) makes the module
/// of the kernels that the crate's own build script built; that is the way without `unsafe`. What is loaded runs on the GPU as it is:
/// a launch compares the kernel's contract (versions, parameters, threads, shared memory) with the entry's, which finds a stale or
/// foreign module, but nothing can check that machine code does what a Rust function does.
///
/// # Examples
///
/// ```
/// use tilepipe_host::{Device, Module, Schedule};
///
/// // SAFETY: a module without kernels.
/// static KERNELS: Module = unsafe { Module::embedded(".version 7.8\n.target sm_80\n.address_size 64\n", &[]) };
///
/// let device = Device::cpu(Schedule::Lazy);
/// device.load(&KERNELS)?; // on the CPU there is nothing to do
/// # Ok::<(), tilepipe_host::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Module {
    embedded: Option<Embedded>,
    read: Vec<ReadImage>,
}

/// Makes the [`Module`] of the kernels that this crate's own build script built with `tilepipe_build::build_in_script`, for a
/// `static` or where it is loaded. It takes no arguments.
///
/// PTX and machine code become part of the program, as the build script left them in its output folder.
///
/// ```text
/// static KERNELS: tilepipe_host::Module = tilepipe_host::built_kernels!();
/// ```
#[macro_export]
macro_rules! built_kernels {
    ($($argument:tt)*) => {{
        const FILES: (&str, &[(u32, &[u8])]) = $crate::built_files!($($argument)*);
        // SAFETY: `tilepipe_build` made the files, in the build script of this very crate.
        unsafe { $crate::Module::embedded(FILES.0, FILES.1) }
    }};
}

impl Module {
    /// Makes a module of PTX and cubins that are part of the program (`include_str!`, `include_bytes!`).
    ///
    /// A cubin comes with its architecture, for example 90 for `sm_90`.
    ///
    /// # Safety
    ///
    /// `tilepipe-build` made PTX and cubins from the kernel crates whose kernels are launched, or they do what these kernels do.
    pub const unsafe fn embedded(ptx: &'static str, cubins: &'static [(u32, &'static [u8])]) -> Module {
        Module { embedded: Some(Embedded { ptx, cubins }), read: Vec::new() }
    }

    /// Reads every `NAME.ptx` of a folder, and the `NAME.sm_XX.cubin` files beside it.
    ///
    /// Cubins for one architecture alone (`NAME.sm_90a.cubin`) are used on exactly that one.
    ///
    /// # Errors
    ///
    /// [`Error::BadModule`] if the folder or a file cannot be read, there is no PTX, or PTX is not text.
    ///
    /// # Safety
    ///
    /// `tilepipe-build` made the files from the kernel crates whose kernels are launched, or they do what these kernels do.
    pub unsafe fn read(folder: impl AsRef<Path>) -> Result<Module, Error> {
        let folder = folder.as_ref();
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(|error| bad(folder, &error))? {
            files.push(entry.map_err(|error| bad(folder, &error))?.path());
        }
        files.sort();
        let mut read = Vec::new();
        for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "ptx")) {
            let ptx = fs::read_to_string(path).map_err(|error| bad(path, &error))?;
            let mut cubins = Vec::new();
            for file in &files {
                if let Some(architecture) = cubin_architecture(path, file) {
                    cubins.push((architecture, fs::read(file).map_err(|error| bad(file, &error))?));
                }
            }
            read.push(ReadImage { path: path.clone(), ptx, cubins });
        }
        if read.is_empty() {
            return Err(bad(folder, &"it holds no .ptx file; build the kernels first (`cargo xtask ptx`)"));
        }
        Ok(Module { embedded: None, read })
    }

    /// Returns the images to load, one for each PTX file.
    pub(crate) fn images(&self) -> Vec<Image<'_>> {
        let embedded = self.embedded.iter().map(|embedded| Image {
            path: PathBuf::from("the program"),
            ptx: embedded.ptx,
            cubins: embedded.cubins.iter().map(|(sm, bytes)| (Architecture { sm: *sm, only: false }, *bytes)).collect(),
        });
        let read = self.read.iter().map(|image| Image {
            path: image.path.clone(),
            ptx: &image.ptx,
            cubins: image.cubins.iter().map(|(architecture, bytes)| (*architecture, bytes.as_slice())).collect(),
        });
        embedded.chain(read).collect()
    }
}

/// PTX and its cubins, wherever they came from.
pub(crate) struct Image<'a> {
    /// Where it came from, for messages.
    pub(crate) path: PathBuf,
    pub(crate) ptx: &'a str,
    pub(crate) cubins: Vec<(Architecture, &'a [u8])>,
}

impl<'a> Image<'a> {
    /// Returns the best cubin for a compute capability: same major, the highest minor that is not newer.
    pub(crate) fn cubin_for(&self, capability: (u32, u32)) -> Option<&'a [u8]> {
        let fitting = self.cubins.iter().filter(|(architecture, _)| architecture.runs_on(capability));
        fitting.max_by_key(|(architecture, _)| (architecture.sm, architecture.only)).map(|(_, bytes)| *bytes)
    }

    /// Returns the PTX version that the text asks for, such as `8.0`.
    pub(crate) fn ptx_version(&self) -> &'a str {
        let version = self.ptx.lines().find_map(|line| line.trim().strip_prefix(".version"));
        version.map_or("unknown", str::trim)
    }
}

/// The architecture of a cubin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Architecture {
    /// As in `sm_90`.
    sm: u32,
    /// For this architecture alone (`sm_90a`).
    only: bool,
}

impl Architecture {
    fn runs_on(self, (major, minor): (u32, u32)) -> bool {
        let (own_major, own_minor) = (self.sm / 10, self.sm % 10);
        own_major == major && if self.only { own_minor == minor } else { own_minor <= minor }
    }
}

#[derive(Clone, Debug)]
struct Embedded {
    ptx: &'static str,
    cubins: &'static [(u32, &'static [u8])],
}

#[derive(Clone, Debug)]
struct ReadImage {
    path: PathBuf,
    ptx: String,
    cubins: Vec<(Architecture, Vec<u8>)>,
}

/// Returns the architecture of `file` if it is a cubin of the PTX at `ptx`.
fn cubin_architecture(ptx: &Path, file: &Path) -> Option<Architecture> {
    let name = ptx.file_stem()?.to_str()?;
    let rest = file.file_name()?.to_str()?.strip_prefix(name)?;
    let sm = rest.strip_prefix(".sm_")?.strip_suffix(".cubin")?;
    let (digits, only) = match sm.strip_suffix('a') {
        Some(digits) => (digits, true),
        None => (sm, false),
    };
    Some(Architecture { sm: digits.parse().ok()?, only })
}

fn bad(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::BadModule { path: path.to_owned(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[(u32, &[u8])] = &[(80, b"eighty"), (90, b"ninety")];

    #[test]
    fn a_cubin_of_the_same_major_and_no_newer_minor_is_picked() {
        // SAFETY: nothing of it is loaded.
        static MODULE: Module = unsafe { Module::embedded(".version 8.0\n.target sm_80\n", TWO) };
        let image = &MODULE.images()[0];
        assert_eq!(image.cubin_for((8, 0)), Some(&b"eighty"[..]));
        assert_eq!(image.cubin_for((8, 9)), Some(&b"eighty"[..]));
        assert_eq!(image.cubin_for((9, 0)), Some(&b"ninety"[..]));
        assert_eq!(image.cubin_for((10, 0)), None);
        assert_eq!(image.ptx_version(), "8.0");
    }

    #[test]
    fn an_architecture_for_itself_alone_runs_nowhere_else() {
        let alone = cubin_architecture(Path::new("d/k.ptx"), Path::new("d/k.sm_90a.cubin")).unwrap();
        assert!(alone.runs_on((9, 0)));
        assert!(!Architecture { sm: 86, only: true }.runs_on((8, 9)));
        assert!(!Architecture { sm: 89, only: false }.runs_on((8, 6)));
        assert_eq!(cubin_architecture(Path::new("k.ptx"), Path::new("other.sm_90.cubin")), None);
        assert_eq!(cubin_architecture(Path::new("k.ptx"), Path::new("k.sm_x.cubin")), None);
    }

    #[test]
    fn a_folder_gives_its_ptx_and_cubins_and_an_empty_or_missing_one_an_error() {
        let folder = std::env::temp_dir().join(format!("tilepipe-host-module-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        // SAFETY: nothing of what is read is loaded.
        let read = || unsafe { Module::read(&folder) };
        let empty = read().unwrap_err().to_string();
        assert!(empty.contains("no .ptx file"), "{empty}");
        fs::write(folder.join("k.ptx"), ".version 7.8").unwrap();
        fs::write(folder.join("k.sm_90.cubin"), b"cubin").unwrap();
        let module = read().unwrap();
        let images = module.images();
        assert_eq!((images.len(), images[0].cubin_for((9, 0))), (1, Some(&b"cubin"[..])));
        fs::remove_dir_all(&folder).unwrap();
        assert!(matches!(read(), Err(Error::BadModule { .. })));
    }
}
