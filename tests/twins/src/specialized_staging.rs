//! Half of a block's threads copy, the others compute: even and odd ones, or the first four warps and the others.

use core::hint::assert_unchecked;

use tilepipe::entry::RawParameter;

use crate::device::{View, rank, wait_all};
use crate::roles::{Division, TILE, run};

/// Threads of even rank copy.
enum EvenOdd {}

impl Division for EvenOdd {
    const WARPS: bool = false;

    #[inline(always)]
    fn copies() -> bool {
        rank().is_multiple_of(2)
    }

    #[inline(always)]
    fn copying_rank() -> usize {
        rank() / 2
    }

    #[inline(always)]
    fn computing_rank() -> usize {
        rank() / 2
    }
}

/// The first `TILE` threads copy.
enum Warps {}

impl Division for Warps {
    const WARPS: bool = true;

    #[inline(always)]
    fn copies() -> bool {
        rank() < TILE
    }

    #[inline(always)]
    fn copying_rank() -> usize {
        rank()
    }

    #[inline(always)]
    fn computing_rank() -> usize {
        let rank = rank();
        // SAFETY: the others copy.
        unsafe { assert_unchecked(rank >= TILE) };
        rank - TILE
    }
}

#[unsafe(export_name = "__tilepipe_threads__with_specialized_staging_unified__i32_NeighbourSum_CpAsync_256_128_2")]
static EVEN_ODD_2: u32 = 2 * TILE as u32;
#[unsafe(export_name = "__tilepipe_threads__with_specialized_staging_unified__i32_NeighbourSum_CpAsync_256_128_4")]
static EVEN_ODD_4: u32 = 2 * TILE as u32;
#[unsafe(export_name = "__tilepipe_threads__with_specialized_staging_warps__i32_NeighbourSum_CpAsync_256_128_128_4")]
static WARPS_4: u32 = 2 * TILE as u32;

/// Even threads copy to two stages, odd ones compute.
///
/// # Safety
///
/// A launch with blocks of `2 * TILE` threads, the dynamic shared memory of two stages, and an input and an output in `input` and `out`.
#[unsafe(export_name = "with_specialized_staging_unified__i32_NeighbourSum_CpAsync_256_128_2")]
unsafe extern "C" fn even_odd_2(input: RawParameter, out: RawParameter) {
    // SAFETY: the whole block makes this call.
    unsafe { run::<EvenOdd, 2>(View::new(input), || View::new(out)) };
    wait_all();
}

/// As [`even_odd_2`] with four stages.
///
/// # Safety
///
/// As for [`even_odd_2`].
#[unsafe(export_name = "with_specialized_staging_unified__i32_NeighbourSum_CpAsync_256_128_4")]
unsafe extern "C" fn even_odd_4(input: RawParameter, out: RawParameter) {
    // SAFETY: the whole block makes this call.
    unsafe { run::<EvenOdd, 4>(View::new(input), || View::new(out)) };
    wait_all();
}

/// Four warps copy to four stages, four compute.
///
/// # Safety
///
/// As for [`even_odd_2`].
#[unsafe(export_name = "with_specialized_staging_warps__i32_NeighbourSum_CpAsync_256_128_128_4")]
unsafe extern "C" fn warps_4(input: RawParameter, out: RawParameter) {
    // SAFETY: the whole block makes this call.
    unsafe { run::<Warps, 4>(View::new(input), || View::new(out)) };
    wait_all();
}
