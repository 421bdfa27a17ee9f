//! One stage of a matrix's tiles, whose columns become rows; four elements a thread.

use tilepipe::entry::RawRows;

use crate::device::{
    I32x4, Store, THREADS, barrier, commit, copy_unit, counted_in_32_bits, rank, shared_base, wait_all, wait_group,
};
use crate::rows::Matrix;

/// Elements of a thread, in a row.
const OWN: usize = 4;
/// Rows and columns of a tile.
const SIDE: usize = 32;
/// Elements from one row's start to the next one's in the stage.
const PITCH: usize = SIDE + 1;

#[unsafe(export_name = "__tilepipe_bounds__twin_transpose_wide__i32_256_32_32_1_1")]
static REQUIRED_THREADS: u32 = THREADS as u32;

/// The transpose.
///
/// # Safety
///
/// A launch with blocks of `THREADS` threads, a stage of dynamic shared memory, and an input with
/// the output's sizes exchanged.
#[unsafe(export_name = "twin_transpose_wide__i32_256_32_32_1_1")]
unsafe extern "C" fn transpose_wide(input: RawRows, out: RawRows) {
    let (input, out) = (Matrix::<SIDE, SIDE>::new(input), Matrix::<SIDE, SIDE>::new(out));
    let count = counted_in_32_bits(out.tiles());
    for index in 0..count {
        // SAFETY: every thread takes the same way, so each barrier is the block's. The stage is
        // filled after the barrier that follows its last read, and read after its copies were
        // waited for. The input has the tile at the exchanged place.
        unsafe {
            barrier();
            let (row, column) = out.place(index as usize);
            fill(&input, (column, row));
            wait_group::<0>();
            barrier();
            write(shared_base().cast_const().cast(), &out, out.place(index as usize));
        }
    }
    wait_all();
}

/// Fills the stage with the tile at a place, and closes the group.
///
/// # Safety
///
/// The input has such a tile. Nobody reads the stage.
#[inline(always)]
unsafe fn fill(input: &Matrix<SIDE, SIDE>, place: (usize, usize)) {
    let (first, rows, columns) = input.tile(place);
    let (first, below, end) = (first.cast_const().cast::<u8>(), rows as u32, (columns * 4) as u32);
    let mut unit = rank();
    while unit < SIDE * SIDE {
        let (row, offset) = (unit / SIDE, unit % SIDE * 4);
        let bytes = if row as u32 >= below { 0 } else { end.saturating_sub(offset as u32).min(4) };
        let from = first.wrapping_add(row * (input.pitch * 4)).wrapping_add(offset);
        // SAFETY: the element lies in the stage; `bytes` of it are readable for the whole launch.
        unsafe { copy_unit::<false, false>(shared_base().add(row * (PITCH * 4) + offset), from, bytes) };
        unit += THREADS;
    }
    commit();
}

/// Writes the calling thread's elements of the output's tile at a place, those that lie in it.
///
/// # Safety
///
/// `tile` is the landed tile of the input at the exchanged place, in shared memory that nobody
/// writes. The output has the tile, which this block alone writes.
#[inline(always)]
unsafe fn write(tile: *const i32, out: &Matrix<SIDE, SIDE>, place: (usize, usize)) {
    let (first, rows, columns) = out.tile(place);
    let element = rank() * OWN;
    let (row, column) = (element / SIDE, element % SIDE);
    // SAFETY: the places lie in the tile, those that are written in the view too; four elements in
    // a row are aligned to 16 bytes, as the view's rows are.
    unsafe {
        let value = |lane: usize| *tile.add((column + lane) * PITCH + row);
        let to = first.wrapping_add(row * out.pitch).wrapping_add(column);
        if row < rows && column + OWN <= columns {
            I32x4([value(0), value(1), value(2), value(3)]).store(to.cast());
        } else {
            for lane in 0..OWN {
                if row < rows && column + lane < columns {
                    value(lane).store(to.add(lane));
                }
            }
        }
    }
}
