//! Input views of global memory: what a kernel reads.

use core::marker::PhantomData;

use super::geometry::sealed::Geometry as _;
use super::geometry::{ColumnOfTiles, Columns, Elements, Geometry, RowOfTiles, Rows, TileColumns, clip};
use super::numbers::TileNumbers;
use super::order::{AnyBlock, Cyclic, Order, OrderOf, Stepped, WholeRows};
use super::share::{Places, Share, TILE_OUT_OF_RANGE};
use super::tile_ref::{Extent, TileRef};
use crate::fault;
use crate::group::block::Block;
use crate::marker::{Brand, Named, Uniform};
use crate::tile::tile2d::{ColumnTile2D, HaloTile2D, Tile2D};
use crate::tile::{HaloTile, Tile};

/// Global memory as tiles of `LEN` elements, read-only for the whole launch.
///
/// The last tile may be partial: what lies past the end reads as zero. The host passes
/// `&Buffer<T>`.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
///
/// /// The mean of each tile. The last tile may have fewer elements than the others.
/// #[kernel]
/// pub fn means(
///     block: Block<64>,
///     input: Tiles<f32, 64>,
///     mut out: TilesMut<f32, 1>,
///     shared: Shared<Stages<[f32; 64], 2>>,
/// ) {
///     let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
///     let _ = shared.pipeline(&block).for_each_tile(&tiles, |tile, i| {
///         let sum = block.reduce(&block.map(|t| tile[t.rank()]), |a, b| a + b);
///         // What lies past the end was read as zero, and is not counted.
///         let mean = sum / tiles.get(i).valid() as f32;
///         let result = results.get_mut(i);
///         block.threads(|t| result.set_each(&t, |_| mean));
///     });
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let (input, mut out) = (device.upload(&[6.0; 100])?, device.zeroed(2)?);
/// # means::launch(&device.stream()?, 2, &input, &mut out)?;
/// # assert_eq!(out.download()?, [6.0, 6.0]);
/// # Ok(())
/// # }
/// ```
pub type Tiles<'k, T, const LEN: usize> = TileView<'k, [T; LEN]>;

/// Global memory as tiles of `LEN` elements with `HALO` neighbours on either side, read-only for
/// the whole launch.
///
/// Neighbours before the start and past the end read as zero. The host passes `&Buffer<T>`.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, HaloTile, Halos, Shared, Stages, TilesMut, kernel};
///
/// /// The largest of each element and its neighbours on both sides.
/// #[kernel]
/// pub fn peaks(
///     block: Block<128>,
///     input: Halos<u32, 128, 4>,
///     mut out: TilesMut<u32, 128>,
///     shared: Shared<Stages<HaloTile<u32, 128, 4>, 2>>,
/// ) {
///     let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
///     let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, result| {
///         block.threads(|t| {
///             // Nine elements: four on the left, the thread's own, four on the right.
///             let window = tile.window(t.rank());
///             result.set(&t, window[3].max(window[4]).max(window[5]));
///         });
///     });
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let (input, mut out) = (device.upload(&Vec::from_iter(0..200))?, device.zeroed(200)?);
/// # peaks::launch(&device.stream()?, 2, &input, &mut out)?;
/// # assert_eq!(out.download()?, Vec::from_iter((0..200).map(|i| 199.min(i + 1))));
/// # Ok(())
/// # }
/// ```
pub type Halos<'k, T, const LEN: usize, const HALO: usize> = TileView<'k, HaloTile<T, LEN, HALO>>;

/// Global memory with rows as tiles of `ROWS` by `COLUMNS` elements, read-only for the whole
/// launch.
///
/// Tiles at the right and lower edge may be partial: what lies past an edge reads as zero. In
/// shared memory each row of a tile is followed by `PAD` elements. The host passes `&Buffer2D<T>`.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Shared, Stages, Tile2D, Tiles2D, TilesMut2D, kernel};
///
/// /// Mirrors each tile of 8 by 8 elements upside down.
/// #[kernel]
/// pub fn upside_down(
///     block: Block<64>,
///     input: Tiles2D<u32, 8, 8>,
///     mut out: TilesMut2D<u32, 8, 8>,
///     shared: Shared<Stages<Tile2D<u32, 8, 8>, 2>>,
/// ) {
///     let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
///     let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, result| {
///         block.threads(|t| result.set_each(&t, |row, column| tile[(7 - row, column)]));
///     });
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let input = device.upload_2d(&Vec::from_iter(0..24 * 16), 24)?; // 2 x 3 tiles
/// # let mut out = device.zeroed_2d(24, 16)?;
/// # upside_down::launch(&device.stream()?, 2, &input, &mut out)?;
/// # let at = |row: u32, column: u32| 24 * (row / 8 * 8 + 7 - row % 8) + column;
/// # assert_eq!(out.download()?, Vec::from_iter((0..24 * 16).map(|i| at(i / 24, i % 24))));
/// # Ok(())
/// # }
/// ```
pub type Tiles2D<'k, T, const ROWS: usize, const COLUMNS: usize, const PAD: usize = 0> =
    TileView<'k, Tile2D<T, ROWS, COLUMNS, PAD>, Rows>;

/// Global memory with rows as tiles of `ROWS` by `COLUMNS` elements that lie in shared memory
/// column by column, read-only for the whole launch.
///
/// Tiles at the right and lower edge may be partial: what lies past an edge reads as zero. In
/// shared memory each column of a tile is followed by `PAD` elements. The host passes
/// `&Buffer2D<T>`.
pub type ColumnTiles2D<'k, T, const ROWS: usize, const COLUMNS: usize, const PAD: usize = 0> =
    TileView<'k, ColumnTile2D<T, ROWS, COLUMNS, PAD>, Rows>;

/// Global memory with rows as tiles of `ROWS` by `COLUMNS` elements with `HALO` neighbours on every
/// side, read-only for the whole launch.
///
/// What lies past an edge reads as zero. The host passes `&Buffer2D<T>`.
pub type Halos2D<'k, T, const ROWS: usize, const COLUMNS: usize, const HALO: usize> =
    TileView<'k, HaloTile2D<T, ROWS, COLUMNS, HALO>, Rows>;

/// Global memory whose elements are read one by one or in runs, read-only for the whole launch: a
/// view without a tile's shape, for tables, gathers and searches ([`at`](TileView::at),
/// [`get`](TileView::get), [`run`](TileView::run)).
///
/// A tile of it is one element. What is copied in tiles as well is a [`Tiles`], which has the same
/// methods. The host passes `&Buffer<T>`.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Input, TilesMut, kernel};
///
/// /// Looks each index up in a table. Where the table has no such element, the result is -1.
/// #[kernel]
/// pub fn look_up(
///     block: Block<64>,
///     table: Input<i32>,
///     indices: Input<u32>,
///     mut out: TilesMut<i32, 64>,
/// ) {
///     let mut results = out.for_block(&block);
///     for i in 0..results.len() {
///         let first = 64 * results.number(i);
///         let result = results.get_mut(i);
///         block.threads(|t| {
///             let index = indices.get(first + t.rank());
///             let found = index.and_then(|index| table.get(index as usize));
///             result.set(&t, found.unwrap_or(-1));
///         });
///     }
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let (table, indices) = (device.upload(&[10, 20, 30])?, device.upload(&[2, 0, 7, 1])?);
/// # let mut out = device.zeroed(4)?;
/// # look_up::launch(&device.stream()?, 1, &table, &indices, &mut out)?;
/// # assert_eq!(out.download()?, [30, 10, -1, 20]);
/// # Ok(())
/// # }
/// ```
pub type Input<'k, T> = TileView<'k, [T; 1]>;

/// Global memory with rows whose elements are read one by one or in runs, read-only for the whole
/// launch: an [`Input`] of two dimensions.
///
/// The host passes `&Buffer2D<T>`.
pub type Input2D<'k, T> = TileView<'k, Tile2D<T, 1, 1>, Rows>;

/// Global memory seen as tiles of shape `S`, read-only for the whole launch; see [`Tiles`],
/// [`Halos`], [`Tiles2D`] and [`Halos2D`].
///
/// The elements lie as the geometry `G` says: in one row, or in several. Tiles are numbered row by
/// row.
///
/// # Invariants
///
/// 0. Row `r < geometry.height()` is `geometry.width()` elements from `base + r * geometry.pitch()`
///    on. They are valid for reads, and nobody writes them for the whole launch `'k`. Neither
///    extent is 0; rows don't overlap and lie in the address space as a whole, in which there is
///    room for one more tile.
/// 1. `base` is aligned to `S::ALIGNMENT`, and `geometry.pitch()` elements are a multiple of it.
#[derive(Clone, Copy)]
pub struct TileView<'k, S: Tile, G: Geometry = Elements> {
    base: *const S::Element,
    geometry: G,
    brand: Brand<'k>,
    shape: PhantomData<S>,
}

// SAFETY: the memory behind the pointer is read-only while the launch lasts, and there is no
// collective operation on a view that needs no `&Block`, which a closure can't have.
unsafe impl<S: Tile, G: Geometry> Uniform for TileView<'_, S, G> {}

impl<'k, S: Tile, G: Geometry> TileView<'k, S, G> {
    /// Makes the view of the elements that lie at `base` as `geometry` says.
    ///
    /// # Safety
    ///
    /// The invariants 0 and 1 hold.
    pub(crate) unsafe fn new(base: *const S::Element, geometry: G) -> Self {
        const { assert!(S::STRIDE > 0 && S::ROW_STRIDE > 0 && S::LEN > 0) };
        TileView { base, geometry, brand: PhantomData, shape: PhantomData }
    }

    /// Returns the tiles of this block in order: every `grid`-th tile from the block's own index on
    /// (a grid-stride loop).
    ///
    /// # Panics
    ///
    /// If a view of two dimensions has 2^32 tiles or more.
    #[inline(always)]
    #[track_caller]
    pub fn for_block<const THREADS: usize>(&self, block: &Block<'_, THREADS>) -> BlockTiles<'k, S, G> {
        let _ = block;
        BlockTiles::of_block(*self)
    }

    /// Returns the tiles of this block in another order than that of
    /// [`for_block`](Self::for_block): [`Consecutive`](crate::Consecutive) tiles, or in two
    /// dimensions [`WholeRows`](crate::WholeRows), a [`BlockRows`](crate::BlockRows).
    ///
    /// A driver, a tuple of inputs and [`hoist_bounds`](crate::hoist_bounds) take shares of one
    /// order only; in these two orders the views must have the same number of tiles as well.
    ///
    /// # Panics
    ///
    /// If a view of two dimensions has 2^32 tiles or more.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Consecutive, Shared, Stages, Striped, Tiles, TilesMut, kernel};
    ///
    /// /// The running total of each block's part of the input, a part being tiles in a row.
    /// #[kernel]
    /// pub fn running_totals(
    ///     block: Block<64>,
    ///     input: Tiles<u32, 64>,
    ///     mut out: TilesMut<u32, 64, Striped, Consecutive>,
    ///     shared: Shared<Stages<[u32; 64], 2>>,
    /// ) {
    ///     let tiles = input.in_order::<Consecutive>(&block);
    ///     let mut before = 0;
    ///     let mut results = out.for_block(&block);
    ///     let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
    ///         let sums = block.scan(&block.map(|t| tile[t.rank()]), |a, b| a + b);
    ///         block.threads(|t| dst.set(&t, before + sums.get(&t)));
    ///         before += block.broadcast(&sums, 63);
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let (input, mut out) = (device.upload(&[1; 64 * 5])?, device.zeroed(64 * 5)?);
    /// # running_totals::launch(&device.stream()?, 2, &input, &mut out)?;
    /// # let expected: Vec<u32> = (1..=192).chain(1..=128).collect();
    /// # assert_eq!(out.download()?, expected);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn in_order<O: OrderOf<G>>(&self, block: &impl AnyBlock) -> O::Tiles<'k, S> {
        let _ = block;
        O::deal(*self)
    }

    /// How its elements lie.
    #[inline(always)]
    pub(super) fn geometry(&self) -> G {
        self.geometry
    }

    /// Its first element.
    #[inline(always)]
    pub(super) fn base(&self) -> *const S::Element {
        self.base
    }

    /// The tile in row `row` and column `column` of the tiles.
    ///
    /// # Safety
    ///
    /// There is such a tile.
    #[inline(always)]
    unsafe fn tile_unchecked(&self, row: usize, column: usize) -> TileRef<'k, S> {
        // No overflow: both are the first row and column of a tile, so within the view, whose
        // elements lie in the address space (invariant 0).
        let (top, left) = (row * S::ROW_STRIDE, column * S::STRIDE);
        let element = size_of::<S::Element>();
        let pitch = self.geometry.pitch() * element;
        let (before, end) = clip(left, self.geometry.width(), S::LEAD, S::COLUMNS, element, S::ROWS > 1);
        let (above, below) = clip(top, self.geometry.height(), S::ROW_LEAD, S::ROWS, 1, S::ROWS > 1);
        let first = self.base.wrapping_add(left).wrapping_sub(S::LEAD).cast::<u8>();
        let first = first.wrapping_add(top * pitch).wrapping_sub(S::ROW_LEAD * pitch);
        // SAFETY: (0) and (2) `clip`, in rows and in bytes; nobody writes what lies in the view
        // (invariant 0). (1) The base, the pitch and the start of each tile in a row are multiples
        // of ALIGNMENT (invariant 1 and `Tile::ALIGNMENT`), and so is the lead, hence what lies
        // before the view.
        unsafe { TileRef::new(Extent { first, before, end, pitch, above, below }) }
    }
}

impl<'k, S: Tile> TileView<'k, S> {
    /// Returns the number of elements in the view.
    #[expect(clippy::len_without_is_empty, reason = "the host passes no empty view")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.geometry.width()
    }

    /// Returns the number of tiles in the view, the partial last one included.
    #[inline(always)]
    pub fn tiles(&self) -> usize {
        self.geometry.tiles::<S>()
    }

    /// Returns tile `index` of the view.
    ///
    /// # Panics
    ///
    /// If `index >= self.tiles()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn tile(&self, index: usize) -> TileRef<'k, S> {
        const { assert!(S::STRIDE > 0) };
        if index >= self.tiles() {
            fault::out_of_range("tile index {} is out of range: the view has {} tiles", index, self.tiles());
        }
        // SAFETY: just checked.
        unsafe { self.tile_unchecked(0, index) }
    }
}

impl<'k, S: Tile> TileView<'k, S, Rows> {
    /// Returns the same view with its tiles numbered column by column: with an output of its
    /// transpose, whose tiles have their rows and columns exchanged too, tiles of the same number
    /// belong together.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Shared, Stages, Tile2D, Tiles2D, TilesMut2D, kernel};
    ///
    /// /// `out[c][r] = input[r][c]`.
    /// #[kernel]
    /// pub fn transpose(
    ///     block: Block<64>,
    ///     input: Tiles2D<f32, 8, 16>,
    ///     mut out: TilesMut2D<f32, 16, 8>,
    ///     shared: Shared<Stages<Tile2D<f32, 8, 16>, 2>>,
    /// ) {
    ///     let tiles = input.by_columns().for_block(&block);
    ///     let mut results = out.for_block(&block);
    ///     let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
    ///         block.threads(|t| dst.set_each(&t, |row, column| tile[(column, row)]));
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let (width, height) = (37, 21);
    /// # let matrix: Vec<f32> = (0..width * height).map(|i| i as f32).collect();
    /// # let input = device.upload_2d(&matrix, width)?;
    /// # let mut out = device.zeroed_2d(height, width)?;
    /// # transpose::launch(&device.stream()?, 3, &input, &mut out)?;
    /// # let transposed = out.download()?;
    /// # let expected = |i: usize| matrix[i % height * width + i / height];
    /// # assert!((0..width * height).all(|i| transposed[i] == expected(i)));
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn by_columns(&self) -> TileView<'k, S, Columns> {
        self.numbered(self.geometry.by_columns())
    }

    /// Returns the tiles of row `row` of the tiles, from left to right. Every block may take any
    /// row.
    ///
    /// Those that lie within the view as a whole are copied without bounds checks, also where
    /// [`get`](BlockTiles::get) takes one after the other: for a loop that is too large to be
    /// written twice, such as a matrix product's, whose example is at
    /// [`add_product`](crate::TileMut::add_product).
    ///
    /// # Panics
    ///
    /// If `row >= self.tile_rows()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn row_of_tiles(&self, row: usize) -> BlockTiles<'k, S, RowOfTiles, WholeRows> {
        const { assert!(S::STRIDE > 0 && S::ROW_STRIDE > 0) };
        if row >= self.tile_rows() {
            fault::out_of_range("tile row {} is out of range: the view has {}", row, self.tile_rows());
        }
        self.numbered(self.geometry.line_of_tiles(row)).all_tiles()
    }

    /// Returns the tiles of column `column` of the tiles, from top to bottom; see
    /// [`row_of_tiles`](Self::row_of_tiles).
    ///
    /// # Panics
    ///
    /// If `column >= self.tile_columns()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn column_of_tiles(&self, column: usize) -> BlockTiles<'k, S, ColumnOfTiles, WholeRows> {
        const { assert!(S::STRIDE > 0 && S::ROW_STRIDE > 0) };
        if column >= self.tile_columns() {
            fault::out_of_range("tile column {} is out of range: the view has {}", column, self.tile_columns());
        }
        self.numbered(self.geometry.line_of_tiles(column)).all_tiles()
    }

    /// The same elements, whose tiles are those of another geometry of the same rows.
    #[inline(always)]
    fn numbered<G: Geometry>(&self, geometry: G) -> TileView<'k, S, G> {
        TileView { base: self.base, geometry, brand: PhantomData, shape: PhantomData }
    }

    /// Returns the number of elements in a row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.geometry.width()
    }

    /// Returns the number of rows.
    #[inline(always)]
    pub fn height(&self) -> usize {
        self.geometry.height()
    }

    /// Returns the number of tiles beside one another, the partial last one included.
    #[inline(always)]
    pub fn tile_columns(&self) -> usize {
        self.geometry.tile_columns::<S>()
    }

    /// Returns the number of tiles below one another, the partial last one included.
    #[inline(always)]
    pub fn tile_rows(&self) -> usize {
        self.geometry.tile_rows::<S>()
    }

    /// Returns the tile in row `row` and column `column` of the tiles.
    ///
    /// # Panics
    ///
    /// If `row >= self.tile_rows()` or `column >= self.tile_columns()`.
    #[inline(always)]
    #[track_caller]
    pub fn tile(&self, row: usize, column: usize) -> TileRef<'k, S> {
        const { assert!(S::STRIDE > 0 && S::ROW_STRIDE > 0) };
        if row >= self.tile_rows() {
            fault::out_of_range("tile row {} is out of range: the view has {}", row, self.tile_rows());
        }
        if column >= self.tile_columns() {
            fault::out_of_range("tile column {} is out of range: the view has {}", column, self.tile_columns());
        }
        // SAFETY: just checked.
        unsafe { self.tile_unchecked(row, column) }
    }
}

/// The tiles of one block, or of one warp or thread, in the order `O` in which it works through
/// them.
///
/// # Invariants
///
/// 0. `share` is of this view, in tiles of shape `S`.
pub struct BlockTiles<'k, S: Tile, G: Geometry = Elements, O = Cyclic> {
    view: TileView<'k, S, G>,
    share: Share<G>,
    order: Named<O>,
}

impl<S: Tile, G: Geometry, O> Clone for BlockTiles<'_, S, G, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Tile, G: Geometry, O> Copy for BlockTiles<'_, S, G, O> {}

impl<'k, S: Tile, G: Geometry, O: Stepped> BlockTiles<'k, S, G, O> {
    /// The tiles of this block.
    #[inline(always)]
    #[track_caller]
    pub(super) fn of_block(view: TileView<'k, S, G>) -> Self {
        const { assert!(S::STRIDE > 0 && S::ROW_STRIDE > 0) };
        let (division, tiles) = view.geometry.divide::<S>();
        let numbers = O::numbers(tiles);
        BlockTiles {
            view,
            share: Share { division, numbers, count: G::count(numbers), whole: false },
            order: PhantomData,
        }
    }
}

impl<'k, S: Tile, G: Geometry, O: Order> BlockTiles<'k, S, G, O> {
    /// The tiles of a warp or a thread: those that `numbers` makes of how many there are.
    #[inline(always)]
    #[track_caller]
    pub(super) fn of_member(view: TileView<'k, S, G>, numbers: impl FnOnce(usize) -> TileNumbers) -> Self {
        const { assert!(S::STRIDE > 0 && S::ROW_STRIDE > 0) };
        let (division, tiles) = view.geometry.divide::<S>();
        let numbers = numbers(tiles);
        BlockTiles {
            view,
            share: Share { division, numbers, count: G::count(numbers), whole: false },
            order: PhantomData,
        }
    }
}

impl<'k, S: Tile, G: Geometry> TileView<'k, S, G> {
    /// All of its tiles, for each block.
    #[inline(always)]
    fn all_tiles(self) -> BlockTiles<'k, S, G, WholeRows> {
        let (division, tiles) = self.geometry.divide::<S>();
        let numbers = TileNumbers::all_below(tiles);
        BlockTiles { view: self, share: Share { division, numbers, count: tiles, whole: false }, order: PhantomData }
    }
}

impl<'k, S: Tile> BlockTiles<'k, S, Rows, WholeRows> {
    /// The tiles of a row of tiles, which exists, of the view that `division` divides.
    #[inline(always)]
    pub(super) fn of_row(view: TileView<'k, S, Rows>, division: TileColumns, row: usize) -> Self {
        let numbers = TileNumbers::of_row(row, division.count());
        BlockTiles {
            view,
            share: Share { division, numbers, count: numbers.count(), whole: false },
            order: PhantomData,
        }
    }
}

impl<'k, S: Tile, G: Geometry, O: Order> BlockTiles<'k, S, G, O> {
    /// Returns how many tiles the block has; 0 where blocks outnumber tiles.
    #[expect(clippy::len_without_is_empty, reason = "`len() == 0` says it in a kernel's loop as well")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.share.len()
    }

    /// Which of the view's tiles they are.
    #[inline(always)]
    pub(crate) fn numbers(&self) -> TileNumbers {
        self.share.numbers()
    }

    /// Returns the number of the block's tile `index` among the view's tiles, which are counted row
    /// by row: `index * grid + block` in [`Cyclic`] order.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn number(&self, index: usize) -> usize {
        self.share.number(index)
    }

    /// Returns the block's tile `index`: tile [`number(index)`](Self::number) of the view.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, index: usize) -> TileRef<'k, S> {
        self.share.check(index, TILE_OUT_OF_RANGE);
        // SAFETY: just checked.
        unsafe { self.get_unchecked(index) }
    }

    /// Returns the block's tile `index`.
    ///
    /// # Safety
    ///
    /// `index < self.len()`.
    #[inline(always)]
    pub(crate) unsafe fn get_unchecked(&self, index: usize) -> TileRef<'k, S> {
        let (row, column) = self.share.place(index);
        // SAFETY: the place of a tile of the view (0).
        let tile = unsafe { self.view.tile_unchecked(row, column) };
        let is_whole = || G::ASKS_EACH && self.share.numbers().number(index) < self.whole_below();
        if self.share.is_whole() || is_whole() {
            // SAFETY: it lies within the view as a whole (`Share`, 2, or the bound).
            unsafe { tile.whole() }
        } else {
            tile
        }
    }

    /// A bound on tile numbers: all of the block's tiles with lower numbers lie within the view as
    /// a whole, their halos included.
    #[inline(always)]
    pub(crate) fn whole_below(&self) -> usize {
        self.share.whole_below::<S, O>(self.view.geometry)
    }

    /// The same tiles, counted here.
    #[inline(always)]
    pub(crate) fn counted(self) -> Self {
        BlockTiles { share: self.share.counted(), ..self }
    }

    /// The same tiles, known to be whole, and known to be as many as those of another view.
    ///
    /// # Safety
    ///
    /// `self.len() == count`, and the share lies below `self.whole_below()`.
    #[inline(always)]
    pub(crate) unsafe fn known_whole(self, count: usize) -> Self {
        // SAFETY: the caller's promise.
        BlockTiles { share: unsafe { self.share.known_whole(count) }, ..self }
    }
}

impl<S: Tile, O: Order> BlockTiles<'_, S, Rows, O> {
    /// Returns the places of these tiles among the view's.
    #[inline(always)]
    pub fn places(&self) -> Places {
        Places::of(self.share)
    }
}
