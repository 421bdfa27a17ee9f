//! Built kernels: PTX and cubins, embedded in the program or read from a folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::gpu::image::{Architecture, Image};

/// Kernels as `tilepipe-build` left them: images of some kernels each, with PTX, and cubins for
/// some architectures.
///
/// An image that has nothing for a GPU is left out when the module is loaded there: a launch of one
/// of its kernels is an [`Error::NoImage`].
///
/// [`Device::load`](crate::Device::load) makes them launchable on a GPU. The macro
/// [`built_kernels!`](crate::built_kernels) makes the module of the kernels that the crate's own
/// build script built; that is the way without `unsafe`. What is loaded runs on the GPU as it is: a
/// launch compares the kernel's contract (versions, parameters, threads, shared memory) with the
/// entry's, which finds a stale or foreign module, but nothing can check that machine code does
/// what a Rust function does.
///
/// # Examples
///
/// ```
/// use tilepipe_host::{Device, Module, Schedule};
///
/// // SAFETY: a module without kernels.
/// static KERNELS: Module =
///     unsafe { Module::embedded(&[(".version 7.8\n.target sm_80\n.address_size 64\n", &[])]) };
///
/// let device = Device::cpu(Schedule::Lazy);
/// device.load(&KERNELS)?; // on the CPU there is nothing to do
/// # Ok::<(), tilepipe_host::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Module {
    embedded: &'static [EmbeddedImage],
    read: Vec<ReadImage>,
    /// Why the build script made no kernels; empty if it made some.
    absent: &'static str,
}

/// PTX that is part of the program, and the cubins made of it.
pub type EmbeddedImage = (&'static str, &'static [EmbeddedCubin]);
/// An architecture such as `"sm_90"`, and machine code for it.
pub type EmbeddedCubin = (&'static str, &'static [u8]);

/// Images that a build script has built, and why there are none (empty if there are some).
#[doc(hidden)]
pub type BuiltFiles = (&'static [EmbeddedImage], &'static str);

/// Makes the [`Module`] of the kernels that this crate's own build script built with
/// `tilepipe_build::build_in_script`, for a `static` or where it is loaded. It takes no arguments.
///
/// PTX and machine code become part of the program, as the build script left them in its output
/// folder. Where that found no device compiler, the module has no kernels but the reason:
/// [`Device::load`](crate::Device::load) does nothing on the CPU, as ever, and on a GPU it is
/// [`Error::NoKernels`].
///
/// ```text
/// static KERNELS: tilepipe_host::Module = tilepipe_host::built_kernels!();
/// ```
#[macro_export]
macro_rules! built_kernels {
    ($($argument:tt)*) => {{
        const FILES: $crate::BuiltFiles = $crate::built_files!($($argument)*);
        // SAFETY: `tilepipe_build` made the files, in the build script of this very crate.
        unsafe { $crate::Module::built(FILES) }
    }};
}

impl Module {
    /// Makes a module of images that are part of the program: each is PTX (`include_str!`) and
    /// cubins (`include_bytes!`).
    ///
    /// A cubin comes with its architecture, for example `"sm_90"`. One for an architecture alone
    /// (`"sm_90a"`) is used on exactly that one, and one with a name of another form on none.
    ///
    /// # Safety
    ///
    /// `tilepipe-build` made PTX and cubins from the kernel crates whose kernels are launched, or
    /// they do what these kernels do.
    pub const unsafe fn embedded(images: &'static [EmbeddedImage]) -> Module {
        Module { embedded: images, read: Vec::new(), absent: "" }
    }

    /// Makes a module of what a build script left.
    ///
    /// # Safety
    ///
    /// As for [`Module::embedded`].
    #[doc(hidden)]
    pub const unsafe fn built((images, absent): BuiltFiles) -> Module {
        Module { embedded: images, read: Vec::new(), absent }
    }

    /// Reads every `NAME.ptx` of a folder, and the `NAME.sm_XX.cubin` files beside it.
    ///
    /// Cubins for one architecture alone (`NAME.sm_90a.cubin`) are used on exactly that one.
    ///
    /// # Errors
    ///
    /// [`Error::BadModule`] if the folder or a file cannot be read, there is no PTX, or PTX is not
    /// text.
    ///
    /// # Safety
    ///
    /// `tilepipe-build` made the files from the kernel crates whose kernels are launched, or they
    /// do what these kernels do.
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
        Ok(Module { embedded: &[], read, absent: "" })
    }

    /// Returns the images to load, one for each PTX file.
    ///
    /// # Errors
    ///
    /// [`Error::NoKernels`] if the build script made none.
    pub(crate) fn images(&self) -> Result<Vec<Image<'_>>, Error> {
        if !self.absent.is_empty() {
            return Err(Error::NoKernels { reason: self.absent });
        }
        let cubin = |(name, bytes): &(&str, &'static [u8])| Some((Architecture::parse(name)?, *bytes));
        let embedded = self.embedded.iter().map(|(ptx, cubins)| Image {
            path: PathBuf::from("the program"),
            ptx,
            cubins: cubins.iter().filter_map(cubin).collect(),
        });
        let read = self.read.iter().map(|image| Image {
            path: image.path.clone(),
            ptx: &image.ptx,
            cubins: image.cubins.iter().map(|(architecture, bytes)| (*architecture, bytes.as_slice())).collect(),
        });
        Ok(embedded.chain(read).collect())
    }
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
    Architecture::parse(rest.strip_prefix('.')?.strip_suffix(".cubin")?)
}

fn bad(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::BadModule { path: path.to_owned(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[EmbeddedCubin] =
        &[("sm_80", b"eighty"), ("sm_90", b"ninety"), ("sm_100a", b"hundred"), ("gfx", b"other")];

    #[test]
    fn a_cubin_of_the_same_major_and_no_newer_minor_is_picked() {
        // SAFETY: nothing of it is loaded.
        static MODULE: Module = unsafe { Module::embedded(&[(".version 8.0\n.target sm_80\n", TWO)]) };
        let image = &MODULE.images().unwrap()[0];
        assert_eq!(image.cubin_for((8, 0)), Some(&b"eighty"[..]));
        assert_eq!(image.cubin_for((8, 9)), Some(&b"eighty"[..]));
        assert_eq!(image.cubin_for((9, 0)), Some(&b"ninety"[..]));
        assert_eq!(image.cubin_for((10, 0)), Some(&b"hundred"[..]));
        assert_eq!(image.cubin_for((10, 3)), None);
        assert_eq!(image.ptx_version(), "8.0");
    }

    #[test]
    fn a_cubin_is_found_by_the_name_of_its_ptx() {
        let alone = cubin_architecture(Path::new("d/k.ptx"), Path::new("d/k.sm_90a.cubin"));
        assert_eq!(alone, Architecture::parse("sm_90a"));
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
        let images = module.images().unwrap();
        assert_eq!((images.len(), images[0].cubin_for((9, 0))), (1, Some(&b"cubin"[..])));
        fs::remove_dir_all(&folder).unwrap();
        assert!(matches!(read(), Err(Error::BadModule { .. })));
    }

    #[test]
    fn kernels_that_were_not_built_are_an_error_with_reason_and_way_out() {
        // SAFETY: there is nothing to load.
        static MODULE: Module = unsafe { Module::built((&[], "no toolchain was found:\n- no rustc")) };
        let error = MODULE.images().err().expect("it has none").to_string();
        assert!(error.contains("`cargo tilepipe setup`") && error.contains("\n- no rustc"), "{error}");
        let device = crate::Device::cpu(crate::Schedule::Lazy);
        device.load(&MODULE).expect("the CPU needs no kernels for GPUs");
    }
}
