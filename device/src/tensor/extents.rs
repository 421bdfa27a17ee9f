//! The extents of a box.

use core::fmt::Debug;

use crate::element::Element;
use crate::marker::{RoleShared, Uniform};

/// The extents of a tensor's boxes: [`Extents2`], or [`Halo2`] for boxes that overlap. Sealed.
pub trait Extents: Copy + 'static + sealed::Extents {}

/// Boxes of `ROWS` rows of `COLUMNS` elements, side by side.
#[derive(Clone, Copy, Debug)]
pub enum Extents2<const ROWS: usize, const COLUMNS: usize> {}

/// Boxes of `ROWS` rows of `COLUMNS` elements with `ABOVE` more rows above and below and `BESIDE`
/// more elements on either side, which the neighbouring boxes have, too.
///
/// A row of a box is a multiple of 16 bytes, and so are the `BESIDE` elements, or it does not
/// compile: the copy engine begins a row nowhere else.
#[derive(Clone, Copy, Debug)]
pub enum Halo2<const ROWS: usize, const COLUMNS: usize, const ABOVE: usize, const BESIDE: usize> {}

impl<const ROWS: usize, const COLUMNS: usize> Extents for Extents2<ROWS, COLUMNS> {}
impl<const ROWS: usize, const COLUMNS: usize, const ABOVE: usize, const BESIDE: usize> Extents
    for Halo2<ROWS, COLUMNS, ABOVE, BESIDE>
{
}

/// The extents of boxes that a kernel writes: [`Extents2`], whose boxes don't overlap. Sealed.
#[diagnostic::on_unimplemented(
    message = "boxes of `{Self}` can't be written",
    label = "these boxes overlap, or are no extents of a box",
    note = "two blocks would write what lies in both of two neighbouring boxes: take `Extents2<ROWS, COLUMNS>` for an output"
)]
pub trait OutputExtents: Extents {}

impl<const ROWS: usize, const COLUMNS: usize> OutputExtents for Extents2<ROWS, COLUMNS> {}

pub(crate) mod sealed {
    use super::{Debug, Element, RoleShared, Uniform};

    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no extents of a box: `Extents` is sealed",
        label = "not `Extents2` or `Halo2`",
        note = "take `Extents2<ROWS, COLUMNS>`, or `Halo2<ROWS, COLUMNS, ABOVE, BESIDE>` for boxes with neighbours"
    )]
    pub trait Extents {
        /// Rows and columns of a box.
        const BOX: [usize; 2];
        /// Rows and columns from one box's start to the next one's.
        const STRIDE: [usize; 2];
        /// Rows and columns of a box that lie before its own part.
        const LEAD: [usize; 2];
        /// The room for a box: its elements.
        type Room<T: Element>: Copy + Uniform + RoleShared + Send + Sync + 'static;
    }

    /// Rows of a halo's box, with those above and below: arrays in a row without padding.
    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    pub struct WithHalo<R, const ROWS: usize, const ABOVE: usize> {
        above: [R; ABOVE],
        own: [R; ROWS],
        below: [R; ABOVE],
    }
}

impl<const ROWS: usize, const COLUMNS: usize> sealed::Extents for Extents2<ROWS, COLUMNS> {
    const BOX: [usize; 2] = [ROWS, COLUMNS];
    const STRIDE: [usize; 2] = [ROWS, COLUMNS];
    const LEAD: [usize; 2] = [0, 0];
    type Room<T: Element> = [[T; COLUMNS]; ROWS];
}

impl<const ROWS: usize, const COLUMNS: usize, const ABOVE: usize, const BESIDE: usize> sealed::Extents
    for Halo2<ROWS, COLUMNS, ABOVE, BESIDE>
{
    const BOX: [usize; 2] = [ROWS + 2 * ABOVE, COLUMNS + 2 * BESIDE];
    const STRIDE: [usize; 2] = [ROWS, COLUMNS];
    const LEAD: [usize; 2] = [ABOVE, BESIDE];
    type Room<T: Element> = sealed::WithHalo<sealed::WithHalo<T, COLUMNS, BESIDE>, ROWS, ABOVE>;
}
