//! Rows in memory of cudarc's, as arguments of a launch.

use std::any::type_name;
use std::fmt;
use std::ops::RangeBounds;

use cudarc::driver::{CudaView, CudaViewMut};
use tilepipe::Element;
use tilepipe::launch::{ParameterKind, RawRows};

use super::argument;
use crate::argument::lent::Lent;
use crate::argument::rows::views_of_two_dimensions;
use crate::argument::{Argument, Bound, Value, sealed};
use crate::buffer::{Rectangle, dense};
use crate::error::Error;

/// Rows of elements in memory of cudarc's, to be read by a kernel: what is passed for `Tiles2D`,
/// its relatives and a `Tensor` in a program that has its matrices in slices of cudarc's.
///
/// What holds for `&CudaSlice` holds for it: the launch waits for the slice's events and records
/// them anew. A kernel with asynchronous copies wants each row to start at a multiple of up to 16
/// bytes, which the launch checks.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Input2D, Striped, TilesMut2D, kernel};
/// use tilepipe_host::cudarc::driver::CudaStream;
/// use tilepipe_host::{CudaRows, CudaRowsMut, Grid, Stream};
/// # use std::{error::Error, sync::Arc};
///
/// #[kernel]
/// fn mirror(block: Block<32>, input: Input2D<i32>, mut out: TilesMut2D<i32, 1, 32, Striped>) {
///     let width = input.width();
///     let mut results = out.for_block(&block);
///     let places = results.places();
///     for i in 0..results.len() {
///         let (row, tile) = places.get(i);
///         let result = results.get_mut(i);
///         block.threads(|t| {
///             result.set_each(&t, |_, column| input.at(row, width - 1 - (32 * tile + column)));
///         });
///     }
/// }
///
/// /// Mirrors two rows of three numbers.
/// fn mirrored(theirs: &Arc<CudaStream>, ours: &Stream) -> Result<Vec<i32>, Box<dyn Error>> {
///     let numbers = theirs.clone_htod(&[1, 2, 3, 4, 5, 6])?;
///     let mut results = theirs.alloc_zeros::<i32>(6)?;
///     let input = CudaRows::new(numbers.as_view(), 3)?;
///     let mut out = CudaRowsMut::new(results.as_view_mut(), 3)?;
///     mirror::launch(ours, Grid::tiles(), &input, &mut out)?;
///     Ok(theirs.clone_dtoh(&results)?)
/// }
/// # fn main() {}
/// ```
pub struct CudaRows<'a, T> {
    view: CudaView<'a, T>,
    /// Lies within the view.
    rectangle: Rectangle,
}

/// Rows of elements in memory of cudarc's, to be written by a kernel: what is passed for
/// `TilesMut2D`, a `TensorMut` or a `TileReduction`. See [`CudaRows`].
pub struct CudaRowsMut<'a, T> {
    view: CudaViewMut<'a, T>,
    /// Lies within the view.
    rectangle: Rectangle,
}

/// What both kinds have.
macro_rules! rows {
    ($rows:ident, $view:ident, $slice:ident) => {
        impl<'a, T: Element> $rows<'a, T> {
            /// Takes all elements of a view as rows of `width`, one after the other.
            ///
            /// # Errors
            ///
            /// [`Error::RaggedRows`] if `width` is 0 or does not divide the view's length, and
            /// [`Error::EmptyBuffer`] if it has no elements.
            pub fn new(view: $view<'a, T>, width: usize) -> Result<Self, Error> {
                let rectangle = dense(view.len(), width)?;
                if rectangle.height == 0 {
                    return Err(Error::EmptyBuffer { element: type_name::<T>() });
                }
                Ok($rows { view, rectangle })
            }

            /// Returns the elements in a row, at least 1.
            pub fn width(&self) -> usize {
                self.rectangle.width
            }

            /// Returns the number of rows, at least 1.
            pub fn height(&self) -> usize {
                self.rectangle.height
            }

            /// Keeps the elements of the given rows and columns, counted from the first of these.
            ///
            /// # Errors
            ///
            /// [`Error::BadSlice2D`] if a range is empty or does not lie in these rows.
            pub fn $slice(
                self,
                rows: impl RangeBounds<usize>,
                columns: impl RangeBounds<usize>,
            ) -> Result<Self, Error> {
                Ok($rows { rectangle: self.rectangle.slice(&rows, &columns)?, ..self })
            }
        }

        impl<T> fmt::Debug for $rows<'_, T> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.debug_struct(stringify!($rows)).field("rectangle", &self.rectangle).finish_non_exhaustive()
            }
        }
    };
}
rows!(CudaRows, CudaView, slice);
rows!(CudaRowsMut, CudaViewMut, slice_mut);

/// Binds a rectangle of the memory.
fn bound<T: Element>(lent: Lent<'_>, rectangle: Rectangle, kind: ParameterKind) -> Bound<'_> {
    let Rectangle { start, width, height, pitch, padding } = rectangle;
    let address = (start * size_of::<T>()) as u64;
    let [width, height, pitch] = [width, height, pitch].map(|elements| elements as u64);
    argument::bound::<T>(lent, Value::Rows(RawRows { address, width, height, pitch }), padding, kind)
}

impl<T, P> sealed::Sealed<P> for &CudaRows<'_, T> {}
impl<T, P> sealed::Sealed<P> for &mut CudaRowsMut<'_, T> {}

/// What may be passed for a view that is read.
macro_rules! inputs {
    ($([$($generics:tt)*] $of:ty;)*) => {$(
        impl<T: Element, $($generics)*> Argument<$of> for &CudaRows<'_, T> {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                bound::<T>(Lent::shared(&self.view), self.rectangle, ParameterKind::Input)
            }
        }
    )*};
}

/// What may be passed for a view that is written or added to.
macro_rules! outputs {
    ($([$($generics:tt)*] $of:ty;)*) => {$(
        impl<T: Element, $($generics)*> Argument<$of> for &mut CudaRowsMut<'_, T> {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                bound::<T>(Lent::exclusive(&mut self.view), self.rectangle, ParameterKind::Output)
            }
        }
    )*};
}

views_of_two_dimensions!(inputs, outputs);
