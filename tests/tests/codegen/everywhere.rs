//! What holds for every kernel.

use std::collections::BTreeSet;

use serde_json::Value;
use tilepipe_kernels::{attention, tensor_cores};
use tilepipe_tests::artifact::Module;
use tilepipe_tests::ptx::{block_barrier_number, is_block_barrier};

use crate::kernel::{Kernel, entries};
use crate::parameters::with_constants;

/// The most registers of a thread that a kernel may take: 48 leave room for 1280 threads on an SM
/// of 65536 registers, so that a block of 1024 threads always fits.
const MOST_REGISTERS: u64 = 48;

#[test]
fn every_instance_has_one_entry_and_every_entry_requires_its_block() {
    for kernel in Kernel::all().into_iter().chain(Kernel::of_tests()) {
        let threads = kernel.entry.required_threads;
        assert_eq!(threads, Some(kernel.instance.threads()), "{}", kernel.name());
        if let Some(named) = kernel.number("THREADS") {
            assert_eq!(kernel.threads(), named, "{}", kernel.name());
        }
    }
    for module in [Module::Kernels, Module::TestKernels, Module::CodegenKernels] {
        assert!(entries(module).values().all(|entry| entry.required_threads.is_some()), "{module:?}");
    }
}

#[test]
fn every_kernel_of_the_crate_has_a_row_in_the_registry() {
    let mut known: BTreeSet<&str> = Kernel::all().iter().map(|kernel| kernel.instance.symbol()).collect();
    // Their results differ in rounding between devices: they have tests of their own (`products_..`
    // and `attention_..` of `results` and `gpu`, and the files `tensor_cores.rs` and
    // `one_by_one.rs` of these).
    known.extend(tensor_cores::instances().chain(attention::instances()).map(|instance| instance.symbol()));
    let missing: Vec<&String> =
        entries(Module::Kernels).keys().filter(|symbol| !known.contains(symbol.as_str())).collect();
    assert!(missing.is_empty(), "add a row to kernels/registry/src/lib.rs for {missing:?}");
}

#[test]
fn only_kernels_with_roles_and_those_of_the_copy_engine_have_mbarriers() {
    let kernels = Kernel::all().into_iter().chain(Kernel::of_tests());
    for kernel in kernels.filter(|kernel| !kernel.is_partitioned() && !crate::bulk::is_of_copy_engine(kernel)) {
        let found = kernel.entry.code.instructions().find(|one| one.has("mbarrier"));
        assert_eq!(found, None, "{}", kernel.name());
    }
}

#[test]
fn only_panics_are_called_and_no_call_returns() {
    let mut callees = BTreeSet::new();
    for kernel in Kernel::all().into_iter().chain(Kernel::of_tests()) {
        for block in &kernel.entry.code.blocks {
            let Some(call) = block.instructions.iter().find(|one| one.is("call")) else { continue };
            assert!(block.successors.is_empty(), "{}: {} returns", kernel.name(), call.operands);
            let callee = call.operands.split([' ', ',', '(', ')']).find(|word| word.starts_with("_R"));
            callees.insert(callee.unwrap_or(&call.operands).to_owned());
        }
    }
    for callee in callees {
        // Mangled names spell each part of a path with its length before it.
        let panics = ["8tilepipe5fault", "4core9panicking", "4core5slice5index"];
        assert!(panics.iter().any(|path| callee.contains(path)), "a call to `{callee}`, which is no panic");
    }
}

#[test]
fn nothing_spills_and_blocks_of_1024_threads_fit_their_registers() {
    for (module, kernels) in [(Module::Kernels, Kernel::all()), (Module::CodegenKernels, Kernel::of_tests())] {
        let report = module.report().unwrap_or_else(|error| panic!("{error}"));
        for kernel in kernels {
            let own: Vec<&Value> = report.iter().filter(|one| one["kernel"] == kernel.instance.symbol()).collect();
            let architectures: BTreeSet<String> = own.iter().map(|one| one["arch"].to_string()).collect();
            // The copy engine is in all but the oldest.
            let least = if crate::bulk::is_of_copy_engine(&kernel) { 2 } else { 3 };
            assert!(architectures.len() >= least, "{}: assembled for {architectures:?}", kernel.name());
            for one in own {
                let figure = |name: &str| {
                    one[name].as_u64().unwrap_or_else(|| panic!("the report of {one} has no number `{name}`"))
                };
                // `stack` has that of functions, too, which a kernel may call when it panics.
                for zero in ["spill_stores", "spill_loads", "stack_frame", "stack"] {
                    assert_eq!(figure(zero), 0, "{zero} of {one}");
                }
                assert_eq!(figure("barriers"), barriers(&kernel), "barriers of {one}");
                assert_eq!(figure("threads"), u64::from(kernel.instance.threads()), "threads of {one}");
                // Patches of 16 by 16 bytes are 64 registers, in blocks of 64 threads; so are the
                // sums of 4 by 32 bytes of a blur, in blocks of 224.
                let of_bytes = ["transpose_tma", "batched_transpose", "blur", "blur_reads"]
                    .contains(&kernel.instance.kernel())
                    && kernel.element_bytes() == 1;
                // Rows in registers: 16 elements a thread, and as many weights.
                let most = match kernel.instance.kernel() {
                    _ if of_bytes => 128,
                    "rms_norm" => 80,
                    // 16 by 8 sums a thread.
                    "sgemm" => 255,
                    "softmax" | "reverse" | "gather" => 64,
                    // Six runs of four elements that are under way together.
                    "stencil_2d_reads" | "moving_average_reads" => 64,
                    // A square of 4 by 4 elements, and as many in runs.
                    "transpose_reads" => 64,
                    // 1536 threads at once, with a load each: all that one of sm_80 has.
                    "copy_reads" | "copy_rows_reads" => 40,
                    // 16 elements a thread.
                    "transpose_wide" | "transpose_bulk" | "stencil_2d_bulk" => 64,
                    "with_staging_unified_wide" if kernel.number("LEN") >= Some(16 * kernel.threads()) => 64,
                    // Blocks of one warp, of which 32 run at once with as many.
                    "copy_stored_bulk" => 64,
                    _ => MOST_REGISTERS,
                };
                assert!(figure("registers") <= most, "registers of {one}");
            }
        }
    }
}

/// The hardware's barriers that a kernel reserves: up to the one with the greatest number, of which
/// 0 is the block's and the others are those of roles.
fn barriers(kernel: &Kernel) -> u64 {
    let own = kernel.entry.code.instructions().filter(|one| is_block_barrier(one));
    let numbers = own.map(|one| block_barrier_number(one).unwrap_or_else(|| panic!("{}: {one:?}", kernel.name())));
    let reserved = numbers.max().map_or(0, |greatest| greatest + 1);
    assert!(kernel.is_partitioned() || reserved <= 1, "{}: {reserved} barriers without roles", kernel.name());
    reserved
}

#[test]
fn the_ptx_is_of_version_7_1_for_sm_80_with_constants_of_7_7_and_with_the_copy_engine_of_8_0_for_sm_90() {
    let with_constants = with_constants();
    for module in [Module::Kernels, Module::TestKernels, Module::CodegenKernels, Module::Twins] {
        let text = module.ptx().unwrap_or_else(|error| panic!("{error}"));
        let images: Vec<&str> = text.split("\n.version ").skip(1).collect();
        assert!(!images.is_empty(), "{module:?}");
        for image in images {
            let needs_sm_90 = ["cp.async.bulk.", "fence.proxy.", ".expect_tx"].iter().any(|part| image.contains(part));
            let starts_others = image.contains("griddepcontrol.launch_dependents");
            let has_constants = with_constants.iter().any(|instance| image.contains(instance.symbol()));
            let expected = match (needs_sm_90, has_constants) {
                (true, _) if image.contains("wgmma.") => ["8.0", ".target sm_90a"],
                (true, _) => ["8.0", ".target sm_90"],
                (false, _) if starts_others => ["7.8", ".target sm_90"],
                (false, true) => ["7.7", ".target sm_80"],
                (false, false) => ["7.1", ".target sm_80"],
            };
            let head: Vec<&str> = image.lines().take(2).collect();
            assert_eq!(head, expected, "{module:?}");
        }
    }
}
