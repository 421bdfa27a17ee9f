//! The built kernels, each with what its type says and what it became.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use tilepipe::launch::Instance;
use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::{Instruction, Loop};
use tilepipe_tests::ptx::{self, Entry};

type Entries = Result<BTreeMap<String, Entry>, String>;

static KERNELS: LazyLock<Entries> = LazyLock::new(|| read(Module::Kernels));
static TEST_KERNELS: LazyLock<Entries> = LazyLock::new(|| read(Module::TestKernels));
static CODEGEN_KERNELS: LazyLock<Entries> = LazyLock::new(|| read(Module::CodegenKernels));

fn read(module: Module) -> Entries {
    let entries = ptx::entries(&module.ptx()?)?;
    Ok(entries.into_iter().map(|entry| (entry.name.clone(), entry)).collect())
}

/// The entries of a module by name.
pub fn entries(module: Module) -> &'static BTreeMap<String, Entry> {
    let entries = match module {
        Module::Kernels => &*KERNELS,
        Module::TestKernels => &*TEST_KERNELS,
        Module::CodegenKernels | Module::Twins => &*CODEGEN_KERNELS,
    };
    entries.as_ref().unwrap_or_else(|error| panic!("{error}"))
}

/// A kernel's instance and its PTX.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// What the type says.
    pub instance: &'static Instance,
    /// What it became.
    pub entry: &'static Entry,
}

/// The scope of a kernel's pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `ThreadScope`.
    Thread,
    /// `WarpScope`.
    Warp,
    /// `BlockScope`.
    Block,
}

impl Kernel {
    /// An instance of a module's kernels.
    pub fn new(module: Module, instance: &'static Instance) -> Kernel {
        let found = entries(module).get(instance.symbol());
        let entry = found.unwrap_or_else(|| panic!("no entry `{}`: run `cargo xtask ptx`", instance.symbol()));
        Kernel { instance, entry }
    }

    /// All instances of all kernels of `kernels/`.
    pub fn all() -> Vec<Kernel> {
        let registry = tilepipe_kernels::registry().into_iter().flatten();
        registry.map(|instance| Kernel::new(Module::Kernels, instance)).collect()
    }

    /// Those whose threads all do the same: no roles, and no thread that copies for the others. A
    /// matrix product, which asks each tile whether it is whole, is not among them (`products`).
    pub fn unified() -> Vec<Kernel> {
        let mut found = Kernel::all();
        found.retain(|kernel| !kernel.is_partitioned() && !kernel.is_of_copy_engine() && kernel.has_stages());
        found.retain(|kernel| kernel.instance.kernel() != "sgemm");
        found
    }

    /// All instances of one of them.
    pub fn named(name: &str) -> Vec<Kernel> {
        let mut found = Kernel::all();
        found.retain(|kernel| kernel.instance.kernel() == name);
        assert!(!found.is_empty(), "no kernel `{name}` in the registry");
        found
    }

    /// All instances of the kernels that only tests have.
    pub fn of_tests() -> Vec<Kernel> {
        let registry = tilepipe_codegen_kernels::registry().into_iter();
        registry.map(|instance| Kernel::new(Module::CodegenKernels, instance)).collect()
    }

    /// All instances of one of them.
    pub fn of_tests_named(name: &str) -> Vec<Kernel> {
        let mut found = Kernel::of_tests();
        found.retain(|kernel| kernel.instance.kernel() == name);
        assert!(!found.is_empty(), "no kernel `{name}` in `tests/codegen-kernels/`");
        found
    }

    /// The entry's name.
    pub fn name(&self) -> &'static str {
        self.instance.name()
    }

    /// A generic argument that is a number.
    pub fn number(&self, generic: &str) -> Option<usize> {
        self.instance.generic(generic)?.parse().ok()
    }

    /// The threads of a block.
    pub fn threads(&self) -> usize {
        self.instance.threads() as usize
    }

    /// The bytes of an element of the first view.
    pub fn element_bytes(&self) -> usize {
        self.instance.parameters().next().map_or(0, |(_, parameter)| parameter.element_bytes)
    }

    /// The scope that the kernel's type names; block scope if it names none.
    pub fn scope(&self) -> Scope {
        let at_thread_scope = [
            "with_staging_scope_thread",
            "with_staging_scope_thread_wide",
            "sum",
            "dot",
            "argmax",
            "largest_key",
            "histogram",
            "histogram_u32",
            "part_sums",
            "exclusive_scan",
            "sum_by_threads",
        ];
        match (self.instance.generic("S"), self.instance.kernel()) {
            (Some("ThreadScope"), _) => Scope::Thread,
            (Some("WarpScope"), _) | (None, "sum_by_warps") => Scope::Warp,
            (None, name) if at_thread_scope.contains(&name) => Scope::Thread,
            (Some("BlockScope") | None, _) => Scope::Block,
            (Some(other), _) => panic!("{}: scope `{other}`", self.name()),
        }
    }

    /// Whether a kernel of `kernels/` has a pipeline, of any engine.
    pub fn has_stages(&self) -> bool {
        let without = ["softmax", "rms_norm", "reverse", "gather"];
        !without.contains(&self.instance.kernel()) && !self.instance.kernel().ends_with("_reads")
    }

    /// Whether tiles are copied asynchronously, by `cp.async`.
    pub fn is_asynchronous(&self) -> bool {
        let engine = self.instance.generic("E").unwrap_or(match self.instance.kernel() {
            "without_memcpy_async" | "multiply_adds_synchronous" => "LoadStore",
            _ => "CpAsync",
        });
        engine == "CpAsync"
    }

    /// Whether the stages of a kernel of `kernels/` name the copy engine: by a generic argument, or
    /// in the kernel itself.
    pub fn is_of_copy_engine(&self) -> bool {
        let name = self.instance.kernel();
        self.instance.generic("E") == Some("Bulk") || name.ends_with("_bulk") || self.is_of_tensors()
    }

    /// Whether a kernel of `kernels/` loads and stores boxes of tensors.
    pub fn is_of_tensors(&self) -> bool {
        let name = self.instance.kernel();
        name.ends_with("_tma") || ["blur", "batched_transpose", "column_sums"].contains(&name)
    }

    /// Whether a kernel of `kernels/` has the copy engine store tiles of a linear view.
    pub fn is_stored_in_a_row(&self) -> bool {
        self.instance.kernel() == "copy_stored_bulk"
    }

    /// All instances of `kernels/` with bulk copies from linear views, which threads read.
    pub fn of_bulk_copies() -> Vec<Kernel> {
        let mut found = Kernel::all();
        found.retain(|kernel| kernel.is_of_copy_engine() && !kernel.is_of_tensors() && !kernel.is_stored_in_a_row());
        found
    }

    /// Whether the kernel's threads have roles.
    pub fn is_partitioned(&self) -> bool {
        crate::roles::is_partitioned(self)
    }

    /// The loops of a unified kernel's steady state, which fill stages and read tiles: one for
    /// blocks whose tiles are all whole and one for the others, or one for all; or more where LLVM
    /// unrolled one.
    pub fn steady_states(&self) -> Vec<Loop<'static>> {
        let code = &self.entry.code;
        let found = match self.is_asynchronous() {
            true => code.loops_with(&[ptx::is_commit, ptx::is_shared_load]),
            false => code.loops_with(&[|one| one.is("ld.global"), ptx::is_global_store]),
        };
        assert!(!found.is_empty(), "{}: no loop of a steady state", self.name());
        found
    }

    /// Checks how often a round of each steady state executes the `wanted` instructions, whatever
    /// its way.
    pub fn check_round(&self, what: &str, wanted: fn(&Instruction) -> bool, expected: usize) {
        for steady in self.steady_states() {
            assert_eq!(steady.executions(wanted), BTreeSet::from([expected]), "{}: {what} of a round", self.name());
        }
    }

    /// Checks how often a thread executes the `wanted` instructions from the kernel's start to its
    /// end, whatever its way.
    pub fn check_run(&self, what: &str, wanted: fn(&Instruction) -> bool, expected: usize) {
        assert_eq!(self.entry.executions(wanted), BTreeSet::from([expected]), "{}: {what} of a run", self.name());
    }

    /// Checks that each wait of the steady states leaves `pending` groups in flight.
    pub fn check_pending(&self, pending: usize) {
        for steady in self.steady_states() {
            for wait in steady.instructions().filter(|one| ptx::is_wait(one)) {
                assert_eq!(wait.operands, pending.to_string(), "{}: groups that a wait leaves in flight", self.name());
            }
        }
    }
}
