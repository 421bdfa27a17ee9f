//! The root mean square norm of rows, and its gradients.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tilepipe_host::{Error, Grid};
use tilepipe_torch_kernels::{self as kernels, Fours, Ones};

use crate::array::{Array, Number, Shape};
use crate::call::{Call, Launching};

/// Blocks of a launch over rows, each of which takes several rows where there are more.
const BLOCKS: u32 = 4096;
/// Rows that are added into one partial sum, where that makes no more than [`MOST_PARTS`].
const ROWS_OF_PART: usize = 64;
/// The most partial sums.
const MOST_PARTS: usize = 128;
/// The width up to which a row is one tile of the kernels' smaller instances, in elements.
const NARROW: usize = 1024;
/// The alignment of four elements, in bytes.
const OF_FOUR: u64 = 16;

/// How many partial sums the gradient of the weights has for so many rows.
pub fn parts(rows: usize) -> usize {
    rows.div_ceil(ROWS_OF_PART).clamp(1, MOST_PARTS)
}

/// Writes the norm of `x` to `out`. Returns whether there was anything to write.
///
/// # Errors
///
/// What is wrong with the arrays, before anything is written.
pub fn rms_norm<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    weight: &Bound<'py, PyAny>,
    out: &Bound<'py, PyAny>,
    eps: f64,
) -> PyResult<bool> {
    let (x, weight, out) = (take("x", x)?, take("weight", weight)?, take("out", out)?);
    let (read, written) = ([&x, &weight], [&out]);
    let (rows, eps) = (Rows::of(&x)?, epsilon(eps)?);
    let call = Call::new(&read, &written)?;
    weight.expect_shape(&[rows.width], "one weight for each element of a row of x")?;
    out.expect_shape(x.shape(), "that of x")?;
    if x.len() == 0 {
        return Ok(false);
    }
    let fours = rows.are_of_fours(&[&x, &weight, &out]);
    call.run(py, |launching| {
        let (x, weight) = (launching.rows(&x, rows.extents())?, launching.elements(&weight)?);
        let mut out = launching.rows_mut(&out, rows.extents())?;
        let (stream, blocks) = (launching.stream(), rows.blocks());
        macro_rules! launch {
            ($a:ty, $piece:literal, $threads:literal, $pieces:literal) => {
                kernels::rms_norm::launch::<$a, $piece, $threads, $pieces, { $piece * $threads * $pieces }>(
                    stream, blocks, &x, &weight, &mut out, eps,
                )
            };
        }
        match (fours, rows.width <= NARROW) {
            (true, true) => launch!(Fours, 4, 128, 2),
            (true, false) => launch!(Fours, 4, 256, 4),
            (false, true) => launch!(Ones, 1, 128, 8),
            (false, false) => launch!(Ones, 1, 256, 8),
        }
    })?;
    Ok(true)
}

/// What Python passed for the gradients: what is read, and what is written.
pub struct Gradients<'a, 'py> {
    pub x: &'a Bound<'py, PyAny>,
    pub weight: &'a Bound<'py, PyAny>,
    pub gradient: &'a Bound<'py, PyAny>,
    pub x_gradient: &'a Bound<'py, PyAny>,
    pub weight_gradient: &'a Bound<'py, PyAny>,
    pub factors: &'a Bound<'py, PyAny>,
    pub partial: &'a Bound<'py, PyAny>,
}

/// Writes the gradients of `x` and of `weight`. Returns whether there was anything to write.
///
/// # Errors
///
/// What is wrong with the arrays, before anything is written.
pub fn rms_norm_backward<'py>(py: Python<'py>, given: &Gradients<'_, 'py>, eps: f64) -> PyResult<bool> {
    let (x, weight) = (take("x", given.x)?, take("weight", given.weight)?);
    let gradient = take("gradient", given.gradient)?;
    let x_gradient = take("x_gradient", given.x_gradient)?;
    let weight_gradient = take("weight_gradient", given.weight_gradient)?;
    let (factors, partial) = (take("factors", given.factors)?, take("partial", given.partial)?);
    let (read, written) = ([&x, &weight, &gradient], [&x_gradient, &weight_gradient, &factors, &partial]);
    let (rows, eps) = (Rows::of(&x)?, epsilon(eps)?);
    let call = Call::new(&read, &written)?;
    let parts = Rows { height: parts(rows.height), ..rows };
    weight.expect_shape(&[rows.width], "one weight for each element of a row of x")?;
    weight_gradient.expect_shape(&[rows.width], "that of weight")?;
    gradient.expect_shape(x.shape(), "that of x")?;
    x_gradient.expect_shape(x.shape(), "that of x")?;
    factors.expect_shape(&[rows.height], "one for each row of x")?;
    partial.expect_shape(&parts.extents(), "rows of weights, as many as `parts` says")?;
    if x.len() == 0 {
        return Ok(false);
    }
    let fours = rows.are_of_fours(&[&x, &weight, &gradient, &x_gradient, &partial]);
    call.run(py, |launching| {
        let (stream, grid) = (launching.stream(), Grid::tiles());
        let read = (&x, &weight, &gradient);
        elements_of_rows(launching, (rows, fours), read, (&x_gradient, &factors), eps)?;
        {
            let (x, gradient) = (launching.rows(&x, rows.extents())?, launching.rows(&gradient, rows.extents())?);
            let (factors, mut sums) = (launching.elements(&factors)?, launching.rows_mut(&partial, parts.extents())?);
            if fours {
                kernels::rms_norm_weights::launch::<Fours, 4, 128, 512>(
                    stream, grid, &x, &gradient, &factors, &mut sums,
                )?;
            } else {
                kernels::rms_norm_weights::launch::<Ones, 1, 128, 128>(
                    stream, grid, &x, &gradient, &factors, &mut sums,
                )?;
            }
        }
        let sums = launching.rows(&partial, parts.extents())?;
        kernels::sum_rows::launch::<64>(stream, grid, &sums, &mut launching.elements_mut(&weight_gradient)?)
    })?;
    Ok(true)
}

/// Launches the kernel that writes the gradient of `x`, and the factors.
fn elements_of_rows<'c, 'py>(
    launching: &Launching<'c, 'py>,
    (rows, fours): (Rows, bool),
    (x, weight, gradient): (&'c Array<'py>, &'c Array<'py>, &'c Array<'py>),
    (x_gradient, factors): (&'c Array<'py>, &'c Array<'py>),
    eps: f32,
) -> Result<(), Error> {
    let (x, weight) = (launching.rows(x, rows.extents())?, launching.elements(weight)?);
    let gradient = launching.rows(gradient, rows.extents())?;
    let mut out = launching.rows_mut(x_gradient, rows.extents())?;
    let mut factors = launching.elements_mut(factors)?;
    let (stream, blocks) = (launching.stream(), rows.blocks());
    macro_rules! launch {
        ($a:ty, $piece:literal, $threads:literal, $pieces:literal) => {
            kernels::rms_norm_backward::launch::<$a, $piece, $threads, $pieces, { $piece * $threads * $pieces }>(
                stream,
                blocks,
                &x,
                &weight,
                &gradient,
                &mut out,
                &mut factors,
                eps,
            )
        };
    }
    match (fours, rows.width <= NARROW) {
        (true, true) => launch!(Fours, 4, 128, 2),
        (true, false) => launch!(Fours, 4, 256, 4),
        (false, true) => launch!(Ones, 1, 128, 8),
        (false, false) => launch!(Ones, 1, 256, 8),
    }
}

/// Takes an array of these kernels' elements.
fn take<'py>(name: &'static str, from: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    Array::take(name, from, &[Number::F32])
}

/// The rows of an array: its last dimension is a row.
#[derive(Clone, Copy)]
struct Rows {
    height: usize,
    width: usize,
}

impl Rows {
    /// Those of `x`.
    fn of(x: &Array) -> PyResult<Rows> {
        let Some((width, above)) = x.shape().split_last() else {
            return Err(PyValueError::new_err("x: it has no dimension; a row is its last one, so it has one at least"));
        };
        let rows = Rows { height: above.iter().product(), width: *width };
        // The kernels count tiles in 32 bits.
        let tiles = rows.height.saturating_mul(rows.width.div_ceil(NARROW));
        if tiles.max(rows.width) >= u32::MAX as usize {
            return Err(PyValueError::new_err(format!(
                "x: its shape {} is too large: rows, times thousands of elements in a row, are fewer than 2^32; \
                 pass parts of it",
                Shape(x.shape())
            )));
        }
        Ok(rows)
    }

    /// Blocks for a launch over them.
    fn blocks(self) -> u32 {
        u32::try_from(self.height).unwrap_or(BLOCKS).min(BLOCKS)
    }

    /// Whether all of the arrays, in which they or as many elements as are in one lie, have them at
    /// multiples of 16 bytes.
    fn are_of_fours(self, arrays: &[&Array]) -> bool {
        self.width.is_multiple_of(4) && arrays.iter().all(|array| array.address().is_multiple_of(OF_FOUR))
    }

    /// Their number, and that of the elements in one.
    fn extents(self) -> [usize; 2] {
        [self.height, self.width]
    }
}

/// The number that is added to a mean.
fn epsilon(eps: f64) -> PyResult<f32> {
    match eps as f32 {
        eps if eps.is_finite() && eps >= 0.0 => Ok(eps),
        _ => Err(PyValueError::new_err(format!("eps: it is {eps}; pass a finite number that is not negative"))),
    }
}
