//! Which elements of an output tile are a thread's.

/// Which elements of an output tile a thread owns: [`Striped`], [`Blocked`] or [`Runs`]. Sealed.
///
/// The elements of a tile with rows are counted row by row. The arrangement is part of the
/// view's type, so that two threads never come to own one element.
pub trait Arrangement: 'static + sealed::Arrangement {}

/// Thread `r` owns the elements `r`, `r + THREADS`, `r + 2 * THREADS`, .. of a tile: neighbouring
/// threads write neighbouring elements. (CUB's striped arrangement.)
pub enum Striped {}

/// Thread `r` owns `LEN / THREADS` elements in a row, from `r * LEN / THREADS` on, as
/// [`Ready::own`](crate::Ready::own) of a tile has them. (CUB's blocked arrangement.)
pub enum Blocked {}

/// Thread `r` owns `N` elements in a row from `r * N` on, then `N` from `(r + THREADS) * N` on, and
/// so forth: neighbouring threads write neighbouring runs. For tiles of which a thread has more
/// than 16 bytes: with `N` elements of 16 bytes each access of a warp is one of 512 bytes in a row.
/// (CUB's striped arrangement, of vectors.)
///
/// The tile's length is a multiple of `N * THREADS`, or it does not compile.
pub enum Runs<const N: usize> {}

impl Arrangement for Striped {}
impl Arrangement for Blocked {}
impl<const N: usize> Arrangement for Runs<N> {}

/// Refuses a tile that has no whole number of runs for each thread: some of its elements would
/// belong to nobody.
pub(super) const fn check_runs<A: Arrangement>(len: usize, threads: usize) {
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

        /// The tile's element that thread `rank` of `threads` owns as its `nth` of `owned`. One
        /// thread's elements are no other thread's, for ranks below `threads` and `nth` below
        /// `owned`, where `threads * (owned + RUN)` does not overflow.
        fn element(rank: usize, nth: usize, threads: usize, owned: usize) -> usize;
    }
}

impl sealed::Arrangement for Striped {
    const WIDE: bool = false;
    const RUN: Option<usize> = None;

    #[inline(always)]
    fn element(rank: usize, nth: usize, threads: usize, _: usize) -> usize {
        rank + nth * threads
    }
}

impl sealed::Arrangement for Blocked {
    const WIDE: bool = true;
    const RUN: Option<usize> = None;

    #[inline(always)]
    fn element(rank: usize, nth: usize, _: usize, owned: usize) -> usize {
        rank * owned + nth
    }
}

impl<const N: usize> sealed::Arrangement for Runs<N> {
    const WIDE: bool = true;
    const RUN: Option<usize> = Some(N);

    #[inline(always)]
    fn element(rank: usize, nth: usize, threads: usize, _: usize) -> usize {
        (nth / N * threads + rank) * N + nth % N
    }
}

#[cfg(test)]
mod tests {
    use super::sealed::Arrangement as _;
    use super::*;

    /// Which elements `threads` threads own of a tile of `len`.
    fn owned<A: Arrangement>(len: usize, threads: usize) -> Vec<usize> {
        let owned = len.div_ceil(threads);
        let share = |rank| (0..owned).map(move |nth| A::element(rank, nth, threads, owned));
        let mut all: Vec<_> = (0..threads).flat_map(share).collect();
        all.sort_unstable();
        all
    }

    fn each_has_one_owner<A: Arrangement>(len: usize, threads: usize) {
        let all = owned::<A>(len, threads);
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
            (0..8).map(|nth| Runs::<4>::element(1, nth, 32, 8)).collect::<Vec<_>>(),
            [4, 5, 6, 7, 132, 133, 134, 135]
        );
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
