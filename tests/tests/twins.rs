//! Safe kernels and their hand-written unsafe twins (`tests/twins/`) become the same code.
//!
//! The same: the same events in the same order on every way, with the same operands, and the same values taken round the
//! loops. `tilepipe_tests::dataflow` says what is left open: the names of registers, the order in which values are computed between
//! two events, and what a panic reports.

use tilepipe_tests::artifact::Module;
use tilepipe_tests::dataflow::{difference, normal_form};
use tilepipe_tests::flow::{Instruction, Loop};
use tilepipe_tests::ptx::{
    self, Entry, is_arrival, is_arrival_of_copies, is_block_barrier, is_commit, is_mbarrier_wait, is_wait,
    is_warp_barrier,
};

/// What the safe kernels do otherwise than their twins: symbol, line and why. The list may only shrink.
const DIFFERENCES: [(&str, &str, &str); 0] = [];

/// Kernels that are compared with their twins by their loops alone, as the second and third test do: LLVM counts the rounds that are not
/// unrolled downwards in one and upwards in the other, or compares an index with the count where it compares with the count less one in the other.
const BY_LOOPS: [&str; 4] =
    ["with_specialized_staging_unified", "with_specialized_staging_warps", "scale_own", "with_staging__"];

/// By how many instructions a safe kernel's loops may be longer than its twin's, and why. The list may only shrink.
const LONGER: [(&str, usize, &str); 1] = [(
    "with_staging__",
    2,
    "the neighbour's offset in the tile is worked out in each round, in the twin before the loop",
)];

/// What a twin's symbol has before that of the safe kernel, so that one program can load both.
const TWIN: &str = "twin_";

/// Each twin, under its safe kernel's symbol, beside that.
fn pairs() -> Vec<(Entry, Entry)> {
    let read = |module: Module| {
        let entries = module.ptx().and_then(|text| ptx::entries(&text.replace(TWIN, "")));
        entries.unwrap_or_else(|error| panic!("{error}"))
    };
    let mut safe = read(Module::Kernels);
    let pair = |twin: Entry| {
        let own = safe.iter().position(|entry| entry.name == twin.name);
        let own = own.unwrap_or_else(|| panic!("no kernel `{}` in `kernels/`", twin.name));
        (safe.swap_remove(own), twin)
    };
    read(Module::Twins).into_iter().map(pair).collect()
}

#[test]
fn a_safe_kernel_does_what_its_twin_does_and_nothing_else() {
    for (safe, twin) in pairs() {
        let name = &safe.name;
        if BY_LOOPS.iter().any(|kernel| name.starts_with(kernel)) {
            continue;
        }
        let found = difference(&normal_form(&safe), &normal_form(&twin));
        let listed: Vec<&str> =
            DIFFERENCES.iter().filter(|(symbol, ..)| symbol == name).map(|(_, line, _)| *line).collect();
        assert_eq!(found, listed, "{name}: - safe, + twin\n{}", found.join("\n"));
    }
}

/// The loops that fill stages or read them.
fn steady_states(entry: &Entry) -> Vec<Loop<'_>> {
    let mut found = entry.code.loops();
    found.retain(|one| one.count(is_commit) + one.count(is_mbarrier_wait) > 0);
    found
}

/// Whether an instruction is of some kind.
type Kind = fn(&Instruction) -> bool;

#[test]
fn a_safe_loop_synchronises_as_often_as_its_twins() {
    const KINDS: [(&str, Kind); 7] = [
        ("barriers of the block", is_block_barrier),
        ("barriers of the warp", is_warp_barrier),
        ("commits", is_commit),
        ("waits for copies", is_wait),
        ("waits for a stage", is_mbarrier_wait),
        ("arrivals", is_arrival),
        ("arrivals of copies", is_arrival_of_copies),
    ];
    for (safe, twin) in pairs() {
        let (of_safe, of_twin) = (steady_states(&safe), steady_states(&twin));
        assert_eq!(of_safe.len(), of_twin.len(), "{}: loops", safe.name);
        for (own, other) in of_safe.iter().zip(&of_twin) {
            for (what, kind) in KINDS {
                assert_eq!(own.executions(kind), other.executions(kind), "{}: {what} of a round", safe.name);
            }
        }
    }
}

#[test]
fn a_safe_loop_has_no_more_instructions_than_its_twins() {
    for (safe, twin) in pairs() {
        // A branch that is only there because of where a block was put is no work.
        let sizes = |entry: &Entry| -> Vec<usize> {
            steady_states(entry).iter().map(|one| one.count(|own| !own.is("bra"))).collect()
        };
        let (safe_sizes, twin_sizes) = (sizes(&safe), sizes(&twin));
        assert_eq!(safe_sizes.len(), twin_sizes.len(), "{}: loops", safe.name);
        let allowed = LONGER.iter().find(|(name, ..)| safe.name.starts_with(name)).map_or(0, |(_, by, _)| *by);
        let no_more = safe_sizes.iter().zip(&twin_sizes).all(|(safe, twin)| *safe <= twin + allowed);
        assert!(no_more, "{}: {safe_sizes:?} instructions, {twin_sizes:?} in the twin", safe.name);
    }
}

#[test]
fn the_twins_are_of_six_kernels() {
    let mut kernels: Vec<String> =
        pairs().iter().filter_map(|(safe, _)| Some(safe.name.split_once("__")?.0.to_owned())).collect();
    kernels.sort();
    let expected = [
        "scale_own",
        "with_memcpy_async",
        "with_specialized_staging_unified",
        "with_specialized_staging_unified",
        "with_specialized_staging_warps",
        "with_staging",
        "with_staging_unified",
    ];
    assert_eq!(kernels, expected);
}
