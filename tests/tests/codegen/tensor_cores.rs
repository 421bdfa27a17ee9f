//! Products of tensor cores: PTX, machine code and the assembler's report of `gemm` and of the
//! kernels that do more with its sums.

use std::collections::BTreeSet;

use tilepipe::launch::Instance;
use tilepipe_kernels::gemm;
use tilepipe_kernels::tensor_cores;
use tilepipe_test_kernels::tensor::products::products_two_at_once;
use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::Instruction;
use tilepipe_tests::ptx;

use crate::machine::{code_for_sm_90a, is_product, rounds_of_products};

/// Products of 16 elements along K in a stage of 64.
const PRODUCTS: usize = 4;
/// What `ptxas` may give a thread of 384 in a block that has a multiprocessor to itself.
const MOST_REGISTERS: u64 = 168;

/// The kernels that multiply.
fn instances() -> impl Iterator<Item = &'static Instance> {
    tensor_cores::instances().filter(|instance| instance.kernel() != "gemm_join")
}

/// The columns of a tile of the product.
fn columns(instance: &Instance) -> usize {
    match instance.kernel() {
        "gemm_parts" => 128,
        _ => instance.generic("COLUMNS").and_then(|value| value.parse().ok()).expect("a number of columns"),
    }
}

/// The registers that an instruction names.
fn registers(one: &Instruction) -> BTreeSet<usize> {
    let words = one.operands.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(|word| word.strip_prefix('R')?.parse().ok()).collect()
}

#[test]
fn a_round_is_its_products_and_one_wait_and_nothing_else_touches_their_sums() {
    for instance in instances() {
        let name = instance.name();
        let code = code_for_sm_90a(instance);
        let round = rounds_of_products(code);
        // A wait that is not over in its first time begins the round anew, without products.
        assert_eq!(round.executions(is_product), [0, PRODUCTS].into(), "{name}: products of a round");
        for opcode in ["WARPGROUP.ARRIVE", "WARPGROUP.DEPBAR.LE"] {
            assert_eq!(round.executions(|one| one.is(opcode)), [0, 1].into(), "{name}: `{opcode}` of a round");
        }
        // On the way on which the phase came, one branch is behind the wait and none is taken.
        let waits = round.count(|one| one.is("SYNCS.PHASECHK.TRANS64.TRYWAIT"));
        assert_eq!(waits, 1, "{name}: waits of a round");
        let one = round.instructions().find(|one| is_product(one)).expect("a product");
        let first = *registers(one).first().expect("the first sum's register");
        let sums = first..first + columns(instance) / 2;
        for one in round.instructions().filter(|one| !is_product(one)) {
            assert!(registers(one).iter().all(|register| !sums.contains(register)), "{name}: {one:?} touches a sum");
        }
        // What a round computes is the same in all threads, and is computed in uniform registers.
        // (A round of eight descriptors that are not takes 16 moves, and 30 more instructions.)
        let moves = round.count(|one| one.is("R2UR"));
        assert!(moves <= 2, "{name}: {moves} moves to uniform registers");
        for forbidden in ["LDL", "STL", "LD", "ST"] {
            let found = code.instructions().find(|one| one.is(forbidden));
            assert_eq!(found, None, "{name}: a local or generic access");
        }
        // What a store by the engine takes is known to be the same in all threads: where it is not,
        // the assembler writes a loop around the store.
        let found = code.instructions().find(|one| one.is("BRA.U.ANY"));
        assert_eq!(found, None, "{name}: a loop over threads");
    }
}

#[test]
fn a_stage_goes_back_by_one_arrival_a_warp_without_a_fence_and_each_warpgroup_stores_its_panels() {
    let text = Module::Kernels.ptx().unwrap_or_else(|error| panic!("{error}"));
    let entries = ptx::entries(&text).unwrap_or_else(|error| panic!("{error}"));
    for instance in &gemm::INSTANCES {
        let name = instance.name();
        let entry = entries.iter().find(|entry| entry.name == instance.symbol()).expect("its entry");
        let count = |wanted: &dyn Fn(&&Instruction) -> bool| entry.code.instructions().filter(wanted).count();
        let number = |name| instance.generic(name).and_then(|value| value.parse::<usize>().ok()).expect("a number");
        let panels = columns(instance).div_ceil(number("PANEL"));
        // Those of the stores, one for each panel, and the one after the barriers were made.
        assert_eq!(count(&|one| one.is("fence.proxy.async")), panels + 1, "{name}: fences");
        // Behind a barrier of the block, and before each arrival: in the loop of rounds, in the
        // step before it, and behind it. And before each `stmatrix`, of 16 columns.
        // (What two panels have in common is stored with both.)
        let matrices = panels * number("PANEL") / 16;
        assert_eq!(count(&|one| one.is("stmatrix")), matrices, "{name}: stores of matrices");
        assert_eq!(count(&|one| one.is("bar.warp.sync")), 4 + matrices, "{name}: barriers of a warp");
        assert_eq!(count(&|one| one.is("st.shared.b32")), 0, "{name}: stores of two elements");
        // Either end says which phase does not come.
        assert_eq!(count(&|one| one.is("atom.relaxed.cta.shared.exch")), 2, "{name}: marks");
        // One before each store, and with two stages one before each fill. Their numbers are in a
        // register.
        let barriers = panels * if number("OUT") > 2 { 1 } else { 2 };
        let of_warpgroups = |one: &&Instruction| one.is("barrier.sync") && one.operands.starts_with('%');
        assert_eq!(count(&of_warpgroups), barriers, "{name}: barriers of a warpgroup");
        let stores = count(&|one| one.is("cp.async.bulk.tensor.2d.global"));
        assert_eq!(stores, panels, "{name}: stores");
    }
}

#[test]
fn products_leave_no_local_memory_and_fit_their_registers() {
    let report = Module::Kernels.report().unwrap_or_else(|error| panic!("{error}"));
    for instance in instances() {
        let own: Vec<_> = report.iter().filter(|one| one["kernel"] == instance.symbol()).collect();
        assert_eq!(own.len(), 1, "{}: assembled for sm_90a alone", instance.name());
        for one in own {
            assert_eq!(one["arch"], "sm_90a");
            for zero in ["spill_stores", "spill_loads", "stack_frame", "stack"] {
                assert_eq!(one[zero], 0, "{zero} of {one}");
            }
            assert!(one["registers"].as_u64().is_some_and(|count| count <= MOST_REGISTERS), "registers of {one}");
        }
    }
}

#[test]
fn roles_share_out_the_registers_of_the_launch_and_give_them_back() {
    let [instance] = &products_two_at_once::INSTANCES;
    let code = code_for_sm_90a(instance);
    let count = |operation: &str, registers: u64| {
        let number = format!("{registers:#x}");
        let is = |one: &&Instruction| one.is(operation) && one.operands.ends_with(&number);
        code.instructions().filter(is).count()
    };
    // Those that copy go from 168 to 40 and back, those that multiply from 168 to 232 and back.
    let [less, more] = ["USETMAXREG.DEALLOC", "USETMAXREG.TRY_ALLOC"];
    let found = [count(less, 40), count(more, MOST_REGISTERS), count(more, 232), count(less, MOST_REGISTERS)];
    assert_eq!(found, [1; 4], "{}", instance.name());
    assert_eq!(code.instructions().filter(|one| one.is("USETMAXREG")).count(), 4);
    let most = code.instructions().flat_map(registers).max().expect("a register");
    assert!(most as u64 >= MOST_REGISTERS, "R{most} is the last one: nothing needs more than a launch gives");
    let report = Module::TestKernels.report().unwrap_or_else(|error| panic!("{error}"));
    let own = report.iter().find(|one| one["kernel"] == instance.symbol()).expect("its report");
    for (figure, expected) in [("registers", MOST_REGISTERS), ("spill_stores", 0), ("stack_frame", 0)] {
        assert_eq!(own[figure], expected, "{figure}");
    }
}
