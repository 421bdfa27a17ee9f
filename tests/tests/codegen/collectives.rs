//! Collectives, and the functions of `math`.

use std::collections::BTreeSet;

use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::Instruction;
use tilepipe_tests::ptx::{is_block_barrier, is_shared_load, is_shared_store, is_shuffle, is_vote, is_warp_barrier};

use crate::kernel::Kernel;

/// What a run of one collective executes; shuffles for each word of 4 bytes.
struct Collective {
    kernel: &'static str,
    block: usize,
    warp: usize,
    shuffles: usize,
    votes: usize,
}

const fn collective(kernel: &'static str, [block, warp]: [usize; 2], shuffles: usize, votes: usize) -> Collective {
    Collective { kernel, block, warp, shuffles, votes }
}

const COLLECTIVES: [Collective; 18] = [
    collective("block_reduce", [2, 0], 5, 0),
    collective("block_scan", [2, 0], 5, 0),
    collective("block_scan_with_total", [2, 0], 5, 0),
    collective("block_exclusive_scan", [2, 0], 6, 0),
    collective("block_any", [1, 0], 0, 0),
    collective("block_all", [1, 0], 0, 0),
    collective("block_broadcast", [2, 0], 0, 0),
    collective("warp_reduce", [0, 0], 6, 0),
    collective("warp_scan", [0, 0], 5, 0),
    collective("warp_scan_with_total", [0, 0], 6, 0),
    collective("warp_exclusive_scan", [0, 0], 7, 0),
    collective("warp_any", [0, 0], 0, 1),
    collective("warp_all", [0, 0], 0, 1),
    collective("warp_broadcast", [0, 0], 1, 0),
    collective("warp_shift_down", [0, 0], 1, 0),
    collective("warp_shift_up", [0, 0], 1, 0),
    collective("warp_swap", [0, 0], 1, 0),
    collective("warp_sync", [0, 1], 0, 0),
];

/// Opcodes, each with how often it executes.
type Executed = &'static [(&'static str, usize)];

/// The instructions of a function of `math` in `f32` and in `f64`.
const FUNCTIONS: [(&str, [Executed; 2]); 19] = [
    ("Fma", [&[("fma.rn.f32", 1)], &[("fma.rn.f64", 1)]]),
    ("Sqrt", [&[("sqrt.rn.f32", 1)], &[("sqrt.rn.f64", 1)]]),
    ("Rsqrt", [&[("sqrt.rn.f32", 1), ("rcp.rn.f32", 1)], &[("sqrt.rn.f64", 1), ("rcp.rn.f64", 1)]]),
    ("Exp", [&[("fma.rn.f32", 9)], &[("fma.rn.f64", 15)]]),
    ("Min", [&[("min.f32", 1)], &[("min.f64", 1)]]),
    ("Max", [&[("max.f32", 1)], &[("max.f64", 1)]]),
    ("Abs", [&[("abs.f32", 1)], &[("abs.f64", 1)]]),
    ("Floor", [&[("cvt.rmi.f32.f32", 1)], &[("cvt.rmi.f64.f64", 1)]]),
    ("Round", [&[("cvt.rzi.f32.f32", 1)], &[("cvt.rzi.f64.f64", 1)]]),
    ("RoundTiesEven", [&[("cvt.rni.f32.f32", 1)], &[("cvt.rni.f64.f64", 1)]]),
    ("RsqrtFast", [&[("fma.rn.f32", 5), ("mul.rn.f32", 4)], &[("fma.rn.f64", 7), ("mul.rn.f64", 4)]]),
    ("Powi5", [&[("mul.rn.f32", 3)], &[("mul.rn.f64", 3)]]),
    ("Exp2", [&[("fma.rn.f32", 6)], &[("fma.rn.f64", 12)]]),
    ("ExpFast", [&[("fma.rn.f32", 7)], &[("fma.rn.f64", 13)]]),
    ("Log", [&[("fma.rn.f32", 10)], &[("fma.rn.f64", 8), ("div.rn.f64", 1)]]),
    ("Log2", [&[("fma.rn.f32", 10)], &[("fma.rn.f64", 9), ("div.rn.f64", 1)]]),
    ("Sin", [&[("fma.rn.f32", 13)], &[("fma.rn.f64", 18)]]),
    ("Cos", [&[("fma.rn.f32", 13)], &[("fma.rn.f64", 18)]]),
    ("Tanh", [&[("fma.rn.f32", 15), ("rcp.rn.f32", 1)], &[("fma.rn.f64", 27), ("rcp.rn.f64", 1)]]),
];

/// The kernels that are checked here.
pub fn checked() -> Vec<&'static str> {
    COLLECTIVES.iter().map(|one| one.kernel).chain(["apply"]).collect()
}

#[test]
fn a_collective_costs_the_barriers_and_shuffles_that_its_documentation_says() {
    for expected in &COLLECTIVES {
        for kernel in Kernel::of_tests_named(expected.kernel) {
            // The output's elements, the last of the parameters, are what is combined.
            let element = kernel.instance.parameters().last().map_or(0, |(_, parameter)| parameter.element_bytes);
            kernel.check_run("barriers of the block", is_block_barrier, expected.block);
            kernel.check_run("barriers of the warp", is_warp_barrier, expected.warp);
            kernel.check_run("shuffles", is_shuffle, expected.shuffles * element.div_ceil(4));
            kernel.check_run("votes", is_vote, expected.votes);
        }
    }
}

#[test]
fn values_move_between_lanes_by_the_distance_and_in_the_direction_that_the_type_says() {
    for (name, mode, last_lane) in
        [("warp_shift_down", "down", "31"), ("warp_shift_up", "up", "0"), ("warp_swap", "bfly", "31")]
    {
        for kernel in Kernel::of_tests_named(name) {
            for one in kernel.entry.code.instructions().filter(|one| is_shuffle(one)) {
                assert_eq!(one.opcode, format!("shfl.sync.{mode}.b32"), "{name}");
                let operands: Vec<&str> = one.operands.split(", ").collect();
                assert_eq!(operands[2..], ["5", last_lane, "-1"], "{name}: {one:?}");
            }
        }
    }
}

#[test]
fn any_and_all_are_one_barrier_that_reduces_and_nothing_else() {
    for (name, opcode) in [("block_any", "bar.red.or.pred"), ("block_all", "bar.red.and.pred")] {
        for kernel in Kernel::of_tests_named(name) {
            let code = &kernel.entry.code;
            let barriers: Vec<_> = code.instructions().filter(|one| is_block_barrier(one)).collect();
            let opcodes: Vec<_> = barriers.iter().map(|one| one.opcode.replace("barrier.cta", "bar")).collect();
            assert_eq!(opcodes, [opcode], "{name}");
            let through_memory = code.instructions().find(|one| is_shared_load(one) || is_shared_store(one));
            assert_eq!(through_memory, None, "{name}");
        }
    }
}

#[test]
fn the_collectives_of_a_warp_use_no_memory() {
    for kernel in Kernel::of_tests().iter().filter(|kernel| kernel.instance.kernel().starts_with("warp_")) {
        let collective = COLLECTIVES.iter().any(|one| one.kernel == kernel.instance.kernel());
        let through_memory = kernel.entry.code.instructions().find(|one| is_shared_load(one) || is_shared_store(one));
        assert!(!collective || through_memory.is_none(), "{}: {through_memory:?}", kernel.name());
    }
}

/// What reads the size of the dynamic shared memory, at whose end the collectives' scratch memory
/// lies.
const SIZE: &str = "%dynamic_smem_size";

#[test]
fn no_kernel_has_static_shared_memory_and_those_with_collectives_find_theirs_behind_their_own() {
    let of_block = ["block_reduce", "block_scan", "block_scan_with_total", "block_exclusive_scan", "block_broadcast"];
    let of_roles = [
        "producer_consumer_sum",
        "role_reduce",
        "role_scan",
        "role_scan_with_total",
        "role_exclusive_scan",
        "role_broadcast",
        "role_result",
    ];
    let of_sums = ["sum", "dot", "argmax", "largest_key", "sum_by_warps", "sum_by_threads"];
    let of_rows = ["part_sums", "exclusive_scan", "softmax", "rms_norm"];
    let of_bulk = ["sum_bulk", "dot_bulk", "argmax_bulk", "part_sums_bulk", "exclusive_scan_bulk"];
    let uses: Vec<&str> = [&of_sums[..], &of_rows, &of_bulk, &of_block, &of_roles].concat();
    for (module, kernels) in [(Module::Kernels, Kernel::all()), (Module::CodegenKernels, Kernel::of_tests())] {
        let text = module.ptx().unwrap_or_else(|error| panic!("{error}"));
        let declared: Vec<&str> =
            text.lines().filter(|line| line.contains(".shared ") && line.contains(".b8 ")).collect();
        assert!(!declared.is_empty(), "{module:?}");
        for line in declared {
            assert!(line.contains(".extern .shared .align 1024 .b8 tilepipe_shared[]"), "{module:?}: {line}");
        }
        for kernel in kernels.iter() {
            let asks = kernel.entry.code.instructions().any(|one| one.operands.contains(SIZE));
            assert_eq!(asks, uses.contains(&kernel.instance.kernel()), "{}", kernel.name());
        }
        let report = module.report().unwrap_or_else(|error| panic!("{error}"));
        for one in report {
            assert_eq!(one["shared_bytes"].as_u64(), Some(0), "static shared memory of {one}");
        }
    }
}

/// The kernel that applies this function of `math`.
fn function_of(function: &str, float: &str) -> Kernel {
    let mut kernels = Kernel::of_tests_named("apply");
    kernels
        .retain(|kernel| kernel.instance.generic("O") == Some(function) && kernel.instance.generic("F") == Some(float));
    assert_eq!(kernels.len(), 1, "{function} of {float}");
    kernels.remove(0)
}

#[test]
fn functions_of_math_are_their_instructions_rounded_to_nearest() {
    for (function, [single, double]) in FUNCTIONS {
        for (float, expected) in [("f32", single), ("f64", double)] {
            let entry = function_of(function, float).entry;
            for (opcode, count) in expected {
                let executed = entry.executions(|one| one.opcode == *opcode);
                assert_eq!(executed.last(), Some(count), "{function} of {float}: `{opcode}`");
            }
            let foreign = |one: &&Instruction| {
                let rounds = ["fma", "sqrt", "rcp", "div", "ex2", "rsqrt"].iter().any(|name| one.is(name));
                rounds && one.opcode.contains(".f") && !expected.iter().any(|(opcode, _)| one.opcode == *opcode)
            };
            assert_eq!(entry.code.instructions().find(foreign), None, "{function} of {float}");
            let inexact = entry.code.instructions().find(|one| one.has("approx") || one.has("ftz"));
            assert_eq!(inexact, None, "{function} of {float}");
            let local = entry.code.instructions().find(|one| one.has("local"));
            assert_eq!(local, None, "{function} of {float}");
            // What the rest of the kernel calls if it fails is in that of every function.
            let calls = |kernel: &Kernel| kernel.entry.code.instructions().filter(|one| one.is("call")).count();
            let [own, least] = [function, "Abs"].map(|function| calls(&function_of(function, float)));
            assert_eq!(own, least, "{function} of {float}");
        }
    }
}

#[test]
fn every_function_of_math_is_built_for_both_types() {
    let built: BTreeSet<_> =
        Kernel::of_tests_named("apply").iter().map(|kernel| kernel.instance.generics().to_vec()).collect();
    assert_eq!(built.len(), 2 * FUNCTIONS.len());
}
