//! `cargo xtask bench --compile`: what it takes to compile one kernel, ours and CUDA C++ that does
//! the same work, from source to PTX and to machine code.
//!
//! Ours is built as a `build.rs` does it, with what the kernel's crate depends on compiled before
//! and nothing of the kernel itself kept. nvcc compiles a file with that kernel alone, and reads
//! the headers that it includes each time.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tilepipe_build::toolchain::Toolchain;
use tilepipe_build::{Artifact, Builder};

use crate::{bundle, process, project, setup};

/// Timed rounds: in each, every contestant of every task makes PTX once and machine code once.
const ROUNDS: usize = 7;
/// What is compiled for: nvcc's PTX and all machine code. Our PTX is for `sm_80`, as programs have
/// it.
const ARCHITECTURE: &str = "sm_90";

/// What one kernel does, in each language.
struct Task {
    name: &'static str,
    /// Our kernel in `bench/compile`.
    kernel: &'static str,
    threads: u32,
    inputs: &'static [&'static str],
    forms: [Form; 2],
}

/// A function of `bench/peers` that a kernel calls.
struct Form {
    name: &'static str,
    class: &'static str,
    header: &'static str,
    function: &'static str,
}

const fn pipeline(header: &'static str, function: &'static str) -> Form {
    Form { name: "cuda::pipeline", class: "pipeline", header, function }
}

const fn by_hand(header: &'static str, function: &'static str) -> Form {
    Form { name: "cp.async by hand", class: "hand", header, function }
}

const TASKS: [Task; 5] = [
    Task {
        name: "neighbour sum, 2 stages, one i32 a thread",
        kernel: "neighbour_sum",
        threads: 256,
        inputs: &["in"],
        forms: [pipeline("guide.cuh", "pipeline<int, 2>"), by_hand("by_hand.cuh", "by_hand<int, 2, true>")],
    },
    Task {
        name: "neighbour sum, 2 stages, four i32 a thread",
        kernel: "neighbour_sum_wide",
        threads: 128,
        inputs: &["in"],
        forms: [pipeline("wide.cuh", "wide_pipeline<128, 4, 2>"), by_hand("wide.cuh", "wide_by_hand<128, 4, 2, true>")],
    },
    Task {
        name: "three times each element, 2 stages, four i32 a thread",
        kernel: "triple_wide",
        threads: 128,
        inputs: &["in"],
        forms: [
            pipeline("wide_own.cuh", "own_wide_pipeline<128, 4, 2>"),
            by_hand("wide_own.cuh", "own_wide_by_hand<128, 4, 2>"),
        ],
    },
    Task {
        name: "two inputs, 2 stages, one i32 a thread",
        kernel: "two_inputs",
        threads: 256,
        inputs: &["left", "right"],
        forms: [pipeline("guide.cuh", "example<int>"), by_hand("by_hand.cuh", "two_by_hand<int, 2, true>")],
    },
    Task {
        name: "two inputs, 2 stages, four i32 a thread",
        kernel: "two_inputs_wide",
        threads: 128,
        inputs: &["left", "right"],
        forms: [pipeline("wide.cuh", "wide_pipeline<128, 4, 2>"), by_hand("wide.cuh", "wide_by_hand<128, 4, 2, true>")],
    },
];

/// How far a contestant compiles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    Ptx,
    MachineCode,
}

/// What was made: PTX and machine code, and the registers of a thread.
#[derive(Default)]
struct Sizes {
    ptx_bytes: usize,
    code_bytes: u64,
    cubin_bytes: usize,
    registers: u32,
}

/// Compiles all kernels in rounds, and writes what that took to a file that `tilepipe-bench
/// compile` makes a record of; the compilers' versions go to the folder `versions`. `folder` is
/// emptied before.
///
/// # Errors
///
/// A compiler that is missing or fails, and files that cannot be written.
pub fn measure(folder: &Path, versions: &Path, to: &Path) -> Result<()> {
    let compilers = Compilers { nvcc: nvcc()?, toolchain: setup::ensure()?, folder };
    remove(folder)?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    compilers.write_versions(versions)?;
    println!("compiling {} kernels {ROUNDS} times, ours and C++", TASKS.len());
    // The first build compiles what ours depend on; it is not timed.
    let sizes: Vec<Vec<Sizes>> = TASKS.iter().map(|task| compilers.sizes(task)).collect::<Result<_>>()?;
    let mut seconds = vec![vec![[const { Vec::new() }; 2]; 3]; TASKS.len()];
    for round in 0..ROUNDS {
        for (at, goal) in [Goal::Ptx, Goal::MachineCode].into_iter().enumerate() {
            for (task, of_task) in TASKS.iter().zip(&mut seconds) {
                // The one that begins changes.
                for turn in 0..of_task.len() {
                    let contestant = (round + turn) % of_task.len();
                    of_task[contestant][at].push(compilers.time(task, contestant, goal)?);
                }
            }
        }
        println!("round {} of {ROUNDS}", round + 1);
    }
    let tasks: Vec<Value> = TASKS
        .iter()
        .zip(sizes)
        .zip(seconds)
        .map(|((task, sizes), seconds)| {
            let contestants: Vec<Value> = sizes.iter().zip(seconds).enumerate().map(|(at, (sizes, [ptx, code]))| {
            let (name, class) = task.contestant(at);
            json!({
                "name": name, "class": class, "ptx_seconds": ptx, "code_seconds": code, "ptx_bytes": sizes.ptx_bytes,
                "code_bytes": sizes.code_bytes, "cubin_bytes": sizes.cubin_bytes, "registers": sizes.registers,
            })
        }).collect();
            json!({ "name": task.name, "contestants": contestants })
        })
        .collect();
    let measured = json!({ "architecture": ARCHITECTURE, "tasks": tasks });
    fs::write(to, measured.to_string()).with_context(|| format!("cannot write {}", to.display()))
}

impl Task {
    /// Name and class of a contestant, of which ours is the first.
    fn contestant(&self, at: usize) -> (&'static str, &'static str) {
        let form = at.checked_sub(1).map(|form| &self.forms[form]);
        form.map_or(("tilepipe", "tilepipe"), |form| (form.name, form.class))
    }

    /// A file with the kernel alone. What is by hand includes no library.
    fn source(&self, form: &Form) -> String {
        let parameters: Vec<String> = self.inputs.iter().map(|name| format!("const View<int> {name}")).collect();
        let without = if form.class == "hand" { "#define WITHOUT_LIBRARIES\n" } else { "" };
        format!(
            "{without}#include \"{}\"\n\nextern \"C\" __global__ void __launch_bounds__({}) {}({}, const View<int> out) {{\n    \
             {}({}, out);\n}}\n",
            form.header,
            self.threads,
            self.kernel,
            parameters.join(", "),
            form.function,
            self.inputs.join(", ")
        )
    }
}

/// Both compilers, and the folder of what they make.
struct Compilers<'a> {
    nvcc: PathBuf,
    toolchain: Toolchain,
    folder: &'a Path,
}

impl Compilers<'_> {
    /// Compiles a kernel and returns the seconds that it took.
    fn time(&self, task: &Task, contestant: usize, goal: Goal) -> Result<f64> {
        let Some(form) = contestant.checked_sub(1) else {
            self.forget()?;
            let start = Instant::now();
            self.build(task, goal)?;
            return Ok(start.elapsed().as_secs_f64());
        };
        let mut command = self.nvcc(task, &task.forms[form], goal)?;
        let start = Instant::now();
        process::run(&mut command)?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// Lets cargo compile the kernels' crate again, and removes what was kept of its kernels.
    fn forget(&self) -> Result<()> {
        remove(&self.folder.join("device/kept"))?;
        remove(&self.folder.join("ptx"))?;
        let source = project::root().join("bench/compile/src/lib.rs");
        let touched = File::options().append(true).open(&source).and_then(|file| file.set_modified(SystemTime::now()));
        touched.with_context(|| format!("cannot touch {}", source.display()))
    }

    fn build(&self, task: &Task, goal: Goal) -> Result<Artifact> {
        let architectures = if goal == Goal::Ptx { &[][..] } else { &[ARCHITECTURE] };
        let builder = Builder::new(project::root().join("bench/compile")).toolchain(self.toolchain.clone());
        let builder = builder.target_dir(self.folder.join("device")).output_dir(self.folder.join("ptx"));
        let artifact = builder.architectures(architectures.iter().copied()).kernels([task.kernel]).build()?;
        ensure!(!artifact.fresh, "{} was not built again", task.kernel);
        Ok(artifact)
    }

    /// The call of nvcc that compiles a form.
    fn nvcc(&self, task: &Task, form: &Form, goal: Goal) -> Result<Command> {
        let source = self.folder.join(format!("{}.{}.cu", task.kernel, form.class));
        fs::write(&source, task.source(form)).with_context(|| format!("cannot write {}", source.display()))?;
        let mut command = Command::new(&self.nvcc);
        command.args(["-O3", "-std=c++17", "-arch", ARCHITECTURE, "-I"]).arg(project::root().join("bench/peers"));
        command.arg(if goal == Goal::Ptx { "-ptx" } else { "-cubin" });
        command.arg("-o").arg(made(&source, goal)).arg(&source);
        Ok(command)
    }

    /// Compiles all contestants of a task and looks at what they made.
    fn sizes(&self, task: &Task) -> Result<Vec<Sizes>> {
        self.forget()?;
        let artifact = self.build(task, Goal::MachineCode)?;
        let [image] = &artifact.images[..] else { bail!("{} has not one image", task.kernel) };
        let [report] = &artifact.report[..] else { bail!("{} has not one instance", task.kernel) };
        let cubin = image.cubins.first().with_context(|| format!("{} has no machine code", task.kernel))?;
        let mut all = vec![sizes(&image.ptx, &cubin.path, report.registers)?];
        for form in &task.forms {
            process::run(&mut self.nvcc(task, form, Goal::Ptx)?)?;
            let mut command = self.nvcc(task, form, Goal::MachineCode)?;
            let output = command.args(["-Xptxas", "-v"]).output().context("cannot start nvcc")?;
            let said = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.success(), "`{}` failed: {said}", process::text(&command));
            let registers = registers(&said).with_context(|| format!("ptxas says no registers: {said}"))?;
            let source = self.folder.join(format!("{}.{}.cu", task.kernel, form.class));
            all.push(sizes(&made(&source, Goal::Ptx), &made(&source, Goal::MachineCode), registers)?);
        }
        Ok(all)
    }

    /// Writes the versions of both compilers to a folder, as they lie beside what they build.
    fn write_versions(&self, to: &Path) -> Result<()> {
        let mut build = Command::new(project::root().join("bench/peers/build.sh"));
        process::run(build.arg(to).arg("versions").env("NVCC", &self.nvcc))?;
        let file = to.join(bundle::TOOLCHAIN);
        fs::write(&file, self.toolchain.versions()).with_context(|| format!("cannot write {}", file.display()))
    }
}

/// The file that nvcc makes of a source.
fn made(source: &Path, goal: Goal) -> PathBuf {
    source.with_extension(if goal == Goal::Ptx { "ptx" } else { "cubin" })
}

/// nvcc, where `build.sh` looks for it.
fn nvcc() -> Result<PathBuf> {
    let is_there = |path: &PathBuf| path.is_file();
    let named = std::env::var_os("NVCC").map(PathBuf::from);
    let on_path = std::env::var_os("PATH")
        .into_iter()
        .flat_map(|path| std::env::split_paths(&path).map(|folder| folder.join("nvcc")).collect::<Vec<_>>());
    let home = std::env::var_os("CUDA_HOME");
    let home = Path::new(home.as_deref().unwrap_or_else(|| OsStr::new("/usr/local/cuda"))).join("bin/nvcc");
    let found = match named {
        Some(named) => Some(named).filter(is_there),
        None => on_path.chain([home]).find(is_there),
    };
    found.context("nvcc is not installed; install the CUDA toolkit, or set NVCC to its path")
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
    .with_context(|| format!("cannot remove {}", folder.display()))
}

fn sizes(ptx: &Path, cubin: &Path, registers: u32) -> Result<Sizes> {
    let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let (ptx_bytes, code) = (read(ptx)?.len(), read(cubin)?);
    let code_bytes = code_bytes(&code).with_context(|| format!("{} is no ELF file of 64 bits", cubin.display()))?;
    Ok(Sizes { ptx_bytes, code_bytes, cubin_bytes: code.len(), registers })
}

/// The registers in what `ptxas -v` says of a file with one kernel.
fn registers(said: &str) -> Option<u32> {
    let mut all = said.match_indices("Used ").filter_map(|(at, found)| {
        said[at + found.len()..].split_once(" registers").and_then(|(number, _)| number.parse().ok())
    });
    all.next().filter(|_| all.next().is_none())
}

/// The bytes of instructions in a cubin: of its sections `.text` and `.text.*`, whose size a
/// multiple of 128 bytes is rounded up to.
fn code_bytes(elf: &[u8]) -> Option<u64> {
    let number = |at: usize, bytes: usize| {
        let field = elf.get(at..at.checked_add(bytes)?)?;
        Some(field.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    let place = |number: u64| usize::try_from(number).ok();
    elf.starts_with(b"\x7fELF\x02\x01").then_some(())?;
    let (headers, size) = (place(number(0x28, 8)?)?, place(number(0x3a, 2)?)?);
    let (count, names) = (place(number(0x3c, 2)?)?, place(number(0x3e, 2)?)?);
    let section = |index: usize| headers.checked_add(index.checked_mul(size)?);
    let names = place(number(section(names)?.checked_add(0x18)?, 8)?)?;
    let mut total = 0;
    for index in 0..count {
        let header = section(index)?;
        let name = elf.get(names.checked_add(place(number(header, 4)?)?)?..)?;
        let name = &name[..name.iter().position(|byte| *byte == 0)?];
        if name == b".text" || name.starts_with(b".text.") {
            total += number(header.checked_add(0x20)?, 8)?;
        }
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_kernel_and_what_is_by_hand_no_library() {
        let [pipeline, by_hand] = &TASKS[3].forms;
        assert_eq!(
            TASKS[3].source(pipeline),
            "#include \"guide.cuh\"\n\nextern \"C\" __global__ void __launch_bounds__(256) two_inputs(const View<int> left, \
             const View<int> right, const View<int> out) {\n    example<int>(left, right, out);\n}\n"
        );
        assert!(TASKS[3].source(by_hand).starts_with("#define WITHOUT_LIBRARIES\n#include \"by_hand.cuh\""));
    }

    #[test]
    fn every_kernel_is_one_of_the_crate_and_every_function_one_of_the_peers() {
        let read = |path: &str| fs::read_to_string(project::root().join(path)).unwrap();
        let kernels = read("bench/compile/src/lib.rs");
        let peers =
            ["guide", "by_hand", "wide", "wide_own"].map(|name| read(&format!("bench/peers/{name}.cuh"))).concat();
        for task in &TASKS {
            assert!(kernels.contains(&format!("pub fn {}<", task.kernel)), "{}", task.kernel);
            for form in &task.forms {
                let name = form.function.split_once('<').unwrap().0;
                assert!(peers.contains(&format!(" void {name}(")), "{name}");
            }
        }
        assert_eq!(kernels.matches("#[kernel(").count(), TASKS.len());
    }

    #[test]
    fn registers_are_those_of_the_one_kernel() {
        assert_eq!(registers("ptxas info : Used 30 registers, used 1 barriers\n"), Some(30));
        assert_eq!(registers("Used 30 registers\nUsed 12 registers"), None);
        assert_eq!(registers("ptxas info : 2 bytes gmem"), None);
    }

    /// An ELF file of 64 bits whose sections have these names and sizes.
    fn elf(sections: &[(&str, u64)]) -> Vec<u8> {
        let names: String = sections.iter().map(|(name, _)| format!("{name}\0")).collect();
        let (mut file, headers) = (vec![0; 0x40], 0x40 + names.len());
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[0x28..0x30].copy_from_slice(&(headers as u64).to_le_bytes());
        file[0x3a] = 0x40;
        file[0x3c] = u8::try_from(sections.len()).unwrap();
        file.extend_from_slice(names.as_bytes());
        let mut at = 0_u32;
        for (name, size) in sections {
            let mut header = [0_u8; 0x40];
            header[..4].copy_from_slice(&at.to_le_bytes());
            // The first section is the one with the names.
            header[0x18..0x20].copy_from_slice(&0x40_u64.to_le_bytes());
            header[0x20..0x28].copy_from_slice(&size.to_le_bytes());
            file.extend_from_slice(&header);
            at += u32::try_from(name.len()).unwrap() + 1;
        }
        file
    }

    #[test]
    fn code_is_what_sections_of_text_have() {
        let file = elf(&[(".shstrtab", 40), (".text.kernel", 0x280), (".nv.info", 0x100), (".text.panic", 0x80)]);
        assert_eq!(code_bytes(&file), Some(0x300));
        assert_eq!(code_bytes(&elf(&[(".shstrtab", 40), (".textual", 8)])), Some(0));
        assert_eq!(code_bytes(&file[..60]), None);
        assert_eq!(code_bytes(b"PK\x03\x04"), None);
    }
}
