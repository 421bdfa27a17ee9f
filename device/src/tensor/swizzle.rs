//! Swizzles: where the copy engine puts the 16-byte pieces of a box's rows in shared memory.

/// How the copy engine permutes the 16-byte pieces of a box's rows: [`NoSwizzle`], [`Swizzle32`],
/// [`Swizzle64`] or [`Swizzle128`]. Sealed.
///
/// With a swizzle a row of a box is as long as the swizzle's span, and the 16-byte pieces of a
/// column lie in different banks: threads that read down a column, or vectors of several rows,
/// meet no bank conflict.
///
/// Piece `p` of 16 bytes of row `r` lies at:
///
/// | swizzle | bytes of a row | a tile starts at a multiple of | the place of piece `p` |
/// |---|---|---|---|
/// | [`NoSwizzle`] | a multiple of 16 | 128 bytes | `p` |
/// | [`Swizzle32`] | 32 | 256 bytes | `p ^ (r / 4 % 2)` |
/// | [`Swizzle64`] | 64 | 512 bytes | `p ^ (r / 2 % 4)` |
/// | [`Swizzle128`] | 128 | 1024 bytes | `p ^ (r % 8)` |
///
/// CUDA: `CUtensorMapSwizzle`.
pub trait Swizzle: Copy + 'static + sealed::Swizzle {}

/// Rows as they are: CUDA's `CU_TENSOR_MAP_SWIZZLE_NONE`.
#[derive(Clone, Copy, Debug)]
pub enum NoSwizzle {}

/// Rows of 32 bytes: CUDA's `CU_TENSOR_MAP_SWIZZLE_32B`.
#[derive(Clone, Copy, Debug)]
pub enum Swizzle32 {}

/// Rows of 64 bytes: CUDA's `CU_TENSOR_MAP_SWIZZLE_64B`.
#[derive(Clone, Copy, Debug)]
pub enum Swizzle64 {}

/// Rows of 128 bytes: CUDA's `CU_TENSOR_MAP_SWIZZLE_128B`.
#[derive(Clone, Copy, Debug)]
pub enum Swizzle128 {}

impl Swizzle for NoSwizzle {}
impl Swizzle for Swizzle32 {}
impl Swizzle for Swizzle64 {}
impl Swizzle for Swizzle128 {}

pub(crate) mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no swizzle: `Swizzle` is sealed",
        label = "not one of the copy engine's swizzles",
        note = "the engine has four: take `NoSwizzle`, `Swizzle32`, `Swizzle64` or `Swizzle128`"
    )]
    pub trait Swizzle {
        /// Bytes of a row; `None` where a row has any multiple of 16.
        const SPAN: Option<usize>;
        /// The bits of a piece's number that the line's number is added to, without carry.
        const MASK: usize;
        /// How a parameter with this swizzle is used, in a kernel's contract: one that is read,
        /// one that is written, and one that is reduced to.
        const KINDS: [&'static str; 3];
        /// What the start of a tile is a multiple of, in bytes: a whole period of the permutation.
        const ALIGNMENT: usize;
    }
}

macro_rules! swizzles {
    ($($swizzle:ty: $kind:literal, $written:literal, $reduced:literal, $span:expr, $mask:literal, $alignment:literal;)*) => {$(
        impl sealed::Swizzle for $swizzle {
            const KINDS: [&'static str; 3] = [$kind, $written, $reduced];
            const SPAN: Option<usize> = $span;
            const MASK: usize = $mask;
            const ALIGNMENT: usize = $alignment;
        }
    )*};
}
swizzles! {
    NoSwizzle: "box", "out-box", "reduce-box", None, 0, 128;
    Swizzle32: "box32", "out-box32", "reduce-box32", Some(32), 1, 256;
    Swizzle64: "box64", "out-box64", "reduce-box64", Some(64), 3, 512;
    Swizzle128: "box128", "out-box128", "reduce-box128", Some(128), 7, 1024;
}

#[cfg(test)]
mod tests {
    use super::sealed::Swizzle as _;
    use super::*;
    use crate::isa::swizzled;

    /// The piece that piece `piece` of row `row` lies at, by the documentation's formula.
    fn documented(span: usize, row: usize, piece: usize) -> usize {
        match span {
            32 => piece ^ (row / 4 % 2),
            64 => piece ^ (row / 2 % 4),
            _ => piece ^ (row % 8),
        }
    }

    #[test]
    fn pieces_of_a_row_stay_in_it_and_lie_where_the_documentation_says() {
        for (span, mask) in [(32, Swizzle32::MASK), (64, Swizzle64::MASK), (128, Swizzle128::MASK)] {
            for row in 0..64 {
                for piece in 0..span / 16 {
                    let at = swizzled(row * span + piece * 16 + 5, mask);
                    assert_eq!(at, row * span + documented(span, row, piece) * 16 + 5, "{span}: {row}, {piece}");
                }
            }
        }
    }

    #[test]
    fn a_period_is_what_a_tile_starts_at_a_multiple_of() {
        for (mask, period) in [
            (Swizzle32::MASK, Swizzle32::ALIGNMENT),
            (Swizzle64::MASK, Swizzle64::ALIGNMENT),
            (Swizzle128::MASK, Swizzle128::ALIGNMENT),
        ] {
            assert!((0..4 * period).all(|byte| swizzled(byte + period, mask) == swizzled(byte, mask) + period));
        }
        assert!((0..4096).all(|byte| swizzled(byte, NoSwizzle::MASK) == byte));
    }
}
