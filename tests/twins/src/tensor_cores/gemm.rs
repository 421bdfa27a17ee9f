//! The matrix product by tensor cores, of `bf16` and of `f16`, with both factors along K.
//!
//! It does what `gemm` does, in the form that was the fastest by hand: a warpgroup says with one
//! arrival that it has read a stage, nobody asks whether the other role has left, and the place of
//! a tile is computed before its product.

use core::arch::asm;
use core::mem::MaybeUninit;

use tilepipe::entry::RawTensor;

use crate::device::{
    barrier, barrier_address, block_index, grid_blocks, rank, shared_base, tilepipe_fence_mbarrier_init,
    tilepipe_fence_proxy_async, tilepipe_mbarrier_arrive, tilepipe_mbarrier_arrive_expect_tx, tilepipe_mbarrier_init,
    tilepipe_mbarrier_wait,
};

unsafe extern "C" {
    safe fn tilepipe_warp_value(value: u32) -> u32;
    safe fn tilepipe_shared_origin() -> u32;
    safe fn tilepipe_rounded_bf16(low: f32, high: f32) -> u32;
    safe fn tilepipe_rounded_f16(low: f32, high: f32) -> u32;
    safe fn tilepipe_bulk_commit_group();
    safe fn tilepipe_bulk_wait_all();
    safe fn tilepipe_product_commit();
    fn tilepipe_role_barrier(id: u32, threads: u32);
    fn tilepipe_store_matrices(to: u32, first: u32, second: u32, third: u32, fourth: u32);
    fn tilepipe_tensor_copy_2d(to: *mut u8, map: *const u8, column: i32, row: i32, barrier: u32);
    fn tilepipe_tensor_store_2d(map: *const u8, column: i32, row: i32, from: *const u8);
}

/// Threads of a block, one block a multiprocessor, any registers, and parameters that are maps.
const BOUNDS: [u32; 4] = [THREADS, 1, u32::MAX, size_of::<RawTensor>() as u32];
/// Threads of a block: a warp that copies, three that do nothing, and two warpgroups.
const THREADS: u32 = 384;
/// Threads of a warpgroup.
const WARPGROUP: u32 = 128;
/// Rows of a tile, and elements along K of a stage.
const ROWS: u32 = 128;
const DEEP: u32 = 64;
/// Products of so many stages at most let the next kernel start early.
const SHORT: u32 = 32;
/// Rows of tiles that are walked down before the next column.
const GROUP: u32 = 8;
/// Rows and columns that a warpgroup stores at once, and their bytes.
const SLICE: u32 = 64;
const SLICE_BYTES: u32 = SLICE * SLICE * 2;
/// Output stages of both warpgroups.
const OUT: u32 = 2;

/// The instructions of products of some width and type.
trait Width {
    const COLUMNS: u32;
    const STAGES: u32;
    type Sums;
    unsafe fn multiply(sums: *mut f32, a: u64, b: u64, add: u32);
    unsafe fn fence(sums: *mut f32);
    unsafe fn wait_but_one(sums: *mut f32);
    unsafe fn wait(sums: *mut f32);
    /// Two sums, rounded to the type.
    fn rounded(low: f32, high: f32) -> u32;
}

macro_rules! width {
    ($name:ident, $element:literal, $rounded:ident, $columns:literal, $stages:literal) => {
        enum $name {}

        const _: () = {
            unsafe extern "C" {
                #[link_name = concat!("tilepipe_product_", $element, "_n", $columns, "_kk")]
                fn multiply(sums: *mut f32, a: u64, b: u64, add: u32);
                #[link_name = concat!("tilepipe_product_fence_n", $columns)]
                fn fence(sums: *mut f32);
                #[link_name = concat!("tilepipe_product_wait1_n", $columns)]
                fn wait_but_one(sums: *mut f32);
                #[link_name = concat!("tilepipe_product_wait0_n", $columns)]
                fn wait(sums: *mut f32);
            }

            impl Width for $name {
                const COLUMNS: u32 = $columns;
                const STAGES: u32 = $stages;
                type Sums = [f32; $columns / 2];
                #[inline(always)]
                unsafe fn multiply(sums: *mut f32, a: u64, b: u64, add: u32) {
                    // SAFETY: the caller's promises.
                    unsafe { multiply(sums, a, b, add) };
                }
                #[inline(always)]
                unsafe fn fence(sums: *mut f32) {
                    // SAFETY: the caller's promises.
                    unsafe { fence(sums) };
                }
                #[inline(always)]
                unsafe fn wait_but_one(sums: *mut f32) {
                    // SAFETY: the caller's promises.
                    unsafe { wait_but_one(sums) };
                }
                #[inline(always)]
                unsafe fn wait(sums: *mut f32) {
                    // SAFETY: the caller's promises.
                    unsafe { wait(sums) };
                }
                #[inline(always)]
                fn rounded(low: f32, high: f32) -> u32 {
                    $rounded(low, high)
                }
            }

            #[unsafe(export_name = concat!(
                                "__tilepipe_bounds__twin_gemm__", $element, "_Along_Along_Swizzle128_", $columns,
                                "_64_", $stages, "_2"
                            ))]
            static BOUNDS_OF_WIDTH: [u32; 4] = BOUNDS;

            /// The product in tiles of this width.
            ///
            /// # Safety
            ///
            /// A launch with blocks of `THREADS` threads and the dynamic shared memory of `gemm`,
            /// with the maps of its factors in `a` and `b`, and of its product in `out`.
            #[unsafe(export_name = concat!(
                                "twin_gemm__", $element, "_Along_Along_Swizzle128_", $columns, "_64_", $stages, "_2"
                            ))]
            unsafe extern "C" fn entry(a: *const RawTensor, b: *const RawTensor, out: *const RawTensor) {
                // SAFETY: the caller's promises.
                unsafe { gemm::<$name>(a, b, out) };
            }
        };
    };
}
width!(Bf16Of256, "bf16", tilepipe_rounded_bf16, 256, 4);
width!(Bf16Of224, "bf16", tilepipe_rounded_bf16, 224, 4);
width!(Bf16Of192, "bf16", tilepipe_rounded_bf16, 192, 4);
width!(Bf16Of176, "bf16", tilepipe_rounded_bf16, 176, 5);
width!(Bf16Of168, "bf16", tilepipe_rounded_bf16, 168, 5);
width!(Bf16Of128, "bf16", tilepipe_rounded_bf16, 128, 6);
width!(Bf16Of64, "bf16", tilepipe_rounded_bf16, 64, 8);
width!(F16Of256, "f16", tilepipe_rounded_f16, 256, 4);
width!(F16Of224, "f16", tilepipe_rounded_f16, 224, 4);
width!(F16Of192, "f16", tilepipe_rounded_f16, 192, 4);
width!(F16Of176, "f16", tilepipe_rounded_f16, 176, 5);
width!(F16Of168, "f16", tilepipe_rounded_f16, 168, 5);
width!(F16Of128, "f16", tilepipe_rounded_f16, 128, 6);
width!(F16Of64, "f16", tilepipe_rounded_f16, 64, 8);

/// The tiles of the product.
struct Tiles {
    down: u32,
    across: u32,
}

impl Tiles {
    /// The row and the column of a tile among the tiles.
    #[inline(always)]
    fn place(&self, number: u32) -> (u32, u32) {
        let of_group = GROUP * self.across;
        let group = number / of_group;
        let in_group = number - group * of_group;
        let rows = (self.down - group * GROUP).min(GROUP);
        let column = in_group / rows;
        (group * GROUP + (in_group - column * rows), column)
    }
}

/// The descriptor of an operand with rows of 128 bytes that begins there.
#[inline(always)]
fn descriptor(address: u32) -> u64 {
    u64::from((address & 0x3_FFFF) >> 4) | 1 << 16 | 64 << 32 | 1 << 62
}

/// # Safety
///
/// As for the entries ([`width`]).
#[inline(always)]
unsafe fn gemm<W: Width>(a: *const RawTensor, b: *const RawTensor, out: *const RawTensor) {
    let stage_bytes = 2 * DEEP * (ROWS + W::COLUMNS);
    let outputs = W::STAGES * stage_bytes;
    let barriers = outputs + OUT * 2 * SLICE_BYTES;
    let full = barrier_address(barriers as usize);
    let empty = full + 8 * W::STAGES;
    let rank = rank() as u32;
    // SAFETY: the maps are parameters of the kernel.
    let (rows, columns, deep) = unsafe { ((*out).rows, (*out).columns, (*a).columns) };
    let tiles = Tiles { down: rows.div_ceil(ROWS), across: columns.div_ceil(W::COLUMNS) };
    let (all, steps) = (tiles.down * tiles.across, deep.div_ceil(DEEP));
    let (first, stride) = (block_index() as u32, grid_blocks() as u32);
    if steps <= SHORT {
        // SAFETY: the builder makes the next kernel wait.
        unsafe { asm!("griddepcontrol.launch_dependents;", options(nostack)) };
    }
    if rank == 0 {
        for stage in 0..W::STAGES {
            // SAFETY: two words for each stage behind the output stages.
            unsafe {
                tilepipe_mbarrier_init(full + 8 * stage, 1);
                tilepipe_mbarrier_init(empty + 8 * stage, 2);
            }
        }
        tilepipe_fence_mbarrier_init();
        tilepipe_fence_proxy_async();
    }
    // SAFETY: all threads are here.
    unsafe { barrier() };
    let group = tilepipe_warp_value(rank / WARPGROUP);
    if group == 0 {
        if rank != 0 {
            return;
        }
        let (mut stage, mut parity, mut number) = (0, 1, first);
        while number < all {
            let (row, column) = tiles.place(number);
            let (row, column) = ((row * ROWS) as i32, (column * W::COLUMNS) as i32);
            for step in 0..steps {
                let along = (step * DEEP) as i32;
                let to = shared_base().wrapping_add((stage * stage_bytes) as usize);
                // SAFETY: the stage is free after the wait; the consumers read it after the copies,
                // whose bytes are announced.
                unsafe {
                    tilepipe_mbarrier_wait(empty + 8 * stage, parity);
                    tilepipe_mbarrier_arrive_expect_tx(full + 8 * stage, stage_bytes);
                    tilepipe_tensor_copy_2d(to, a.cast(), along, row, full + 8 * stage);
                    let to = to.wrapping_add((2 * DEEP * ROWS) as usize);
                    tilepipe_tensor_copy_2d(to, b.cast(), along, column, full + 8 * stage);
                }
                (stage, parity) = if stage + 1 == W::STAGES { (0, parity ^ 1) } else { (stage + 1, parity) };
            }
            number += stride;
        }
        return;
    }
    let group = group - 1;
    let in_group = rank % WARPGROUP;
    let is_first = in_group == 0;
    let origin = tilepipe_warp_value(tilepipe_shared_origin());
    let of_a = descriptor(origin + group * 2 * DEEP * SLICE);
    let of_b = descriptor(origin + 2 * DEEP * ROWS);
    // The row that the thread addresses of four matrices, and by what its pieces are swapped.
    let row_of_slice = in_group / 32 * 16 + in_group % 16;
    let (piece, swap) = (in_group % 32 / 16, row_of_slice % 8);
    let own_outputs = outputs + group * OUT * SLICE_BYTES;
    let to_row = origin + own_outputs + row_of_slice * 128;
    let mut sums = MaybeUninit::<W::Sums>::uninit();
    let sums = sums.as_mut_ptr().cast::<f32>();
    let (mut stage, mut parity, mut number) = (0, 0, first);
    while number < all {
        let (row, column) = tiles.place(number);
        let mut before = 0;
        for step in 0..steps {
            let further = u64::from(stage * (stage_bytes / 16));
            let (from_a, from_b) = (of_a + further, of_b + further);
            // SAFETY: the stage's copies have landed after the wait; the sums stay in registers;
            // the stage before goes back when its product is complete.
            unsafe {
                tilepipe_mbarrier_wait(full + 8 * stage, parity);
                W::fence(sums);
                W::multiply(sums, from_a, from_b, u32::from(step != 0));
                W::multiply(sums, from_a + 2, from_b + 2, 1);
                W::multiply(sums, from_a + 4, from_b + 4, 1);
                W::multiply(sums, from_a + 6, from_b + 6, 1);
                tilepipe_product_commit();
                W::wait_but_one(sums);
                if step != 0 && is_first {
                    tilepipe_mbarrier_arrive(empty + 8 * before);
                }
            }
            before = stage;
            (stage, parity) = if stage + 1 == W::STAGES { (0, parity ^ 1) } else { (stage + 1, parity) };
        }
        // SAFETY: as above.
        unsafe {
            W::wait(sums);
            if is_first {
                tilepipe_mbarrier_arrive(empty + 8 * before);
            }
        }
        for panel in 0..W::COLUMNS.div_ceil(SLICE) {
            let slot = panel % OUT * SLICE_BYTES;
            // The last one begins earlier where they do not divide the tile.
            let first = (panel * SLICE).min(W::COLUMNS - SLICE);
            // SAFETY: the thread's sums of a panel, to places of its own in an output stage that
            // the engine has read; it reads them after the fence and the barrier.
            unsafe {
                if is_first {
                    asm!("cp.async.bulk.wait_group.read 1;", options(nostack));
                }
                tilepipe_role_barrier(group + 1, WARPGROUP);
                for four in 0..SLICE / 16 {
                    let pair = |nth: u32| {
                        let at = sums.add((first / 2 + four * 8 + 2 * nth) as usize);
                        W::rounded(*at, *at.add(1))
                    };
                    let to = to_row + slot + (((2 * four + piece) ^ swap) << 4);
                    tilepipe_store_matrices(to, pair(0), pair(1), pair(2), pair(3));
                }
                tilepipe_fence_proxy_async();
                tilepipe_role_barrier(group + 1, WARPGROUP);
                if is_first {
                    let from = shared_base().wrapping_add((own_outputs + slot) as usize);
                    let (column, row) = (column * W::COLUMNS + first, row * ROWS + group * SLICE);
                    tilepipe_tensor_store_2d(out.cast(), column as i32, row as i32, from);
                    tilepipe_bulk_commit_group();
                }
            }
        }
        number += stride;
    }
    if is_first {
        tilepipe_bulk_wait_all();
    }
}
