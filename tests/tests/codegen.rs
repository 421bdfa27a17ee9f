//! What the generated code must look like: intent checks on PTX, on machine code and on the assembler's report, which
//! survive a new compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::Value;
use tilepipe::launch::Instance;
use tilepipe_tests::flow::{Instruction, Loop};
use tilepipe_tests::ptx::Entry;
use tilepipe_tests::{artifact, case, ptx, sass};

/// The most registers of a thread that a kernel may take: 48 leave room for 1280 threads on an SM of 65536 registers, so
/// that a block of 1024 threads always fits. (The largest is 40, `moving_average` of vectors for `sm_80`.)
const MOST_REGISTERS: u64 = 48;

/// The entries of the built kernels by name.
static ENTRIES: LazyLock<Result<BTreeMap<String, Entry>, String>> = LazyLock::new(|| {
    let entries = ptx::entries(&artifact::ptx()?)?;
    Ok(entries.into_iter().map(|entry| (entry.name.clone(), entry)).collect())
});

fn entry(instance: &Instance) -> &'static Entry {
    let entries = ENTRIES.as_ref().unwrap_or_else(|error| panic!("{error}"));
    let found = entries.get(instance.symbol());
    found.unwrap_or_else(|| panic!("no entry `{}`: run `cargo xtask ptx`", instance.symbol()))
}

fn instances(kernel: &str) -> Vec<&'static Instance> {
    let all: Vec<_> =
        tilepipe_kernels::registry().into_iter().flatten().filter(|instance| instance.kernel() == kernel).collect();
    assert!(!all.is_empty(), "no kernel `{kernel}` in the registry");
    all
}

fn stages(instance: &Instance) -> usize {
    instance.generic("STAGES").and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Whether a round of `for_each` fills before it waits: with one stage, and with two that put less than 8 bytes a thread in
/// flight.
fn fills_first(instance: &Instance) -> bool {
    stages(instance) == 1 || stages(instance) == 2 && case::dtype_of(instance).bytes() < 8
}

fn is_barrier(one: &Instruction) -> bool {
    one.is("bar") || one.is("barrier")
}

fn is_commit(one: &Instruction) -> bool {
    one.is("cp.async.commit_group")
}

fn is_wait(one: &Instruction) -> bool {
    one.is("cp.async.wait_group") || one.is("cp.async.wait_all")
}

fn is_copy(one: &Instruction) -> bool {
    one.is("cp.async.cg") || one.is("cp.async.ca")
}

/// The loop of a kernel's steady state: the one that has barriers.
fn steady_state(instance: &Instance) -> Loop<'static> {
    let found = entry(instance).code.only_loop_with(is_barrier);
    found.unwrap_or_else(|error| panic!("{}: {error}", instance.symbol()))
}

/// Checks how many barriers, commits and waits an iteration has, that every iteration passes each kind, and that each wait
/// leaves `pending` groups in flight.
fn check_iteration(instance: &Instance, barriers: usize, groups: usize, pending: usize) {
    let (steady, name) = (steady_state(instance), instance.symbol());
    let counts = [is_barrier, is_commit, is_wait].map(|kind: fn(&Instruction) -> bool| steady.count(kind));
    assert_eq!(counts, [barriers, groups, groups], "{name}: barriers, commits and waits of an iteration");
    assert!(steady.always_passes(is_barrier), "{name}: an iteration without a barrier");
    if groups > 0 {
        assert!(steady.always_passes(is_commit), "{name}: an iteration that commits nothing");
        assert!(steady.always_passes(is_wait), "{name}: an iteration that waits for nothing");
    }
    for wait in steady.instructions().filter(|one| is_wait(one)) {
        assert_eq!(wait.operands, pending.to_string(), "{name}: groups that a wait leaves in flight");
    }
}

#[test]
fn every_instance_has_one_entry_and_every_entry_requires_its_block() {
    let entries = ENTRIES.as_ref().unwrap_or_else(|error| panic!("{error}"));
    for instance in tilepipe_kernels::registry().into_iter().flatten() {
        let threads = entry(instance).required_threads;
        assert_eq!(threads, Some(instance.threads()), "{}", instance.symbol());
        let named = instance.generic("THREADS").and_then(|text| text.parse().ok());
        assert_eq!(threads, named, "{}", instance.symbol());
    }
    assert!(entries.values().all(|entry| entry.required_threads.is_some()));
}

#[test]
fn unified_with_several_stages_has_one_barrier_one_commit_and_one_wait_an_iteration() {
    for kernel in ["with_staging_unified", "moving_average"] {
        for instance in instances(kernel).into_iter().filter(|instance| !fills_first(instance)) {
            check_iteration(instance, 1, 1, stages(instance) - 2);
        }
    }
}

#[test]
fn unified_with_one_stage_or_little_in_flight_has_two_barriers_an_iteration() {
    for kernel in ["with_staging_unified", "moving_average"] {
        for instance in instances(kernel).into_iter().filter(|instance| fills_first(instance)) {
            check_iteration(instance, 2, 1, stages(instance) - 1);
        }
    }
}

#[test]
fn staging_by_hand_has_one_barrier_an_iteration() {
    for instance in instances("with_staging") {
        check_iteration(instance, 1, 1, 0);
    }
}

#[test]
fn a_single_stage_has_two_barriers_an_iteration() {
    for instance in instances("with_single_stage") {
        check_iteration(instance, 2, 1, 0);
    }
}

#[test]
fn the_synchronous_kernel_copies_through_registers_between_two_barriers() {
    for instance in instances("without_memcpy_async") {
        check_iteration(instance, 2, 0, 0);
        let all = entry(instance).code.instructions().filter(|one| is_copy(one)).count();
        assert_eq!(all, 0, "{}", instance.symbol());
        let steady = steady_state(instance);
        let through = |name: &'static str| steady.count(|one| one.is(name));
        assert!(through("ld.global") >= 1 && through("st.shared") >= 1, "{}", instance.symbol());
    }
}

#[test]
fn a_tile_is_copied_sixteen_bytes_at_a_time_whatever_its_elements() {
    for kernel in ["with_single_stage", "with_staging", "with_staging_unified", "moving_average"] {
        for instance in instances(kernel) {
            let name = instance.symbol();
            let steady = steady_state(instance);
            let copies: Vec<_> = steady.instructions().filter(|one| is_copy(one)).collect();
            // A halo adds units to a tile, so that some threads of a block copy a second one.
            let most = if kernel == "moving_average" { 2 } else { 1 };
            assert!((1..=most).contains(&copies.len()), "{name}: {copies:?}");
            for copy in copies {
                assert_eq!(copy.opcode, "cp.async.cg.shared.global", "{name}");
                let widths: Vec<_> = copy.operands.split(',').map(str::trim).collect();
                assert_eq!(widths[2], "16", "{name}: bytes of a copy");
            }
        }
    }
}

#[test]
fn vectors_are_read_and_written_in_one_access() {
    for instance in tilepipe_kernels::registry().into_iter().flatten() {
        if case::dtype_of(instance).bytes() != 16 {
            continue;
        }
        for access in entry(instance).code.instructions() {
            let (is_shared, is_global) =
                (access.is("ld.shared") || access.is("st.shared"), access.is("st.global") || access.is("ld.global"));
            let is_record = access.has("volatile");
            if (is_shared || is_global) && !is_record {
                let wide = access.has("v4") && access.opcode.ends_with("32")
                    || access.has("v2") && access.opcode.ends_with("64");
                assert!(wide, "{}: {} {}", instance.symbol(), access.opcode, access.operands);
            }
        }
        let steady = steady_state(instance);
        for wanted in ["ld.shared", "st.global"] {
            assert!(steady.count(|one| one.is(wanted)) >= 1, "{}: no {wanted}", instance.symbol());
        }
    }
}

#[test]
fn every_access_names_its_state_space_and_none_is_local() {
    for instance in tilepipe_kernels::registry().into_iter().flatten() {
        let (entry, name) = (entry(instance), instance.symbol());
        assert!(entry.local_declarations.is_empty(), "{name}: {:?}", entry.local_declarations);
        for one in entry.code.instructions() {
            let memory = ["ld", "st", "atom", "red"].iter().any(|kind| one.is(kind));
            let space = ["param", "shared", "global", "const"].iter().any(|space| one.has(space));
            assert!(!memory || space, "{name}: a generic access: {} {}", one.opcode, one.operands);
            assert!(!one.has("local"), "{name}: {} {}", one.opcode, one.operands);
        }
    }
}

#[test]
fn a_unified_pipeline_has_no_mbarrier() {
    for instance in tilepipe_kernels::registry().into_iter().flatten() {
        let found = entry(instance).code.instructions().find(|one| one.has("mbarrier"));
        assert_eq!(found, None, "{}", instance.symbol());
    }
}

#[test]
fn only_panics_are_called_and_no_call_returns_to_the_loop() {
    let mut callees = BTreeSet::new();
    for instance in tilepipe_kernels::registry().into_iter().flatten() {
        let code = &entry(instance).code;
        for block in &code.blocks {
            let Some(call) = block.instructions.iter().find(|one| one.is("call")) else { continue };
            assert!(block.successors.is_empty(), "{}: {} returns", instance.symbol(), call.operands);
            let callee = call.operands.split([' ', ',', '(', ')']).find(|word| word.starts_with("_R"));
            callees.insert(callee.unwrap_or(&call.operands).to_owned());
        }
        assert_eq!(steady_state(instance).count(|one| one.is("call")), 0, "{}", instance.symbol());
    }
    for callee in callees {
        // Mangled names spell each part of a path with its length before it.
        let panics = ["8tilepipe5fault", "4core9panicking", "4core5slice5index"];
        assert!(panics.iter().any(|path| callee.contains(path)), "a call to `{callee}`, which is no panic");
    }
}

#[test]
fn nothing_spills_and_blocks_of_1024_threads_fit_their_registers() {
    let report = artifact::report().unwrap_or_else(|error| panic!("{error}"));
    let mut architectures = BTreeSet::new();
    for instance in tilepipe_kernels::registry().into_iter().flatten() {
        let own: Vec<&Value> = report.iter().filter(|one| one["kernel"] == instance.symbol()).collect();
        assert!(own.len() >= 3, "{}: assembled for {} architectures", instance.symbol(), own.len());
        for one in own {
            let figure =
                |name: &str| one[name].as_u64().unwrap_or_else(|| panic!("the report of {one} has no number `{name}`"));
            architectures.insert(one["arch"].to_string());
            for zero in ["spill_stores", "spill_loads", "stack_frame", "shared_bytes"] {
                assert_eq!(figure(zero), 0, "{zero} of {one}");
            }
            assert_eq!(figure("barriers"), 1, "barriers of {one}");
            assert_eq!(figure("threads"), u64::from(instance.threads()), "threads of {one}");
            assert!(figure("registers") <= MOST_REGISTERS, "registers of {one}");
        }
    }
    assert!(architectures.len() >= 3, "{architectures:?}");
}

#[test]
fn machine_code_keeps_one_barrier_an_iteration_and_16_byte_copies() {
    let text = artifact::sass("sm_90").unwrap_or_else(|error| panic!("{error}"));
    let kernels: BTreeMap<_, _> = sass::kernels(&text).unwrap_or_else(|error| panic!("{error}")).into_iter().collect();
    let barrier = |one: &Instruction| one.is("BAR.SYNC");
    for instance in instances("with_staging_unified") {
        let name = instance.symbol();
        let Some(code) = kernels.get(name) else { panic!("no machine code of `{name}`") };
        let steady = code.only_loop_with(barrier).unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = if fills_first(instance) { [2, 1, 1] } else { [1, 1, 1] };
        let counts = ["BAR.SYNC", "LDGDEPBAR", "DEPBAR.LE"].map(|opcode| steady.count(|one| one.is(opcode)));
        assert_eq!(counts, expected, "{name}: barriers, commits and waits of an iteration");
        assert!(steady.always_passes(barrier), "{name}: an iteration without a barrier");
        let pending = stages(instance) - if fills_first(instance) { 1 } else { 2 };
        for wait in steady.instructions().filter(|one| one.is("DEPBAR.LE")) {
            assert_eq!(wait.operands, format!("SB0, {pending:#x}"), "{name}: groups that a wait leaves in flight");
        }
        for copy in code.instructions().filter(|one| one.is("LDGSTS")) {
            assert!(copy.has("128"), "{name}: {} {}", copy.opcode, copy.operands);
        }
        assert_eq!(steady.count(|one| one.is("LDGSTS")), 1, "{name}: copies of an iteration");
        let local = code.instructions().find(|one| one.is("LDL") || one.is("STL"));
        assert_eq!(local, None, "{name}: local memory");
        let generic = code.instructions().find(|one| one.is("LD") || one.is("ST"));
        assert_eq!(generic, None, "{name}: a generic access");
        if case::dtype_of(instance).bytes() == 16 {
            let wide = |opcode: &str| {
                steady
                    .instructions()
                    .filter(|one| one.is(opcode) && !one.operands.starts_with("RZ"))
                    .all(|one| one.has("128"))
            };
            assert!(wide("LDS") && wide("STG"), "{name}: a vector in parts");
        }
    }
}
