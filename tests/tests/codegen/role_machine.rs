//! Machine code of kernels with roles.

use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::{Code, Instruction, Loop};
use tilepipe_tests::ptx::is_mbarrier_wait;
use tilepipe_tests::sass;

use crate::kernel::Kernel;
use crate::machine::machine_code;
use crate::roles::{is_read_lap_unrolled, stages_of_loops};

/// The first try of a wait, which suspends the thread.
fn is_try(one: &Instruction) -> bool {
    one.is("SYNCS.PHASECHK.TRANS64.TRYWAIT")
}

/// A look whether a wait is over, whether it suspends the thread or not.
fn is_look(one: &Instruction) -> bool {
    one.is("SYNCS.PHASECHK.TRANS64")
}

fn is_arrival(one: &Instruction) -> bool {
    one.is("SYNCS.ARRIVE")
}

fn is_arrival_of_copies(one: &Instruction) -> bool {
    one.is("ARRIVES.LDGSTSBAR")
}

/// The kernels in which threads of one warp have different roles, in all of their partitions.
const SHARED_WARPS: [&str; 10] = [
    "with_specialized_staging_unified__",
    "with_specialized_staging_unified_bulk__",
    "tails_between_halves__",
    "gaps_between_roles__",
    "there_and_back__",
    "slow_halves__",
    "slow_few__",
    "acquires_in_vain__",
    "quits_at_every_step__",
    "random_quits_",
];

/// The kernels whose two roles a driver runs.
fn driven() -> Vec<Kernel> {
    let mut kernels = Kernel::named("with_specialized_staging_unified");
    kernels.extend(Kernel::named("with_specialized_staging_warps"));
    kernels.retain(Kernel::is_asynchronous);
    kernels
}

/// The kernel's stages.
fn stages(kernel: &Kernel) -> usize {
    kernel.number("STAGES").unwrap_or_else(|| panic!("{}: no STAGES", kernel.name()))
}

/// The loops of the role that fills and of the one that reads.
fn loops(code: &Code) -> [Vec<Loop<'_>>; 2] {
    [code.loops_with(&[is_look, is_arrival_of_copies]), code.loops_with(&[is_look, is_arrival])]
}

#[test]
fn machine_code_suspends_every_wait_and_arrives_at_the_barriers_of_shared_memory() {
    let machine_code = machine_code();
    for kernel in driven() {
        let name = kernel.name();
        let waits = kernel.entry.code.instructions().filter(|one| is_mbarrier_wait(one)).count();
        let count =
            |wanted: fn(&Instruction) -> bool| machine_code[name].instructions().filter(|one| wanted(one)).count();
        let (looks, tries) = (count(is_look), count(is_try));
        assert!(looks >= waits, "{name}: {looks} looks of {waits} waits");
        assert!(tries >= waits, "{name}: {tries} tries of {waits} waits");
        let [fill, read] = loops(&machine_code[name]);
        for one in fill.iter().chain(&read) {
            assert!(!one.executions(is_look).contains(&0), "{name}: a round that does not wait");
            for foreign in ["BAR", "WARPSYNC", "LDGDEPBAR", "DEPBAR.LE", "MEMBAR", "ATOMS"] {
                assert_eq!(one.count(|own| own.is(foreign)), 0, "{name}: `{foreign}` of a round");
            }
        }
        for one in &fill {
            assert!(one.count(|own| own.is("LDGSTS")) >= 1, "{name}: nothing is copied");
        }
        let read_lap = if is_read_lap_unrolled(&kernel) { stages(&kernel) } else { 1 };
        let roles = [(&fill, is_arrival_of_copies as fn(&_) -> bool, stages(&kernel)), (&read, is_arrival, read_lap)];
        for (role, kind, lap) in roles {
            let mut arrivals: Vec<usize> = role.iter().map(|one| one.count(kind)).collect();
            arrivals.sort_unstable();
            assert_eq!(arrivals, stages_of_loops(&kernel, lap), "{name}: arrivals of each loop of a role");
        }
    }
}

#[test]
fn machine_code_of_a_loop_that_waits_gives_way_to_the_rest_of_the_warp() {
    // Where roles share a warp, one may wait for the other, and a loop that did nothing but look
    // would keep that from its turn.
    let (mut waits, mut polls) = (0, 0);
    for (name, code) in machine_code() {
        let sleeps = |block: &[Instruction]| block.iter().any(|one| one.is("NANOSLEEP"));
        let blocks: Vec<_> = code.blocks().collect();
        for (index, (block, successors)) in blocks.iter().enumerate() {
            let Some(last) = block.iter().rposition(is_look) else { continue };
            if is_try(&block[last]) {
                let shares_warps = SHARED_WARPS.iter().any(|kernel| name.starts_with(kernel));
                // Back to the look at once, or past one instruction that stands before it.
                let way_back = successors.iter().filter(|next| {
                    let (between, onward) = blocks[**next];
                    **next == index || between.len() == 1 && onward.contains(&index)
                });
                for next in way_back.filter(|_| shares_warps) {
                    let gives_way = |block: &[Instruction]| block.iter().any(|one| one.is("YIELD"));
                    assert!(
                        gives_way(block) || gives_way(blocks[*next].0),
                        "{name}: a wait that keeps its warp: {block:?}"
                    );
                    waits += 1;
                }
            } else {
                // After the look, or where it leads if it failed. A wait with a suspend time hint
                // is a try, a sleep and a look in one loop: there the sleep follows the try.
                let asked = block[..last].iter().rposition(is_look).filter(|before| is_try(&block[*before]));
                let from = asked.unwrap_or(last);
                let gives_way = sleeps(&block[from..]) || successors.iter().any(|next| sleeps(blocks[*next].0));
                assert!(gives_way, "{name}: a look that keeps its warp: {block:?}");
                polls += 1;
            }
        }
    }
    assert!(waits > 200 && polls > 50, "{waits} waits, {polls} polls");
}

#[test]
fn machine_code_has_no_place_where_one_role_waits_for_the_other() {
    // Threads of a warp that were divided wait for one another where all their ways meet. If a way
    // led from a role to the other one, they would meet between the two: those that read would wait
    // for those that fill, which wait for them.
    let machine_code = machine_code();
    for kernel in driven() {
        let [fill, read] = loops(&machine_code[kernel.name()]);
        let loops = stages_of_loops(&kernel, 1).len();
        assert_eq!((fill.len(), read.len()), (loops, loops), "{}: loops that fill and that read", kernel.name());
        for one in &fill {
            for other in &read {
                assert!(!one.leads_to(other) && !other.leads_to(one), "{}", kernel.name());
            }
        }
    }
}

/// Whether it computes something or has an effect. What only moves a register or leads on to where
/// a block was put follows from how the assembler allotted registers.
fn is_work(one: &Instruction) -> bool {
    !one.has("MOV") && !["BRA", "NOP"].iter().any(|name| one.is(name))
}

#[test]
fn machine_code_of_a_safe_loop_is_no_longer_than_its_twins() {
    let text = Module::Twins.sass("sm_90").unwrap_or_else(|error| panic!("{error}"));
    let twins = sass::kernels(&text).unwrap_or_else(|error| panic!("{error}"));
    let machine_code = machine_code();
    let mut compared = 0;
    for (name, twin) in twins.iter().filter_map(|(name, twin)| Some((name.strip_prefix("twin_")?, twin))) {
        if !name.starts_with("with_specialized") {
            continue;
        }
        // By length: where the assembler puts a loop is its own affair.
        let lengths = |code: &Code| {
            loops(code).map(|all| {
                let mut lengths: Vec<usize> = all.iter().map(|one| one.count(is_work)).collect();
                lengths.sort_unstable();
                lengths
            })
        };
        let (safe, twin) = (lengths(&machine_code[name]), lengths(twin));
        let pairs = safe.iter().flatten().zip(twin.iter().flatten());
        assert!(
            pairs.clone().count() == 6 && pairs.clone().all(|(safe, twin)| safe <= twin),
            "{name}: {safe:?}, {twin:?}"
        );
        compared += 1;
    }
    assert_eq!(compared, 3, "twins with roles");
}
