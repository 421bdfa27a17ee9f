//! The memory of a ring.

use core::marker::PhantomData;

use crate::element::Element;
use crate::memory::Layout;
use crate::output::bulk::{BulkTilesMut, PIECE};
use crate::tensor::{OutputExtents, Swizzle, TensorTile};

/// `COUNT` output stages in shared memory, each with room for one tile `C`, a [`TensorTile`] or an
/// array `[T; LEN]`: the copy engine stores them one after the other.
///
/// With two or more stages threads fill one while the engine reads the other; with one stage they
/// wait for it. Without any, only loaded tiles can be stored
/// ([`Draft::store`](crate::Draft::store)). Each stage starts at a multiple of the tile's
/// alignment.
pub struct Outputs<C, const COUNT: usize>(PhantomData<C>);

/// What an output stage can hold: a [`TensorTile`], or an array `[T; LEN]` whose size is a multiple
/// of 16 bytes. Sealed.
#[diagnostic::on_unimplemented(
    message = "no output stage holds a `{Self}`",
    label = "not a `TensorTile` or an array",
    note = "the copy engine stores boxes of tensors, `Outputs<TensorTile<T, X, W>, COUNT>`, and tiles of elements in a row, \
            `Outputs<[T; LEN], COUNT>`"
)]
pub trait StoredTile: sealed::StoredTile {
    /// An element.
    type Element: Element;
}

pub(crate) mod sealed {
    #[diagnostic::on_unimplemented(
        message = "no output stage holds a `{Self}`",
        label = "not a `TensorTile` or an array",
        note = "a ring trusts the sizes that a tile's type says: take a `TensorTile` or an array `[T; LEN]`"
    )]
    pub trait StoredTile {
        /// What the start of a stage is a multiple of, in bytes: a power of two of at most 1024.
        const ALIGNMENT: usize;
        /// Bytes from one stage's start to the next one's: a multiple of the alignment in which
        /// there is room for a tile.
        const STRIDE: usize;
        /// Pieces of 16 bytes that a tile has.
        const PIECES: usize;

        /// Where a piece lies in a stage, in bytes; pieces are counted row by row.
        fn piece(number: usize) -> usize;
    }
}

impl<T: Element, X: OutputExtents, W: Swizzle> StoredTile for TensorTile<T, X, W> {
    type Element = T;
}
impl<T: Element, X: OutputExtents, W: Swizzle> sealed::StoredTile for TensorTile<T, X, W> {
    const ALIGNMENT: usize = TensorTile::<T, X, W>::ALIGNMENT;
    const STRIDE: usize = TensorTile::<T, X, W>::BYTES.next_multiple_of(Self::ALIGNMENT);
    const PIECES: usize = TensorTile::<T, X, W>::BYTES / PIECE;

    #[inline(always)]
    fn piece(number: usize) -> usize {
        // Rows are whole pieces.
        let first = number * (PIECE / size_of::<T>());
        let columns = TensorTile::<T, X, W>::COLUMNS;
        TensorTile::<T, X, W>::offset(first / columns, first % columns)
    }
}

impl<T: Element, const LEN: usize> StoredTile for [T; LEN] {
    type Element = T;
}

impl<T: Element, const LEN: usize> sealed::StoredTile for [T; LEN] {
    const ALIGNMENT: usize = 16;
    const STRIDE: usize = BulkTilesMut::<T, LEN>::TILE_BYTES;
    const PIECES: usize = Self::STRIDE / PIECE;

    #[inline(always)]
    fn piece(number: usize) -> usize {
        number * PIECE
    }
}

// SAFETY: a stage's alignment is a power of two of at most 1024, and a stride is a multiple of it;
// COUNT stages so far apart are what a ring touches.
unsafe impl<C: StoredTile, const COUNT: usize> Layout for Outputs<C, COUNT> {
    const BYTES: usize = {
        assert!(COUNT <= u32::MAX as usize / C::STRIDE, "the stages of a ring fit in 4 GiB");
        COUNT * C::STRIDE
    };
    const ALIGNMENT: usize = C::ALIGNMENT;
    const STORES: bool = true;
}
