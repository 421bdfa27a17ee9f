//! Which elements of an output tile are a thread's.

/// Which elements of an output tile a thread owns: [`Striped`] or [`Blocked`]. Sealed.
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

impl Arrangement for Striped {}
impl Arrangement for Blocked {}

mod sealed {
    pub trait Arrangement {
        /// Whether a thread's elements lie in a row, to be written in wide accesses.
        const WIDE: bool;

        /// The tile's element that thread `rank` of `threads` owns as its `nth` of `owned`. One
        /// thread's elements are no other thread's, for ranks below `threads` and `nth` below
        /// `owned`, where `threads * owned` does not overflow.
        fn element(rank: usize, nth: usize, threads: usize, owned: usize) -> usize;
    }
}

impl sealed::Arrangement for Striped {
    const WIDE: bool = false;

    #[inline(always)]
    fn element(rank: usize, nth: usize, threads: usize, _: usize) -> usize {
        rank + nth * threads
    }
}

impl sealed::Arrangement for Blocked {
    const WIDE: bool = true;

    #[inline(always)]
    fn element(rank: usize, nth: usize, _: usize, owned: usize) -> usize {
        rank * owned + nth
    }
}
