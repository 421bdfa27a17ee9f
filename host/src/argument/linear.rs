//! The views of one dimension, for each kind of memory that may be passed for all of them.

/// Calls `$inputs` with the views that kernels read, and `$outputs` with those that they write or
/// add to, each with its kind: the generic parameters besides `T: Element`, and the type.
macro_rules! views_of_one_dimension {
    ($inputs:ident, $outputs:ident) => {
        $inputs! {
            [const LEN: usize] tilepipe::Tiles<'_, T, LEN>;
            [const LEN: usize, const HALO: usize] tilepipe::Halos<'_, T, LEN, HALO>;
            [const COLUMNS: usize, W: tilepipe::Swizzle] tilepipe::Tensor<'_, T, tilepipe::Extents1<COLUMNS>, W>;
        }
        $outputs! {
            [const LEN: usize, A, O] tilepipe::TilesMut<'_, T, LEN, A, O>, Output;
            [const LEN: usize, O] tilepipe::BulkTilesMut<'_, T, LEN, O>, Output;
            [O: tilepipe::AtomicOperation<T>] tilepipe::Reduction<'_, T, O>, Reduction;
            [const COLUMNS: usize, W: tilepipe::Swizzle, O]
                tilepipe::TensorMut<'_, T, tilepipe::Extents1<COLUMNS>, W, O>, Output;
            [O: tilepipe::Operation<T>, const COLUMNS: usize, W: tilepipe::Swizzle]
                tilepipe::TileReduction<'_, T, O, tilepipe::Extents1<COLUMNS>, W>, Output;
        }
    };
}
pub(crate) use views_of_one_dimension;
