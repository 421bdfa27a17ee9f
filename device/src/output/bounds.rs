//! Bounds that are checked once: what the drivers do, for loops by hand.

use super::arrangement::Arrangement;
use super::tile::OutputTile;
use super::tiles::BlockTilesMut;
use crate::tile::Tile;
use crate::view::geometry::Geometry;
use crate::view::numbers::TileNumbers;
use crate::view::order::{Order, SameOrder};
use crate::view::tiles::BlockTiles;

/// What [`hoist_bounds`] takes: a block's (or role's) share of an input or of an output, or a tuple
/// of two to five of them. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no bounds to hoist",
    note = "pass what `for_block` or `for_role` of a view returned, by value, or a tuple of two to five of them: \
            `hoist_bounds((input.for_block(&block), out.for_block(&block)), |(tiles, mut results)| ..)`"
)]
pub trait Bounded: sealed::Bounded {}

/// Calls `body` with `parts`, whose bounds are checked here once if all of their tiles lie within
/// their views as a whole.
///
/// The last tile of a view may be partial. A loop by hand therefore pays in every round: each copy
/// works out how many bytes are valid, each store compares its place with the view's end. This
/// function compiles `body` twice: without any of that for a block whose tiles are all whole, and
/// with it for a block that has a partial tile. It picks one of the two for the block. In the first
/// one, an index that is in range for one of the parts is also known to be in range for the others.
/// [`map_tiles`](crate::Pipeline::map_tiles) and [`for_each_tile`](crate::Pipeline::for_each_tile)
/// do the same by themselves.
///
/// PTX in `body`: `cp.async` without a source size, `st.global` without a predicate. Before it: a
/// comparison for each part.
///
/// # Threads
///
/// Whoever has the parts: the block, or a role.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, hoist_bounds, kernel};
///
/// #[kernel]
/// pub fn double(
///     block: Block<64>,
///     input: Tiles<i32, 64>,
///     mut out: TilesMut<i32, 64>,
///     shared: Shared<Stages<[i32; 64], 1>>,
/// ) {
///     hoist_bounds((input.for_block(&block), out.for_block(&block)), |(tiles, mut results)| {
///         let mut memory = shared;
///         for i in 0..tiles.len() {
///             let tile = memory.copy(&block, tiles.get(i)).wait();
///             let result = results.get_mut(i);
///             block.threads(|t| result.set(&t, 2 * tile[t.rank()]));
///             memory = tile.release(&block);
///         }
///     });
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 4 });
/// for len in [128, 1000] {
///     let (input, mut out) = (device.upload(&vec![21; len])?, device.zeroed(len)?);
///     double::launch(&device.stream()?, 3, &input, &mut out)?;
///     assert_eq!(out.download()?, vec![42; len]);
/// }
/// # Ok(())
/// # }
/// ```
#[inline(always)]
pub fn hoist_bounds<P: Bounded, R>(parts: P, body: impl FnOnce(P) -> R) -> R {
    let numbers = parts.numbers();
    if parts.all_have(numbers) && numbers.lies_below(parts.whole_below()) {
        // SAFETY: just checked; all shares have the same numbers, and so as many of them.
        body(unsafe { parts.whole(numbers.count_at_once()) })
    } else {
        body(parts.counted())
    }
}

mod sealed {
    use crate::view::numbers::TileNumbers;
    use crate::view::order::Order;

    #[diagnostic::on_unimplemented(
        message = "`Bounded` can't be implemented for `{Self}`: it is sealed",
        label = "not one of tilepipe's shares of a view",
        note = "copies and stores trust that hoisted bounds were checked: pass what `for_block` or `for_role` returned, or a tuple of them"
    )]
    pub trait Bounded: Sized {
        /// The order of the tiles (of each part).
        type Order: Order;

        /// Which of its view's tiles they are; of the first part.
        fn numbers(&self) -> TileNumbers;

        /// Whether these are the tiles' numbers (in each part's view).
        fn all_have(&self, numbers: TileNumbers) -> bool;

        /// A bound on tile numbers: all of these tiles with lower numbers lie within their views as
        /// a whole.
        fn whole_below(&self) -> usize;

        /// The same tiles, counted where this is called, so that the other branch need not divide.
        fn counted(self) -> Self;

        /// The same tiles, known to be whole, and known to be `count` (of each part).
        ///
        /// # Safety
        ///
        /// There are `count` of them, and their numbers lie below `self.whole_below()`.
        unsafe fn whole(self, count: usize) -> Self;
    }
}

/// The tiles of one view, for which the view's own type has the methods.
macro_rules! tiles {
    ([$($generics:tt)*] $tiles:ty: $order:ident) => {
        impl<$($generics)*> Bounded for $tiles {}

        impl<$($generics)*> sealed::Bounded for $tiles {
            type Order = $order;

            #[inline(always)]
            fn numbers(&self) -> TileNumbers {
                <$tiles>::numbers(self)
            }

            #[inline(always)]
            fn all_have(&self, numbers: TileNumbers) -> bool {
                let own = <$tiles>::numbers(self);
                // Shares of this block that end at the same tile have the same numbers, unless
                // the order depends on where they end.
                if $order::BY_TILES { own.is_same(numbers) } else { own.end() == numbers.end() }
            }

            #[inline(always)]
            fn whole_below(&self) -> usize {
                <$tiles>::whole_below(self)
            }

            #[inline(always)]
            fn counted(self) -> Self {
                <$tiles>::counted(self)
            }

            #[inline(always)]
            unsafe fn whole(self, count: usize) -> Self {
                // SAFETY: the caller's promise.
                unsafe { self.known_whole(count) }
            }
        }
    };
}
tiles!([S: Tile, G: Geometry, O: Order] BlockTiles<'_, S, G, O>: O);
tiles!([S: OutputTile, G: Geometry, A: Arrangement, O: Order, const THREADS: usize] BlockTilesMut<'_, '_, S, THREADS, G, A, O>: O);

macro_rules! tuples {
    (A 0 $(, $part:ident $number:tt)*) => {
        impl<A: Bounded, $($part: Bounded),*> Bounded for (A, $($part,)*) where $(A::Order: SameOrder<$part::Order>),* {}

        impl<A: Bounded, $($part: Bounded),*> sealed::Bounded for (A, $($part,)*)
        where
            $(A::Order: SameOrder<$part::Order>),*
        {
            type Order = A::Order;

            #[inline(always)]
            fn numbers(&self) -> TileNumbers {
                self.0.numbers()
            }

            #[inline(always)]
            fn all_have(&self, numbers: TileNumbers) -> bool {
                self.0.all_have(numbers) $(&& self.$number.all_have(numbers))*
            }

            #[inline(always)]
            fn whole_below(&self) -> usize {
                self.0.whole_below() $(.min(self.$number.whole_below()))*
            }

            #[inline(always)]
            fn counted(self) -> Self {
                (self.0.counted(), $(self.$number.counted(),)*)
            }

            #[inline(always)]
            unsafe fn whole(self, count: usize) -> Self {
                // SAFETY: the caller's promise, which says so of each part: all shares are of this
                // block, and the least of the limits is no higher than this part's.
                unsafe { (self.0.whole(count), $(self.$number.whole(count),)*) }
            }
        }
    };
}
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
