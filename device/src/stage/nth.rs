//! One of several tiles of a stage, by its number.

use super::contents::{AlwaysFilled, Contents, OneTile, extent};
use crate::memory::places;

/// Contents that have a tile of this number: a tuple of tiles, counted from 0. Sealed.
#[diagnostic::on_unimplemented(
    message = "a stage of `{Self}` has no tile number {NUMBER}",
    label = "no such tile",
    note = "the tiles of a stage of several are counted from 0, `own_of::<1>(&t)` is of the second one; of a stage of one tile take `own(&t)`"
)]
pub trait HasTile<const NUMBER: usize>: AlwaysFilled + sealed::HasTile<NUMBER> {}

pub(crate) mod sealed {
    use super::{Contents, OneTile};

    #[diagnostic::on_unimplemented(
        message = "a stage of `{Self}` has no tile number {NUMBER}",
        label = "no such tile",
        note = "the tiles of a stage of several are counted from 0; reads trust what this trait says of their layout, and it is sealed"
    )]
    pub trait HasTile<const NUMBER: usize>: Contents {
        /// The tile.
        type Tile: OneTile;
        /// The bytes of the stage before it.
        const OFFSET: usize;
    }
}

macro_rules! has_tile {
    ($($number:literal: $one:ident of $($tile:ident)*;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($tile: OneTile),*> HasTile<$number> for ($($tile,)*) {}
        #[diagnostic::do_not_recommend]
        impl<$($tile: OneTile),*> sealed::HasTile<$number> for ($($tile,)*) {
            type Tile = $one;
            const OFFSET: usize = places([$(extent::<$tile>()),*]).0[$number];
        }
    )*};
}
has_tile! {
    0: A of A B;
    1: B of A B;
    0: A of A B C;
    1: B of A B C;
    2: C of A B C;
    0: A of A B C D;
    1: B of A B C D;
    2: C of A B C D;
    3: D of A B C D;
}
