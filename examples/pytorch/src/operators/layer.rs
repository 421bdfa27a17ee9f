//! A layer of a network, and its gradients.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tilepipe_host::{Error, Stream};
use tilepipe_torch_kernels::{self as kernels, Linear, Silu, bf16, f16};

use super::{HALVES, expect_alike};
use crate::array::{Array, Number, Shape};
use crate::call::Call;

/// Elements that a row is a multiple of: each one starts at a multiple of 16 bytes, for the copy
/// engine.
const MULTIPLE: usize = 8;
/// The most rows, or elements of a row, that the copy engine counts.
const MOST: usize = i32::MAX as usize - 512;
/// Rows of a tile of a product.
const ROWS: usize = 128;
/// Its columns, in the kernels' narrow and wide instances.
const COLUMNS: [usize; 2] = [128, 256];
/// Blocks at most on the CPU.
const BLOCKS_ON_CPU: usize = 16;

/// Calls a macro with arguments of its own, and the generic ones of the instance for a type and a
/// width: element type, columns of a tile, and stages.
macro_rules! with_instance {
    (($number:expr, $wide:expr), $launch:ident!($($argument:tt)*)) => {
        match ($number, $wide) {
            (Number::F16, false) => $launch!($($argument)*, f16, 128, 6),
            (Number::F16, true) => $launch!($($argument)*, f16, 256, 4),
            (_, false) => $launch!($($argument)*, bf16, 128, 6),
            (_, true) => $launch!($($argument)*, bf16, 256, 4),
        }
    };
}

/// Writes `activation(x * weight^T + bias)` to `out`. Returns whether there was anything to write.
///
/// # Errors
///
/// What is wrong with the arrays, before anything is written.
pub fn linear<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    weight: &Bound<'py, PyAny>,
    bias: Option<&Bound<'py, PyAny>>,
    out: &Bound<'py, PyAny>,
    activation: Option<&str>,
) -> PyResult<bool> {
    let (x, weight, out) = (take("x", x)?, take("weight", weight)?, take("out", out)?);
    let bias = bias.map(|bias| take("bias", bias)).transpose()?;
    let activation = Activation::of(activation)?;
    let layer = Layer::of(&x, &weight)?;
    let read: Vec<&Array> = [&x, &weight].into_iter().chain(&bias).collect();
    let written = [&out];
    let call = Call::new(&read, &written)?;
    if let Some(bias) = &bias {
        bias.expect_shape(&[layer.outputs], "one for each row of weight")?;
    }
    layer.expect_outputs(&out, &x)?;
    expect_alike(&read, &written)?;
    if layer.rows == 0 || layer.outputs == 0 {
        return Ok(false);
    }
    call.run(py, |launching| {
        let Plan { wide, grid } = Plan::of(launching.stream(), [layer.rows, layer.outputs]);
        let mask = if bias.is_some() { u32::MAX } else { 0 };
        let least = if activation == Activation::Relu { 0.0 } else { f32::NEG_INFINITY };
        macro_rules! launch {
            ($f:ty, $t:ty, $columns:literal, $stages:literal) => {{
                let of_x = launching.rows::<$t>(&x, [layer.rows, layer.inputs])?;
                let of_weight = launching.rows::<$t>(&weight, [layer.outputs, layer.inputs])?;
                // In place of a bias that is not there the kernel gets something that it may read.
                let of_bias = match &bias {
                    Some(bias) => launching.rows::<$t>(bias, [1, layer.outputs])?,
                    None => of_weight.clone(),
                };
                let mut of_out = launching.rows_mut::<$t>(&out, [layer.rows, layer.outputs])?;
                let stream = launching.stream();
                kernels::linear::launch::<$t, $f, $columns, $stages>(
                    stream,
                    grid,
                    &of_x,
                    &of_weight,
                    &of_bias,
                    mask,
                    least,
                    &mut of_out,
                )
            }};
        }
        match activation {
            Activation::Silu => with_instance!((x.number(), wide), launch!(Silu)),
            Activation::Identity | Activation::Relu => with_instance!((x.number(), wide), launch!(Linear)),
        }
    })?;
    Ok(true)
}

/// What Python passed for the gradients: what is read, and what is written, each if it is wanted.
pub struct Gradients<'a, 'py> {
    pub gradient: &'a Bound<'py, PyAny>,
    pub x: &'a Bound<'py, PyAny>,
    pub weight: &'a Bound<'py, PyAny>,
    pub x_gradient: Option<&'a Bound<'py, PyAny>>,
    pub weight_gradient: Option<&'a Bound<'py, PyAny>>,
}

/// Writes the gradients of `x` and of `weight` that are wanted, where `gradient` is that of
/// `x * weight^T + bias`. Returns whether there was anything to write.
///
/// # Errors
///
/// What is wrong with the arrays, before anything is written.
pub fn linear_backward<'py>(py: Python<'py>, given: &Gradients<'_, 'py>) -> PyResult<bool> {
    let (x, weight, gradient) = (take("x", given.x)?, take("weight", given.weight)?, take("gradient", given.gradient)?);
    let x_gradient = given.x_gradient.map(|array| take("x_gradient", array)).transpose()?;
    let weight_gradient = given.weight_gradient.map(|array| take("weight_gradient", array)).transpose()?;
    let layer @ Layer { rows, inputs, outputs } = Layer::of(&x, &weight)?;
    let read = [&x, &weight, &gradient];
    let written: Vec<&Array> = x_gradient.iter().chain(&weight_gradient).collect();
    let call = Call::new(&read, &written)?;
    layer.expect_outputs(&gradient, &x)?;
    if let Some(x_gradient) = &x_gradient {
        x_gradient.expect_shape(x.shape(), "that of x")?;
    }
    if let Some(weight_gradient) = &weight_gradient {
        weight_gradient.expect_shape(weight.shape(), "that of weight")?;
    }
    expect_alike(&read, &written)?;
    if rows == 0 || outputs == 0 || written.is_empty() {
        return Ok(false);
    }
    call.run(py, |launching| {
        macro_rules! launch {
            ($kernel:ident, $grid:expr, $right:expr, $out:expr, $t:ty, $columns:literal, $stages:literal) => {{
                let of_gradient = launching.rows::<$t>(&gradient, [rows, outputs])?;
                let ((right, of_right), (out, of_out)) = ($right, $out);
                let right = launching.rows::<$t>(right, of_right)?;
                let mut out = launching.rows_mut::<$t>(out, of_out)?;
                let stream = launching.stream();
                kernels::$kernel::launch::<$t, $columns, $stages>(stream, $grid, &of_gradient, &right, &mut out)?;
            }};
        }
        macro_rules! product {
            ($kernel:ident, $right:expr, $out:expr) => {{
                let Plan { wide, grid } = Plan::of(launching.stream(), $out.1);
                with_instance!((x.number(), wide), launch!($kernel, grid, $right, $out))
            }};
        }
        if let Some(out) = &x_gradient {
            product!(linear_inputs, (&weight, [outputs, inputs]), (out, [rows, inputs]));
        }
        if let Some(out) = &weight_gradient {
            product!(linear_weights, (&x, [rows, inputs]), (out, [outputs, inputs]));
        }
        Ok::<(), Error>(())
    })?;
    Ok(true)
}

/// What is computed of each element at last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activation {
    Identity,
    Relu,
    Silu,
}

impl Activation {
    fn of(name: Option<&str>) -> PyResult<Activation> {
        match name {
            None => Ok(Activation::Identity),
            Some("relu") => Ok(Activation::Relu),
            Some("silu") => Ok(Activation::Silu),
            Some(other) => Err(PyValueError::new_err(format!(
                "activation: there is no \"{other}\"; pass \"relu\", \"silu\" or None"
            ))),
        }
    }
}

/// How many inputs there are, the elements of each, and those of its output.
#[derive(Clone, Copy)]
struct Layer {
    rows: usize,
    inputs: usize,
    outputs: usize,
}

impl Layer {
    /// That of these arrays.
    fn of(x: &Array, weight: &Array) -> PyResult<Layer> {
        let [outputs, inputs] = *weight.shape() else {
            let shape = Shape(weight.shape());
            let message = format!("weight: its shape is {shape}, and it has two dimensions: outputs, and inputs");
            return Err(PyValueError::new_err(message));
        };
        let above = match x.shape().split_last() {
            Some((width, above)) if *width == inputs => above,
            _ => {
                let shape = Shape(x.shape());
                return Err(PyValueError::new_err(format!(
                    "x: its shape is {shape}, and its last dimension has to be {inputs}, as a row of weight has elements"
                )));
            }
        };
        let layer = Layer { rows: above.iter().product(), inputs, outputs };
        if inputs == 0 || !inputs.is_multiple_of(MULTIPLE) || !outputs.is_multiple_of(MULTIPLE) {
            return Err(PyValueError::new_err(format!(
                "weight: its shape is {}, and both are multiples of {MULTIPLE} for the copy engine, the inputs no 0; \
                 pad weight, and x or bias, with zeros",
                Shape(weight.shape())
            )));
        }
        if [layer.rows, inputs, outputs].iter().any(|extent| *extent > MOST) {
            let (x, weight) = (Shape(x.shape()), Shape(weight.shape()));
            return Err(PyValueError::new_err(format!(
                "x and weight: their shapes are {x} and {weight}, and there are at most {MOST} rows; pass parts of them"
            )));
        }
        Ok(layer)
    }

    /// Fails unless an array has a row of outputs for each row of `x`.
    fn expect_outputs(self, array: &Array, x: &Array) -> PyResult<()> {
        let mut shape = x.shape().to_vec();
        if let Some(last) = shape.last_mut() {
            *last = self.outputs;
        }
        array.expect_shape(&shape, "that of x, with as many elements in a row as weight has rows")
    }
}

/// The instance of a kernel, and its blocks.
struct Plan {
    wide: bool,
    grid: u32,
}

impl Plan {
    /// For a product of so many rows and columns: the tiles that take less time, and as few blocks
    /// as take the same number of rounds.
    fn of(stream: &Stream, [rows, columns]: [usize; 2]) -> Plan {
        let blocks = stream.device().multiprocessors().map_or(BLOCKS_ON_CPU, |count| count as usize);
        let [(narrow_rounds, narrow_grid), (wide_rounds, wide_grid)] = COLUMNS.map(|of_tile| {
            let tiles = rows.div_ceil(ROWS) * columns.div_ceil(of_tile);
            let rounds = tiles.div_ceil(blocks);
            (rounds, tiles.div_ceil(rounds))
        });
        // A wide tile takes as long as two narrow ones.
        let wide = 2 * wide_rounds <= narrow_rounds;
        Plan { wide, grid: if wide { wide_grid } else { narrow_grid } as u32 }
    }
}

/// Takes an array of these kernels' elements.
fn take<'py>(name: &'static str, from: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    Array::take(name, from, &HALVES)
}
