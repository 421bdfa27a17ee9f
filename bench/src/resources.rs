//! What kernels take of a multiprocessor.

use tilepipe::launch::Instance;
use tilepipe_host::Device;

use crate::plan::catalog::Comparison;
use crate::record::{Resources, Row};

/// Fills in what the kernels of a row take. What the driver does not tell stays out.
pub fn fill(row: &mut Row, device: &Device, comparison: &Comparison) {
    row.resources = of(device, comparison.ours).map(|resources| Resources {
        bytes_in_flight: in_flight(comparison).map(|bytes| bytes * u64::from(resources.blocks_per_multiprocessor)),
        ..resources
    });
    for (peer, of_peer) in row.peers.iter_mut().zip(&comparison.peers) {
        peer.resources = of(device, &of_peer.instance);
    }
}

fn of(device: &Device, instance: &Instance) -> Option<Resources> {
    let taken = device.resources(instance).ok().flatten()?;
    let warps = taken.blocks * instance.threads().div_ceil(32);
    Some(Resources {
        registers: taken.registers,
        shared_bytes: u32::try_from(taken.shared_bytes).ok()?,
        blocks_per_multiprocessor: taken.blocks,
        occupancy: f64::from(warps) / f64::from(most_warps(device.compute_capability()?)),
        bytes_in_flight: None,
    })
}

/// The warps that a multiprocessor holds at once (CUDA programming guide, "Technical Specifications
/// per Compute Capability").
fn most_warps(capability: (u32, u32)) -> u32 {
    match capability {
        (8, 6 | 7 | 9) | (12, _) => 48,
        _ => 64,
    }
}

/// Bytes that a block of our kernel has under way while it works on a tile: those of all stages but
/// one, as far as its type says.
fn in_flight(comparison: &Comparison) -> Option<u64> {
    let stages: u64 = comparison.ours.generic("STAGES")?.parse().ok()?;
    let input = comparison.ours.parameters().next()?.1;
    let stage = match input.boxes {
        Some(boxes) => boxes.elements() * input.element_bytes as u64,
        // Bins are no stage.
        None if comparison.work.kind.writes_counts() => (comparison.work.portion() * input.element_bytes) as u64,
        // What is left of the shared memory beside the stages is less than one of them.
        None => comparison.ours.shared_bytes() as u64 / stages,
    };
    Some(stage * (stages - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::catalog;

    #[test]
    fn all_stages_but_one_are_under_way() {
        let comparisons = catalog::comparisons().unwrap();
        let of = |symbol: &str| comparisons.iter().find(|one| one.ours.name() == symbol).and_then(in_flight);
        assert_eq!(of("with_staging_unified__i32_NeighbourSum_CpAsync_256_4"), Some(3 * 1024));
        // Output stages are nothing under way.
        assert_eq!(of("transpose_tma__i32_64_32_4_2_2"), Some(4096));
        assert_eq!(of("histogram_u32_bulk__256_1024_4_20"), Some(3 * 4096));
        assert_eq!(of("without_memcpy_async__i32_NeighbourSum_256"), None);
    }

    #[test]
    fn smaller_multiprocessors_hold_fewer_warps() {
        assert_eq!([(8, 0), (8, 6), (9, 0), (10, 0), (12, 0)].map(most_warps), [64, 48, 64, 64, 48]);
    }
}
