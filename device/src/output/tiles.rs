//! Output views of global memory: what a kernel writes.

use core::marker::PhantomData;

use super::arrangement::{Arrangement, Striped};
use super::tile::{Extent as _, OutputTile, TileMut};
use crate::fault;
use crate::group::block::Block;
use crate::marker::{BlockLevel, Brand, Named, Uniform};
use crate::tile::tile2d::Tile2D;
use crate::view::geometry::sealed::Geometry as _;
use crate::view::geometry::{Elements, Geometry, Rows};
use crate::view::numbers::TileNumbers;
use crate::view::order::{Cyclic, Order, Stepped};
use crate::view::share::{Places, Share};

/// Global memory as tiles of `LEN` elements that this launch alone writes.
///
/// Block `b` writes the tiles `i * grid + b`, or those that another order `O` gives it, so no two
/// blocks share one; in a tile each thread writes the elements that the arrangement `A` gives it.
/// The last tile may be partial: what a thread writes past the end is dropped. The host passes
/// `&mut Buffer<T>`.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Blocked, TilesMut, kernel};
///
/// /// Writes to each element its own index.
/// #[kernel]
/// pub fn indices(block: Block<64>, mut out: TilesMut<u32, 256, Blocked>) {
///     let mut results = out.for_block(&block);
///     for i in 0..results.len() {
///         let first = 256 * results.number(i);
///         let result = results.get_mut(i);
///         // Four elements in a row for each thread, stored at once. In the last tile the closure
///         // runs only for those that lie in the view.
///         block.threads(|t| result.set_each(&t, |element| (first + element) as u32));
///     }
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let mut out = device.zeroed(1001)?;
/// # indices::launch(&device.stream()?, 2, &mut out)?;
/// # assert_eq!(out.download()?, Vec::from_iter(0..1001));
/// # Ok(())
/// # }
/// ```
pub type TilesMut<'k, T, const LEN: usize, A = Striped, O = Cyclic> = TileViewMut<'k, [T; LEN], Elements, A, O>;

/// Global memory with rows as tiles of `ROWS` by `COLUMNS` elements that this launch alone writes.
///
/// Tiles are numbered row by row, and block `b` writes the tiles `i * grid + b`, or those that
/// another order `O` gives it, so no two blocks share one; in a tile each thread writes the
/// elements that the arrangement `A` gives it, counted row by row. Tiles at the right and lower
/// edge may be partial: what a thread writes past an edge is dropped. The host passes
/// `&mut Buffer2D<T>`.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, TilesMut2D, kernel};
///
/// /// A multiplication table of any size.
/// #[kernel]
/// pub fn products(block: Block<32>, mut out: TilesMut2D<u32, 4, 16>) {
///     let mut results = out.for_block(&block);
///     let places = results.places();
///     for i in 0..results.len() {
///         // The row and the column of the tile among all tiles.
///         let (down, across) = places.get(i);
///         let result = results.get_mut(i);
///         block.threads(|t| {
///             result.set_each(&t, |row, column| {
///                 let (row, column) = (4 * down + row, 16 * across + column);
///                 (row * column) as u32
///             });
///         });
///     }
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let mut out = device.zeroed_2d(20, 10)?; // 10 rows of 20 elements
/// # products::launch(&device.stream()?, 2, &mut out)?;
/// # assert_eq!(out.download()?, Vec::from_iter((0..200).map(|i| (i / 20) * (i % 20))));
/// # Ok(())
/// # }
/// ```
pub type TilesMut2D<'k, T, const ROWS: usize, const COLUMNS: usize, A = Striped, O = Cyclic> =
    TileViewMut<'k, Tile2D<T, ROWS, COLUMNS>, Rows, A, O>;

/// Global memory seen as tiles of shape `S` that this launch alone writes; see [`TilesMut`] and
/// [`TilesMut2D`].
///
/// The elements lie as the geometry `G` says: in one row, or in several.
///
/// # Invariants
///
/// 0. Row `r < geometry.height()` is `geometry.width()` elements from `base + r * geometry.pitch()`
///    on. They are valid for writes, and only this launch touches them. Neither extent is 0; rows
///    don't overlap and lie in the address space as a whole, in which there is room for one more
///    tile.
/// 1. There is one such view of this memory in each block.
/// 2. If `A::WIDE`, `base` is aligned to `S::ALIGNMENT` and `geometry.pitch()` elements are a
///    multiple of it; else `base` is aligned for an element.
/// 3. `S::LEN` is 1 to `u32::MAX`.
pub struct TileViewMut<'k, S: OutputTile, G: Geometry = Elements, A = Striped, O = Cyclic> {
    base: *mut S::Element,
    geometry: G,
    brand: Brand<'k>,
    level: BlockLevel,
    arrangement: PhantomData<A>,
    order: Named<O>,
}

impl<S: OutputTile, G: Geometry, A, O> !Uniform for TileViewMut<'_, S, G, A, O> {}
impl<S: OutputTile, G: Geometry, A, O, const THREADS: usize> !Uniform for BlockTilesMut<'_, '_, S, THREADS, G, A, O> {}

impl<S: OutputTile, G: Geometry, A: Arrangement, O: Order> TileViewMut<'_, S, G, A, O> {
    /// Makes the view of the elements that lie at `base` as `geometry` says.
    ///
    /// # Safety
    ///
    /// The invariants 0 to 2 hold; 3 is asserted here.
    pub(crate) unsafe fn new(base: *mut S::Element, geometry: G) -> Self {
        const { assert!(S::STRIDE > 0 && S::ROW_STRIDE > 0 && S::LEN > 0) };
        TileViewMut {
            base,
            geometry,
            brand: PhantomData,
            level: PhantomData,
            arrangement: PhantomData,
            order: PhantomData,
        }
    }

    /// These tiles of the view, for a group of `THREADS` with the brand `'b`.
    ///
    /// # Safety
    ///
    /// They are this block's (or this warp's or thread's) in the order `O`, and while the view is
    /// borrowed there is no other value for any of them, or only such as give each element to the
    /// same thread.
    #[inline(always)]
    pub(super) unsafe fn share<'v, 'b, const THREADS: usize>(
        &self,
        share: Share<G>,
    ) -> BlockTilesMut<'v, 'b, S, THREADS, G, A, O> {
        BlockTilesMut {
            base: self.base,
            geometry: self.geometry,
            share,
            block: PhantomData,
            view: PhantomData,
            order: PhantomData,
            level: PhantomData,
        }
    }

    /// How its elements lie.
    #[inline(always)]
    pub(super) fn geometry(&self) -> G {
        self.geometry
    }
}

impl<S: OutputTile, G: Geometry, A: Arrangement, O: Stepped> TileViewMut<'_, S, G, A, O> {
    /// Returns the tiles of this block in the order `O`: every `grid`-th tile from the block's own
    /// index on, as [`TileView::for_block`](crate::TileView::for_block) does for an input, or tiles
    /// in a row if the view's type says [`Consecutive`](crate::Consecutive).
    ///
    /// # Panics
    ///
    /// If a view of two dimensions has 2^32 tiles or more.
    #[inline(always)]
    #[track_caller]
    pub fn for_block<'b, const THREADS: usize>(
        &mut self,
        block: &Block<'b, THREADS>,
    ) -> BlockTilesMut<'_, 'b, S, THREADS, G, A, O> {
        let _ = block;
        self.for_group()
    }

    /// The tiles of this block, for a group of `THREADS` with the brand `'b`.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn for_group<'b, const THREADS: usize>(&mut self) -> BlockTilesMut<'_, 'b, S, THREADS, G, A, O> {
        let (division, tiles) = self.geometry.divide::<S>();
        let numbers = O::numbers(tiles);
        // SAFETY: the block's numbers in this order; the view is borrowed for the value.
        unsafe { self.share(Share { division, numbers, count: G::count(numbers), whole: false }) }
    }
}

impl<S: OutputTile, A: Arrangement, O: Order> TileViewMut<'_, S, Elements, A, O> {
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
}

impl<S: OutputTile, A: Arrangement, O: Order> TileViewMut<'_, S, Rows, A, O> {
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
}

/// The output tiles of one block, in the order `O` in which it works through them.
///
/// # Invariants
///
/// 0. `base` and `geometry` are those of a [`TileViewMut`] of the same types that is borrowed for
///    `'v`, and `share` is this block's, in tiles of shape `S`; or that of the warp or thread that
///    `'b` is the brand of.
pub struct BlockTilesMut<'v, 'b, S: OutputTile, const THREADS: usize, G: Geometry = Elements, A = Striped, O = Cyclic> {
    base: *mut S::Element,
    geometry: G,
    share: Share<G>,
    block: Brand<'b>,
    view: PhantomData<(&'v mut S::Element, A)>,
    order: Named<O>,
    level: BlockLevel,
}

impl<'b, S: OutputTile, G: Geometry, A: Arrangement, O: Order, const THREADS: usize>
    BlockTilesMut<'_, 'b, S, THREADS, G, A, O>
{
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
    pub fn get_mut(&mut self, index: usize) -> TileMut<'_, 'b, S, THREADS, A> {
        self.tile(index)
    }

    /// Returns several of the block's tiles at a time, to be written in one closure.
    ///
    /// # Panics
    ///
    /// If an index is not below `self.len()`, or if two are the same.
    #[inline(always)]
    #[track_caller]
    pub fn get_disjoint_mut<const COUNT: usize>(
        &mut self,
        indices: [usize; COUNT],
    ) -> [TileMut<'_, 'b, S, THREADS, A>; COUNT] {
        for (position, index) in indices.iter().enumerate() {
            if indices[..position].contains(index) {
                fault::out_of_range("output tile {} is asked for twice, of {} tiles at a time", *index, COUNT);
            }
        }
        indices.map(|index| self.tile(index))
    }

    /// A bound on tile numbers: all of the block's tiles with lower numbers exist and lie within
    /// the view as a whole.
    #[inline(always)]
    pub(crate) fn whole_below(&self) -> usize {
        self.share.whole_below::<S, O>(self.geometry)
    }

    /// The same tiles, counted here.
    #[inline(always)]
    pub(crate) fn counted(self) -> Self {
        BlockTilesMut { share: self.share.counted(), ..self }
    }

    /// The same tiles, known to be whole, and known to be as many as those of another view.
    ///
    /// # Safety
    ///
    /// `self.len() == count`, and the share lies below `self.whole_below()`.
    #[inline(always)]
    pub(crate) unsafe fn known_whole(self, count: usize) -> Self {
        // SAFETY: the caller's promise.
        BlockTilesMut { share: unsafe { self.share.known_whole(count) }, ..self }
    }

    /// The block's tile `index`, for a driver.
    ///
    /// # Safety
    ///
    /// `index < self.len()`, and a tile that is said to be whole lies within the view as a whole;
    /// there is no other value for it at the same time.
    #[inline(always)]
    pub(super) unsafe fn tile_at<'t>(&mut self, index: usize, whole: bool) -> TileMut<'t, 'b, S, THREADS, A> {
        // SAFETY: the caller's promises.
        unsafe { self.tile_unchecked(index, whole || self.share.is_whole()) }
    }

    /// The block's tile `index`; callers see to it that no other value for this tile exists at the
    /// same time.
    #[inline(always)]
    #[track_caller]
    fn tile<'t>(&self, index: usize) -> TileMut<'t, 'b, S, THREADS, A> {
        self.share.check(index, "output tile index {} is out of range: this block has {} tiles");
        // SAFETY: just checked.
        unsafe { self.tile_unchecked(index, self.share.is_whole()) }
    }

    /// As [`tile`](Self::tile).
    ///
    /// # Safety
    ///
    /// `index < self.len()`, and a `whole` tile lies within the view as a whole.
    #[inline(always)]
    unsafe fn tile_unchecked<'t>(&self, index: usize, whole: bool) -> TileMut<'t, 'b, S, THREADS, A> {
        // No overflow: the first row and column of a tile of the view (0).
        let (row, column) = self.share.place(index);
        let (top, left) = (row * S::ROW_STRIDE, column * S::STRIDE);
        let (height, width) = (self.geometry.height(), self.geometry.width());
        let first = self.base.wrapping_add(top * self.geometry.pitch()).wrapping_add(left);
        let rows = if !whole && height - top < S::ROWS { height - top } else { S::ROWS };
        let columns = if !whole && width - left < S::COLUMNS { width - left } else { S::COLUMNS };
        // SAFETY: (0) these rows and columns lie in the view, whose tiles don't overlap
        // (`OutputTile`, 0); callers see to it that there is no other value for this one. (1)
        // Invariant 2 of the view, and ALIGNMENT divides `left` elements, a multiple of a row of
        // the tile.
        unsafe { TileMut::new(first, S::Extent::new(self.geometry.pitch(), rows, columns)) }
    }
}

impl<S: OutputTile, A: Arrangement, O: Order, const THREADS: usize> BlockTilesMut<'_, '_, S, THREADS, Rows, A, O> {
    /// Returns the places of these tiles among the view's: for an input that is read elsewhere,
    /// such as a matrix to be transposed.
    #[inline(always)]
    pub fn places(&self) -> Places {
        Places::of(self.share)
    }
}
