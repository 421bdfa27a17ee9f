//! Matrix products of tiles in shared memory, in rectangles of sums that each thread keeps in
//! registers.

use super::arrangement::{Micro, QUAD, corner};
use super::tile::TileMut;
use super::unrolled::unrolled;
use crate::element::Element;
use crate::element::math::{self, Float};
use crate::group::block::Thread;
use crate::tile::tile2d::{ColumnTile2D, Tile2D};

impl<'b, T, const ROWS: usize, const COLUMNS: usize, const THREADS: usize, const R: usize, const C: usize>
    TileMut<'_, 'b, Tile2D<T, ROWS, COLUMNS>, THREADS, Micro<R, C>>
where
    T: Element + Float,
{
    /// Adds to the calling thread's sums its rectangle of the product of two tiles: for each of its
    /// `R` rows and `C` columns the products of a row of `left` and a column of `right`, in order
    /// of the steps `k`, each by one [`math::fma`]. [`set_own`](TileMut::set_own) writes the sums.
    ///
    /// `sums[i][j]` belongs to element `i * C + j` of the thread. `K` is 1 to 64, or it does not
    /// compile; all of its steps are written out in the code, so 8 or 16 are enough.
    ///
    /// What lies beyond the edges of the inputs is copied as zeros, and adds products with zero.
    ///
    /// PTX of a step: `R / 4` loads of 4 elements of a column of `left`, `C / 4` of 4 elements of a
    /// row of `right` (`ld.shared.v4.f32`), and `R * C` `fma.rn`. With a `PAD` that is a multiple
    /// of 4 `f32` no load has a bank conflict. CUDA has no function for it.
    ///
    /// # Threads
    ///
    /// A per-thread closure.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{
    ///     Block, ColumnTile2D, ColumnTiles2D, Micro, Shared, Stages, Tile2D, Tiles2D, TilesMut2D,
    ///     kernel,
    /// };
    ///
    /// type Steps = (ColumnTile2D<f32, 32, 8, 4>, Tile2D<f32, 8, 64>);
    ///
    /// /// The product of two matrices.
    /// #[kernel]
    /// pub fn product(
    ///     block: Block<64>,
    ///     left: ColumnTiles2D<f32, 32, 8, 4>,
    ///     right: Tiles2D<f32, 8, 64>,
    ///     mut out: TilesMut2D<f32, 32, 64, Micro<4, 8>>,
    ///     mut shared: Shared<Stages<Steps, 3>>,
    /// ) {
    ///     let mut results = out.for_block(&block);
    ///     let places = results.places();
    ///     for i in 0..places.len() {
    ///         let (row, column) = places.get(i);
    ///         let result = results.get_mut(i);
    ///         let mut sums = block.map(|_| [[0.0; 8]; 4]);
    ///         let (lefts, rights) = (left.row_of_tiles(row), right.column_of_tiles(column));
    ///         let pipeline = shared.pipeline(&block).for_each(
    ///             lefts.len(),
    ///             |stage, step| stage.copy((lefts.get(step), rights.get(step))),
    ///             |tiles, _| {
    ///                 let (left, right) = tiles.tiles();
    ///                 block.update(&mut sums, |t, sums| {
    ///                     result.add_product(&t, sums, left, right);
    ///                 });
    ///             },
    ///         );
    ///         shared = pipeline.finish();
    ///         block.threads(|t| {
    ///             let sums = sums.get(&t);
    ///             result.set_own(&t, |nth| sums[nth / 8][nth % 8]);
    ///         });
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let (rows, steps, columns) = (41, 19, 70);
    /// # let left: Vec<f32> = (0..rows * steps).map(|i| (i % 7) as f32).collect();
    /// # let right: Vec<f32> = (0..steps * columns).map(|i| (i % 5) as f32).collect();
    /// # let lefts = device.upload_2d(&left, steps)?;
    /// # let rights = device.upload_2d(&right, columns)?;
    /// # let mut out = device.zeroed_2d(columns, rows)?;
    /// # product::launch(&device.stream()?, 3, &lefts, &rights, &mut out)?;
    /// # let at = |row, column, k| left[row * steps + k] * right[k * columns + column];
    /// # let sum = |i| (0..steps).map(|k| at(i / columns, i % columns, k)).sum::<f32>();
    /// # let out = out.download()?;
    /// # assert!((0..rows * columns).all(|i| out[i] == sum(i)));
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn add_product<const K: usize, const LEFT_PAD: usize, const RIGHT_PAD: usize>(
        &self,
        thread: &Thread<'_, 'b, THREADS>,
        sums: &mut [[T; C]; R],
        left: &ColumnTile2D<T, ROWS, K, LEFT_PAD>,
        right: &Tile2D<T, K, COLUMNS, RIGHT_PAD>,
    ) {
        const {
            assert!(K > 0 && K <= STEPS, "`add_product` has all of its steps in the code: `K` is 1 to 64");
            // The rectangle is checked: so R divides ROWS, C divides COLUMNS, and all are
            // multiples of 4.
            assert!(Self::PER_THREAD == R * C);
        }
        let steps = Steps::<T, ROWS, COLUMNS, K, LEFT_PAD, RIGHT_PAD, R, C>::new(left, right, thread.rank());
        unrolled::<STEPS>(|k| {
            if k < K {
                // SAFETY: a step of the tiles, which are borrowed for this call, and the rank of a
                // thread of the output's block, whose rectangle is checked above.
                let step = unsafe { steps.load(k) };
                step.add_to(sums);
            }
        });
    }

    /// [`add_product`](Self::add_product) to a product that goes on from stage to stage: the last
    /// step of these tiles is added by the next call, or by [`RunningProduct::sums`]. The sums are
    /// the same to the bit.
    ///
    /// So a call loads its first numbers, which it needs later, and multiplies numbers that are
    /// there. With `add_product` all warps wait for shared memory behind the pipeline's barrier
    /// (measured: docs/decisions/79). It takes `R + C` registers more.
    ///
    /// PTX of a step: that of `add_product`, the loads in front of the step's before.
    ///
    /// # Threads
    ///
    /// A per-thread closure.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{
    ///     Block, ColumnTile2D, ColumnTiles2D, Micro, RunningProduct, Shared, Stages, Tile2D,
    ///     Tiles2D, TilesMut2D, kernel,
    /// };
    ///
    /// type Steps = (ColumnTile2D<f64, 32, 8, 2>, Tile2D<f64, 8, 32>);
    ///
    /// /// The product of two matrices.
    /// #[kernel]
    /// pub fn product(
    ///     block: Block<64>,
    ///     left: ColumnTiles2D<f64, 32, 8, 2>,
    ///     right: Tiles2D<f64, 8, 32>,
    ///     mut out: TilesMut2D<f64, 32, 32, Micro<4, 4>>,
    ///     mut shared: Shared<Stages<Steps, 2>>,
    /// ) {
    ///     let mut results = out.for_block(&block);
    ///     let places = results.places();
    ///     for i in 0..places.len() {
    ///         let (row, column) = places.get(i);
    ///         let result = results.get_mut(i);
    ///         let mut product = block.map(|_| RunningProduct::zero());
    ///         let (lefts, rights) = (left.row_of_tiles(row), right.column_of_tiles(column));
    ///         let pipeline = shared.pipeline(&block).for_each(
    ///             lefts.len(),
    ///             |stage, step| stage.copy((lefts.get(step), rights.get(step))),
    ///             |tiles, _| {
    ///                 let (left, right) = tiles.tiles();
    ///                 block.update(&mut product, |t, product| {
    ///                     result.continue_product(&t, product, left, right);
    ///                 });
    ///             },
    ///         );
    ///         shared = pipeline.finish();
    ///         block.threads(|t| {
    ///             let sums = product.get(&t).sums();
    ///             result.set_own(&t, |nth| sums[nth / 4][nth % 4]);
    ///         });
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let (rows, steps, columns) = (41, 19, 70);
    /// # let left: Vec<f64> = (0..rows * steps).map(|i| (i % 7) as f64).collect();
    /// # let right: Vec<f64> = (0..steps * columns).map(|i| (i % 5) as f64).collect();
    /// # let lefts = device.upload_2d(&left, steps)?;
    /// # let rights = device.upload_2d(&right, columns)?;
    /// # let mut out = device.zeroed_2d(columns, rows)?;
    /// # product::launch(&device.stream()?, 3, &lefts, &rights, &mut out)?;
    /// # let at = |row, column, k| left[row * steps + k] * right[k * columns + column];
    /// # let sum = |i| (0..steps).map(|k| at(i / columns, i % columns, k)).sum::<f64>();
    /// # let out = out.download()?;
    /// # assert!((0..rows * columns).all(|i| out[i] == sum(i)));
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn continue_product<const K: usize, const LEFT_PAD: usize, const RIGHT_PAD: usize>(
        &self,
        thread: &Thread<'_, 'b, THREADS>,
        product: &mut RunningProduct<T, R, C>,
        left: &ColumnTile2D<T, ROWS, K, LEFT_PAD>,
        right: &Tile2D<T, K, COLUMNS, RIGHT_PAD>,
    ) {
        const {
            assert!(K > 0 && K <= STEPS, "`continue_product` has all of its steps in the code: `K` is 1 to 64");
            // As in `add_product`.
            assert!(Self::PER_THREAD == R * C);
        }
        let steps = Steps::<T, ROWS, COLUMNS, K, LEFT_PAD, RIGHT_PAD, R, C>::new(left, right, thread.rank());
        unrolled::<STEPS>(|k| {
            if k < K {
                // SAFETY: a step of the tiles, which are borrowed for this call, and the rank of a
                // thread of the output's block, whose rectangle is checked above.
                let step = unsafe { steps.load(k) };
                product.step.add_to(&mut product.sums);
                product.step = step;
            }
        });
    }
}

/// A thread's `R` by `C` sums of a matrix product that goes on from stage to stage, by
/// [`TileMut::continue_product`]: a value of [`Block::map`](crate::Block::map). It remembers the
/// numbers of one step, whose products are not added yet, in registers.
#[derive(Clone, Copy, Debug)]
pub struct RunningProduct<T, const R: usize, const C: usize> {
    sums: [[T; C]; R],
    /// Loaded, and not added yet.
    step: Step<T, R, C>,
}

impl<T: Element + Float, const R: usize, const C: usize> RunningProduct<T, R, C> {
    /// A product of no steps, whose sums are zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { sums: [[T::zeroed(); C]; R], step: Step { column: [T::zeroed(); R], row: [T::zeroed(); C] } }
    }

    /// Adds the products of the last step, and returns the sums: element `i * C + j` of the thread
    /// is `[i][j]`, as [`TileMut::set_own`] takes them.
    #[inline(always)]
    pub fn sums(mut self) -> [[T; C]; R] {
        self.step.add_to(&mut self.sums);
        self.sums
    }
}

/// A thread's numbers of a step: its rows' of the left tile, its columns' of the right one.
#[derive(Clone, Copy, Debug)]
struct Step<T, const R: usize, const C: usize> {
    column: [T; R],
    row: [T; C],
}

impl<T: Element + Float, const R: usize, const C: usize> Step<T, R, C> {
    /// Adds the step's products.
    #[inline(always)]
    fn add_to(&self, sums: &mut [[T; C]; R]) {
        unrolled::<R>(|i| {
            unrolled::<C>(|j| {
                // Back and forth: neighbouring instructions share an operand.
                let j = if i % 2 == 0 { j } else { C - 1 - j };
                sums[i][j] = math::fma(self.column[i], self.row[j], sums[i][j]);
            });
        });
    }
}

/// A thread's rectangle in two tiles.
struct Steps<
    T,
    const ROWS: usize,
    const COLUMNS: usize,
    const K: usize,
    const LEFT_PAD: usize,
    const RIGHT_PAD: usize,
    const R: usize,
    const C: usize,
> {
    left: *const T,
    right: *const T,
}

impl<
    T: Element + Float,
    const ROWS: usize,
    const COLUMNS: usize,
    const K: usize,
    const LEFT_PAD: usize,
    const RIGHT_PAD: usize,
    const R: usize,
    const C: usize,
> Steps<T, ROWS, COLUMNS, K, LEFT_PAD, RIGHT_PAD, R, C>
{
    /// The rectangle of the thread of a rank.
    #[inline(always)]
    fn new(left: &ColumnTile2D<T, ROWS, K, LEFT_PAD>, right: &Tile2D<T, K, COLUMNS, RIGHT_PAD>, rank: usize) -> Self {
        let (above, on_the_left) = corner::<C>(rank, COLUMNS);
        let left = core::ptr::from_ref(left).cast::<T>();
        let right = core::ptr::from_ref(right).cast::<T>();
        Self { left: left.wrapping_add(above * QUAD), right: right.wrapping_add(on_the_left * QUAD) }
    }

    /// Loads step `k`.
    ///
    /// # Safety
    ///
    /// `k < K`, the tiles are readable, the rank is that of a thread of the output's block, and
    /// `TileMut::PER_THREAD` of its output was evaluated, which checks the rectangle.
    #[inline(always)]
    unsafe fn load(&self, k: usize) -> Step<T, R, C> {
        let (down, across) = (const { ROWS / R }, const { COLUMNS / C });
        let mut column = [T::zeroed(); R];
        unrolled::<R>(|i| {
            if i % QUAD == 0 {
                // SAFETY: an element of column k < K, in row `(above + i / 4 * down) * 4` with
                // `above < down`, which `new` has added, and i < R: at most ROWS - 4.
                let first = unsafe { self.left.add(k * (ROWS + LEFT_PAD) + i * down) };
                // SAFETY: so it and the next three are elements of the tile.
                let quad = unsafe { read(first) };
                unrolled::<QUAD>(|lane| column[i + lane] = quad[lane]);
            }
        });
        let mut row = [T::zeroed(); C];
        unrolled::<C>(|j| {
            if j % QUAD == 0 {
                // SAFETY: likewise in row k, with `on_the_left < across` and j < C.
                let first = unsafe { self.right.add(k * (COLUMNS + RIGHT_PAD) + j * across) };
                // SAFETY: as above.
                let quad = unsafe { read(first) };
                unrolled::<QUAD>(|lane| row[j + lane] = quad[lane]);
            }
        });
        Step { column, row }
    }
}

/// The most steps of a product.
const STEPS: usize = 64;

/// Reads elements in a row.
///
/// # Safety
///
/// They are readable.
#[inline(always)]
unsafe fn read<T: Element>(from: *const T) -> [T; QUAD] {
    // SAFETY: the caller's promise; an array is aligned as its elements are.
    unsafe { from.cast::<[T; QUAD]>().read() }
}
