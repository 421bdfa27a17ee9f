//! The launches of attention's gradient.

use core::f32::consts::LOG2_E;

use tilepipe::launch::Instance;
use tilepipe::product::OperandElement;
use tilepipe::reduce::{Add, Unordered};
use tilepipe::{Input2D, NoSwizzle, Panels2, TileReduction, TilesMut2D};
use tilepipe_host::{Argument, Bound, Stream, launch};

use super::error::{AttentionError, expect, refuse};
use super::forward::{Attention, Size};
use super::gradient::{
    JOIN_TILE, QUERIES_OF_SUMS, Scores, attention_gradient, attention_gradient_join, attention_keys_gradient,
    attention_keys_gradient_alone, attention_queries_gradient, attention_row_products, attention_values_gradient,
};
use super::seen::{ALL, CAUSAL, WINDOW};
use super::shaped::{
    attention_keys_gradient_alone_shaped, attention_keys_gradient_shaped, attention_queries_gradient_shaped,
    attention_values_gradient_shaped,
};
use crate::instance::{blocks, extents, has, has_elements, small_blocks};
use crate::{MatrixView, MatrixViewMut};

/// The logarithms that [`forward_with_logarithms`](super::forward_with_logarithms) wrote.
pub type Logarithms = Input2D<'static, f32>;
/// Room for numbers of rows.
pub type Rows = TilesMut2D<'static, f32, 1, 128>;
/// Where the gradient of queries is added up, in an order of its own.
pub type SumsOfQueries =
    TileReduction<'static, f32, Unordered<Add>, Panels2<128, QUERIES_OF_SUMS, QUERIES_OF_SUMS>, NoSwizzle>;

/// Rows of the room that [`backward`] needs for so many sequences with so many heads of queries:
/// two for each head, with a number for each query of a sequence.
pub fn rows_of_room(sequences: usize, heads: usize) -> usize {
    2 * sequences * heads
}

/// Writes the gradients of queries, keys and values, from the gradient of the result.
///
/// `of` are queries, keys and values, as [`forward`](super::forward) takes them; `result` is what
/// [`forward_with_logarithms`](super::forward_with_logarithms) wrote of them, with its logarithms;
/// `gradient` is as large as the result, and `gradients` are as large as queries, keys and values.
/// `room` has [`rows_of_room`] rows of a number for each query of a sequence, which start at
/// multiples of 16 bytes as those of a `Buffer2D` do, and what is in it before does not matter.
///
/// Weights and their gradients are of `f32`, rounded to `T` before they multiply. The order of all
/// sums is fixed, so the same bits come out in each run.
///
/// Heads of more than 128 elements take one kernel for the gradient of keys and one for that of
/// values, so one product for each pair of tiles more. Where the order of sums does not matter,
/// [`backward_unordered`] has fewer products, and takes less time with many tokens.
///
/// # Errors
///
/// [`AttentionError`]: other matrices than these, and what `forward` refuses.
///
/// # Examples
///
/// ```
/// use tilepipe::bf16;
/// use tilepipe_kernels::attention::{Attention, backward, forward_with_logarithms, rows_of_room};
///
/// let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// let stream = device.stream()?;
/// let tokens = |value: f32, rows: usize| {
///     let elements = vec![bf16::from_f32(value); rows * 64];
///     device.upload_2d(&elements, 64)
/// };
/// let zeros = |rows: usize| device.zeroed_2d::<bf16>(64, rows);
/// let (queries, keys, values) = (tokens(0.5, 2)?, tokens(1.0, 4)?, tokens(3.0, 4)?);
/// let attention = Attention::new(64);
/// let (mut out, mut sums) = (zeros(2)?, device.zeroed_2d::<f32>(2, 1)?);
/// forward_with_logarithms(
///     &stream, &queries, &keys, &values, &mut out, &mut sums, &attention,
/// )?;
///
/// let gradient = tokens(1.0, 2)?;
/// let (mut of_queries, mut of_keys, mut of_values) = (zeros(2)?, zeros(4)?, zeros(4)?);
/// let mut room = device.zeroed_2d::<f32>(2, rows_of_room(1, 1))?;
/// let gradients = (&mut of_queries, &mut of_keys, &mut of_values);
/// let (of, result) = ((&queries, &keys, &values), (&out, &sums));
/// backward(&stream, of, result, &gradient, gradients, &mut room, &attention)?;
/// // Two queries, each with a weight of a quarter for each value.
/// assert_eq!(of_values.download()?, [bf16::from_f32(0.5); 4 * 64]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn backward<T: OperandElement>(
    stream: &Stream,
    of: (impl Argument<MatrixView<T>>, impl Argument<MatrixView<T>>, impl Argument<MatrixView<T>>),
    result: (impl Argument<MatrixView<T>>, impl Argument<Logarithms>),
    gradient: impl Argument<MatrixView<T>>,
    gradients: (impl Argument<MatrixViewMut<T>>, impl Argument<MatrixViewMut<T>>, impl Argument<MatrixViewMut<T>>),
    room: impl Argument<Rows>,
    attention: &Attention,
) -> Result<(), AttentionError> {
    let given = Given {
        of: [of.0.bind(), of.1.bind(), of.2.bind()],
        result: [result.0.bind(), result.1.bind()],
        gradient: gradient.bind(),
        gradients: [gradients.0.bind(), gradients.1.bind(), gradients.2.bind()],
        room: room.bind(),
        sums: None,
    };
    given.compute::<T>(stream, attention)
}

/// Columns of `sums` of [`backward_unordered`].
pub const COLUMNS_OF_SUMS: usize = QUERIES_OF_SUMS;

/// Rows of `sums` that [`backward_unordered`] needs for so many sequences with so many heads of so
/// many queries, each of [`COLUMNS_OF_SUMS`] numbers: 128 for each 64 queries of a head.
pub fn rows_of_sums(sequences: usize, heads: usize, queries: usize) -> usize {
    128 * sequences * heads * queries.div_ceil(QUERIES_OF_SUMS)
}

/// As [`backward`], with the gradient of the queries added up in whatever order the blocks come: it
/// may differ in its last bits from run to run. Those of keys and values are the same bits as those
/// of `backward`.
///
/// One kernel computes all three, by five products for each pair of tiles in place of seven. It
/// adds to `sums`, which has [`rows_of_sums`] rows of [`COLUMNS_OF_SUMS`] numbers: **it holds zeros
/// before, and other numbers afterwards.**
///
/// For heads of 72 to 128 elements, without a cap or slopes.
///
/// # Errors
///
/// [`AttentionError`]: as for `backward`, other heads, and a cap or slopes.
///
/// # Examples
///
/// ```
/// use tilepipe::bf16;
/// use tilepipe_kernels::attention::{
///     Attention, COLUMNS_OF_SUMS, backward_unordered, forward_with_logarithms, rows_of_room,
///     rows_of_sums,
/// };
///
/// let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// let stream = device.stream()?;
/// let tokens = |value: f32, rows: usize| {
///     let elements = vec![bf16::from_f32(value); rows * 128];
///     device.upload_2d(&elements, 128)
/// };
/// let zeros = |rows: usize| device.zeroed_2d::<bf16>(128, rows);
/// let (queries, keys, values) = (tokens(0.5, 2)?, tokens(1.0, 4)?, tokens(3.0, 4)?);
/// let attention = Attention::new(128);
/// let (mut out, mut logarithms) = (zeros(2)?, device.zeroed_2d::<f32>(2, 1)?);
/// forward_with_logarithms(
///     &stream, &queries, &keys, &values, &mut out, &mut logarithms, &attention,
/// )?;
///
/// let gradient = tokens(1.0, 2)?;
/// let (mut of_queries, mut of_keys, mut of_values) = (zeros(2)?, zeros(4)?, zeros(4)?);
/// let mut room = device.zeroed_2d::<f32>(2, rows_of_room(1, 1))?;
/// let mut sums = device.zeroed_2d::<f32>(COLUMNS_OF_SUMS, rows_of_sums(1, 1, 2))?;
/// let gradients = (&mut of_queries, &mut of_keys, &mut of_values);
/// let (of, result) = ((&queries, &keys, &values), (&out, &logarithms));
/// backward_unordered(
///     &stream, of, result, &gradient, gradients, (&mut room, &mut sums), &attention,
/// )?;
/// assert_eq!(of_values.download()?, [bf16::from_f32(0.5); 4 * 128]);
/// // All keys are alike, so no query would change a weight.
/// assert_eq!(of_queries.download()?, [bf16::ZERO; 2 * 128]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn backward_unordered<T: OperandElement>(
    stream: &Stream,
    of: (impl Argument<MatrixView<T>>, impl Argument<MatrixView<T>>, impl Argument<MatrixView<T>>),
    result: (impl Argument<MatrixView<T>>, impl Argument<Logarithms>),
    gradient: impl Argument<MatrixView<T>>,
    gradients: (impl Argument<MatrixViewMut<T>>, impl Argument<MatrixViewMut<T>>, impl Argument<MatrixViewMut<T>>),
    (room, sums): (impl Argument<Rows>, impl Argument<SumsOfQueries>),
    attention: &Attention,
) -> Result<(), AttentionError> {
    let given = Given {
        of: [of.0.bind(), of.1.bind(), of.2.bind()],
        result: [result.0.bind(), result.1.bind()],
        gradient: gradient.bind(),
        gradients: [gradients.0.bind(), gradients.1.bind(), gradients.2.bind()],
        room: room.bind(),
        sums: Some(sums.bind()),
    };
    given.compute::<T>(stream, attention)
}

/// The arguments of a gradient.
struct Given<'a> {
    of: [Bound<'a>; 3],
    result: [Bound<'a>; 2],
    gradient: Bound<'a>,
    gradients: [Bound<'a>; 3],
    room: Bound<'a>,
    /// Where the queries' gradient is added up, if it may be in any order.
    sums: Option<Bound<'a>>,
}

/// The most keys of a causal sequence whose gradient is computed row of tiles by row. (Measured:
/// docs/performance.md.)
const MOST_ROW_BY_ROW: usize = 2048;

impl<'a> Given<'a> {
    fn compute<T: OperandElement>(self, stream: &Stream, attention: &Attention) -> Result<(), AttentionError> {
        let Given { of: [queries, keys, values], result: [result, logarithms], gradient, gradients, room, sums } = self;
        let [of_queries, of_keys, of_values] = gradients;
        let size = Size::new(attention, [&queries, &keys, &values, &result])?;
        let shape = attention.shape(size.heads)?;
        expect("the result's gradient", extents(&gradient), extents(&queries))?;
        expect("the queries' gradient", extents(&of_queries), extents(&queries))?;
        expect("the keys' gradient", extents(&of_keys), extents(&keys))?;
        expect("the values' gradient", extents(&of_values), extents(&values))?;
        expect("logarithms", extents(&logarithms), size.logarithms())?;
        expect("the room", extents(&room), [rows_of_room(size.sequences, size.heads), size.queries])?;
        if let Some(sums) = &sums {
            let asked = [
                (size.padded() < 128, "heads of no more than 64 elements"),
                (size.padded() > 128, "heads of more than 128 elements"),
            ];
            refuse("unordered gradient", asked)?;
            attention.check_unshaped("unordered gradient")?;
            let wanted = [rows_of_sums(size.sequences, size.heads, size.queries), COLUMNS_OF_SUMS];
            expect("the room for sums", extents(sums), wanted)?;
        }

        let head = size.padded().to_string();
        let instance = |instances: &'static [Instance], mask: u32, is_it: &dyn Fn(&Instance) -> bool| {
            let mask = mask.to_string();
            let has_both = |one: &Instance| has(one, "MASK", &mask) && has(one, "HEAD", &head);
            let found = instances.iter().find(|one| has_elements::<T>(one) && has_both(one) && is_it(one));
            found.ok_or(AttentionError::Head { head: size.head })
        };
        let of_rows = attention_row_products::INSTANCES.iter().find(|one| has_elements::<T>(one));
        let of_rows = of_rows.ok_or(AttentionError::Head { head: size.head })?;
        let mask = if size.mask() == ALL { ALL } else { WINDOW };
        let row_by_row = size.mask() == CAUSAL && size.keys <= MOST_ROW_BY_ROW;
        let (any, in_order) = (|_: &Instance| true, |one: &Instance| has(one, "O", "Cyclic") == row_by_row);
        let by_queries = match shape {
            None => instance(&attention_queries_gradient::INSTANCES, mask, &any)?,
            Some(_) => instance(&attention_queries_gradient_shaped::INSTANCES, WINDOW, &any)?,
        };
        // Of keys and values one for both, or one for each.
        let (by_keys, by_values) = match (size.padded(), &shape) {
            (256, None) => (
                instance(&attention_keys_gradient_alone::INSTANCES, WINDOW, &any)?,
                Some(instance(&attention_values_gradient::INSTANCES, WINDOW, &any)?),
            ),
            (256, Some(_)) => (
                instance(&attention_keys_gradient_alone_shaped::INSTANCES, WINDOW, &any)?,
                Some(instance(&attention_values_gradient_shaped::INSTANCES, WINDOW, &any)?),
            ),
            (_, None) => (instance(&attention_keys_gradient::INSTANCES, WINDOW, &in_order)?, None),
            (_, Some(_)) => (instance(&attention_keys_gradient_shaped::INSTANCES, WINDOW, &any)?, None),
        };

        let numbers = room.to_input();
        let tiles = rows_of_room(size.sequences, size.heads) * size.queries.div_ceil(128);
        let head = Bound::scalar(size.head as u32);
        launch(stream, small_blocks(stream, tiles), of_rows, [result, gradient.clone(), logarithms, head, room])?;

        let scores = Scores { scale: size.scale, scale_of_powers: size.scale * LOG2_E, band: size.band() };
        let (scores, shape) = (Bound::scalar(scores), shape.as_ref().map(Bound::constant));
        let (queries, gradient) = (size.of_queries(queries)?, size.of_queries(gradient)?);
        let (keys, values) = (size.of_keys(keys)?, size.of_keys(values)?);
        let (of_keys, of_values) = (size.of_keys(of_keys)?, size.of_keys(of_values)?);
        // What a kernel takes that reads these matrices and writes those.
        let arguments = |read: &[&Bound<'a>], written: &[&Bound<'a>]| -> Vec<Bound<'a>> {
            let of_scores = [&numbers, &scores].into_iter().chain(&shape);
            read.iter().copied().chain(of_scores).chain(written.iter().copied()).cloned().collect()
        };
        let all = [&queries, &keys, &values, &gradient];
        // Of what goes over queries for a tile of keys.
        let grid = blocks(stream, size.keys.div_ceil(128) * size.heads_of_keys * size.sequences);
        if let Some(sums) = sums {
            let whole = instance(&attention_gradient::INSTANCES, WINDOW, &any)?;
            let join = attention_gradient_join::INSTANCES.iter().find(|one| has_elements::<T>(one));
            let join = join.ok_or(AttentionError::Head { head: size.head })?;
            let read = sums.to_input();
            launch(stream, grid, whole, arguments(&all, &[&of_keys, &of_values, &sums]))?;
            let [tokens, elements] = JOIN_TILE;
            let tiles = (size.sequences * size.queries).div_ceil(tokens) * (size.heads * size.head).div_ceil(elements);
            let [head, queries] = [size.head, size.queries].map(|number| Bound::scalar(number as u32));
            launch(stream, small_blocks(stream, tiles), join, [read, head, queries, of_queries])?;
            return Ok(());
        }
        let of_queries = size.of_queries(of_queries)?;
        let tiles = size.queries.div_ceil(128) * size.heads * size.sequences;
        launch(stream, blocks(stream, tiles), by_queries, arguments(&all, &[&of_queries]))?;
        match by_values {
            None => launch(stream, grid, by_keys, arguments(&all, &[&of_keys, &of_values]))?,
            Some(by_values) => {
                launch(stream, grid, by_keys, arguments(&all, &[&of_keys]))?;
                launch(stream, grid, by_values, arguments(&[&queries, &keys, &gradient], &[&of_values]))?;
            }
        }
        Ok(())
    }
}
