//! The role that multiplies.

use core::arch::asm;
use core::f32::consts::LN_2;
use core::mem::MaybeUninit;

use tilepipe::entry::RawRows;

use super::group::{Group, first_sum};
use super::instance::{ALL, Band, Instance, PANEL, ROW_BYTES, SLICE, SLICE_BYTES, UNIT, WARPGROUP, WINDOW};
use super::instructions::{
    tilepipe_bulk_commit_group, tilepipe_bulk_wait_all, tilepipe_rank_here, tilepipe_reciprocal, tilepipe_role_barrier,
    tilepipe_rounded_bf16, tilepipe_shared_origin, tilepipe_store_matrices, tilepipe_tensor_store_4d,
    tilepipe_thread_rank, tilepipe_warp_barrier, tilepipe_warp_value,
};
use super::places::{Extents, Maps, Places, Turn, descriptor, quotient};
use crate::device::{shared_base, tilepipe_fence_proxy_async, tilepipe_mbarrier_arrive, tilepipe_mbarrier_wait};

/// Computes the block's tiles, in the warpgroup of this number.
///
/// # Safety
///
/// All threads of the warpgroup, with the parameters of the launch.
#[inline(always)]
pub(super) unsafe fn compute<I: Instance>(maps: Maps, scale: f32, band: Band, logarithms: *const RawRows, number: u32) {
    // SAFETY: the caller's promises.
    let extents = unsafe { Extents::new::<I>(maps) };
    let in_group = tilepipe_thread_rank() % WARPGROUP;
    let places = Places { origin: tilepipe_warp_value(tilepipe_shared_origin()) };
    let mut scores = MaybeUninit::<I::Scores>::uninit();
    let mut weights = MaybeUninit::<I::Weights>::uninit();
    let mut sums = MaybeUninit::<I::Sums>::uninit();
    let first_turn = Turn { stage: 0, parity: 0 };
    let mut group = Group::<I> {
        places,
        number,
        is_first: in_group == 0,
        scale,
        scores: scores.as_mut_ptr().cast(),
        weights: weights.as_mut_ptr().cast(),
        sums: sums.as_mut_ptr().cast(),
        of_keys: descriptor(places.origin, UNIT),
        of_values: descriptor(places.origin + Places::values::<I>(), I::KEYS * ROW_BYTES),
        keys: first_turn,
        values: first_turn,
        largest: [0.0; 2],
        offset: [0.0; 2],
        total: [0.0; 2],
        instance: core::marker::PhantomData,
    };
    let own_queries = Places::queries::<I>() + number * SLICE_BYTES;
    let of_queries = descriptor(places.origin + own_queries, UNIT);
    let (own, last) = (number * SLICE, number * SLICE + SLICE - 1);
    let mut turn = first_turn;
    let mut round = 0;
    while extents.tiles.has(round) {
        let (row, matrix) = extents.tiles.place::<I>(round);
        let seen = extents.seen::<I>(row, band);
        let ((start, end), (own_start, own_end)) = (seen.tiles::<I>(0, I::ROWS - 1), seen.tiles::<I>(own, last));
        let (whole_start, whole_end) = seen.whole_tiles::<I>(own, last);
        let further = turn.stage * I::QUERY_BYTES;
        let queries = of_queries + u64::from(further / UNIT);
        // SAFETY: the caller's promises; all of the warpgroup's threads go the same way.
        unsafe {
            tilepipe_mbarrier_wait(places.query_full::<I>(turn.stage), turn.parity);
            if I::MASK != ALL {
                group.skip(end - own_end);
            }
            let mut tile = own_end - 1;
            group.begin(queries, &seen, tile);
            if I::QUERIES > 1 && round != 0 && group.is_first {
                // The results of the tile before are stored from its queries.
                asm!("cp.async.bulk.wait_group.read 0;", options(nostack));
                tilepipe_mbarrier_arrive(places.query_empty::<I>(turn.stage ^ 1));
            }
            // Products are taken by whole warps.
            tilepipe_warp_barrier();
            if I::MASK != ALL {
                while tile > own_start && tile > whole_end {
                    tile -= 1;
                    group.go_on::<true>(queries, &seen, tile);
                }
            }
            let until = if I::MASK == WINDOW { own_start.max(whole_start) } else { own_start };
            while tile > until {
                tile -= 1;
                group.go_on::<false>(queries, &seen, tile);
            }
            if I::MASK == WINDOW {
                while tile > own_start {
                    tile -= 1;
                    group.go_on::<true>(queries, &seen, tile);
                }
            }
            group.end();
            if I::MASK == WINDOW {
                group.skip(own_start - start);
            }
            let sequence = quotient(matrix, extents.heads);
            let head = matrix - sequence * extents.heads;
            write_logarithms(&group, logarithms, matrix, extents.first::<I>(row) + own as i32);
            // So are matrices.
            tilepipe_warp_barrier();
            let inverse = group.total.map(|total| if total > 0.0 { tilepipe_reciprocal(total) } else { 0.0 });
            // The row that the thread addresses of four matrices, and by what its pieces are
            // swapped.
            let in_group = tilepipe_rank_here(tilepipe_thread_rank()) % WARPGROUP;
            let row_of_slice = in_group / 32 * 16 + in_group % 16;
            let (piece, swap) = (in_group % 32 / 16, row_of_slice % 8);
            let to_row = places.origin + own_queries + further + row_of_slice * ROW_BYTES;
            for sixteen in 0..I::HEAD / 16 {
                let pair = |nth: u32| {
                    let at = group.sums.add((8 * sixteen + 2 * nth) as usize);
                    let by = inverse[(nth % 2) as usize];
                    tilepipe_rounded_bf16(*at * by, *at.add(1) * by)
                };
                let (panel, in_panel) = (sixteen / 4 * I::ROWS * ROW_BYTES, sixteen % 4 * 2);
                let to = to_row + panel + (((in_panel + piece) ^ swap) << 4);
                tilepipe_store_matrices(to, pair(0), pair(1), pair(2), pair(3));
            }
            tilepipe_fence_proxy_async();
            tilepipe_role_barrier(1 + number, WARPGROUP);
            // The engine fails at a store that begins in front of the matrix.
            if group.is_first && (!I::FROM_END || extents.first::<I>(row) + own as i32 >= 0) {
                for panel in 0..I::HEAD / PANEL {
                    let from =
                        shared_base().wrapping_add((own_queries + further + panel * I::ROWS * ROW_BYTES) as usize);
                    let (column, row) = ((panel * PANEL) as i32, extents.first::<I>(row) + own as i32);
                    tilepipe_tensor_store_4d(maps.out.cast(), column, row, head as i32, sequence as i32, from);
                }
                tilepipe_bulk_commit_group();
                if I::QUERIES == 1 {
                    asm!("cp.async.bulk.wait_group.read 0;", options(nostack));
                    tilepipe_mbarrier_arrive(places.query_empty::<I>(0));
                }
            }
        }
        turn = turn.after(I::QUERIES);
        round += 1;
    }
    if group.is_first {
        tilepipe_bulk_wait_all();
    }
}

/// Writes the logarithms of the sums of weights, if the launch has a place for them.
///
/// # Safety
///
/// The sums are those of the rows of a matrix from `first` on.
#[inline(always)]
pub(super) unsafe fn write_logarithms<I: Instance>(
    group: &Group<I>,
    logarithms: *const RawRows,
    matrix: u32,
    first: i32,
) {
    // SAFETY: a parameter of the kernel.
    let RawRows { address, width, height, pitch } = unsafe { *logarithms };
    let (own, column) = first_sum();
    if width == 0 || height == 0 || column != 0 {
        return;
    }
    let of_matrix = (address as *mut f32).wrapping_add(matrix as usize * pitch as usize);
    for nth in 0..2 {
        // Rows in front of the matrix are above all others.
        let (row, total) = ((first + (own + 8 * nth as u32) as i32) as u32, group.total[nth]);
        let logarithm: f32;
        // SAFETY: no effect but the result.
        unsafe {
            asm!("lg2.approx.ftz.f32 {}, {};", out(reg32) logarithm, in(reg32) total, options(pure, nomem, nostack));
        }
        let value = (group.largest[nth] * group.scale + logarithm) * LN_2;
        if u64::from(row) < width {
            // SAFETY: the row is one of the matrix, and one thread has its first sum.
            unsafe { of_matrix.wrapping_add(row as usize).write(if total > 0.0 { value } else { f32::NEG_INFINITY }) };
        }
    }
}
