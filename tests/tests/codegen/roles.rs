//! Kernels with roles: what carries a stage from one role to another.

use std::collections::{BTreeMap, BTreeSet};

use tilepipe_test_kernels::wide::elements_between_roles;
use tilepipe_tests::artifact::Module;
use tilepipe_tests::dataflow::normal_form;
use tilepipe_tests::flow::{Instruction, Loop};
use tilepipe_tests::ptx::{
    is_arrival, is_arrival_of_copies, is_block_barrier, is_commit, is_copy, is_global_store, is_mbarrier_init,
    is_mbarrier_inval, is_mbarrier_poll, is_mbarrier_wait, is_shared_load, is_shared_store, is_wait, is_warp_barrier,
};

use crate::kernel::Kernel;

/// The kernels of `kernels/` whose threads have roles; by hand, so that each end looks whether the
/// other has left.
const KERNELS: [(&str, bool); 9] = [
    ("with_specialized_staging_unified", false),
    ("with_specialized_staging_unified_wide", false),
    ("with_specialized_staging_unified_bulk", false),
    ("with_specialized_staging_warps", false),
    ("with_specialized_staging_warps_wide", false),
    ("with_specialized_staging_warps_bulk", false),
    ("with_producer_count", true),
    ("producer_consumer_sum", true),
    ("load_compute_store", true),
];

/// Kernels that go on behind their roles. Where a kernel ends with a partition the builder leaves
/// out what ends the partition.
const GO_ON: [&str; 2] = ["producer_consumer_sum", "role_result"];

/// Whether the kernel goes on behind its roles.
pub fn goes_on(kernel: &Kernel) -> bool {
    GO_ON.contains(&kernel.instance.kernel())
}

/// Whether the kernel's threads have roles.
pub fn is_partitioned(kernel: &Kernel) -> bool {
    let name = kernel.instance.kernel();
    KERNELS.iter().any(|(own, _)| *own == name) || crate::role_barriers::checked().contains(&name)
}

/// Whether the kernel of `kernels/` has roles by hand, so that each end looks whether the other has
/// left.
pub fn is_by_hand(kernel: &Kernel) -> bool {
    KERNELS.contains(&(kernel.instance.kernel(), true))
}

/// How many stages a round of each loop of a role takes that a driver makes: one loop for tiles
/// that are all whole and one for others; where there are laps, the first one is laps of `lap` in
/// the text, and a loop takes the rest one by one.
pub fn stages_of_loops(kernel: &Kernel, lap: usize) -> Vec<usize> {
    if has_laps(kernel) { vec![1, 1, lap] } else { vec![1, 1] }
}

/// Whether a driver's loops are laps: not where all threads of an interleaved role copy.
fn has_laps(kernel: &Kernel) -> bool {
    let interleaved = kernel.instance.kernel().starts_with("with_specialized_staging_unified");
    let all_copy = || kernel.number("TILE").is_some_and(|tile| units(kernel, tile) >= tile);
    !(interleaved && all_copy())
}

/// A pipeline from `producers` threads, of which the `copiers` take part in filling, to `consumers`
/// threads.
struct Pipeline {
    producers: usize,
    copiers: usize,
    consumers: usize,
    asynchronous: bool,
}

/// A kernel with roles.
struct Partitioned {
    kernel: Kernel,
    by_hand: bool,
    pipelines: Vec<Pipeline>,
}

fn partitioned() -> Vec<Partitioned> {
    // Those of the copy engine hand stages over otherwise (`bulk`).
    let of_name = |(name, by_hand): (&str, bool)| {
        let kernels = Kernel::named(name).into_iter().filter(|kernel| !kernel.is_of_copy_engine());
        kernels.map(move |kernel| Partitioned::new(kernel, by_hand)).collect::<Vec<_>>()
    };
    KERNELS.into_iter().flat_map(of_name).collect()
}

impl Partitioned {
    fn new(kernel: Kernel, by_hand: bool) -> Partitioned {
        let size = |generic: &str| kernel.number(generic).unwrap_or_else(|| panic!("{}: no {generic}", kernel.name()));
        let asynchronous = kernel.is_asynchronous();
        let by_all =
            |producers, consumers, asynchronous| Pipeline { producers, copiers: producers, consumers, asynchronous };
        // A driver leaves out the threads that have no unit of a tile.
        let by_copiers = |producers: usize, consumers| {
            let copiers = producers.min(units(&kernel, consumers));
            Pipeline { copiers, ..by_all(producers, consumers, asynchronous) }
        };
        let pipelines = match kernel.instance.kernel() {
            // With more than two stages all threads of an interleaved role stay in step.
            "with_specialized_staging_unified" | "with_specialized_staging_unified_wide" if size("STAGES") > 2 => {
                vec![by_all(size("TILE"), size("TILE"), asynchronous)]
            }
            "with_specialized_staging_unified" | "with_specialized_staging_unified_wide" => {
                vec![by_copiers(size("TILE"), size("TILE"))]
            }
            "with_specialized_staging_warps" | "with_specialized_staging_warps_wide" => {
                vec![by_copiers(size("PRODUCERS"), size("CONSUMERS"))]
            }
            "with_producer_count" => vec![by_all(size("PRODUCERS"), size("CONSUMERS"), asynchronous)],
            "producer_consumer_sum" => vec![by_all(32, size("CONSUMERS"), true)],
            "load_compute_store" => vec![by_all(32, 128, true), by_all(128, 32, false)],
            other => panic!("no roles of `{other}` are written down"),
        };
        Partitioned { kernel, by_hand, pipelines }
    }

    fn stages(&self) -> usize {
        self.kernel.number("STAGES").unwrap_or_else(|| panic!("{}: no STAGES", self.kernel.name()))
    }

    /// The arrivals that each mbarrier counts, sorted: of each thread that fills, of each that
    /// reads, and where roles may leave or wait for a limited time of all threads of both.
    fn arrivals(&self) -> Vec<usize> {
        let mut all = Vec::new();
        for Pipeline { producers, copiers, consumers, .. } in &self.pipelines {
            all.extend((0..self.stages()).flat_map(|_| [copiers, consumers]));
            if self.by_hand {
                all.extend([producers, consumers]);
            }
        }
        all.sort_unstable();
        all
    }

    /// The loops in which a role takes and passes stages, by what they do and how many stages a
    /// round takes. (There are others, in which a role of several ends leaves.)
    fn loops(&self) -> Vec<(Does, usize, Loop<'static>)> {
        let name = self.kernel.name();
        let mut found = self.kernel.entry.code.loops_with(&[is_mbarrier_wait]);
        found.retain(|one| one.count(is_mbarrier_poll) == 0);
        let kind = |one: Loop<'static>| {
            let waits: Vec<usize> = one.executions(is_mbarrier_wait).into_iter().collect();
            let &[waits] = &waits[..] else { panic!("{name}: {waits:?} waits of a round") };
            let loads = one.count(|own| own.is("ld.global")) > 0 && one.count(is_shared_store) > 0;
            let does = if loads || one.count(is_arrival_of_copies) > 0 {
                Does::Fill
            } else if self.by_hand && waits == 2 {
                Does::Both
            } else {
                Does::Read
            };
            (does, if does == Does::Both { 1 } else { waits }, one)
        };
        let found: Vec<_> = found.into_iter().map(kind).collect();
        let each = |lap| if self.by_hand { vec![1] } else { stages_of_loops(&self.kernel, lap) };
        let read = if is_read_lap_unrolled(&self.kernel) { self.stages() } else { 1 };
        for (does, expected) in [
            (Does::Fill, each(self.stages())),
            (Does::Both, vec![1; self.pipelines.len() - 1]),
            (Does::Read, each(read)),
        ] {
            let mut stages: Vec<usize> = found.iter().filter(|one| one.0 == does).map(|one| one.1).collect();
            stages.sort_unstable();
            assert_eq!(stages, expected, "{name}: stages of a round of each loop that does {does:?}");
        }
        found
    }
}

/// Whether the lap of a driver's reading role has the code of each stage: LLVM leaves eight stages
/// of vectors one loop, as too much code.
pub fn is_read_lap_unrolled(kernel: &Kernel) -> bool {
    let of_vectors = kernel.instance.generic("T").is_some_and(|element| element.ends_with("x4"));
    !(of_vectors && kernel.number("STAGES") == Some(8))
}

/// The units that threads copy of a tile of `len` elements: the widest of up to 16 bytes that the
/// tile is a multiple of, or elements.
fn units(kernel: &Kernel, len: usize) -> usize {
    let len = kernel.number("LEN").unwrap_or(len);
    let bytes = len * kernel.element_bytes();
    let widest = [16, 8, 4, 2, 1].into_iter().find(|width| bytes.is_multiple_of(*width));
    if kernel.is_asynchronous() { bytes / widest.unwrap_or(1) } else { len }
}

/// What a role's loop does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    /// Fills stages from global memory.
    Fill,
    /// Reads stages of one pipeline and fills those of another one.
    Both,
    /// Reads stages.
    Read,
}

/// Checks how often a round of a loop executes the `wanted` instructions, whatever its way.
fn check(kernel: &Kernel, does: Does, one: &Loop<'_>, what: &str, wanted: fn(&Instruction) -> bool, expected: usize) {
    assert_eq!(one.executions(wanted), [expected].into(), "{}: {what} of a round that does {does:?}", kernel.name());
}

#[test]
fn a_round_waits_once_for_each_stage_that_it_takes_and_arrives_once_for_each_that_it_passes() {
    for own in partitioned() {
        for (does, stages, one) in own.loops() {
            let check = |what, wanted, expected| check(&own.kernel, does, &one, what, wanted, expected);
            let copies_arrive = does == Does::Fill && own.pipelines[0].asynchronous;
            // One that does both takes a stage of each of its pipelines.
            let ends = if does == Does::Both { 2 } else { 1 };
            check("waits", is_mbarrier_wait, ends * stages);
            // Of every thread: on each way round.
            check("arrivals of copies", is_arrival_of_copies, if copies_arrive { stages } else { 0 });
            check("arrivals", is_arrival, if copies_arrive { 0 } else { ends * stages });
            check("barriers of the warp", is_warp_barrier, 0);
            check("barriers of the block or of a role", is_block_barrier, 0);
            check("commits", is_commit, 0);
            check("waits for groups", is_wait, 0);
        }
    }
}

#[test]
fn a_role_that_fills_copies_and_the_others_do_not() {
    for own in partitioned() {
        for (does, _, one) in own.loops() {
            let copies = does == Does::Fill && own.pipelines[0].asynchronous;
            assert_eq!(one.count(is_copy) > 0, copies, "{}: copies where it does {does:?}", own.kernel.name());
            let writes = one.count(is_global_store) > 0;
            let reads = does == Does::Read && own.kernel.instance.kernel() != "producer_consumer_sum";
            assert_eq!(writes, reads, "{}: results where it does {does:?}", own.kernel.name());
        }
    }
}

/// The registers that are compared with 0 behind being loaded from shared memory: closing words.
fn closing_words(kernel: &Kernel) -> BTreeSet<String> {
    let compared = kernel.entry.code.instructions().filter(|one| one.is("setp.ne.b32") || one.is("setp.eq.b32"));
    compared.filter_map(|one| Some(one.operands.strip_suffix(", 0")?.split(", ").nth(1)?.to_owned())).collect()
}

#[test]
fn each_end_reads_one_closing_word_a_stage_by_hand_and_none_in_a_driver() {
    for own in partitioned() {
        let words = closing_words(&own.kernel);
        let is_closing_word = |one: &Instruction| {
            let to = one.operands.split(", ").next().unwrap_or_default();
            one.is("ld.shared.b32") && words.contains(to)
        };
        for (does, _, one) in own.loops() {
            let stages = if does == Does::Both { 2 } else { 1 };
            let expected = BTreeSet::from([if own.by_hand { stages } else { 0 }]);
            let name = own.kernel.name();
            assert_eq!(one.executions(is_closing_word), expected, "{name}: closing words where it does {does:?}");
            if does == Does::Fill {
                assert_eq!(one.executions(is_shared_load), expected, "{name}: loads of a role that fills");
            }
        }
    }
}

#[test]
fn the_roles_are_the_ways_of_one_branch() {
    // Else threads of a warp that is divided would wait, where a branch of one role ends, for
    // threads that wait for them.
    for own in partitioned() {
        let loops = own.loops();
        for (does, _, one) in &loops {
            for (other_does, _, other) in loops.iter().filter(|other| other.0 != *does) {
                assert!(!one.leads_to(other), "{}: from {does:?} to {other_does:?}", own.kernel.name());
            }
        }
    }
}

/// The values of the registers that are set to a constant.
fn constants(kernel: &Kernel) -> BTreeMap<&str, usize> {
    let moves = kernel.entry.code.instructions().filter(|one| one.is("mov.b32"));
    moves
        .filter_map(|one| one.operands.split_once(", "))
        .filter_map(|(to, value)| Some((to, value.parse().ok()?)))
        .collect()
}

#[test]
fn the_mbarriers_count_the_threads_that_arrive_at_them() {
    for own in partitioned() {
        let (kernel, expected) = (&own.kernel, own.arrivals());
        let constants = constants(kernel);
        let count = |one: &Instruction| {
            let count = one.operands.split(", ").nth(1).unwrap_or_default();
            count.parse().ok().or_else(|| constants.get(count).copied())
        };
        let inits: Vec<_> = kernel.entry.code.instructions().filter(|one| is_mbarrier_init(one)).collect();
        let mut counts: Vec<usize> = inits.iter().filter_map(|one| count(one)).collect();
        counts.sort_unstable();
        assert_eq!(counts, expected, "{}: arrivals of its mbarriers", kernel.name());
        // One thread makes and ends them.
        let ends = if goes_on(kernel) { [0, expected.len()].into() } else { [0].into() };
        let made: (_, fn(&_) -> bool, _) = ("made", is_mbarrier_init, [0, expected.len()].into());
        for (what, wanted, times) in [made, ("ended", is_mbarrier_inval, ends)] {
            assert_eq!(kernel.entry.executions(wanted), times, "{}: mbarriers {what}", kernel.name());
        }
    }
}

#[test]
fn the_thread_that_makes_the_mbarriers_clears_two_closing_words_a_stage_where_roles_may_leave() {
    for own in partitioned() {
        let constants = constants(&own.kernel);
        let is_zero = |value: &str| value == "0" || constants.get(value) == Some(&0);
        let blocks = &own.kernel.entry.code.blocks;
        let makes = blocks.iter().filter(|block| block.instructions.iter().any(is_mbarrier_init));
        let mut bytes = 0;
        for one in makes.flat_map(|block| &block.instructions).filter(|one| is_shared_store(one)) {
            let values = one.operands.split_once(", ").map_or("", |(_, values)| values).trim_matches(['{', '}']);
            assert!(values.split(", ").all(is_zero), "{}: {}", own.kernel.name(), one.operands);
            let width = if one.has("b64") { 8 } else { 4 };
            bytes += width * values.split(", ").count();
        }
        let expected = if own.by_hand { 2 * 4 * own.stages() * own.pipelines.len() } else { 0 };
        assert_eq!(bytes, expected, "{}: bytes cleared", own.kernel.name());
    }
}

#[test]
fn mbarriers_are_made_before_and_ended_behind_all_roles_with_barriers_of_the_block_around() {
    let pick = |one: &Instruction| -> Option<String> {
        let of_block = one.is("bar") || one.operands == "0";
        let name = match one {
            one if is_mbarrier_init(one) => "init",
            one if is_mbarrier_inval(one) => "inval",
            one if is_mbarrier_wait(one) || is_arrival(one) || is_arrival_of_copies(one) => "roles",
            one if is_block_barrier(one) && of_block => return Some(one.opcode.clone()),
            _ => return None,
        };
        Some(name.to_owned())
    };
    let steps = ["init", "bar.sync", "roles", "barrier.sync", "inval", "bar.sync"];
    for own in partitioned() {
        let name = own.kernel.name();
        let (all, barriers) = if goes_on(&own.kernel) { (&steps[..], 3) } else { (&steps[..3], 1) };
        let traces = own.kernel.entry.code.traces(pick, |one| one.is("ret"));
        assert!(traces.iter().any(|trace| trace == all), "{name}: {traces:?}");
        for trace in traces {
            let mut rest = all.iter();
            assert!(trace.iter().all(|step| rest.any(|known| known == step)), "{name}: {trace:?}");
            let passed = trace.iter().filter(|step| step.contains("bar")).count();
            assert_eq!(passed, barriers, "{name}: {trace:?}");
        }
    }
}

#[test]
fn warps_are_together_again_behind_their_roles() {
    for own in partitioned() {
        let mut met = 0;
        for block in &own.kernel.entry.code.blocks {
            let meets = |one: &Instruction| one.opcode == "barrier.sync" && one.operands == "0";
            let Some(at) = block.instructions.iter().position(meets) else { continue };
            let synchronises = |one: &&Instruction| is_block_barrier(one) || is_warp_barrier(one) || one.is("bra");
            let next = block.instructions[at + 1..].iter().find(synchronises);
            assert!(next.is_some_and(is_warp_barrier), "{}: {next:?}", own.kernel.name());
            met += 1;
        }
        let expected = if goes_on(&own.kernel) { 1 } else { 0 };
        assert_eq!(met, expected, "{}: places where the roles meet", own.kernel.name());
    }
}

#[test]
fn one_thread_makes_and_ends_the_mbarriers_and_no_lane_arrives_for_others() {
    for own in partitioned().iter().filter(|own| !own.by_hand && own.kernel.number("STAGES") != Some(8)) {
        let name = own.kernel.name();
        let form = normal_form(own.kernel.entry).join("\n");
        // The text in front of the first label is empty.
        let blocks: Vec<&str> = form.split("block ").skip(1).collect();
        let number = |block: &str| block.split(':').next().unwrap_or_default().to_owned();
        let (mut of_first, mut arrive) = (0, 0);
        for block in &blocks {
            let entries: BTreeSet<&str> = blocks.iter().filter_map(|from| entered_by(from, &number(block))).collect();
            if block.contains("mbarrier.init") || block.contains("mbarrier.inval") {
                assert_eq!(entries, ["equal.32(%tid.x, 0)"].into(), "{name}: the way to\n{block}");
                of_first += 1;
            }
            if block.contains("  mbarrier.arrive") {
                let is_of_lane = |entry: &&str| entry.contains("(%tid.x, 31)") || *entry == "equal.32(%tid.x, 0)";
                assert!(!entries.iter().any(is_of_lane), "{name}: {entries:?} to\n{block}");
                arrive += 1;
            }
        }
        assert_eq!(of_first, if goes_on(&own.kernel) { 2 } else { 1 }, "{name}");
        assert!(arrive > 0, "{name}: no arrival");
    }
}

/// The condition on which control goes from a block of the normal form to the block of that number.
fn entered_by<'a>(from: &'a str, number: &str) -> Option<&'a str> {
    let last = from.trim_end().lines().last()?.trim();
    if last == format!("to {number}") {
        return Some("always");
    }
    let (condition, (yes, no)) = last
        .strip_prefix("if ")?
        .split_once(" to ")
        .and_then(|(condition, targets)| Some((condition, targets.split_once(" else ")?)))?;
    match (yes == number, no == number) {
        (true, _) => Some(condition),
        (false, true) => Some("not"),
        _ => None,
    }
}

/// Which of `kinds` a thread comes to first after an instruction that is `from`, whatever its way.
fn first_after(
    kernel: &Kernel,
    from: fn(&Instruction) -> bool,
    kinds: [fn(&Instruction) -> bool; 2],
) -> BTreeSet<usize> {
    let blocks: Vec<_> = kernel.entry.code.blocks().collect();
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut open = Vec::new();
    for (block, (instructions, _)) in blocks.iter().enumerate() {
        open.extend((0..instructions.len()).filter(|at| from(&instructions[*at])).map(|at| (block, at + 1)));
    }
    while let Some((block, start)) = open.pop() {
        let (instructions, successors) = blocks[block];
        match instructions[start..].iter().find_map(|one| kinds.iter().position(|kind| kind(one))) {
            Some(kind) => drop(found.insert(kind)),
            None => open.extend(successors.iter().filter(|next| seen.insert(**next)).map(|next| (*next, 0))),
        }
    }
    found
}

#[test]
fn map_elements_hands_a_stage_back_before_it_stores_and_map_tiles_afterwards() {
    const WAIT: usize = 0;
    const OTHER: usize = 1;
    let of_elements = Kernel::named("with_specialized_staging_unified_wide");
    let of_tests = elements_between_roles::INSTANCES.iter().map(|one| Kernel::new(Module::TestKernels, one));
    for kernel in of_elements.into_iter().chain(of_tests) {
        let after_store = first_after(&kernel, is_global_store, [is_mbarrier_wait, is_arrival]);
        assert_eq!(after_store, [WAIT].into(), "{}: an arrival after a store", kernel.name());
        let after_arrival = first_after(&kernel, is_arrival, [is_mbarrier_wait, is_shared_load]);
        assert_eq!(after_arrival, [WAIT].into(), "{}: a load from a stage that was handed back", kernel.name());
    }
    for kernel in Kernel::named("with_specialized_staging_warps_wide") {
        let after_store = first_after(&kernel, is_global_store, [is_mbarrier_wait, is_arrival]);
        assert_eq!(after_store, [OTHER].into(), "{}: a store after the arrival", kernel.name());
    }
}
