//! The launches of attention of few queries to many keys.

use core::f32::consts::LOG2_E;

use tilepipe::product::OperandElement;
use tilepipe::{Input, TilesMut2D};
use tilepipe_host::{Argument, Bound, Stream, launch};

use super::decoding::{SHARED_HEADS, attention_decoding, attention_join};
use super::error::{AttentionError, expect, refuse};
use super::forward::Attention;
use crate::instance::{blocks, extents, has, has_elements, multiprocessors, small_blocks};
use crate::{MatrixView, MatrixViewMut};

/// Numbers of keys or of pages.
pub type Numbers = Input<'static, u32>;
/// Results of parts of the keys.
pub type PartsMut = TilesMut2D<'static, f32, 1, 128>;

/// Where keys and values lie, which [`decode`] reads.
pub struct Cache<K, V, L, P> {
    /// The keys: a row for each token, with the heads side by side.
    pub keys: K,
    /// The values, as many.
    pub values: V,
    /// How many keys each sequence has. More than it has rows, in pages or without, count as those.
    pub lengths: L,
    /// Without it the rows of keys and values are those of the sequences, as many for each. With it
    /// they are those of pages of so many tokens, a multiple of 64, and this has the numbers of
    /// each sequence's pages in their order, as many for each sequence.
    pub pages: Option<(P, usize)>,
}

/// In how many parts the keys are taken, so that the GPU is full and a part is no less than 512
/// keys, if it can be: for so many queries in all with so many heads of keys, of which a sequence
/// has at most so many.
pub fn parts(stream: &Stream, queries: usize, heads_of_keys: usize, most_keys: usize) -> usize {
    let tiles = (queries * heads_of_keys).max(1);
    (multiprocessors(stream) / tiles).clamp(1, most_keys.div_ceil(512).max(1))
}

/// Writes attention of one query for each sequence, or of a few, to the keys of a cache: what
/// generates text, token by token.
///
/// `queries` and `out` have a row for each query, those of a sequence one after the other, with the
/// heads side by side; of the keys of a sequence its last query sees all, and each one before it
/// one less. The heads that share one of keys, at most 64, are computed together, so that keys and
/// values are read once.
///
/// Each query's keys are taken in parts, whose results are joined in their order: the same bits
/// come out in each run. `room` is for those: a matrix of `f32` with a row for each part of each
/// query, of as many elements as a row of queries, and one with a row for each head of keys of each
/// part of each query, of a number for each head that shares it. [`parts`] says how many suit.
///
/// Of `attention` size and scale count. Heads have 64 or 128 elements, or a multiple of 8 below.
///
/// # Errors
///
/// [`AttentionError`]: extents that do not belong together, and what the launch refuses. Nothing is
/// written then.
///
/// # Examples
///
/// ```
/// use tilepipe::bf16;
/// use tilepipe_kernels::attention::{Attention, Cache, decode};
///
/// let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// let tokens = |value: f32, rows: usize, heads: usize| {
///     device.upload_2d(&vec![bf16::from_f32(value); rows * heads * 64], heads * 64)
/// };
/// // Two sequences of at most 100 keys with one head, which four heads of queries share.
/// let (queries, keys, values) = (tokens(0.5, 2, 4)?, tokens(1.0, 200, 1)?, tokens(3.0, 200, 1)?);
/// let lengths = device.upload(&[100_u32, 70])?;
/// let mut out = device.zeroed_2d::<bf16>(4 * 64, 2)?;
/// // Each in two parts.
/// let mut results = device.zeroed_2d::<f32>(4 * 64, 2 * 2)?;
/// let mut logarithms = device.zeroed_2d::<f32>(4, 2 * 2)?;
/// let pages: Option<(&tilepipe_host::Buffer<u32>, usize)> = None;
/// let cache = Cache { keys: &keys, values: &values, lengths: &lengths, pages };
/// let room = (&mut results, &mut logarithms);
/// decode(&device.stream()?, &queries, cache, &mut out, room, &Attention::new(64))?;
/// assert_eq!(out.download()?, [bf16::from_f32(3.0); 2 * 4 * 64]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decode<T: OperandElement>(
    stream: &Stream,
    queries: impl Argument<MatrixView<T>>,
    cache: Cache<
        impl Argument<MatrixView<T>>,
        impl Argument<MatrixView<T>>,
        impl Argument<Numbers>,
        impl Argument<Numbers>,
    >,
    out: impl Argument<MatrixViewMut<T>>,
    room: (impl Argument<PartsMut>, impl Argument<PartsMut>),
    attention: &Attention,
) -> Result<(), AttentionError> {
    let (queries, out) = (queries.bind(), out.bind());
    let (keys, values, lengths) = (cache.keys.bind(), cache.values.bind(), cache.lengths.bind());
    let (results, logarithms) = (room.0.bind(), room.1.bind());
    let pages = cache.pages.map(|(pages, tokens)| (pages.bind(), tokens));

    let head = attention.checked_head()?;
    let scale = attention.checked_scale()?;
    attention.check_head("decoding")?;
    attention.check_unshaped("decoding")?;
    refuse("decoding", [(!attention.is_without_window(), "a window")])?;
    let sequences = lengths.extent_1d().unwrap_or_default();
    let ([count, columns], [rows, key_columns]) = (extents(&queries), extents(&keys));
    let (heads, heads_of_keys) = (columns / head, key_columns / head);
    let shared = heads / heads_of_keys.max(1);
    let rows_of_one = match &pages {
        Some((_, tokens)) => *tokens,
        None => rows / sequences.max(1),
    };
    let parts = extents(&results)[0] / count.max(1);
    let fit = extents(&out) == [count, columns]
        && extents(&values) == [rows, key_columns]
        && ![count, columns, rows, key_columns, sequences, parts, rows_of_one, shared].contains(&0)
        && columns.is_multiple_of(head)
        && key_columns.is_multiple_of(head)
        && heads.is_multiple_of(heads_of_keys)
        && shared <= SHARED_HEADS
        && count.is_multiple_of(sequences)
        && rows.is_multiple_of(rows_of_one)
        && pages.as_ref().is_none_or(|(pages, tokens)| {
            tokens.is_multiple_of(KEYS) && pages.extent_1d().is_some_and(|pages| pages.is_multiple_of(sequences))
        });
    if !fit {
        let (queries, keys, values, out) = ([count, columns], [rows, key_columns], extents(&values), extents(&out));
        return Err(AttentionError::Cache { queries, keys, values, out, head, sequences, rows: rows_of_one });
    }
    expect("the room for results", extents(&results), [parts * count, columns])?;
    expect("the room for logarithms", extents(&logarithms), [parts * count * heads_of_keys, shared])?;

    let (padded, is_paged) = (head.next_power_of_two().max(64).to_string(), pages.is_some());
    let decoding = attention_decoding::INSTANCES.iter().find(|one| {
        has_elements::<T>(one)
            && has(one, "HEAD", &padded)
            && has(one, "PAGED", if is_paged { "true" } else { "false" })
    });
    let join = attention_join::INSTANCES.iter().find(|one| has_elements::<T>(one));
    let (Some(decoding), Some(join)) = (decoding, join) else { return Err(AttentionError::Head { head }) };

    // The extents have been found to fit.
    let unfit = || AttentionError::Head { head };
    let (read_results, read_logarithms) = (results.to_input(), logarithms.to_input());
    let pages = pages.map_or_else(|| lengths.clone(), |(pages, _)| pages);
    let tiles = count * parts * heads_of_keys;
    let arguments = [
        queries.rows_in_matrices([shared, head]).ok_or_else(unfit)?,
        keys.in_matrices([rows_of_one, head]).ok_or_else(unfit)?,
        values.in_matrices([rows_of_one, head]).ok_or_else(unfit)?,
        lengths,
        pages,
        Bound::scalar(scale * LOG2_E),
        results.rows_in_matrices([shared, head]).ok_or_else(unfit)?,
        logarithms,
    ];
    launch(stream, blocks(stream, tiles), decoding, arguments)?;
    let tiles = count * columns.div_ceil(128);
    let head = Bound::scalar(head as u32);
    launch(stream, small_blocks(stream, tiles), join, [read_results, read_logarithms, head, out])?;
    Ok(())
}

/// Keys of a tile where there are pages.
const KEYS: usize = 64;
