//! One tile of an output view, while it is being written.

mod computed;

use core::marker::PhantomData;

use bytemuck::Zeroable;

use super::arrangement::{Arrangement, Blocked, QUAD, Striped, check_shares};
use super::unrolled::unrolled;
use crate::element::Element;
use crate::fault;
use crate::group::block::Thread;
use crate::isa;
use crate::marker::{Brand, Uniform};
use crate::tile::Tile;
use crate::tile::tile2d::Tile2D;

/// A tile that an output is made of: `[T; LEN]` or `Tile2D<T, ROWS, COLUMNS>`.
///
/// # Safety
///
/// 0. Tiles of a view don't overlap: `STRIDE == COLUMNS`, `ROW_STRIDE == ROWS`, and there is no
///    lead.
/// 1. `Extent` is that of arrays only if `ROWS` is 1.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a tile of an output",
    note = "tiles of an output don't overlap and have no padding: `[T; LEN]` or `Tile2D<T, ROWS, COLUMNS>`"
)]
pub unsafe trait OutputTile: Tile {
    /// What of a tile lies in the view.
    #[doc(hidden)]
    type Extent: Extent;
}

// SAFETY: (0) an array has neither neighbours nor (1) several rows.
unsafe impl<T: Element, const LEN: usize> OutputTile for [T; LEN] {
    type Extent = OneRow;
}
// SAFETY: (0) it has no neighbours; (1) this is the extent of several rows.
unsafe impl<T: Element, const ROWS: usize, const COLUMNS: usize> OutputTile for Tile2D<T, ROWS, COLUMNS> {
    type Extent = SeveralRows;
}

/// What of a tile lies in the view, and how far its rows are apart. A tile of one row keeps its
/// length alone, so that it stays a pair of values, which the compiler passes in registers.
pub trait Extent: Copy + Uniform {
    #[doc(hidden)]
    fn new(pitch: usize, rows: usize, columns: usize) -> Self;

    /// Elements from one row's start to the next one's; 0 of a tile of one row.
    #[doc(hidden)]
    fn pitch(self) -> usize;

    /// Rows in the view.
    #[doc(hidden)]
    fn rows(self) -> usize;

    /// Elements of a row in the view.
    #[doc(hidden)]
    fn columns(self) -> usize;
}

/// The extent of a tile of one row.
#[derive(Clone, Copy)]
pub struct OneRow {
    columns: usize,
}

/// The extent of a tile of several rows.
#[derive(Clone, Copy)]
pub struct SeveralRows {
    pitch: usize,
    rows: usize,
    columns: usize,
}

impl Extent for OneRow {
    #[inline(always)]
    fn new(_: usize, _: usize, columns: usize) -> Self {
        OneRow { columns }
    }

    #[inline(always)]
    fn pitch(self) -> usize {
        0
    }

    #[inline(always)]
    fn rows(self) -> usize {
        1
    }

    #[inline(always)]
    fn columns(self) -> usize {
        self.columns
    }
}

impl Extent for SeveralRows {
    #[inline(always)]
    fn new(pitch: usize, rows: usize, columns: usize) -> Self {
        SeveralRows { pitch, rows, columns }
    }

    #[inline(always)]
    fn pitch(self) -> usize {
        self.pitch
    }

    #[inline(always)]
    fn rows(self) -> usize {
        self.rows
    }

    #[inline(always)]
    fn columns(self) -> usize {
        self.columns
    }
}

/// One tile of a [`TilesMut`](crate::TilesMut) or a [`TilesMut2D`](crate::TilesMut2D), in which
/// each thread of the group owns the elements that the arrangement `A` gives it, counted row by
/// row.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, TilesMut, kernel};
///
/// /// Numbers the elements of each tile from its last one on.
/// #[kernel]
/// pub fn from_the_end(block: Block<32>, mut out: TilesMut<u32, 100>) {
///     let mut results = out.for_block(&block);
///     for i in 0..results.len() {
///         let tile = results.get_mut(i);
///         let len = tile.len(); // 100, or fewer in the last tile
///         // Each thread writes the elements that it owns: here three of them, or four.
///         block.threads(|t| tile.set_each(&t, |element| (len - 1 - element) as u32));
///     }
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let mut out = device.zeroed(130)?;
/// # from_the_end::launch(&device.stream()?, 2, &mut out)?;
/// # assert_eq!(out.download()?, Vec::from_iter((0..100).rev().chain((0..30).rev())));
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
///
/// 0. The first `columns <= S::COLUMNS` elements of `rows <= S::ROWS` rows from `first` on, `pitch`
///    elements apart, are valid for writes, and this value is the only way to write them, but for
///    values that give each of them to the same thread. Neither number is 0.
/// 1. If `A::WIDE`, `first` is aligned to `S::ALIGNMENT`, and `pitch` elements are a multiple of it
///    if the tile has several rows; else `first` is aligned for an element.
/// 2. `S::LEN` is 1 to `u32::MAX`, as for the view.
pub struct TileMut<'v, 'b, S: OutputTile, const THREADS: usize, A = Striped> {
    first: *mut S::Element,
    extent: S::Extent,
    block: Brand<'b>,
    view: PhantomData<(&'v mut S::Element, A)>,
}

// SAFETY: (0) a closure reaches only the elements of the thread whose token it holds, so what it
// writes belongs to one thread; (1) there is no collective operation on a tile.
unsafe impl<S: OutputTile, A, const THREADS: usize> Uniform for TileMut<'_, '_, S, THREADS, A> {}

impl<'b, S: OutputTile, A: Arrangement, const THREADS: usize> TileMut<'_, 'b, S, THREADS, A> {
    /// How many elements of a whole tile a thread owns.
    pub const PER_THREAD: usize = {
        check_shares::<A>(S::ROWS, S::COLUMNS, THREADS);
        S::LEN.div_ceil(THREADS)
    };

    /// Makes the tile.
    ///
    /// # Safety
    ///
    /// The invariants hold.
    #[inline(always)]
    pub(super) unsafe fn new(first: *mut S::Element, extent: S::Extent) -> Self {
        TileMut { first, extent, block: PhantomData, view: PhantomData }
    }

    /// The calling thread's element number `nth`, counted row by row.
    #[inline(always)]
    fn element_of(&self, thread: &Thread<'_, 'b, THREADS>, nth: usize) -> usize {
        A::element(thread.rank(), nth, THREADS, Self::PER_THREAD, S::COLUMNS)
    }

    /// The row and the column of an element that is counted row by row. Past the tile's end the row
    /// or the column is past the tile's too.
    #[inline(always)]
    fn place_of(element: usize) -> (usize, usize) {
        if S::ROWS == 1 { (0, element) } else { (element / S::COLUMNS, element % S::COLUMNS) }
    }

    /// Whether a place lies in the view.
    #[inline(always)]
    fn has(&self, (row, column): (usize, usize)) -> bool {
        (S::ROWS == 1 || row < self.extent.rows()) && column < self.extent.columns()
    }

    /// Writes the calling thread's element number `nth`. Past the end of the view, or past an edge
    /// of it, nothing is written.
    ///
    /// # Panics
    ///
    /// If `nth >= Self::PER_THREAD`.
    #[inline(always)]
    #[track_caller]
    pub fn set_nth(&self, thread: &Thread<'_, 'b, THREADS>, nth: usize, value: S::Element) {
        if nth >= Self::PER_THREAD {
            let owned = Self::PER_THREAD;
            fault::out_of_range("element number {} is out of range: a thread owns {} of a tile", nth, owned);
        }
        let (row, column) = Self::place_of(self.element_of(thread, nth));
        if self.has((row, column)) {
            // SAFETY: the place lies in the view, so the address does (invariant 0).
            let address = unsafe { self.first.add(row * self.extent.pitch() + column) };
            // SAFETY: valid for writes (invariant 0 and the line above). The element belongs to
            // this thread alone: the token is the calling thread's in the group that this tile is
            // branded with, its rank is below THREADS (`Thread`, 0), `nth` is below PER_THREAD
            // (checked), and the arrangement is the view's, which gives different ranks different
            // elements, and different elements have different places. Its arithmetic does not
            // wrap: `rank + nth * THREADS` and `rank * PER_THREAD + nth` are below
            // `LEN + 2 * THREADS`, an element of a run or of a rectangle is below LEN
            // (`check_shares`), and LEN is at most `u32::MAX` (2).
            unsafe { isa::store_global(address, value) };
        }
    }

    /// How many elements [`set_places`](Self::set_places) stores at once: as many as make up to 16
    /// bytes, if a thread's elements lie in a row (or in runs) and such groups of them fill its
    /// share (or a run) and a row of the tile; else 1.
    pub(super) const LANES: usize = {
        let mut lanes = if A::WIDE { 16 } else { 1 };
        let in_a_row = match A::RUN {
            Some(run) => run,
            None => Self::PER_THREAD,
        };
        while lanes > 1
            && !(lanes * size_of::<S::Element>() <= 16
                && in_a_row.is_multiple_of(lanes)
                && S::COLUMNS.is_multiple_of(lanes))
        {
            lanes /= 2;
        }
        lanes
    };

    /// Writes run number `nth` of the calling thread, of an arrangement in runs of `N` elements,
    /// such as [`Runs<N>`](crate::Runs): its elements from number `nth * N` on, which lie in a row.
    /// A run is what `run::<N>` of a view reads, and has at most 64 elements.
    ///
    /// A run that lies in the view is stored in the widest accesses that its alignment allows: PTX
    /// `st.global.v4` for 16 bytes. Of one that does not, the elements that do are written.
    ///
    /// If the thread has no run of that number, the launch reports an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Runs, Tiles, TilesMut, kernel};
    ///
    /// /// Turns the bytes of each word around, in accesses of 16 bytes.
    /// #[kernel]
    /// pub fn turn(block: Block<32>, input: Tiles<u8, 512>, mut out: TilesMut<u8, 512, Runs<16>>) {
    ///     let mut results = out.for_block(&block);
    ///     for i in 0..results.len() {
    ///         let first = results.number(i) * 32;
    ///         let result = results.get_mut(i);
    ///         block.threads(|t| {
    ///             let (bytes, _) = input.run::<16>(first + t.rank());
    ///             result.set_run::<16>(&t, 0, core::array::from_fn(|byte| bytes[byte ^ 3]));
    ///         });
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let bytes = Vec::from_iter((0..2000).map(|byte| byte as u8));
    /// # let input = device.upload(&bytes)?;
    /// # let mut out = device.zeroed(2000)?;
    /// # turn::launch(&device.stream()?, 2, &input, &mut out)?;
    /// # assert_eq!(out.download()?, Vec::from_iter((0..2000).map(|at| bytes[at ^ 3])));
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn set_run<const N: usize>(&self, thread: &Thread<'_, 'b, THREADS>, nth: usize, values: [S::Element; N]) {
        const {
            assert!(
                matches!(A::RUN, Some(run) if run == N),
                "`set_run` writes a run of the arrangement: `Runs<N>` and `WarpRows<N>` have runs of `N` elements, `Micro<R, C>` of 4; \
                 `set_own` and `set_each` write in any arrangement"
            );
            assert!(N <= 64, "`set_run` writes at most 64 elements; `set_own` and `set_each` write runs of any length")
        };
        let runs = const { Self::PER_THREAD / N };
        if nth >= runs {
            fault::out_of_range("run number {} is out of range: a thread has {} of a tile", nth, runs);
        }
        let place = Self::place_of(self.element_of(thread, nth * N));
        // Who has asked for the tile's rows and columns before is not asked again for each run.
        let whole = self.extent.rows() == S::ROWS && self.extent.columns() == S::COLUMNS;
        if const { S::COLUMNS.is_multiple_of(N) } && (whole || self.has_row::<N>(place)) {
            // SAFETY: (0) just checked, or each place of the tile lies in the view; (1) they are
            // `N` of the thread's elements, whose numbers are below PER_THREAD (checked), and a
            // run, which starts at a multiple of `N`: the elements follow one another, in one row
            // of the tile, since `N` divides a row. An arrangement in runs is wide.
            unsafe { self.store_row(place, values) };
        } else {
            // By an index that is a constant, so that the values stay in registers.
            unrolled::<N>(|lane| self.set_nth(thread, nth * N + lane, values[lane]));
        }
    }

    /// Writes all of the calling thread's elements that lie in the view: `value(nth)` for its
    /// element number `nth`, which is below [`PER_THREAD`](Self::PER_THREAD). It is for what a
    /// thread has computed before and keeps, as `PerThread<[T; N]>`; `set_each` says an element by
    /// its place in the tile.
    ///
    /// Stores are as wide as those of [`set_each`](TileMut::set_each).
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Input, Runs, TilesMut, kernel};
    ///
    /// /// Each element, less the least of its tile.
    /// #[kernel]
    /// pub fn above_the_least(
    ///     block: Block<64>,
    ///     input: Input<i32>,
    ///     mut out: TilesMut<i32, 512, Runs<4>>,
    /// ) {
    ///     let mut results = out.for_block(&block);
    ///     for i in 0..results.len() {
    ///         // Runs of four, side by side with those of other threads.
    ///         let first = 128 * results.number(i);
    ///         let run = |nth: usize| input.run::<4>(first + nth).0;
    ///         let own = block.map(|t| [run(t.rank()), run(64 + t.rank())]);
    ///         let least = block.map(|t| {
    ///             own.get(&t).into_iter().flatten().fold(i32::MAX, i32::min)
    ///         });
    ///         let least = block.reduce(&least, i32::min);
    ///         let result = results.get_mut(i);
    ///         block.threads(|t| {
    ///             let own = own.get(&t);
    ///             result.set_own(&t, |nth| own[nth / 4][nth % 4] - least);
    ///         });
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let input = device.upload(&Vec::from_iter(100..1124))?;
    /// # let mut out = device.zeroed(1024)?;
    /// # above_the_least::launch(&device.stream()?, 2, &input, &mut out)?;
    /// # assert_eq!(out.download()?, [Vec::from_iter(0..512), Vec::from_iter(0..512)].concat());
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn set_own(&self, thread: &Thread<'_, 'b, THREADS>, value: impl Fn(usize) -> S::Element) {
        self.set_places(thread, |nth, _, _| value(nth));
    }

    /// Writes all of the calling thread's elements that lie in the view:
    /// `value(nth, element, place)` for each.
    #[inline(always)]
    fn set_places(&self, thread: &Thread<'_, 'b, THREADS>, value: impl Fn(usize, usize, (usize, usize)) -> S::Element) {
        // The number of lanes is a constant of the type, which no array's length can be.
        match Self::LANES {
            16 => self.set_rows::<16>(thread, value),
            8 => self.set_rows::<8>(thread, value),
            4 => self.set_rows::<4>(thread, value),
            2 => self.set_rows::<2>(thread, value),
            // Not `set_rows::<1>`: over groups of one the compiler for the GPU orders the loop
            // otherwise.
            _ => {
                for nth in 0..Self::PER_THREAD {
                    let element = self.element_of(thread, nth);
                    let place = Self::place_of(element);
                    if self.has(place) {
                        self.set_nth(thread, nth, value(nth, element, place));
                    }
                }
            }
        }
    }

    /// As [`set_places`](Self::set_places), `N` elements in a row at a time; `N` is `LANES`, which
    /// divides a thread's share: a run does, too (`check_shares`).
    #[inline(always)]
    fn set_rows<const N: usize>(
        &self,
        thread: &Thread<'_, 'b, THREADS>,
        value: impl Fn(usize, usize, (usize, usize)) -> S::Element,
    ) {
        let groups = const { Self::PER_THREAD / N };
        if A::RECTANGLE.is_none() {
            for group in 0..groups {
                self.set_group::<N>(thread, group * N, false, &value);
            }
            return;
        }
        // What a thread keeps of a rectangle is more than LLVM unrolls a loop for.
        const {
            assert!(
                A::RECTANGLE.is_none() || Self::PER_THREAD / N <= 64,
                "a thread's rectangle has at most 64 runs of 4 elements"
            )
        };
        // Where the elements lie is worked out here, and not kept in registers while a product is
        // computed: of 16 rows that is more than there are.
        let rank = isa::opaque_here(thread.rank());
        // SAFETY: it is the thread's rank still. An index of a tile by the element's place is known
        // to lie in it only with this.
        unsafe { core::hint::assert_unchecked(rank < THREADS) };
        // SAFETY: the same thread's token, for this call.
        let thread = &unsafe { Thread::new(rank) };
        let whole = self.extent.rows() == S::ROWS && self.extent.columns() == S::COLUMNS;
        if const { Self::has_squares::<N>() } {
            unrolled::<16>(|square| {
                if square * QUAD < groups && whole {
                    self.set_square::<N>(thread, square * QUAD * N, &value);
                }
            });
        } else {
            unrolled::<64>(|group| {
                if group < groups && whole {
                    self.set_group::<N>(thread, group * N, true, &value);
                }
            });
        }
        // Without the wide stores of a tile that is cut off: the code would be twice as long.
        unrolled::<64>(|group| {
            if group < groups && !whole {
                self.set_lanes::<N>(thread, group * N, &value);
            }
        });
    }

    /// As [`set_rows`](Self::set_rows), the `N` elements from the thread's element number `first`
    /// on. If `whole`, all of the tile lies in the view.
    #[inline(always)]
    fn set_group<const N: usize>(
        &self,
        thread: &Thread<'_, 'b, THREADS>,
        first: usize,
        whole: bool,
        value: &impl Fn(usize, usize, (usize, usize)) -> S::Element,
    ) {
        let element = self.element_of(thread, first);
        let (row, column) = Self::place_of(element);
        if whole || self.has_row::<N>((row, column)) {
            let mut values = [S::Element::zeroed(); N];
            for (lane, to) in values.iter_mut().enumerate() {
                *to = value(first + lane, element + lane, (row, column + lane));
            }
            // SAFETY: (0) just checked, or each place of the tile lies in the view; (1) several
            // lanes are those of a wide arrangement, whose elements follow one another in a
            // thread's share or in its runs, of which `first` begins a group of N; N divides the
            // share or the run and a row of the tile, and with them `first`, the element and the
            // column.
            unsafe { self.store_row((row, column), values) };
        } else {
            self.set_lanes::<N>(thread, first, value);
        }
    }

    /// Whether a thread's rectangle is a column of squares, each of whose rows is stored at once.
    const fn has_squares<const N: usize>() -> bool {
        matches!(A::RECTANGLE, Some((_, QUAD))) && N == QUAD
    }

    /// As [`set_group`](Self::set_group), the square of `N` by `N` elements that begins with the
    /// thread's element number `first`, of a tile that lies in the view as a whole. All values are
    /// there before one is stored: those that lie below one another here may be read at once.
    #[inline(always)]
    fn set_square<const N: usize>(
        &self,
        thread: &Thread<'_, 'b, THREADS>,
        first: usize,
        value: &impl Fn(usize, usize, (usize, usize)) -> S::Element,
    ) {
        let start = |line: usize| {
            let element = self.element_of(thread, first + line * N);
            (element, Self::place_of(element))
        };
        let mut values = [[S::Element::zeroed(); N]; QUAD];
        for (line, to) in values.iter_mut().enumerate() {
            let (element, (row, column)) = start(line);
            for (lane, to) in to.iter_mut().enumerate() {
                *to = value(first + line * N + lane, element + lane, (row, column + lane));
            }
        }
        for (line, values) in values.into_iter().enumerate() {
            // SAFETY: as in `set_group`: (0) each place of the tile lies in the view; (1) `N` in a
            // row are a run of the arrangement.
            unsafe { self.store_row(start(line).1, values) };
        }
    }

    /// As [`set_group`](Self::set_group), one element at a time.
    #[inline(always)]
    fn set_lanes<const N: usize>(
        &self,
        thread: &Thread<'_, 'b, THREADS>,
        first: usize,
        value: &impl Fn(usize, usize, (usize, usize)) -> S::Element,
    ) {
        let element = self.element_of(thread, first);
        let (row, column) = Self::place_of(element);
        for lane in 0..N {
            let place = (row, column + lane);
            if self.has(place) {
                self.set_nth(thread, first + lane, value(first + lane, element + lane, place));
            }
        }
    }

    /// Whether `N` places in a row, from this one on, lie in the view.
    #[inline(always)]
    fn has_row<const N: usize>(&self, (row, column): (usize, usize)) -> bool {
        (S::ROWS == 1 || row < self.extent.rows()) && column + N <= self.extent.columns()
    }

    /// Stores `N` elements in a row, in the widest accesses that their alignment allows.
    ///
    /// # Safety
    ///
    /// 0. The places lie in the view.
    /// 1. Their elements belong to the calling thread, as in [`set_nth`](Self::set_nth). The
    ///    arrangement is wide, and `N` divides a row of the tile and the column.
    #[inline(always)]
    unsafe fn store_row<const N: usize>(&self, (row, column): (usize, usize), values: [S::Element; N]) {
        // SAFETY: the place lies in the view (0), so the address does (invariant 0).
        let address = unsafe { self.first.add(row * self.extent.pitch() + column) };
        // SAFETY: N elements from there on lie in the view (0) and belong to this thread (1). The
        // address is aligned to each power of two up to 16 that divides N elements: N divides a row
        // of the tile and `column`, so that the power divides ALIGNMENT, and with it `first` and
        // the pitch (invariant 1, the arrangement is wide), and the column. An element is aligned
        // to at most 16 (`checked_stride`).
        unsafe { isa::store_global_row(address, values) };
    }
}

impl<'b, T: Element, A: Arrangement, const LEN: usize, const THREADS: usize> TileMut<'_, 'b, [T; LEN], THREADS, A> {
    /// Returns how many of the tile's elements lie in the view: `LEN`, or fewer in the last tile.
    #[expect(clippy::len_without_is_empty, reason = "a tile of a view has an element")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.extent.columns()
    }

    /// Returns which element of the tile is the calling thread's element number `nth`:
    /// `rank + nth * THREADS` if the arrangement is [`Striped`], `rank * PER_THREAD + nth` if it is
    /// [`Blocked`], `(nth / N * THREADS + rank) * N + nth % N` if it is [`Runs<N>`](crate::Runs).
    /// It may lie past the tile's end.
    #[inline(always)]
    pub fn element(&self, thread: &Thread<'_, 'b, THREADS>, nth: usize) -> usize {
        self.element_of(thread, nth)
    }

    /// Writes all of the calling thread's elements: `value(e)` for each element `e` of the tile
    /// that it owns and that lies in the view.
    ///
    /// Of a [`Blocked`] output, or one in [`Runs`](crate::Runs), up to 16 bytes are computed and
    /// then stored at once (PTX `st.global.v4`), if a thread's elements (a run) are whole groups of
    /// so many.
    #[inline(always)]
    pub fn set_each(&self, thread: &Thread<'_, 'b, THREADS>, value: impl Fn(usize) -> T) {
        self.set_places(thread, |_, element, _| value(element));
    }

    /// Writes the calling thread's element of a tile that has as many as the group has threads:
    /// element `rank`. Past the end of the view nothing is written.
    #[inline(always)]
    pub fn set(&self, thread: &Thread<'_, 'b, THREADS>, value: T)
    where
        [T; LEN]: OneEach<THREADS>,
    {
        self.set_nth(thread, 0, value);
    }
}

/// Says that a tile has one element for each of `THREADS` threads.
#[diagnostic::on_unimplemented(
    message = "a thread of {THREADS} owns several elements of `{Self}`, or none: `set` writes one each",
    label = "not a tile of one element a thread",
    note = "`set_each(&t, |e| ..)` writes all elements that the thread owns, `set_nth(&t, nth, ..)` one of them, `set_own(&t, |nth| ..)` \
            what it has kept in registers"
)]
pub trait OneEach<const THREADS: usize> {}
impl<T: Element, const THREADS: usize> OneEach<THREADS> for [T; THREADS] {}

impl<'b, T: Element, A: Arrangement, const ROWS: usize, const COLUMNS: usize, const THREADS: usize>
    TileMut<'_, 'b, Tile2D<T, ROWS, COLUMNS>, THREADS, A>
{
    /// Returns how many of the tile's rows lie in the view.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.extent.rows()
    }

    /// Returns how many of the tile's columns lie in the view.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.extent.columns()
    }

    /// Returns the row and column in the tile of the calling thread's element number `nth`, which,
    /// counted row by row, is the element that [`element`](TileMut::element) says of a tile in one
    /// dimension. It may lie past the tile's end.
    #[inline(always)]
    pub fn place(&self, thread: &Thread<'_, 'b, THREADS>, nth: usize) -> (usize, usize) {
        Self::place_of(self.element_of(thread, nth))
    }

    /// Writes all of the calling thread's elements: `value(row, column)` for each of its places in
    /// the tile that lies in the view; in accesses as in one dimension.
    #[inline(always)]
    pub fn set_each(&self, thread: &Thread<'_, 'b, THREADS>, value: impl Fn(usize, usize) -> T) {
        self.set_places(thread, |_, _, (row, column)| value(row, column));
    }

    /// Writes the calling thread's element of a tile that has as many as the group has threads, or
    /// it does not compile: element `rank`, counted row by row. Past an edge of the view nothing is
    /// written.
    #[inline(always)]
    pub fn set(&self, thread: &Thread<'_, 'b, THREADS>, value: T) {
        const {
            assert!(
                ROWS * COLUMNS == THREADS,
                "`set` writes a tile of one element a thread; `set_each` writes all that a thread owns, `set_nth` one of them"
            )
        };
        self.set_nth(thread, 0, value);
    }
}

impl<'b, S: OutputTile, const THREADS: usize> TileMut<'_, 'b, S, THREADS, Blocked> {
    /// Writes the calling thread's `N` elements, which lie in a row, in the widest accesses that
    /// their alignment allows: PTX `st.global.v4` for 16 bytes. Past the end of the view nothing is
    /// written.
    ///
    /// `N` is `LEN / THREADS`, and of a tile with rows it divides a row, or it does not compile.
    #[inline(always)]
    pub fn set_all<const N: usize>(&self, thread: &Thread<'_, 'b, THREADS>, values: [S::Element; N]) {
        const {
            assert!(
                N * THREADS == S::LEN,
                "`set_all` takes all elements that a thread owns, `LEN / THREADS` of them, of a tile whose length is a multiple of \
                 THREADS; `set_nth` writes one, `set_each` those that there are"
            );
            assert!(
                S::COLUMNS.is_multiple_of(N),
                "`set_all` writes elements that lie in a row: the number of columns is a multiple of those that a thread owns; \
                 `set_each` writes those of several rows"
            )
        };
        let place = Self::place_of(self.element_of(thread, 0));
        if self.has_row::<N>(place) {
            // SAFETY: (0) just checked; (1) they are the thread's elements 0 to N - 1 of a blocked
            // arrangement; N is a thread's share and divides a row of the tile (asserted), and with
            // it the column of the share's start.
            unsafe { self.store_row(place, values) };
        } else {
            for (nth, value) in values.into_iter().enumerate() {
                self.set_nth(thread, nth, value);
            }
        }
    }
}
