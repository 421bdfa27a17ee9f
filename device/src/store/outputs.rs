//! The memory of a ring.

use core::marker::PhantomData;

use super::slots::stride;
use crate::element::Element;
use crate::memory::Layout;
use crate::tensor::{OutputExtents, Swizzle, TensorTile};

/// `COUNT` output stages in shared memory, each with room for one tile `C`, a [`TensorTile`]: the
/// copy engine stores them one after the other.
///
/// With two or more stages threads fill one while the engine reads the other; with one stage they
/// wait for it. Without any, only loaded tiles can be stored
/// ([`Draft::store`](crate::Draft::store)). Each stage starts at a multiple of the tile's
/// alignment.
pub struct Outputs<C, const COUNT: usize>(PhantomData<C>);

// SAFETY: a tile's alignment is a power of two of at most 1024 (`Swizzle::ALIGNMENT`), and a stride
// is a multiple of it; COUNT stages so far apart are what a ring touches.
unsafe impl<T: Element, X: OutputExtents, W: Swizzle, const COUNT: usize> Layout
    for Outputs<TensorTile<T, X, W>, COUNT>
{
    const BYTES: usize = {
        assert!(COUNT <= u32::MAX as usize / stride::<T, X, W>(), "the stages of a ring fit in 4 GiB");
        COUNT * stride::<T, X, W>()
    };
    const ALIGNMENT: usize = TensorTile::<T, X, W>::ALIGNMENT;
    const STORES: bool = true;
}
