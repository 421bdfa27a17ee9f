//! The list of all comparisons.

use tilepipe::launch::Instance;
use tilepipe_runner::value::DType::{self, I32, I32x4};

use crate::plan::blocks::Blocks;
use crate::plan::catalog::Peer;
use crate::plan::peers::*;
use crate::plan::{bulk, tiles, wide};
use crate::record::Class;

/// The grid at which kernels are compared where nothing else is said.
pub const GRID: Blocks = Blocks::Of(4096);

/// As fast as a hand-written kernel, within the noise.
const TWIN: f64 = 0.99;
/// What the guide's block-scope pipeline must be beaten by: with 4-byte elements and more than one
/// stage, with 16-byte elements, and with one stage.
const PIPELINE: f64 = 2.0;
const PIPELINE_WIDE: f64 = 1.1;
const SINGLE_STAGE: f64 = 1.15;
/// What cooperative groups' copy of a tile must be beaten by.
const GROUPS: f64 = 1.05;
/// What the guide's even producers and odd consumers must be beaten by: with 2 stages, and with 4.
const EVEN_ODD: [f64; 2] = [1.35, 1.9];
/// What the guide's pipeline between two halves of the block's warps must be beaten by with 4
/// stages.
const WARPS: f64 = 1.55;

/// Two roles by hand: what each producer copies, and which consumers hand a stage back.
const WIDE: &str = "mbarriers, 16 bytes, each thread releases";
/// [`WIDE`], but one thread of each warp releases.
const WIDE_ELECTED: &str = "mbarriers, 16 bytes, each warp releases";
/// [`WIDE`], but each producer copies its own element.
const ELEMENT: &str = "mbarriers, own element, each thread releases";
/// [`ELEMENT`], but one thread of each warp releases.
const ELEMENT_ELECTED: &str = "mbarriers, own element, each warp releases";

/// A kernel of ours by name, and the peers that do the same work: what the registry says of the
/// kernel.
#[derive(Clone)]
pub struct Pairing {
    /// The kernel function's name.
    pub kernel: &'static str,
    /// The element type, its generic argument `T`.
    pub dtype: DType,
    /// Further generic arguments, as name and value.
    pub generics: Vec<(&'static str, &'static str)>,
    /// Blocks of ours, and of each peer that names no others.
    pub blocks: Blocks,
    /// Threads of a block.
    pub threads: u32,
    /// The others.
    pub peers: Vec<Peer>,
}

/// Returns all pairings, those of one element type and work one after another.
pub fn all() -> Vec<Pairing> {
    let mut all = one_input_i32();
    all.extend(wide::all());
    all.extend(bulk::all());
    all.extend(tiles::all());
    all.extend(bulk::tensor::all());
    all.extend(roles_i32());
    all.extend(own_elements(I32, [OWN_SCOPE_I32_2, OWN_SCOPE_I32_4], [OWN_I32_2, OWN_I32_4]));
    all.push(example(I32, EXAMPLE_I32, EXAMPLE_TWIN_I32, EXAMPLE_EAGER_I32));
    all.extend(one_input_i32x4());
    all.extend(roles_i32x4());
    all.extend(own_elements(I32x4, [OWN_SCOPE_I32X4_2, OWN_SCOPE_I32X4_4], [OWN_I32X4_2, OWN_I32X4_4]));
    all.push(example(I32x4, EXAMPLE_I32X4, EXAMPLE_TWIN_I32X4, EXAMPLE_EAGER_I32X4));
    all
}

fn one_input_i32() -> Vec<Pairing> {
    let pairing = |kernel, stages, peers| on_tiles(I32, kernel, stages, peers);
    let scope_thread = "with_staging_scope_thread";
    let unified = UNIFIED_I32.map(|(stages, [of_cuda, one_barrier, two_barriers])| {
        let peers =
            vec![pipeline(of_cuda).wanted(PIPELINE), twin(one_barrier).wanted(TWIN), eager(two_barriers).wanted(TWIN)];
        pairing("with_staging_unified", Some(stages), peers)
    });
    let others = [
        pairing("without_memcpy_async", None, vec![plain(PLAIN_I32).wanted(TWIN)]),
        pairing("with_memcpy_async", None, {
            vec![groups(MEMCPY_ASYNC_I32).wanted(GROUPS), eager(EAGER_I32_1).wanted(TWIN)]
        }),
        pairing("with_memcpy_async_prior", None, vec![groups(PRIOR_I32), eager(EAGER_I32_2)]),
        pairing(
            "with_single_stage",
            None,
            vec![pipeline(PIPELINE_I32_1).wanted(SINGLE_STAGE), eager(EAGER_I32_1).wanted(TWIN)],
        ),
        pairing("with_staging", None, {
            vec![pipeline(PIPELINE_I32_2).wanted(PIPELINE), twin(TWIN_I32_2), eager(EAGER_I32_2).wanted(TWIN)]
        }),
        pairing(scope_thread, Some("2"), {
            vec![racing(THREAD_SCOPE_I32_2), peer("cp.async, own element, 2 barriers", ELEMENT_I32_2).wanted(TWIN)]
        }),
        pairing(scope_thread, Some("4"), {
            vec![racing(THREAD_SCOPE_I32_4), peer("cp.async, own element, 1 barrier", ELEMENT_I32_4).wanted(TWIN)]
        }),
        pairing("moving_average", Some("4"), vec![plain(AVERAGE_I32)]),
    ];
    unified.into_iter().chain(others).collect()
}

fn one_input_i32x4() -> Vec<Pairing> {
    let pairing = |kernel, stages, peers| on_tiles(I32x4, kernel, stages, peers);
    let unified = "with_staging_unified";
    let scope_thread = "with_staging_scope_thread";
    vec![
        Pairing { blocks: Blocks::Of(512), ..pairing(unified, Some("4"), vec![twin(TWIN_I32X4_4).wanted(TWIN)]) },
        Pairing { blocks: Blocks::Of(1024), ..pairing(unified, Some("4"), vec![twin(TWIN_I32X4_4).wanted(TWIN)]) },
        pairing(unified, Some("4"), {
            vec![
                twin(TWIN_I32X4_4).wanted(TWIN),
                eager(EAGER_I32X4_4).wanted(TWIN),
                pipeline(PIPELINE_I32X4_4).wanted(PIPELINE_WIDE),
            ]
        }),
        pairing("without_memcpy_async", None, vec![plain(PLAIN_I32X4)]),
        pairing("with_memcpy_async", None, vec![groups(MEMCPY_ASYNC_I32X4), eager(EAGER_I32X4_1).wanted(TWIN)]),
        pairing("with_memcpy_async_prior", None, vec![groups(PRIOR_I32X4), eager(EAGER_I32X4_2)]),
        pairing("with_single_stage", None, vec![pipeline(PIPELINE_I32X4_1), eager(EAGER_I32X4_1).wanted(TWIN)]),
        pairing("with_staging", None, {
            vec![
                pipeline(PIPELINE_I32X4_2).wanted(PIPELINE_WIDE),
                twin(TWIN_I32X4_2).wanted(TWIN),
                eager(EAGER_I32X4_2).wanted(TWIN),
            ]
        }),
        // With 16-byte elements a thread's own element is the unit of 16 bytes that the ordinary
        // twins copy.
        pairing(scope_thread, Some("2"), {
            vec![racing(THREAD_SCOPE_I32X4_2), peer("cp.async, own element, 2 barriers", EAGER_I32X4_2)]
        }),
        pairing(scope_thread, Some("4"), {
            vec![racing(THREAD_SCOPE_I32X4_4), peer("cp.async, own element, 1 barrier", TWIN_I32X4_4)]
        }),
        pairing("moving_average", Some("4"), vec![plain(AVERAGE_I32X4)]),
    ]
}

fn roles_i32() -> Vec<Pairing> {
    let even_odd =
        |guide, wide, element| vec![guide, peer(WIDE, wide).wanted(TWIN), peer(ELEMENT, element).wanted(TWIN)];
    let warps = |guide, wide: [Instance; 2], element: [Instance; 2]| {
        let hand = [(WIDE, wide[0]), (WIDE_ELECTED, wide[1]), (ELEMENT, element[0]), (ELEMENT_ELECTED, element[1])];
        let hand = hand.map(|(name, instance)| peer(name, instance).wanted(TWIN));
        std::iter::once(guide).chain(hand).collect()
    };
    vec![
        between_even_and_odd(I32, "2", {
            even_odd(pipeline(EVEN_ODD_I32_2).wanted(EVEN_ODD[0]), EVEN_ODD_TWIN_I32_2, EVEN_ODD_ELEMENT_I32_2)
        }),
        between_even_and_odd(I32, "4", {
            even_odd(pipeline(EVEN_ODD_I32_4).wanted(EVEN_ODD[1]), EVEN_ODD_TWIN_I32_4, EVEN_ODD_ELEMENT_I32_4)
        }),
        between_warps(I32, "2", {
            warps(
                pipeline(WARPS_I32_2),
                [WARPS_TWIN_I32_2, WARPS_TWIN_ELECTED_I32_2],
                [WARPS_ELEMENT_I32_2, WARPS_ELEMENT_ELECTED_I32_2],
            )
        }),
        between_warps(I32, "4", {
            warps(
                pipeline(WARPS_I32_4).wanted(WARPS),
                [WARPS_TWIN_I32_4, WARPS_TWIN_ELECTED_I32_4],
                [WARPS_ELEMENT_I32_4, WARPS_ELEMENT_ELECTED_I32_4],
            )
        }),
    ]
}

/// With 16-byte elements every producer copies one unit of 16 bytes, which is its own element.
fn roles_i32x4() -> Vec<Pairing> {
    let even_odd =
        |stages, guide, hand| between_even_and_odd(I32x4, stages, vec![guide, peer(WIDE, hand).wanted(TWIN)]);
    let warps = |stages, guide, hand, elected| {
        let hand = peer(WIDE, hand).wanted(TWIN);
        between_warps(I32x4, stages, vec![guide, hand, peer(WIDE_ELECTED, elected).wanted(TWIN)])
    };
    vec![
        even_odd("2", pipeline(EVEN_ODD_I32X4_2), EVEN_ODD_TWIN_I32X4_2),
        even_odd("4", pipeline(EVEN_ODD_I32X4_4), EVEN_ODD_TWIN_I32X4_4),
        warps("2", pipeline(WARPS_I32X4_2), WARPS_TWIN_I32X4_2, WARPS_TWIN_ELECTED_I32X4_2),
        warps("4", pipeline(WARPS_I32X4_4), WARPS_TWIN_I32X4_4, WARPS_TWIN_ELECTED_I32X4_4),
    ]
}

/// Even threads copy tiles on which odd threads compute.
fn between_even_and_odd(dtype: DType, stages: &'static str, peers: Vec<Peer>) -> Pairing {
    let generics = vec![("TILE", "128"), ("STAGES", stages)];
    let kernel = "with_specialized_staging_unified";
    Pairing { kernel, dtype, generics, blocks: GRID, threads: THREADS, peers }
}

/// The block's first warps copy tiles on which as many others compute.
fn between_warps(dtype: DType, stages: &'static str, peers: Vec<Peer>) -> Pairing {
    let generics = vec![("PRODUCERS", "128"), ("CONSUMERS", "128"), ("STAGES", stages)];
    let kernel = "with_specialized_staging_warps";
    Pairing { kernel, dtype, generics, blocks: GRID, threads: THREADS, peers }
}

/// What the guide computes on each tile.
fn on_tiles(dtype: DType, kernel: &'static str, stages: Option<&'static str>, peers: Vec<Peer>) -> Pairing {
    let generics = stages.map(|stages| ("STAGES", stages)).into_iter().collect();
    Pairing { kernel, dtype, generics, blocks: GRID, threads: THREADS, peers }
}

/// Every thread reads only what it copied: our three scopes, with 2 and with 4 stages.
fn own_elements(dtype: DType, scope: [Instance; 2], hand: [Instance; 2]) -> Vec<Pairing> {
    let mut all = Vec::new();
    for (at, stages) in ["2", "4"].into_iter().enumerate() {
        for of_ours in ["ThreadScope", "WarpScope", "BlockScope"] {
            all.push(Pairing {
                kernel: "scale_own",
                dtype,
                generics: vec![("S", of_ours), ("STAGES", stages)],
                blocks: GRID,
                threads: THREADS,
                peers: vec![peer("cuda::pipeline, thread scope", scope[at]), peer("cp.async, no barrier", hand[at])],
            });
        }
    }
    all
}

/// Two inputs in every stage.
fn example(dtype: DType, of_libcu: Instance, one_barrier: Instance, two_barriers: Instance) -> Pairing {
    let peers = vec![pipeline(of_libcu), twin(one_barrier), eager(two_barriers)];
    Pairing { kernel: "example_kernel", dtype, generics: Vec::new(), blocks: GRID, threads: THREADS, peers }
}

/// A peer of which nothing is demanded.
pub fn peer(name: &'static str, instance: Instance) -> Peer {
    let class = Class::of_name(name).unwrap_or(Class::Hand);
    let tile = THREADS as usize;
    Peer { name, instance, wanted: None, racing: false, class, blocks: None, tile }
}

impl Peer {
    /// Demands that its time is at least `ratio` times ours.
    fn wanted(self, ratio: f64) -> Peer {
        Peer { wanted: Some(ratio), ..self }
    }
}

fn plain(instance: Instance) -> Peer {
    peer("plain", instance)
}

/// The guide's code over `cuda::pipeline`.
pub fn pipeline(instance: Instance) -> Peer {
    peer("cuda::pipeline", instance)
}

fn groups(instance: Instance) -> Peer {
    peer("cooperative groups", instance)
}

fn twin(instance: Instance) -> Peer {
    peer("cp.async, 1 barrier", instance)
}

fn eager(instance: Instance) -> Peer {
    peer("cp.async, 2 barriers", instance)
}

/// The guide's thread-scope kernel as printed.
fn racing(instance: Instance) -> Peer {
    Peer { racing: true, ..peer("cuda::pipeline, thread scope", instance) }
}
