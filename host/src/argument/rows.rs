//! The views of two dimensions, for each kind of memory that may be passed for all of them.

use tilepipe::Element;
use tilepipe::launch::ParameterKind;

use crate::argument::{Argument, Bound, ToBind, sealed};
use crate::buffer::{Buffer2D, Rows, RowsMut};

/// Calls `$inputs` with the views that kernels read, and `$outputs` with those that they write or
/// add to: the generic parameters besides `T: Element`, and the type.
macro_rules! views_of_two_dimensions {
    ($inputs:ident, $outputs:ident) => {
        $inputs! {
            [const ROWS: usize, const COLUMNS: usize, const PAD: usize] tilepipe::Tiles2D<'_, T, ROWS, COLUMNS, PAD>;
            [const ROWS: usize, const COLUMNS: usize, const PAD: usize]
                tilepipe::ColumnTiles2D<'_, T, ROWS, COLUMNS, PAD>;
            [const ROWS: usize, const COLUMNS: usize, const HALO: usize] tilepipe::Halos2D<'_, T, ROWS, COLUMNS, HALO>;
            [X: tilepipe::MatrixExtents, W: tilepipe::Swizzle] tilepipe::Tensor<'_, T, X, W>;
        }
        $outputs! {
            [const ROWS: usize, const COLUMNS: usize, A, O] tilepipe::TilesMut2D<'_, T, ROWS, COLUMNS, A, O>;
            [X: tilepipe::OutputExtents + tilepipe::MatrixExtents, W: tilepipe::Swizzle, O]
                tilepipe::TensorMut<'_, T, X, W, O>;
            [O: tilepipe::Operation<T>, X: tilepipe::OutputExtents + tilepipe::MatrixExtents, W: tilepipe::Swizzle]
                tilepipe::TileReduction<'_, T, O, X, W>;
        }
    };
}
pub(crate) use views_of_two_dimensions;

impl<T, P> sealed::Sealed<P> for &Buffer2D<T> {}
impl<T, P> sealed::Sealed<P> for &mut Buffer2D<T> {}
impl<T, P> sealed::Sealed<P> for Rows<'_, T> {}
impl<T, P> sealed::Sealed<P> for RowsMut<'_, T> {}

/// What may be passed for a view that is read.
macro_rules! inputs {
    ($([$($generics:tt)*] $view:ty;)*) => {$(
        impl<T: Element, $($generics)*> Argument<$view> for &Buffer2D<T> {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                self.bound(ParameterKind::Input)
            }
        }

        impl<T: Element, $($generics)*> Argument<$view> for Rows<'_, T> {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                self.bound(ParameterKind::Input)
            }
        }
    )*};
}

/// What may be passed for a view that is written or added to.
macro_rules! outputs {
    ($([$($generics:tt)*] $view:ty;)*) => {$(
        impl<T: Element, $($generics)*> Argument<$view> for &mut Buffer2D<T> {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                self.bound(ParameterKind::Output)
            }
        }

        impl<T: Element, $($generics)*> Argument<$view> for RowsMut<'_, T> {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                self.bound(ParameterKind::Output)
            }
        }
    )*};
}

views_of_two_dimensions!(inputs, outputs);

#[cfg(test)]
mod tests {
    use tilepipe::cpu::Schedule;
    use tilepipe::launch::RawRows;
    use tilepipe::{Halos2D, Tiles2D, TilesMut2D};

    use super::*;
    use crate::device::Device;

    /// What a kernel's typed launch asks for.
    fn typed<'a>(
        tiles: impl Argument<Tiles2D<'static, u32, 8, 32>> + 'a,
        padded: impl Argument<Tiles2D<'static, u32, 8, 32, 1>> + 'a,
        halos: impl Argument<Halos2D<'static, u32, 8, 32, 1>> + 'a,
        out: impl Argument<TilesMut2D<'static, u32, 8, 32>> + 'a,
    ) -> [Bound<'a>; 4] {
        [tiles.bind(), padded.bind(), halos.bind(), out.bind()]
    }

    /// Kinds, dimensions and sizes of the arguments: width, height and pitch.
    fn shapes(arguments: [Bound<'_>; 4]) -> [(ParameterKind, bool, [u64; 3]); 4] {
        arguments.map(|bound| {
            let RawRows { width, height, pitch, .. } = bound.value.raw().get();
            (bound.kind, bound.value.dimensions() == 2, [width, height, pitch])
        })
    }

    #[test]
    fn typed_arguments_of_two_dimensions_carry_address_width_height_and_pitch() {
        let device = Device::cpu(Schedule::Lazy);
        let input = device.upload_2d(&[1_u32; 10], 5).unwrap();
        let mut out = device.zeroed_2d::<u32>(3, 4).unwrap();
        let buffered = [
            (ParameterKind::Input, true, [5, 2, 8]),
            (ParameterKind::Input, true, [5, 2, 8]),
            (ParameterKind::Input, true, [5, 2, 8]),
            (ParameterKind::Output, true, [3, 4, 4]),
        ];
        let bound = typed(&input, &input, &input, &mut out);
        assert_eq!(bound[0].value.address(), Some(input.as_rows().parts().0.memory.address()));
        assert_eq!(shapes(bound), buffered);

        let dense = device.upload(&[1_u32; 10]).unwrap();
        let mut written = device.zeroed::<u32>(12).unwrap();
        let rows = [
            (ParameterKind::Input, true, [5, 2, 5]),
            (ParameterKind::Input, true, [2, 5, 2]),
            (ParameterKind::Input, true, [1, 10, 1]),
            (ParameterKind::Output, true, [3, 4, 3]),
        ];
        let [five, two, one] = [5, 2, 1].map(|width| dense.rows(width).unwrap());
        let address = written.memory.address();
        let bound = typed(five, two, one, written.rows_mut(3).unwrap());
        assert_eq!(bound[3].value.address(), Some(address));
        assert_eq!(shapes(bound), rows);
    }
}
