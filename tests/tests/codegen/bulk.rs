//! Copies by the copy engine: one thread issues them, its announcements match them, and the fences
//! between the proxies stand where one changes to the other.

use std::collections::BTreeSet;

use tilepipe_test_kernels::bulk;
use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::{BasicBlock, Code, Instruction, Loop};
use tilepipe_tests::ptx::{
    is_arrival, is_block_barrier, is_copy, is_mbarrier_init, is_mbarrier_inval, is_mbarrier_wait, is_shared_load,
    is_warp_barrier,
};

use crate::kernel::{Kernel, Scope, entries};

/// A bulk copy from global memory.
pub fn is_bulk(one: &Instruction) -> bool {
    one.is("cp.async.bulk")
}

/// The announcement of bytes, alone or with an arrival.
pub fn is_expect(one: &Instruction) -> bool {
    one.is("mbarrier.expect_tx") || one.is("mbarrier.arrive.expect_tx")
}

/// The bytes that announcements have, where they are constants.
fn announced(code: &Code) -> Vec<Option<u32>> {
    let bytes = |one: &Instruction| value(code, one.operands.split(", ").last()?, 0, DEPTH);
    code.instructions().filter(|one| is_expect(one)).map(bytes).collect()
}

/// The fence between the proxies.
pub fn is_fence(one: &Instruction) -> bool {
    one.is("fence.proxy")
}

/// What makes an mbarrier known to the copy engine.
pub fn is_init_fence(one: &Instruction) -> bool {
    one.is("fence.mbarrier_init")
}

/// How far a value is followed back.
const DEPTH: usize = 8;

/// The value of an operand that follows from the rank of the thread alone.
fn value(code: &Code, operand: &str, rank: u32, depth: usize) -> Option<u32> {
    if let Ok(number) = operand.parse() {
        return Some(number);
    }
    if operand == "%tid.x" {
        return Some(rank);
    }
    known(code, operand, depth, |one, operands| {
        let of = |place: usize| value(code, operands.get(place)?, rank, depth - 1);
        if one.is("mov") || one.is("cvt.u64") || one.is("cvt.u32") {
            of(1)
        } else if one.is("and") {
            Some(of(1)? & of(2)?)
        } else if one.is("shr") {
            Some(of(1)? >> of(2)?)
        } else {
            None
        }
    })
}

/// Whether a predicate holds in the thread of a rank, where that follows from the rank alone.
fn holds(code: &Code, predicate: &str, rank: u32, depth: usize) -> Option<bool> {
    known(code, predicate, depth, |one, operands| {
        let sides =
            || Some((holds(code, operands.get(1)?, rank, depth - 1), holds(code, operands.get(2)?, rank, depth - 1)));
        if one.is("or.pred") {
            let (a, b) = sides()?;
            return if a == Some(true) || b == Some(true) { Some(true) } else { Some(a? | b?) };
        }
        if one.is("and.pred") {
            let (a, b) = sides()?;
            return if a == Some(false) || b == Some(false) { Some(false) } else { Some(a? & b?) };
        }
        let of = |place: usize| value(code, operands.get(place)?, rank, depth - 1);
        match one.opcode.split('.').nth(1).filter(|_| one.is("setp"))? {
            "eq" => Some(of(1)? == of(2)?),
            "ne" => Some(of(1)? != of(2)?),
            "lt" => Some(of(1)? < of(2)?),
            "gt" => Some(of(1)? > of(2)?),
            _ => None,
        }
    })
}

/// What all instructions that write a register, and can be reached, make of it.
fn known<T: PartialEq>(
    code: &Code,
    register: &str,
    depth: usize,
    of: impl Fn(&Instruction, &[&str]) -> Option<T>,
) -> Option<T> {
    if depth == 0 {
        return None;
    }
    let written = code.instructions().filter_map(|one| {
        let operands: Vec<&str> = one.operands.split(", ").collect();
        let writes = operands.first() == Some(&register) && !one.is("bra");
        writes.then(|| of(one, &operands))
    });
    let mut written = written.collect::<Vec<_>>().into_iter();
    let first = written.next()??;
    written.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

/// The code that the thread of a rank may reach: of a branch that its rank decides, the way that it
/// goes.
pub fn of_thread(code: &Code, rank: u32) -> Code {
    let mut code = code.clone();
    loop {
        let way = |block: &BasicBlock| {
            let [target, following] = block.successors[..] else { return None };
            let guard = block.instructions.last().filter(|last| last.is("bra"))?.guard.as_deref()?;
            let (predicate, negated) = guard.strip_prefix('!').map_or((guard, false), |predicate| (predicate, true));
            let taken = holds(&code, predicate, rank, DEPTH)? != negated;
            Some(if taken { target } else { following })
        };
        let ways: Vec<Option<usize>> = code.blocks.iter().map(way).collect();
        if ways.iter().all(Option::is_none) {
            return without_what_is_never_reached(code);
        }
        for (block, way) in code.blocks.iter_mut().zip(ways) {
            block.successors = way.map_or_else(|| block.successors.clone(), |way| vec![way]);
        }
    }
}

fn without_what_is_never_reached(mut code: Code) -> Code {
    let (mut reached, mut open) = (BTreeSet::new(), vec![0]);
    while let Some(block) = open.pop() {
        if reached.insert(block) {
            open.extend(&code.blocks[block].successors);
        }
    }
    for (index, block) in code.blocks.iter_mut().enumerate() {
        if !reached.contains(&index) {
            *block = BasicBlock::default();
        }
    }
    code
}

/// How often a thread of this code executes such instructions, whatever its way.
pub fn executed(code: &Code, wanted: fn(&Instruction) -> bool) -> BTreeSet<usize> {
    code.executions(wanted, |one| one.is("ret"))
}

/// A kind of instructions.
type Kind = fn(&Instruction) -> bool;

/// What a run of one kernel executes.
struct Run {
    kernel: &'static str,
    /// Bytes of the copies, all of which the first thread issues.
    copies: &'static [u32],
    /// What it announces for each stage that it fills, and arrives after.
    stages: &'static [u32],
    /// Fences between the proxies in each thread.
    fences: usize,
    /// Waits for a phase in each thread, with that of each stage at the end.
    waits: usize,
    /// Barriers of the block, and of the warp.
    barriers: [usize; 2],
}

/// With `with_pipeline` there is a fence and a barrier before the pipeline, and after it a wait for
/// each stage and two barriers, with the end of the mbarriers between them.
const RUNS: [Run; 9] = [
    Run { kernel: "bulk_entry", copies: &[], stages: &[], fences: 1, waits: 1, barriers: [3, 0] },
    Run { kernel: "bulk_fill", copies: &[512], stages: &[512], fences: 1, waits: 1, barriers: [3, 0] },
    Run { kernel: "bulk_wait", copies: &[512], stages: &[512], fences: 1, waits: 2, barriers: [3, 0] },
    Run { kernel: "bulk_wait_beside_dirty", copies: &[512], stages: &[512], fences: 2, waits: 3, barriers: [4, 0] },
    Run { kernel: "bulk_acquire_dirty", copies: &[512], stages: &[512], fences: 2, waits: 1, barriers: [4, 0] },
    Run { kernel: "bulk_pair", copies: &[512, 64], stages: &[576], fences: 1, waits: 1, barriers: [3, 0] },
    Run {
        kernel: "bulk_two_stages",
        copies: &[512, 64, 512, 64],
        stages: &[576, 576],
        fences: 1,
        waits: 3,
        barriers: [3, 0],
    },
    Run { kernel: "bulk_twice", copies: &[512, 512], stages: &[512, 512], fences: 2, waits: 2, barriers: [6, 0] },
    Run { kernel: "bulk_of_warps", copies: &[512], stages: &[512], fences: 1, waits: 2, barriers: [0, 2] },
];

/// The kernels that are checked here.
const ISSUERS: [&str; 17] = [
    "bulk_entry",
    "bulk_fill",
    "bulk_wait",
    "bulk_wait_beside_dirty",
    "bulk_acquire_dirty",
    "bulk_pair",
    "bulk_two_stages",
    "bulk_twice",
    "bulk_gap",
    "bulk_tile",
    "bulk_rounds",
    "bulk_driven",
    "bulk_of_warps",
    "bulk_between_roles",
    "bulk_gap_between_roles",
    "bulk_driven_between_roles",
    "bulk_ends_with_roles",
];

/// Those of them that copy nothing.
const WITHOUT_COPIES: [&str; 2] = ["bulk_entry", "bulk_gap"];

/// Their names.
pub fn checked() -> Vec<&'static str> {
    ISSUERS.to_vec()
}

/// Whether a kernel has instructions that only the copy engine needs.
pub fn is_of_copy_engine(kernel: &Kernel) -> bool {
    kernel.entry.code.instructions().any(|one| is_bulk(one) || is_expect(one) || is_fence(one) || is_init_fence(one))
}

pub fn one_of(name: &str) -> &'static Code {
    &Kernel::of_tests_named(name)[0].entry.code
}

/// The operand at `place` of each such instruction, where it is a constant.
fn operands(code: &Code, wanted: fn(&Instruction) -> bool, place: usize) -> Vec<Option<u32>> {
    code.instructions().filter(|one| wanted(one)).map(|one| operand(code, one, place)).collect()
}

fn constants(numbers: &[u32]) -> Vec<Option<u32>> {
    numbers.iter().copied().map(Some).collect()
}

/// An operand that is a constant.
pub fn operand(code: &Code, one: &Instruction, place: usize) -> Option<u32> {
    value(code, one.operands.split(", ").nth(place)?, 0, DEPTH)
}

/// An operand that is an address in the block's shared memory, as the offset from its first byte,
/// where that is a constant.
pub fn offset(code: &Code, one: &Instruction, place: usize) -> Option<u32> {
    offset_of(code, one.operands.split(", ").nth(place)?.trim_matches(['[', ']']), DEPTH)
}

fn offset_of(code: &Code, operand: &str, depth: usize) -> Option<u32> {
    if let Some(behind) = operand.strip_prefix("tilepipe_shared") {
        return if behind.is_empty() { Some(0) } else { behind.strip_prefix('+')?.parse().ok() };
    }
    known(code, operand, depth, |one, operands| {
        let from = offset_of(code, operands.get(1)?, depth - 1)?;
        let moves = ["mov", "cvt", "cvta"].iter().any(|opcode| one.is(opcode));
        if moves { Some(from) } else { Some(from + operands.get(2).filter(|_| one.is("add"))?.parse::<u32>().ok()?) }
    })
}

#[test]
fn steps_become_the_copies_announcements_fences_and_barriers_that_their_state_requires() {
    for run in &RUNS {
        let (code, name) = (one_of(run.kernel), run.kernel);
        assert_eq!(operands(code, is_bulk, 2), constants(run.copies), "{name}: bytes of copies");
        assert_eq!(announced(code), constants(run.stages), "{name}: announced bytes");
        let (first, other) = (of_thread(code, 0), of_thread(code, 1));
        for (what, wanted, count) in [
            ("copies", is_bulk as Kind, run.copies.len()),
            ("announcements", is_expect, run.stages.len()),
            ("arrivals", is_arrival, run.stages.len()),
        ] {
            assert_eq!(executed(&first, wanted), [count].into(), "{name}: {what} of the first thread");
            assert_eq!(executed(&other, wanted), [0].into(), "{name}: {what} of another thread");
        }
        for thread in [&first, &other] {
            for (what, wanted, count) in [
                ("fences", is_fence as Kind, run.fences),
                ("waits", is_mbarrier_wait, run.waits),
                ("barriers of the block", is_block_barrier, run.barriers[0]),
                ("barriers of the warp", is_warp_barrier, run.barriers[1]),
            ] {
                assert_eq!(executed(thread, wanted), [count].into(), "{name}: {what}");
            }
        }
    }
}

#[test]
fn a_stage_without_bytes_has_its_arrival_alone() {
    let (first, other) = (of_thread(one_of("bulk_gap"), 0), of_thread(one_of("bulk_gap"), 1));
    for (what, wanted, count) in
        [("copies", is_bulk as Kind, 0), ("announcements", is_expect, 0), ("arrivals", is_arrival, 1)]
    {
        assert_eq!(executed(&first, wanted), [count].into(), "{what} of the first thread");
        assert_eq!(executed(&other, wanted), [0].into(), "{what} of another thread");
    }
    // One by hand, and one at the end.
    assert_eq!(executed(&other, is_mbarrier_wait), [2].into());
}

#[test]
fn only_the_first_thread_has_code_of_copies() {
    for name in ISSUERS {
        for kernel in Kernel::of_tests_named(name) {
            let code = &kernel.entry.code;
            let copies =
                |rank| of_thread(code, rank).instructions().filter(|one| is_bulk(one) || is_expect(one)).count();
            let all = code.instructions().filter(|one| is_bulk(one) || is_expect(one)).count();
            assert!(all > 0 || WITHOUT_COPIES.contains(&name), "{name} copies nothing");
            assert_eq!(copies(0), all, "{name}: copies and announcements of the first thread");
            for rank in [1, 31, 33, 127] {
                assert_eq!(copies(rank), 0, "{name}: copies and announcements of thread {rank}");
            }
            // Each warp's own pipeline has its first lane.
            let of_its_warp = if name == "bulk_of_warps" { all } else { 0 };
            assert_eq!(copies(32), of_its_warp, "{name}: copies and announcements of thread 32");
            let elected = code.instructions().find(|one| one.is("elect"));
            assert_eq!(elected, None, "{name}: the issuing thread is a constant");
        }
    }
}

#[test]
fn a_whole_tile_is_one_copy_and_a_stage_has_one_announcement() {
    let thread = of_thread(one_of("bulk_tile"), 0);
    assert_eq!(executed(&thread, is_expect), [1].into(), "announcements");
    assert_eq!(executed(&thread, is_arrival), [1].into(), "arrivals");
    assert!(executed(&thread, is_bulk).contains(&1), "no way on which the tile is one copy");
    // A round of a loop fills one stage.
    let first = of_thread(one_of("bulk_rounds"), 0);
    let rounds = first.loops_with(&[is_bulk]);
    assert_eq!(rounds.len(), 1);
    for round in rounds {
        for (what, wanted) in [("copies", is_bulk as Kind), ("announcements", is_expect)] {
            assert_eq!(round.executions(wanted), [1].into(), "{what} of a round");
        }
        assert_eq!(round.executions(is_mbarrier_wait), [1].into());
        assert_eq!(round.executions(is_block_barrier), [1].into());
        assert_eq!(round.executions(is_fence), [1].into());
    }
}

#[test]
fn a_fence_and_then_a_barrier_come_before_the_first_copy_and_before_each_that_fills_a_stage_again() {
    let pick = |one: &Instruction| {
        let is_arrival_with_bytes: Kind = |one| is_arrival(one) && is_expect(one);
        let kinds: [(Kind, &str); 7] = [
            (is_arrival_with_bytes, "announce and arrive"),
            (is_mbarrier_init, "init"),
            (is_init_fence, "init fence"),
            (is_fence, "fence"),
            (is_block_barrier, "barrier"),
            (is_expect, "announce"),
            (is_bulk, "copy"),
        ];
        let more: [(Kind, &str); 3] =
            [(is_arrival, "arrive"), (is_mbarrier_wait, "wait"), (is_mbarrier_inval, "inval")];
        kinds.iter().chain(&more).find(|(is, _)| is(one)).map(|(_, kind)| (*kind).to_owned())
    };
    let trace = |name: &str, rank| of_thread(one_of(name), rank).traces(pick, |one| one.is("ret"));
    let begin = ["init", "init fence", "fence", "barrier"];
    let fill = ["copy", "announce and arrive"];
    let end = ["wait", "barrier", "inval", "barrier"];
    let of = |parts: &[&[&str]]| BTreeSet::from([parts.concat().into_iter().map(str::to_owned).collect::<Vec<_>>()]);
    assert_eq!(trace("bulk_fill", 0), of(&[&begin, &fill, &end]));
    assert_eq!(trace("bulk_fill", 1), of(&[&begin[2..], &["wait", "barrier"]]));
    assert_eq!(trace("bulk_acquire_dirty", 0), of(&[&begin, &begin[2..], &fill, &end]));
    assert_eq!(trace("bulk_wait_beside_dirty", 0), of(&[&begin, &fill, &["wait"], &begin[2..], &end]));
}

#[test]
fn a_role_that_reads_fences_before_each_arrival_and_one_that_fills_has_the_fence_of_the_entry_alone() {
    for name in ["bulk_between_roles", "bulk_driven_between_roles"] {
        let reader = of_thread(one_of(name), 33);
        // Waits, and the barrier of the entry, keep arrivals and fences apart.
        let kinds: [(Kind, &str); 4] =
            [(is_fence, "fence"), (is_block_barrier, "barrier"), (is_mbarrier_wait, "wait"), (is_arrival, "arrive")];
        let pick = |one: &Instruction| kinds.iter().find(|(is, _)| is(one)).map(|(_, kind)| (*kind).to_owned());
        let ways = reader.traces(pick, |one| one.is("ret"));
        assert!(!ways.is_empty(), "{name}");
        for way in &ways {
            // The fence of the entry; and then one before each arrival.
            assert!(way.starts_with(&["fence".to_owned(), "barrier".to_owned()]), "{name}: {way:?}");
            assert!(way.windows(2).all(|two| two[1] != "arrive" || two[0] == "fence"), "{name}: {way:?}");
        }
        let arrives = reader.instructions().filter(|one| is_arrival(one)).count();
        assert!(arrives > 0, "{name}: the readers give no stage back");
    }
    let filler = of_thread(one_of("bulk_between_roles"), 0);
    assert_eq!(executed(&filler, is_fence), [1].into(), "fences of a role that fills");
}

#[test]
fn a_round_of_a_driver_has_one_fence_and_one_barrier_whatever_its_number_of_stages() {
    let mut drivers = Kernel::of_bulk_copies();
    drivers.retain(|kernel| !kernel.is_partitioned());
    drivers.extend(Kernel::of_tests_named("bulk_driven"));
    for kernel in drivers {
        let other = of_thread(&kernel.entry.code, 1);
        let rounds = other.loops_with(&[is_mbarrier_wait, is_shared_load]);
        assert!(!rounds.is_empty(), "{}: no loop of a steady state", kernel.name());
        for round in rounds {
            // Warps wait for their own. A scan has two of its own for each tile.
            let barriers = match (kernel.scope(), kernel.instance.kernel()) {
                (Scope::Warp, _) => [0, 1],
                (_, "exclusive_scan_bulk") => [1 + 2, 0],
                _ => [1, 0],
            };
            for (what, wanted, count) in [
                ("fences", is_fence as Kind, 1),
                ("waits", is_mbarrier_wait, 1),
                ("barriers of the block", is_block_barrier, barriers[0]),
                ("barriers of the warp", is_warp_barrier, barriers[1]),
            ] {
                assert_eq!(round.executions(wanted), [count].into(), "{}: {what} of a round", kernel.name());
            }
        }
    }
}

/// The kernels that go on behind roles which share warps, between which the copy engine fills
/// stages in those instances that have `Bulk`.
const GO_ON_IN_SHARED_WARPS: [&str; 4] =
    ["three_passes", "quits_at_every_step", "random_quits_of_first_threads", "random_quits_by_parity"];

/// What a wait says of how long the thread may be suspended at once, in nanoseconds.
fn suspend_time_hint(wait: &Instruction) -> Option<&str> {
    wait.operands.split(", ").nth(2)
}

#[test]
fn waits_have_a_suspend_time_hint_where_warps_are_shared_and_threads_wait_behind_the_roles_and_nowhere_else() {
    let mut hinted = BTreeSet::new();
    for module in [Module::Kernels, Module::TestKernels, Module::CodegenKernels] {
        for entry in entries(module).values() {
            let name = entry.name.rsplit('$').next().unwrap_or_default();
            let (kernel, arguments) = name.split_once("__").unwrap_or((name, ""));
            let of_engine = arguments.split('_').any(|argument| argument == "Bulk");
            let expected = GO_ON_IN_SHARED_WARPS.contains(&kernel) && of_engine;
            let waits: Vec<_> = entry.code.instructions().filter(|one| is_mbarrier_wait(one)).collect();
            let hints = waits.iter().filter_map(|wait| suspend_time_hint(wait)).collect::<Vec<_>>();
            assert!(hints.iter().all(|hint| *hint == "20"), "{name}: {hints:?}");
            assert_eq!(!hints.is_empty(), expected, "{name}: {} of {} waits have a hint", hints.len(), waits.len());
            if expected {
                hinted.insert(kernel);
            }
        }
    }
    assert_eq!(hinted, GO_ON_IN_SHARED_WARPS.into());
}

/// The copies of a stage of a kernel in `kernels/` whose tiles have one row; of others each row is
/// a copy.
fn copies_of_stage(kernel: &Kernel) -> Option<usize> {
    match kernel.instance.kernel() {
        "dot_bulk" | "example_kernel_bulk" => Some(2),
        "transpose_bulk" | "stencil_2d_bulk" => None,
        _ => Some(1),
    }
}

#[test]
fn in_each_kernel_one_thread_asks_for_a_tile_with_one_copy_and_announces_a_stage_once() {
    let mut checked = BTreeSet::new();
    for kernel in Kernel::of_bulk_copies() {
        let (code, name) = (&kernel.entry.code, kernel.name());
        let by_threads = code.instructions().find(|one| is_copy(one));
        assert_eq!(by_threads, None, "{name}: a copy by `cp.async`");
        let asks = |rank| of_thread(code, rank).instructions().filter(|one| is_bulk(one) || is_expect(one)).count();
        let all = asks(0);
        assert!(all > 0, "{name} copies nothing");
        for rank in (1..kernel.threads() as u32).filter(|rank| [1, 32, 33].contains(rank)) {
            let of_its_warp = kernel.scope() == Scope::Warp && rank % 32 == 0;
            assert_eq!(asks(rank), if of_its_warp { all } else { 0 }, "{name}: copies of thread {rank}");
        }
        checked.insert(kernel.instance.kernel());
        // A role's driver makes laps of several stages.
        if kernel.is_partitioned() {
            continue;
        }
        let first = of_thread(code, 0);
        let rounds = first.loops_with(&[is_bulk, is_mbarrier_wait]);
        assert!(!rounds.is_empty(), "{name}: no loop that fills stages");
        for round in &rounds {
            let announcements = round.executions(is_expect);
            assert!(announcements.iter().all(|count| *count <= 1), "{name}: announcements of a round");
        }
        // A tile that the view ends in has more copies, on another way.
        let is_wanted = |round: &Loop<'_>| {
            copies_of_stage(&kernel).is_none_or(|wanted| round.executions(is_bulk).contains(&wanted))
        };
        assert!(rounds.iter().any(is_wanted), "{name}: no way on which each tile is one copy");
    }
    assert!(checked.contains("copy_bulk") && checked.len() > 15, "{checked:?}");
}

#[test]
fn mbarriers_are_those_of_the_stages_and_a_fence_is_for_shared_memory_alone() {
    for (name, stages) in [("bulk_entry", 1), ("bulk_wait_beside_dirty", 2), ("bulk_rounds", 2), ("bulk_of_warps", 1)] {
        let code = of_thread(one_of(name), 0);
        assert_eq!(executed(&code, is_mbarrier_init), [stages].into(), "{name}: mbarriers");
        assert_eq!(executed(&code, is_mbarrier_inval), [stages].into(), "{name}: mbarriers that end");
        assert_eq!(executed(&code, is_init_fence), [1].into(), "{name}");
        assert_eq!(executed(&of_thread(one_of(name), 1), is_mbarrier_init), [0].into(), "{name}");
    }
    for module in [Module::Kernels, Module::TestKernels, Module::CodegenKernels] {
        for entry in entries(module).values() {
            for one in entry.code.instructions().filter(|one| is_fence(one)) {
                assert_eq!(one.opcode, "fence.proxy.async.shared::cta", "{}", entry.name);
            }
        }
    }
}

#[test]
fn what_only_the_copy_engine_needs_is_in_its_kernels_alone_and_they_have_no_local_memory() {
    let of_tests = [
        &bulk::zeros_and_gaps_in_scope::INSTANCES[..],
        &bulk::both_orders::INSTANCES,
        &bulk::left_in_scope::INSTANCES,
        &bulk::warps_by_hand::INSTANCES,
        &bulk::far_neighbours::INSTANCES,
        &bulk::driven_again::INSTANCES,
    ];
    let of_tests = of_tests.into_iter().flatten().collect();
    let mut of_copy_engine = 0;
    for (module, registry) in [
        (Module::Kernels, tilepipe_kernels::registry().into_iter().flatten().collect::<Vec<_>>()),
        (Module::TestKernels, of_tests),
        (Module::CodegenKernels, tilepipe_codegen_kernels::registry()),
    ] {
        for instance in registry {
            let kernel = Kernel::new(module, instance);
            let named = kernel.is_of_copy_engine() || ISSUERS.contains(&instance.kernel());
            assert_eq!(is_of_copy_engine(&kernel), named, "{}: instructions of the copy engine", kernel.name());
            if named {
                of_copy_engine += 1;
                assert_eq!(kernel.entry.local_declarations, [""; 0], "{}: local memory", kernel.name());
            }
        }
    }
    assert!(of_copy_engine > ISSUERS.len());
}
