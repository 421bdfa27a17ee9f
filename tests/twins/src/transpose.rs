//! One stage of a matrix's tiles, whose columns become rows; a square of 4 by 4 elements a thread.

use tilepipe::entry::RawRows;

use crate::device::{
    I32x4, Store, THREADS, barrier, commit, copy_unit, out_of_range, rank, shared_base, wait_all, wait_group,
};
use crate::rows::Matrix;

/// Rows and columns of a thread's square, and elements of a unit that is copied.
const OWN: usize = 4;
/// Rows and columns of a tile.
const SIDE: usize = 64;
/// Elements from one row's start to the next one's in the stage.
const PITCH: usize = SIDE + OWN;
/// Units of a row.
const UNITS: usize = SIDE / OWN;

#[unsafe(export_name = "__tilepipe_bounds__twin_transpose_wide__i32_256_64_64_4_1")]
static REQUIRED_THREADS: u32 = THREADS as u32;

/// The transpose.
///
/// # Safety
///
/// A launch with blocks of `THREADS` threads, a stage of dynamic shared memory, and an input with
/// the output's sizes exchanged.
#[unsafe(export_name = "twin_transpose_wide__i32_256_64_64_4_1")]
unsafe extern "C" fn transpose_wide(input: RawRows, out: RawRows) {
    let (input, out) = (Matrix::<SIDE, SIDE>::new(input), Matrix::<SIDE, SIDE>::new(out));
    if out.tiles() < input.tiles() {
        out_of_range(out.all(), input.all());
    }
    let is_whole = input.height.is_multiple_of(SIDE) && out.width.is_multiple_of(SIDE);
    let whole = if is_whole { (input.width / SIDE).min(out.height / SIDE) * (out.width / SIDE) } else { 0 };
    // SAFETY: every thread takes the same way. The input has as many tiles, at the exchanged
    // places; those below `whole` lie in both views as a whole.
    unsafe {
        let (index, number) = rounds::<true>(&input, &out, (0, out.first()), whole.min(out.all()));
        rounds::<false>(&input, &out, (index, number), out.all());
    }
    wait_all();
}

/// Writes the block's tiles from `index` on whose numbers among all of the view's are below `end`,
/// and returns which ones are next.
///
/// # Safety
///
/// All threads of the block make this call. The input has tiles at the exchanged places, and if
/// `WHOLE` all of them lie in both views.
#[inline(always)]
unsafe fn rounds<const WHOLE: bool>(
    input: &Matrix<SIDE, SIDE>,
    out: &Matrix<SIDE, SIDE>,
    (mut index, mut number): (usize, usize),
    end: usize,
) -> (usize, usize) {
    if number < end {
        // SAFETY: every thread takes the same way, so each barrier is the block's. The stage is
        // filled after the barrier that follows its last read, and read after its copies were
        // waited for. The input has the tile at the exchanged place.
        unsafe {
            if index > 0 {
                barrier();
            }
            fill::<WHOLE>(input, out.place(index));
            loop {
                wait_group::<0>();
                barrier();
                write::<WHOLE>(shared_base().cast_const().cast(), out, out.place(index));
                (index, number) = (index + 1, out.after(number));
                if number >= end {
                    break;
                }
                barrier();
                fill::<WHOLE>(input, out.place(index));
            }
        }
    }
    (index, number)
}

/// Fills the stage with the input's tile for a place of the output, and closes the group.
///
/// # Safety
///
/// The input has such a tile, if `WHOLE` as a whole. Nobody reads the stage.
#[inline(always)]
unsafe fn fill<const WHOLE: bool>(input: &Matrix<SIDE, SIDE>, (row, column): (usize, usize)) {
    let (first, rows, columns) = input.tile((column, row));
    let (first, below, end) = (first.cast_const().cast::<u8>(), rows as u32, (columns * 4) as u32);
    let mut unit = rank();
    while unit < SIDE * UNITS {
        let (row, offset) = (unit / UNITS, unit % UNITS * 16);
        let bytes = if row as u32 >= below { 0 } else { end.saturating_sub(offset as u32).min(16) };
        let from = first.wrapping_add(row * (input.pitch * 4)).wrapping_add(offset);
        // SAFETY: the unit lies in the stage; `bytes` of it are readable for the whole launch, or
        // if `WHOLE` all of it.
        unsafe { copy_unit::<true, WHOLE>(shared_base().add(row * (PITCH * 4) + offset), from, bytes) };
        unit += THREADS;
    }
    commit();
}

/// Writes the calling thread's elements of the output's tile at a place, those that lie in it.
///
/// # Safety
///
/// `tile` is the landed tile of the input at the exchanged place, in shared memory that nobody
/// writes. The output has the tile, if `WHOLE` as a whole, which this block alone writes.
#[inline(always)]
unsafe fn write<const WHOLE: bool>(tile: *const i32, out: &Matrix<SIDE, SIDE>, place: (usize, usize)) {
    let (first, rows, columns) = out.tile(place);
    // A warp has 4 squares below one another with 8 side by side each, a block 2 by 4 such warps.
    let (warp, lane) = (rank() / 32, rank() % 32);
    let (row, column) = ((warp / 2 * 4 + lane % 4) * OWN, (warp % 2 * 8 + lane / 4) * OWN);
    // SAFETY: the places lie in the tile, those that are written in the view too; four elements in
    // a row are aligned to 16 bytes, as the view's rows and those of the stage are.
    unsafe {
        let from = tile.add(column * PITCH + row);
        let to = first.wrapping_add(row * out.pitch).wrapping_add(column);
        if WHOLE || rows == SIDE && columns == SIDE {
            let lines: [I32x4; OWN] = core::array::from_fn(|line| *from.add(line * PITCH).cast());
            for below in 0..OWN {
                let values = core::array::from_fn(|line| lines[line].0[below]);
                I32x4(values).store(to.wrapping_add(below * out.pitch).cast());
            }
        } else {
            for below in 0..OWN {
                for line in 0..OWN {
                    if row + below < rows && column + line < columns {
                        (*from.add(line * PITCH + below)).store(to.wrapping_add(below * out.pitch + line));
                    }
                }
            }
        }
    }
}
