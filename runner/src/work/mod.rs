//! Which work each kernel does: what it takes, what it returns, and what it must compute.

mod kind;
mod shape;

use tilepipe::launch::Instance;

use crate::reference::{self, Written};
use crate::stdout::counted;
use crate::value::Value;

pub use kind::Kind;
pub use shape::Shape;

/// Elements of a tile of `multiply_adds`, where the instance does not say how many:
/// `tilepipe_kernels::MULTIPLY_ADDS_TILE`.
const MULTIPLY_ADDS_TILE: usize = 2048;
/// Elements of a group of `GroupSum`: `tilepipe_kernels::compute::GROUP`.
const GROUP: usize = 256;

macro_rules! kinds {
    ($($kernel:ident { computes: $kind:ident, $($rest:tt)* })*) => {
        /// What each kernel of the registry does. A kernel with a parameter `C` does what that says
        /// instead, if it says something else.
        const KERNELS: [(&str, Kind); tilepipe_kernel_registry::COUNT] = [$((stringify!($kernel), Kind::$kind)),*];
    };
}
tilepipe_kernel_registry::with_kernels!(kinds);

/// Bins of `histogram_u32`: `tilepipe_kernels::KEY_BINS`.
const KEY_BINS: usize = 4096;

/// Most columns of the right factor of a matrix product: a whole tile of the kernel's and a part of
/// one. It has no more than the left factor has rows, so that it is not the larger one.
const PRODUCT_COLUMNS: usize = 197;

/// The columns of the right factor where the left one has `height` rows.
const fn columns_of_product(height: usize) -> usize {
    if height < PRODUCT_COLUMNS { height } else { PRODUCT_COLUMNS }
}

/// The task of [`Kind::Triple`].
pub const TRIPLE: &str = "three times each element";
/// The task of [`Kind::Copy`].
pub const COPY: &str = "copy";
/// The task of [`Kind::CopyRows`].
pub const COPY_ROWS: &str = "copy of a matrix";

/// What one instance of a kernel computes, and in which portions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Work {
    /// What is computed.
    pub kind: Kind,
    /// Threads that compute: all of a block, or of a sum by consumers those alone.
    pub threads: usize,
    /// Rows of a tile; 1 but for matrices and batches.
    pub rows: usize,
    /// Elements in a tile's row.
    pub columns: usize,
    /// Elements among which the last one's next is the first: those of a tile, or of a group of
    /// `GroupSum`.
    pub group: usize,
    /// Multiply-adds for each element: the kernel's parameter `ROUNDS`; 0 but for
    /// [`Kind::MultiplyAdds`].
    pub rounds: usize,
    /// Elements of a pixel: the kernel's parameter `CHANNELS`; 1 but for [`Kind::Blur`].
    pub channels: usize,
    /// Bits of a key that say where in its bin it is: the kernel's parameter `SHIFT`; 0 but for
    /// [`Kind::HistogramOfKeys`].
    pub shift: u32,
    /// Elements of the filter, [`reference::filter`]: the kernel's parameter `TAPS`; 0 but for
    /// [`Kind::Convolution`].
    pub taps: usize,
}

impl Work {
    /// Returns what an instance computes, or `None` if nobody has written it down: a new kernel
    /// needs a reference.
    pub fn of(instance: &Instance) -> Option<Work> {
        let (_, kind) = KERNELS.into_iter().find(|(kernel, _)| *kernel == instance.kernel())?;
        let kind = match instance.generic("C").and_then(|path| path.rsplit("::").next()) {
            None | Some("NeighbourSum" | "GroupSum") => kind,
            Some("Reverse") if kind == Kind::NeighbourSum => Kind::Reverse,
            Some(_) => return None,
        };
        let number = |name| instance.generic(name).and_then(|value| value.parse().ok());
        let rounds = if kind == Kind::MultiplyAdds { number("ROUNDS")? } else { 0 };
        let channels = if kind == Kind::Blur { number("CHANNELS")? } else { 1 };
        let shift = if kind == Kind::HistogramOfKeys { number("SHIFT")? as u32 } else { 0 };
        let taps = if kind == Kind::Convolution { number("TAPS")? } else { 0 };
        let mut threads = instance.threads() as usize;
        // A role's tiles are as long as that role has threads, where nothing else says how long
        // they are.
        let consumers = number("CONSUMERS");
        let [rows, columns] = match kind {
            // Those of the input.
            Kind::Transpose | Kind::BatchedTranspose => match number("SIDE") {
                Some(side) => [side; 2],
                None => [number("COLUMNS")?, number("ROWS")?],
            },
            Kind::Stencil | Kind::Stencil3x3 | Kind::CopyRows | Kind::ColumnSums | Kind::Blur | Kind::MatrixProduct => {
                [number("ROWS")?, number("COLUMNS")?]
            }
            Kind::MultiplyAdds => [1, number("LEN").unwrap_or(MULTIPLY_ADDS_TILE)],
            _ => [1, number("LEN").or_else(|| number("TILE")).or(consumers).unwrap_or(threads)],
        };
        if kind == Kind::SumByConsumers {
            threads = consumers?;
        }
        let in_groups = instance.generic("C").is_some_and(|path| path.ends_with("GroupSum"));
        let in_groups = in_groups || matches!(instance.kernel(), "example_kernel_wide" | "example_kernel_bulk");
        let group = if in_groups { GROUP } else { columns };
        Some(Work { kind, threads, rows, columns, group, rounds, channels, shift, taps })
    }

    /// Returns what is computed, for people: the same text for all instances that compute the same
    /// of the same data, whatever their tiles.
    pub fn task(self) -> String {
        let Work { kind, columns, group, rounds, channels, shift, taps, .. } = self;
        match kind {
            Kind::NeighbourSum => format!("neighbour sum in groups of {group}"),
            Kind::Reverse => format!("reverse groups of {group}"),
            Kind::Backwards => "reverse".to_owned(),
            Kind::MovingAverage => "moving average".to_owned(),
            Kind::Triple => TRIPLE.to_owned(),
            Kind::Copy => COPY.to_owned(),
            Kind::CopyRows => COPY_ROWS.to_owned(),
            Kind::TwoInputs => format!("two inputs in groups of {group}"),
            Kind::Sum => "sum".to_owned(),
            Kind::Dot => "dot product".to_owned(),
            Kind::SumByWarps => format!("sums of warps, tiles of {columns}"),
            Kind::SumByThreads => format!("sums of threads, tiles of {columns}"),
            Kind::SumByConsumers => format!("sums of consumers, tiles of {columns}"),
            Kind::Argmax => "largest element's index".to_owned(),
            Kind::LargestKey => "largest key".to_owned(),
            Kind::Histogram => "histogram of bytes".to_owned(),
            Kind::HistogramOfKeys => format!("histogram in bins of {} keys", 1_u64 << shift),
            Kind::PartSums => "sums of parts".to_owned(),
            Kind::ExclusiveScan => format!("exclusive scan in tiles of {columns}"),
            Kind::Gather => "gather".to_owned(),
            Kind::Convolution => format!("convolution with {taps} numbers"),
            Kind::MatrixProduct => "matrix product".to_owned(),
            Kind::Transpose => "transpose".to_owned(),
            Kind::BatchedTranspose => "transposes of a batch".to_owned(),
            Kind::Stencil => "stencil".to_owned(),
            Kind::Stencil3x3 => "stencil of 3 x 3".to_owned(),
            Kind::Softmax => "softmax of rows".to_owned(),
            Kind::RmsNorm => "RMS norm of rows".to_owned(),
            Kind::ColumnSums => "sums of columns".to_owned(),
            Kind::Blur => format!("blur of {}", counted(channels, "channel")),
            Kind::MultiplyAdds => format!("{rounds} multiply-adds in tiles of {columns}"),
        }
    }

    /// Returns how many elements a block takes at a time: a tile, or one for each of its warps or
    /// threads.
    pub const fn portion(self) -> usize {
        let tile = self.rows * self.columns;
        match self.kind {
            Kind::SumByWarps => tile * (self.threads / 32),
            Kind::SumByThreads => tile * self.threads,
            _ => tile,
        }
    }

    /// Returns the shape of input `nth` of `grid` blocks where the first one's is `first`: of
    /// weights as many as that has columns, of blocks' sums as many as blocks, of a right factor as
    /// many rows as that has columns, else the same.
    pub const fn input(self, first: Shape, grid: usize, nth: usize) -> Shape {
        match (self.kind, nth, first) {
            (Kind::ExclusiveScan, 1, _) => Shape::Row(grid),
            (Kind::RmsNorm, 1, Shape::Matrix { width, .. }) => Shape::Row(width),
            (Kind::MatrixProduct, 1, Shape::Matrix { height, width }) => {
                Shape::Matrix { height: width, width: columns_of_product(height) }
            }
            _ => first,
        }
    }

    /// Returns the shapes of all inputs of `grid` blocks where the first one's is `first`.
    pub fn inputs(self, first: Shape, grid: usize) -> Vec<Shape> {
        (0..self.kind.inputs()).map(|nth| self.input(first, grid, nth)).collect()
    }

    /// Returns how many indices the kernel takes where the first input's shape is `first`; 0 if it
    /// takes none.
    pub const fn indices(self, first: Shape) -> usize {
        if self.kind.takes_indices() { first.elements() } else { 0 }
    }

    /// Returns the output's shape for inputs of shape `input` and `grid` blocks.
    pub const fn output(self, input: Shape, grid: usize) -> Shape {
        match (self.kind, input) {
            (Kind::Transpose, Shape::Matrix { height, width }) => Shape::Matrix { height: width, width: height },
            (Kind::BatchedTranspose, Shape::Batch { matrices, height, width }) => {
                Shape::Batch { matrices, height: width, width: height }
            }
            (Kind::ColumnSums, Shape::Matrix { width, .. }) => Shape::Matrix { height: 1, width },
            (Kind::MatrixProduct, Shape::Matrix { height, .. }) => {
                Shape::Matrix { height, width: columns_of_product(height) }
            }
            (Kind::Histogram, _) => Shape::Row(1 << u8::BITS),
            (Kind::HistogramOfKeys, _) => Shape::Row(KEY_BINS),
            _ if self.kind.is_sum() => Shape::Row(grid),
            _ => input,
        }
    }

    /// Computes the output of a launch of `grid` blocks, of whatever type.
    ///
    /// # Panics
    ///
    /// As [`compute`](Work::compute); if keys are asked for of elements that are no `f32`, or
    /// counts of elements that are no bytes, or no `u32`.
    pub fn written<T: Value>(self, inputs: &[&[T]], shape: Shape, grid: usize) -> Written<T> {
        if self.kind.writes_keys() {
            Written::Keys(reference::argmax(inputs[0], self.columns, grid))
        } else if self.kind.writes_counts() {
            Written::Counts(match self.kind {
                Kind::Histogram => reference::histogram(inputs[0]),
                _ => reference::histogram_of_keys(inputs[0], KEY_BINS, self.shift),
            })
        } else {
            Written::Elements(self.compute(inputs, shape, grid))
        }
    }

    /// Computes the output of a launch of `grid` blocks, if it has the inputs' type.
    ///
    /// # Panics
    ///
    /// If there are fewer inputs than [`Kind::inputs`] says, or of another length than
    /// [`Work::input`] says; if
    /// a blur is asked for of elements that are no bytes; if the output is keys
    /// ([`Kind::writes_keys`]) or counts ([`Kind::writes_counts`]).
    pub fn compute<T: Value>(self, inputs: &[&[T]], shape: Shape, grid: usize) -> Vec<T> {
        let Work { kind, threads, columns, group, rounds, channels, taps, .. } = self;
        let shapes =
            inputs.iter().enumerate().map(|(nth, input)| (input.len(), self.input(shape, grid, nth).elements()));
        assert!(shapes.into_iter().all(|(len, wanted)| len == wanted), "all inputs are of these shapes");
        let (height, width) = match shape {
            Shape::Row(elements) => (1, elements),
            Shape::Matrix { height, width } | Shape::Batch { height, width, .. } => (height, width),
        };
        match kind {
            Kind::NeighbourSum => reference::neighbour_sum(inputs[0], group),
            Kind::Reverse => reference::reversed(inputs[0], columns),
            Kind::Backwards => reference::backwards(inputs[0]),
            Kind::MovingAverage => reference::moving_average(inputs[0]),
            Kind::Triple => reference::tripled(inputs[0]),
            Kind::Copy | Kind::CopyRows => reference::copied(inputs[0]),
            Kind::TwoInputs => reference::two_inputs(inputs[0], inputs[1], group),
            Kind::Sum => reference::sum(inputs[0], threads, columns, grid),
            Kind::Dot => reference::dot(inputs[0], inputs[1], threads, columns, grid),
            Kind::SumByWarps => reference::sum_by_warps(inputs[0], threads, columns, grid),
            Kind::SumByThreads => reference::sum_by_threads(inputs[0], threads, columns, grid),
            Kind::SumByConsumers => reference::sum_by_consumers(inputs[0], threads, columns, grid),
            Kind::Argmax => panic!("keys are no elements of the inputs' type"),
            Kind::Histogram | Kind::HistogramOfKeys => panic!("counts are no elements of the inputs' type"),
            Kind::LargestKey => reference::largest_key(inputs[0], columns, grid),
            Kind::PartSums => reference::part_sums(inputs[0], threads, columns, grid),
            Kind::ExclusiveScan => reference::exclusive_scan(inputs[0], inputs[1], threads, columns, grid),
            Kind::Gather => reference::gathered(inputs[0], self.indices(shape)),
            Kind::Convolution => reference::convolved(inputs[0], taps),
            Kind::MatrixProduct => reference::product(inputs[0], inputs[1], width, columns_of_product(height)),
            Kind::Transpose => reference::transposed(inputs[0], width),
            Kind::BatchedTranspose => reference::batched_transposed(inputs[0], height, width),
            Kind::Stencil => reference::stencil(inputs[0], width),
            Kind::Stencil3x3 => reference::stencil_3x3(inputs[0], width),
            Kind::Softmax => reference::softmax(inputs[0], width, threads, columns),
            Kind::RmsNorm => reference::rms_norm(inputs[0], inputs[1], width, threads),
            Kind::ColumnSums => reference::column_sums(inputs[0], width),
            Kind::Blur => reference::blurred(inputs[0], width, channels),
            Kind::MultiplyAdds => reference::multiply_adds(inputs[0], columns, rounds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use tilepipe::launch::ParameterKind;

    #[test]
    fn every_kernel_does_some_work_and_takes_what_it_says() {
        for instance in tilepipe_kernels::registry().into_iter().flatten() {
            let work = Work::of(instance).unwrap_or_else(|| panic!("{} has no reference", instance.name()));
            let parameters: Vec<_> = instance.parameters().collect();
            let count = |kind| parameters.iter().filter(|(_, info)| info.kind == kind).count();
            let (inputs, constants) = (count(ParameterKind::Input), count(ParameterKind::Constant));
            let scalars = count(ParameterKind::Scalar);
            let indices = usize::from(work.kind.takes_indices());
            assert_eq!(inputs, indices + work.kind.inputs(), "{}", instance.name());
            assert_eq!(constants, usize::from(work.taps > 0), "{}", instance.name());
            assert_eq!(scalars, usize::from(work.kind == Kind::MatrixProduct), "{}", instance.name());
            assert_eq!(parameters.len(), inputs + constants + scalars + 1, "{}", instance.name());
            let first = Shape::of(60, work.kind.dimensions());
            let shapes = work.inputs(first, 3).into_iter().chain([work.output(first, 3)]);
            let views = parameters
                .iter()
                .skip(indices)
                .filter(|(_, info)| !matches!(info.kind, ParameterKind::Constant | ParameterKind::Scalar));
            for ((_, info), shape) in views.zip(shapes) {
                let without_boxes = if info.row_alignment.is_some() { 2 } else { 1 };
                let dimensions = info.boxes.map_or(without_boxes, |boxes| boxes.dimensions as usize);
                assert_eq!(dimensions, shape.dimensions(), "{}", instance.name());
            }
            let alike = work.inputs(first, 3).into_iter().all(|shape| shape == first);
            assert_eq!(alike, work.kind.has_inputs_of_one_shape(), "{}", instance.name());
        }
    }

    #[test]
    fn the_tile_of_multiply_adds_is_the_kernels_own() {
        assert_eq!(MULTIPLY_ADDS_TILE, tilepipe_kernels::MULTIPLY_ADDS_TILE);
        assert_eq!(GROUP, tilepipe_kernels::compute::GROUP);
        assert_eq!(KEY_BINS, tilepipe_kernels::KEY_BINS);
    }

    #[test]
    fn tiles_of_roles_are_as_long_as_the_kernel_says() {
        let works = |kernel: &str| -> Vec<[usize; 3]> {
            let instances = tilepipe_kernels::registry().into_iter().flatten().filter(|one| one.kernel() == kernel);
            let mut works: Vec<_> =
                instances.filter_map(Work::of).map(|w| [w.threads, w.columns, w.portion()]).collect();
            works.sort();
            works.dedup();
            works
        };
        assert_eq!(works("with_specialized_staging_unified"), [[64, 32, 32], [256, 128, 128], [1024, 512, 512]]);
        assert_eq!(works("with_producer_count"), [[40, 33, 33], [52, 32, 32], [256, 128, 128]]);
        assert_eq!(
            works("producer_consumer_sum"),
            [[32, 256, 256], [224, 896, 896], [256, 1024, 1024], [256, 4096, 4096]]
        );
        assert_eq!(works("load_compute_store"), [[192, 128, 128]]);
    }

    #[test]
    fn shapes_of_outputs() {
        let work = |kind| Work {
            kind,
            threads: 256,
            rows: 1,
            columns: 64,
            group: 64,
            rounds: 0,
            channels: 1,
            shift: 0,
            taps: 0,
        };
        let matrix = Shape::Matrix { height: 2, width: 5 };
        assert_eq!(work(Kind::Transpose).output(matrix, 3), Shape::Matrix { height: 5, width: 2 });
        assert_eq!(work(Kind::Stencil).output(matrix, 3), matrix);
        let batch = |height, width| Shape::Batch { matrices: 4, height, width };
        assert_eq!(work(Kind::BatchedTranspose).output(batch(2, 5), 3), batch(5, 2));
        assert_eq!(work(Kind::Sum).output(Shape::Row(100), 3), Shape::Row(3));
        assert_eq!(work(Kind::Triple).output(Shape::Row(100), 3), Shape::Row(100));
        assert_eq!(work(Kind::Histogram).output(Shape::Row(100), 3), Shape::Row(256));
        assert_eq!([Kind::Sum, Kind::SumByWarps, Kind::SumByThreads].map(|k| work(k).portion()), [64, 512, 16384]);
    }
}
