//! From the compiled crates' bitcode to modules with some kernels each, which are checked and not
//! yet optimised.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::architecture::Architecture;
use crate::ir::items::Items;
use crate::ir::kernels::bounds::LaunchBounds;
use crate::ir::kernels::contract::Contracts;
use crate::ir::kernels::{bounds, contract, entry};
use crate::ir::mangling::CrateId;
use crate::ir::module::Module;
use crate::ir::needs::Needs;
use crate::ir::synthesised::registers;
use crate::ir::thread_level::Allowed;
use crate::ir::{check, convergent, mangling, panics, recursion, synthesised, thread_level};
use crate::toolchain::Toolchain;
use crate::{Error, process};

/// What is linked, and where its intermediate files go.
pub(crate) struct Link<'a> {
    pub toolchain: &'a Toolchain,
    /// The kernel crate's name.
    pub name: &'a str,
    /// The kernel crate's version.
    pub version: &'a str,
    /// The kernel functions that there must be.
    pub asked_for: &'a [String],
    /// The kernel crate's bitcode.
    pub kernels: &'a [Vec<u8>],
    /// Its dependencies' bitcode, of which only what is used is linked.
    pub dependencies: &'a [Vec<u8>],
    /// The device crate's own bitcode.
    pub device: &'a [Vec<u8>],
    /// Whether code at the level of a single thread may be anywhere.
    pub allow_thread_level_code: bool,
    pub runtime: &'a Path,
    /// An empty folder of this build's own.
    pub work: &'a Path,
}

/// The linked kernels.
pub(crate) struct Linked {
    /// Entry symbols with their launch bounds.
    pub kernels: BTreeMap<String, LaunchBounds>,
    /// Those that `#[kernel]` made, with the bytes of dynamic shared memory of a block.
    pub dynamic_shared: BTreeMap<String, u32>,
    /// Unoptimised modules, each with some of the kernels and all that these need.
    pub parts: Vec<Part>,
}

/// Some kernels of a crate in a module of their own.
pub(crate) struct Part {
    /// A name that no other part of the crate has, for files.
    pub name: String,
    /// The kernels' entry symbols, and those of the constants that belong to them.
    pub roots: Vec<String>,
    /// The module, as text.
    pub module: String,
    /// What its kernels need of a GPU.
    pub needs: Needs,
    /// The functions in it that are compiled apart from those that call them. A kernel's code would
    /// depend on the other kernels if its calls of them were changed with theirs.
    pub apart: Vec<String>,
    /// The registers of a thread of those kernels whose roles share them out.
    pub registers: BTreeMap<String, u32>,
}

/// The most kernels of a part. With fewer of them, more of what they have in common is done again
/// in each part; with more, cores are left idle.
const PART: usize = 32;

impl Link<'_> {
    /// Links, marks, checks and takes apart.
    ///
    /// # Errors
    ///
    /// [`Error::NoKernel`], [`Error::LaunchBounds`], [`Error::Contract`], what [`check::check`],
    /// [`recursion::check`] and [`thread_level::check`] refuse, or [`Error::Llvm`].
    pub(crate) fn run(&self) -> Result<Linked, Error> {
        let merged = self.merge()?;
        let (merged, synthesised) = synthesised::define(&merged).unwrap_or((merged, BTreeSet::new()));
        let text = panics::cheapen(&merged).unwrap_or(merged);
        let (marked, read) = rayon::join(|| convergent::mark(&text), || self.read(&text));
        let (mut kernels, contracts) = read?;
        let fixed = match registers::are_in(&text) {
            true => registers::fix(&mut kernels, &Items::read(&text))?,
            false => BTreeMap::new(),
        };
        let marked = bounds::require(&marked?, &kernels, &contracts.parameters)? + &contracts.definitions;
        drop(text);
        let items = Items::read(&marked);
        let all = kernels.keys().chain(&contracts.names).map(String::as_str);
        let (checked, parts) = rayon::join(
            || self.check(&items.needed(all), &contracts, &synthesised),
            || {
                let needs = items.needs(kernels.keys().map(String::as_str));
                let parts = parts(kernels.keys().map(String::as_str).zip(needs));
                parts.into_par_iter().with_max_len(1).map(|part| self.part(&items, &contracts, &fixed, part)).collect()
            },
        );
        checked?;
        Ok(Linked { parts, kernels, dynamic_shared: contracts.dynamic_shared })
    }

    /// The kernels' launch bounds and contracts.
    fn read(&self, text: &str) -> Result<(BTreeMap<String, LaunchBounds>, Contracts), Error> {
        let kernels = bounds::kernels(text)?;
        if kernels.is_empty() && self.asked_for.is_empty() {
            return Err(Error::NoKernel { name: self.name.to_string() });
        }
        let is_there = |name: &String| kernels.keys().any(|kernel| function(kernel) == name);
        if let Some(kernel) = self.asked_for.iter().find(|name| !is_there(name)) {
            return Err(Error::NoSuchKernel { name: self.name.to_string(), kernel: kernel.clone() });
        }
        let contracts = contract::contracts(text, &kernels, &format!("{} {}", self.name, self.version))?;
        Ok((kernels, contracts))
    }

    /// The part with these entry symbols, and with the constants that belong to them.
    fn part(
        &self,
        items: &Items<'_>,
        contracts: &Contracts,
        fixed: &BTreeMap<String, u32>,
        (name, needs, entries): Entries<'_>,
    ) -> Part {
        let registers = entries.iter().filter_map(|entry| Some(((*entry).to_string(), *fixed.get(*entry)?))).collect();
        let constants = entries.iter().map(|entry| contract::constant(entry));
        let constants = constants.filter(|name| contracts.names.contains(name));
        let roots: Vec<String> = entries.iter().map(|entry| (*entry).to_string()).chain(constants).collect();
        let (module, apart) = items.part(self.name, roots.iter().map(String::as_str));
        Part { name, roots, module, needs, apart: apart.into_iter().map(str::to_string).collect(), registers }
    }

    /// Refuses what a module from which everything unused was removed must not contain.
    fn check(&self, used: &str, contracts: &Contracts, synthesised: &BTreeSet<String>) -> Result<(), Error> {
        check::check(used)?;
        let module = Module::read(used)?;
        recursion::check(&module)?;
        let runtime = self.as_text("runtime", &[self.runtime.to_path_buf()])?;
        let device = self.write_members("device", self.device)?;
        let device = if device.is_empty() { String::new() } else { self.as_text("device", &device)? };
        let mut symbols = thread_level::symbols(&runtime);
        symbols.extend(synthesised.iter().map(String::as_str));
        let allowed = Allowed { device: device_crate(&device), runtime: symbols };
        if !self.allow_thread_level_code {
            thread_level::check(&module, &allowed)?;
        }
        // Crates without tilepipe have entry points of their own kind, and so may crates with
        // thread-level code: no instance stands for those.
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

    /// All of the kernel crate, and of the runtime and the dependencies what it uses, as text.
    fn merge(&self) -> Result<String, Error> {
        let mut whole = self.write_members("kernels", self.kernels)?;
        if whole.len() > 1 {
            let all = self.work.join("kernels.bc");
            self.llvm("llvm-link", &whole, &all)?;
            whole = vec![all];
        }
        let mut needed = vec![self.runtime.to_path_buf()];
        needed.extend(self.write_members("dependency", self.dependencies)?);
        // A crate may need one that was linked before it (`core` calls `memcpy` of
        // `compiler_builtins`, which uses `core`), so each is there several times, and this is
        // repeated until nothing more is resolved.
        let mut unresolved: Option<Vec<String>> = None;
        for round in 0.. {
            let next = self.work.join(format!("linked.{round}.ll"));
            let inputs = whole.iter().chain(&needed).chain(&needed).chain(&needed).map(|input| input.as_os_str());
            self.llvm("llvm-link", ["-S".as_ref(), "--only-needed".as_ref()].into_iter().chain(inputs), &next)?;
            let text = read(&next)?;
            let left = check::unresolved(&text).into_iter().map(str::to_string).collect();
            if unresolved.as_ref() == Some(&left) || left.is_empty() {
                return Ok(text);
            }
            unresolved = Some(left);
            whole = vec![next];
        }
        unreachable!("a round that resolves nothing is the last")
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
        process::llvm(self.toolchain, self.name, tool, self.work, arguments, output)
    }
}

/// A part's name, its needs and the entry symbols in it.
type Entries<'a> = (String, Needs, Vec<&'a str>);

/// The kernels of each part: all instances of a kernel function that run on the same GPUs, or up to
/// [`PART`] of them.
fn parts<'a>(kernels: impl Iterator<Item = (&'a str, Needs)>) -> Vec<Entries<'a>> {
    let mut functions: BTreeMap<(&str, Architecture), Vec<(&str, Needs)>> = BTreeMap::new();
    for (kernel, needs) in kernels {
        functions.entry((function(kernel), needs.architecture)).or_default().push((kernel, needs));
    }
    let parts = functions.into_iter().flat_map(|((function, architecture), kernels)| {
        let several = kernels.len() > PART;
        let class = if architecture == Needs::LEAST.architecture { String::new() } else { format!(".{architecture}") };
        let name = move |at| if several { format!("{function}{class}.{at}") } else { format!("{function}{class}") };
        let part = |(at, some): (usize, &[(&'a str, Needs)])| {
            let needs = some.iter().map(|(_, needs)| *needs).fold(Needs::LEAST, Needs::and);
            (name(at), needs, some.iter().map(|(kernel, _)| *kernel).collect())
        };
        kernels.chunks(PART).enumerate().map(part).collect::<Vec<_>>()
    });
    parts.collect()
}

/// The kernel function of an entry's symbol, which is `crate$function__instance`, as `#[kernel]`
/// writes it.
pub(crate) fn function(symbol: &str) -> &str {
    let instance = instance(symbol);
    instance.split_once("__").map_or(instance, |(function, _)| function)
}

/// An entry's symbol without its crate.
pub(crate) fn instance(symbol: &str) -> &str {
    symbol.rsplit_once('$').map_or(symbol, |(_, instance)| instance)
}

/// The id of the device crate, which every function that its bitcode defines for itself has.
fn device_crate(module: &str) -> Option<CrateId<'_>> {
    bounds::definitions(module).filter_map(mangling::owner).find(|owner| owner.name == "tilepipe")
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(Error::io("read", path))
}

#[cfg(test)]
mod tests {
    use super::{Architecture, Needs, PART, parts};

    #[test]
    fn a_part_has_instances_of_one_function() {
        let many: Vec<String> = (0..PART + 4).map(|at| format!("a$many__{at:02}")).collect();
        let kernels = many.iter().map(String::as_str).chain(["a$one__1", "a$one__2", "by_hand"]);
        let parts = parts(kernels.map(|kernel| (kernel, Needs::LEAST)));
        let names: Vec<(&str, usize)> = parts.iter().map(|(name, _, some)| (name.as_str(), some.len())).collect();
        assert_eq!(names, [("by_hand", 1), ("many.0", PART), ("many.1", 4), ("one", 2)]);
        assert_eq!(parts[2].2[0], many[PART]);
    }

    #[test]
    fn a_part_has_instances_that_run_on_the_same_gpus() {
        let of = |architecture, ptx| Needs { architecture, ptx };
        let (plain, alone) = (Architecture::plain(90), Architecture::alone(90));
        let kernels =
            [("a$k__1", of(plain, 80)), ("a$k__2", Needs::LEAST), ("a$k__3", of(alone, 80)), ("a$k__4", of(plain, 86))];
        let parts = parts(kernels.into_iter());
        let expected = [
            ("k".to_string(), Needs::LEAST, vec!["a$k__2"]),
            ("k.sm_90".to_string(), of(plain, 86), vec!["a$k__1", "a$k__4"]),
            ("k.sm_90a".to_string(), of(alone, 80), vec!["a$k__3"]),
        ];
        assert_eq!(parts, expected);
    }
}
