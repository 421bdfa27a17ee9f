//! Safe kernels and their hand-written unsafe twins (`tests/twins/`) run the same loops.
//!
//! The same: as many barriers, commits, waits, arrivals, copies, loads and stores on every way
//! through a round, no more instructions in all, and one by one the same instructions but for the
//! differences that `tests/twins/differences.txt` lists and explains. (But for `OF_ANOTHER_FORM`.)
//! Around the loops LLVM counts tiles, and lays out the ways of blocks with a partial one, in other
//! orders.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use tilepipe_tests::artifact::Module;
use tilepipe_tests::dataflow::{difference, rounds};
use tilepipe_tests::flow::{Code, Instruction, Loop};
use tilepipe_tests::ptx::{
    self, Entry, is_arrival, is_arrival_of_copies, is_block_barrier, is_commit, is_copy, is_global_store,
    is_mbarrier_wait, is_shared_load, is_wait, is_warp_barrier,
};
use tilepipe_tests::sass;

/// By how many instructions a safe kernel's loops may be longer than its twin's, and why. The list
/// may only shrink.
const LONGER: [(&str, usize, &str); 2] = [
    (
        "with_staging__",
        1,
        "the next stage to read is moved to the register of the next round; in machine code the loop had 34 instructions, the twin's 35 (counted before the ring promised the alignment of its stages)",
    ),
    (
        "transpose_wide__",
        4,
        "a tile's number is divided for the input's place and for the output's, which the types do not know to be the same",
    ),
];

/// Twins whose rounds are others than their safe kernel's, and why: they are timed beside it, and
/// not compared one instruction by another.
const OF_ANOTHER_FORM: [(&str, &str); 3] = [
    (
        "attention__",
        "a warpgroup walks over the tiles of keys that its own queries see, in loops with and without a mask, and stores its results from where its \
         queries lay; a round of the safe kernel has further: a vote of the warp and a branch at each wait, a barrier of the warp before an arrival, one \
         arrival of each warp, a choice whether there is a mask, a product by the scale of each maximum, a second vote where sums are scaled, and turns",
    ),
    (
        "moving_average_bulk__",
        "a round is unrolled by the stages, so that no register has a stage's number, and partial tiles are read where they lie: the safe kernel is at \
         0.987 of C++, and this is what could be had by hand",
    ),
    (
        "gemm__",
        "the first product of a tile overwrites the sums in a round of its own, as in the safe kernel; a round of the safe one has further: a vote of the \
         warp and a branch at its wait, which ends if the producers have left (docs/decisions/94), and the same in the producers' rounds; a barrier of \
         the warp before the arrival, and one arrival of each warp where the twin has one of each warpgroup",
    ),
];

/// What a twin's symbol has before that of the safe kernel, so that one program can load both.
const TWIN: &str = "twin_";

/// Each twin, under its safe kernel's name, beside that.
fn all_pairs() -> Vec<(Entry, Entry)> {
    let read = |module: Module| {
        // A safe kernel's symbol has its crate's name too.
        let text = module.ptx().map(|text| text.replace(TWIN, "").replace("tilepipe_kernels$", ""));
        text.and_then(|text| ptx::entries(&text)).unwrap_or_else(|error| panic!("{error}"))
    };
    let mut safe = read(Module::Kernels);
    let pair = |twin: Entry| {
        let own = safe.iter().position(|entry| entry.name == twin.name);
        let own = own.unwrap_or_else(|| panic!("no kernel `{}` in `kernels/`", twin.name));
        (safe.swap_remove(own), twin)
    };
    read(Module::Twins).into_iter().map(pair).collect()
}

/// Whether a twin has other rounds than its safe kernel.
fn is_of_another_form(twin: &Entry) -> bool {
    OF_ANOTHER_FORM.iter().any(|(name, _)| twin.name.starts_with(name))
}

/// The twins that have the rounds of their safe kernels.
fn pairs() -> Vec<(Entry, Entry)> {
    all_pairs().into_iter().filter(|(_, twin)| !is_of_another_form(twin)).collect()
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
fn a_safe_loop_copies_reads_stores_and_synchronises_as_often_as_its_twins() {
    const KINDS: [(&str, Kind); 10] = [
        ("copies", is_copy),
        ("loads from shared memory", is_shared_load),
        ("stores to global memory", is_global_store),
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
            let mut sizes: Vec<usize> =
                steady_states(entry).iter().map(|one| one.count(|own| !own.is("bra"))).collect();
            // By length: where a loop was put is no matter either.
            sizes.sort_unstable();
            sizes
        };
        let (safe_sizes, twin_sizes) = (sizes(&safe), sizes(&twin));
        assert_eq!(safe_sizes.len(), twin_sizes.len(), "{}: loops", safe.name);
        let allowed = LONGER.iter().find(|(name, ..)| safe.name.starts_with(name)).map_or(0, |(_, by, _)| *by);
        let no_more = safe_sizes.iter().zip(&twin_sizes).all(|(safe, twin)| *safe <= twin + allowed);
        assert!(no_more, "{}: {safe_sizes:?} instructions, {twin_sizes:?} in the twin", safe.name);
    }
}

/// What one round of a safe kernel's loops does and its twin's does not (`-`), or the other way
/// round (`+`).
fn differences() -> String {
    let mut text = String::new();
    for (safe, twin) in pairs() {
        let (of_safe, of_twin) = (rounds(&safe), rounds(&twin));
        assert_eq!(of_safe.len(), of_twin.len(), "{}: loops", safe.name);
        text += &format!("{}: {} loops\n", safe.name, of_safe.len());
        for (own, other) in of_safe.iter().zip(&of_twin) {
            let lines = difference(own, other);
            if !lines.is_empty() {
                text += &format!("loop of {}\n{}\n", own.len(), lines.join("\n"));
            }
        }
    }
    text
}

#[test]
fn a_safe_loop_differs_from_its_twins_in_what_is_listed_and_explained_only() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("twins/differences.txt");
    let listed = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let is_difference = |line: &&str| !line.starts_with('#') && !line.is_empty();
    let listed: Vec<&str> = listed.lines().filter(is_difference).collect();
    let found = differences();
    assert!(found.lines().eq(listed), "tests/twins/differences.txt, without what `#` explains, has to be:\n{found}");
}

#[test]
fn an_unrolled_twin_does_in_its_round_what_its_safe_kernel_does_in_as_many_as_it_has_stages() {
    const KINDS: [(&str, Kind); 6] = [
        ("bulk copies", |one| one.is("cp.async.bulk")),
        ("loads from shared memory", is_shared_load),
        ("stores to global memory", is_global_store),
        ("barriers of the block", is_block_barrier),
        ("waits for a stage", is_mbarrier_wait),
        ("arrivals", is_arrival),
    ];
    let mut checked = 0;
    let unrolled = |twin: &Entry| twin.name.starts_with("moving_average_bulk__");
    for (safe, twin) in all_pairs().into_iter().filter(|(_, twin)| unrolled(twin)) {
        let stages: usize = twin.name.rsplit('_').next().and_then(|number| number.parse().ok()).unwrap();
        let rounds = |entry: &Entry| -> Vec<usize> {
            // The loop of whole tiles is the shortest of those that wait for a stage.
            let loops = entry.code.loops_with(&[is_mbarrier_wait]);
            let one = loops.into_iter().min_by_key(|one| one.count(|_| true)).unwrap();
            KINDS.iter().map(|(_, kind)| one.count(kind)).collect()
        };
        let expected: Vec<usize> = rounds(&safe).into_iter().map(|count| stages * count).collect();
        assert_eq!(rounds(&twin), expected, "{}: {:?}", twin.name, KINDS.map(|(what, _)| what));
        checked += 1;
    }
    assert_eq!(checked, 2);
}

/// The products of one round of a safe kernel that multiplies and of its twin are the same, and
/// both wait once for a stage, start one group of products and wait for it.
#[test]
fn a_product_of_the_twin_has_the_rounds_of_the_safe_kernel() {
    const KINDS: [(&str, Kind); 5] = [
        ("products", |one| one.is("wgmma.mma_async")),
        ("fences", |one| one.is("wgmma.fence")),
        ("groups", |one| one.is("wgmma.commit_group")),
        ("waits for products", |one| one.is("wgmma.wait_group")),
        ("arrivals", is_arrival),
    ];
    let mut checked = 0;
    for (safe, twin) in all_pairs().into_iter().filter(|(_, twin)| twin.name.starts_with("gemm__")) {
        let round = |entry: &Entry| -> Vec<usize> {
            let is_product = |one: &Instruction| one.is("wgmma.mma_async");
            let mut one = entry.code.loops_with(&[is_product]).into_iter().next().unwrap();
            while let Some(inner) = one.inner().into_iter().find(|inner| inner.count(is_product) > 0) {
                one = inner;
            }
            KINDS.iter().map(|(_, kind)| one.count(kind)).collect()
        };
        assert_eq!(round(&safe), round(&twin), "{}: {:?}", twin.name, KINDS.map(|(what, _)| what));
        assert_eq!(round(&twin)[0], 4, "{}: 64 elements along K", twin.name);
        checked += 1;
    }
    assert_eq!(checked, 14);
}

/// In the loop over tiles of keys: two products are started behind one fence, the older one is
/// waited for, and weights are computed before the wait for the younger one.
#[test]
fn a_round_of_attention_has_the_products_and_the_powers_of_its_twins() {
    const KINDS: [(&str, Kind); 5] = [
        ("products", is_product),
        ("fences", |one| one.is("wgmma.fence")),
        ("groups", |one| one.is("wgmma.commit_group")),
        ("waits for products", |one| one.is("wgmma.wait_group")),
        ("powers", is_power),
    ];
    let mut checked = 0;
    for (safe, twin) in all_pairs().into_iter().filter(|(_, twin)| twin.name.starts_with("attention__")) {
        let rounds = |entry: &Entry| -> BTreeSet<Vec<usize>> {
            let all = rounds_of_attention(&entry.code, is_product, is_power);
            all.iter().map(|one| KINDS.iter().map(|(_, kind)| one.count(kind)).collect()).collect()
        };
        let (of_safe, of_twin) = (rounds(&safe), rounds(&twin));
        assert_eq!(of_safe.len(), 1, "{}: {of_safe:?}", safe.name);
        assert_eq!(of_safe, of_twin, "{}: {:?}", twin.name, KINDS.map(|(what, _)| what));
        checked += 1;
    }
    assert_eq!(checked, 12);
}

/// Of the rounds in which nothing is masked and no sums are scaled, since they are the shortest.
#[test]
fn a_round_of_attention_has_at_most_a_fifth_more_machine_code_than_its_twins() {
    let of_module = |module: Module| -> BTreeMap<String, Code> {
        let text = module.sass("sm_90a").unwrap_or_else(|error| panic!("{error}"));
        let kernels = sass::kernels(&text).unwrap_or_else(|error| panic!("{error}"));
        kernels.into_iter().map(|(name, code)| (name.replace("tilepipe_kernels$", ""), code)).collect()
    };
    let (safe, twins) = (of_module(Module::Kernels), of_module(Module::Twins));
    let shortest = |code: &Code| {
        let all = rounds_of_attention(code, |one| one.is("HGMMA"), |one| one.is("MUFU.EX2"));
        all.iter().map(|one| one.fewest(|_| true)).min()
    };
    let mut checked = 0;
    for (name, twin) in twins.iter().filter_map(|(name, twin)| Some((name.strip_prefix(TWIN)?, twin))) {
        if !name.starts_with("attention__") {
            continue;
        }
        let (Some(own), Some(by_hand)) = (shortest(&safe[name]), shortest(twin)) else {
            panic!("{name}: no round multiplies and computes powers")
        };
        assert!(by_hand <= own && 5 * own <= 6 * by_hand, "{name}: {own} instructions, {by_hand} in the twin");
        checked += 1;
    }
    assert_eq!(checked, 12);
}

fn is_product(one: &Instruction) -> bool {
    one.is("wgmma.mma_async")
}

fn is_power(one: &Instruction) -> bool {
    one.is("ex2")
}

/// The loops over tiles of keys.
fn rounds_of_attention(
    code: &Code,
    is_product: fn(&Instruction) -> bool,
    is_power: fn(&Instruction) -> bool,
) -> Vec<Loop<'_>> {
    let loops = code.loops_with(&[is_product]).into_iter();
    loops.flat_map(|one| one.innermost(is_product)).filter(|one| one.count(is_power) > 0).collect()
}

#[test]
fn the_twins_are_of_twelve_kernels() {
    let mut kernels: BTreeMap<String, usize> = BTreeMap::new();
    for (safe, _) in all_pairs() {
        let (name, _) = safe.name.split_once("__").unwrap();
        *kernels.entry(name.to_owned()).or_default() += 1;
    }
    let expected = [
        ("attention", 12),
        ("gemm", 14),
        ("moving_average_bulk", 2),
        ("moving_average_wide", 1),
        ("scale_own", 1),
        ("stencil_2d_wide", 1),
        ("transpose_wide", 1),
        ("with_memcpy_async", 1),
        ("with_specialized_staging_unified", 2),
        ("with_specialized_staging_warps", 1),
        ("with_staging", 1),
        ("with_staging_unified", 1),
    ];
    let kernels: Vec<(&str, usize)> = kernels.iter().map(|(name, twins)| (name.as_str(), *twins)).collect();
    assert_eq!(kernels, expected);
}
