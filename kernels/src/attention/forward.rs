//! The launch of attention.

use core::fmt;

use tilepipe::launch::Instance;
use tilepipe::product::OperandElement;
use tilepipe_host::{Argument, Bound, Error, Stream, launch};

use super::attention;
use crate::instance::{extents, has, has_elements};
use crate::{MatrixView, MatrixViewMut};

/// All instances of attention's kernel. Their results differ in rounding between devices, so the
/// registry of kernels does not have them.
pub fn instances() -> impl Iterator<Item = &'static Instance> {
    attention::INSTANCES.iter()
}

/// What attention is computed: how the heads lie, and which keys a query sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attention {
    head: usize,
    causal: bool,
    scale: Option<f32>,
}

impl Attention {
    /// Attention of heads of so many elements, 64 or 128, in which each query sees all keys. Scores
    /// are divided by the root of the head's size.
    pub fn new(head: usize) -> Self {
        Attention { head, causal: false, scale: None }
    }

    /// Lets a query see the keys up to its own: the last query sees all keys, and the one before
    /// all but the last.
    #[must_use]
    pub fn causal(self) -> Self {
        Attention { causal: true, ..self }
    }

    /// Multiplies the scores by this positive number in place of the usual one.
    #[must_use]
    pub fn scale(self, scale: f32) -> Self {
        Attention { scale: Some(scale), ..self }
    }
}

/// Why attention was not computed.
#[derive(Debug)]
pub enum AttentionError {
    /// There is no kernel for heads of this size.
    Head {
        /// The size.
        head: usize,
    },
    /// The factor of the scores is not a positive, finite number.
    Scale {
        /// The factor.
        scale: f32,
    },
    /// The extents of the matrices do not belong together.
    Extents {
        /// Rows and columns of the queries.
        queries: [usize; 2],
        /// Those of the keys.
        keys: [usize; 2],
        /// Those of the values.
        values: [usize; 2],
        /// Those of the result.
        out: [usize; 2],
        /// Elements of a head.
        head: usize,
    },
    /// What the launch says.
    Launch(Error),
}

impl fmt::Display for AttentionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |[rows, columns]: [usize; 2]| format!("{rows} x {columns}");
        match self {
            AttentionError::Head { head } => {
                write!(f, "there is no kernel for heads of {head} elements: they have 64 or 128")
            }
            AttentionError::Scale { scale } => {
                write!(f, "scores can't be multiplied by {scale}: the factor is positive and finite")
            }
            AttentionError::Extents { queries, keys, values, out, head } => write!(
                f,
                "no attention of {} queries, {} keys and {} values to a {} matrix with heads of {head}: the result is as large as the queries, \
                 the values as the keys, columns are whole heads, and there is a whole number of heads of queries for each one of keys",
                text(*queries),
                text(*keys),
                text(*values),
                text(*out),
            ),
            AttentionError::Launch(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AttentionError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            AttentionError::Head { .. } | AttentionError::Scale { .. } | AttentionError::Extents { .. } => None,
            AttentionError::Launch(error) => error.source(),
        }
    }
}

impl From<Error> for AttentionError {
    fn from(error: Error) -> Self {
        AttentionError::Launch(error)
    }
}

/// Writes attention to `out`: for each head, softmax of the scores of the queries with the keys,
/// times the values.
///
/// Each matrix has a row for each token and the heads side by side in its columns. There may be
/// fewer heads of keys and values than of queries: each is used by as many as there are of queries
/// for one of them, side by side. A query that sees no key gets zeros.
///
/// Scores and weights are of `f32`, weights rounded to `T` before they multiply the values. The
/// same bits come out in each run.
///
/// It replaces `torch.nn.functional.scaled_dot_product_attention` of one sequence.
///
/// # Errors
///
/// [`AttentionError`]: another size of head, extents that do not belong together, and what the
/// launch refuses: rows of a matrix that are no multiple of 16 bytes apart, a GPU that is no
/// `sm_90`. Nothing is written then.
///
/// # Examples
///
/// ```
/// use tilepipe::bf16;
/// use tilepipe_kernels::attention::{Attention, forward};
///
/// let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// let tokens = |value: f32, rows: usize| {
///     let elements = vec![bf16::from_f32(value); rows * 64];
///     device.upload_2d(&elements, 64)
/// };
/// // Two queries of one head, and one key: the result is its value.
/// let (queries, keys, values) = (tokens(0.5, 2)?, tokens(1.0, 1)?, tokens(3.0, 1)?);
/// let mut out = device.zeroed_2d::<bf16>(64, 2)?;
/// let heads = Attention::new(64);
/// forward(&device.stream()?, &queries, &keys, &values, &mut out, heads)?;
/// assert_eq!(out.download()?, [bf16::from_f32(3.0); 128]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn forward<T: OperandElement>(
    stream: &Stream,
    queries: impl Argument<MatrixView<T>>,
    keys: impl Argument<MatrixView<T>>,
    values: impl Argument<MatrixView<T>>,
    out: impl Argument<MatrixViewMut<T>>,
    attention: Attention,
) -> Result<(), AttentionError> {
    let (queries, keys, values, out) = (queries.bind(), keys.bind(), values.bind(), out.bind());
    let Attention { head, causal, scale } = attention;
    let scale = scale.unwrap_or_else(|| 1.0 / (head as f32).sqrt());
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(AttentionError::Scale { scale });
    }
    let [of_queries, of_keys, of_values, of_out] = [&queries, &keys, &values, &out].map(|matrix| extents(matrix));
    let rows = rows(of_queries[0], head, causal);
    let instance = instance::<T>(head, causal, rows).ok_or(AttentionError::Head { head })?;
    let (heads, of_these) = (of_queries[1] / head, of_keys[1] / head);
    let fit = of_out == of_queries
        && of_values == of_keys
        && [of_queries[1], of_keys[1]].iter().all(|columns| columns.is_multiple_of(head))
        && ![of_queries[0], of_keys[0], heads, of_these].contains(&0)
        && heads.is_multiple_of(of_these);
    if !fit {
        let (queries, keys, values, out) = (of_queries, of_keys, of_values, of_out);
        return Err(AttentionError::Extents { queries, keys, values, out, head });
    }
    let tiles = of_queries[0].div_ceil(rows) * heads;
    let multiprocessors = stream.device().multiprocessors().map_or(1, |count| count as usize);
    // Powers are of 2.
    let scale = Bound::scalar(scale * core::f32::consts::LOG2_E);
    launch(stream, tiles.min(multiprocessors) as u32, instance, [queries, keys, values, scale, out])?;
    Ok(())
}

/// Queries of a tile: 64 for each of three warpgroups, or of two, whose tiles leave fewer blocks
/// without work where sequences are short, and mask less. (Measured: docs/performance.md.)
fn rows(queries: usize, head: usize, causal: bool) -> usize {
    let longest_of_two = match (head, causal) {
        (128, _) => 4096,
        (_, true) => 1024,
        (_, false) => 0,
    };
    if queries <= longest_of_two { 128 } else { 192 }
}

/// The instance for heads of this size and such tiles.
fn instance<T: OperandElement>(head: usize, causal: bool, rows: usize) -> Option<&'static Instance> {
    attention::INSTANCES.iter().find(|instance| {
        let has = |parameter: &str, wanted: &str| has(instance, parameter, wanted);
        has_elements::<T>(instance)
            && has("HEAD", &head.to_string())
            && has("ROWS", &rows.to_string())
            && has("CAUSAL", if causal { "true" } else { "false" })
    })
}

#[cfg(test)]
mod tests {
    use tilepipe::bf16;
    use tilepipe_host::{Device, Schedule};

    use super::{Attention, AttentionError, forward};

    #[test]
    fn what_does_not_fit_is_an_error_and_nothing_is_written() {
        let device = Device::cpu(Schedule::Lazy);
        let stream = device.stream().unwrap();
        let matrix = |rows: usize, columns: usize| device.zeroed_2d::<bf16>(columns, rows).unwrap();
        let (queries, keys, other) = (matrix(5, 128), matrix(7, 64), matrix(7, 192));
        let mut out = matrix(5, 128);
        let mut with = |keys, values, head| forward(&stream, &queries, keys, values, &mut out, Attention::new(head));
        assert!(matches!(with(&keys, &keys, 32), Err(AttentionError::Head { head: 32 })));
        for (keys, values) in [(&keys, &other), (&other, &other)] {
            let error = with(keys, values, 64).unwrap_err();
            assert!(matches!(error, AttentionError::Extents { .. }), "{error}");
        }
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let attention = Attention::new(64).scale(scale);
            let error = forward(&stream, &queries, &keys, &keys, &mut matrix(5, 128), attention).unwrap_err();
            assert!(matches!(error, AttentionError::Scale { .. }), "{error}");
        }
        let mut with = |keys, values, head| forward(&stream, &queries, keys, values, &mut out, Attention::new(head));
        let error = with(&keys, &keys, 128).unwrap_err().to_string();
        assert!(error.contains("5 x 128 queries, 7 x 64 keys") && error.contains("heads of 128"), "{error}");
        with(&keys, &keys, 64).unwrap();
    }
}
