//! What the guide's kernels compute on a tile: their parameter `C`.

use tilepipe::{Element, Vec4};

/// The guide's `compute`: one output element from a tile in shared memory.
pub trait Compute<T, const LEN: usize> {
    /// Computes the output element of the thread with rank `rank < LEN`.
    fn compute(tile: &[T; LEN], rank: usize) -> T;
}

/// `3 * tile[rank] + tile[rank + 1]`, the last thread's neighbour being the first: every thread reads an element that
/// another one copied, so that a missing barrier shows.
pub enum NeighbourSum {}

/// `tile[LEN - 1 - rank]`: every thread reads what the thread at the other end of the block copied.
pub enum Reverse {}

impl<T: Number, const LEN: usize> Compute<T, LEN> for NeighbourSum {
    #[inline(always)]
    fn compute(tile: &[T; LEN], rank: usize) -> T {
        let next = (rank + 1) % LEN;
        tile[rank].triple().plus(tile[next])
    }
}

impl<T: Number, const LEN: usize> Compute<T, LEN> for Reverse {
    #[inline(always)]
    fn compute(tile: &[T; LEN], rank: usize) -> T {
        tile[LEN - 1 - rank]
    }
}

/// Elements with the arithmetic that these kernels need; integers wrap, vectors work lane by lane.
pub trait Number: Element {
    /// Zero.
    const ZERO: Self;
    /// Three times the number.
    fn triple(self) -> Self;
    /// The sum of both.
    fn plus(self, other: Self) -> Self;
    /// The product of both.
    fn times(self, other: Self) -> Self;
    /// The mean of `count` numbers of which this is the sum: integers divide and truncate, floats multiply by the rounded
    /// reciprocal of `count`.
    fn mean_of(self, count: u16) -> Self;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Number for $integer {
            const ZERO: Self = 0;
            #[inline(always)]
            fn triple(self) -> Self {
                self.wrapping_mul(3)
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn mean_of(self, count: u16) -> Self {
                self.wrapping_div(count as $integer)
            }
        }
    )*};
}
integers!(i32, u32, i64);

macro_rules! floats {
    ($($float:ty),*) => {$(
        impl Number for $float {
            const ZERO: Self = 0.0;
            #[inline(always)]
            fn triple(self) -> Self {
                3.0 * self
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn mean_of(self, count: u16) -> Self {
                self * (1.0 / <$float>::from(count))
            }
        }
    )*};
}
floats!(f32, f64);

impl<T: Number> Number for Vec4<T>
where
    Vec4<T>: Element,
{
    const ZERO: Self = Vec4([T::ZERO; 4]);

    #[inline(always)]
    fn triple(self) -> Self {
        Vec4(self.0.map(T::triple))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Vec4([a.plus(e), b.plus(f), c.plus(g), d.plus(h)])
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Vec4([a.times(e), b.times(f), c.times(g), d.times(h)])
    }

    #[inline(always)]
    fn mean_of(self, count: u16) -> Self {
        Vec4(self.0.map(|lane| lane.mean_of(count)))
    }
}
