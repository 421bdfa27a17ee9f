//! Views as C has them.

use std::{ptr, slice};

use anyhow::{Context, Result, bail, ensure};

use tilepipe::launch::LAUNCH_BYTES;
use tilepipe_host::foreign::{self, Argument, Shape};

/// What all of a launch's parameters have together at most.
const MOST_BYTES: u64 = LAUNCH_BYTES as u64;

/// The [`View::kind`] of what the kernel reads.
const INPUT: u32 = 0;
/// That of what it writes.
const OUTPUT: u32 = 1;
/// That of a constant.
const CONSTANT: u32 = 2;
/// That of an output that the launch may leave out, and does.
const NOTHING: u32 = 3;

/// Elements in the GPU's memory, or those of a constant in the program's own: a `struct` of four
/// `uint64_t`, two `uint32_t` and three `uint64_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The address of the first one.
    pub address: u64,
    /// The number of rows; 0 for a view of one dimension.
    pub rows: u64,
    /// Elements in a row, or in all.
    pub columns: u64,
    /// Elements from one row's start to the next one's; 0 for a view of one dimension.
    pub pitch: u64,
    /// One element's size in bytes.
    pub element_bytes: u32,
    /// 0 of what the kernel reads, 1 of what it writes, 2 of a constant, which is one row, 3 of
    /// nothing.
    pub kind: u32,
    /// Of rows that are those of matrices: rows of a matrix, which divide the rows; else 0.
    pub matrix_rows: u64,
    /// Elements in a row of a matrix, which divide those of a row; else 0.
    pub matrix_columns: u64,
    /// 1 if each row is such matrices side by side, and 0 if rows of matrices are those of all.
    pub of_rows: u64,
}

/// Makes arguments for a launch of what was passed.
///
/// # Errors
///
/// What can be no argument, whatever the kernel is.
///
/// # Safety
///
/// At the address of each constant lie its bytes in the program's memory, which nobody writes for
/// `'a`.
pub unsafe fn checked<'a>(views: &[View]) -> Result<Vec<Argument<'a>>> {
    let numbered = views.iter().enumerate();
    // SAFETY: the obligation.
    let argument = |view: &View| unsafe { view.checked() };
    numbered.map(|(number, view)| argument(view).with_context(|| format!("view {number}"))).collect()
}

impl View {
    /// Makes an argument of it.
    ///
    /// # Safety
    ///
    /// As for [`checked`].
    unsafe fn checked<'a>(&self) -> Result<Argument<'a>> {
        let View { address, rows, columns, pitch, element_bytes, kind, matrix_rows, matrix_columns, of_rows } = *self;
        if kind == NOTHING {
            let (shape, element_bytes) = (Shape::Nothing, element_bytes as usize);
            return Ok(Argument::View(foreign::View { address, shape, element_bytes, is_output: true }));
        }
        ensure!(address != 0, "its address is null");
        ensure!(columns > 0 && element_bytes > 0, "{columns} elements of {element_bytes} bytes are none");
        ensure!([INPUT, OUTPUT, CONSTANT].contains(&kind), "its kind is {kind}, and not 0 to 3");
        let shape = if rows == 0 {
            ensure!(pitch == 0, "it has no rows, but a pitch of {pitch} elements");
            Shape::Row { len: columns }
        } else if matrix_rows > 0 {
            ensure!(pitch >= columns, "rows of {columns} elements do not fit into a pitch of {pitch}");
            let (width, height, of) = (columns, rows, [matrix_rows, matrix_columns]);
            if of_rows == 0 {
                Shape::Matrices { width, height, pitch, of }
            } else {
                Shape::RowsOfMatrices { width, height, pitch, of }
            }
        } else {
            ensure!(pitch >= columns, "rows of {columns} elements do not fit into a pitch of {pitch}");
            Shape::Rows { width: columns, height: rows, pitch }
        };
        let elements = if rows == 0 { Some(columns) } else { rows.checked_mul(pitch) };
        let bytes = elements.and_then(|elements| elements.checked_mul(u64::from(element_bytes)));
        let end = bytes.and_then(|bytes| address.checked_add(bytes));
        let Some(bytes) = bytes.filter(|_| end.is_some()) else { bail!("it ends beyond the last address") };
        if kind == CONSTANT {
            ensure!(rows == 0, "a constant has no rows");
            ensure!(bytes <= MOST_BYTES, "a constant of {bytes} bytes: a launch carries {MOST_BYTES} at most");
            let first = ptr::with_exposed_provenance::<u8>(address as usize);
            // SAFETY: not null, and so many bytes lie there, which nobody writes (the obligation);
            // their number is small.
            return Ok(Argument::Constant(unsafe { slice::from_raw_parts(first, bytes as usize) }));
        }
        let is_output = kind == OUTPUT;
        Ok(Argument::View(foreign::View { address, shape, element_bytes: element_bytes as usize, is_output }))
    }
}
