//! Views as C has them.

use anyhow::{Context, Result, ensure};
use tilepipe_host::foreign::{self, Shape};

/// Elements in the GPU's memory: a `struct` of four `uint64_t` and two `uint32_t`.
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
    /// Whether the kernel writes them: 0 or 1.
    pub is_output: u32,
}

/// Makes views for a launch of what was passed.
///
/// # Errors
///
/// What can be no view, whatever the kernel is.
pub fn checked(views: &[View]) -> Result<Vec<foreign::View>> {
    let numbered = views.iter().enumerate();
    numbered.map(|(number, view)| view.checked().with_context(|| format!("view {number}"))).collect()
}

impl View {
    fn checked(&self) -> Result<foreign::View> {
        let View { address, rows, columns, pitch, element_bytes, is_output } = *self;
        ensure!(address != 0, "its address is null");
        ensure!(columns > 0 && element_bytes > 0, "{columns} elements of {element_bytes} bytes are none");
        ensure!(is_output <= 1, "`is_output` is {is_output}, and not 0 or 1");
        let shape = if rows == 0 {
            ensure!(pitch == 0, "it has no rows, but a pitch of {pitch} elements");
            Shape::Row { len: columns }
        } else {
            ensure!(pitch >= columns, "rows of {columns} elements do not fit into a pitch of {pitch}");
            Shape::Rows { width: columns, height: rows, pitch }
        };
        let elements = if rows == 0 { Some(columns) } else { rows.checked_mul(pitch) };
        let bytes = elements.and_then(|elements| elements.checked_mul(u64::from(element_bytes)));
        ensure!(bytes.and_then(|bytes| address.checked_add(bytes)).is_some(), "it ends beyond the last address");
        Ok(foreign::View { address, shape, element_bytes: element_bytes as usize, is_output: is_output == 1 })
    }
}
