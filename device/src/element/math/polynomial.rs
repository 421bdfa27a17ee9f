//! How polynomials are evaluated.

/// `first + r * (.. + r * last)` by Horner's rule, with a fused step for each `+`.
macro_rules! horner {
    ($fma:path, $r:ident, $last:expr) => { $last };
    ($fma:path, $r:ident, $first:expr, $($rest:expr),+) => { $fma(horner!($fma, $r, $($rest),+), $r, $first) };
}
