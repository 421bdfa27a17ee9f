//! Outputs in a row that the copy engine writes.

use core::marker::PhantomData;

use crate::element::Element;
use crate::marker::{BlockLevel, Brand, Named, Uniform};
use crate::view::geometry::Elements;
use crate::view::geometry::sealed::Geometry as _;
use crate::view::order::{Cyclic, Stepped};
use crate::view::share::Share;

/// Bytes that the copy engine stores at once, and that a thread writes of an output stage.
pub(crate) const PIECE: usize = 16;

/// Global memory as tiles of `LEN` elements that this launch alone writes, by the copy engine: a
/// kernel's parameter.
///
/// Block `b` writes the tiles `i * grid + b`, or those that another order `O` gives it, so no two
/// blocks share one. The last tile may be
/// partial: what of it lies beyond the end is dropped. The tiles are written through
/// [`Outputs<[T; LEN], COUNT>`](crate::Outputs), which take the view by value.
///
/// A tile is a multiple of 16 bytes, or it does not compile; its elements have 1, 2, 4, 8 or 16
/// bytes. The host passes `&mut Buffer<T>`, or a slice of one that starts at a multiple of 16
/// bytes. It has any length: the engine stores whole pieces of 16 bytes, and one thread what of the
/// last tile is left.
///
/// CUDA: a pointer, and `cuda::ptx::cp_async_bulk` from shared to global memory.
///
/// # Invariants
///
/// 0. The `len` elements from `base` on are valid for writes, and only this launch touches them.
///    `len` is not 0, and there is room for one more tile in the address space.
/// 1. There is one such view of this memory in each block.
/// 2. `base` is aligned to 16.
pub struct BulkTilesMut<'k, T: Element, const LEN: usize, O = Cyclic> {
    base: *mut T,
    len: usize,
    brand: Brand<'k>,
    level: BlockLevel,
    order: Named<O>,
}

impl<T: Element, const LEN: usize, O> !Uniform for BulkTilesMut<'_, T, LEN, O> {}

/// Says that threads write an output. It holds for none that the copy engine stores to.
#[diagnostic::on_unimplemented(
    message = "threads don't write `{Self}`: the copy engine stores its tiles",
    label = "no tiles for threads",
    note = "take a ring of output stages: `let mut results = memory.outputs(&block, out);` of `Shared<Outputs<.., COUNT>>`, then \
            `results.tile(i).fill(&block, ..)`, or `&mut results` for `map_tiles`; threads write a `TilesMut` or a `TilesMut2D`"
)]
pub trait WrittenByThreads {}

/// Where a tile is stored to.
///
/// # Invariants
///
/// 0. `bytes` bytes from `to` on, at most a tile's, are those of a tile that the block may write.
///    `to` is aligned to 16.
#[derive(Clone, Copy)]
pub struct BulkPlace {
    to: *mut u8,
    bytes: usize,
}

impl BulkPlace {
    /// The first byte.
    #[inline(always)]
    pub(crate) fn to(self) -> *mut u8 {
        self.to
    }

    /// How many bytes the copy engine writes: whole pieces.
    #[inline(always)]
    pub(crate) fn by_engine(self) -> usize {
        self.bytes / PIECE * PIECE
    }

    /// How many bytes there are.
    #[inline(always)]
    pub(crate) fn bytes(self) -> usize {
        self.bytes
    }
}

impl<T: Element, const LEN: usize, O> BulkTilesMut<'_, T, LEN, O> {
    /// Bytes of a tile.
    pub(crate) const TILE_BYTES: usize = {
        assert!(
            matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16),
            "an element that the copy engine stores has 1, 2, 4, 8 or 16 bytes; `TilesMut` takes others"
        );
        assert!(
            LEN > 0 && (LEN * size_of::<T>()).is_multiple_of(PIECE),
            "a tile that the copy engine stores is a multiple of 16 bytes; `TilesMut` takes any length"
        );
        LEN * size_of::<T>()
    };

    /// Makes the view of the `len` elements at `base`.
    ///
    /// # Safety
    ///
    /// The invariants hold.
    pub(crate) unsafe fn new(base: *mut T, len: usize) -> Self {
        const { assert!(Self::TILE_BYTES > 0) };
        BulkTilesMut { base, len, brand: PhantomData, level: PhantomData, order: PhantomData }
    }

    /// Returns the number of elements in the view.
    #[expect(clippy::len_without_is_empty, reason = "the host passes no empty view")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of tiles in the view, the partial last one included.
    #[inline(always)]
    pub fn tiles(&self) -> usize {
        Elements::new(self.len).tiles::<[T; LEN]>()
    }

    /// It exists for its message, and can't be called.
    #[doc(hidden)]
    pub fn for_block<B>(&mut self, _: &B)
    where
        Self: WrittenByThreads,
    {
    }

    /// Where tile `number` of the view is stored to, which exists, and lies within the view as a
    /// whole if it is said to be `whole`.
    #[inline(always)]
    pub(crate) fn place(&self, number: usize, whole: bool) -> BulkPlace {
        // No overflow: the first element of a tile of the view (0).
        let first = number * LEN;
        let len = if !whole && self.len - first < LEN { self.len - first } else { LEN };
        BulkPlace { to: self.base.wrapping_add(first).cast(), bytes: len * size_of::<T>() }
    }
}

impl<T: Element, const LEN: usize, O: Stepped> BulkTilesMut<'_, T, LEN, O> {
    /// Which tiles are this block's.
    #[inline(always)]
    pub(crate) fn share(&self) -> Share<Elements> {
        let (division, tiles) = Elements::new(self.len).divide::<[T; LEN]>();
        let numbers = O::numbers(tiles);
        Share { division, numbers, count: numbers.count(), whole: false }
    }

    /// A bound on tile numbers: all tiles with lower numbers are whole.
    #[inline(always)]
    pub(crate) fn whole_below(&self, share: Share<Elements>) -> usize {
        share.whole_below::<[T; LEN], O>(Elements::new(self.len))
    }
}
