//! The launch of attention of packed sequences.

use core::f32::consts::LOG2_E;

use tilepipe::product::OperandElement;
use tilepipe_host::{Argument, Bound, Buffer, Stream, launch};

use super::Place;
use super::error::{AttentionError, expect};
use super::forward::{Attention, LogarithmsMut, Size};
use super::packed::attention_packed;
use crate::instance::{blocks, extents, has, has_elements};
use crate::{MatrixView, MatrixViewMut};

/// Where sequences of any lengths lie in the rows of matrices, one after the other: on a device, 12
/// bytes for each query.
#[derive(Debug)]
pub struct Sequences {
    places: Buffer<Place>,
    queries: usize,
    keys: usize,
}

impl Sequences {
    /// Sequences whose queries, and keys and values, begin at these rows: the first numbers are 0,
    /// none is less than the one before, and the last numbers are where the last sequence ends.
    /// (`cu_seqlens_q` and `cu_seqlens_k` of FlashAttention.)
    ///
    /// A sequence may be empty. It may have other numbers of queries and of keys: its last query's
    /// own key is its last one.
    ///
    /// # Errors
    ///
    /// [`AttentionError::Offsets`] if the numbers are not so, or there is no query or no key; what
    /// the device says of the memory.
    pub fn new(stream: &Stream, queries: &[usize], keys: &[usize]) -> Result<Self, AttentionError> {
        let end = checked_end("queries", queries, queries.len())?;
        let end_of_keys = checked_end("keys", keys, queries.len())?;
        let mut places = Vec::with_capacity(end);
        for (of_queries, of_keys) in queries.windows(2).zip(keys.windows(2)) {
            let (start, end) = (of_keys[0] as i32, of_keys[1] as i32);
            let before = of_queries[1] as i32 - end;
            places.extend((of_queries[0]..of_queries[1]).map(|row| Place { start, end, own: row as i32 - before }));
        }
        Ok(Sequences { places: stream.device().upload(&places)?, queries: end, keys: end_of_keys })
    }

    /// The queries of all sequences.
    #[must_use]
    pub fn queries(&self) -> usize {
        self.queries
    }

    /// The keys of all sequences.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.keys
    }
}

/// Writes attention of sequences of any lengths to `out`, in one launch: a query sees keys of its
/// own sequence alone.
///
/// Each matrix has a row for each token of all sequences and the heads side by side, as for
/// [`forward`](super::forward), and `sequences` says which rows are whose. `logarithms` has a row
/// for each head, with a number for each query of all sequences, and may be
/// [`Nothing`](tilepipe_host::Nothing).
///
/// Tiles of keys that no query of a tile sees are neither loaded nor multiplied. Those that are
/// partly seen are multiplied as a whole, by weights of zero: a value that is not finite makes NaN
/// of queries of the next sequences in its tile too.
///
/// Of `attention` size, scale and window count.
///
/// It replaces `flash_attn_varlen_func` and
/// `torch.nn.functional.scaled_dot_product_attention` of a jagged nested tensor.
///
/// # Errors
///
/// [`AttentionError`]: what `forward` refuses, a cap or slopes, and matrices of other rows than
/// `sequences` has. Nothing is written then.
///
/// # Examples
///
/// ```
/// use tilepipe::bf16;
/// use tilepipe_host::Nothing;
/// use tilepipe_kernels::attention::{Attention, Sequences, forward_packed};
///
/// let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// let stream = device.stream()?;
/// let tokens = |values: &[f32]| {
///     let elements: Vec<bf16> =
///         values.iter().flat_map(|value| [bf16::from_f32(*value); 64]).collect();
///     device.upload_2d(&elements, 64)
/// };
/// // A sequence of one query and two keys, and one of two queries and one key.
/// let sequences = Sequences::new(&stream, &[0, 1, 3], &[0, 2, 3])?;
/// let (queries, keys) = (tokens(&[0.5; 3])?, tokens(&[1.0; 3])?);
/// let values = tokens(&[2.0, 4.0, 7.0])?;
/// let mut out = device.zeroed_2d::<bf16>(64, 3)?;
/// let heads = Attention::new(64);
/// forward_packed(
///     &stream, &queries, &keys, &values, &mut out, Nothing, &sequences, &heads,
/// )?;
/// let found = out.download()?;
/// assert_eq!([found[0], found[64], found[128]].map(f32::from), [3.0, 7.0, 7.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn forward_packed<T: OperandElement>(
    stream: &Stream,
    queries: impl Argument<MatrixView<T>>,
    keys: impl Argument<MatrixView<T>>,
    values: impl Argument<MatrixView<T>>,
    out: impl Argument<MatrixViewMut<T>>,
    logarithms: impl Argument<LogarithmsMut>,
    sequences: &Sequences,
    attention: &Attention,
) -> Result<(), AttentionError> {
    let (queries, keys, values, out) = (queries.bind(), keys.bind(), values.bind(), out.bind());
    let logarithms = logarithms.bind();
    attention.check_unshaped("attention of packed sequences")?;
    attention.check_one_sequence("attention of packed sequences")?;
    let size = Size::new(attention, [&queries, &keys, &values, &out])?;
    let of_all = |rows: usize, matrix: &Bound<'_>| [rows, extents(matrix)[1]];
    expect("the matrix of queries", extents(&queries), of_all(sequences.queries, &queries))?;
    expect("the matrix of keys", extents(&keys), of_all(sequences.keys, &keys))?;
    size.expect_logarithms(&logarithms)?;
    let head = size.padded().to_string();
    let instance = attention_packed::INSTANCES.iter().find(|one| has_elements::<T>(one) && has(one, "HEAD", &head));
    let instance = instance.ok_or(AttentionError::Head { head: size.head })?;
    let tiles = size.queries.div_ceil(ROWS) * size.heads;
    let arguments = [
        size.of_queries(queries)?,
        size.of_keys(keys)?,
        size.of_keys(values)?,
        Argument::<tilepipe::Input<Place>>::bind(&sequences.places),
        Bound::scalar(size.scale * LOG2_E),
        Bound::scalar(size.band()),
        size.of_queries(out)?,
        logarithms,
    ];
    launch(stream, blocks(stream, tiles), instance, arguments)?;
    Ok(())
}

/// The last of as many numbers of rows, which are in order.
fn checked_end(what: &'static str, offsets: &[usize], count: usize) -> Result<usize, AttentionError> {
    let refuse = |at: usize| Err(AttentionError::Offsets { what, at, row: offsets.get(at).copied() });
    let is_wrong = |at: &usize| match at.checked_sub(1) {
        None => offsets[0] != 0,
        Some(before) => offsets[*at] < offsets[before] || offsets[*at] > MOST_ROWS,
    };
    match (0..offsets.len()).find(is_wrong) {
        Some(at) => refuse(at),
        None if offsets.len() < count.max(2) => refuse(offsets.len()),
        None if offsets.len() > count => refuse(count),
        None if offsets[count - 1] == 0 => refuse(count - 1),
        None => Ok(offsets[count - 1]),
    }
}

/// Queries of a tile.
const ROWS: usize = 128;
/// The most queries or keys, whose numbers are of `i32` with the band added.
const MOST_ROWS: usize = i32::MAX as usize / 4;
