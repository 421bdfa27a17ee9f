//! The moving average, the transpose and the stencil: kernels over tiles with neighbours or with
//! rows, beside the fastest C++ of any shape; and wide kernels in roles.
//!
//! Which shapes are the fastest follows from a recorded sweep over all candidates, of C++ and of
//! ours: of each form and number of stages the one with the least time. As long as the record has
//! none of them, the first of them stands for them.

use std::sync::LazyLock;

use tilepipe_runner::value::DType::I32;

use crate::plan::blocks::Blocks;
use crate::plan::catalog::Peer;
use crate::plan::matrices::{self, STENCILS, TRANSPOSES};
use crate::plan::pairings::{Pairing, peer};
use crate::plan::shapes::{AVERAGES, BLOCKS, Form, ROLE_BLOCKS, ROLES, Shape, shape_name};
use crate::plan::wide::SUM;
use crate::record::{Class, PeerRow, Report};

/// The record of all candidates. A newer one of `measure --shapes` takes its place by its path.
const SWEEP: &str = include_str!("../../results/2026-11-24-h200-engines/shapes.json");

/// A later record of those in roles, with more numbers of blocks: `measure --shapes --kernel ..`.
const ROLES_SWEEP: &str = include_str!("../../results/2026-11-27-h200-whole/roles.json");

/// What a kernel must reach of the fastest C++ with as many stages.
const WANTED: f64 = 0.99;

/// One task.
struct Task {
    kernel: &'static str,
    /// Our instances without their stages.
    ours: &'static [Instances],
    stages: &'static [&'static str],
    /// Blocks that ours are measured with.
    blocks: &'static [Blocks],
    /// Whether the first of ours has a twin in unsafe Rust.
    twin: bool,
    /// All C++ that does it.
    candidates: fn() -> Vec<Candidate>,
}

/// Threads of a block, the generic arguments besides the stages, and elements of a tile.
type Instances = (u32, &'static [(&'static str, &'static str)], usize);

/// C++ in some shape, of a form with so many stages.
struct Candidate {
    form: (&'static str, u32),
    peer: Peer,
}

const TASKS: [Task; 6] = [
    Task {
        kernel: "moving_average_wide",
        ours: &[(256, &[("LEN", "1024")], 1024), (128, &[("LEN", "512")], 512)],
        stages: &["1", "2", "4"],
        blocks: &BLOCKS,
        twin: true,
        candidates: averages,
    },
    Task {
        kernel: "transpose_wide",
        ours: &[
            (256, &[("ROWS", "64"), ("COLUMNS", "64"), ("PAD", "4")], 4096),
            (128, &[("ROWS", "32"), ("COLUMNS", "64"), ("PAD", "4")], 2048),
            (128, &[("ROWS", "64"), ("COLUMNS", "32"), ("PAD", "4")], 2048),
        ],
        stages: &["1", "2"],
        blocks: &BLOCKS,
        twin: true,
        candidates: || of_matrices(&TRANSPOSES),
    },
    Task {
        kernel: "stencil_2d_wide",
        ours: &[
            (256, &[("ROWS", "16"), ("COLUMNS", "64"), ("HALO", "4")], 1024),
            (256, &[("ROWS", "16"), ("COLUMNS", "64"), ("HALO", "1")], 1024),
            (256, &[("ROWS", "8"), ("COLUMNS", "128"), ("HALO", "4")], 1024),
            (256, &[("ROWS", "8"), ("COLUMNS", "128"), ("HALO", "1")], 1024),
            (512, &[("ROWS", "16"), ("COLUMNS", "128"), ("HALO", "4")], 2048),
            (512, &[("ROWS", "16"), ("COLUMNS", "128"), ("HALO", "1")], 2048),
            (256, &[("ROWS", "32"), ("COLUMNS", "128"), ("HALO", "4")], 4096),
        ],
        stages: &["1", "2"],
        blocks: &BLOCKS,
        twin: true,
        candidates: || of_matrices(&STENCILS),
    },
    Task {
        kernel: "with_specialized_staging_unified_wide",
        ours: &[(256, &[("C", "GroupSum"), ("LEN", "512")], 512)],
        stages: &["2", "4"],
        blocks: &ROLE_BLOCKS,
        twin: false,
        candidates: || of_roles(&ROLES[0]),
    },
    Task {
        kernel: "with_specialized_staging_warps_wide",
        ours: &[(256, &[("C", "GroupSum"), ("LEN", "512"), ("PRODUCERS", "128")], 512)],
        stages: &["2", "4"],
        blocks: &ROLE_BLOCKS,
        twin: false,
        candidates: || of_roles(&ROLES[1]),
    },
    Task {
        kernel: "with_specialized_staging_warps_wide",
        ours: &[(160, &[("C", "GroupSum"), ("LEN", "512"), ("PRODUCERS", "32")], 512)],
        stages: &["2", "4"],
        blocks: &ROLE_BLOCKS,
        twin: false,
        candidates: || of_roles(&ROLES[2]),
    },
];

fn averages() -> Vec<Candidate> {
    of_forms(&AVERAGES).collect()
}

/// Forms in roles, and beside them the fastest form without.
fn of_roles(forms: &[Form]) -> Vec<Candidate> {
    of_forms(forms).chain([candidate(SUM.plain)]).collect()
}

fn of_forms(forms: &[Form]) -> impl Iterator<Item = Candidate> {
    forms.iter().flat_map(|form| form.candidates()).map(candidate)
}

fn candidate(shape: Shape) -> Candidate {
    Candidate { form: (shape.form.name, shape.stages), peer: shape.peer() }
}

fn of_matrices(forms: &[matrices::Form]) -> Vec<Candidate> {
    let shapes = forms.iter().flat_map(|form| form.candidates());
    shapes.map(|shape| Candidate { form: (shape.form.name, shape.stages), peer: shape.peer() }).collect()
}

/// What the record has.
static RECORDED: LazyLock<Vec<PeerRow>> = LazyLock::new(of_all_records);

/// Kernels without stages, their threads, and those of a task that do the same.
const WITHOUT_STAGES: [(&str, u32, &str); 3] = [
    ("moving_average_reads", 128, "moving_average_wide"),
    ("stencil_2d_reads", 128, "stencil_2d_wide"),
    ("transpose_reads", 256, "transpose_wide"),
];

/// Returns our kernels, those of one task one after another: with each number of stages the fastest
/// one, and the one that has a twin. After them come those without stages, beside the fastest C++
/// of each form.
pub fn all() -> Vec<Pairing> {
    let without_stages = WITHOUT_STAGES.into_iter().map(|(kernel, threads, task)| {
        let peers = fastest_forms(task).map(|peer| Peer { wanted: Some(WANTED), ..peer }).collect();
        Pairing { kernel, dtype: I32, generics: Vec::new(), blocks: Blocks::Tiles, threads, peers }
    });
    picked(&RECORDED).into_iter().chain(without_stages).collect()
}

/// Returns the fastest C++ of any shape that does what a kernel of ours does, without asynchronous
/// copies and with some; nothing is demanded.
pub fn fastest(kernel: &str) -> Vec<Peer> {
    let peers: Vec<Peer> = fastest_forms(kernel).collect();
    let of_class = |class| {
        let mut own: Vec<Peer> = peers.iter().filter(|peer| peer.class == class).cloned().collect();
        let nth = least(own.iter().cloned().map(Some), &RECORDED);
        (!own.is_empty()).then(|| own.swap_remove(nth))
    };
    [Class::Plain, Class::Hand].into_iter().filter_map(of_class).collect()
}

/// The fastest C++ of each form that does what a kernel of a task does.
fn fastest_forms(kernel: &str) -> impl Iterator<Item = Peer> {
    let tasks = TASKS.iter().filter(move |task| task.kernel == kernel);
    tasks.flat_map(|task| fastest_of_each(task, &RECORDED)).map(|(_, peer)| peer)
}

/// Returns a pairing of all candidates for each task, all of our instances among them.
pub fn candidates() -> Vec<Pairing> {
    let with_candidates = |task: &Task| {
        let ours = ours(task);
        let peers = (task.candidates)().into_iter().map(|candidate| candidate.peer);
        let peers = peers.chain(ours.iter().filter_map(Ours::as_peer)).collect();
        // The first one is also what the others' ratios are to.
        ours.into_iter().next().map(|first| Pairing { peers, ..first.pairing })
    };
    TASKS.iter().filter_map(with_candidates).collect()
}

/// The contestants of all records; where one is in several, the later record's come first.
fn of_all_records() -> Vec<PeerRow> {
    [ROLES_SWEEP, SWEEP].into_iter().flat_map(contestants).collect()
}

/// The contestants of a record.
fn contestants(record: &str) -> Vec<PeerRow> {
    let rows = serde_json::from_str::<Report>(record).map(|report| report.comparisons).unwrap_or_default();
    rows.into_iter().flat_map(|row| row.peers).collect()
}

/// As [`all`] by another record.
fn picked(recorded: &[PeerRow]) -> Vec<Pairing> {
    let mut all = Vec::new();
    for task in &TASKS {
        let fastest = fastest_of_each(task, recorded);
        for stages in task.stages {
            let own = ours(task).into_iter().filter(|one| one.stages == *stages);
            let mut own: Vec<Ours> = own.collect();
            let best = least(own.iter().map(Ours::as_peer), recorded);
            // If there is a twin, it is that of the first. A shape that is newer than the record is
            // measured with a block for each tile.
            let kept = |nth: &usize| {
                let is_new = !recorded.is_empty() && own[*nth].pairing.blocks == Blocks::Tiles && {
                    own[*nth].as_peer().is_some_and(|peer| !is_recorded(&peer, recorded))
                };
                *nth == best || is_new || (task.twin && *nth == 0 && *stages == task.stages[0])
            };
            let kept: Vec<usize> = (0..own.len()).filter(kept).collect();
            for nth in kept.into_iter().rev() {
                let peers = fastest.iter().filter(|(form, _)| form.1 == 0 || form.1.to_string() == *stages);
                let demanded = |(form, peer): &((&str, u32), Peer)| {
                    if form.1 == 0 { peer.clone() } else { Peer { wanted: Some(WANTED), ..peer.clone() } }
                };
                let peers = peers.map(demanded).collect();
                all.push(Pairing { peers, ..own.remove(nth).pairing });
            }
        }
    }
    all
}

/// The fastest candidate of each form with each number of stages.
fn fastest_of_each(task: &Task, recorded: &[PeerRow]) -> Vec<((&'static str, u32), Peer)> {
    let mut groups: Vec<((&'static str, u32), Vec<Peer>)> = Vec::new();
    for Candidate { form, peer } in (task.candidates)() {
        match groups.iter_mut().find(|(known, _)| *known == form) {
            Some((_, peers)) => peers.push(peer),
            None => groups.push((form, vec![peer])),
        }
    }
    let pick = |(form, mut peers): (_, Vec<Peer>)| {
        let nth = least(peers.iter().cloned().map(Some), recorded);
        (form, peers.swap_remove(nth))
    };
    groups.into_iter().map(pick).collect()
}

fn is_recorded(peer: &Peer, recorded: &[PeerRow]) -> bool {
    recorded.iter().any(|row| row.name == peer.name && row.symbol == peer.instance.name())
}

/// Which of some contestants had the least time; the first one where the record has none of them.
fn least(contestants: impl Iterator<Item = Option<Peer>>, recorded: &[PeerRow]) -> usize {
    let time = |peer: Peer| {
        let row = recorded.iter().find(|row| row.name == peer.name && row.symbol == peer.instance.name());
        row?.right_milliseconds()
    };
    let timed = contestants.enumerate().filter_map(|(nth, peer)| Some((nth, time(peer?)?)));
    timed.min_by(|one, other| one.1.total_cmp(&other.1)).map_or(0, |(nth, _)| nth)
}

/// One of our instances with a number of blocks.
struct Ours {
    stages: &'static str,
    pairing: Pairing,
    tile: usize,
}

/// All of ours, those of one number of stages in the order of [`Task::ours`].
fn ours(task: &Task) -> Vec<Ours> {
    let mut all = Vec::new();
    for stages in task.stages {
        for (threads, generics, tile) in task.ours {
            for blocks in task.blocks.iter().copied() {
                let generics = generics.iter().copied().chain([("STAGES", *stages)]).collect();
                let (kernel, threads) = (task.kernel, *threads);
                let pairing = Pairing { kernel, dtype: I32, generics, blocks, threads, peers: Vec::new() };
                all.push(Ours { stages, pairing, tile: *tile });
            }
        }
    }
    all
}

impl Ours {
    /// Describes it as a contestant of a sweep; none if there is no such instance.
    fn as_peer(&self) -> Option<Peer> {
        let Pairing { kernel, dtype, generics, blocks, threads, .. } = &self.pairing;
        let size = generics.iter().filter(|(name, _)| *name != "STAGES").map(|(name, value)| format!("{name} {value}"));
        let size = [format!("{threads} threads")].into_iter().chain(size).collect::<Vec<_>>().join(", ");
        let name = shape_name("tilepipe", self.stages.parse().ok()?, &size, *blocks);
        let alone = Pairing {
            kernel,
            dtype: *dtype,
            generics: generics.clone(),
            blocks: *blocks,
            threads: *threads,
            peers: Vec::new(),
        };
        let instance = *alone.resolve().ok()?.ours;
        let blocks = Some(*blocks);
        Some(Peer { class: Class::Tilepipe, blocks, tile: self.tile, ..peer(name.leak(), instance) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::peers::TWINS;
    use crate::record::Timing;
    use crate::record::tests::example;

    /// What a record has of a contestant.
    fn recorded(peer: &Peer, milliseconds: f64) -> PeerRow {
        PeerRow {
            name: peer.name.to_owned(),
            symbol: peer.instance.name().to_owned(),
            timing: Timing::of(&[milliseconds], 1 << 30),
            fault: None,
            wrong: None,
            ..example().comparisons[0].peers[0].clone()
        }
    }

    fn all_of(task: &Task) -> Vec<Peer> {
        let candidates = (task.candidates)().into_iter().map(|candidate| candidate.peer);
        candidates.chain(ours(task).iter().filter_map(Ours::as_peer)).collect()
    }

    /// Our instance and its peers, kernel by kernel with a number of stages.
    fn symbols(pairings: Vec<Pairing>) -> Vec<(&'static str, Vec<&'static str>)> {
        let of = |pairing: Pairing| {
            let peers = pairing.peers.iter().map(|peer| peer.instance.name()).collect();
            (pairing.resolve().unwrap().ours.name(), peers)
        };
        pairings.into_iter().map(of).collect()
    }

    #[test]
    fn no_two_candidates_are_the_same_and_all_of_ours_exist() {
        for task in &TASKS {
            assert!(ours(task).iter().all(|one| one.as_peer().is_some()), "{}", task.kernel);
            let mut all: Vec<(&str, &str)> =
                all_of(task).iter().map(|peer| (peer.name, peer.instance.name())).collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "{}", task.kernel);
        }
    }

    #[test]
    fn a_sweep_has_all_candidates_of_cpp_and_of_ours() {
        for (task, pairing) in TASKS.iter().zip(candidates()) {
            let listed = |wanted: &Peer| {
                let alike = |peer: &&Peer| peer.name == wanted.name && peer.instance.name() == wanted.instance.name();
                pairing.peers.iter().filter(alike).count()
            };
            assert!(all_of(task).iter().all(|peer| listed(peer) == 1), "{}", task.kernel);
            assert_eq!(pairing.kernel, task.kernel);
        }
    }

    #[test]
    fn without_a_record_the_first_shapes_stand_for_their_forms() {
        let all = symbols(picked(&[]));
        let transposes: Vec<_> = all.iter().filter(|(ours, _)| ours.starts_with("transpose")).collect();
        let (ours, peers) = transposes[0];
        assert_eq!((transposes.len(), *ours), (2, "transpose_wide__i32_256_64_64_4_1"));
        assert_eq!(peers.len(), 6);
        assert!(peers.contains(&"transpose_async_256_64x64_1") && !peers.contains(&"transpose_async_256_64x64_2"));
    }

    #[test]
    fn the_fastest_of_a_record_stand_beside_our_fastest() {
        let mut record = Vec::new();
        for task in &TASKS {
            // The later the faster.
            record.extend(all_of(task).iter().enumerate().map(|(nth, peer)| recorded(peer, 900.0 - nth as f64)));
        }
        let all = symbols(picked(&record));
        let with_two = all.iter().find(|(ours, _)| *ours == "stencil_2d_wide__i32_256_32_128_4_2");
        assert!(with_two.unwrap().1.contains(&"stencil_async_256_32x128_2"), "{all:?}");
        // A result that is wrong has no time that counts.
        let wrong = record.iter_mut().filter(|row| row.symbol == "stencil_async_256_32x128_2");
        wrong.for_each(|row| row.fault = Some("wrong".to_owned()));
        let all = symbols(picked(&record));
        let with_two = all.iter().find(|(ours, _)| *ours == "stencil_2d_wide__i32_256_32_128_4_2");
        assert!(with_two.unwrap().1.contains(&"stencil_async_512_16x128_2"), "{all:?}");
    }

    #[test]
    fn each_task_has_a_row_with_a_twin_in_unsafe_rust() {
        for record in [Vec::new(), of_all_records()] {
            let all = symbols(picked(&record));
            for task in TASKS.iter().filter(|task| task.twin) {
                let of_task = |(ours, _): &&(&str, _)| ours.starts_with(task.kernel);
                assert!(all.iter().filter(of_task).any(|(ours, _)| TWINS.contains(ours)), "{}", task.kernel);
            }
        }
    }
}
