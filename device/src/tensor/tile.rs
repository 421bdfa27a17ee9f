//! A box of a tensor in shared memory.

use core::marker::PhantomData;
use core::ops::Index;

use super::boxes::STEP;
use super::extents::Extents;
use super::swizzle::Swizzle;
use crate::element::Element;
use crate::fault;
use crate::isa::{self, BoxShape, DIMENSIONS, swizzled};

/// A box of a [`Tensor`](crate::Tensor) in shared memory: what a stage of the engine
/// [`TensorMap`](crate::TensorMap) holds.
///
/// It is no plain tile: where its elements lie is the swizzle's affair. `tile[(row, column)]` is an
/// element, [`vector`](Self::vector) 16 bytes of a row.
///
/// The rows and columns are those of the box: with a halo ([`Halo2`](crate::Halo2)) the own part
/// begins at row `ABOVE` and column `BESIDE`. What lies beyond the tensor is zero.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub struct TensorTile<T: Element, X: Extents, W: Swizzle> {
    room: X::Room<T>,
    swizzle: PhantomData<fn() -> W>,
}

impl<T: Element, X: Extents, W: Swizzle> TensorTile<T, X, W> {
    /// Rows of the tile: of a box of several planes those of all of them, plane by plane.
    pub const ROWS: usize = X::BOX[0];
    /// Elements of a row.
    pub const COLUMNS: usize = X::BOX[1];

    /// Bytes of a row.
    const ROW: usize = Self::COLUMNS * size_of::<T>();

    /// Bytes that the engine copies.
    pub(crate) const BYTES: usize = {
        let ([rows, columns], [_, down, planes, fourth, fifth]) = (X::BOX, X::EXTENTS);
        let row = columns * size_of::<T>();
        assert!(matches!(size_of::<T>(), 1 | 2 | 4 | 8), "an element of a tensor has 1, 2, 4 or 8 bytes");
        assert!(
            down >= 1 && down <= 256 && columns >= 1 && columns <= 256,
            "a box of a tensor has 1 to 256 rows and 1 to 256 columns, its halo included: the copy engine takes no more"
        );
        assert!(
            planes >= 1 && planes <= 256 && fourth >= 1 && fourth <= 256 && fifth >= 1 && fifth <= 256,
            "a box of a tensor has 1 to 256 planes, and as many of each further dimension: the copy engine takes no more"
        );
        assert!(
            row.is_multiple_of(16),
            "a row of a box, its halo included, is a multiple of 16 bytes: the copy engine copies no less"
        );
        assert!(
            (X::LEAD[1] * size_of::<T>()).is_multiple_of(STEP),
            "what a box has beside its own columns is a multiple of 16 bytes: the copy engine begins a row nowhere else; take more columns \
             than are read"
        );
        if let Some(span) = W::SPAN {
            assert!(
                row == span,
                "a row of a swizzled box has as many bytes as the swizzle's name says: 32, 64 or 128; take another swizzle, \
                 another number of columns, or `NoSwizzle`"
            );
        }
        assert!(size_of::<Self>() == rows * row);
        rows * row
    };

    /// What the start of such a tile is a multiple of in bytes.
    pub(crate) const ALIGNMENT: usize = W::ALIGNMENT;

    /// What the copies of such a box depend on.
    pub(crate) const SHAPE: BoxShape = Self::shape(X::EXTENTS);
    /// The same of the stores of a part of it that the engine stores at once.
    pub(crate) const STORED: BoxShape = Self::shape(X::STORED);

    /// Bytes of such a part. Parts begin at whole periods of the swizzle.
    pub(crate) const STORED_BYTES: usize = {
        let bytes = X::STORED[1] * Self::ROW;
        assert!(X::STORED[1] == X::EXTENTS[1] || bytes.is_multiple_of(Self::ALIGNMENT));
        bytes
    };

    const fn shape([columns, rows, planes, fourth, fifth]: [usize; DIMENSIONS]) -> BoxShape {
        BoxShape {
            dimensions: X::DIMENSIONS as u32,
            extents: [columns as u32, rows as u32, planes as u32, fourth as u32, fifth as u32],
            element: size_of::<T>() as u32,
            mask: W::MASK as u32,
        }
    }

    /// Where an element lies, in bytes from the tile's start.
    #[inline(always)]
    pub(crate) fn offset(row: usize, column: usize) -> usize {
        swizzled(row * Self::ROW + column * size_of::<T>(), W::MASK)
    }

    /// Fails the launch unless there are such a row and column.
    #[inline(always)]
    #[track_caller]
    fn check(row: usize, column: usize) {
        Self::check_row(row);
        Self::check_column(column);
    }

    /// Fails the launch unless there is such a row.
    #[inline(always)]
    #[track_caller]
    pub(super) fn check_row(row: usize) {
        if row >= Self::ROWS {
            fault::out_of_range("row {} is out of range: the tile has {}", row, Self::ROWS);
        }
    }

    /// Fails the launch unless there is such a column.
    #[inline(always)]
    #[track_caller]
    pub(super) fn check_column(column: usize) {
        if column >= Self::COLUMNS {
            fault::out_of_range("column {} is out of range: the tile has {}", column, Self::COLUMNS);
        }
    }

    /// Returns the `N` elements of row `row` from `column` on, which are 16 bytes, or it does not
    /// compile, and `column` is a multiple of `N`. PTX: `ld.shared.v4`.
    ///
    /// # Panics
    ///
    /// If the tile has no such row or column, or `column` is no multiple of `N`.
    #[inline(always)]
    #[track_caller]
    pub fn vector<const N: usize>(&self, row: usize, column: usize) -> [T; N] {
        const {
            assert!(
                N * size_of::<T>() == 16,
                "`vector` returns 16 bytes of a row, which a swizzle leaves together: `N` is `16 / size_of::<T>()`"
            )
        };
        Self::check(row, column);
        if !column.is_multiple_of(N) {
            fault::out_of_range("column {} begins no vector: vectors begin at multiples of {}", column, N);
        }
        let first = core::ptr::from_ref(self).cast::<u8>();
        // SAFETY: `column` begins 16 bytes that a row, whose size is a multiple of 16 bytes, has as
        // a whole (just checked). The swizzle permutes such pieces within a row
        // (`swizzled`, whose mask is below the number of pieces of a row), so the offset is that of
        // 16 bytes of this tile, which `self` borrows.
        let vector = unsafe { first.add(Self::offset(row, column)) };
        // SAFETY: as above; plain data. The tile is aligned to 16 by its type, and so are pieces of
        // 16 bytes of it.
        unsafe { vector.cast::<Vector<[T; N]>>().read().0 }
    }
}

/// 16 bytes of elements, aligned so that they are read at once.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Vector<V>(V);

impl<T: Element, X: Extents, W: Swizzle> TensorTile<T, X, W> {
    /// Returns the `N` by `N` elements from row `row` and column `column` on, in rows: `N` times
    /// what [`vector`](Self::vector) returns.
    ///
    /// # Panics
    ///
    /// As `vector`, for each of the rows.
    #[inline(always)]
    #[track_caller]
    pub fn patch<const N: usize>(&self, row: usize, column: usize) -> [[T; N]; N] {
        core::array::from_fn(|below| self.vector(row + below, column))
    }

    /// Returns the transpose of [`patch`](Self::patch): its columns, as rows.
    ///
    /// # Panics
    ///
    /// As `patch`.
    #[inline(always)]
    #[track_caller]
    pub fn transposed<const N: usize>(&self, row: usize, column: usize) -> [[T; N]; N] {
        // Elements of less than a word are moved in words: an array of 256 bytes would lie in local
        // memory.
        match const { size_of::<T>() } {
            1 => self.transposed_words(row, column, |[a, b, c, d]: [u32; 4]| {
                // First of two rows each the columns 0 and 1, then 2 and 3; then of all four rows.
                let (above, below) = (isa::permute_bytes(a, b, 0x5140), isa::permute_bytes(c, d, 0x5140));
                let (one, two) = (isa::permute_bytes(a, b, 0x7362), isa::permute_bytes(c, d, 0x7362));
                [
                    isa::permute_bytes(above, below, 0x5410),
                    isa::permute_bytes(above, below, 0x7632),
                    isa::permute_bytes(one, two, 0x5410),
                    isa::permute_bytes(one, two, 0x7632),
                ]
            }),
            2 => self.transposed_words(row, column, |[a, b]: [u32; 2]| {
                [isa::permute_bytes(a, b, 0x5410), isa::permute_bytes(a, b, 0x7632)]
            }),
            _ => {
                let patch: [[T; N]; N] = self.patch(row, column);
                core::array::from_fn(|below| core::array::from_fn(|beside| patch[beside][below]))
            }
        }
    }

    /// The transposed patch, in words of `LANES` elements: `turn` transposes as many words of one
    /// column of words.
    #[inline(always)]
    #[track_caller]
    fn transposed_words<const N: usize, const LANES: usize>(
        &self,
        row: usize,
        column: usize,
        turn: impl Fn([u32; LANES]) -> [u32; LANES],
    ) -> [[T; N]; N] {
        let patch: [[u32; 4]; N] = core::array::from_fn(|below| words(self.vector::<N>(row + below, column)));
        let mut turned = [[0_u32; 4]; N];
        let mut column = |across: usize| {
            for down in 0..N / LANES {
                let rows = turn(core::array::from_fn(|nth| patch[down * LANES + nth][across]));
                // Not by an iterator, which would keep the words in local memory.
                for nth in 0..LANES {
                    turned[across * LANES + nth][down] = rows[nth];
                }
            }
        };
        // Written out, so that the compiler for the GPU unrolls all of it: its limit is by size.
        column(0);
        column(1);
        column(2);
        column(3);
        core::array::from_fn(|below| elements(turned[below]))
    }
}

/// 16 bytes of elements as words.
#[inline(always)]
fn words<T: Element, const N: usize>(elements: [T; N]) -> [u32; 4] {
    const { assert!(size_of::<[T; N]>() == 16) };
    // SAFETY: 16 bytes of plain data (`Element`), which are four words, whatever they are.
    unsafe { core::mem::transmute_copy(&elements) }
}

/// Four words as elements.
#[inline(always)]
fn elements<T: Element, const N: usize>(words: [u32; 4]) -> [T; N] {
    const { assert!(size_of::<[T; N]>() == 16) };
    // SAFETY: 16 bytes, and plain data is valid whatever its bytes are (`Element`).
    unsafe { core::mem::transmute_copy(&words) }
}

impl<T: Element, X: Extents, W: Swizzle> Index<(usize, usize)> for TensorTile<T, X, W> {
    type Output = T;

    /// The element in this row and column.
    ///
    /// # Panics
    ///
    /// If the tile has no such row or column.
    #[inline(always)]
    #[track_caller]
    fn index(&self, (row, column): (usize, usize)) -> &T {
        Self::check(row, column);
        let first = core::ptr::from_ref(self).cast::<u8>();
        // SAFETY: the element lies in the tile, and so does the place to which the swizzle moves
        // its 16 bytes: within its row, whose size is the swizzle's span (`BYTES`).
        let element = unsafe { first.add(Self::offset(row, column)) };
        // SAFETY: as above; plain data in a borrowed tile, aligned as an element: the swizzle moves
        // pieces of 16 bytes, and an element has at most 8 (`BYTES`).
        unsafe { &*element.cast::<T>() }
    }
}
