//! The kernels whose threads have several elements each, beside the fastest C++ of any shape.
//!
//! Which shapes are the fastest was measured over all candidates (`SWEEP`); a test compares.

mod bulk;

use tilepipe_runner::value::DType::I32;

use crate::plan::blocks::Blocks::{self, Tiles};
use crate::plan::bulk::with_twin;
use crate::plan::catalog::Peer;
use crate::plan::pairings::{Pairing, pipeline};
use crate::plan::peers::*;
use crate::plan::shapes::*;

/// The record of all candidates, from the repository's root.
#[cfg(test)]
const SWEEP: &str = "bench/results/2026-11-23-h200-tasks/shapes.json";

/// What a kernel must reach of the fastest with as many stages, and of the fastest of all.
pub const WANTED: f64 = 0.99;

/// The fastest shapes of one task: of all forms, and of each form with a number of stages.
pub struct Fastest {
    /// Of plain loads.
    pub plain: Shape,
    /// Of each other form, with 1, 2 and 4 stages.
    pub staged: [&'static [Shape]; 3],
}

/// The sum of neighbours in groups of 256.
pub const SUM: Fastest = Fastest {
    plain: VECTOR.of(128, 4, 0, Tiles),
    staged: [
        &[HAND_FIRST.of(128, 4, 1, Tiles), BULK.of(128, 8, 1, Tiles), PIPELINE.of(128, 8, 1, Tiles)],
        &[HAND_FIRST.of(128, 4, 2, Tiles), BULK.of(128, 8, 2, Tiles), PIPELINE.of(128, 8, 2, Tiles)],
        &[HAND_WAIT.of(128, 4, 4, Tiles), BULK.of(128, 8, 4, Tiles), PIPELINE.of(128, 8, 4, Tiles)],
    ],
};

/// Three times each element.
const OWN: Fastest = Fastest {
    plain: OWN_VECTOR.of(256, 4, 0, Tiles),
    staged: [
        &[OWN_HAND.of(256, 4, 1, Tiles), OWN_PIPELINE.of(128, 4, 1, Tiles)],
        &[OWN_HAND.of(128, 4, 2, Tiles), OWN_PIPELINE.of(128, 4, 2, Tiles)],
        &[OWN_HAND.of(128, 4, 4, Tiles), OWN_PIPELINE.of(128, 4, 4, Tiles)],
    ],
};

/// Two inputs.
pub const TWO: Fastest = Fastest {
    plain: TWO_VECTOR.of(128, 4, 0, Tiles),
    staged: [
        &[TWO_HAND_FIRST.of(128, 4, 1, Tiles), TWO_PIPELINE.of(256, 4, 1, Tiles)],
        &[TWO_HAND_WAIT.of(512, 4, 2, Tiles), TWO_PIPELINE.of(256, 4, 2, Tiles)],
        &[],
    ],
};

/// Cooperative groups, with one buffer and with two.
const OF_GROUPS: [Shape; 2] = [GROUPS.of(128, 4, 1, Tiles), GROUPS.of(128, 4, 2, Tiles)];

/// Returns all of them, those of one work one after another.
pub fn all() -> Vec<Pairing> {
    let mut all = sums();
    for (nth, stages) in STAGES.into_iter().enumerate() {
        for scope in ["ThreadScope", "BlockScope"] {
            let generics = vec![("S", scope), ("LEN", "512"), ("STAGES", stages)];
            all.push(pairing("scale_own_wide", generics, 128, Tiles, OWN.with(nth)));
        }
    }
    for (nth, stages) in STAGES.into_iter().enumerate().take(2) {
        let peers = [TWO.with(nth), vec![libcu(EXAMPLE_I32)]].concat();
        let generics = vec![("LEN", "512"), ("STAGES", stages)];
        all.push(pairing("example_kernel_wide", generics, 128, Tiles, peers));
    }
    all.extend(bulk::all().into_iter().map(with_twin));
    all
}

const STAGES: [&str; 3] = ["1", "2", "4"];

impl Fastest {
    /// The fastest with as many stages, and the plain form beside them.
    fn with(&self, nth: usize) -> Vec<Peer> {
        let demanded = |shape: &Shape| Peer { wanted: Some(WANTED), ..shape.peer() };
        self.staged[nth].iter().map(demanded).chain([self.plain.peer()]).collect()
    }
}

/// The guide's code as printed.
fn libcu(instance: tilepipe::launch::Instance) -> Peer {
    Peer { blocks: Some(Blocks::Of(4096)), ..pipeline(instance) }
}

fn sums() -> Vec<Pairing> {
    let guide = [PIPELINE_I32_1, PIPELINE_I32_2, PIPELINE_I32_4];
    let peers = |nth: usize| [SUM.with(nth), vec![libcu(guide[nth])]].concat();
    let of = |kernel, generics: &[(&'static str, &'static str)], peers| {
        let generics = [&[("C", "GroupSum"), ("LEN", "512")], generics].concat();
        pairing(kernel, generics, 128, Tiles, peers)
    };
    let groups = |nth: usize| [peers(nth), vec![OF_GROUPS[nth].peer()]].concat();
    let mut all = Vec::new();
    for (nth, stages) in STAGES.into_iter().enumerate() {
        all.push(of("with_staging_unified_wide", &[("STAGES", stages), ("E", "CpAsync")], peers(nth)));
        all.push(of("with_staging_scope_thread_wide", &[("STAGES", stages)], peers(nth)));
    }
    all.push(of("with_staging_unified_wide", &[("STAGES", "1"), ("E", "LoadStore")], peers(0)));
    all.push(of("with_memcpy_async_wide", &[], groups(0)));
    all.push(of("with_memcpy_async_prior_wide", &[], groups(1)));
    all.push(of("with_staging_wide", &[], peers(1)));
    all
}

fn pairing(
    kernel: &'static str,
    generics: Vec<(&'static str, &'static str)>,
    threads: u32,
    blocks: Blocks,
    peers: Vec<Peer>,
) -> Pairing {
    Pairing { kernel, dtype: I32, generics, blocks, threads, peers }
}

/// Returns a pairing of all candidates for each task, beside those of our kernels that do it.
pub fn candidates() -> Vec<Pairing> {
    let ours = [
        ("with_staging_unified_wide", vec![("C", "GroupSum"), ("LEN", "512"), ("STAGES", "1"), ("E", "CpAsync")], 128),
        ("scale_own_wide", vec![("S", "ThreadScope"), ("LEN", "512"), ("STAGES", "1")], 128),
        ("example_kernel_wide", vec![("LEN", "512"), ("STAGES", "1")], 128),
    ];
    let with_candidates = |((kernel, generics, threads), forms): ((_, _, _), &[Form])| {
        let peers = forms.iter().flat_map(|form| form.candidates()).map(Shape::peer).collect();
        pairing(kernel, generics, threads, Tiles, peers)
    };
    ours.into_iter().zip(TASKS).map(with_candidates).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::record::{PeerRow, Report};

    /// How much slower than the fastest one may be: what two runs differ by.
    const NOISE: f64 = 1.003;

    fn milliseconds(peer: &PeerRow) -> f64 {
        assert_eq!(peer.fault, None, "{}", peer.symbol);
        peer.timing.as_ref().unwrap().milliseconds.median
    }

    #[test]
    fn the_shapes_beside_our_kernels_are_the_fastest_of_their_forms_in_the_recorded_sweep() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(SWEEP);
        let sweep = Report::read(&path).unwrap();
        let all: Vec<&PeerRow> = sweep.comparisons.iter().flat_map(|row| &row.peers).collect();
        let picked = [SUM, OWN, TWO].into_iter().flat_map(|task| {
            let staged = task.staged.into_iter().flatten().copied();
            staged.chain([task.plain]).collect::<Vec<Shape>>()
        });
        for shape in picked.chain(OF_GROUPS) {
            let peer = shape.peer();
            let own = all.iter().filter(|one| one.name == peer.name && one.symbol == shape.symbol());
            let own: Vec<f64> = own.map(|one| milliseconds(one)).collect();
            // Plain loads stand beside several tasks.
            let own = own.into_iter().fold(f64::INFINITY, f64::min);
            let of_form = format!("{}_", shape.form.name);
            let of_stages = format!("_{}", shape.stages);
            let rivals = all.iter().filter(|one| {
                let shape = one.symbol.strip_prefix(&of_form);
                shape.is_some_and(|shape| shape.split('_').count() == 3) && one.symbol.ends_with(&of_stages)
            });
            let least = rivals.map(|one| milliseconds(one)).fold(f64::INFINITY, f64::min);
            assert!(own <= least * NOISE, "{} in {SWEEP}: {own} ms, the fastest takes {least} ms", peer.name);
        }
    }
}
