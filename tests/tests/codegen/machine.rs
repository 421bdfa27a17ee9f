//! Machine code: what the assembler makes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use tilepipe::launch::Instance;
use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::{Code, Instruction, Loop};
use tilepipe_tests::sass;

use crate::kernel::{Kernel, Scope};

static MACHINE_CODE: LazyLock<Result<BTreeMap<String, Code>, String>> = LazyLock::new(|| {
    // A symbol has its crate's name too.
    let name = |symbol: String| symbol.split_once('$').map(|(_, name)| name.to_owned()).unwrap_or(symbol);
    Ok(built_for("sm_90")?.into_iter().map(|(symbol, code)| (name(symbol), code)).collect())
});

/// The kernels of `kernels/` and `tests/kernels/` for an architecture, by symbol.
fn built_for(architecture: &str) -> Result<Vec<(String, Code)>, String> {
    sass::kernels(&(Module::Kernels.sass(architecture)? + &Module::TestKernels.sass(architecture)?))
}

/// The machine code of every kernel of `kernels/` and `tests/kernels/` by name.
pub fn machine_code() -> &'static BTreeMap<String, Code> {
    MACHINE_CODE.as_ref().unwrap_or_else(|error| panic!("{error}"))
}

static WITH_TENSOR_CORES: LazyLock<Result<BTreeMap<String, Code>, String>> =
    LazyLock::new(|| Ok(built_for("sm_90a")?.into_iter().collect()));

/// The machine code of an instance of `kernels/` or `tests/kernels/` that is built for sm_90a. To
/// disassemble those takes seconds, so it is done once for all tests.
pub fn code_for_sm_90a(instance: &Instance) -> &'static Code {
    with_tensor_cores()
        .get(instance.symbol())
        .unwrap_or_else(|| panic!("no machine code of {} for sm_90a", instance.name()))
}

fn with_tensor_cores() -> &'static BTreeMap<String, Code> {
    WITH_TENSOR_CORES.as_ref().unwrap_or_else(|error| panic!("{error}"))
}

/// Whether it is a product by tensor cores.
pub fn is_product(one: &Instruction) -> bool {
    one.is("HGMMA")
}

/// The innermost loop with products: a round for each stage or further tile.
pub fn rounds_of_products(code: &Code) -> Loop<'_> {
    let found = code.loops_with(&[is_product]);
    let mut innermost = found.into_iter().next().expect("a loop with products");
    while let Some(inner) = innermost.inner().into_iter().find(|inner| inner.count(is_product) > 0) {
        innermost = inner;
    }
    innermost
}

fn is_barrier(one: &Instruction) -> bool {
    one.is("BAR.SYNC")
}

/// The groups that the waits of a kernel's steady states leave in flight, as PTX says.
fn pending(kernel: &Kernel) -> BTreeSet<String> {
    let steady = kernel.steady_states();
    let waits = steady.iter().flat_map(|steady| steady.instructions()).filter(|one| one.is("cp.async.wait_group"));
    waits.map(|one| one.operands.clone()).collect()
}

#[test]
fn machine_code_keeps_the_barriers_commits_and_waits_of_a_round() {
    let code = machine_code();
    for kernel in Kernel::named("with_staging_unified").into_iter().filter(Kernel::is_asynchronous) {
        let name = kernel.name();
        let own = code.get(name).unwrap_or_else(|| panic!("no machine code of `{name}`"));
        let expected = kernel.steady_states()[0].executions(tilepipe_tests::ptx::is_block_barrier);
        let loops = own.loops_with(&[is_barrier]);
        assert_eq!(loops.len(), kernel.steady_states().len(), "{name}: loops with a barrier");
        for steady in loops {
            assert_eq!(steady.executions(is_barrier), expected, "{name}: barriers of a round");
            for opcode in ["LDGDEPBAR", "DEPBAR.LE"] {
                assert_eq!(steady.executions(|one| one.is(opcode)), [1].into(), "{name}: `{opcode}` of a round");
            }
            let left: BTreeSet<String> = steady
                .instructions()
                .filter(|one| one.is("DEPBAR.LE"))
                .filter_map(|one| u32::from_str_radix(one.operands.strip_prefix("SB0, 0x")?, 16).ok())
                .map(|groups| groups.to_string())
                .collect();
            assert_eq!(left, pending(&kernel), "{name}: groups that a wait leaves in flight");
            assert_eq!(steady.count(|one| one.is("LDGSTS")), 1, "{name}: copies of a round");
        }
        for copy in own.instructions().filter(|one| one.is("LDGSTS")) {
            assert!(copy.has("128"), "{name}: {} {}", copy.opcode, copy.operands);
        }
    }
}

#[test]
fn machine_code_at_thread_scope_has_no_barrier() {
    let code = machine_code();
    for kernel in Kernel::named("scale_own").into_iter().filter(|kernel| kernel.scope() == Scope::Thread) {
        let found = code[kernel.name()].instructions().find(|one| one.is("BAR") || one.is("WARPSYNC"));
        assert_eq!(found, None, "{}", kernel.name());
    }
}

#[test]
fn machine_code_has_no_local_memory_and_no_generic_access() {
    let code = machine_code();
    for kernel in Kernel::all() {
        let name = kernel.name();
        for forbidden in ["LDL", "STL", "LD", "ST"] {
            // What a failed check writes for the host, in line.
            let is_report = |one: &&Instruction| one.has("STRONG") && one.has("SYS");
            let found = code[name].instructions().filter(|one| !is_report(one)).find(|one| one.is(forbidden));
            assert_eq!(found, None, "{name}: a local or generic access");
        }
    }
}

#[test]
fn machine_code_moves_a_vector_in_one_access() {
    let code = machine_code();
    for kernel in Kernel::named("with_staging_unified") {
        if !kernel.instance.generic("T").is_some_and(|element| element.ends_with("x4")) {
            continue;
        }
        for steady in code[kernel.name()].loops_with(&[is_barrier]) {
            for opcode in ["LDS", "STG"] {
                let all: Vec<&Instruction> =
                    steady.instructions().filter(|one| one.is(opcode) && !one.operands.starts_with("RZ")).collect();
                assert!(!all.is_empty() && all.iter().all(|one| one.has("128")), "{}: {all:?}", kernel.name());
            }
        }
    }
}

/// The first instruction on a path from a kernel's start that is wanted, if no `last` comes before.
fn first_before(
    code: &Code,
    wanted: impl Fn(&Instruction) -> bool,
    last: impl Fn(&Instruction) -> bool,
) -> Option<&Instruction> {
    let blocks: Vec<_> = code.blocks().collect();
    let (mut seen, mut todo) = (BTreeSet::new(), vec![0]);
    while let Some(number) = todo.pop() {
        let Some((instructions, following)) = blocks.get(number).filter(|_| seen.insert(number)) else { continue };
        match instructions.iter().find(|one| wanted(one) || last(one)) {
            Some(one) if wanted(one) => return Some(one),
            Some(_) => {}
            None => todo.extend(following.iter().copied()),
        }
    }
    None
}

#[test]
fn machine_code_waits_for_the_kernel_before_before_it_touches_memory() {
    // `griddepcontrol.wait`.
    let waits = |one: &Instruction| one.is("ACQBULK");
    let touches = |one: &Instruction| {
        let is_report = one.has("STRONG") && one.has("SYS");
        let begins = ["LDG", "STG", "ATOM", "RED", "LDGSTS", "UTMA", "UBLKCP", "UBLKRED", "CCTL"];
        !is_report && (begins.iter().any(|name| one.opcode.starts_with(name)) && !one.opcode.starts_with("ATOMS"))
            || ["LD", "ST"].iter().any(|name| one.is(name))
    };
    let mut waiting = 0;
    for (name, code) in machine_code().iter().chain(with_tensor_cores()) {
        if !code.instructions().any(waits) {
            // Without a wait it is a kernel for all GPUs, which have no such copies.
            let newer =
                code.instructions().find(|one| one.opcode.starts_with("UTMA") || one.opcode.starts_with("UBLK"));
            assert_eq!(newer, None, "{name} does not wait");
            continue;
        }
        assert_eq!(first_before(code, touches, waits), None, "{name}");
        assert!(first_before(code, waits, |one| one.is("EXIT") && one.guard.is_none()).is_some(), "{name}");
        waiting += 1;
    }
    assert!(waiting > 300, "{waiting}");
}
