//! Attention, and its gradients.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use tilepipe_kernels::attention::{Attention, AttentionError, backward, forward_with_logarithms, rows_of_room};
use tilepipe_torch_kernels::{bf16, f16};

use super::{HALVES, expect_alike};
use crate::array::{Array, Number};
use crate::call::{Call, Launching};

/// What Python passed beside arrays: how many keys before its own, and behind it, a query sees, if
/// not all, and what scores are multiplied by, if not by the usual number.
#[derive(Clone, Copy)]
pub struct Options {
    pub before: Option<usize>,
    pub behind: Option<usize>,
    pub scale: Option<f32>,
}

/// What Python passed for attention.
pub struct Given<'a, 'py> {
    pub q: &'a Bound<'py, PyAny>,
    pub k: &'a Bound<'py, PyAny>,
    pub v: &'a Bound<'py, PyAny>,
}

/// Writes attention of `q` to `k` and `v`, and the logarithms of the sums of the weights. Returns
/// whether there was anything to write.
///
/// # Errors
///
/// What is wrong with the arrays, before anything is written.
pub fn attention<'py>(
    py: Python<'py>,
    given: &Given<'_, 'py>,
    out: &Bound<'py, PyAny>,
    logarithms: &Bound<'py, PyAny>,
    options: Options,
) -> PyResult<bool> {
    let (q, k, v) = given.take()?;
    let out = take("out", out)?;
    let logarithms = Array::take("logarithms", logarithms, &[Number::F32])?;
    let (read, written) = ([&q, &k, &v], [&out, &logarithms]);
    let call = Call::new(&read, &written)?;
    let heads = Heads::of(&q, &k, &v)?;
    out.expect_shape(q.shape(), "that of q")?;
    logarithms.expect_shape(&heads.logarithms(q.shape()), "a number for each query of each head")?;
    expect_alike(&read, &[&out])?;
    if q.len() == 0 {
        return Ok(false);
    }
    let attention = heads.attention(options)?;
    run(py, &call, |launching| {
        macro_rules! launch {
            ($t:ty) => {{
                let of_q = launching.rows::<$t>(&q, heads.queries())?;
                let [of_k, of_v] = [launching.rows::<$t>(&k, heads.keys())?, launching.rows::<$t>(&v, heads.keys())?];
                let mut of_out = launching.rows_mut::<$t>(&out, heads.queries())?;
                let mut of_logarithms = launching.rows_mut::<f32>(&logarithms, heads.numbers())?;
                let stream = launching.stream();
                forward_with_logarithms(stream, &of_q, &of_k, &of_v, &mut of_out, &mut of_logarithms, &attention)
            }};
        }
        if q.number() == Number::F16 { launch!(f16) } else { launch!(bf16) }
    })?;
    Ok(true)
}

/// What Python passed for the gradients: what is read beside the arrays of attention, and what is
/// written.
pub struct Gradients<'a, 'py> {
    pub out: &'a Bound<'py, PyAny>,
    pub logarithms: &'a Bound<'py, PyAny>,
    pub gradient: &'a Bound<'py, PyAny>,
    pub q_gradient: &'a Bound<'py, PyAny>,
    pub k_gradient: &'a Bound<'py, PyAny>,
    pub v_gradient: &'a Bound<'py, PyAny>,
    pub room: &'a Bound<'py, PyAny>,
}

/// Writes the gradients of `q`, `k` and `v`, where `gradient` is that of `out`. Returns whether
/// there was anything to write.
///
/// # Errors
///
/// What is wrong with the arrays, before anything is written.
pub fn attention_backward<'py>(
    py: Python<'py>,
    given: &Given<'_, 'py>,
    more: &Gradients<'_, 'py>,
    options: Options,
) -> PyResult<bool> {
    let (q, k, v) = given.take()?;
    let (out, gradient) = (take("out", more.out)?, take("gradient", more.gradient)?);
    let logarithms = Array::take("logarithms", more.logarithms, &[Number::F32])?;
    let of_q = take("q_gradient", more.q_gradient)?;
    let (of_k, of_v) = (take("k_gradient", more.k_gradient)?, take("v_gradient", more.v_gradient)?);
    let room = Array::take("room", more.room, &[Number::F32])?;
    let (read, written) = ([&q, &k, &v, &out, &logarithms, &gradient], [&of_q, &of_k, &of_v, &room]);
    let call = Call::new(&read, &written)?;
    let heads = Heads::of(&q, &k, &v)?;
    for (array, like) in [(&out, &q), (&gradient, &q), (&of_q, &q), (&of_k, &k), (&of_v, &v)] {
        array.expect_shape(like.shape(), &format!("that of {}", like.name()))?;
    }
    logarithms.expect_shape(&heads.logarithms(q.shape()), "a number for each query of each head")?;
    let of_room = heads.room();
    room.expect_shape(&of_room, "two rows as each one of logarithms, of a multiple of 4 numbers")?;
    expect_alike(&[&q, &k, &v, &out, &gradient], &[&of_q, &of_k, &of_v])?;
    if q.len() == 0 {
        return Ok(false);
    }
    let attention = heads.attention(options)?;
    run(py, &call, |launching| {
        macro_rules! launch {
            ($t:ty) => {{
                let given = (
                    &launching.rows::<$t>(&q, heads.queries())?,
                    &launching.rows::<$t>(&k, heads.keys())?,
                    &launching.rows::<$t>(&v, heads.keys())?,
                );
                let result = (
                    &launching.rows::<$t>(&out, heads.queries())?,
                    &launching.rows::<f32>(&logarithms, heads.numbers())?,
                );
                let gradients = (
                    &mut launching.rows_mut::<$t>(&of_q, heads.queries())?,
                    &mut launching.rows_mut::<$t>(&of_k, heads.keys())?,
                    &mut launching.rows_mut::<$t>(&of_v, heads.keys())?,
                );
                let gradient = launching.rows::<$t>(&gradient, heads.queries())?;
                let mut room = launching.starts_of_rows_mut::<f32>(&room, [of_room[0], heads.queries], of_room[1])?;
                backward(launching.stream(), given, result, &gradient, gradients, &mut room, &attention)
            }};
        }
        if q.number() == Number::F16 { launch!(f16) } else { launch!(bf16) }
    })?;
    Ok(true)
}

impl<'py> Given<'_, 'py> {
    fn take(&self) -> PyResult<(Array<'py>, Array<'py>, Array<'py>)> {
        Ok((take("q", self.q)?, take("k", self.k)?, take("v", self.v)?))
    }
}

/// The extents of attention, which fit.
#[derive(Clone, Copy)]
struct Heads {
    sequences: usize,
    queries: usize,
    keys: usize,
    heads: usize,
    of_keys: usize,
    head: usize,
}

impl Heads {
    /// Finds them out: `(.., tokens, heads, elements)` each.
    fn of(q: &Array, k: &Array, v: &Array) -> PyResult<Heads> {
        let shape = |array: &Array| -> PyResult<[usize; 4]> {
            match array.shape() {
                [before @ .., tokens, heads, head] => Ok([before.iter().product(), *tokens, *heads, *head]),
                shape => Err(PyValueError::new_err(format!(
                    "{}: it has {} dimensions, and three are needed at least: tokens, heads, and the elements of a head",
                    array.name(),
                    shape.len()
                ))),
            }
        };
        let ([sequences, queries, heads, head], [of_k, keys, of_keys, of_head]) = (shape(q)?, shape(k)?);
        v.expect_shape(k.shape(), "that of k")?;
        let wrong = |what: String| Err(PyValueError::new_err(what));
        if (of_k, of_head) != (sequences, head) || q.shape().len() != k.shape().len() {
            return wrong(format!(
                "k: it is of {of_k} sequences and heads of {of_head} elements, and q of {sequences} and of {head}"
            ));
        }
        if keys == 0 || of_keys == 0 || !heads.is_multiple_of(of_keys) {
            return wrong(format!(
                "k: it has {keys} tokens of {of_keys} heads, and there is one token at least, and a number of heads that divides q's, {heads}"
            ));
        }
        Ok(Heads { sequences, queries, keys, heads, of_keys, head })
    }

    fn queries(self) -> [usize; 2] {
        [self.sequences * self.queries, self.heads * self.head]
    }

    fn keys(self) -> [usize; 2] {
        [self.sequences * self.keys, self.of_keys * self.head]
    }

    /// Rows and columns of the logarithms.
    fn numbers(self) -> [usize; 2] {
        [self.sequences * self.heads, self.queries]
    }

    /// Rows of the room for the gradients, which the copy engine reads, and numbers in each.
    fn room(self) -> [usize; 2] {
        [rows_of_room(self.sequences, self.heads), self.queries.next_multiple_of(4)]
    }

    /// The shape of the logarithms, of that of the queries.
    fn logarithms(self, queries: &[usize]) -> Vec<usize> {
        let before = &queries[..queries.len() - 3];
        before.iter().copied().chain([self.heads, self.queries]).collect()
    }

    /// What is computed, of which the kernels' own check finds nothing wrong.
    fn attention(self, Options { before, behind, scale }: Options) -> PyResult<Attention> {
        let mut attention = Attention::new(self.head).sequences(self.sequences).window(before, behind);
        if let Some(scale) = scale {
            attention = attention.scale(scale);
        }
        attention.check([self.queries(), self.keys(), self.keys()]).map_err(failed)?;
        Ok(attention)
    }
}

/// Runs launches of attention's own functions.
fn run<'c, 'py>(
    py: Python<'py>,
    call: &Call<'c, 'py>,
    launches: impl FnOnce(&Launching<'c, 'py>) -> Result<(), AttentionError>,
) -> PyResult<()> {
    let mut result = Ok(());
    call.run(py, |launching| {
        result = launches(launching);
        Ok(())
    })?;
    result.map_err(failed)
}

/// Takes an array of these kernels' elements.
fn take<'py>(name: &'static str, from: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    Array::take(name, from, &HALVES)
}

/// What the kernels' functions say: of what a launch says, as of all launches.
fn failed(error: AttentionError) -> PyErr {
    match error {
        AttentionError::Launch(error) => PyRuntimeError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}
