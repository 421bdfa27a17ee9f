//! What a role's closure may capture, and what may be handed to it alone.

use super::map::Of;
use super::multiply::room::SharedFactor;
use super::multiply::rooms::SharedFactors;
use super::multiply::turns::{PreparedTurns, Turns};
use super::result::Kept;
use crate::bins::Bins;
use crate::element::Element;
use crate::group::block::{PerThread, Thread};
use crate::group::warp::{Lane, PerLane};
use crate::marker::RoleShared;
use crate::memory::Shared;
use crate::output::arrangement::Arrangement;
use crate::output::bulk::BulkTilesMut;
use crate::output::reduction::AtomicOperation;
use crate::output::tile::{OutputTile, TileMut};
use crate::output::tiles::TileViewMut;
use crate::product::RowValuesMut;
use crate::scratch::{Scratch, ScratchTile};
use crate::store::Outputs;
use crate::tensor::{Operation, OutputExtents, Swizzle, TensorMut, TileReduction};
use crate::tile::Tile;
use crate::view::geometry::Geometry;
use crate::view::order::{Order, Stepped};

impl<S: OutputTile, A, const THREADS: usize> !RoleShared for TileMut<'_, '_, S, THREADS, A> {}
impl<T, const THREADS: usize> !RoleShared for PerThread<'_, T, THREADS> {}
impl<T> !RoleShared for PerLane<'_, T> {}
impl<R, T, const SIZE: usize> !RoleShared for Kept<R, T, SIZE> {}
impl<const THREADS: usize> !RoleShared for Thread<'_, '_, THREADS> {}
impl<const THREADS: usize> !RoleShared for Lane<'_, '_, '_, THREADS> {}
impl<S, P, G> !RoleShared for ScratchTile<'_, S, P, G> {}

/// What can be handed to the closure of the role `R` alone: `()`, an output view by value or by
/// `&mut`, memory of [`Outputs`] and what they are stored to by value, memory of [`Scratch`], of
/// [`Bins`], of a [`SharedFactor`], [`SharedFactors`] and of [`Turns`], [`PreparedTurns`], what the
/// same role has [`Kept`], or a tuple of these. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be handed to a role",
    label = "not `()`, an output view, or what the same role has kept",
    note = "a block's token or pipeline in one role would take collective steps that the other roles don't take; hand over `()`, \
            `&mut out` of an output view, a `Kept` value of the same role of the same map, or a tuple of these; what all roles only read is captured"
)]
pub trait Handed<R>: sealed::Handed<R> {}

pub(super) mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be handed to a role: `Handed` is sealed",
        label = "not `()`, an output view, or what the same role has kept",
        note = "what a role alone gets takes no part in steps of the block: hand over `()`, an output view, `Kept` values, or a tuple of these"
    )]
    pub trait Handed<R> {
        /// Whether each warpgroup of a role may have a copy, and go its own way with it: all that
        /// is done with it is done by each for itself, with rows of its own, or refused.
        const OF_WARPGROUPS: bool = false;
    }
}

macro_rules! handed {
    ($([$($generic:tt)*] $handed:ty $(, of warpgroups $apart:expr)?;)*) => {$(
        impl<R, $($generic)*> Handed<R> for $handed {}
        impl<R, $($generic)*> sealed::Handed<R> for $handed {
            $(const OF_WARPGROUPS: bool = $apart;)?
        }
    )*};
}
handed! {
    [] (), of warpgroups true;
    [S: OutputTile, G: Geometry, A: Arrangement, O: Order] TileViewMut<'_, S, G, A, O>;
    [S: OutputTile, G: Geometry, A: Arrangement, O: Order] &mut TileViewMut<'_, S, G, A, O>;
    [T: Element, X: OutputExtents, W: Swizzle, O: Stepped] TensorMut<'_, T, X, W, O>, of warpgroups true;
    [T: Element, const LEN: usize, O: Stepped] BulkTilesMut<'_, T, LEN, O>;
    [const ROWS: usize, O: Stepped] RowValuesMut<'_, ROWS, O>, of warpgroups true;
    [T: Element, O: Operation<T>, X: OutputExtents, W: Swizzle] TileReduction<'_, T, O, X, W>, of warpgroups true;
    [C, P, const COUNT: usize] Shared<'_, Outputs<C, COUNT>, P>, of warpgroups true;
    [S: Tile, P] Shared<'_, Scratch<S>, P>;
    [C, P] Shared<'_, SharedFactor<C>, P>;
    [C, P, const COUNT: usize] Shared<'_, SharedFactors<C, COUNT>, P>;
    [P, const GROUPS: usize] Shared<'_, Turns<GROUPS>, P>, of warpgroups GROUPS == 0;
    [P, const GROUPS: usize] PreparedTurns<'_, GROUPS, P>, of warpgroups true;
    [T: Element, O: AtomicOperation<T>, P, const LEN: usize, const COPIES: usize] Shared<'_, Bins<T, LEN, O, COPIES>, P>;
    [A: Handed<R>, B: Handed<R>] (A, B), of warpgroups A::OF_WARPGROUPS && B::OF_WARPGROUPS;
    [A: Handed<R>, B: Handed<R>, C: Handed<R>] (A, B, C),
        of warpgroups A::OF_WARPGROUPS && B::OF_WARPGROUPS && C::OF_WARPGROUPS;
    [A: Handed<R>, B: Handed<R>, C: Handed<R>, D: Handed<R>] (A, B, C, D),
        of warpgroups A::OF_WARPGROUPS && B::OF_WARPGROUPS && C::OF_WARPGROUPS && D::OF_WARPGROUPS;
}
impl<M, I, T, const SIZE: usize> Handed<Of<M, I>> for Kept<Of<M, I>, T, SIZE> {}
impl<M, I, T, const SIZE: usize> sealed::Handed<Of<M, I>> for Kept<Of<M, I>, T, SIZE> {}
