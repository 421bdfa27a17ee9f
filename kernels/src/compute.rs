//! What the guide's kernels compute on a tile: their parameter `C`.

use tilepipe::{Arrangement, F32x4, Runs, Vec4, math};

pub use tilepipe_kernel_elements::{Complex, Float3, Number};

/// The guide's `compute`: one output element from a tile in shared memory.
pub trait Compute<T, const LEN: usize> {
    /// Computes the output element of the thread with rank `rank < LEN`.
    fn compute(tile: &[T; LEN], rank: usize) -> T;
}

/// `3 * tile[rank] + tile[rank + 1]`, the last thread's neighbour being the first: every thread
/// reads an element that another one copied, so that a missing barrier shows.
pub enum NeighbourSum {}

/// What [`NeighbourSum`] computes on tiles of [`GROUP`] elements, on tiles of a multiple of that:
/// the next element is that of the same group, the last one's being the group's first.
pub enum GroupSum {}

/// Elements of a group of [`GroupSum`].
pub const GROUP: usize = 256;

/// The element after `element < LEN` in its group, and the group's first after its last.
#[inline(always)]
pub fn next_in_group<const LEN: usize>(element: usize) -> usize {
    const { assert!(LEN.is_multiple_of(GROUP), "a tile is whole groups") };
    let next = if element % GROUP == GROUP - 1 { element - (GROUP - 1) } else { element + 1 };
    // The remainder is `next`. It tells the compiler for the GPU that no index is out of range.
    next % LEN
}

/// `tile[LEN - 1 - rank]`: every thread reads what the thread at the other end of the block copied.
pub enum Reverse {}

impl<T: Number, const LEN: usize> Compute<T, LEN> for NeighbourSum {
    #[inline(always)]
    fn compute(tile: &[T; LEN], rank: usize) -> T {
        let next = (rank + 1) % LEN;
        tile[rank].triple().plus(tile[next])
    }
}

impl<T: Number, const LEN: usize> Compute<T, LEN> for GroupSum {
    #[inline(always)]
    fn compute(tile: &[T; LEN], rank: usize) -> T {
        tile[rank].triple().plus(tile[next_in_group::<LEN>(rank)])
    }
}

impl<T: Number, const LEN: usize> Compute<T, LEN> for Reverse {
    #[inline(always)]
    fn compute(tile: &[T; LEN], rank: usize) -> T {
        tile[LEN - 1 - rank]
    }
}

/// Elements of which 16 bytes are a run of an output.
pub trait Wide: Number {
    /// The arrangement in which a thread writes 16 bytes in a row.
    type InRuns: Arrangement;
}

impl Wide for i32 {
    type InRuns = Runs<4>;
}

impl Wide for f32 {
    type InRuns = Runs<4>;
}

impl Wide for f64 {
    type InRuns = Runs<2>;
}

/// Numbers with a multiplication and an addition that are rounded once.
pub trait FusedMultiplyAdd: Number {
    /// `0.75 * self + other`, rounded once.
    fn three_quarters_plus(self, other: Self) -> Self;
}

impl FusedMultiplyAdd for f32 {
    #[inline(always)]
    fn three_quarters_plus(self, other: f32) -> f32 {
        math::fma(self, 0.75, other)
    }
}

/// Lane by lane.
impl FusedMultiplyAdd for F32x4 {
    #[inline(always)]
    fn three_quarters_plus(self, other: F32x4) -> F32x4 {
        let (Vec4([a, b, c, d]), Vec4([e, f, g, h])) = (self, other);
        Vec4([a.three_quarters_plus(e), b.three_quarters_plus(f), c.three_quarters_plus(g), d.three_quarters_plus(h)])
    }
}

/// Numbers whose product is added with one rounding; of integers nothing is rounded, and they wrap.
pub trait MultiplyAdd: Number {
    /// `self * factor + sum`, rounded once.
    fn times_plus(self, factor: Self, sum: Self) -> Self;
}

impl MultiplyAdd for f32 {
    #[inline(always)]
    fn times_plus(self, factor: f32, sum: f32) -> f32 {
        math::fma(self, factor, sum)
    }
}

impl MultiplyAdd for i32 {
    #[inline(always)]
    fn times_plus(self, factor: i32, sum: i32) -> i32 {
        self.wrapping_mul(factor).wrapping_add(sum)
    }
}
