//! Which kernel of ours is compared with which peers, and what is wanted of it.

use anyhow::{Context, Result};
use tilepipe::launch::Instance;
use tilepipe_runner::reference::Reference;
use tilepipe_runner::value::DType;

use crate::peers;

/// The grid at which everything is compared, in blocks.
const GRID: u32 = 4096;

/// One kernel of ours and the peers that do the same work.
pub struct Comparison {
    /// The element type.
    pub dtype: DType,
    /// Blocks of every contestant.
    pub grid: u32,
    /// What all must compute.
    pub reference: Reference,
    /// Our kernel.
    pub ours: &'static Instance,
    /// The others.
    pub peers: Vec<Peer>,
}

/// A peer, and how our kernel should fare against it.
pub struct Peer {
    /// What it is, for people.
    pub name: &'static str,
    /// Its description.
    pub instance: Instance,
    /// The least ratio of its time to ours; `None` where it is only information.
    pub wanted: Option<f64>,
}

/// As fast as a hand-written kernel, within the noise: with 16-byte elements. With 4-byte ones the twins' shorter loops still
/// show (`docs/performance.md`), which is reported and not demanded.
const TWIN: f64 = 0.98;
/// What the guide's block-scope pipeline must be beaten by.
const PIPELINE: f64 = 1.8;

/// Returns all comparisons, those of one element type and reference one after another.
///
/// # Errors
///
/// If an instance that is to be measured is not among our kernels.
pub fn comparisons() -> Result<Vec<Comparison>> {
    use DType::{I32, I32x4};
    let twin = |instance, wanted| Peer { name: "cp.async, 1 barrier", instance, wanted };
    let eager = |instance, wanted| Peer { name: "cp.async, 2 barriers", instance, wanted };
    let pipeline = |instance, wanted| Peer { name: "cuda::pipeline", instance, wanted };
    let plain = |instance| Peer { name: "plain", instance, wanted: None };
    let unified = "with_staging_unified";
    let all = [
        (I32, unified, Some(2), GRID, {
            vec![
                pipeline(peers::PIPELINE_I32_2, Some(PIPELINE)),
                twin(peers::TWIN_I32_2, None),
                eager(peers::EAGER_I32_2, None),
            ]
        }),
        (I32, unified, Some(4), GRID, {
            vec![
                pipeline(peers::PIPELINE_I32_4, Some(PIPELINE)),
                twin(peers::TWIN_I32_4, None),
                eager(peers::EAGER_I32_4, None),
            ]
        }),
        (I32, "without_memcpy_async", None, GRID, vec![plain(peers::PLAIN_I32)]),
        (I32, "with_single_stage", None, GRID, {
            vec![pipeline(peers::PIPELINE_I32_1, None), eager(peers::EAGER_I32_1, None)]
        }),
        (I32, "with_staging", None, GRID, {
            vec![pipeline(peers::PIPELINE_I32_2, None), twin(peers::TWIN_I32_2, None), eager(peers::EAGER_I32_2, None)]
        }),
        (I32, "moving_average", Some(4), GRID, vec![plain(peers::AVERAGE_I32)]),
        (I32x4, unified, Some(4), 512, vec![twin(peers::TWIN_I32X4_4, Some(TWIN))]),
        (I32x4, unified, Some(4), 1024, vec![twin(peers::TWIN_I32X4_4, Some(TWIN))]),
        (I32x4, unified, Some(4), GRID, {
            vec![
                twin(peers::TWIN_I32X4_4, Some(TWIN)),
                eager(peers::EAGER_I32X4_4, None),
                pipeline(peers::PIPELINE_I32X4_4, None),
            ]
        }),
        (I32x4, "without_memcpy_async", None, GRID, vec![plain(peers::PLAIN_I32X4)]),
        (I32x4, "with_single_stage", None, GRID, {
            vec![pipeline(peers::PIPELINE_I32X4_1, None), eager(peers::EAGER_I32X4_1, None)]
        }),
        (I32x4, "with_staging", None, GRID, {
            vec![
                pipeline(peers::PIPELINE_I32X4_2, None),
                twin(peers::TWIN_I32X4_2, None),
                eager(peers::EAGER_I32X4_2, None),
            ]
        }),
        (I32x4, "moving_average", Some(4), GRID, vec![plain(peers::AVERAGE_I32X4)]),
    ];
    all.into_iter()
        .map(|(dtype, kernel, stages, grid, peers)| {
            let (ours, reference) = find(dtype, kernel, stages)?;
            Ok(Comparison { dtype, grid, reference, ours, peers })
        })
        .collect()
}

/// Finds our instance with the peers' block size, and what it must compute.
fn find(dtype: DType, kernel: &str, stages: Option<u32>) -> Result<(&'static Instance, Reference)> {
    let stages = stages.map(|stages| stages.to_string());
    let threads = peers::THREADS;
    let ours = tilepipe_kernels::registry().into_iter().flatten().find(|instance| {
        instance.kernel() == kernel
            && instance.threads() == threads
            && instance.generic("T").is_some_and(|name| name.parse() == Ok(dtype))
            && instance.generic("C").is_none_or(|name| name == "NeighbourSum")
            && stages.as_deref().is_none_or(|stages| instance.generic("STAGES") == Some(stages))
    });
    let ours = ours.with_context(|| {
        format!("kernel `{kernel}` is not built for T={dtype}, THREADS={threads}, STAGES={stages:?}; add the instance")
    })?;
    let reference = Reference::of_kernel(kernel, threads as usize)
        .with_context(|| format!("there is no reference for kernel `{kernel}`; add one to tilepipe-runner"))?;
    Ok((ours, reference))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_exists_and_every_peer_has_its_parameters() {
        for comparison in comparisons().unwrap() {
            let described = |instance: &Instance| {
                let views = instance.parameters().iter().map(|(_, info)| (info.kind, (info.element)()));
                (instance.threads(), views.collect::<Vec<_>>())
            };
            for peer in &comparison.peers {
                assert_eq!(described(comparison.ours), described(&peer.instance), "{}", peer.instance.symbol());
            }
        }
    }
}
