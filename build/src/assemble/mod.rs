//! From a part's unoptimised module to its PTX and machine code, by way of what was kept.

mod checks;
mod dependent;
mod ends;
mod flow;
pub(crate) mod kept;
mod lines;
mod marked;
pub(crate) mod ptxas;
mod settled;
pub(crate) mod specialise;

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::architecture::Architecture;
use crate::assemble::kept::Store;
use crate::assemble::ptxas::Said;
use crate::compile::cache::Key;
use crate::ir::items::{Items, internal};
use crate::ir::synthesised::products;
use crate::link::Part;
use crate::toolchain::Toolchain;
use crate::{Error, process};

/// Keeps LLVM from computing a value ahead of a loop and again after it only to merge both: such a
/// value is shifted and scaled in each round of the loop, where it would be an invariant
/// (docs/decisions/34). Both tools take it, as `llc` has such a pass too.
const NO_PARTIAL_REDUNDANCY: &str = "-enable-pre=0";

/// What `opt` does. After the usual passes it takes note which addresses are shared memory, whose
/// start has a known alignment, and how the accesses to it are aligned: `llc` makes one wide load
/// of loads of elements in a row only if their alignment is known (docs/decisions/50).
const PASSES: &str = "-passes=internalize,default<O3>,function(infer-address-spaces,infer-alignment)";

/// What of a kernel is its own code: all but functions of tens of thousands of instructions. A
/// closure that becomes a function, because it is large or called twice, has what it captures in
/// local memory (docs/decisions/85).
const INLINED: &str = "-inline-threshold=20000";

/// For parts with products of the tensor cores. Loops over the registers of sums are unrolled,
/// whatever their size, before their memory is taken apart: an index that is known at run time
/// alone would keep it in local memory. And all functions become part of their callers, since
/// products are taken one by one in a kernel that calls a function while sums are in registers. At
/// last, a branch on whether there are sums goes to where they are stored however much code that
/// is: otherwise the sums of the tile before are kept where there are none, which no registers are
/// left for.
const OF_PRODUCTS: [&str; 5] = [
    "-unroll-threshold=20000",
    "-unroll-runtime=false",
    "-unroll-allow-partial=false",
    "-inline-threshold=1000000",
    "-max-jump-threading-live-blocks=10000",
];

/// How parts are optimised, translated and assembled.
pub(crate) struct Assembly<'a> {
    pub toolchain: &'a Toolchain,
    /// The kernel crate's name.
    pub name: &'a str,
    /// The least architecture that the PTX runs on.
    pub target: Architecture,
    /// The PTX version in tenths, such as 71, if one was chosen.
    pub ptx_version: Option<u32>,
    pub architectures: &'a [Architecture],
    pub store: &'a Store,
    /// An empty folder of this build's own; each part has a folder of its own there.
    pub work: &'a Path,
}

/// What became of a part.
pub(crate) struct Assembled {
    pub name: String,
    /// The optimised module, as text.
    pub ir: String,
    pub ptx: String,
    /// The least architecture that it runs on.
    pub target: String,
    /// The machine code for the architectures asked for that it runs on.
    pub cubins: Vec<MachineCode>,
}

/// A part's machine code for an architecture.
pub(crate) struct MachineCode {
    pub arch: String,
    pub code: Vec<u8>,
    /// What `ptxas` said about it.
    pub said: Said,
}

impl Assembly<'_> {
    /// Does all parts, on all cores.
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`], [`Error::Ptxas`] or [`Error::Io`]: one of them, if there are several.
    pub(crate) fn run(&self, parts: &[Part]) -> Result<Vec<Assembled>, Error> {
        parts.par_iter().with_max_len(1).map(|part| self.part(part)).collect()
    }

    fn part(&self, part: &Part) -> Result<Assembled, Error> {
        let needs = part.needs.architecture;
        let target = self.target.max(needs);
        if needs.assembled_for(&target).is_none() {
            let [needs, target] = [needs, target].map(|architecture| architecture.to_string());
            let kernel = part.name.split('.').next().unwrap_or_default().to_string();
            return Err(Error::Target { kernel, needs, target });
        }
        let ir = self.optimised(part)?;
        let ptx = self.ptx(part, &ir, &target)?;
        let mut architectures: Vec<Architecture> = Vec::new();
        for architecture in self.architectures.iter().filter_map(|asked| target.assembled_for(asked)) {
            if !architectures.contains(&architecture) {
                architectures.push(architecture);
            }
        }
        let cubins = architectures.par_iter().map(|architecture| self.cubin(part, &ptx, architecture));
        let cubins = cubins.collect::<Result<_, _>>()?;
        Ok(Assembled { name: part.name.clone(), target: target.to_string(), cubins, ir, ptx })
    }

    /// The part's optimised module.
    fn optimised(&self, part: &Part) -> Result<String, Error> {
        let public =
            part.roots.iter().chain(&part.apart).map(String::as_str).chain(PUBLIC).collect::<Vec<_>>().join("\n");
        let of_products = if products::are_in(&part.module) { &OF_PRODUCTS[..] } else { &[INLINED] };
        let key =
            self.key("optimised", &[&[PASSES, NO_PARTIAL_REDUNDANCY, &public, &part.module], of_products].concat());
        let kept = self.store.get(key, || {
            // In a file: an argument has at most 128 KiB.
            self.write(part, "public", public.as_bytes())?;
            self.write(part, "ll", part.module.as_bytes())?;
            let public = format!("-internalize-public-api-file={}.public", part.name);
            let module = format!("{}.ll", part.name);
            let arguments = [&["-S", PASSES, NO_PARTIAL_REDUNDANCY, &public, &module], of_products].concat();
            let text = text(self.llvm("opt", &arguments, part, "optimised.ll")?)?;
            // Functions that were apart from their callers may have none any more, and none need be
            // seen from outside.
            let needed = Items::read(&text).part(self.name, part.roots.iter().map(String::as_str)).0;
            Ok(internal(&needed, &part.apart).into_bytes())
        });
        text(kept?)
    }

    /// The PTX for the target.
    fn ptx(&self, part: &Part, ir: &str, target: &Architecture) -> Result<String, Error> {
        let cpu = format!("-mcpu={target}");
        let least = target.least_ptx_version().max(part.needs.ptx);
        let version = format!("-mattr=+ptx{}", self.ptx_version.map_or(least, |wanted| wanted.max(part.needs.ptx)));
        let key = self.key(
            "ptx without last joins, of stores too, hints and settled waits, with checks in line, marks led out and dependent kernels",
            &[NO_PARTIAL_REDUNDANCY, &cpu, &version, ir],
        );
        let kept = self.store.get(key, || {
            self.write(part, "optimised.ll", ir.as_bytes())?;
            let input = format!("{}.optimised.ll", part.name);
            let ptx = text(self.llvm("llc", &["-O3", NO_PARTIAL_REDUNDANCY, &cpu, &version, &input], part, "ptx")?)?;
            let ptx = ends::without_last_joins(&ptx).unwrap_or(ptx);
            let ptx = settled::without_settled_waits(&ptx).unwrap_or(ptx);
            let ptx = checks::in_line(&ptx).unwrap_or(ptx);
            let ptx = marked::led_out(&ptx).unwrap_or(ptx);
            let ptx = specialise::text(&ptx, target).unwrap_or(ptx);
            Ok(dependent::waiting(&ptx, target).unwrap_or(ptx).into_bytes())
        });
        text(kept?)
    }

    /// The machine code for an architecture.
    fn cubin(&self, part: &Part, ptx: &str, architecture: &Architecture) -> Result<MachineCode, Error> {
        let specialised = specialise::text(ptx, architecture);
        let ptx = specialised.as_deref().unwrap_or(ptx);
        let arch = architecture.to_string();
        let key = self.key("cubin", &[&arch, ptx]);
        let kept = self.store.get(key, || {
            let input = self.write(part, &format!("{arch}.ptx"), ptx.as_bytes())?;
            let output = input.with_extension("cubin");
            let said = ptxas::assemble(self.toolchain, &input, &arch, &output)?;
            let cubin = std::fs::read(&output).map_err(Error::io("read", &output))?;
            Ok([&(said.len() as u64).to_le_bytes(), said.as_bytes(), &cubin].concat())
        })?;
        let unknown = || Error::Ir { reason: "a kept result", line: format!("{} for {arch}", part.name) };
        let (length, rest) = kept.split_first_chunk().ok_or_else(unknown)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| unknown())?;
        let (said, cubin) = rest.split_at_checked(length).ok_or_else(unknown)?;
        let said = ptxas::parse(&String::from_utf8_lossy(said), &part.name, &arch);
        if let Some(message) = said.messages.iter().find(|message| message.spoils_products()) {
            let (kernel, message) = (message.kernel.clone(), message.text.clone());
            return Err(Error::Products { kernel: kernel.unwrap_or_else(|| part.name.clone()), arch, message });
        }
        for report in &said.kernels {
            let (kernel, given) = (report.kernel.clone(), report.registers);
            if let Some(wanted) = part.registers.get(&kernel).copied().filter(|wanted| *wanted != given) {
                return Err(Error::RoleRegisters { kernel, arch, given, wanted });
            }
        }
        Ok(MachineCode { arch, code: cubin.to_vec(), said })
    }

    /// A key for what these tools make of these inputs in a stage.
    fn key(&self, stage: &str, inputs: &[&str]) -> Key {
        let mut key = Key::new();
        key.add(stage.as_bytes());
        key.add(self.toolchain.versions().as_bytes());
        inputs.iter().for_each(|input| key.add(input.as_bytes()));
        key
    }

    /// Writes a file of the part's own.
    fn write(&self, part: &Part, extension: &str, content: &[u8]) -> Result<PathBuf, Error> {
        let folder = folder(self.work, &part.name);
        std::fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        let path = file(self.work, &part.name, extension);
        std::fs::write(&path, content).map_err(Error::io("write", &path))?;
        Ok(path)
    }

    /// Runs one of LLVM's tools in the part's folder, as it writes its input's path into the
    /// module; returns what it made.
    fn llvm(&self, tool: &str, arguments: &[&str], part: &Part, extension: &str) -> Result<Vec<u8>, Error> {
        let output = file(self.work, &part.name, extension);
        process::llvm(self.toolchain, self.name, tool, &folder(self.work, &part.name), arguments, &output)?;
        std::fs::read(&output).map_err(Error::io("read", &output))
    }
}

/// The folder of a part's files in `work`.
///
/// Parts are built at the same time, and one's name may be the beginning of another's: the text of
/// `k` for `sm_90` and that of the part `k.sm_90` would be one file.
fn folder(work: &Path, part: &str) -> PathBuf {
    work.join(part)
}

/// A part's file in `work`.
fn file(work: &Path, part: &str, extension: &str) -> PathBuf {
    folder(work, part).join(format!("{part}.{extension}"))
}

/// What is public in a part beside its kernels: memory that others write, which must look so.
const PUBLIC: [&str; 1] = [crate::ir::check::PANIC_RECORD];

/// What a tool wrote as text.
fn text(bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|_| Error::Ir { reason: "text", line: "a tool's output".to_string() })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    /// A kernel's instances for newer GPUs are a part whose name is the kernel's and the
    /// architecture.
    #[test]
    fn no_two_parts_share_a_file() {
        let parts = ["k", "k.sm_90", "k.sm_100", "k.sm_90.optimised", "k_two"];
        let extensions = ["public", "ll", "optimised.ll", "ptx", "sm_90.ptx", "sm_100.ptx", "sm_90.cubin"];
        let files =
            parts.iter().flat_map(|part| extensions.map(|extension| super::file(Path::new("work"), part, extension)));
        assert_eq!(files.collect::<HashSet<_>>().len(), parts.len() * extensions.len());
    }
}
