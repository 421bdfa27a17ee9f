//! Values in the launch's parameters: what a kernel reads by reference.

use core::ops::Deref;

use crate::element::Element;

/// A value that lies in the kernel's parameters, read-only for the whole launch: a filter, a table
/// or a matrix of coefficients.
///
/// It is for values of more than 16 bytes, which no kernel takes by value, and for arrays that are
/// read at an index. `T` is an array of elements, or any other [`Element`]; all parameters together
/// have at most 4096 bytes. The host passes a reference, `&value`: the launch copies the value, so
/// the caller may change its own at once.
///
/// Every thread may read it, at block level, in closures and in roles. A copy of the handle is one
/// of an address; `*constant` copies the value out.
///
/// CUDA: `const __grid_constant__ T`. PTX: a parameter of as many bytes, from which `ld.param`
/// reads; the kernel's PTX is of version 7.7 (CUDA 11.7) at least, for `cvta.param`. Threads of a
/// warp that read the same element do so in one access; where each reads an element of its own, a
/// view ([`Tiles::at`](crate::TileView::at)) is faster.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Constant, Tiles, TilesMut, kernel};
/// use tilepipe_host::{Device, Schedule};
///
/// /// The sum of three elements in a row, each with a weight of its own.
/// #[kernel]
/// fn weighted(
///     block: Block<64>,
///     input: Tiles<f32, 64>,
///     filter: Constant<[f32; 3]>,
///     mut out: TilesMut<f32, 64>,
/// ) {
///     let mut results = out.for_block(&block);
///     for i in 0..results.len() {
///         let first = 64 * (i * block.grid() + block.index());
///         let dst = results.get_mut(i);
///         block.threads(|t| {
///             let term = |k| filter[k] * input.get(first + t.rank() + k).unwrap_or(0.0);
///             dst.set(&t, term(0) + term(1) + term(2));
///         });
///     }
/// }
///
/// fn main() -> Result<(), tilepipe_host::Error> {
///     let device = Device::cpu(Schedule::Lazy);
///     let input = device.upload(&[1.0, 2.0, 3.0, 4.0])?;
///     let mut out = device.zeroed(4)?;
///     weighted::launch(&device.stream()?, 1, &input, &[1.0, 10.0, 100.0], &mut out)?;
///     assert_eq!(out.download()?, [321.0, 432.0, 43.0, 4.0]);
///     Ok(())
/// }
/// ```
///
/// # Invariants
///
/// 0. The value lies in the kernel's parameters, at an address that is the same in every thread,
///    and nobody writes it for the whole launch `'k`.
#[derive(Clone, Copy)]
pub struct Constant<'k, T: Element> {
    value: &'k T,
}

impl<'k, T: Element> Constant<'k, T> {
    /// Makes the handle of a parameter.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds of the value.
    #[inline(always)]
    pub(crate) unsafe fn new(value: &'k T) -> Self {
        Constant { value }
    }
}

impl<T: Element> Deref for Constant<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        self.value
    }
}
