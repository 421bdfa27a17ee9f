//! The role that has the copy engine load tiles.

use core::arch::asm;

use tilepipe::entry::RawTensor;

use super::instance::{Band, Instance, PANEL, READ_AGAIN, READ_ONCE, ROW_BYTES};
use super::instructions::tilepipe_shared_origin;
use super::places::{Extents, Maps, Places, Turn, quotient};
use crate::device::{tilepipe_mbarrier_arrive_expect_tx, tilepipe_mbarrier_wait};

/// Has the copy engine load the tiles.
///
/// # Safety
///
/// One thread, with the parameters of the launch.
#[inline(always)]
pub(super) unsafe fn copy<I: Instance>(maps: Maps, band: Band) {
    // SAFETY: the caller's promises.
    let extents = unsafe { Extents::new::<I>(maps) };
    // SAFETY: as above.
    let shared_by = quotient(extents.heads, unsafe { (*maps.keys).outer[0] });
    let places = Places { origin: tilepipe_shared_origin() };
    let mut of_queries = Turn { stage: 0, parity: 1 };
    let (mut of_keys, mut of_values) = (of_queries, of_queries);
    let mut round = 0;
    while extents.tiles.has(round) {
        let (row, matrix) = extents.tiles.place::<I>(round);
        let sequence = quotient(matrix, extents.heads);
        let head = matrix - sequence * extents.heads;
        let place = |row: i32, head: u32| [row, head as i32, sequence as i32];
        let of_key = quotient(head, shared_by);
        let (start, end) = extents.seen::<I>(row, band).tiles::<I>(0, I::ROWS - 1);
        // SAFETY: a stage is free after the wait for it; those who read it wait for its bytes,
        // which are announced.
        unsafe {
            let mut load_keys = |tile: u32| {
                let Turn { stage, parity } = of_keys;
                let full = places.key_full::<I>(stage);
                tilepipe_mbarrier_wait(places.key_empty::<I>(stage), parity);
                tilepipe_mbarrier_arrive_expect_tx(full, I::KEY_BYTES);
                let to = places.origin + stage * I::KEY_BYTES;
                load::<I>(to, maps.keys, place((tile * I::KEYS) as i32, of_key), full, I::KEYS, READ_AGAIN);
                of_keys = of_keys.after(I::STAGES);
            };
            let mut load_values = |tile: u32| {
                let Turn { stage, parity } = of_values;
                let full = places.value_full::<I>(stage);
                tilepipe_mbarrier_wait(places.value_empty::<I>(stage), parity);
                tilepipe_mbarrier_arrive_expect_tx(full, I::KEY_BYTES);
                let to = places.origin + Places::values::<I>() + stage * I::KEY_BYTES;
                load::<I>(to, maps.values, place((tile * I::KEYS) as i32, of_key), full, I::KEYS, READ_AGAIN);
                of_values = of_values.after(I::STAGES);
            };
            let mut tile = end - 1;
            load_keys(tile);
            let Turn { stage, parity } = of_queries;
            let full = places.query_full::<I>(stage);
            tilepipe_mbarrier_wait(places.query_empty::<I>(stage), parity);
            tilepipe_mbarrier_arrive_expect_tx(full, I::QUERY_BYTES);
            let to = places.origin + Places::queries::<I>() + stage * I::QUERY_BYTES;
            load::<I>(to, maps.queries, place(extents.first::<I>(row), head), full, I::ROWS, READ_ONCE);
            of_queries = of_queries.after(I::QUERIES);
            while tile > start {
                load_keys(tile - 1);
                load_values(tile);
                tile -= 1;
            }
            load_values(tile);
        }
        round += 1;
    }
}

/// Copies the panels of a tile of so many rows.
///
/// # Safety
///
/// The stage at `to` is free, and its bytes were announced at the mbarrier.
#[inline(always)]
pub(super) unsafe fn load<I: Instance>(
    to: u32,
    map: *const RawTensor,
    [row, plane, fourth]: [i32; 3],
    full: u32,
    rows: u32,
    kept: u64,
) {
    for panel in 0..I::HEAD / PANEL {
        // SAFETY: the caller's promises.
        unsafe {
            asm!(
                "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint \
                 [{to}], [{map}, {{{column}, {row}, {plane}, {fourth}}}], [{full}], {kept};",
                to = in(reg32) to + panel * rows * ROW_BYTES,
                map = in(reg64) map,
                column = in(reg32) panel * PANEL,
                row = in(reg32) row,
                plane = in(reg32) plane,
                fourth = in(reg32) fourth,
                full = in(reg32) full,
                kept = in(reg64) kept,
                options(nostack)
            );
        }
    }
}
