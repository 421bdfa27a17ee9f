//! The ring of output stages.

use core::marker::PhantomData;

use super::draft::Draft;
use super::group::StoringGroup;
use super::outputs::{Outputs, StoredTile};
use super::slots::Slots;
use super::view::{BoxPlace, Dealt, Stored, is_tight};
use crate::element::Element;
use crate::fault;
use crate::isa;
use crate::isa::product::WARPGROUP;
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::memory::Shared;
use crate::output::destination::{Destination, sealed};
use crate::tensor::{Operation, OutputExtents, Swizzle, TensorMut, TileReduction};
use crate::view::numbers::TileNumbers;
use crate::view::order::Stepped;
use crate::view::share::{Places, Share};

/// A ring of output stages in shared memory, through which a block writes its boxes of a
/// [`TensorMut`], its tiles of a [`BulkTilesMut`](crate::BulkTilesMut), or adds to the boxes of a
/// [`TileReduction`]: threads fill a stage, one of them has the copy engine store it, and the block
/// fills the next stage meanwhile.
///
/// [`Shared::outputs`] makes it. [`map_tiles`](crate::Pipeline::map_tiles) takes one that is dealt
/// out as it takes a view's tiles; in loops by hand [`tile`](Self::tile) is one tile. Of a
/// reduction [`tile_at`](Self::tile_at) is any box.
///
/// CUDA: `cuda::ptx::cp_async_bulk_tensor` and `cp_async_bulk` from shared memory,
/// `cp_async_bulk_commit_group` and `cp_async_bulk_wait_group_read`.
#[must_use = "a ring writes nothing by itself: pass it to `map_tiles`, or fill its tiles"]
pub struct OutputRing<'s, V: Stored, const COUNT: usize, P, G> {
    slots: Slots<COUNT>,
    view: V,
    share: Share<V::Geometry>,
    pub(super) places: V::Places,
    memory: Brand<'s>,
    group: PhantomData<fn(G) -> G>,
    position: PhantomData<P>,
    level: BlockLevel,
}

impl<V: Stored, const COUNT: usize, P, G> !Uniform for OutputRing<'_, V, COUNT, P, G> {}

impl<'s, C: StoredTile, const COUNT: usize, P> Shared<'s, Outputs<C, COUNT>, P> {
    /// Makes the ring of these output stages, through which the block writes its tiles of `view`.
    ///
    /// Nobody waits for a ring that is dropped, or forgotten: the kernel's end does. Its memory and
    /// the view come back by [`finish`](OutputRing::finish).
    ///
    /// # Threads
    ///
    /// The block, or a role of whole warps to which memory and view were handed.
    ///
    /// # Panics
    ///
    /// If the tensor has 2^32 boxes or more.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{
    ///     Block, Extents2, Outputs, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorMut,
    ///     TensorTile, kernel,
    /// };
    ///
    /// type Box = Extents2<32, 32>;
    /// type Room = TensorTile<f32, Box, Swizzle128>;
    ///
    /// /// Twice each element.
    /// #[kernel]
    /// pub fn double(
    ///     block: Block<128>,
    ///     input: Tensor<f32, Box, Swizzle128>,
    ///     out: TensorMut<f32, Box, Swizzle128>,
    ///     shared: Shared<(Stages<Room, 2, TensorMap>, Outputs<Room, 2>)>,
    /// ) {
    ///     let (stages, outputs) = shared.split();
    ///     let boxes = input.for_block(&block);
    ///     let mut results = outputs.outputs(&block, out);
    ///     let _ = stages.pipeline(&block).map_tiles(&boxes, &mut results, |tile, draft| {
    ///         draft.fill(&block, |row, column| 2.0 * tile[(row, column)]);
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 1 });
    /// # let input = device.upload_2d(&[1.5; 50 * 70], 70)?;
    /// # let mut out = device.zeroed_2d(70, 50)?;
    /// # double::launch(&device.stream()?, 3, &input, &mut out)?;
    /// # assert_eq!(out.download()?, [3.0; 50 * 70]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn outputs<V: Stored<Tile = C>, G: StoringGroup>(self, group: &G, view: V) -> OutputRing<'s, V, COUNT, P, G> {
        let _ = group;
        // SAFETY: the memory is the ring's from here on, for COUNT stages (`Layout`), aligned for
        // its tiles; no copy into it or from it is in flight, and nobody reads it (`Shared`, 0).
        OutputRing::new(unsafe { Slots::new(self.base(), self.offset()) }, view)
    }
}

impl<'s, V: Stored, const COUNT: usize, P, G: StoringGroup> OutputRing<'s, V, COUNT, P, G> {
    /// Makes the ring of these stages.
    #[inline(always)]
    #[track_caller]
    fn new(slots: Slots<COUNT>, view: V) -> Self {
        let share = view.share();
        let places = view.places(share);
        let slots = if const { V::IN_SLICES && !is_tight::<V, G>() && G::THREADS.is_multiple_of(WARPGROUP) } {
            // SAFETY: the ring is its group's, all of whose threads run this code (R2), and the
            // group is whole warpgroups.
            slots.in_slice(unsafe { G::warpgroup() })
        } else {
            slots
        };
        OutputRing {
            slots,
            view,
            share,
            places,
            memory: PhantomData,
            group: PhantomData,
            position: PhantomData,
            level: PhantomData,
        }
    }

    /// What is written.
    #[inline(always)]
    pub(super) fn view(&self) -> &V {
        &self.view
    }

    /// The tile `index` of the block's share, which is stored to `place`; or a part of one, without
    /// an index.
    ///
    /// # Safety
    ///
    /// It is one of the view that the block may write; without an index, stores to it before are
    /// complete ([`order_stores`](Self::order_stores)). While the draft exists, nobody else uses
    /// the ring, and it is not moved.
    #[inline(always)]
    pub(super) unsafe fn draft<'v>(&mut self, place: V::Place, index: Option<usize>) -> Draft<'v, V, COUNT, G> {
        // SAFETY: the slots are this ring's; the rest is the caller's promise.
        unsafe { Draft::new(&raw mut self.slots, place, index) }
    }

    /// Has the stores of tile `index`, a slice of each warpgroup's, follow those to it before:
    /// waits for these, if there are any.
    ///
    /// # Safety
    ///
    /// All threads of the group make this call, and the group is whole warpgroups of its block.
    #[inline(always)]
    pub(super) unsafe fn order_stores(&mut self, index: usize) {
        if self.slots.again(index) {
            // SAFETY: the caller's promise. A wait is no collective step.
            unsafe { G::first_of_warpgroups(isa::bulk_wait_all) };
        }
    }

    /// Waits until all stores are written, for the whole group, and gives back the view and the
    /// memory.
    ///
    /// PTX: `cp.async.bulk.wait_group 0` in the first thread, or in the first one of each warpgroup
    /// that stores a slice, `bar.sync`. At the end of a kernel it is not needed.
    #[inline(always)]
    pub fn finish(self, group: &G) -> (V, Shared<'s, Outputs<V::Tile, COUNT>, P>) {
        let _ = group;
        if V::IN_SLICES && G::THREADS.is_multiple_of(WARPGROUP) {
            // SAFETY: as below, of a group of whole warpgroups. Others store no sums.
            unsafe { G::first_of_warpgroups(isa::bulk_wait_all) };
        } else {
            // SAFETY: the ring is its group's, all of whose threads run this code (R2): the brand
            // in `G` is theirs, and the ring can't be captured. A wait is no collective step.
            unsafe { G::first(isa::bulk_wait_all) };
        }
        // SAFETY: as above: this is code at the group's own level.
        unsafe { G::meet() };
        // SAFETY: the memory that `outputs` took: the engine has read all of it, and every thread
        // has passed the barrier after its last write.
        (self.view, unsafe { Shared::new(self.slots.offset()) })
    }
}

impl<T: Element, X: OutputExtents, W: Swizzle, O: Stepped, const COUNT: usize, P, G: StoringGroup>
    OutputRing<'_, TensorMut<'_, T, X, W, O>, COUNT, P, G>
{
    /// Returns the places of these boxes among the tensor's: for an input that is read elsewhere,
    /// such as a matrix to be transposed. In more than two dimensions the rows of boxes are counted
    /// through all planes.
    #[inline(always)]
    pub fn places(&self) -> Places {
        Places::of(self.share)
    }
}

impl<V: Dealt, const COUNT: usize, P, G: StoringGroup> OutputRing<'_, V, COUNT, P, G> {
    /// Returns how many tiles the block has; 0 where blocks outnumber tiles.
    #[expect(clippy::len_without_is_empty, reason = "`len() == 0` says it in a kernel's loop as well")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.share.len()
    }

    /// Returns the number of the block's tile `index` among the view's tiles, which are counted row
    /// by row: `index * grid + block` in [`Cyclic`](crate::Cyclic) order.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn number(&self, index: usize) -> usize {
        self.share.number(index)
    }

    /// Returns the block's tile `index`, to be filled: tile [`number(index)`](Self::number) of the
    /// view.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn tile(&mut self, index: usize) -> Draft<'_, V, COUNT, G> {
        self.share.check(index, "output tile index {} is out of range: this block has {} tiles");
        // SAFETY: just checked; the ring is borrowed while the draft exists.
        unsafe { self.tile_unchecked(index, false) }
    }

    /// The block's tile `index`.
    ///
    /// # Safety
    ///
    /// It exists, and lies below `whole_below` if it is said to be `whole`; the rest as for
    /// `draft`.
    #[inline(always)]
    unsafe fn tile_unchecked<'v>(&mut self, index: usize, whole: bool) -> Draft<'v, V, COUNT, G> {
        let place = self.view.place(self.share, index, whole);
        // SAFETY: a tile of the block's share, which no other block has; the rest is the caller's
        // promise.
        unsafe { self.draft(place, Some(index)) }
    }
}

impl<'k, T: Element, O: Operation<T>, X: OutputExtents, W: Swizzle, const COUNT: usize, P, G: StoringGroup>
    OutputRing<'_, TileReduction<'k, T, O, X, W>, COUNT, P, G>
{
    /// Returns the box in this row and column of boxes, to be filled with what is added to it. Any
    /// block may take any box, as often as it likes. In more than two dimensions the rows of boxes
    /// are counted through all planes.
    ///
    /// # Panics
    ///
    /// If there is no such box: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn tile_at(&mut self, row: usize, column: usize) -> Draft<'_, TileReduction<'k, T, O, X, W>, COUNT, G> {
        const {
            assert!(
                !X::OF_SUMS,
                "to a tile of `Panels2` sums are added, each warpgroup its own rows: `add_sums`; take `Extents2` for tiles that threads fill"
            )
        };
        let place = self.place_at(row, column);
        // SAFETY: all blocks may reduce into all boxes. The ring is borrowed while the draft
        // exists.
        unsafe { self.draft(place, Some(0)) }
    }

    /// The place of the box in this row and column of boxes, which exists.
    #[inline(always)]
    #[track_caller]
    pub(super) fn place_at(&self, row: usize, column: usize) -> BoxPlace {
        if row >= self.view.down() {
            fault::out_of_range("row {} of boxes is out of range: the tensor has {}", row, self.view.down());
        }
        if column >= self.view.box_columns() {
            let there = self.view.box_columns();
            fault::out_of_range("column {} of boxes is out of range: the tensor has {}", column, there);
        }
        self.view.box_place(row, column)
    }
}

impl<V: Dealt, const COUNT: usize, P, G: StoringGroup> Destination for OutputRing<'_, V, COUNT, P, G> {}

impl<V: Dealt, const COUNT: usize, P, G: StoringGroup> sealed::Destination for OutputRing<'_, V, COUNT, P, G> {
    type Tile<'v> = Draft<'v, V, COUNT, G>;
    type Order = V::Order;
    const ALL_WHOLE: bool = V::ALL_WHOLE;

    #[inline(always)]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn numbers(&self) -> TileNumbers {
        self.share.numbers()
    }

    #[inline(always)]
    fn whole_below(&self) -> usize {
        self.view.whole_below(self.share)
    }

    #[inline(always)]
    unsafe fn tile<'v>(&mut self, index: usize) -> Self::Tile<'v> {
        // SAFETY: the caller's promises; a driver does not move the ring.
        unsafe { self.tile_unchecked(index, false) }
    }

    #[inline(always)]
    unsafe fn whole<'v>(&mut self, index: usize) -> Self::Tile<'v> {
        // SAFETY: as above.
        unsafe { self.tile_unchecked(index, true) }
    }
}
