//! The launch of attention.

use core::f32::consts::LOG2_E;

use tilepipe::launch::Instance;
use tilepipe::product::{OperandElement, RowValuesMut};
use tilepipe_host::{Argument, Bound, Nothing, Stream, launch};

use super::decoding::{attention_decoding, attention_join};
use super::error::{AttentionError, expect, refuse};
use super::gradient::{
    attention_gradient, attention_gradient_join, attention_keys_gradient, attention_keys_gradient_alone,
    attention_queries_gradient, attention_row_products, attention_values_gradient,
};
use super::packed::attention_packed;
use super::seen::{ALL, CAUSAL, WINDOW};
use super::shaped::{
    attention_keys_gradient_alone_shaped, attention_keys_gradient_shaped, attention_queries_gradient_shaped,
    attention_values_gradient_shaped,
};
use super::{Band, MOST_HEADS, Shape, attention};
use crate::instance::{blocks, extents, has, has_elements, multiprocessors};
use crate::{MatrixView, MatrixViewMut};

/// All instances of attention's kernels. Their results differ in rounding between devices, so the
/// registry of kernels does not have them.
pub fn instances() -> impl Iterator<Item = &'static Instance> {
    let of_keys = attention_keys_gradient::INSTANCES.iter().chain(&attention_keys_gradient_alone::INSTANCES);
    let of_keys = of_keys.chain(&attention_values_gradient::INSTANCES);
    let of_shaped_keys =
        attention_keys_gradient_shaped::INSTANCES.iter().chain(&attention_keys_gradient_alone_shaped::INSTANCES);
    let of_shaped_keys = of_shaped_keys.chain(&attention_values_gradient_shaped::INSTANCES);
    let of_queries = attention_queries_gradient::INSTANCES.iter().chain(&attention_queries_gradient_shaped::INSTANCES);
    let in_order = of_queries.chain(of_keys).chain(of_shaped_keys);
    let of_gradient = in_order.chain(&attention_gradient::INSTANCES).chain(&attention_gradient_join::INSTANCES);
    let of_decoding = attention_decoding::INSTANCES.iter().chain(&attention_join::INSTANCES);
    let of_forward = attention::INSTANCES.iter().chain(&attention_packed::INSTANCES);
    of_forward.chain(&attention_row_products::INSTANCES).chain(of_gradient).chain(of_decoding)
}

/// What attention is computed: how the heads and the sequences lie, and which keys a query sees.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    head: usize,
    sequences: usize,
    /// Keys that a query sees before its own and behind it.
    window: [Option<usize>; 2],
    scale: Option<f32>,
    cap: Option<f32>,
    slopes: Vec<f32>,
}

impl Attention {
    /// Attention of heads of so many elements, a multiple of 8 up to 256, in which each query sees
    /// all keys. Scores are divided by the root of the head's size.
    ///
    /// Heads of 64, 128 and 256 elements are computed as they are, and others as the next larger
    /// ones.
    pub fn new(head: usize) -> Self {
        Attention { head, sequences: 1, window: [None; 2], scale: None, cap: None, slopes: Vec::new() }
    }

    /// Says that the rows of the matrices are those of so many sequences of one length, one after
    /// the other.
    #[must_use]
    pub fn sequences(self, sequences: usize) -> Self {
        Attention { sequences, ..self }
    }

    /// Lets a query see the keys up to its own: the last query sees all keys, and the one before
    /// all but the last.
    #[must_use]
    pub fn causal(self) -> Self {
        let [before, _] = self.window;
        self.window(before, Some(0))
    }

    /// Lets a query see so many keys before its own, its own, and so many behind it; `None` is all
    /// of them. The last query's own key is the last one.
    ///
    /// Tiles of keys that no query of a tile sees are neither loaded nor multiplied.
    #[must_use]
    pub fn window(self, before: Option<usize>, behind: Option<usize>) -> Self {
        Attention { window: [before, behind], ..self }
    }

    /// Multiplies the scores by this positive number in place of the usual one.
    #[must_use]
    pub fn scale(self, scale: f32) -> Self {
        Attention { scale: Some(scale), ..self }
    }

    /// Makes `cap * tanh(score / cap)` of each scaled score, for a positive number.
    #[must_use]
    pub fn soft_cap(self, cap: f32) -> Self {
        Attention { cap: Some(cap), ..self }
    }

    /// Lowers each score by a slope for each key between it and the query's own: a slope for each
    /// head of queries, at most [`MOST_HEADS`](super::MOST_HEADS). It is done after the cap.
    /// (ALiBi.)
    #[must_use]
    pub fn slopes(self, slopes: &[f32]) -> Self {
        Attention { slopes: slopes.to_vec(), ..self }
    }
}

impl Attention {
    /// Says whether queries, keys and values of so many rows and columns belong together, as
    /// [`forward`] does before it launches anything.
    ///
    /// # Errors
    ///
    /// [`AttentionError`] if not.
    pub fn check(&self, [queries, keys, values]: [[usize; 2]; 3]) -> Result<(), AttentionError> {
        let size = Size::of(self, [queries, keys, values, queries])?;
        self.shape(size.heads).map(drop)
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
/// same bits come out in each run; on a GPU of another number of multiprocessors they may differ in
/// rounding, since tiles of another size may be faster there.
///
/// It replaces `torch.nn.functional.scaled_dot_product_attention`.
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
/// forward(&device.stream()?, &queries, &keys, &values, &mut out, &heads)?;
/// assert_eq!(out.download()?, [bf16::from_f32(3.0); 128]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn forward<T: OperandElement>(
    stream: &Stream,
    queries: impl Argument<MatrixView<T>>,
    keys: impl Argument<MatrixView<T>>,
    values: impl Argument<MatrixView<T>>,
    out: impl Argument<MatrixViewMut<T>>,
    attention: &Attention,
) -> Result<(), AttentionError> {
    forward_with_logarithms(stream, queries, keys, values, out, Nothing, attention)
}

/// As [`forward`], and writes the natural logarithm of the sum of each query's weights, before they
/// are divided by it: of `exp(score)`. There is a row for each head of each sequence, with a number
/// for each query. Where a query sees no key it is minus infinity.
///
/// The gradient needs it, and whoever joins attention of parts of the keys.
///
/// # Errors
///
/// As for `forward`, and if the numbers are not so many.
pub fn forward_with_logarithms<T: OperandElement>(
    stream: &Stream,
    queries: impl Argument<MatrixView<T>>,
    keys: impl Argument<MatrixView<T>>,
    values: impl Argument<MatrixView<T>>,
    out: impl Argument<MatrixViewMut<T>>,
    logarithms: impl Argument<LogarithmsMut>,
    attention: &Attention,
) -> Result<(), AttentionError> {
    let (queries, keys, values, out) = (queries.bind(), keys.bind(), values.bind(), out.bind());
    let logarithms = logarithms.bind();
    let size = Size::new(attention, [&queries, &keys, &values, &out])?;
    size.expect_logarithms(&logarithms)?;
    let scale = size.scale * LOG2_E;
    let shape = attention.shape(size.heads)?;
    let (instance, rows) = instance::<T>(&size, shape.is_some(), multiprocessors(stream))
        .ok_or(AttentionError::Head { head: size.head })?;
    let is_flat = has(instance, "ARRAY", "2");
    let tiles = size.queries.div_ceil(rows) * size.heads * size.sequences;
    let [queries, keys, values, out] = if is_flat {
        [queries, keys, values, out]
    } else {
        [size.of_queries(queries)?, size.of_keys(keys)?, size.of_keys(values)?, size.of_queries(out)?]
    };
    let shape = shape.unwrap_or(Shape { cap: 0.0, slopes: [0.0; MOST_HEADS] });
    // Powers are of 2.
    let values = [
        queries,
        keys,
        values,
        Bound::scalar(scale),
        Bound::scalar(size.band()),
        Bound::constant(&shape),
        out,
        logarithms,
    ];
    launch(stream, blocks(stream, tiles), instance, values)?;
    Ok(())
}

/// What takes the logarithms: `&mut Buffer2D<f32>`, other rows, or `Nothing`.
pub type LogarithmsMut = RowValuesMut<'static, 64>;

/// What is computed, of extents that belong together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) head: usize,
    pub(super) sequences: usize,
    /// Of a sequence.
    pub(super) queries: usize,
    pub(super) keys: usize,
    pub(super) heads: usize,
    pub(super) heads_of_keys: usize,
    pub(super) scale: f32,
    window: [Option<usize>; 2],
}

impl Size {
    /// Finds it out from queries, keys, values and result.
    pub(super) fn new(attention: &Attention, matrices: [&Bound<'_>; 4]) -> Result<Self, AttentionError> {
        Size::of(attention, matrices.map(extents))
    }

    /// The same from rows and columns.
    fn of(attention: &Attention, [queries, keys, values, out]: [[usize; 2]; 4]) -> Result<Self, AttentionError> {
        let Attention { sequences, window, .. } = *attention;
        let head = attention.checked_head()?;
        let scale = attention.checked_scale()?;
        let (heads, heads_of_keys) = (queries[1] / head, keys[1] / head);
        let fit = out == queries
            && values == keys
            && [queries[1], keys[1]].iter().all(|columns| columns.is_multiple_of(head))
            && ![queries[0], keys[0], heads, heads_of_keys, sequences].contains(&0)
            && heads.is_multiple_of(heads_of_keys)
            && [queries[0], keys[0]].iter().all(|rows| rows.is_multiple_of(sequences));
        if !fit {
            return Err(AttentionError::Extents { queries, keys, values, out, head, sequences });
        }
        let (queries, keys) = (queries[0] / sequences, keys[0] / sequences);
        Ok(Size { head, sequences, queries, keys, heads, heads_of_keys, scale, window })
    }

    /// Which keys a query sees.
    pub(super) fn mask(&self) -> u32 {
        match self.window {
            [None, None] => ALL,
            [None, Some(0)] => CAUSAL,
            _ => WINDOW,
        }
    }

    /// The window, of which no number is larger than it needs to be.
    pub(super) fn band(&self) -> Band {
        let [before, behind] = self.window.map(|keys| keys.unwrap_or(usize::MAX));
        Band { before: before.min(self.keys) as i32, behind: behind.min(self.queries.max(self.keys)) as i32 }
    }

    /// The most keys that a query sees, of a sequence that is long enough.
    fn seen(&self) -> usize {
        let [before, behind] = self.window.map(|keys| keys.map_or(self.keys, |keys| keys.min(self.keys)));
        (before + 1).saturating_add(behind).min(self.keys)
    }

    /// The elements of a head as the kernels compute them.
    pub(super) fn padded(&self) -> usize {
        self.head.next_power_of_two().max(64)
    }

    /// Whether it is one sequence of heads that are computed as they are, which lies in a matrix of
    /// two dimensions.
    fn is_flat(&self) -> bool {
        self.sequences == 1 && self.head == self.padded()
    }

    /// A matrix with a row for each query of each sequence as an array of heads.
    pub(super) fn of_queries<'a>(&self, matrix: Bound<'a>) -> Result<Bound<'a>, AttentionError> {
        self.in_heads(matrix, self.queries)
    }

    /// A matrix with a row for each key of each sequence as an array of heads.
    pub(super) fn of_keys<'a>(&self, matrix: Bound<'a>) -> Result<Bound<'a>, AttentionError> {
        self.in_heads(matrix, self.keys)
    }

    fn in_heads<'a>(&self, matrix: Bound<'a>, rows: usize) -> Result<Bound<'a>, AttentionError> {
        // The extents were found to fit.
        matrix.in_matrices([rows, self.head]).ok_or(AttentionError::Head { head: self.head })
    }

    /// Rows and columns of the logarithms: a row for each head of each sequence.
    pub(super) fn logarithms(&self) -> [usize; 2] {
        [self.sequences * self.heads, self.queries]
    }

    /// Refuses logarithms of other extents, unless nothing was passed for them: that has no rows.
    pub(super) fn expect_logarithms(&self, logarithms: &Bound<'_>) -> Result<(), AttentionError> {
        let given = extents(logarithms);
        if given == [0, 0] { Ok(()) } else { expect("logarithms", given, self.logarithms()) }
    }
}

impl Attention {
    /// Elements of a head, for which there is a kernel.
    pub(super) fn checked_head(&self) -> Result<usize, AttentionError> {
        let head = self.head;
        if head == 0 || head > 256 || !head.is_multiple_of(8) { Err(AttentionError::Head { head }) } else { Ok(head) }
    }

    /// What scores are multiplied by.
    pub(super) fn checked_scale(&self) -> Result<f32, AttentionError> {
        let scale = self.scale.unwrap_or_else(|| 1.0 / (self.head as f32).sqrt());
        positive("scale", scale).map(|()| scale)
    }

    /// Refuses heads of more elements than there is a kernel for, for `what`.
    pub(super) fn check_head(&self, what: &'static str) -> Result<(), AttentionError> {
        refuse(what, [(self.head > 128, "heads of more than 128 elements")])
    }

    /// Refuses scores that are more than products, for `what`.
    pub(super) fn check_unshaped(&self, what: &'static str) -> Result<(), AttentionError> {
        refuse(what, [(self.cap.is_some(), "a cap of the scores"), (!self.slopes.is_empty(), "slopes")])
    }

    /// Refuses rows that were said to be of several sequences, for `what`.
    pub(super) fn check_one_sequence(&self, what: &'static str) -> Result<(), AttentionError> {
        refuse(what, [(self.sequences != 1, "sequences of one length")])
    }

    /// Whether a query sees all keys, or those up to its own.
    pub(super) fn is_without_window(&self) -> bool {
        matches!(self.window, [None, None | Some(0)])
    }

    /// What scores are besides products, for powers of 2; `None` if they are nothing else.
    pub(super) fn shape(&self, heads: usize) -> Result<Option<Shape>, AttentionError> {
        if self.cap.is_none() && self.slopes.is_empty() {
            return Ok(None);
        }
        self.cap.map_or(Ok(()), |cap| positive("soft_cap", cap))?;
        if !self.slopes.is_empty() && self.slopes.len() != heads || self.slopes.len() > MOST_HEADS {
            return Err(AttentionError::Slopes { slopes: self.slopes.len(), heads });
        }
        let mut slopes = [0.0; MOST_HEADS];
        for (to, slope) in slopes.iter_mut().zip(&self.slopes) {
            if *slope != 0.0 {
                positive("slopes", *slope)?;
            }
            *to = slope * LOG2_E;
        }
        Ok(Some(Shape { cap: self.cap.unwrap_or(0.0) * LOG2_E, slopes }))
    }
}

/// Refuses what is not positive and finite.
fn positive(what: &'static str, scale: f32) -> Result<(), AttentionError> {
    if scale > 0.0 && scale.is_finite() { Ok(()) } else { Err(AttentionError::Scale { what, scale }) }
}

/// Queries of a tile, on so many multiprocessors: 64 for each of three warpgroups, or of two.
/// (Measured: docs/decisions/103 and 111 to 114.)
fn rows(size: &Size, mask: u32, multiprocessors: usize) -> usize {
    // How much longer two warpgroups take for each query.
    let longer = match (size.padded(), mask) {
        (256, _) => return 128,
        (64, WINDOW) => return if size.queries < 512 { 128 } else { 192 },
        (_, WINDOW) => return if size.seen() < 1536 { 128 } else { 192 },
        (64, CAUSAL) => return if size.queries <= 256 { 128 } else { 192 },
        (_, CAUSAL) => return if size.queries < 4096 { 128 } else { 192 },
        (64, _) if size.is_flat() => 1.15,
        (64, _) => 1.12,
        _ => 1.06,
    };
    // Tiles that see as many keys are dealt out in rounds of the multiprocessors, of which the last
    // one takes as long as any.
    let in_rounds = |rows: usize| {
        let tiles = size.queries.div_ceil(rows) * size.heads * size.sequences;
        (tiles.div_ceil(multiprocessors) * rows) as f64
    };
    if in_rounds(192) < longer * in_rounds(128) { 192 } else { 128 }
}

/// Keys of a tile, where there is a choice: in windows of heads of 64 with tiles of 192 queries.
/// (Measured: docs/decisions/113.)
fn keys(size: &Size, mask: u32, rows: usize) -> Option<usize> {
    let is_choice = (size.padded(), mask, rows) == (64, WINDOW, 192);
    is_choice.then(|| if size.seen() < 896 { 64 } else { 128 })
}

/// The instance for heads of this size, and its queries of a tile.
fn instance<T: OperandElement>(
    size: &Size,
    shaped: bool,
    multiprocessors: usize,
) -> Option<(&'static Instance, usize)> {
    let mask = if shaped || size.padded() == 256 && size.mask() == CAUSAL { WINDOW } else { size.mask() };
    let rows = if shaped { 128 } else { rows(size, mask, multiprocessors) };
    let keys = keys(size, mask, rows).map(|keys| keys.to_string());
    // One sequence of whole heads lies in a matrix of two dimensions, which some instances take:
    // `ptxas` then has fewer instructions between products.
    let arrays: &[&str] = if size.is_flat() { &["2", "4"] } else { &["4"] };
    let found = arrays.iter().find_map(|array| {
        attention::INSTANCES.iter().find(|instance| {
            let has = |parameter: &str, wanted: &str| has(instance, parameter, wanted);
            has_elements::<T>(instance)
                && has("HEAD", &size.padded().to_string())
                && has("ROWS", &rows.to_string())
                && keys.as_deref().is_none_or(|keys| has("KEYS", keys))
                && has("MASK", &mask.to_string())
                && has("SHAPED", if shaped { "true" } else { "false" })
                && has("ARRAY", array)
        })
    });
    found.map(|found| (found, rows))
}

/// Queries and keys of the tiles that [`forward`] takes on so many multiprocessors, for queries,
/// keys and values of bf16 with so many rows and columns. (For tests.)
#[doc(hidden)]
pub fn tiles(attention: &Attention, extents: [[usize; 2]; 3], multiprocessors: usize) -> Option<[usize; 2]> {
    let [queries, keys, values] = extents;
    let size = Size::of(attention, [queries, keys, values, queries]).ok()?;
    let shaped = attention.shape(size.heads).ok()?.is_some();
    let (instance, rows) = instance::<tilepipe::bf16>(&size, shaped, multiprocessors)?;
    Some([rows, instance.generic("KEYS")?.parse().ok()?])
}
