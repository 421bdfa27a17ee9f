//! Arguments for the views of two dimensions.

use tilepipe::{ColumnTiles2D, Element, Halos2D, Tiles2D, TilesMut2D};

use crate::argument::{Argument, Bound, sealed};
use crate::buffer::{Buffer2D, Rows, RowsMut};

impl<T, P> sealed::Sealed<P> for &Buffer2D<T> {}
impl<T, P> sealed::Sealed<P> for &mut Buffer2D<T> {}
impl<T, P> sealed::Sealed<P> for Rows<'_, T> {}
impl<T, P> sealed::Sealed<P> for RowsMut<'_, T> {}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, const PAD: usize> Argument<Tiles2D<'_, T, ROWS, COLUMNS, PAD>>
    for &Buffer2D<T>
{
    fn bind<'a>(self) -> Bound<'a> {
        Bound::input_2d(self)
    }
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, const PAD: usize>
    Argument<ColumnTiles2D<'_, T, ROWS, COLUMNS, PAD>> for &Buffer2D<T>
{
    fn bind<'a>(self) -> Bound<'a> {
        Bound::input_2d(self)
    }
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, const HALO: usize>
    Argument<Halos2D<'_, T, ROWS, COLUMNS, HALO>> for &Buffer2D<T>
{
    fn bind<'a>(self) -> Bound<'a> {
        Bound::input_2d(self)
    }
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, A, O> Argument<TilesMut2D<'_, T, ROWS, COLUMNS, A, O>>
    for &mut Buffer2D<T>
{
    fn bind<'a>(self) -> Bound<'a> {
        Bound::output_2d(self)
    }
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, const PAD: usize> Argument<Tiles2D<'_, T, ROWS, COLUMNS, PAD>>
    for Rows<'_, T>
{
    fn bind<'a>(self) -> Bound<'a> {
        Bound::input_rows(self)
    }
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, const PAD: usize>
    Argument<ColumnTiles2D<'_, T, ROWS, COLUMNS, PAD>> for Rows<'_, T>
{
    fn bind<'a>(self) -> Bound<'a> {
        Bound::input_rows(self)
    }
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, const HALO: usize>
    Argument<Halos2D<'_, T, ROWS, COLUMNS, HALO>> for Rows<'_, T>
{
    fn bind<'a>(self) -> Bound<'a> {
        Bound::input_rows(self)
    }
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, A, O> Argument<TilesMut2D<'_, T, ROWS, COLUMNS, A, O>>
    for RowsMut<'_, T>
{
    fn bind<'a>(self) -> Bound<'a> {
        Bound::output_rows(self)
    }
}

#[cfg(test)]
mod tests {
    use tilepipe::cpu::Schedule;
    use tilepipe::launch::{ParameterKind, RawRows};

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
