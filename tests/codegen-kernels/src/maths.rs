//! The functions of `tilepipe::math`, one each.

use tilepipe::math::{self, Float};
use tilepipe::{Block, LoadStore, Shared, Stages, Tiles, TilesMut, kernel};

registry!(apply);

/// A function of one element and its neighbours in the tile.
pub trait Function<F> {
    /// Computes it.
    fn of(a: F, b: F, c: F) -> F;
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident: |$a:ident, $b:ident, $c:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        pub enum $name {}

        impl<F: Float> Function<F> for $name {
            #[inline(always)]
            fn of($a: F, $b: F, $c: F) -> F {
                $value
            }
        }
    )*};
}
functions! {
    /// `math::fma`.
    Fma: |a, b, c| math::fma(a, b, c);
    /// `math::sqrt`.
    Sqrt: |a, _b, _c| math::sqrt(a);
    /// `math::rsqrt`.
    Rsqrt: |a, _b, _c| math::rsqrt(a);
    /// `math::exp`.
    Exp: |a, _b, _c| math::exp(a);
    /// `math::min`.
    Min: |a, b, _c| math::min(a, b);
    /// `math::max`.
    Max: |a, b, _c| math::max(a, b);
    /// `math::abs`.
    Abs: |a, _b, _c| math::abs(a);
    /// `math::floor`.
    Floor: |a, _b, _c| math::floor(a);
    /// `math::round`.
    Round: |a, _b, _c| math::round(a);
    /// `math::round_ties_even`.
    RoundTiesEven: |a, _b, _c| math::round_ties_even(a);
    /// `math::rsqrt_fast`.
    RsqrtFast: |a, _b, _c| math::rsqrt_fast(a);
    /// `math::powi` with an exponent that the compiler knows.
    Powi5: |a, _b, _c| math::powi(a, 5);
    /// `math::exp2`.
    Exp2: |a, _b, _c| math::exp2(a);
    /// `math::exp_fast`.
    ExpFast: |a, _b, _c| math::exp_fast(a);
    /// `math::log`.
    Log: |a, _b, _c| math::log(a);
    /// `math::log2`.
    Log2: |a, _b, _c| math::log2(a);
    /// `math::sin`.
    Sin: |a, _b, _c| math::sin(a);
    /// `math::cos`.
    Cos: |a, _b, _c| math::cos(a);
    /// `math::tanh`.
    Tanh: |a, _b, _c| math::tanh(a);
}

/// Applies a function to each element of a tile.
#[kernel(
    instances(F = [f32, f64], O = [Fma, Sqrt, Rsqrt, Exp, Min, Max, Abs, Floor, Round, RoundTiesEven, RsqrtFast]),
    instances(F = [f32, f64], O = [Powi5, Exp2, ExpFast, Log, Log2, Sin, Cos, Tanh]),
)]
pub fn apply<F: Float, O: Function<F>>(
    block: Block<128>,
    input: Tiles<F, 128>,
    mut out: TilesMut<F, 128>,
    shared: Shared<Stages<[F; 128], 1, LoadStore>>,
) {
    let (tile, mut results) = (input.tile(0), out.for_block(&block));
    let (_, tile) = shared.pipeline(&block).acquire().copy(tile).commit().wait();
    let dst = results.get_mut(0);
    block.threads(|t| {
        let at = |distance: usize| tile[(t.rank() + distance) % 128];
        dst.set(&t, O::of(at(0), at(1), at(2)));
    });
}
