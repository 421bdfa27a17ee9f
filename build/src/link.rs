//! From the compiled crates' bitcode to one optimised module and its PTX, by LLVM's tools.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::ir::contract::Contracts;
use crate::ir::mangling::CrateId;
use crate::ir::module::Module;
use crate::ir::thread_level::Allowed;
use crate::ir::{bounds, check, contract, convergent, entry, mangling, recursion, thread_level};
use crate::toolchain::Toolchain;
use crate::{Error, process};

/// The call of the function that returns the collectives' shared memory: once in its definition, and once for each user.
const SCRATCH_USER: &str = "@tilepipe_scratch_base(";

/// Keeps LLVM from computing a value ahead of a loop and again behind it only to merge both: such a value is shifted and scaled in
/// each round of the loop, where it would be an invariant (docs/decisions.md, 34). Both tools take it, as `llc` has such a pass too.
const NO_PARTIAL_REDUNDANCY: &str = "-enable-pre=0";

/// What is linked, and where its intermediate files go.
pub(crate) struct Link<'a> {
    pub toolchain: &'a Toolchain,
    /// The kernel crate's name.
    pub name: &'a str,
    /// The kernel crate's version.
    pub version: &'a str,
    /// The kernel crate's bitcode.
    pub kernels: &'a [Vec<u8>],
    /// Its dependencies' bitcode, of which only what is used is linked.
    pub dependencies: &'a [Vec<u8>],
    /// The device crate's own bitcode.
    pub device: &'a [Vec<u8>],
    /// Whether code at the level of a single thread may be anywhere.
    pub allow_thread_level_code: bool,
    pub runtime: &'a Path,
    pub target_cpu: &'a str,
    /// The PTX version in tenths, such as 70.
    pub ptx_version: u32,
    /// An empty folder of this build's own.
    pub work: &'a Path,
}

/// The linked module.
pub(crate) struct Linked {
    /// Entry symbols with their threads a block.
    pub kernels: BTreeMap<String, u32>,
    /// The optimised IR, as text.
    pub ir: PathBuf,
    pub ptx: PathBuf,
}

impl Link<'_> {
    /// Links, marks, checks, optimises and lowers.
    ///
    /// # Errors
    ///
    /// [`Error::NoKernel`], [`Error::LaunchBounds`], [`Error::Contract`], what [`check::check`], [`recursion::check`] and
    /// [`thread_level::check`] refuse, or [`Error::Llvm`].
    pub(crate) fn run(&self) -> Result<Linked, Error> {
        let text = self.merge()?;
        let kernels = bounds::kernels(&text)?;
        if kernels.is_empty() {
            return Err(Error::NoKernel { name: self.name.to_string() });
        }
        let contracts = contract::contracts(&text, &kernels, &format!("{} {}", self.name, self.version))?;
        let text = bounds::require(&convergent::mark(&text)?, &kernels)? + &contracts.definitions;
        self.write("marked.ll", text.as_bytes())?;

        // The tools write their input's path into the module, so they are given names in the work folder.
        let mut public: Vec<&str> = kernels.keys().map(String::as_str).collect();
        public.push(check::PANIC_RECORD);
        public.extend(contracts.names.iter().map(String::as_str));
        // Shared memory must look as if others wrote it. What no kernel uses goes, so that no kernel pays for it.
        if text.matches(SCRATCH_USER).count() > 1 {
            public.push("tilepipe_scratch");
        }
        // In a file: an argument has at most 128 KiB.
        self.write("public.txt", public.join("\n").as_bytes())?;
        let public = "-internalize-public-api-file=public.txt";
        let used = self.work.join("used.ll");
        let unused_out = "-passes=internalize,globaldce";
        self.llvm("opt", ["-S", unused_out, public, "marked.ll"], &used)?;
        self.check(&read(&used)?, &contracts)?;

        // The line tables have served.
        let ir = self.work.join("optimised.ll");
        self.llvm("opt", ["-S", "-strip-debug", "-passes=default<O3>", NO_PARTIAL_REDUNDANCY, "used.ll"], &ir)?;
        let ptx = self.work.join("module.ptx");
        let cpu = format!("-mcpu={}", self.target_cpu);
        let version = format!("-mattr=+ptx{}", self.ptx_version);
        self.llvm("llc", ["-O3", NO_PARTIAL_REDUNDANCY, &cpu, &version, "optimised.ll"], &ptx)?;
        Ok(Linked { kernels, ir, ptx })
    }

    /// Refuses what a module from which everything unused was removed must not contain.
    fn check(&self, used: &str, contracts: &Contracts) -> Result<(), Error> {
        check::check(used)?;
        let module = Module::read(used)?;
        recursion::check(&module)?;
        let runtime = self.as_text("runtime", &[self.runtime.to_path_buf()])?;
        let device = self.write_members("device", self.device)?;
        let device = if device.is_empty() { String::new() } else { self.as_text("device", &device)? };
        let allowed = Allowed { device: device_crate(&device), runtime: thread_level::symbols(&runtime) };
        if !self.allow_thread_level_code {
            thread_level::check(&module, &allowed)?;
        }
        // Crates without tilepipe have entry points of their own kind, and so may crates with thread-level code: no
        // instance stands for those.
        match allowed.device {
            Some(_) => entry::check(&module, allowed.device, &contracts.parameters, self.allow_thread_level_code),
            None => Ok(()),
        }
    }

    /// Modules linked into one, as text.
    fn as_text(&self, name: &str, modules: &[PathBuf]) -> Result<String, Error> {
        let text = self.work.join(format!("{name}.ll"));
        self.llvm(
            "llvm-link",
            ["-S".as_ref()].into_iter().chain(modules.iter().map(|module| module.as_os_str())),
            &text,
        )?;
        read(&text)
    }

    /// All of the kernel crate and the runtime, and of the dependencies what these use, as text.
    fn merge(&self) -> Result<String, Error> {
        let mut inputs = self.write_members("kernels", self.kernels)?;
        inputs.push(self.runtime.to_path_buf());
        let mut linked = self.work.join("linked.0.ll");
        let mut text = self.as_text("linked.0", &inputs)?;
        let dependencies = self.write_members("dependency", self.dependencies)?;
        // A crate may need one that was linked before it (`core` calls `memcpy` of `compiler_builtins`, which uses
        // `core`), so this is repeated until nothing more is resolved.
        for round in 1.. {
            let before: Vec<String> = check::unresolved(&text).into_iter().map(str::to_string).collect();
            if before.is_empty() || dependencies.is_empty() {
                break;
            }
            let next = self.work.join(format!("linked.{round}.ll"));
            let options = ["-S".as_ref(), "--only-needed".as_ref(), linked.as_os_str()];
            self.llvm("llvm-link", options.into_iter().chain(dependencies.iter().map(|d| d.as_os_str())), &next)?;
            text = read(&next)?;
            linked = next;
            if check::unresolved(&text) == before {
                break;
            }
        }
        Ok(text)
    }

    /// Writes bitcode to files of its own.
    fn write_members(&self, kind: &str, members: &[Vec<u8>]) -> Result<Vec<PathBuf>, Error> {
        members.iter().enumerate().map(|(at, member)| self.write(&format!("{kind}.{at}.bc"), member)).collect()
    }

    fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, Error> {
        let path = self.work.join(name);
        std::fs::write(&path, content).map_err(Error::io("write", &path))?;
        Ok(path)
    }

    /// Runs one of LLVM's tools.
    fn llvm<A: AsRef<OsStr>>(
        &self,
        tool: &str,
        arguments: impl IntoIterator<Item = A>,
        output: &Path,
    ) -> Result<(), Error> {
        let result =
            process::run(self.toolchain.llvm(tool).current_dir(self.work).args(arguments).arg("-o").arg(output))?;
        if result.success {
            return Ok(());
        }
        Err(Error::Llvm { tool: tool.to_string(), name: self.name.to_string(), output: result.last_lines(30) })
    }
}

/// The id of the device crate, which every function that its bitcode defines for itself has.
fn device_crate(module: &str) -> Option<CrateId<'_>> {
    bounds::definitions(module).filter_map(mangling::owner).find(|owner| owner.name == "tilepipe")
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(Error::io("read", path))
}
