//! The source of a copy: one tile of a view.

use core::marker::PhantomData;
use core::ops::Range;

use crate::marker::Brand;
use crate::tile::Tile;

/// One tile of a view, to be copied: with [`Zeros`](crate::Zeros) the only source that a stage
/// takes.
///
/// It cannot change while a copy is in flight, because its memory is read-only for the whole launch
/// `'k`.
///
/// # Invariants
///
/// 0. Byte `b` of row `r` lies at `first + r * pitch + b`. It is readable for all of `'k`, and
///    nobody writes it, if `above <= r < below` and `before <= b < end`.
/// 1. `first` and `pitch` are multiples of `S::ALIGNMENT`, and so is `before`.
/// 2. `end <= S::COLUMNS` elements, and `below <= S::ROWS`.
/// 3. If `whole`, all of the tile lies in the view: `before` and `above` are 0, `end` and `below`
///    the tile's own ends.
#[derive(Clone, Copy)]
pub struct TileRef<'k, S: Tile> {
    first: *const u8,
    before: u32,
    end: u32,
    pitch: usize,
    above: u32,
    below: u32,
    whole: bool,
    brand: Brand<'k>,
    shape: PhantomData<S>,
}

/// The fields of a [`TileRef`].
pub(crate) struct Extent {
    /// The address of the tile's first byte, perhaps outside the view where a halo begins before
    /// it.
    pub(crate) first: *const u8,
    /// Bytes of a row before the view's start.
    pub(crate) before: usize,
    /// Bytes of a row up to the view's end, or to the tile's own if that comes first.
    pub(crate) end: usize,
    /// Bytes from one row's start to the next one's; 0 for a tile of one row.
    pub(crate) pitch: usize,
    /// Rows above the view's first.
    pub(crate) above: usize,
    /// Rows up to the view's last, or to the tile's own if that comes first.
    pub(crate) below: usize,
}

impl<S: Tile> TileRef<'_, S> {
    /// Returns how many of the tile's elements lie in the view; the others read as zero. A halo
    /// counts too.
    ///
    /// It is `valid_rows().len() * valid_columns().len()`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
    ///
    /// /// The mean of each tile. The last one may be partial.
    /// #[kernel]
    /// pub fn means(
    ///     block: Block<64>,
    ///     input: Tiles<f32, 64>,
    ///     mut out: TilesMut<f32, 1>,
    ///     shared: Shared<Stages<[f32; 64], 2>>,
    /// ) {
    ///     let tiles = input.for_block(&block);
    ///     let mut results = out.for_block(&block);
    ///     let _ = shared.pipeline(&block).for_each_tile(&tiles, |tile, i| {
    ///         let sum = block.reduce(&block.map(|t| tile[t.rank()]), |a, b| a + b);
    ///         let mean = sum / tiles.get(i).valid() as f32;
    ///         let dst = results.get_mut(i);
    ///         block.threads(|t| dst.set_each(&t, |_| mean));
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let (input, mut out) = (device.upload(&[3.0_f32; 150])?, device.zeroed(3)?);
    /// # means::launch(&device.stream()?, 2, &input, &mut out)?;
    /// # assert_eq!(out.download()?, [3.0; 3]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn valid(&self) -> usize {
        self.valid_rows().len() * self.valid_columns().len()
    }

    /// Returns which of the tile's rows lie in the view, its halo included: all of them for a tile
    /// of one row.
    #[inline(always)]
    pub fn valid_rows(&self) -> Range<usize> {
        if S::ROWS == 1 {
            return 0..1;
        }
        let above = if S::ROW_LEAD > 0 { self.above } else { 0 };
        above as usize..self.below.max(above) as usize
    }

    /// Returns which elements of each row of the tile lie in the view, its halo included. A halo
    /// that begins before the view has a range that does not begin at 0.
    #[inline(always)]
    pub fn valid_columns(&self) -> Range<usize> {
        let (before, end) = self.part_of_rows();
        before / size_of::<S::Element>()..end / size_of::<S::Element>()
    }
}

impl<'k, S: Tile> TileRef<'k, S> {
    /// Makes the source of this extent.
    ///
    /// # Safety
    ///
    /// The invariants 0 to 2 hold for the launch `'k`.
    #[inline(always)]
    pub(crate) unsafe fn new(extent: Extent) -> Self {
        const {
            assert!(S::COLUMNS * size_of::<S::Element>() <= u32::MAX as usize, "a row of a tile has less than 4 GiB");
            assert!(S::ROWS <= u32::MAX as usize, "a tile has less than 2^32 rows");
        }
        TileRef {
            first: extent.first,
            before: extent.before as u32,
            end: extent.end as u32,
            pitch: extent.pitch,
            above: extent.above as u32,
            below: extent.below as u32,
            whole: false,
            brand: PhantomData,
            shape: PhantomData,
        }
    }

    /// The same tile, known to lie within its view as a whole: its bounds are constants of its
    /// type, and a copy of it needs none.
    ///
    /// # Safety
    ///
    /// `before` and `above` are 0, `end` and `below` are the tile's own ends.
    #[inline(always)]
    pub(crate) unsafe fn whole(self) -> Self {
        let end = (S::COLUMNS * size_of::<S::Element>()) as u32;
        TileRef { before: 0, end, above: 0, below: S::ROWS as u32, whole: true, ..self }
    }

    /// Whether the tile is known to lie within its view as a whole.
    #[inline(always)]
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Whether the tile lies within its view as a whole, by what is known or by its bounds.
    #[inline(always)]
    pub(crate) fn lies_within(&self) -> bool {
        let within_rows = self.part_of_rows() == (0, S::COLUMNS * size_of::<S::Element>());
        self.whole || (within_rows && self.rows_in_view() == S::ROWS)
    }

    /// The address of byte `offset` of row `row`.
    #[inline(always)]
    pub(crate) fn address(&self, row: usize, offset: usize) -> *const u8 {
        self.first.wrapping_add(row * self.pitch).wrapping_add(offset)
    }

    /// The address so many rows below another one.
    #[inline(always)]
    pub(crate) fn rows_below(&self, address: *const u8, rows: usize) -> *const u8 {
        address.wrapping_add(rows * self.pitch)
    }

    /// Which bytes of each of its rows lie in the view: from the first number on, and up to the
    /// second one, which is at least the first.
    #[inline(always)]
    pub(crate) fn part_of_rows(&self) -> (usize, usize) {
        let before = if S::LEAD > 0 { self.before } else { 0 };
        (before as usize, self.end.max(before) as usize)
    }

    /// Whether the view has row `row` of the tile.
    #[inline(always)]
    pub(crate) fn has_row(&self, row: usize) -> bool {
        S::ROWS == 1 || (self.above as usize <= row && row < self.below as usize)
    }

    /// How many of the tile's rows the view has.
    #[inline(always)]
    pub(crate) fn rows_in_view(&self) -> usize {
        if S::ROWS == 1 { 1 } else { self.below.saturating_sub(self.above) as usize }
    }

    /// How many of the `width` bytes from byte `offset` of row `row` on lie in the view. They are
    /// the first ones. A unit that begins before the view counts as 0; with a `width` of at most
    /// `S::ALIGNMENT` it lies before it as a whole.
    #[inline(always)]
    pub(crate) fn valid_bytes(&self, row: usize, offset: usize, width: usize) -> u32 {
        let (offset, width) = (offset as u32, width as u32);
        if S::ROWS > 1 && ((row as u32) < self.above || row as u32 >= self.below) {
            return 0;
        }
        if S::LEAD > 0 && offset < self.before {
            return 0;
        }
        self.end.saturating_sub(offset).min(width)
    }
}
