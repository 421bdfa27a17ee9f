//! What is passed where a kernel can do without.

use std::any::{TypeId, type_name};

use tilepipe::launch::ParameterKind;
use tilepipe::product::RowValuesMut;

use super::ForeignRowsMut;
use super::{Argument, Bound, NOTHING, sealed};
use crate::buffer::{Buffer2D, RowsMut};

/// Passed for a [`RowValuesMut`] that nobody asks for: the kernel writes nothing to it.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl<P> sealed::Sealed<P> for Nothing {}

impl<const ROWS: usize, O> Argument<RowValuesMut<'_, ROWS, O>> for Nothing {
    fn bind<'a>(self) -> Bound<'a>
    where
        Self: 'a,
    {
        Bound {
            value: NOTHING,
            kind: ParameterKind::Output,
            element: TypeId::of::<f32>(),
            element_name: type_name::<f32>(),
            place: None,
            padding: 0,
        }
    }
}

/// What may be passed for numbers of rows.
macro_rules! numbers_of_rows {
    ($($given:ty),+) => {$(
        impl<const ROWS: usize, O> Argument<RowValuesMut<'_, ROWS, O>> for $given {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                Argument::<tilepipe::TilesMut2D<'_, f32, 1, 1>>::bind(self)
            }
        }
    )+};
}
numbers_of_rows!(&mut Buffer2D<f32>, RowsMut<'_, f32>, &mut ForeignRowsMut<'_, f32>);
