//! The launch of a matrix product: which tiles, and on how many multiprocessors.

use core::fmt;
use core::marker::PhantomData;

use tilepipe::launch::Instance;
use tilepipe::product::OperandElement;
use tilepipe::{Extents2, NoSwizzle, Tensor, TensorMut};
use tilepipe_host::{Argument, Bound, Error, Stream, launch};

use super::parts::{ADDED, COLUMNS as IN_PARTS};
use super::{DEEP, gemm, gemm_fused, gemm_fused_with_matrix, gemm_join, gemm_parts};
use crate::instance::{blocks, extents, has, has_elements, multiprocessors, small_blocks};

/// All instances of the kernels that multiply by tensor cores. Their results differ in rounding
/// between devices, so the registry of kernels does not have them.
pub fn instances() -> impl Iterator<Item = &'static Instance> {
    let with_epilogues = gemm_fused::INSTANCES.iter().chain(&gemm_fused_with_matrix::INSTANCES);
    let in_parts = gemm_parts::INSTANCES.iter().chain(&gemm_join::INSTANCES);
    gemm::INSTANCES.iter().chain(with_epilogues).chain(in_parts)
}

/// What a matrix that is read may be: what a launch takes for this view, such as a
/// `&`[`Buffer2D`](tilepipe_host::Buffer2D), [`Rows`](tilepipe_host::Rows) of a buffer, rows of
/// cudarc's or [foreign ones](tilepipe_host::ForeignRows).
pub type MatrixView<T> = Tensor<'static, T, Extents2<8, 8>, NoSwizzle>;

/// What a matrix that is written may be: what a launch takes for this view, such as a
/// `&mut`[`Buffer2D`](tilepipe_host::Buffer2D).
pub type MatrixViewMut<T> = TensorMut<'static, T, Extents2<8, 8>, NoSwizzle>;

/// A factor of a product: rows as they lie in memory, or transposed.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<R> {
    rows: R,
    transposed: bool,
}

impl<R> Matrix<R> {
    /// The matrix whose rows are these: what is passed for a [`MatrixView`].
    pub fn of(rows: R) -> Self {
        Matrix { rows, transposed: false }
    }

    /// The matrix whose columns are these rows.
    pub fn transposed(rows: R) -> Self {
        Matrix { rows, transposed: true }
    }

    /// The rows as an argument.
    fn bind<'a, T: OperandElement>(self) -> Factor<'a>
    where
        R: Argument<MatrixView<T>> + 'a,
    {
        Factor { rows: self.rows.bind(), transposed: self.transposed }
    }
}

/// A factor whose rows are an argument of a launch.
struct Factor<'a> {
    rows: Bound<'a>,
    transposed: bool,
}

impl Factor<'_> {
    /// Rows and columns.
    fn extents(&self) -> [usize; 2] {
        let [rows, columns] = extents(&self.rows);
        if self.transposed { [columns, rows] } else { [rows, columns] }
    }
}

/// Why a product was not computed.
#[derive(Debug)]
pub enum MultiplyError {
    /// The extents of the matrices are not those of a product.
    Extents {
        /// Rows and columns of the left factor.
        left: [usize; 2],
        /// Those of the right one.
        right: [usize; 2],
        /// Those of the product.
        product: [usize; 2],
    },
    /// What is to be added has not the extents that it needs.
    Addend {
        /// Its rows and columns.
        addend: [usize; 2],
        /// Those that it needs.
        needed: [usize; 2],
    },
    /// The room for sums of parts has not the extents that it needs.
    Room {
        /// Its rows and columns.
        room: [usize; 2],
        /// The rows of each part, and the columns.
        part: [usize; 2],
        /// How many parts there can be: one for each stage of elements along K.
        most: usize,
    },
    /// What the launch says.
    Launch(Error),
}

impl fmt::Display for MultiplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |[rows, columns]: [usize; 2]| format!("{rows} x {columns}");
        match self {
            MultiplyError::Extents { left, right, product } => {
                let (left, right, product) = (text(*left), text(*right), text(*product));
                write!(
                    f,
                    "no product of a {left} matrix and a {right} one is a {product} one: the left one has as many columns as the right one \
                     has rows, and the product the rows of the one and the columns of the other, none of them 0"
                )
            }
            MultiplyError::Addend { addend, needed } => {
                let (addend, needed) = (text(*addend), text(*needed));
                write!(f, "a {addend} matrix can't be added here: it is to be {needed}")
            }
            MultiplyError::Room { room, part: part @ [rows, _], most } => {
                let (room, part) = (text(*room), text(*part));
                write!(
                    f,
                    "a {room} matrix has no room for the sums of parts: it is to have {part} elements for each of 1 to {most} parts, \
                     so a multiple of {rows} rows"
                )
            }
            MultiplyError::Launch(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MultiplyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            MultiplyError::Extents { .. } | MultiplyError::Addend { .. } | MultiplyError::Room { .. } => None,
            MultiplyError::Launch(error) => error.source(),
        }
    }
}

impl From<Error> for MultiplyError {
    fn from(error: Error) -> Self {
        MultiplyError::Launch(error)
    }
}

/// Rows of a tile of the product.
const ROWS: usize = 128;
/// How long a tile's start and stores take, in columns of a tile that are multiplied by [`DEEP`]
/// elements along K meanwhile.
const AROUND_A_TILE: usize = 700;
/// The columns of the tiles that there are, and how much longer a column takes there than in the
/// widest tiles, in percent: measured (docs/performance.md).
const WIDTHS: [(usize, usize); 9] =
    [(64, 137), (128, 102), (160, 102), (168, 104), (176, 102), (192, 101), (208, 103), (224, 102), (256, 100)];
/// Of matrices whose rows are not both along K.
const WIDTHS_ACROSS: [(usize, usize); 2] = [(128, 118), (256, 100)];

/// Of products with an epilogue.
const WIDTHS_FUSED: [(usize, usize); 2] = [(128, 103), (256, 100)];

/// How a product is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    /// Columns of a tile.
    width: usize,
    /// Blocks: as few as take the same number of rounds.
    grid: usize,
}

/// Chooses the tiles of a product by the time that all rounds take.
fn plan(extents: [usize; 2], deep: usize, multiprocessors: usize, widths: &[(usize, usize)]) -> Plan {
    planned(extents, deep, multiprocessors, widths).map_or(Plan { width: 256, grid: 1 }, |(_, plan)| plan)
}

/// How long those rounds take.
fn cost_of(extents: [usize; 2], deep: usize, multiprocessors: usize, widths: &[(usize, usize)]) -> usize {
    planned(extents, deep, multiprocessors, widths).map_or(usize::MAX, |(cost, _)| cost)
}

/// The tiles of a product that take the least time, and how long.
fn planned(
    [rows, columns]: [usize; 2],
    deep: usize,
    multiprocessors: usize,
    widths: &[(usize, usize)],
) -> Option<(usize, Plan)> {
    let cost = |&(width, percent): &(usize, usize)| {
        let tiles = rows.div_ceil(ROWS) * columns.div_ceil(width);
        let rounds = tiles.div_ceil(multiprocessors);
        (
            rounds * (deep.div_ceil(DEEP) * width * percent / 100 + AROUND_A_TILE),
            Plan { width, grid: tiles.div_ceil(rounds) },
        )
    };
    // Of two that take as long, the wider one: its tiles share more.
    widths.iter().rev().map(cost).min_by_key(|(cost, _)| *cost)
}

/// What a second kernel and its start take, in the unit of [`AROUND_A_TILE`]: measured, as the next
/// one.
const AROUND_A_JOIN: usize = 2300;
/// How many sums are stored and added up again in such a unit, by all multiprocessors.
const SUMS: usize = 630;

/// The columns of a tile, and blocks, of a product of bf16 whose rows are both along K. (For
/// tests.)
#[doc(hidden)]
pub fn tiles_and_blocks(extents: [usize; 2], deep: usize, multiprocessors: usize) -> [usize; 2] {
    let Plan { width, grid } = plan(extents, deep, multiprocessors, &WIDTHS);
    [width, grid]
}

/// In how many parts a product takes the least time. (Public for tests.)
#[doc(hidden)]
pub fn parts_for(extents @ [rows, columns]: [usize; 2], deep: usize, multiprocessors: usize) -> usize {
    let (steps, tiles) = (deep.div_ceil(DEEP), rows.div_ceil(ROWS) * columns.div_ceil(IN_PARTS));
    let cost = |parts: usize| {
        let rounds = (parts * tiles).div_ceil(multiprocessors);
        let of_sums = AROUND_A_JOIN + parts * rows.next_multiple_of(ROWS) * columns / SUMS;
        rounds * (steps.div_ceil(parts) * IN_PARTS * 102 / 100 + AROUND_A_TILE) + of_sums
    };
    // A part of fewer than eight stages is mostly its start.
    let several = (2..=(steps / 8).min(multiprocessors)).map(|parts| (cost(parts), parts)).min();
    let whole = cost_of(extents, deep, multiprocessors, &WIDTHS);
    several.filter(|(cost, _)| *cost < whole).map_or(1, |(_, parts)| parts)
}

/// Writes `left * right` to `product`, for matrices of `bf16` or of `f16`, summed up in `f32`.
///
/// Of each the rows in memory are a multiple of 16 bytes apart, as those of a
/// [`Buffer2D`](tilepipe_host::Buffer2D) are.
/// On a GPU it needs sm_90a; the CPU computes the same within the rounding of its sums
/// ([guide](../../docs/guide/products.md)).
///
/// # Errors
///
/// [`MultiplyError::Extents`]; of the launch those of a kernel with these arguments, such as
/// buffers of another device, or a GPU without such tensor cores. Nothing is written then.
///
/// # Examples
///
/// ```
/// use tilepipe::bf16;
/// use tilepipe_kernels::{Matrix, multiply};
///
/// let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// let left = device.upload_2d(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(bf16::from_f32), 3)?;
/// let right = device.upload_2d(&[1.0, 0.0, 1.0, 0.0, 1.0, 1.0].map(bf16::from_f32), 3)?;
/// let mut product = device.zeroed_2d::<bf16>(2, 2)?;
/// multiply(&device.stream()?, Matrix::of(&left), Matrix::transposed(&right), &mut product)?;
/// let product: Vec<f32> = product.download()?.into_iter().map(f32::from).collect();
/// assert_eq!(product, [4.0, 5.0, 10.0, 11.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn multiply<T: OperandElement>(
    stream: &Stream,
    left: Matrix<impl Argument<MatrixView<T>>>,
    right: Matrix<impl Argument<MatrixView<T>>>,
    product: impl Argument<MatrixViewMut<T>>,
) -> Result<(), MultiplyError> {
    let (left, right, product) = (left.bind(), right.bind(), product.bind());
    let widths: &[_] = if left.transposed || !right.transposed { &WIDTHS_ACROSS } else { &WIDTHS };
    let (instance, grid) = chosen::<T>(stream, [&left, &right], &product, widths, &gemm::INSTANCES, &[])?;
    launch(stream, grid, instance, [left.rows, right.rows, product])?;
    Ok(())
}

/// In how many parts along K [`multiply_in_parts`] is best taken for a product of so many rows and
/// columns: 1, where [`multiply`] is as fast or faster.
///
/// The more parts, the more multiprocessors have something to do, and the more sums are stored and
/// added up.
pub fn parts_of_product(stream: &Stream, [rows, columns]: [usize; 2], deep: usize) -> usize {
    parts_for([rows, columns], deep, multiprocessors(stream))
}

/// As [`multiply`], with K in parts whose sums are stored apart, and then added up in their order:
/// for products of few tiles and a long K, for which `multiply` has too few blocks.
///
/// `room` is for those sums: a matrix of `f32` with as many columns as the product, and for each
/// part the product's rows, rounded up to a multiple of 128. So its rows say how many parts there
/// are; [`parts_of_product`] says how many suit. The same bits come out in each run, and other ones
/// with another number of parts.
///
/// CUDA: `cublasLtMatmul` with a reduction scheme and a workspace (split-K).
///
/// # Errors
///
/// As for [`multiply`], and [`MultiplyError::Room`].
///
/// # Examples
///
/// ```
/// use tilepipe::bf16;
/// use tilepipe_kernels::{Matrix, multiply_in_parts};
///
/// let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// // 8 by 200 and 200 by 16, all of them ones.
/// let ones = |len| vec![bf16::from_f32(1.0); len];
/// let left = device.upload_2d(&ones(8 * 200), 200)?;
/// let right = device.upload_2d(&ones(200 * 16), 16)?;
/// let mut product = device.zeroed_2d::<bf16>(16, 8)?;
/// // Three parts.
/// let mut room = device.zeroed_2d::<f32>(16, 3 * 128)?;
/// let (left, right) = (Matrix::of(&left), Matrix::of(&right));
/// multiply_in_parts(&device.stream()?, left, right, &mut room, &mut product)?;
/// assert_eq!(product.download()?, [bf16::from_f32(200.0); 8 * 16]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn multiply_in_parts<T: OperandElement>(
    stream: &Stream,
    left: Matrix<impl Argument<MatrixView<T>>>,
    right: Matrix<impl Argument<MatrixView<T>>>,
    room: impl Argument<MatrixViewMut<f32>>,
    product: impl Argument<MatrixViewMut<T>>,
) -> Result<(), MultiplyError> {
    let (left, right, room, product) = (left.bind(), right.bind(), room.bind(), product.bind());
    let [rows, columns] = extents(&product);
    let widths = [(IN_PARTS, 100)];
    let (instance, _) = chosen::<T>(stream, [&left, &right], &product, &widths, &gemm_parts::INSTANCES, &[])?;
    let (part, most) = ([rows.next_multiple_of(ROWS), columns], left.extents()[1].div_ceil(DEEP));
    let parts = extents(&room)[0] / part[0];
    if extents(&room) != [parts * part[0], columns] || !(1..=most).contains(&parts) {
        return Err(MultiplyError::Room { room: extents(&room), part, most });
    }
    let Some(join) = gemm_join::INSTANCES.iter().find(|one| has_elements::<T>(one)) else {
        unreachable!("there is an instance for each element")
    };
    let (sums, tiles) = (room.to_input(), parts * rows.div_ceil(ROWS) * columns.div_ceil(IN_PARTS));
    launch(stream, blocks(stream, tiles), instance, [left.rows, right.rows, room])?;
    launch(stream, small_blocks(stream, rows * columns.div_ceil(ADDED)), join, [sums, product])?;
    Ok(())
}

/// What becomes of a product before it is stored: it is scaled, matrices are added to it, and an
/// activation is computed.
///
/// Sums are `f32` all the way, and are rounded once, when they are stored.
///
/// # Examples
///
/// ```
/// use tilepipe::bf16;
/// use tilepipe_kernels::{Epilogue, Matrix, multiply_fused};
///
/// let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// let matrix = |values: &[f32], width| {
///     let values: Vec<bf16> = values.iter().map(|x| bf16::from_f32(*x)).collect();
///     device.upload_2d(&values, width)
/// };
/// let input = matrix(&[1.0, 2.0, 3.0, 4.0], 2)?;
/// let weights = matrix(&[1.0, 0.0, -1.0, 1.0], 2)?;
/// let bias = matrix(&[0.5, -2.0], 2)?;
/// let mut product = device.zeroed_2d::<bf16>(2, 2)?;
/// let layer = Epilogue::new().bias(&bias).relu();
/// let (input, weights) = (Matrix::of(&input), Matrix::of(&weights));
/// multiply_fused(&device.stream()?, input, weights, layer, &mut product)?;
/// let product: Vec<f32> = product.download()?.into_iter().map(f32::from).collect();
/// assert_eq!(product, [0.0, 0.0, 0.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Epilogue<'a, T> {
    alpha: f32,
    matrix: Option<(f32, Bound<'a>)>,
    of_columns: Option<Bound<'a>>,
    of_rows: Option<Bound<'a>>,
    activation: Activation,
    elements: PhantomData<&'a [T]>,
}

/// What is computed of each element at last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activation {
    Identity,
    Relu,
    Silu,
}

impl<T: OperandElement> Default for Epilogue<'_, T> {
    fn default() -> Self {
        Epilogue::new()
    }
}

impl<'a, T: OperandElement> Epilogue<'a, T> {
    /// The product as it is.
    pub fn new() -> Self {
        let activation = Activation::Identity;
        Epilogue { alpha: 1.0, matrix: None, of_columns: None, of_rows: None, activation, elements: PhantomData }
    }

    /// Multiplies the product by `alpha`, and nothing that is added.
    #[must_use]
    pub fn scale(self, alpha: f32) -> Self {
        Epilogue { alpha, ..self }
    }

    /// Adds `beta` times a matrix as large as the product. With a `beta` of 0 none of its elements
    /// counts.
    #[must_use]
    pub fn add(self, beta: f32, matrix: impl Argument<MatrixView<T>> + 'a) -> Self {
        Epilogue { matrix: Some((beta, matrix.bind())), ..self }
    }

    /// Adds to each row a vector, a matrix of one row with as many columns as the product: the bias
    /// of a layer whose inputs are the rows of the left factor.
    #[must_use]
    pub fn bias(self, vector: impl Argument<MatrixView<T>> + 'a) -> Self {
        Epilogue { of_columns: Some(vector.bind()), ..self }
    }

    /// Adds to each column a vector, a matrix of one row with as many columns as the product has
    /// rows.
    #[must_use]
    pub fn bias_of_rows(self, vector: impl Argument<MatrixView<T>> + 'a) -> Self {
        Epilogue { of_rows: Some(vector.bind()), ..self }
    }

    /// Stores the positive part of each element.
    #[must_use]
    pub fn relu(self) -> Self {
        Epilogue { activation: Activation::Relu, ..self }
    }

    /// Stores `x / (1 + exp(-x))` of each element `x`.
    #[must_use]
    pub fn silu(self) -> Self {
        Epilogue { activation: Activation::Silu, ..self }
    }
}

/// Writes to `product` what `epilogue` makes of `left * right`; see [`multiply`].
///
/// It replaces `cublasLtMatmul` with an epilogue.
///
/// # Errors
///
/// As for [`multiply`], and [`MultiplyError::Addend`]. A matrix that is added is not the product's
/// own buffer: that is an error of the launch.
pub fn multiply_fused<T: OperandElement>(
    stream: &Stream,
    left: Matrix<impl Argument<MatrixView<T>>>,
    right: Matrix<impl Argument<MatrixView<T>>>,
    epilogue: Epilogue<'_, T>,
    product: impl Argument<MatrixViewMut<T>>,
) -> Result<(), MultiplyError> {
    let Epilogue { alpha, matrix, of_columns, of_rows, activation, elements: _ } = epilogue;
    let (left, right, product) = (left.bind(), right.bind(), product.bind());
    let needed @ [rows, columns] = extents(&product);
    let vectors = [of_columns.as_ref().map(|of| (of, [1, columns])), of_rows.as_ref().map(|of| (of, [1, rows]))];
    let added = vectors.into_iter().chain([matrix.as_ref().map(|(_, matrix)| (matrix, needed))]).flatten();
    let wrong = added.map(|(added, needed)| (extents(added), needed)).find(|(addend, needed)| addend != needed);
    // With a factor of 0 it does not count, whatever it holds.
    let counted = matrix.filter(|(beta, _)| *beta != 0.0);
    let name = [("F", if activation == Activation::Silu { "Silu" } else { "Linear" })];
    let instances: &'static [Instance] =
        if counted.is_some() { &gemm_fused_with_matrix::INSTANCES } else { &gemm_fused::INSTANCES };
    let (instance, grid) = chosen::<T>(stream, [&left, &right], &product, &WIDTHS_FUSED, instances, &name)?;
    if let Some((addend, needed)) = wrong {
        return Err(MultiplyError::Addend { addend, needed });
    }
    let least = if activation == Activation::Relu { 0.0 } else { f32::NEG_INFINITY };
    let masks = Bound::scalar([&of_columns, &of_rows].map(|vector| if vector.is_some() { u32::MAX } else { 0 }));
    let (left, right) = (left.rows, right.rows);
    // In place of a vector that is not there the kernel gets something that it reads anyway.
    let [of_columns, of_rows] = [of_columns, of_rows].map(|vector| vector.unwrap_or_else(|| left.clone()));
    match counted {
        None => {
            let factors = Bound::scalar([alpha, least]);
            launch(stream, grid, instance, [left, right, of_columns, of_rows, factors, masks, product])?;
        }
        Some((beta, matrix)) => {
            let factors = Bound::scalar([alpha, beta, least]);
            launch(stream, grid, instance, [left, right, matrix, of_columns, of_rows, factors, masks, product])?;
        }
    }
    Ok(())
}

/// The instance for a product in tiles of one of these widths, and its blocks.
fn chosen<T: OperandElement>(
    stream: &Stream,
    [left, right]: [&Factor<'_>; 2],
    product: &Bound<'_>,
    widths: &[(usize, usize)],
    instances: &'static [Instance],
    others: &[(&str, &str)],
) -> Result<(&'static Instance, u32), MultiplyError> {
    let extents @ [rows, columns] = extents(product);
    let [[m, k], [k_too, n]] = [left.extents(), right.extents()];
    if [m, n] != extents || k != k_too || [m, n, k].contains(&0) {
        return Err(MultiplyError::Extents { left: [m, k], right: [k_too, n], product: extents });
    }
    let Plan { width, grid } = plan([rows, columns], k, multiprocessors(stream), widths);
    let layout = |across: bool| if across { "Across" } else { "Along" };
    let is_it = |instance: &&Instance| {
        let has = |parameter: &str, wanted: &str| has(instance, parameter, wanted);
        has_elements::<T>(instance)
            && has("A", layout(left.transposed))
            && has("B", layout(!right.transposed))
            && (instance.generic("COLUMNS").is_none() || has("COLUMNS", &width.to_string()))
            && others.iter().all(|(name, wanted)| has(name, wanted))
    };
    let Some(instance) = instances.iter().find(is_it) else {
        unreachable!("there is an instance for each of the widths, layout and element")
    };
    Ok((instance, grid as u32))
}
