//! The whole way from a kernel crate to its artifact.

use std::path::{Path, PathBuf};
use std::thread::ScopedJoinHandle;

use crate::architecture::Architecture;
use crate::artifact::OutputFiles;
use crate::assemble::kept::Store;
use crate::assemble::ptxas::Said;
use crate::assemble::{Assembled, Assembly};
use crate::compile::{Compilation, Compiled, Package};
use crate::compile::{cache, rlib};
use crate::link::Link;
use crate::toolchain::{self, Toolchain};
use crate::{Artifact, Error};

/// Builds one kernel crate. See the [crate's documentation](crate) for an example.
#[derive(Debug, Clone)]
pub struct Builder {
    manifest_dir: PathBuf,
    target_cpu: String,
    ptx_version: Option<u32>,
    architectures: Vec<String>,
    features: Vec<String>,
    kernels: Vec<String>,
    toolchain: Option<Toolchain>,
    target_dir: Option<PathBuf>,
    output_dir: Option<PathBuf>,
    runtime: Option<PathBuf>,
    allow_thread_level_code: bool,
    show: bool,
}

impl Builder {
    /// A build of the crate in `manifest_dir`, for `sm_80` and newer, assembled for `sm_80`,
    /// `sm_90` and `sm_100`.
    pub fn new(manifest_dir: impl AsRef<Path>) -> Builder {
        Builder {
            manifest_dir: manifest_dir.as_ref().to_path_buf(),
            target_cpu: "sm_80".to_string(),
            ptx_version: None,
            architectures: ["sm_80", "sm_90", "sm_100"].map(str::to_string).to_vec(),
            features: Vec::new(),
            kernels: Vec::new(),
            toolchain: None,
            target_dir: None,
            output_dir: None,
            runtime: None,
            allow_thread_level_code: false,
            show: false,
        }
    }

    /// The least architecture that the PTX runs on, `sm_80` if not set. Architectures below it are
    /// not assembled for.
    ///
    /// Kernels with instructions of a newer one (bulk copies of `sm_90`, `wgmma` of `sm_90a`) are
    /// built for the least one that has them, each instance by itself:
    /// [`Image::target`](crate::Image::target). On other GPUs the program runs without them: a
    /// launch of one is an error that says what it needs.
    ///
    /// It also decides how a block waits at an mbarrier where the driver compiles the PTX for a GPU
    /// without machine code of its own: up to `sm_89` the PTX has `mbarrier.test_wait`, which is
    /// right on every GPU but spins; from `sm_90` on it has `mbarrier.try_wait`, which suspends the
    /// thread. Machine code has the latter from `sm_90` on, whatever is set here.
    pub fn target_cpu(mut self, cpu: impl Into<String>) -> Builder {
        self.target_cpu = cpu.into();
        self
    }

    /// The PTX version in tenths (`80` is 8.0). If not set: the least one that has the target and
    /// the instructions of mbarriers, which for `sm_80` is 7.1 (CUDA 11.1), or what a kernel's
    /// newer instructions need. A newer version needs a newer driver.
    pub fn ptx_version(mut self, version: u32) -> Builder {
        self.ptx_version = Some(version);
        self
    }

    /// The architectures to assemble for. None of them: PTX alone, unchecked by `ptxas`. Kernels
    /// for a newer one than one of these have no machine code for that, and those for `sm_90a` have
    /// some for it where `sm_90` is named.
    ///
    /// From `sm_90` on, waits at mbarriers suspend the thread instead of spinning; the rest is the
    /// same PTX for all.
    pub fn architectures(mut self, architectures: impl IntoIterator<Item = impl Into<String>>) -> Builder {
        self.architectures = architectures.into_iter().map(Into::into).collect();
        self
    }

    /// The crate's features to enable, beside its default ones.
    pub fn features(mut self, features: impl IntoIterator<Item = impl Into<String>>) -> Builder {
        self.features = features.into_iter().map(Into::into).collect();
        self
    }

    /// The kernel functions to build, by their names without the module; all of the crate if none
    /// are named. What is built of a kernel does not depend on the others.
    ///
    /// The crate is compiled anew when other kernels are asked for, but not what it depends on.
    pub fn kernels(mut self, kernels: impl IntoIterator<Item = impl Into<String>>) -> Builder {
        self.kernels = kernels.into_iter().map(Into::into).collect();
        self
    }

    /// The tools to use; [`toolchain::find`] looks for them if not set.
    pub fn toolchain(mut self, toolchain: Toolchain) -> Builder {
        self.toolchain = Some(toolchain);
        self
    }

    /// Where compiled crates are kept between builds. If not set: `tilepipe` in the target folder
    /// of the crate's workspace. It must not be an outer cargo's own target folder, which is locked
    /// while a build script runs.
    pub fn target_dir(mut self, dir: impl AsRef<Path>) -> Builder {
        self.target_dir = Some(dir.as_ref().to_path_buf());
        self
    }

    /// Where the artifact goes; a folder of the crate's name in the target folder if not set. It
    /// holds nothing else.
    pub fn output_dir(mut self, dir: impl AsRef<Path>) -> Builder {
        self.output_dir = Some(dir.as_ref().to_path_buf());
        self
    }

    /// The LLVM IR to link with, for crates without the device crate. Ordinary kernel crates get
    /// that crate's own.
    ///
    /// Its functions are the device crate's to call: kernels that call them need
    /// [`Builder::allow_thread_level_code`].
    pub fn runtime(mut self, path: impl AsRef<Path>) -> Builder {
        self.runtime = Some(path.as_ref().to_path_buf());
        self
    }

    /// Lets the kernels, and whatever they call, contain code at the level of a single thread.
    /// Without it only functions of `tilepipe` may.
    ///
    /// Such code is: inline assembly; NVIDIA's intrinsics, which `core::arch::nvptx` is made of,
    /// but for arithmetic and what is the same in all threads of a block (its index and size, the
    /// grid's size); LLVM's intrinsics that read clocks, registers and the stack's address; and
    /// whatever names a function of `runtime.ll`. What counts is the function whose source has the
    /// code, also where the compiler has inlined it. `tilepipe` is known by its crate id, so a
    /// crate of that name is not taken for it. Safe Rust can write no such code: this finds it
    /// where a crate that a kernel calls has it behind a safe function.
    ///
    /// # What the author promises instead
    ///
    /// SOUNDNESS.md, rules R1 to R4: no thread's rank or lane, no clock and no other value that
    /// differs from thread to thread reaches block-level code but in `PerThread`; barriers, votes
    /// and shuffles are executed by all the threads that they are of, in converged code; memory
    /// that threads share is accessed as tilepipe's own operations allow, and none of its barriers
    /// and groups of copies are touched. Nothing of this is checked then, in any function of the
    /// build.
    ///
    /// # In a build script
    ///
    /// [`build_in_script`](crate::build_in_script) never allows it. A build script that has to
    /// calls the builder itself:
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let out_dir = std::path::PathBuf::from(std::env::var("OUT_DIR")?);
    /// let artifact = tilepipe_build::Builder::new("kernels")
    ///     .allow_thread_level_code() // `kernels::clock` is per-thread code throughout
    ///     .target_dir(out_dir.join("tilepipe"))
    ///     .output_dir(out_dir.join("kernels"))
    ///     .build()?;
    /// artifact.write_list(&out_dir)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn allow_thread_level_code(mut self) -> Builder {
        self.allow_thread_level_code = true;
        self
    }

    /// Whether cargo's messages go to standard error while it works. If not, they are part of the
    /// error, if there is one.
    pub fn show_messages(mut self, show: bool) -> Builder {
        self.show = show;
        self
    }

    /// Builds what is out of date.
    ///
    /// # Errors
    ///
    /// Any [`Error`] but those of installing; the files of an earlier build stay as they were.
    pub fn build(&self) -> Result<Artifact, Error> {
        self.build_with_sources().map(|(artifact, _)| artifact)
    }

    /// As [`Builder::build`], with the files that the artifact was made of.
    pub(crate) fn build_with_sources(&self) -> Result<(Artifact, Vec<PathBuf>), Error> {
        let compiled = self.compile()?;
        let _lock = cache::Lock::acquire(&compiled.output)?;
        Ok((compiled.make()?, compiled.sources))
    }

    /// Compiles the crate: the first half of the way.
    fn compile(&self) -> Result<CompiledCrate<'_>, Error> {
        let target = Architecture::parse(&self.target_cpu)?;
        let toolchain = match &self.toolchain {
            Some(toolchain) => toolchain.clone(),
            None => toolchain::find(self.default_target_dir().as_deref())?,
        };
        let mut architectures = Vec::new();
        for arch in &self.architectures {
            let architecture = Architecture::parse(arch)?;
            target.require_on(&architecture, arch, toolchain.cuda_version())?;
            toolchain.require_known(arch)?;
            architectures.push(architecture);
        }
        // LLVM would build for another processor in the place of one that there is not.
        toolchain.require_known(&self.target_cpu)?;
        let package = Package::read(&self.manifest_dir, &toolchain)?;
        let target_dir = self.target_dir.clone().unwrap_or_else(|| package.target_dir.join("tilepipe"));
        let target_dir = std::path::absolute(&target_dir).map_err(Error::io("find", &target_dir))?;
        // Cargo names its files alike for every processor and replaces them, so each processor has
        // a folder, and nobody else compiles there until they are read.
        let compiled_dir = target_dir.join(&self.target_cpu);
        let lock = cache::Lock::acquire(&compiled_dir)?;
        let compilation = Compilation {
            toolchain: &toolchain,
            package: &package,
            features: &self.features,
            kernels: &self.kernels,
            target_cpu: &self.target_cpu,
            target_dir: &compiled_dir,
            show: self.show,
        };
        let compiled = compilation.run()?;
        let bitcode = Bitcode::read(&compiled)?;
        let mut sources = compiled.sources();
        drop(lock);
        let runtime = self.runtime.clone().or_else(|| compiled.device.as_ref().map(|device| device.runtime.clone()));
        let runtime = runtime.ok_or_else(|| Error::NoRuntime { name: package.name.clone() })?;
        let runtime = std::path::absolute(&runtime).map_err(Error::io("find", &runtime))?;
        sources.retain(|source| !source.starts_with(toolchain.sysroot()));
        sources.extend([package.manifest.clone(), runtime.clone()]);
        let output = self.output_dir.clone().unwrap_or_else(|| target_dir.join("kernels").join(&package.name));
        let output = std::path::absolute(&output).map_err(Error::io("find", &output))?;
        let store = Store::new(target_dir.join("kept"));
        Ok(CompiledCrate {
            builder: self,
            target,
            architectures,
            toolchain,
            package,
            bitcode,
            runtime,
            sources,
            output,
            store,
        })
    }

    /// The target folder in which an installed toolchain may lie, before the crate's package is
    /// known.
    fn default_target_dir(&self) -> Option<PathBuf> {
        if let Some(dir) = std::env::var_os("CARGO_TARGET_DIR").filter(|dir| !dir.is_empty()) {
            return Some(PathBuf::from(dir));
        }
        let start = self.target_dir.clone().or_else(|| std::path::absolute(&self.manifest_dir).ok())?;
        let candidates = start.ancestors().flat_map(|dir| [dir.to_path_buf(), dir.join("target")]);
        candidates.into_iter().find(|dir| dir.join(toolchain::FOLDER).is_dir())
    }
}

/// Builds several crates, each as its builder says, into folders of their own. They are compiled
/// one after another; a crate is linked, checked and assembled while the next one is compiled.
/// Returns their artifacts in the same order.
///
/// Crates with one [`Builder::target_dir`] share what they depend on. The one that takes longest to
/// compile is best the last.
///
/// # Errors
///
/// As [`Builder::build`], of the first crate with one. Crates after one that does not compile are
/// not built.
pub fn build_all(builders: &[Builder]) -> Result<Vec<Artifact>, Error> {
    // The compiler has a core for itself. Without threads of their own they use those of the last
    // one.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let beside = rayon::ThreadPoolBuilder::new().num_threads(cores.saturating_sub(1).max(1)).build().ok();
    std::thread::scope(|scope| {
        let mut made = Vec::new();
        for (at, builder) in builders.iter().enumerate() {
            let pool = beside.as_ref().filter(|_| at + 1 < builders.len());
            let thread = builder.compile().map(|compiled| {
                // Which waits for its folder here: a thread of the pool may have that folder
                // itself.
                scope.spawn(move || {
                    let _lock = cache::Lock::acquire(&compiled.output)?;
                    pool.map_or_else(|| compiled.make(), |pool| pool.install(|| compiled.make()))
                })
            });
            let failed = thread.is_err();
            made.push(thread);
            if failed {
                break;
            }
        }
        let join = |thread: ScopedJoinHandle<'_, Result<Artifact, Error>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        made.into_iter().map(|thread| thread.and_then(join)).collect()
    })
}

/// The compiled crates' bitcode, in memory.
struct Bitcode {
    kernels: Vec<Vec<u8>>,
    dependencies: Vec<Vec<u8>>,
    /// That of the device crate, which is among the dependencies' too.
    device: Vec<Vec<u8>>,
}

impl Bitcode {
    fn read(compiled: &Compiled) -> Result<Bitcode, Error> {
        let kernels = rlib::bitcode_members(&compiled.kernels)?;
        let dependencies = compiled.dependencies.iter().map(|dependency| rlib::bitcode_members(dependency));
        let dependencies = dependencies.collect::<Result<Vec<_>, _>>()?.concat();
        let device = compiled.device.as_ref().map(|device| rlib::bitcode_members(&device.rlib));
        Ok(Bitcode { kernels, dependencies, device: device.transpose()?.unwrap_or_default() })
    }

    /// Adds it to a key. The order of dependencies makes no difference: cargo names crates in the
    /// order in which they are done when it compiles them, and in another one when there is nothing
    /// to compile.
    fn add_to(&self, key: &mut cache::Key) {
        let mut dependencies: Vec<&Vec<u8>> = self.dependencies.iter().collect();
        dependencies.sort_unstable();
        self.kernels.iter().chain(dependencies).for_each(|member| key.add(member));
    }
}

/// A compiled crate, and all that is needed to link it and to make machine code.
struct CompiledCrate<'a> {
    builder: &'a Builder,
    target: Architecture,
    /// The builder's own, in the same order.
    architectures: Vec<Architecture>,
    toolchain: Toolchain,
    package: Package,
    bitcode: Bitcode,
    runtime: PathBuf,
    /// The files that it was made of.
    sources: Vec<PathBuf>,
    output: PathBuf,
    store: Store,
}

impl CompiledCrate<'_> {
    /// The second half of the way, in its output folder, which nobody else may use meanwhile.
    fn make(&self) -> Result<Artifact, Error> {
        let key = self.key()?;
        remove_unfinished(&self.output);
        let files = OutputFiles::new(&self.output, &self.package.name);
        if let Some(artifact) = files.existing(&key) {
            return Ok(artifact);
        }
        let work = self.output.join(format!("{WORK}{}", std::process::id()));
        std::fs::create_dir_all(&work).map_err(Error::io("create", &work))?;
        let result = self.make_in(&work);
        let _ = std::fs::remove_dir_all(&work);
        let (images, said) = result?;
        let artifact = files.replace(&images, said, &key)?;
        self.store.prune();
        Ok(artifact)
    }

    /// The place among the architectures asked for of the one that machine code is for.
    fn place(&self, architecture: &Architecture) -> Option<usize> {
        self.architectures.iter().position(|asked| architecture.assembled_for(asked).as_ref() == Some(architecture))
    }

    fn key(&self) -> Result<String, Error> {
        let mut key = cache::Key::new();
        self.bitcode.add_to(&mut key);
        key.add(&std::fs::read(&self.runtime).map_err(Error::io("read", &self.runtime))?);
        key.add(self.package.version.as_bytes());
        key.add(self.builder.target_cpu.as_bytes());
        key.add(&[self.builder.allow_thread_level_code.into()]);
        key.add(self.builder.architectures.join(",").as_bytes());
        key.add(&self.builder.ptx_version.unwrap_or_default().to_le_bytes());
        key.add(self.toolchain.versions().as_bytes());
        Ok(key.finish())
    }

    /// Links in the work folder, then assembles each part.
    fn make_in(&self, work: &Path) -> Result<(Vec<Assembled>, Said), Error> {
        let link = Link {
            toolchain: &self.toolchain,
            name: &self.package.name,
            version: &self.package.version,
            asked_for: &self.builder.kernels,
            kernels: &self.bitcode.kernels,
            dependencies: &self.bitcode.dependencies,
            device: &self.bitcode.device,
            allow_thread_level_code: self.builder.allow_thread_level_code,
            runtime: &self.runtime,
            work,
        };
        let linked = link.run()?;
        let assembly = Assembly {
            toolchain: &self.toolchain,
            name: &self.package.name,
            target: self.target,
            ptx_version: self.builder.ptx_version,
            architectures: &self.architectures,
            store: &self.store,
            work,
        };
        let mut images = assembly.run(&linked.parts)?;
        images.sort_by(|one, other| one.name.cmp(&other.name));
        let mut said = Said::default();
        for cubin in images.iter().flat_map(|image| &image.cubins) {
            said.kernels.extend(cubin.said.kernels.iter().cloned());
            said.messages.extend(cubin.said.messages.iter().cloned());
        }
        let place = |arch: &str| Architecture::parse(arch).ok().and_then(|arch| self.place(&arch));
        said.kernels.sort_by_key(|kernel| place(&kernel.arch));
        said.messages.sort_by_key(|message| place(&message.arch));
        for kernel in &mut said.kernels {
            kernel.threads = linked.kernels.get(&kernel.kernel).map_or(0, |bounds| bounds.threads);
            kernel.dynamic_shared = linked.dynamic_shared.get(&kernel.kernel).copied().unwrap_or(0);
        }
        Ok((images, said))
    }
}

/// What the names of folders with intermediate files begin with.
const WORK: &str = ".work-";

/// Removes what builds that were killed have left in the output folder, which is locked: nobody
/// else works there. What cannot be removed stays, as it is in nobody's way.
fn remove_unfinished(output: &Path) {
    for entry in std::fs::read_dir(output).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if name.starts_with(WORK) {
            let _ = std::fs::remove_dir_all(&path);
        } else if name.ends_with(cache::PARTIAL) {
            let _ = std::fs::remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bitcode, cache, remove_unfinished};

    #[test]
    fn what_a_killed_build_left_goes_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for folder in [".work-1", ".work-4711", "folder"] {
            std::fs::create_dir(path(folder)).unwrap();
            std::fs::write(path(folder).join("linked.0.ll"), "half").unwrap();
        }
        for file in ["k.one.ptx", "k.one.ptx.1-0.partial", "report.json", "report.json.4711-3.partial", ".lock"] {
            std::fs::write(path(file), "text").unwrap();
        }
        remove_unfinished(dir.path());
        let mut left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".lock", "folder", "k.one.ptx", "report.json"]);
        remove_unfinished(&path("none"));
    }

    #[test]
    fn a_key_depends_on_every_member_and_not_on_the_order_of_dependencies() {
        let key = |kernels: &[&str], dependencies: &[&str]| {
            let members = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
            let mut key = cache::Key::new();
            Bitcode { kernels: members(kernels), dependencies: members(dependencies), device: Vec::new() }
                .add_to(&mut key);
            key.finish()
        };
        let own = key(&["kernels"], &["core", "half", "bytemuck"]);
        assert_eq!(own, key(&["kernels"], &["bytemuck", "core", "half"]));
        for (kernels, dependencies) in [
            (&["kernels"][..], &["core", "half"][..]),
            (&["kernels"], &["core", "half", "bytemuck", "core"]),
            (&["other"], &["core", "half", "bytemuck"]),
            (&["core"], &["kernels", "half", "bytemuck"]),
        ] {
            assert_ne!(own, key(kernels, dependencies), "{kernels:?} {dependencies:?}");
        }
    }
}
