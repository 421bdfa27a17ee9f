//! Adds of threads: one atomic instruction each, whose result nobody takes, and no barrier but
//! those that clear and publish bins.

use tilepipe::launch::Instance;
use tilepipe_test_kernels::atomics::{
    counted_by_parts_of_warps, counted_by_warps, elements_in_bins, elements_reduced, read_in_between,
};
use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::{BasicBlock, Instruction};
use tilepipe_tests::ptx::{is_block_barrier, is_shared_load};

use crate::kernel::Kernel;
use crate::machine::machine_code;

fn kernel(instance: &'static Instance) -> Kernel {
    Kernel::new(Module::TestKernels, instance)
}

fn is_atomic(one: &Instruction) -> bool {
    one.is("atom") || one.is("red")
}

/// The instruction of a kernel's operation and type, in a state space.
fn opcode(kernel: &Kernel, space: &str) -> String {
    let generic = |name| kernel.instance.generic(name).unwrap_or_default().rsplit("::").next().unwrap_or_default();
    let (element, operation) = (generic("T"), generic("O"));
    let bits = &element[1..];
    let suffix = match (operation, &element[..1]) {
        ("Add", _) => format!("add.u{bits}"),
        ("Min" | "Max", "u") => format!("{}.u{bits}", operation.to_lowercase()),
        ("Min" | "Max", _) => format!("{}.s{bits}", operation.to_lowercase()),
        ("And" | "Or" | "Xor", _) => format!("{}.b{bits}", operation.to_lowercase()),
        _ if element == "f16" => "add.noftz.f16".to_string(),
        _ => format!("add.{element}"),
    };
    let instruction = if space == "global" { "red" } else { "atom" };
    format!("{instruction}.{space}.{suffix}")
}

/// Nothing of memory but atomic operations, loads of the input and of bins, and stores that clear
/// them or combine copies.
fn check_memory(kernel: &Kernel) {
    let name = kernel.name();
    assert_eq!(kernel.entry.local_declarations, [""; 0], "{name}: local memory");
    let other = kernel.entry.code.instructions().find(|one| {
        let fences = ["membar", "fence", "st.global", "atom.cas", "ld.volatile"].iter().any(|opcode| one.is(opcode));
        fences || one.has("local") || one.has("cas") || one.has("sys")
    });
    assert_eq!(other, None, "{name}: not an add");
}

#[test]
fn an_add_to_global_memory_is_one_atomic_instruction() {
    for instance in &elements_reduced::INSTANCES {
        let kernel = kernel(instance);
        let atomics: Vec<&Instruction> = kernel.entry.code.instructions().filter(|one| is_atomic(one)).collect();
        assert!(!atomics.is_empty(), "{}: no add", kernel.name());
        for one in atomics {
            assert_eq!(one.opcode, opcode(&kernel, "global"), "{}", kernel.name());
        }
        check_memory(&kernel);
        let shared = kernel.entry.code.instructions().find(|one| one.has("shared") || is_block_barrier(one));
        assert_eq!(shared, None, "{}: shared memory, or a barrier", kernel.name());
    }
}

#[test]
fn bins_have_the_barriers_that_clear_and_publish_them_and_adds_have_none() {
    for instance in &elements_in_bins::INSTANCES {
        let kernel = kernel(instance);
        let name = kernel.name();
        for space in ["shared", "global"] {
            let wanted = opcode(&kernel, space);
            let atomics = kernel.entry.code.instructions().filter(|one| is_atomic(one) && one.has(space));
            let opcodes: Vec<&str> = atomics.map(|one| one.opcode.as_str()).collect();
            assert!(!opcodes.is_empty() && opcodes.iter().all(|one| *one == wanted), "{name}: {opcodes:?}");
        }
        check_memory(&kernel);
        let combines = usize::from(kernel.number("COPIES") > Some(1));
        kernel.check_run("barriers of the block", is_block_barrier, 2 + combines);
        let in_loops = kernel.entry.code.loops().iter().map(|one| one.count(is_block_barrier)).sum::<usize>();
        assert_eq!(in_loops, 0, "{name}: a barrier in a loop");
    }
}

#[test]
fn bins_that_are_read_in_between_have_three_barriers_for_it() {
    for instance in &read_in_between::INSTANCES {
        let kernel = kernel(instance);
        check_memory_of_adds(&kernel);
        let combines = usize::from(kernel.number("COPIES") > Some(1));
        let is_add = |one: &Instruction| one.is("atom.shared.max");
        let rounds = kernel.entry.code.loops_with(&[is_add]);
        assert!(!rounds.is_empty(), "{}: no loop with an add", kernel.name());
        for round in rounds {
            assert_eq!(round.executions(is_block_barrier), [3 + combines].into(), "{}", kernel.name());
        }
    }
}

/// No local memory, and no other kind of atomic operation.
fn check_memory_of_adds(kernel: &Kernel) {
    let local = kernel.entry.code.instructions().find(|one| one.has("local") || one.has("cas"));
    assert_eq!(local, None, "{}", kernel.name());
}

#[test]
fn roles_add_to_the_same_bins_without_a_barrier_of_their_own() {
    for instance in counted_by_warps::INSTANCES.iter().chain(&counted_by_parts_of_warps::INSTANCES) {
        let kernel = kernel(instance);
        check_memory_of_adds(&kernel);
        let of_bins = kernel.entry.code.instructions().filter(|one| one.is("atom.shared.add")).count();
        assert!(of_bins >= 2, "{}: {of_bins} adds for two roles", kernel.name());
        // To clear the bins, to publish, and after the sums of two copies; and the three of a
        // partition.
        kernel.check_run("barriers of the block", is_block_barrier, 3 + 3);
    }
}

#[test]
fn a_histogram_reads_16_bytes_at_once_and_adds_each_without_a_barrier() {
    for (name, adds) in [("histogram", 16), ("histogram_u32", 4), ("histogram_bulk", 16), ("histogram_u32_bulk", 4)] {
        for kernel in Kernel::named(name) {
            let name = kernel.name();
            let is_add = |one: &Instruction| one.is("atom.shared.add.u32");
            assert_eq!(kernel.entry.local_declarations, [""; 0], "{name}: local memory");
            // A round of a block's pipeline has a barrier of its own.
            let of_round = usize::from(kernel.is_of_copy_engine());
            if of_round == 0 {
                let combines = usize::from(kernel.number("COPIES") > Some(1));
                kernel.check_run("barriers of the block", is_block_barrier, 2 + combines);
            }
            for steady in kernel.entry.code.loops_with(&[is_add]) {
                assert!(steady.count(is_block_barrier) <= of_round, "{name}: a barrier in a loop");
            }
            let wide = kernel.entry.code.instructions().filter(|one| is_shared_load(one) && one.has("v4")).count();
            assert!(wide >= 1, "{name}: no load of 16 bytes");
            // Whole tiles: what a thread has is read before it is added. (Keys are compared with
            // the last bin, unless all have one.)
            let is_whole = |block: &BasicBlock| {
                let loads: Vec<_> = block.instructions.iter().filter(|one| is_shared_load(one)).collect();
                loads.len() == 1
                    && loads[0].has("v4")
                    && block.instructions.iter().filter(|one| is_add(one)).count() == adds
            };
            let all_have_bins = kernel.number("SHIFT").is_none_or(|shift| shift == 20);
            assert!(!all_have_bins || kernel.entry.code.blocks.iter().any(is_whole), "{name}: loads between adds");
        }
    }
}

#[test]
fn machine_code_takes_no_result_of_an_add_and_counts_ones_by_an_instruction_of_its_own() {
    let code = machine_code();
    for kernel in
        ["histogram", "histogram_u32", "histogram_bulk", "histogram_u32_bulk"].into_iter().flat_map(Kernel::named)
    {
        let own = &code[kernel.name()];
        let adds: Vec<&Instruction> = own.instructions().filter(|one| one.is("ATOMS")).collect();
        assert!(!adds.is_empty(), "{}: no adds", kernel.name());
        for one in adds {
            assert!(one.is("ATOMS.POPC.INC") && one.operands.starts_with("RZ"), "{}: {one:?}", kernel.name());
        }
    }
    let in_global = elements_reduced::INSTANCES.iter().chain(&elements_in_bins::INSTANCES).map(kernel);
    for kernel in in_global.chain(Kernel::named("histogram")) {
        let own = &code[kernel.name()];
        if kernel.instance.generic("T") == Some("f16") {
            // There is no instruction of one half: what has a result compares and swaps 4 bytes.
            let adds: Vec<&Instruction> = own.instructions().filter(|one| one.is("ATOM") || one.is("ATOMG")).collect();
            assert!(!adds.is_empty() && adds.iter().all(|one| one.has("CAS")), "{}: {adds:?}", kernel.name());
            continue;
        }
        let adds = own.instructions().filter(|one| one.is("REDG") || one.is("RED")).count();
        assert!(adds >= 1, "{}: no add to global memory", kernel.name());
        // A failed check claims the host's record by one.
        let mut others = own.instructions().filter(|one| !one.has("SYS"));
        let with_result = others.find(|one| one.is("ATOM") || one.is("ATOMG"));
        assert_eq!(with_result, None, "{}", kernel.name());
    }
}
