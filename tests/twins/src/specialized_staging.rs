//! Some threads of a block copy, half of all compute: even and odd ones, or the first warp and the
//! last four.

use tilepipe::entry::RawElements;

use crate::device::{Members, View, wait_all};
use crate::roles::{Division, TILE, run};

/// Threads of a block.
const THREADS: usize = 2 * TILE;
/// Units of 16 bytes that a tile has.
const UNITS: usize = TILE * size_of::<i32>() / 16;

/// Threads of even rank.
const EVEN: Members = Members { first: 0, stride: 2, count: TILE };
/// Threads of odd rank.
const ODD: Members = Members { first: 1, stride: 2, count: TILE };

/// The first threads of even rank copy, one for each unit of a tile; those of odd rank compute.
enum FewEven {}

impl Division for FewEven {
    const COPYING: Members = EVEN;
    const COPIERS: Members = Members { count: UNITS, ..EVEN };
    const COMPUTING: Members = ODD;
}

/// All threads of even rank take the steps of copying; those of odd rank compute.
enum AllEven {}

impl Division for AllEven {
    const COPYING: Members = EVEN;
    const COPIERS: Members = EVEN;
    const COMPUTING: Members = ODD;
}

/// The first warp copies, the last four compute, the three between them do neither.
enum Warps {}

impl Division for Warps {
    const COPYING: Members = Members { first: 0, stride: 1, count: TILE };
    const COPIERS: Members = Members { count: UNITS, ..Self::COPYING };
    const COMPUTING: Members = Members { first: TILE, stride: 1, count: TILE };
}

#[unsafe(export_name = "__tilepipe_bounds__twin_with_specialized_staging_unified__i32_NeighbourSum_CpAsync_256_128_2")]
static EVEN_ODD_2: u32 = THREADS as u32;
#[unsafe(export_name = "__tilepipe_bounds__twin_with_specialized_staging_unified__i32_NeighbourSum_CpAsync_256_128_4")]
static EVEN_ODD_4: u32 = THREADS as u32;
#[unsafe(export_name = "__tilepipe_bounds__twin_with_specialized_staging_warps__i32_NeighbourSum_CpAsync_256_128_128_4")]
static WARPS_4: u32 = THREADS as u32;

/// Even threads copy to two stages, odd ones compute.
///
/// # Safety
///
/// A launch with blocks of `2 * TILE` threads, the dynamic shared memory of two stages, and an
/// input and an output in `input` and `out`.
#[unsafe(export_name = "twin_with_specialized_staging_unified__i32_NeighbourSum_CpAsync_256_128_2")]
unsafe extern "C" fn even_odd_2(input: RawElements, out: RawElements) {
    // SAFETY: the whole block makes this call.
    unsafe { run::<FewEven, 2>(View::new(input), || View::new(out)) };
    wait_all();
}

/// As [`even_odd_2`] with four stages.
///
/// # Safety
///
/// As for [`even_odd_2`].
#[unsafe(export_name = "twin_with_specialized_staging_unified__i32_NeighbourSum_CpAsync_256_128_4")]
unsafe extern "C" fn even_odd_4(input: RawElements, out: RawElements) {
    // SAFETY: the whole block makes this call.
    unsafe { run::<AllEven, 4>(View::new(input), || View::new(out)) };
    wait_all();
}

/// One warp copies to four stages, four compute.
///
/// # Safety
///
/// As for [`even_odd_2`].
#[unsafe(export_name = "twin_with_specialized_staging_warps__i32_NeighbourSum_CpAsync_256_128_128_4")]
unsafe extern "C" fn warps_4(input: RawElements, out: RawElements) {
    // SAFETY: the whole block makes this call.
    unsafe { run::<Warps, 4>(View::new(input), || View::new(out)) };
    wait_all();
}
