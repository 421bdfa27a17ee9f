//! What a driver runs through a pipeline: a block's tiles of one view or of several.

use crate::stage::contents::Contents;
use crate::tile::Tile;
use crate::view::geometry::Geometry;
use crate::view::numbers::TileNumbers;
use crate::view::order::{Order, SameOrder, check_same};
use crate::view::tile_ref::TileRef;
use crate::view::tiles::BlockTiles;

/// Tiles that [`for_each_tile`](crate::Pipeline::for_each_tile) runs through a pipeline whose
/// stages hold `C`: a block's share of a view, or a tuple of such shares for a stage of several
/// tiles. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no run of tiles for stages that hold `{C}`",
    note = "pass `&view.for_block(&block)` of the stages' element type and length; for stages of several tiles a tuple of them, in \
            order; for a `TensorTile` the boxes of a `Tensor` of the same element, extents and swizzle"
)]
pub trait Batches<C: Contents>: sealed::Batches<C> {}

pub(crate) mod sealed {
    use crate::stage::contents::{Contents, Fill};
    use crate::view::numbers::TileNumbers;
    use crate::view::order::Order;

    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no run of tiles for stages that hold `{C}`",
        label = "takes a block's tiles of the stages' element type and length",
        note = "pass `&view.for_block(&block)` of the stages' element type and length; for stages of several tiles a tuple of them, in \
                order; for a `TensorTile` the boxes of a `Tensor` of the same element, extents and swizzle"
    )]
    pub trait Batches<C: Contents>: Copy {
        /// The source of one stage.
        type Source: Fill<C>;
        /// The order of the tiles, in every view.
        type Order: Order;
        /// Whether all tiles count as whole: [`whole_below`](Self::whole_below) is the end.
        const ALL_WHOLE: bool = false;

        /// Which tiles there are to fill stages with, in every view.
        ///
        /// # Panics
        ///
        /// If the views' shares have other numbers, and not only other ends.
        #[track_caller]
        fn numbers(&self) -> TileNumbers;

        /// A bound on tile numbers: all of these tiles with lower numbers lie within their views as
        /// a whole. It is at most the end of [`numbers`](Self::numbers).
        fn whole_below(&self) -> usize;

        /// The source of stage `index`.
        ///
        /// # Safety
        ///
        /// `self.numbers()` has `index`.
        unsafe fn source(&self, index: usize) -> Self::Source;

        /// The source of stage `index`, which is known to be whole.
        ///
        /// # Safety
        ///
        /// `self.numbers()` has `index`, with a number below `self.whole_below()`.
        unsafe fn whole(&self, index: usize) -> Self::Source;
    }
}

impl<S: Tile, G: Geometry, O: Order> Batches<S> for &BlockTiles<'_, S, G, O> {}

impl<'k, S: Tile, G: Geometry, O: Order> sealed::Batches<S> for &BlockTiles<'k, S, G, O> {
    type Source = TileRef<'k, S>;
    type Order = O;

    #[inline(always)]
    fn numbers(&self) -> TileNumbers {
        BlockTiles::numbers(self)
    }

    #[inline(always)]
    fn whole_below(&self) -> usize {
        BlockTiles::whole_below(self)
    }

    #[inline(always)]
    unsafe fn source(&self, index: usize) -> TileRef<'k, S> {
        // SAFETY: the caller's promise.
        unsafe { self.get_unchecked(index) }
    }

    #[inline(always)]
    unsafe fn whole(&self, index: usize) -> TileRef<'k, S> {
        // SAFETY: the caller's promise.
        let tile = unsafe { self.get_unchecked(index) };
        // SAFETY: the caller's promise.
        unsafe { tile.whole() }
    }
}

macro_rules! tuples {
    ($($tile:ident $batches:ident $number:tt),*) => {
        impl<$($tile: Tile, $batches: Batches<$tile>),*> Batches<($($tile,)*)> for ($($batches,)*)
        where
            $(X::Order: SameOrder<$batches::Order>),*
        {
        }

        impl<$($tile: Tile, $batches: Batches<$tile>),*> sealed::Batches<($($tile,)*)> for ($($batches,)*)
        where
            $(X::Order: SameOrder<$batches::Order>),*
        {
            type Source = ($($batches::Source,)*);
            type Order = X::Order;

            #[inline(always)]
            #[track_caller]
            fn numbers(&self) -> TileNumbers {
                $(check_same::<X::Order>(self.0.numbers(), self.$number.numbers());)*
                // All shares are of this block: none leaves the launch (the views' brand) nor the
                // OS thread that runs the block (their pointers).
                self.0.numbers().below(usize::MAX $(.min(self.$number.numbers().end()))*)
            }

            #[inline(always)]
            fn whole_below(&self) -> usize {
                usize::MAX $(.min(self.$number.whole_below()))*
            }

            #[inline(always)]
            unsafe fn source(&self, index: usize) -> Self::Source {
                ($(
                    // SAFETY: the caller's promise; each view has at least that many tiles.
                    unsafe { self.$number.source(index) },
                )*)
            }

            #[inline(always)]
            unsafe fn whole(&self, index: usize) -> Self::Source {
                ($(
                    // SAFETY: the caller's promises; each view has at least that many tiles, and
                    // all are whole.
                    unsafe { self.$number.whole(index) },
                )*)
            }
        }
    };
}
tuples!(A X 0, B Y 1);
tuples!(A X 0, B Y 1, C Z 2);
tuples!(A X 0, B Y 1, C Z 2, D W 3);
