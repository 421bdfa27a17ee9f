//! Kernels with roles: what carries a stage from one role to another.

use std::collections::{BTreeMap, BTreeSet};

use tilepipe_tests::dataflow::normal_form;
use tilepipe_tests::flow::{Instruction, Loop};
use tilepipe_tests::ptx::{
    is_arrival, is_arrival_of_copies, is_block_barrier, is_commit, is_copy, is_global_store, is_mbarrier_init,
    is_mbarrier_inval, is_mbarrier_poll, is_mbarrier_wait, is_shared_load, is_shared_store, is_wait, is_warp_barrier,
};

use crate::kernel::Kernel;

/// The kernels of `kernels/` whose threads have roles; by hand, so that each end looks whether the other has left.
const KERNELS: [(&str, bool); 5] = [
    ("with_specialized_staging_unified", false),
    ("with_specialized_staging_warps", false),
    ("with_producer_count", true),
    ("producer_consumer_sum", true),
    ("load_compute_store", true),
];

/// Whether the kernel's threads have roles.
pub fn is_partitioned(kernel: &Kernel) -> bool {
    let name = kernel.instance.kernel();
    KERNELS.iter().any(|(own, _)| *own == name) || crate::role_barriers::checked().contains(&name)
}

/// A pipeline from `producers` threads to `consumers` threads.
struct Pipeline {
    producers: usize,
    consumers: usize,
    asynchronous: bool,
}

/// A kernel with roles.
struct Partitioned {
    kernel: Kernel,
    by_hand: bool,
    /// Whether each role is whole warps.
    warps: bool,
    pipelines: Vec<Pipeline>,
}

fn partitioned() -> Vec<Partitioned> {
    let of_name = |(name, by_hand): (&str, bool)| {
        Kernel::named(name).into_iter().map(move |kernel| Partitioned::new(kernel, by_hand)).collect::<Vec<_>>()
    };
    KERNELS.into_iter().flat_map(of_name).collect()
}

impl Partitioned {
    fn new(kernel: Kernel, by_hand: bool) -> Partitioned {
        let size = |generic: &str| kernel.number(generic).unwrap_or_else(|| panic!("{}: no {generic}", kernel.name()));
        let pipeline = |producers, consumers, asynchronous| Pipeline { producers, consumers, asynchronous };
        let asynchronous = kernel.is_asynchronous();
        let (warps, pipelines) = match kernel.instance.kernel() {
            "with_specialized_staging_unified" => (false, vec![pipeline(size("TILE"), size("TILE"), asynchronous)]),
            "with_specialized_staging_warps" => {
                (true, vec![pipeline(size("PRODUCERS"), size("CONSUMERS"), asynchronous)])
            }
            "with_producer_count" => (false, vec![pipeline(size("PRODUCERS"), size("CONSUMERS"), asynchronous)]),
            "producer_consumer_sum" => (true, vec![pipeline(32, size("CONSUMERS"), true)]),
            "load_compute_store" => (true, vec![pipeline(32, 128, true), pipeline(128, 32, false)]),
            other => panic!("no roles of `{other}` are written down"),
        };
        Partitioned { kernel, by_hand, warps, pipelines }
    }

    fn stages(&self) -> usize {
        self.kernel.number("STAGES").unwrap_or_else(|| panic!("{}: no STAGES", self.kernel.name()))
    }

    /// The arrivals that each mbarrier counts, sorted.
    fn arrivals(&self) -> Vec<usize> {
        let mut all = Vec::new();
        for Pipeline { producers, consumers, asynchronous } in &self.pipelines {
            // An asynchronous arrival is for the copies of its own thread.
            let full = if self.warps && !asynchronous { producers / 32 } else { *producers };
            let empty = if self.warps { consumers / 32 } else { *consumers };
            all.extend((0..self.stages()).flat_map(|_| [full, empty]).chain([*producers, *consumers]));
        }
        all.sort_unstable();
        all
    }

    /// The loops in which a role takes and passes stages, by what they do. (There are others, in which a role of several ends leaves.)
    fn loops(&self) -> Vec<(Does, Loop<'static>)> {
        let entry = self.kernel.entry;
        let mut found = entry.code.loops_with(&[is_mbarrier_wait]);
        found.retain(|one| one.count(is_mbarrier_poll) == 0);
        let kind = |one: Loop<'static>| {
            let loads = one.count(|own| own.is("ld.global")) > 0 && one.count(is_shared_store) > 0;
            let does = if loads || one.count(is_arrival_of_copies) > 0 {
                Does::Fill
            } else if one.executions(is_mbarrier_wait) == [2].into() {
                Does::Both
            } else {
                Does::Read
            };
            (does, one)
        };
        let found: Vec<_> = found.into_iter().map(kind).collect();
        // One for tiles that are all whole and one for others, where a driver makes both.
        let each = if self.by_hand { 1 } else { 2 };
        let both = self.pipelines.len() - 1;
        let counts = [Does::Fill, Does::Both, Does::Read].map(|does| found.iter().filter(|one| one.0 == does).count());
        assert_eq!(counts, [each, both, each], "{}: loops that fill, do both, read", self.kernel.name());
        found
    }
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

/// Checks how often a round of a loop executes the `wanted` instructions.
fn check(
    kernel: &Kernel,
    does: Does,
    one: &Loop<'_>,
    what: &str,
    wanted: fn(&Instruction) -> bool,
    expected: &[usize],
) {
    let expected: BTreeSet<usize> = expected.iter().copied().collect();
    assert_eq!(one.executions(wanted), expected, "{}: {what} of a round that does {does:?}", kernel.name());
}

#[test]
fn a_round_waits_once_for_each_stage_that_it_takes_and_arrives_once_for_each_that_it_passes() {
    for own in partitioned() {
        for (does, one) in own.loops() {
            let check = |what, wanted, expected: &[usize]| check(&own.kernel, does, &one, what, wanted, expected);
            let stages = if does == Does::Both { 2 } else { 1 };
            let copies_arrive = does == Does::Fill && own.pipelines[0].asynchronous;
            check("waits", is_mbarrier_wait, &[stages]);
            check("arrivals of copies", is_arrival_of_copies, &[usize::from(copies_arrive)]);
            if copies_arrive {
                check("arrivals", is_arrival, &[0]);
                check("barriers of the warp", is_warp_barrier, &[0]);
            } else if own.warps {
                // Of one lane, behind a barrier of its warp.
                check("arrivals", is_arrival, &(0..=stages).collect::<Vec<_>>());
                check("barriers of the warp", is_warp_barrier, &[stages]);
            } else {
                check("arrivals", is_arrival, &[1]);
                check("barriers of the warp", is_warp_barrier, &[0]);
            }
            check("barriers of the block or of a role", is_block_barrier, &[0]);
            check("commits", is_commit, &[0]);
            check("waits for groups", is_wait, &[0]);
        }
    }
}

#[test]
fn a_role_that_fills_copies_and_the_others_do_not() {
    for own in partitioned() {
        for (does, one) in own.loops() {
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
        for (does, one) in own.loops() {
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
    // Else threads of a warp that is divided would wait, where a branch of one role ends, for threads that wait for them.
    for own in partitioned() {
        let loops = own.loops();
        for (does, one) in &loops {
            for (other_does, other) in loops.iter().filter(|(other, _)| other != does) {
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
fn the_mbarriers_count_the_threads_or_warps_of_their_roles() {
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
        // Two for each stage and two for decisions; one thread makes and ends them.
        for (what, wanted) in [("made", is_mbarrier_init as fn(&_) -> bool), ("ended", is_mbarrier_inval)] {
            let executed = kernel.entry.executions(wanted);
            assert_eq!(executed, [0, expected.len()].into(), "{}: mbarriers {what}", kernel.name());
        }
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
    let all = ["init", "bar.sync", "roles", "barrier.sync", "inval", "bar.sync"];
    for own in partitioned() {
        let name = own.kernel.name();
        let traces = own.kernel.entry.code.traces(pick, |one| one.is("ret"));
        assert!(traces.contains(all.map(str::to_owned).as_slice()), "{name}: {traces:?}");
        for trace in traces {
            let mut rest = all.iter();
            assert!(trace.iter().all(|step| rest.any(|known| known == step)), "{name}: {trace:?}");
            let barriers = trace.iter().filter(|step| step.contains("bar")).count();
            assert_eq!(barriers, 3, "{name}: {trace:?}");
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
        assert_eq!(met, 1, "{}: places where the roles meet", own.kernel.name());
    }
}

#[test]
fn one_thread_makes_and_ends_the_mbarriers_and_one_lane_arrives_for_its_warp() {
    for own in partitioned().iter().filter(|own| !own.by_hand && own.kernel.number("STAGES") != Some(8)) {
        let name = own.kernel.name();
        let form = normal_form(own.kernel.entry).join("\n");
        // The text in front of the first label is empty.
        let blocks: Vec<&str> = form.split("block ").skip(1).collect();
        let number = |block: &str| block.split(':').next().unwrap_or_default().to_owned();
        let (mut of_first, mut of_lane) = (0, 0);
        for block in &blocks {
            let entries: BTreeSet<&str> = blocks.iter().filter_map(|from| entered_by(from, &number(block))).collect();
            if block.contains("mbarrier.init") || block.contains("mbarrier.inval") {
                assert_eq!(entries, ["equal.32(%tid.x, 0)"].into(), "{name}: the way to\n{block}");
                of_first += 1;
            }
            if own.warps && block.contains("  mbarrier.arrive") {
                // In a role of the first warp alone the lane is the block's first thread.
                let of_lane_0 = ["equal.32(0, and.b32(%tid.x, 31))", "equal.32(%tid.x, 0)"];
                let is_lane_0 = entries.len() == 1 && entries.iter().all(|entry| of_lane_0.contains(entry));
                assert!(is_lane_0, "{name}: {entries:?} to\n{block}");
                of_lane += 1;
            }
        }
        assert_eq!(of_first, 2, "{name}");
        let ends_with_arrivals = usize::from(own.warps) * if own.kernel.is_asynchronous() { 2 } else { 4 };
        assert_eq!(of_lane, ends_with_arrivals, "{name}");
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
