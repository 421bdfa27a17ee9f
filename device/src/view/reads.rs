//! Reads of a view at any place: one element, or several in a row.

use super::geometry::Rows;
use super::geometry::sealed::Geometry as _;
use super::tiles::TileView;
use crate::tile::Tile;
use crate::{fault, isa};

impl<S: Tile> TileView<'_, S> {
    /// Returns element `index` of the view, wherever it lies: for gathers, tables and searches.
    ///
    /// At block level the result is the same in every thread; in a closure each thread reads its
    /// own. Nobody writes the view during the launch, so no read needs a barrier, and a thread may
    /// get the value from a cache that is not kept coherent.
    ///
    /// PTX: `ld.global.nc` after a comparison. CUDA: `__ldg`.
    ///
    /// # Threads
    ///
    /// Block level, any group, or a per-thread closure.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Input, Tiles, TilesMut, kernel};
    ///
    /// /// `table[index[i]]` for each `i`.
    /// #[kernel]
    /// pub fn gather(
    ///     block: Block<64>,
    ///     index: Tiles<u32, 64>,
    ///     table: Input<f32>,
    ///     mut out: TilesMut<f32, 64>,
    /// ) {
    ///     let mut results = out.for_block(&block);
    ///     for i in 0..results.len() {
    ///         let first = 64 * (i * block.grid() + block.index());
    ///         let dst = results.get_mut(i);
    ///         // Beyond the end of `index` there is nothing to look up, and nothing is written.
    ///         block.threads(|t| {
    ///             if let Some(place) = index.get(first + t.rank()) {
    ///                 dst.set(&t, table.at(place as usize));
    ///             }
    ///         });
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let index: Vec<u32> = (0..100).map(|i| i * i % 7).collect();
    /// # let table = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5];
    /// # let (indices, values) = (device.upload(&index)?, device.upload(&table)?);
    /// # let mut out = device.zeroed(100)?;
    /// # gather::launch(&device.stream()?, 2, &indices, &values, &mut out)?;
    /// # let expected: Vec<f32> = index.iter().map(|i| *i as f32 + 0.5).collect();
    /// # assert_eq!(out.download()?, expected);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, index: usize) -> S::Element {
        match self.get(index) {
            Some(value) => value,
            None => fault::out_of_range("index {} is out of range: the view has {} elements", index, self.len()),
        }
    }

    /// Returns element `index` of the view, or `None` if there is none; see [`at`](Self::at).
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<S::Element> {
        // SAFETY: an element of the view, aligned as the base is and the elements are, which nobody
        // writes during the launch (0, 1 of `TileView`).
        (index < self.len()).then(|| unsafe { isa::load_input(self.base().wrapping_add(index)) })
    }

    /// Returns run `nth` of `N` elements in a row, those from `nth * N` on, and how many of them
    /// the view has. What lies beyond its end is zero: the last run may be partial, and a run after
    /// that has no element.
    ///
    /// # Threads
    ///
    /// Block level, any group, or a per-thread closure. Threads next to one another should read
    /// runs next to one another, of 16 bytes where that is possible.
    ///
    /// # Lowering
    ///
    /// PTX: `ld.global.nc` in accesses as wide as the largest power of two, up to 16 bytes, that
    /// divides the run's size: `ld.global.nc.v4.b32` for `run::<4>` of `f32`, four of them for
    /// `run::<16>`. Where the view's type does not say that its start is aligned to that (tiles of
    /// [`Input`](crate::Input) are single elements), its address decides, and a view that is not
    /// aligned is read element by element. CUDA: `reinterpret_cast<const float4 *>(input)[nth]`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Input, TilesMut, kernel};
    ///
    /// /// One total a block.
    /// #[kernel]
    /// pub fn totals(block: Block<64>, input: Input<f32>, mut out: TilesMut<f32, 1>) {
    ///     let (first, stride) = (64 * block.index(), 64 * block.grid());
    ///     let sums = block.map(|t| {
    ///         let mut sum = 0.0;
    ///         let mut nth = first + t.rank();
    ///         loop {
    ///             // Elements beyond the end are zero, and change no sum.
    ///             let (values, valid) = input.run::<4>(nth);
    ///             if valid == 0 {
    ///                 break sum;
    ///             }
    ///             sum += values.iter().sum::<f32>();
    ///             nth += stride;
    ///         }
    ///     });
    ///     let total = block.reduce(&sums, |a, b| a + b);
    ///     let mut totals = out.for_block(&block);
    ///     for i in 0..totals.len() {
    ///         let dst = totals.get_mut(i);
    ///         block.threads(|t| dst.set_each(&t, |_| total));
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let (input, mut out) = (device.upload(&[1.0_f32; 1001])?, device.zeroed(3)?);
    /// # totals::launch(&device.stream()?, 3, &input, &mut out)?;
    /// # assert_eq!(out.download()?.iter().sum::<f32>(), 1001.0);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn run<const N: usize>(&self, nth: usize) -> ([S::Element; N], usize) {
        // SAFETY: the view's elements, in one row (0, 1 of `TileView`).
        unsafe { run::<S, N>(self.base(), self.len(), nth) }
    }
}

impl<S: Tile> TileView<'_, S, Rows> {
    /// Returns the element in this row and column of the view, wherever it lies; see
    /// [`at`](TileView::at) of a view of one dimension.
    ///
    /// PTX: `ld.global.nc` after two comparisons.
    ///
    /// # Threads
    ///
    /// Block level, any group, or a per-thread closure.
    ///
    /// # Panics
    ///
    /// If there is no such row or column: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, row: usize, column: usize) -> S::Element {
        if row >= self.height() {
            fault::out_of_range("row {} is out of range: the view has {}", row, self.height());
        }
        if column >= self.width() {
            fault::out_of_range("column {} is out of range: the view has {}", column, self.width());
        }
        // SAFETY: just checked.
        unsafe { self.element(row, column) }
    }

    /// Returns the element in this row and column of the view, or `None` if there is none.
    #[inline(always)]
    pub fn get(&self, row: usize, column: usize) -> Option<S::Element> {
        // SAFETY: just checked.
        (row < self.height() && column < self.width()).then(|| unsafe { self.element(row, column) })
    }

    /// The element in this row and column.
    ///
    /// # Safety
    ///
    /// There is one.
    #[inline(always)]
    unsafe fn element(&self, row: usize, column: usize) -> S::Element {
        // No overflow: an element of the view (0).
        let offset = row * self.geometry().pitch() + column;
        // SAFETY: it is aligned as the base, the pitch and the elements are, and nobody writes it
        // during the launch (0, 1 of `TileView`).
        unsafe { isa::load_input(self.base().wrapping_add(offset)) }
    }

    /// Returns run `nth` of `N` elements of row `row`, those from column `nth * N` on, and how many
    /// of them the row has. What lies beyond its end is zero, and so is all of a row that the view
    /// does not have; see [`run`](TileView::run) of a view of one dimension.
    ///
    /// # Threads
    ///
    /// Block level, any group, or a per-thread closure.
    #[inline(always)]
    pub fn run<const N: usize>(&self, row: usize, nth: usize) -> ([S::Element; N], usize) {
        if row >= self.height() {
            return (bytemuck::Zeroable::zeroed(), 0);
        }
        // No overflow: a row of the view.
        let first = self.base().wrapping_add(row * self.geometry().pitch());
        // SAFETY: the elements of a row of the view; the start of each is the base and a multiple
        // of the pitch (0, 1 of `TileView`).
        unsafe { run::<S, N>(first, self.width(), nth) }
    }
}

/// Run `nth` of `N` elements among `len` from `first` on, and how many of them there are.
///
/// # Safety
///
/// 0. `first` is valid for reads of `len` elements, which nobody writes during the launch.
/// 1. It is aligned for an element, and to `S::ALIGNMENT`.
#[inline(always)]
unsafe fn run<S: Tile, const N: usize>(first: *const S::Element, len: usize, nth: usize) -> ([S::Element; N], usize) {
    const { assert!(N > 0, "a run has at least one element") };
    let element = const { align_of::<S::Element>() };
    // The largest power of two, up to 16, that divides the run's size: at least an element's
    // alignment, which divides the element's size and is at most 16.
    let width = const { 1 << (16 | (size_of::<S::Element>() * N)).trailing_zeros() };
    let (whole, rest) = (len / N, len % N);
    if nth < whole {
        // No overflow: the run lies within the elements.
        let from = first.wrapping_add(nth * N);
        if width <= S::ALIGNMENT || first.addr().is_multiple_of(width) {
            // SAFETY: (0) `N` of the elements (0); the first one is aligned to `width` (1, or just
            // checked), and so is each run after a multiple of the run's size. (1) Aligned (1).
            (unsafe { isa::load_input_row(from, width) }, N)
        } else {
            // SAFETY: (0) `N` of the elements (0), aligned for one (1), whose alignment divides
            // their size. (1) As that.
            (unsafe { isa::load_input_row(from, element) }, N)
        }
    } else {
        let valid = if nth == whole { rest } else { 0 };
        let values = core::array::from_fn(|index| {
            if index < valid {
                // SAFETY: one of the last elements (0), which number `rest`; aligned (1).
                unsafe { isa::load_input(first.wrapping_add(whole * N + index)) }
            } else {
                bytemuck::Zeroable::zeroed()
            }
        });
        (values, valid)
    }
}
