//! The launch of a matrix product: which tiles, and on how many multiprocessors.

use core::fmt;

use tilepipe::launch::Instance;
use tilepipe::product::OperandElement;
use tilepipe_host::{Bound, Buffer2D, Error, Stream, launch};

use super::{DEEP, gemm};

/// A factor of a product: a matrix as it lies in memory, or transposed.
#[derive(Clone, Copy)]
pub struct Matrix<'a, T> {
    buffer: &'a Buffer2D<T>,
    transposed: bool,
}

impl<'a, T: OperandElement> Matrix<'a, T> {
    /// The matrix whose rows are the buffer's.
    pub fn of(buffer: &'a Buffer2D<T>) -> Self {
        Matrix { buffer, transposed: false }
    }

    /// The matrix whose columns are the buffer's rows.
    pub fn transposed(buffer: &'a Buffer2D<T>) -> Self {
        Matrix { buffer, transposed: true }
    }

    /// Rows and columns.
    fn extents(&self) -> [usize; 2] {
        let [rows, columns] = [self.buffer.height(), self.buffer.width()];
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
    /// What the launch says.
    Launch(Error),
}

impl fmt::Display for MultiplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MultiplyError::Extents { left, right, product } => {
                let text = |[rows, columns]: [usize; 2]| format!("{rows} x {columns}");
                let (left, right, product) = (text(*left), text(*right), text(*product));
                write!(
                    f,
                    "no product of a {left} matrix and a {right} one is a {product} one: the left one has as many columns as the right one \
                     has rows, and the product the rows of the one and the columns of the other, none of them 0"
                )
            }
            MultiplyError::Launch(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MultiplyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            MultiplyError::Extents { .. } => None,
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
const WIDTHS: [(usize, usize); 8] =
    [(64, 175), (128, 118), (160, 110), (176, 106), (192, 104), (208, 103), (224, 101), (256, 100)];
/// Of matrices whose rows are not both along K.
const WIDTHS_ACROSS: [(usize, usize); 2] = [(128, 118), (256, 100)];

/// How a product is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    /// Columns of a tile.
    width: usize,
    /// Blocks: as few as take the same number of rounds.
    grid: usize,
}

/// Chooses the tiles of a product by the time that all rounds take.
fn plan([rows, columns]: [usize; 2], deep: usize, multiprocessors: usize, widths: &[(usize, usize)]) -> Plan {
    let cost = |&(width, percent): &(usize, usize)| {
        let tiles = rows.div_ceil(ROWS) * columns.div_ceil(width);
        let rounds = tiles.div_ceil(multiprocessors);
        (
            rounds * (deep.div_ceil(DEEP) * width * percent / 100 + AROUND_A_TILE),
            Plan { width, grid: tiles.div_ceil(rounds) },
        )
    };
    // Of two that take as long, the wider one: its tiles share more.
    let best = widths.iter().rev().map(cost).min_by_key(|(cost, _)| *cost);
    best.map_or(Plan { width: 256, grid: 1 }, |(_, plan)| plan)
}

/// Writes `left * right` to `product`, for matrices of `bf16` or of `f16`, summed up in `f32`.
///
/// Of each the rows in memory are a multiple of 16 bytes apart, as [`Buffer2D`]s of the device are.
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
    left: Matrix<'_, T>,
    right: Matrix<'_, T>,
    product: &mut Buffer2D<T>,
) -> Result<(), MultiplyError> {
    let extents @ [rows, columns] = [product.height(), product.width()];
    let [[m, k], [k_too, n]] = [left.extents(), right.extents()];
    if [m, n] != extents || k != k_too || [m, n, k].contains(&0) {
        return Err(MultiplyError::Extents { left: [m, k], right: [k_too, n], product: extents });
    }
    let multiprocessors = product.device().multiprocessors().map_or(1, |count| count as usize);
    let widths: &[_] = if left.transposed || !right.transposed { &WIDTHS_ACROSS } else { &WIDTHS };
    let Plan { width, grid } = plan([rows, columns], k, multiprocessors, widths);
    let layout = |across: bool| if across { "Across" } else { "Along" };
    let is_it = |instance: &&Instance| {
        let has = |name: &str, wanted: &str| {
            instance.generic(name).is_some_and(|value| value.rsplit("::").next() == Some(wanted))
        };
        has("T", core::any::type_name::<T>().rsplit("::").next().unwrap_or_default())
            && has("A", layout(left.transposed))
            && has("B", layout(!right.transposed))
            && has("COLUMNS", &width.to_string())
    };
    let Some(instance) = gemm::INSTANCES.iter().find(is_it) else {
        unreachable!("there is an instance for each of `WIDTHS`, layout and element")
    };
    let arguments = [Bound::input_2d(left.buffer), Bound::input_2d(right.buffer), Bound::output_2d(product)];
    launch(stream, grid as u32, instance, arguments)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Plan, WIDTHS, plan};

    #[test]
    fn tiles_are_chosen_by_rounds_and_width() {
        let of = |side: usize| plan([side; 2], side, 132, &WIDTHS);
        assert_eq!(of(4096), Plan { width: 256, grid: 128 });
        // 24 rows of 16 tiles are three rounds, and those of 12 wider tiles as many.
        assert_eq!(of(3072).width, 192);
        assert_eq!(of(1024).width, 64);
        // Four rows of tiles: two rounds of 63 tiles in a row, and not three of 86.
        assert_eq!(plan([512, 11008], 4096, 132, &WIDTHS).width, 176);
        for (rows, columns, deep) in [(1, 1, 1), (128, 256, 64), (5000, 7, 1 << 20)] {
            let Plan { width, grid } = plan([rows, columns], deep, 132, &WIDTHS);
            let tiles = rows.div_ceil(128) * columns.div_ceil(width);
            assert!(grid <= tiles.min(132) && tiles.div_ceil(grid) == tiles.div_ceil(132), "{rows} {columns} {deep}");
        }
    }
}
