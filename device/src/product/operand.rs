//! Tiles that tensor cores read.

use crate::element::Element;
use crate::isa::product::{Columns, Factor, Width};
use crate::tensor::{Extents, Extents2, Panels, Panels2, Swizzle, Swizzle32, Swizzle64, Swizzle128, TensorTile};

/// A box of a [`Tensor`](crate::Tensor) in shared memory that tensor cores alone read: what a stage
/// holds of each operand of a product.
///
/// As [`TensorTile`], but without any way to its elements, so that threads need no fence between
/// the proxies when they give the stage back.
///
/// The rows of a factor are along K, as A's are in C's usual order of elements, or they are not, as
/// those of a B that is not transposed: then the tile has [`Panels2`], `PANEL` columns to a box.
///
/// ```text
/// // 128 rows of A and 256 of B, with 64 elements along K.
/// Stages<(OperandTile<bf16, Extents2<128, 64>, Swizzle128>,
///         OperandTile<bf16, Extents2<256, 64>, Swizzle128>), 4, TensorMap>
/// ```
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct OperandTile<T: Element, X: Extents, W: Swizzle>(TensorTile<T, X, W>);

impl<T: Element, X: Extents, W: Swizzle> OperandTile<T, X, W> {
    /// Refuses, at compile time, panels that would not start at whole periods of the swizzle.
    pub(crate) const PERIODS: () = assert!(
        X::PANELS == 1 || TensorTile::<T, X, W>::BYTES.is_multiple_of(TensorTile::<T, X, W>::ALIGNMENT),
        "a panel of an operand has a multiple of 8 rows"
    );
}

/// An element that tensor cores multiply: [`f16`](crate::f16) or [`bf16`](crate::bf16). Sealed.
#[diagnostic::on_unimplemented(
    message = "tensor cores don't multiply `{Self}` here",
    label = "not `f16` or `bf16`",
    note = "the elements of both operands are `f16` or `bf16`; sums are `f32`"
)]
pub trait OperandElement: Element + sealed::OperandElement {}

/// A tile that can be an operand of a product: an [`OperandTile`] of [`f16`](crate::f16) or
/// [`bf16`](crate::bf16), swizzled. Sealed.
///
/// | rows | extents | is |
/// |---|---|---|
/// | along K | `Extents2<ROWS, DEEP>` | `ROWS` rows or columns of the product, `DEEP` along K |
/// | across K | `Panels2<DEEP, ROWS, PANEL>` | the same, with `DEEP` rows in memory |
///
/// `ROWS` of A are rows of the sums, 64 for each warpgroup of the role; of B columns, 8 to 256 in
/// steps of 8. `DEEP` is the same for both, and with rows along K what the swizzle has room for: 64
/// with [`Swizzle128`], 32 with [`Swizzle64`], 16 with [`Swizzle32`]; so is `PANEL`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be an operand of a product",
    label = "not an operand tile that tensor cores take",
    note = "an operand is `OperandTile<bf16, Extents2<ROWS, 64>, Swizzle128>`, of `bf16` or `f16`, with 8 to 256 rows in steps of 8, or \
            `Panels2<64, ROWS, 64>` where rows in memory are not along K"
)]
pub trait Operand: sealed::Operand {}

pub(crate) mod sealed {
    use super::{Factor, Width};

    #[diagnostic::on_unimplemented(
        message = "tensor cores don't multiply `{Self}` here",
        label = "not `f16` or `bf16`",
        note = "the elements of both operands are `f16` or `bf16`; sums are `f32`"
    )]
    pub trait OperandElement {
        /// What the instruction takes it for.
        const FACTOR: Factor;
    }

    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be an operand of a product",
        label = "not an operand tile that tensor cores take",
        note = "an operand is `OperandTile<bf16, Extents2<ROWS, 64>, Swizzle128>`, of `bf16` or `f16`, with 8 to 256 rows in steps of 8"
    )]
    pub trait Operand {
        /// Its elements.
        type Element: super::OperandElement;
        /// Its rows as the columns of a product.
        type Width: Width;
        /// Rows or columns of the product.
        const ROWS: usize;
        /// Elements along K.
        const DEEP: usize;
        /// Whether rows in memory are across K.
        const ACROSS: bool;
        /// Bytes of a row, which are the swizzle's span.
        const ROW_BYTES: usize;
    }

    /// What a held tile is to products that are started one by one: an
    /// [`OperandTile`](super::OperandTile) with 16-bit elements, whose rows and columns both are
    /// numbers of columns of a product.
    #[diagnostic::on_unimplemented(
        message = "a held tile of `{Self}` can't be a factor of a product",
        label = "not a held tile of one `OperandTile` that tensor cores take",
        note = "a factor is a `HeldTile` of a stage of one `OperandTile<bf16, Extents2<ROWS, 64>, Swizzle128>` or `Panels2<ROWS, COLUMNS, 64>`, of `bf16` \
                or `f16`, with 8 to 256 rows and columns in steps of 8: give each factor a pipeline of its own, and take `TensorTile`s for what threads read"
    )]
    pub trait BoxOperand {
        /// Its elements.
        type Element: super::OperandElement;
        /// Its rows as the columns of a product.
        type Rows: Width;
        /// Its columns as those of a product.
        type Columns: Width;
        /// Rows and columns.
        const EXTENTS: [usize; 2];
        /// Bytes of a row of a panel, which are the swizzle's span.
        const ROW_BYTES: usize;
    }
}

impl OperandElement for half::f16 {}
impl sealed::OperandElement for half::f16 {
    const FACTOR: Factor = Factor::F16;
}
impl OperandElement for half::bf16 {}
impl sealed::OperandElement for half::bf16 {
    const FACTOR: Factor = Factor::Bf16;
}

macro_rules! operands {
    ($($swizzle:ty)*) => {$(
        impl<T: OperandElement, const ROWS: usize, const DEEP: usize> Operand for OperandTile<T, Extents2<ROWS, DEEP>, $swizzle>
        where
            Columns<ROWS>: Width,
        {
        }
        impl<T: OperandElement, const ROWS: usize, const DEEP: usize> sealed::Operand
            for OperandTile<T, Extents2<ROWS, DEEP>, $swizzle>
        where
            Columns<ROWS>: Width,
        {
            type Element = T;
            type Width = Columns<ROWS>;
            const ROWS: usize = ROWS;
            const DEEP: usize = DEEP;
            const ACROSS: bool = false;
            const ROW_BYTES: usize = DEEP * size_of::<T>();
        }
        impl<T: OperandElement, const ROWS: usize, const COLUMNS: usize> sealed::BoxOperand
            for OperandTile<T, Extents2<ROWS, COLUMNS>, $swizzle>
        where
            Columns<ROWS>: Width,
            Columns<COLUMNS>: Width,
        {
            type Element = T;
            type Rows = Columns<ROWS>;
            type Columns = Columns<COLUMNS>;
            const EXTENTS: [usize; 2] = [ROWS, COLUMNS];
            const ROW_BYTES: usize = COLUMNS * size_of::<T>();
        }
        impl<T: OperandElement, const ROWS: usize, const COLUMNS: usize, const PANEL: usize, const ARRAY: usize>
            sealed::BoxOperand for OperandTile<T, Panels<ROWS, COLUMNS, PANEL, ARRAY>, $swizzle>
        where
            Columns<ROWS>: Width,
            Columns<COLUMNS>: Width,
        {
            type Element = T;
            type Rows = Columns<ROWS>;
            type Columns = Columns<COLUMNS>;
            const EXTENTS: [usize; 2] = [ROWS, COLUMNS];
            const ROW_BYTES: usize = PANEL * size_of::<T>();
        }
        impl<T: OperandElement, const ROWS: usize, const DEEP: usize, const PANEL: usize> Operand
            for OperandTile<T, Panels2<DEEP, ROWS, PANEL>, $swizzle>
        where
            Columns<ROWS>: Width,
        {
        }
        impl<T: OperandElement, const ROWS: usize, const DEEP: usize, const PANEL: usize> sealed::Operand
            for OperandTile<T, Panels2<DEEP, ROWS, PANEL>, $swizzle>
        where
            Columns<ROWS>: Width,
        {
            type Element = T;
            type Width = Columns<ROWS>;
            const ROWS: usize = ROWS;
            const DEEP: usize = {
                assert!(DEEP.is_multiple_of(16), "a tile has a multiple of 16 elements along K");
                DEEP
            };
            const ACROSS: bool = true;
            const ROW_BYTES: usize = PANEL * size_of::<T>();
        }
    )*};
}
operands!(Swizzle32 Swizzle64 Swizzle128);
