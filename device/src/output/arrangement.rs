//! Which elements of an output tile are a thread's.

use crate::isa::WARP;

/// Which elements of an output tile a thread owns: [`Striped`], [`Blocked`], [`Runs`], [`WarpRows`]
/// or [`Micro`]. Sealed.
///
/// The elements of a tile with rows are counted row by row. The arrangement is part of the
/// view's type, so that two threads never come to own one element.
pub trait Arrangement: 'static + sealed::Arrangement {}

/// Thread `r` owns the elements `r`, `r + THREADS`, `r + 2 * THREADS`, .. of a tile: neighbouring
/// threads write neighbouring elements. (CUB's striped arrangement.)
pub enum Striped {}

/// Thread `r` owns `LEN / THREADS` elements in a row, from `r * LEN / THREADS` on, as
/// [`Ready::own`](crate::Ready::own) of a tile has them. (CUB's blocked arrangement.)
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Blocked, Shared, Stages, Tiles, TilesMut, kernel};
///
/// /// Swaps the two elements of each pair.
/// #[kernel]
/// pub fn swapped(
///     block: Block<64>,
///     input: Tiles<u32, 256>,
///     mut out: TilesMut<u32, 256, Blocked>,
///     shared: Shared<Stages<[u32; 256], 2>>,
/// ) {
///     let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
///     let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, result| {
///         block.threads(|t| {
///             // Four elements in a row: one load and one store of 16 bytes.
///             let own = tile.own(&t);
///             result.set_all(&t, [own[1], own[0], own[3], own[2]]);
///         });
///     });
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let (input, mut out) = (device.upload(&Vec::from_iter(0..600))?, device.zeroed(600)?);
/// # swapped::launch(&device.stream()?, 2, &input, &mut out)?;
/// # assert_eq!(out.download()?, Vec::from_iter((0..600).map(|i| i ^ 1)));
/// # Ok(())
/// # }
/// ```
pub enum Blocked {}

/// Thread `r` owns `N` elements in a row from `r * N` on, then `N` from `(r + THREADS) * N` on, and
/// so forth: neighbouring threads write neighbouring runs. For tiles of which a thread has more
/// than 16 bytes: with `N` elements of 16 bytes each access of a warp is one of 512 bytes in a row.
/// (CUB's striped arrangement, of vectors.)
///
/// The tile's length is a multiple of `N * THREADS`, or it does not compile.
pub enum Runs<const N: usize> {}

/// A warp owns whole rows of a tile with rows: of `WARPS` warps, warp `w` owns the rows `w`,
/// `w + WARPS`, and so forth. Of each row its lane `l` owns `N` elements in a row from `l * N` on,
/// then `N` from `(l + 32) * N` on, and so forth. For rows of which a warp computes a maximum or a
/// sum by itself ([`Block::warps`](crate::Block::warps)), without a barrier of the block. (CUB's
/// warp-striped arrangement, of vectors.)
///
/// `THREADS` is a multiple of 32, the tile's rows are a multiple of the number of warps, and its
/// columns one of `32 * N`, or it does not compile.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Input2D, TilesMut2D, WarpRows, kernel};
///
/// /// Each element as a share of its row's sum, a row a warp.
/// #[kernel]
/// pub fn shares(
///     block: Block<64>,
///     input: Input2D<f32>,
///     mut out: TilesMut2D<f32, 2, 256, WarpRows<4>>,
/// ) {
///     let mut results = out.for_block(&block);
///     let places = results.places();
///     for i in 0..results.len() {
///         let first = 2 * places.get(i).0;
///         let result = results.get_mut(i);
///         block.warps(|warp| {
///             let row = first + warp.rank();
///             // Lane `l` reads the columns `4 * l..4 * l + 4` and `128 + 4 * l..132 + 4 * l`.
///             let values = warp.map(|lane| {
///                 let run = |nth| input.run::<4>(row, nth).0;
///                 [run(lane.rank()), run(32 + lane.rank())]
///             });
///             let sums = warp.map(|lane| values.get(&lane).iter().flatten().sum::<f32>());
///             let sum = warp.reduce(&sums, |a, b| a + b);
///             warp.lanes(|lane| {
///                 let values = values.get(&lane);
///                 result.set_own(lane.thread(), |nth| values[nth / 4][nth % 4] / sum);
///             });
///         });
///     }
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let input = device.upload_2d(&[[1.0; 256], [2.0; 256], [4.0; 256]].concat(), 256)?;
/// # let mut out = device.zeroed_2d(256, 3)?;
/// # shares::launch(&device.stream()?, 2, &input, &mut out)?;
/// # assert_eq!(out.download()?, [1.0 / 256.0; 3 * 256]);
/// # Ok(())
/// # }
/// ```
pub enum WarpRows<const N: usize> {}

/// A thread owns `R` rows of `C` elements of a tile with rows, its rectangle of a matrix product:
/// with [`TileMut::add_product`](crate::TileMut::add_product) it keeps `R * C` sums in registers,
/// for which it reads `R + C` elements a step.
///
/// `R` and `C` are multiples of 4. The elements lie in squares of 4 by 4, which neighbouring
/// threads have side by side and below one another; a thread's next square is as far away as there
/// are threads between. A warp has 4 threads below one another, the first ones, and 8 such columns
/// side by side. So reads of shared memory have no bank conflicts, and each row that a warp stores
/// is 128 bytes of an `f32` matrix. (CUTLASS's `WarpThreadArrangement` of 4 x 8 lanes.)
///
/// A tile of `ROWS` by `COLUMNS` elements has `COLUMNS / C` threads side by side, a multiple of 8,
/// and `ROWS / R` below one another, a multiple of 4, `THREADS` in all, or it does not compile.
/// [`TileMut::place`](crate::TileMut::place) says which row and column an element has.
pub enum Micro<const R: usize, const C: usize> {}

impl Arrangement for Striped {}
impl Arrangement for Blocked {}
impl<const N: usize> Arrangement for Runs<N> {}
impl<const N: usize> Arrangement for WarpRows<N> {}
impl<const R: usize, const C: usize> Arrangement for Micro<R, C> {}

/// Rows and columns of a square of a rectangle, and threads of a warp side by side and below
/// one another.
pub(super) const QUAD: usize = 4;
const ACROSS: usize = 8;
const DOWN: usize = WARP / ACROSS;

/// Where a thread's rectangle begins in a tile of `columns` columns: how many squares of [`QUAD`]
/// rows and columns lie above and left of its first one.
#[inline(always)]
pub(super) fn corner<const C: usize>(rank: usize, columns: usize) -> (usize, usize) {
    let warps_across = columns / C / ACROSS;
    let (warp, lane) = (rank / WARP, rank % WARP);
    (warp / warps_across * DOWN + lane % DOWN, warp % warps_across * ACROSS + lane / DOWN)
}

/// Refuses a tile of which some elements would belong to nobody, or to nobody's rectangle.
pub(super) const fn check_shares<A: Arrangement>(rows: usize, columns: usize, threads: usize) {
    if let Some((r, c)) = A::RECTANGLE {
        assert!(
            r > 0 && c > 0 && r.is_multiple_of(QUAD) && c.is_multiple_of(QUAD),
            "`Micro<R, C>` gives each thread squares of 4 by 4 elements: `R` and `C` are multiples of 4"
        );
        assert!(
            columns.is_multiple_of(ACROSS * c) && rows.is_multiple_of(DOWN * r),
            "`Micro<R, C>` gives a warp 4 rectangles below one another and 8 side by side: the tile's rows must be a multiple of `4 * R` \
             and its columns one of `8 * C`"
        );
        assert!(
            rows / r * (columns / c) == threads,
            "`Micro<R, C>` gives each thread one rectangle: `(ROWS / R) * (COLUMNS / C)` must be `THREADS`"
        );
    }
    if A::ROWS_OF_WARPS {
        assert!(
            threads.is_multiple_of(WARP),
            "`WarpRows<N>` gives each warp whole rows: `THREADS` must be a multiple of 32"
        );
        assert!(
            rows.is_multiple_of(threads / WARP),
            "`WarpRows<N>` gives each warp whole rows: the tile's rows must be a multiple of `THREADS / 32`"
        );
        if let Some(run) = A::RUN {
            assert!(
                run > 0 && columns.is_multiple_of(WARP * run),
                "`WarpRows<N>` gives each lane whole runs of `N` elements of a row: the tile's columns must be a multiple of `32 * N`"
            );
        }
    }
    check_runs::<A>(rows * columns, threads);
}

/// Refuses a tile that has no whole number of runs for each thread.
const fn check_runs<A: Arrangement>(len: usize, threads: usize) {
    if let Some(run) = A::RUN {
        assert!(
            run > 0,
            "`Runs<0>` gives no thread an element: `Runs<N>` has `N` in a row, `16 / size_of::<T>()` for 16 bytes"
        );
        assert!(
            run <= len && len.is_multiple_of(run * threads),
            "`Runs<N>` gives each thread whole runs of `N` elements: the tile's length must be a multiple of `N * THREADS`; \
             `Blocked` and `Striped` take any length"
        );
    }
}

mod sealed {
    pub trait Arrangement {
        /// Whether a thread's elements lie in a row, to be written in wide accesses.
        const WIDE: bool;

        /// How many of them do, if it is not all of them.
        const RUN: Option<usize>;

        /// The rows and columns of a thread's rectangle, if its elements are one.
        const RECTANGLE: Option<(usize, usize)> = None;

        /// Whether a warp owns whole rows.
        const ROWS_OF_WARPS: bool = false;

        /// The element that thread `rank` of `threads` owns as its `nth` of `owned`, of a tile in
        /// rows of `columns`. One thread's elements are no other thread's, for ranks below
        /// `threads` and `nth` below `owned`, where `threads * (owned + RUN)` does not overflow and
        /// `check_shares` accepts the tile.
        fn element(rank: usize, nth: usize, threads: usize, owned: usize, columns: usize) -> usize;
    }
}

impl sealed::Arrangement for Striped {
    const WIDE: bool = false;
    const RUN: Option<usize> = None;

    #[inline(always)]
    fn element(rank: usize, nth: usize, threads: usize, _: usize, _: usize) -> usize {
        rank + nth * threads
    }
}

impl sealed::Arrangement for Blocked {
    const WIDE: bool = true;
    const RUN: Option<usize> = None;

    #[inline(always)]
    fn element(rank: usize, nth: usize, _: usize, owned: usize, _: usize) -> usize {
        rank * owned + nth
    }
}

impl<const N: usize> sealed::Arrangement for Runs<N> {
    const WIDE: bool = true;
    const RUN: Option<usize> = Some(N);

    #[inline(always)]
    fn element(rank: usize, nth: usize, threads: usize, _: usize, _: usize) -> usize {
        (nth / N * threads + rank) * N + nth % N
    }
}

impl<const N: usize> sealed::Arrangement for WarpRows<N> {
    const WIDE: bool = true;
    const RUN: Option<usize> = Some(N);
    const ROWS_OF_WARPS: bool = true;

    #[inline(always)]
    fn element(rank: usize, nth: usize, threads: usize, _: usize, columns: usize) -> usize {
        let (warp, lane) = (rank / WARP, rank % WARP);
        let of_row = columns / WARP;
        let (row, nth) = (nth / of_row * (threads / WARP) + warp, nth % of_row);
        row * columns + (nth / N * WARP + lane) * N + nth % N
    }
}

impl<const R: usize, const C: usize> sealed::Arrangement for Micro<R, C> {
    const WIDE: bool = true;
    const RUN: Option<usize> = Some(QUAD);
    const RECTANGLE: Option<(usize, usize)> = Some((R, C));

    #[inline(always)]
    fn element(rank: usize, nth: usize, threads: usize, _: usize, columns: usize) -> usize {
        let (above, left) = corner::<C>(rank, columns);
        let (across, (row, column)) = (columns / C, (nth / C, nth % C));
        let row = (above + row / QUAD * (threads / across)) * QUAD + row % QUAD;
        let column = (left + column / QUAD * across) * QUAD + column % QUAD;
        row * columns + column
    }
}

#[cfg(test)]
mod tests {
    use super::sealed::Arrangement as _;
    use super::*;

    /// Which elements `threads` threads own of a tile of `len`, in rows of `columns`.
    fn owned<A: Arrangement>(len: usize, columns: usize, threads: usize) -> Vec<usize> {
        let owned = len.div_ceil(threads);
        let share = |rank| (0..owned).map(move |nth| A::element(rank, nth, threads, owned, columns));
        let mut all: Vec<_> = (0..threads).flat_map(share).collect();
        all.sort_unstable();
        all
    }

    fn each_has_one_owner<A: Arrangement>(len: usize, threads: usize) {
        let all = owned::<A>(len, len, threads);
        let of_the_tile: Vec<_> = all.iter().copied().filter(|element| *element < len).collect();
        assert_eq!(of_the_tile, (0..len).collect::<Vec<_>>(), "{len} elements, {threads} threads");
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{len} elements, {threads} threads");
    }

    #[test]
    fn each_element_of_a_tile_has_one_owner() {
        for threads in 1..=40 {
            for len in 1..=160 {
                each_has_one_owner::<Striped>(len, threads);
                each_has_one_owner::<Blocked>(len, threads);
            }
            for rounds in 1..=4 {
                each_has_one_owner::<Runs<1>>(rounds * threads, threads);
                each_has_one_owner::<Runs<3>>(3 * rounds * threads, threads);
                each_has_one_owner::<Runs<4>>(4 * rounds * threads, threads);
            }
        }
    }

    #[test]
    fn runs_of_neighbouring_threads_lie_side_by_side() {
        assert_eq!(
            (0..8).map(|nth| Runs::<4>::element(1, nth, 32, 8, 256)).collect::<Vec<_>>(),
            [4, 5, 6, 7, 132, 133, 134, 135]
        );
    }

    #[test]
    fn each_element_of_a_tile_lies_in_one_rectangle() {
        fn in_one<const R: usize, const C: usize>(rows: usize, columns: usize) {
            let threads = rows / R * (columns / C);
            check_shares::<Micro<R, C>>(rows, columns, threads);
            let all = owned::<Micro<R, C>>(rows * columns, columns, threads);
            assert_eq!(all, (0..rows * columns).collect::<Vec<_>>(), "{R} x {C} of {rows} x {columns}");
        }
        for down in 1..=4 {
            for across in 1..=4 {
                in_one::<4, 4>(16 * down, 32 * across);
                in_one::<12, 8>(48 * down, 64 * across);
                in_one::<8, 8>(32 * down, 64 * across);
                in_one::<16, 12>(64 * down, 96 * across);
            }
        }
    }

    #[test]
    fn each_row_of_a_tile_is_one_warps() {
        fn of_warps<const N: usize>(rows: usize, columns: usize, threads: usize) {
            check_shares::<WarpRows<N>>(rows, columns, threads);
            let all = owned::<WarpRows<N>>(rows * columns, columns, threads);
            assert_eq!(all, (0..rows * columns).collect::<Vec<_>>(), "{N}: {rows} x {columns} of {threads}");
            let owned = rows * columns / threads;
            for rank in 0..threads {
                for nth in 0..owned {
                    let row = WarpRows::<N>::element(rank, nth, threads, owned, columns) / columns;
                    assert_eq!(row % (threads / WARP), rank / WARP);
                }
            }
        }
        for warps in 1..=4 {
            for rounds in 1..=3 {
                for columns in 1..=3 {
                    of_warps::<1>(rounds * warps, 32 * columns, 32 * warps);
                    of_warps::<4>(rounds * warps, 128 * columns, 32 * warps);
                    of_warps::<8>(rounds * warps, 256 * columns, 32 * warps);
                }
            }
        }
    }

    #[test]
    fn runs_of_neighbouring_lanes_lie_side_by_side() {
        let place = |rank, nth| {
            let element = WarpRows::<4>::element(rank, nth, 64, 16, 256);
            (element / 256, element % 256)
        };
        assert_eq!([0, 3, 4, 7, 8].map(|nth| place(0, nth)), [(0, 0), (0, 3), (0, 128), (0, 131), (2, 0)]);
        assert_eq!([1, 31, 32, 63].map(|rank| place(rank, 0)), [(0, 4), (0, 124), (1, 0), (1, 124)]);
    }

    #[test]
    #[should_panic(expected = "`THREADS` must be a multiple of 32")]
    fn rows_of_half_a_warp_are_refused() {
        check_shares::<WarpRows<4>>(4, 128, 48);
    }

    #[test]
    #[should_panic(expected = "the tile's rows must be a multiple of `THREADS / 32`")]
    fn warps_without_a_row_are_refused() {
        check_shares::<WarpRows<4>>(2, 128, 128);
    }

    #[test]
    #[should_panic(expected = "the tile's columns must be a multiple of `32 * N`")]
    fn rows_without_whole_runs_of_each_lane_are_refused() {
        check_shares::<WarpRows<4>>(4, 192, 64);
    }

    #[test]
    fn a_warps_rectangles_lie_side_by_side() {
        let place = |rank, nth| {
            let element = Micro::<8, 8>::element(rank, nth, 256, 64, 128);
            (element / 128, element % 128)
        };
        assert_eq!([0, 3, 4, 8, 32].map(|nth| place(0, nth)), [(0, 0), (0, 3), (0, 64), (1, 0), (64, 0)]);
        assert_eq!(
            [1, 7, 8, 31, 32, 64].map(|rank| place(rank, 0)),
            [(4, 0), (12, 4), (0, 8), (12, 28), (0, 32), (16, 0)]
        );
    }

    #[test]
    #[should_panic(expected = "must be `THREADS`")]
    fn rectangles_that_do_not_fill_the_tile_are_refused() {
        check_shares::<Micro<8, 8>>(128, 128, 128);
    }

    #[test]
    #[should_panic(expected = "the tile's rows must be a multiple of `4 * R`")]
    fn rectangles_of_half_a_warp_are_refused() {
        check_shares::<Micro<8, 8>>(128, 32, 64);
    }

    #[test]
    #[should_panic(expected = "`R` and `C` are multiples of 4")]
    fn rectangles_without_whole_runs_are_refused() {
        check_shares::<Micro<8, 6>>(128, 96, 256);
    }

    #[test]
    #[should_panic(expected = "must be a multiple of `N * THREADS`")]
    fn a_tile_without_whole_runs_is_refused() {
        check_runs::<Runs<4>>(64 * 5, 64);
    }

    #[test]
    #[should_panic(expected = "`Runs<0>` gives no thread an element")]
    fn runs_of_nothing_are_refused() {
        check_runs::<Runs<0>>(64, 64);
    }
}
