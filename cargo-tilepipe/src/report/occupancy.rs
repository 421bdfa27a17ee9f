//! How many blocks of a kernel a multiprocessor holds at once, by the rules of NVIDIA's occupancy
//! calculator.

use tilepipe_build::KernelReport;

/// What a multiprocessor has (CUDA programming guide, "Technical Specifications per Compute
/// Capability").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Warps at once.
    pub warps: u32,
    /// Blocks at once.
    pub blocks: u32,
    /// Bytes of shared memory, of all blocks.
    pub shared: u32,
    /// Bytes of shared memory that one block can have.
    pub shared_of_block: u32,
}

/// The architectures by their numbers, as in `sm_90`.
pub const KNOWN: [(u32, Limits); 8] = [
    (80, Limits::new(64, 32, 164)),
    (86, Limits::new(48, 16, 100)),
    (87, Limits::new(48, 16, 164)),
    (89, Limits::new(48, 24, 100)),
    (90, Limits::new(64, 32, 228)),
    (100, Limits::new(64, 32, 228)),
    (103, Limits::new(64, 32, 228)),
    (120, Limits::new(48, 24, 100)),
];

/// A multiprocessor has four parts with so many registers each, and a warp lies in one of them.
const PARTS: u32 = 4;
const REGISTERS: u32 = 16 * 1024;
/// A warp's registers are given out in units of this.
const UNIT_OF_REGISTERS: u32 = 256;
/// A block's shared memory is given out in units of this, after what the driver takes of it.
const UNIT_OF_SHARED: u32 = 128;
const SHARED_OF_DRIVER: u32 = 1024;

impl Limits {
    const fn new(warps: u32, blocks: u32, shared_kib: u32) -> Limits {
        Limits { warps, blocks, shared: shared_kib * 1024, shared_of_block: shared_kib * 1024 - SHARED_OF_DRIVER }
    }

    /// Those of an architecture such as `sm_90` or `sm_90a`.
    pub fn of(architecture: &str) -> Option<Limits> {
        let number = architecture.strip_prefix("sm_")?;
        let number: u32 = number.strip_suffix(['a', 'f']).unwrap_or(number).parse().ok()?;
        KNOWN.into_iter().find(|(known, _)| *known == number).map(|(_, limits)| limits)
    }
}

/// What a multiprocessor holds of a kernel.
#[derive(Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Its blocks at once; none if even one is too large.
    pub blocks: u32,
    /// Their warps.
    pub warps: u32,
    /// What there would have to be more of for another block.
    pub bound: &'static str,
}

/// What a multiprocessor with these limits holds of a kernel.
pub fn of(kernel: &KernelReport, limits: &Limits) -> Occupancy {
    let warps = kernel.threads.div_ceil(32).max(1);
    let of_warp = (kernel.registers * 32).next_multiple_of(UNIT_OF_REGISTERS).max(UNIT_OF_REGISTERS);
    let shared = kernel.shared_bytes.saturating_add(kernel.dynamic_shared);
    let taken = shared.saturating_add(SHARED_OF_DRIVER).div_ceil(UNIT_OF_SHARED).saturating_mul(UNIT_OF_SHARED);
    // The first of those that bound it most is named.
    let bounds = [
        (limits.warps / warps, "warps"),
        (PARTS * (REGISTERS / of_warp) / warps, "registers"),
        (if shared > limits.shared_of_block { 0 } else { limits.shared / taken }, "shared memory"),
        // `cuda_occupancy.h` has two barriers for each block that can be there.
        ((2 * limits.blocks).checked_div(kernel.barriers).unwrap_or(u32::MAX), "barriers"),
        (limits.blocks, "blocks"),
    ];
    let (blocks, bound) = bounds.into_iter().min_by_key(|(blocks, _)| *blocks).unwrap_or((0, ""));
    Occupancy { blocks, warps: blocks * warps, bound }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::*;

    fn kernel(threads: u32, registers: u32, shared: u32, dynamic: u32, barriers: u32) -> KernelReport {
        let report = json!({
            "kernel": "k", "arch": "sm_90", "threads": threads, "registers": registers, "spill_stores": 0, "spill_loads": 0,
            "stack_frame": 0, "shared_bytes": shared, "dynamic_shared": dynamic, "constant_bytes": 0, "barriers": barriers,
        });
        serde_json::from_value(report).unwrap()
    }

    #[test]
    fn each_limit_bounds_the_kernel_that_needs_most_of_it() {
        let of = |gpu: &str, kernel: KernelReport| {
            let Occupancy { blocks, warps, bound } = of(&kernel, &Limits::of(gpu).unwrap());
            (blocks, warps, bound)
        };
        assert_eq!(of("sm_90", kernel(256, 32, 0, 0, 1)), (8, 64, "warps"));
        assert_eq!(of("sm_86", kernel(256, 32, 0, 0, 1)), (6, 48, "warps"));
        assert_eq!(of("sm_90", kernel(32, 16, 0, 0, 1)), (32, 32, "blocks"));
        assert_eq!(of("sm_89", kernel(32, 16, 0, 0, 1)), (24, 24, "blocks"));
        // The guide's own sum: 7 warps in a part, 28 in all, which are 3 blocks of 8.
        assert_eq!(of("sm_90", kernel(256, 72, 0, 0, 1)), (3, 24, "registers"));
        // 9 warps of 168 registers: 3 in a part. With 176 there is room for 2.
        assert_eq!(of("sm_80", kernel(288, 168, 0, 0, 1)), (1, 9, "registers"));
        assert_eq!(of("sm_80", kernel(288, 176, 0, 0, 1)), (0, 0, "registers"));
        // 1024 bytes are the driver's, and the sum is a multiple of 128.
        assert_eq!(of("sm_90", kernel(128, 32, 0, 74 * 1024, 1)), (3, 12, "shared memory"));
        assert_eq!(of("sm_90", kernel(128, 32, 1024, 74 * 1024, 1)), (3, 12, "shared memory"));
        assert_eq!(of("sm_90", kernel(128, 32, 1025, 74 * 1024, 1)), (2, 8, "shared memory"));
        assert_eq!(of("sm_90", kernel(128, 32, 0, 227 * 1024, 1)), (1, 4, "shared memory"));
        assert_eq!(of("sm_90", kernel(128, 32, 1, 227 * 1024, 1)), (0, 0, "shared memory"));
        assert_eq!(of("sm_90", kernel(32, 16, 0, 0, 16)), (4, 4, "barriers"));
    }

    #[test]
    fn architectures_with_a_suffix_have_the_limits_of_their_number() {
        assert_eq!(Limits::of("sm_90a"), Limits::of("sm_90"));
        assert_eq!(Limits::of("sm_100f"), Limits::of("sm_100"));
        for unknown in ["sm_75", "sm_", "90", "compute_90", "sm_9000"] {
            assert_eq!(Limits::of(unknown), None, "{unknown}");
        }
    }

    /// What the driver said on an H100 of each kernel that was measured there, and of its peers.
    #[test]
    fn the_driver_says_the_same_of_every_recorded_kernel() {
        let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/results/2026-11-25-h100-ends/bench.json");
        let record: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
        let mut rows = Vec::new();
        collect(&record, &mut rows);
        let limits = Limits::of("sm_90").unwrap();
        let mut seen = 0;
        for row in rows {
            let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
            let resources = &row["resources"];
            let figures = [&row["threads"], &resources["registers"], &resources["shared_bytes"]].map(number);
            let [Some(threads), Some(registers), Some(shared)] = figures else { continue };
            let expected = number(&resources["blocks_per_multiprocessor"]).unwrap();
            assert_eq!(of(&kernel(threads, registers, shared, 0, 1), &limits).blocks, expected, "{}", row["symbol"]);
            seen += 1;
        }
        assert!(seen > 100, "{seen} kernels");
    }

    /// The objects that have resources.
    fn collect<'a>(value: &'a Value, rows: &mut Vec<&'a Value>) {
        if value["resources"].is_object() {
            rows.push(value);
        }
        match value {
            Value::Array(all) => all.iter().for_each(|one| collect(one, rows)),
            Value::Object(all) => all.values().for_each(|one| collect(one, rows)),
            _ => {}
        }
    }
}
