//! What attention makes of a tile of scores.

use tilepipe::math;
use tilepipe::product::{RowParts, RowValues, Sums, Width, exp2_approximate};
use tilepipe::role::{RoleGroup, Warpgroups};

/// By how many powers of two a row's scores may exceed the maximum that its weights are relative
/// to.
const GROWTH: f32 = 8.0;

/// What the weights of a row are relative to: a score, by which they are all divided. A weight is 2
/// to the power of a score times `scale`.
#[derive(Clone, Copy)]
pub(super) enum Relative {
    /// A row keeps that score.
    ToMaximum { scale: f32 },
    /// A row keeps it times `scale`, with the other sign. That takes fewer instructions, and
    /// `ptxas` keeps other values in registers.
    ToProduct { scale: f32 },
}

impl Relative {
    /// What a row keeps of a score.
    #[inline(always)]
    pub(super) fn of(self, score: f32) -> f32 {
        match self {
            Relative::ToMaximum { .. } => score,
            Relative::ToProduct { scale } => -(score * scale),
        }
    }

    /// The power of 2 that its weights are divided by.
    #[inline(always)]
    pub(super) fn power(self, base: f32) -> f32 {
        match self {
            Relative::ToMaximum { scale } => base * scale,
            Relative::ToProduct { .. } => -base,
        }
    }

    /// The power of 2 that is a score's weight.
    #[inline(always)]
    fn weight(self, base: f32, score: f32) -> f32 {
        match self {
            Relative::ToMaximum { scale } => math::fma(score, scale, -(base * scale)),
            Relative::ToProduct { scale } => math::fma(score, scale, base),
        }
    }

    /// The power of 2 by which a score's weight would exceed 1.
    #[inline(always)]
    fn excess(self, base: f32, score: f32) -> f32 {
        match self {
            Relative::ToMaximum { scale } => (score - base) * scale,
            Relative::ToProduct { scale } => math::fma(score, scale, base),
        }
    }

    /// The power of 2 that earlier weights are multiplied by when a row keeps another score.
    #[inline(always)]
    fn factor(self, old: f32, new: f32) -> f32 {
        match self {
            Relative::ToMaximum { scale } => (old - new) * scale,
            Relative::ToProduct { .. } => new - old,
        }
    }
}

/// The weights that scores make, relative to what their rows keep, and their sum in each row.
#[inline(always)]
pub(super) fn weighed<'r, R: Warpgroups, W: Width, const SIZE: usize>(
    group: &RoleGroup<'r, R, SIZE>,
    scores: Sums<'r, W, SIZE>,
    base: &RowValues<'r, SIZE>,
    relative: Relative,
) -> (Sums<'r, W, SIZE>, RowParts<'r, SIZE>) {
    let weights = scores.map_rows(group, base, |score, base| exp2_approximate(relative.weight(base, score)));
    let total = weights.row_parts(group);
    (weights, total)
}

/// What rows keep with a further tile of scores, and what all that is relative to the earlier ones
/// is multiplied by. They keep the same while the scores are not much larger: weights then are
/// above 1, and no rounding differs.
#[inline(always)]
pub(super) fn raised<'r, R: Warpgroups, W: Width, const SIZE: usize>(
    group: &RoleGroup<'r, R, SIZE>,
    base: &RowValues<'r, SIZE>,
    scores: &Sums<'r, W, SIZE>,
    relative: Relative,
) -> [RowValues<'r, SIZE>; 2] {
    base.replace_where(
        group,
        &scores.row_max(group),
        |old, max| relative.excess(old, max) > GROWTH,
        |old, max| {
            let new = relative.of(max);
            [new, exp2_approximate(relative.factor(old, new))]
        },
        1.0,
    )
}
