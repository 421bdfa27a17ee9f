//! One stage of a matrix's tiles with neighbours on every side; four elements a thread.

use tilepipe::entry::RawRows;

use crate::device::{
    I32x4, Store, THREADS, barrier, commit, copy_unit, out_of_range, rank, shared_base, wait_all, wait_group,
};
use crate::rows::Matrix;

/// Elements of a thread, in a row.
const OWN: usize = 4;
/// Rows and columns of a tile, and its neighbours on every side.
const ROWS: usize = 16;
const COLUMNS: usize = 64;
const HALO: usize = 4;
/// The same with the neighbours.
const ALL_ROWS: usize = ROWS + 2 * HALO;
const ALL_COLUMNS: usize = COLUMNS + 2 * HALO;

#[unsafe(export_name = "__tilepipe_bounds__twin_stencil_2d_wide__i32_256_16_64_4_1")]
static REQUIRED_THREADS: u32 = THREADS as u32;

/// The stencil of five points.
///
/// # Safety
///
/// A launch with blocks of `THREADS` threads, a stage of dynamic shared memory, and an input and an
/// output in `input` and `out`.
#[unsafe(export_name = "twin_stencil_2d_wide__i32_256_16_64_4_1")]
unsafe extern "C" fn stencil_2d_wide(input: RawRows, out: RawRows) {
    let (input, out) = (Matrix::<ROWS, COLUMNS>::new(input), Matrix::<ROWS, COLUMNS>::new(out));
    if out.tiles() < input.tiles() {
        out_of_range(out.all(), input.all());
    }
    let (mut index, mut number) = (0, input.first());
    if number < input.all() {
        // SAFETY: every thread takes the same way, so each barrier is the block's. The stage is
        // filled after the barrier that follows its last read, and read after its copies were
        // waited for.
        unsafe {
            fill(&input, input.place(index));
            loop {
                wait_group::<0>();
                barrier();
                write(shared_base().cast_const().cast(), &out, out.place(index));
                (index, number) = (index + 1, input.after(number));
                if number >= input.all() {
                    break;
                }
                barrier();
                fill(&input, input.place(index));
            }
        }
    }
    wait_all();
}

/// From where to where a tile's rows or columns lie in the view, in units of `unit`, of which
/// `rest` are left from the tile's own start, the `start`-th, on.
#[inline(always)]
fn clip<const EXTENT: usize>(start: usize, rest: usize, unit: usize) -> (u32, u32) {
    let end = if rest < EXTENT - HALO { (rest + HALO) * unit } else { EXTENT * unit };
    ((HALO.saturating_sub(start) * unit) as u32, end as u32)
}

/// Fills the stage with the tile at a place and its neighbours, and closes the group.
///
/// # Safety
///
/// The input has such a tile. Nobody reads the stage.
#[inline(always)]
unsafe fn fill(input: &Matrix<ROWS, COLUMNS>, (row, column): (usize, usize)) {
    let (top, left) = (row * ROWS, column * COLUMNS);
    let (above, below) = clip::<ALL_ROWS>(top, input.height - top, 1);
    let (before, end) = clip::<ALL_COLUMNS>(left, input.width - left, size_of::<i32>());
    let first = input.base.wrapping_add(left).wrapping_sub(HALO);
    let first = first.wrapping_add(top * input.pitch).wrapping_sub(HALO * input.pitch).cast_const().cast::<u8>();
    let mut unit = rank();
    while unit < ALL_ROWS * ALL_COLUMNS / 4 {
        let (row, offset) = (unit / (ALL_COLUMNS / 4), unit % (ALL_COLUMNS / 4) * 16);
        let is_there = row as u32 >= above && (row as u32) < below && offset as u32 >= before;
        let bytes = if is_there { end.saturating_sub(offset as u32).min(16) } else { 0 };
        let from = first.wrapping_add(row * input.pitch * 4).wrapping_add(offset);
        // SAFETY: the unit lies in the stage; its first bytes are readable for the whole launch,
        // and both addresses are aligned to 16.
        unsafe { copy_unit::<true, false>(shared_base().add(row * ALL_COLUMNS * 4 + offset), from, bytes) };
        unit += THREADS;
    }
    commit();
}

/// Writes the calling thread's elements of the output's tile at a place, those that lie in it.
///
/// # Safety
///
/// `tile` is the landed tile at that place with its neighbours, in shared memory that nobody
/// writes. The output has the tile, which this block alone writes.
#[inline(always)]
unsafe fn write(tile: *const i32, out: &Matrix<ROWS, COLUMNS>, place: (usize, usize)) {
    let (first, rows, columns) = out.tile(place);
    let element = rank() * OWN;
    let (row, column) = (element / COLUMNS, element % COLUMNS);
    // SAFETY: the places lie in the tile, those that are written in the view too; four elements in
    // a row are aligned to 16 bytes, as the view's rows are.
    unsafe {
        let at = |down: usize, right: usize| *tile.add((row + down) * ALL_COLUMNS + column + right);
        let value = |lane: usize| {
            let (down, right) = (HALO, HALO + lane);
            let sum = at(down, right).wrapping_mul(3).wrapping_add(at(down - 1, right));
            let sum = sum.wrapping_add(at(down, right - 1)).wrapping_add(at(down, right + 1));
            sum.wrapping_add(at(down + 1, right))
        };
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
