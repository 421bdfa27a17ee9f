//! Views with rows, and their tiles.

use tilepipe::entry::RawRows;

use crate::device::{block_index, grid_blocks, out_of_range};

/// Global memory of `height` rows of `width` elements, `pitch` elements apart, all of them aligned
/// to 16 bytes, of which this block has every `stride`-th tile of `ROWS` by `COLUMNS` elements from
/// `first` on.
#[derive(Clone, Copy)]
pub struct Matrix<const ROWS: usize, const COLUMNS: usize> {
    pub base: *mut i32,
    pub width: usize,
    pub height: usize,
    pub pitch: usize,
    across: u32,
    first: usize,
    stride: usize,
    end: usize,
}

impl<const ROWS: usize, const COLUMNS: usize> Matrix<ROWS, COLUMNS> {
    /// The view that a launch passes. Ends the launch if its tiles do not count in 32 bits.
    #[expect(clippy::manual_div_ceil, reason = "as the safe kernel counts them")]
    #[inline(always)]
    pub fn new(raw: RawRows) -> Self {
        let (width, height) = (raw.width as usize, raw.height as usize);
        let (across, down) = ((width + (COLUMNS - 1)) / COLUMNS, (height + (ROWS - 1)) / ROWS);
        let limit = u32::MAX as usize;
        let end = if down > limit || across > limit { usize::MAX } else { down * across };
        if end > limit {
            out_of_range(across.saturating_mul(down), limit);
        }
        let (first, stride) = (block_index(), grid_blocks());
        let (base, pitch) = (raw.address as *mut i32, raw.pitch as usize);
        Matrix { base, width, height, pitch, across: (across as u32).max(1), first, stride, end }
    }

    /// The number of the view's tiles, those of other blocks included.
    #[inline(always)]
    pub fn all(&self) -> usize {
        self.end
    }

    /// The number of the block's tiles.
    #[inline(always)]
    pub fn tiles(&self) -> usize {
        if self.first >= self.end {
            return 0;
        }
        let others = (self.end - 1 - self.first) / self.stride;
        // SAFETY: no overflow: at most `end - 1`.
        unsafe { others.unchecked_add(1) }
    }

    /// The number among all of the view's tiles of the block's first one.
    #[inline(always)]
    pub fn first(&self) -> usize {
        self.first
    }

    /// The number after this one.
    #[inline(always)]
    pub fn after(&self, number: usize) -> usize {
        number + self.stride
    }

    /// The row and the column of the block's tile `index` among the view's tiles; the place of no
    /// tile if there is none.
    #[inline(always)]
    pub fn place(&self, index: usize) -> (usize, usize) {
        // SAFETY: `new` has made it at least 1.
        unsafe { core::hint::assert_unchecked(self.across != 0) };
        let number = (self.first + index * self.stride) as u32;
        ((number / self.across) as usize, (number % self.across) as usize)
    }

    /// The first element of the tile at a place, and the rows and columns of it that lie in the
    /// view.
    #[inline(always)]
    pub fn tile(&self, (row, column): (usize, usize)) -> (*mut i32, usize, usize) {
        let (top, left) = (row * ROWS, column * COLUMNS);
        let (rows, columns) = (self.height - top, self.width - left);
        let first = self.base.wrapping_add(top * self.pitch).wrapping_add(left);
        (first, if rows < ROWS { rows } else { ROWS }, if columns < COLUMNS { columns } else { COLUMNS })
    }
}
