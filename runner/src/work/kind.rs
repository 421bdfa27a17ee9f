//! What is computed, whatever the portions.

use crate::value::DType;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// [`crate::reference::neighbour_sum`]
    NeighbourSum,
    /// [`crate::reference::reversed`]
    Reverse,
    /// [`crate::reference::backwards`]
    Backwards,
    /// [`crate::reference::moving_average`]
    MovingAverage,
    /// [`crate::reference::tripled`]
    Triple,
    /// [`crate::reference::copied`]
    Copy,
    /// [`crate::reference::copied`], of a matrix
    CopyRows,
    /// [`crate::reference::two_inputs`]
    TwoInputs,
    /// [`crate::reference::sum`]
    Sum,
    /// [`crate::reference::dot`]
    Dot,
    /// [`crate::reference::sum_by_warps`]
    SumByWarps,
    /// [`crate::reference::sum_by_threads`]
    SumByThreads,
    /// [`crate::reference::sum_by_consumers`]
    SumByConsumers,
    /// [`crate::reference::argmax`], of `f32`: keys
    Argmax,
    /// [`crate::reference::largest_key`]
    LargestKey,
    /// [`crate::reference::histogram`], of bytes: counts
    Histogram,
    /// [`crate::reference::histogram_of_keys`], of `u32`: counts
    HistogramOfKeys,
    /// [`crate::reference::part_sums`]
    PartSums,
    /// [`crate::reference::exclusive_scan`]; the second input is a sum for each block
    ExclusiveScan,
    /// [`crate::reference::gathered`]
    Gather,
    /// [`crate::reference::convolved`]
    Convolution,
    /// [`crate::reference::product`], of `f32`; the second input is the right factor
    MatrixProduct,
    /// [`crate::reference::transposed`]
    Transpose,
    /// [`crate::reference::batched_transposed`]
    BatchedTranspose,
    /// [`crate::reference::stencil`]
    Stencil,
    /// [`crate::reference::stencil_3x3`]
    Stencil3x3,
    /// [`crate::reference::softmax`], of `f32`
    Softmax,
    /// [`crate::reference::rms_norm`], of `f32`; the second input is the columns' weights
    RmsNorm,
    /// [`crate::reference::column_sums`]
    ColumnSums,
    /// [`crate::reference::blurred`], of bytes
    Blur,
    /// [`crate::reference::multiply_adds`]
    MultiplyAdds,
}

impl Kind {
    /// Returns the number of inputs of elements, whose shapes
    /// [`Work::input`](super::Work::input) says.
    pub const fn inputs(self) -> usize {
        match self {
            Kind::TwoInputs | Kind::Dot | Kind::ExclusiveScan | Kind::RmsNorm | Kind::MatrixProduct => 2,
            _ => 1,
        }
    }

    /// Whether the kernel takes, before the inputs, indices of the first one's elements:
    /// [`crate::data::index`] for each element of the output.
    pub const fn takes_indices(self) -> bool {
        matches!(self, Kind::Gather)
    }

    /// Whether all inputs have one shape.
    pub const fn has_inputs_of_one_shape(self) -> bool {
        !matches!(self, Kind::ExclusiveScan | Kind::RmsNorm | Kind::MatrixProduct)
    }

    /// Returns the number of dimensions of the first input and of the output
    /// ([`Shape::dimensions`](super::Shape::dimensions)).
    pub const fn dimensions(self) -> usize {
        match self {
            Kind::BatchedTranspose => 3,
            Kind::CopyRows
            | Kind::MatrixProduct
            | Kind::Transpose
            | Kind::Stencil
            | Kind::Stencil3x3
            | Kind::Softmax
            | Kind::RmsNorm
            | Kind::ColumnSums
            | Kind::Blur => 2,
            _ => 1,
        }
    }

    /// Whether a launch adds to what the output holds, which is then zeros before it.
    pub const fn adds(self) -> bool {
        matches!(self, Kind::ColumnSums | Kind::Histogram | Kind::HistogramOfKeys)
    }

    /// Whether each block writes one result, which depends on how many blocks there are.
    pub const fn is_sum(self) -> bool {
        matches!(
            self,
            Kind::Sum
                | Kind::Dot
                | Kind::SumByWarps
                | Kind::SumByThreads
                | Kind::SumByConsumers
                | Kind::Argmax
                | Kind::LargestKey
                | Kind::PartSums
        )
    }

    /// Whether the output is keys of 8 bytes, whatever the elements of the inputs are.
    pub const fn writes_keys(self) -> bool {
        matches!(self, Kind::Argmax)
    }

    /// Whether the output is counts of 4 bytes, whatever the elements of the inputs are.
    pub const fn writes_counts(self) -> bool {
        matches!(self, Kind::Histogram | Kind::HistogramOfKeys)
    }

    /// Returns the type of the output's elements for inputs of this type.
    pub const fn output_type(self, inputs: DType) -> DType {
        if self.writes_keys() {
            DType::U64
        } else if self.writes_counts() {
            DType::U32
        } else {
            inputs
        }
    }
}
