//! What a ring writes to.

use super::group::StoringGroup;
use super::outputs::StoredTile;
use crate::element::Element;
use crate::isa::product::WARPGROUP;
use crate::isa::{self, Corner, RawTensor};
use crate::output::bulk::{BulkPlace, BulkTilesMut};
use crate::tensor::{Operation, OutputExtents, Swizzle, TensorMut, TensorTile, TilePlaces, TileReduction};
use crate::view::geometry::{Elements, Rows};
use crate::view::order::{Order, Stepped};
use crate::view::share::Share;

/// What a ring of output stages writes to: a [`TensorMut`], a [`TileReduction`], or a
/// [`BulkTilesMut`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "the copy engine stores no tiles to `{Self}`",
    label = "not a `TensorMut`, a `TileReduction` or a `BulkTilesMut`",
    note = "views that threads write, such as `TilesMut2D`, are written by `out.for_block(&block)`; for a ring the parameter is a \
            `TensorMut<T, Extents2<ROWS, COLUMNS>, W>` of the same element, extents and swizzle as the output stages, or a \
            `BulkTilesMut<T, LEN>` of the same element and length"
)]
pub trait Stored: sealed::Stored {
    /// What an output stage holds.
    type Tile: StoredTile;
}

/// What a ring writes to whose tiles are dealt out to the blocks: a [`TensorMut`] or a
/// [`BulkTilesMut`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "no tile of `{Self}` is a block's own",
    label = "not a `TensorMut` or a `BulkTilesMut`",
    note = "no box of a `TileReduction` is a block's own: take `for_each_tile`, and `results.tile_at(row, column)` in its closure"
)]
pub trait Dealt: Stored + sealed::Dealt {}

/// Whether no registers are left for what could be known of several stores at once: the engine
/// takes many coordinates, or the threads are so many that each has few.
pub(super) const fn is_tight<V: Stored, G: StoringGroup>() -> bool {
    V::MANY_COORDINATES || G::THREADS > 2 * WARPGROUP
}

pub(crate) mod sealed {
    use super::{Order, Share};
    use crate::view::geometry::Geometry;

    #[diagnostic::on_unimplemented(
        message = "the copy engine stores no tiles to `{Self}`",
        label = "not a `TensorMut`, a `TileReduction` or a `BulkTilesMut`",
        note = "a ring trusts its view to be written by the engine alone: take a `TensorMut`, a `TileReduction` or a `BulkTilesMut`"
    )]
    pub trait Stored {
        /// Whether a tile's stores are ordered.
        const IN_ORDER: bool;

        /// Whether all tiles are stored in slices, one for each warpgroup of the group, by the
        /// stores of sums; else none is.
        const IN_SLICES: bool = false;

        /// Whether the engine takes more than two coordinates for a tile, in so many registers that
        /// a kernel with products has none left.
        const MANY_COORDINATES: bool = false;

        /// How the view's elements lie.
        type Geometry: Geometry;

        /// Where a tile is stored to.
        type Place: Copy;

        /// What says where a tile of several boxes lies; nothing where a tile is a box.
        type Places: Copy;

        /// Which tiles are this block's.
        fn share(&self) -> Share<Self::Geometry>;

        /// Where they lie.
        fn places(&self, share: Share<Self::Geometry>) -> Self::Places;

        /// Has the engine write the tile at `from` to its place, in the open group of the calling
        /// thread; of a view that is stored in slices, slice `slice` of it alone.
        ///
        /// # Safety
        ///
        /// 0. The place is one of a tile of such a view, which the block may write.
        /// 1. At `from`, in shared memory, lies a tile as output stages hold them, aligned as they
        ///    are, and the slice is one of it and initialised. All writes to it before, of whatever
        ///    thread, were followed by that thread's `fence_proxy_async` and a barrier, or were
        ///    bulk copies that the calling thread has waited for.
        /// 2. Nobody writes it until the calling thread has committed the store and waited for the
        ///    reads of its group; the block does not end before that.
        unsafe fn store(to: Self::Place, from: *const u8, slice: usize);
    }

    #[diagnostic::on_unimplemented(
        message = "no tile of `{Self}` is a block's own",
        label = "not a `TensorMut` or a `BulkTilesMut`",
        note = "no box of a `TileReduction` is a block's own: take `for_each_tile`, and `results.tile_at(row, column)` in its closure"
    )]
    pub trait Dealt: Stored {
        /// In which order the tiles are dealt.
        type Order: Order;

        /// Whether nothing has to be checked to write any tile that exists.
        const ALL_WHOLE: bool;

        /// A bound on tile numbers: to write tiles with lower numbers nothing has to be checked.
        fn whole_below(&self, share: Share<Self::Geometry>) -> usize;

        /// Where the block's tile `index` is stored to, which exists; if it is said to be `whole`,
        /// its number lies below `whole_below`.
        fn place(&self, share: Share<Self::Geometry>, index: usize, whole: bool) -> Self::Place;
    }
}

/// Where a box of a tensor is stored to.
///
/// # Invariants
///
/// 0. `map` is that of the tensor, and `at` begins a box of it: in the tensor, and at whole pieces,
///    of which a box's row is made. In the order `FromEnd` it may begin whole slices in front of
///    the tensor's rows, of which none is stored.
#[derive(Clone, Copy)]
pub struct BoxPlace {
    map: *const RawTensor,
    at: Corner,
}

impl BoxPlace {
    /// The place of the panel that begins at column `first` of a tile of panels, for the tile in
    /// this row and column of tiles; `None` if the panel lies beside the tensor.
    #[inline(always)]
    pub(super) fn of_panel<T: Element, X: OutputExtents, W: Swizzle, O: Stepped>(
        view: &TensorMut<'_, T, X, W, O>,
        (row, column): (usize, usize),
        first: usize,
    ) -> Option<Self> {
        let mut at = view.corner(row, column);
        // Both are below 2^31, but for a panel that lies beside the tensor.
        let first = at[0] as u32 + first as u32;
        at[0] = first as i32;
        (first < view.columns() as u32).then_some(BoxPlace { map: view.map(), at })
    }

    /// The place of a tile's first panel, which begins in the tensor, as the tile does. (To know so
    /// takes registers: what the panel needs is then computed before its barrier.)
    #[inline(always)]
    pub(super) fn of_first_panel<T: Element, X: OutputExtents, W: Swizzle, O: Stepped>(
        view: &TensorMut<'_, T, X, W, O>,
        (row, column): (usize, usize),
    ) -> Self {
        BoxPlace { map: view.map(), at: view.corner(row, column) }
    }

    /// The place of a panel of a tile of a matrix, whose place this is, which begins `first`
    /// columns further on.
    #[inline(always)]
    pub(super) fn further(self, first: usize) -> Self {
        let mut at = self.at;
        at[0] += first as i32;
        BoxPlace { at, ..self }
    }

    /// Where slice `slice` of the box is stored to, and where it lies if the box lies at `from`: a
    /// slice has whole rows of the box, and begins at a whole period of the swizzle, as the box
    /// does. A box that is stored as a whole is its only one.
    #[inline(always)]
    fn slice<T: Element, X: OutputExtents, W: Swizzle>(mut self, from: *const u8, slice: usize) -> (Self, *const u8) {
        if X::STORED[1] == X::EXTENTS[1] {
            return (self, from);
        }
        self.at[1] += (slice * X::STORED[1]) as i32;
        (self, from.wrapping_add(slice * const { TensorTile::<T, X, W>::STORED_BYTES }))
    }
}

impl<T: Element, X: OutputExtents, W: Swizzle, O: Stepped> TensorMut<'_, T, X, W, O> {
    /// The place of the box in this row and column of boxes.
    #[inline(always)]
    fn box_place(&self, row: usize, column: usize) -> BoxPlace {
        BoxPlace { map: self.map(), at: self.corner(row, column) }
    }
}

impl<T: Element, O: Operation<T>, X: OutputExtents, W: Swizzle> TileReduction<'_, T, O, X, W> {
    /// The place of the box in this row and column of boxes.
    #[inline(always)]
    pub(super) fn box_place(&self, row: usize, column: usize) -> BoxPlace {
        BoxPlace { map: self.map(), at: self.corner(row, column) }
    }
}

impl<T: Element, X: OutputExtents, W: Swizzle, O: Stepped> Stored for TensorMut<'_, T, X, W, O> {
    type Tile = TensorTile<T, X, W>;
}

impl<T: Element, X: OutputExtents, W: Swizzle, O: Stepped> sealed::Stored for TensorMut<'_, T, X, W, O> {
    const IN_ORDER: bool = true;
    const IN_SLICES: bool = X::OF_SUMS;
    const MANY_COORDINATES: bool = X::DIMENSIONS > 2;
    type Geometry = Rows;
    type Place = BoxPlace;
    type Places = TilePlaces;

    #[inline(always)]
    fn share(&self) -> Share<Rows> {
        TensorMut::share(self)
    }

    #[inline(always)]
    fn places(&self, share: Share<Rows>) -> TilePlaces {
        self.tile_places_of(share)
    }

    #[inline(always)]
    unsafe fn store(place: BoxPlace, from: *const u8, slice: usize) {
        let (BoxPlace { map, at }, from) = place.slice::<T, X, W>(from, slice);
        if O::FROM_END && at[1] < 0 {
            // The slice lies in front of the matrix.
            return;
        }
        let shape = const { TensorTile::<T, X, W>::STORED };
        // SAFETY: the caller's promises, and the place's invariant: a box, or a slice of it.
        unsafe { isa::tensor_store(map, at, from, shape) };
    }
}

impl<T: Element, X: OutputExtents, W: Swizzle, O: Stepped> Dealt for TensorMut<'_, T, X, W, O> {}

impl<T: Element, X: OutputExtents, W: Swizzle, O: Stepped> sealed::Dealt for TensorMut<'_, T, X, W, O> {
    type Order = O;
    const ALL_WHOLE: bool = true;

    /// All of them: the engine sees to what lies beyond the tensor.
    #[inline(always)]
    fn whole_below(&self, share: Share<Rows>) -> usize {
        share.numbers().end()
    }

    #[inline(always)]
    fn place(&self, share: Share<Rows>, index: usize, _: bool) -> BoxPlace {
        const {
            assert!(
                !X::OF_SUMS,
                "a tile of `Panels2` is written by the stores of sums alone, each warpgroup its own rows: take `Extents2` for tiles that threads fill"
            )
        };
        let (row, column) = share.place(index);
        self.box_place(row, column)
    }
}

impl<T: Element, O: Operation<T>, X: OutputExtents, W: Swizzle> Stored for TileReduction<'_, T, O, X, W> {
    type Tile = TensorTile<T, X, W>;
}

impl<T: Element, O: Operation<T>, X: OutputExtents, W: Swizzle> sealed::Stored for TileReduction<'_, T, O, X, W> {
    /// The engine's operations on an element are atomic, and their order is nobody's.
    const IN_ORDER: bool = false;
    const IN_SLICES: bool = X::OF_SUMS;
    const MANY_COORDINATES: bool = X::DIMENSIONS > 2;
    type Geometry = Rows;
    type Place = BoxPlace;
    type Places = ();

    #[inline(always)]
    fn share(&self) -> Share<Rows> {
        TileReduction::share(self)
    }

    #[inline(always)]
    fn places(&self, _: Share<Rows>) {}

    #[inline(always)]
    unsafe fn store(place: BoxPlace, from: *const u8, slice: usize) {
        let (BoxPlace { map, at }, from) = place.slice::<T, X, W>(from, slice);
        let shape = const { TensorTile::<T, X, W>::STORED };
        // SAFETY: the caller's promises, and the place's invariant: a box, or a slice of it; the
        // map was encoded for elements of this kind.
        unsafe { isa::tensor_reduce::<O::Code>(map, at, from, shape, O::KIND) };
    }
}

impl<T: Element, const LEN: usize, O: Stepped> Stored for BulkTilesMut<'_, T, LEN, O> {
    type Tile = [T; LEN];
}

impl<T: Element, const LEN: usize, O: Stepped> sealed::Stored for BulkTilesMut<'_, T, LEN, O> {
    const IN_ORDER: bool = true;
    type Geometry = Elements;
    type Place = BulkPlace;
    type Places = ();

    #[inline(always)]
    fn share(&self) -> Share<Elements> {
        BulkTilesMut::share(self)
    }

    #[inline(always)]
    fn places(&self, _: Share<Elements>) {}

    #[inline(always)]
    unsafe fn store(to: BulkPlace, from: *const u8, _: usize) {
        let by_engine = to.by_engine();
        if by_engine > 0 {
            // SAFETY: the caller's promises; the bytes are some of the place's, which is aligned to
            // 16, and of the tile's.
            unsafe { isa::bulk_store(to.to(), from, by_engine as u32) };
        }
        // The last tile of a view may end between two pieces.
        for byte in by_engine..to.bytes() {
            // SAFETY: a byte of the tile, which is initialised and which the calling thread may
            // read: it has waited for it, or passed the barrier.
            let value = unsafe { from.wrapping_add(byte).read() };
            // SAFETY: a byte of the place, of which the engine writes others.
            unsafe { isa::store_global(to.to().wrapping_add(byte), value) };
        }
    }
}

impl<T: Element, const LEN: usize, O: Stepped> Dealt for BulkTilesMut<'_, T, LEN, O> {}

impl<T: Element, const LEN: usize, O: Stepped> sealed::Dealt for BulkTilesMut<'_, T, LEN, O> {
    type Order = O;
    const ALL_WHOLE: bool = false;

    #[inline(always)]
    fn whole_below(&self, share: Share<Elements>) -> usize {
        BulkTilesMut::whole_below(self, share)
    }

    #[inline(always)]
    fn place(&self, share: Share<Elements>, index: usize, whole: bool) -> BulkPlace {
        let (_, number) = share.place(index);
        BulkTilesMut::place(self, number, whole)
    }
}
