//! Attention of packed sequences, against sums in `f64`.

use tilepipe::product::OperandElement;
use tilepipe::{bf16, f16};
use tilepipe_host::{Device, Nothing};
use tilepipe_kernels::attention::{Attention, AttentionError, Sequences, forward_packed};
use tilepipe_runner::reference::attention::softmax_of;

use super::attention::assert_row;
use super::drawn::Checked;
use super::{Half, fractions, numbers};

/// Queries and keys of each sequence, heads of both, elements of a head, and the keys that a query
/// sees before its own and behind it.
#[derive(Clone, Debug)]
pub struct Case {
    sequences: Vec<[usize; 2]>,
    heads: [usize; 2],
    head: usize,
    window: [Option<usize>; 2],
}

impl Case {
    fn new(sequences: &[[usize; 2]], heads: [usize; 2], head: usize, window: [Option<usize>; 2]) -> Self {
        Case { sequences: sequences.to_vec(), heads, head, window }
    }

    /// Sequences of so many lengths, drawn at random up to the largest, of as many keys as queries.
    fn of_lengths(
        count: usize,
        longest: u32,
        seed: u64,
        heads: [usize; 2],
        head: usize,
        window: [Option<usize>; 2],
    ) -> Self {
        let sequences: Vec<_> = numbers(count, seed, longest + 1).map(|length| [length as usize; 2]).collect();
        Case::new(&sequences, heads, head, window)
    }

    /// One to eight sequences, of at most as many queries and keys in all as three sequences of so
    /// many, by these numbers.
    pub(super) fn drawn(most: usize, draw: [usize; 8]) -> Self {
        let [count, seed, other, shared, heads, head, mask, window] = draw;
        let (count, of_keys) = (1 + count % 8, 1 + heads % 3);
        let longest = (3 * most / 8) as u32;
        let (queries, keys) = (numbers(count, seed as u64, longest), numbers(count, other as u64, longest));
        // One key at least, and one query.
        let lengths = queries.zip(keys).map(|(queries, keys)| [queries as usize, keys as usize]);
        let sequences: Vec<_> = lengths.chain([[1, 1]]).collect();
        let window = match mask % 3 {
            0 => ALL,
            1 => CAUSAL,
            _ => [Some(window % most), Some(window / most % most)],
        };
        Case::new(
            &sequences,
            [of_keys * (1 + shared % 3), of_keys],
            [64, 128, 256, 8 * (1 + head / 8 % 32)][head % 4],
            window,
        )
    }

    /// The rows at which the sequences' queries or keys begin, and where the last ones end.
    fn offsets(&self, which: usize) -> Vec<usize> {
        let mut end = 0;
        let ends = self.sequences.iter().map(|lengths| {
            end += lengths[which];
            end
        });
        [0].into_iter().chain(ends).collect()
    }
}

const ALL: [Option<usize>; 2] = [None; 2];
const CAUSAL: [Option<usize>; 2] = [None, Some(0)];

/// Sequences that end in tiles and with them, empty ones, and ones of fewer keys than queries, of
/// all sizes of heads.
pub fn small() -> Vec<Case> {
    vec![
        Case::new(&[[1, 1]], [1, 1], 64, CAUSAL),
        Case::new(&[[128, 128], [128, 256]], [1, 1], 64, ALL),
        Case::new(&[[50, 60], [0, 20], [90, 0], [100, 130], [3, 3]], [2, 1], 64, ALL),
        Case::new(&[[50, 60], [0, 20], [90, 0], [100, 30], [3, 3]], [2, 2], 64, CAUSAL),
        Case::new(&[[70, 70]; 5], [2, 1], 128, CAUSAL),
        Case::new(&[[5, 190], [130, 4], [1, 1], [60, 61]], [1, 1], 128, ALL),
        Case::new(&[[140, 150], [10, 10], [60, 40]], [2, 1], 256, CAUSAL),
        Case::new(&[[90, 100], [40, 30]], [3, 3], 80, ALL),
        Case::new(&[[200, 180], [70, 300], [100, 100]], [1, 1], 64, [Some(40), Some(10)]),
    ]
}

/// Many sequences, several tiles for each block of a GPU.
pub fn large() -> Vec<Case> {
    vec![
        Case::of_lengths(60, 500, 31, [6, 2], 128, CAUSAL),
        Case::of_lengths(300, 90, 32, [5, 5], 64, ALL),
        Case::of_lengths(9, 3000, 33, [4, 1], 128, ALL),
        Case::of_lengths(20, 1000, 34, [2, 1], 256, CAUSAL),
        Case::of_lengths(20, 2000, 35, [4, 2], 64, [Some(300), Some(0)]),
    ]
}

/// Checks attention of both types, as `attention::check` does. Returns how many launches there
/// were.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element is another one.
pub fn check(device: &Device, cases: &[Case]) -> Result<usize, AttentionError> {
    for case in cases {
        case.check::<bf16>(device)?;
        case.check::<f16>(device)?;
    }
    Ok(4 * cases.len())
}

impl Checked for Case {
    fn launch<T: Half + OperandElement>(&self, device: &Device, elements: &[T]) -> Result<(), AttentionError> {
        let Case { sequences, heads: [heads, of_keys], head, window: [before, behind] } = self;
        let (of_query, of_key) = (self.offsets(0), self.offsets(1));
        let rows = [of_query[sequences.len()], of_key[sequences.len()]];
        let tokens = |rows: usize, columns: usize| device.upload_2d(&elements[..rows * columns], columns);
        let (q, k) = (tokens(rows[0], heads * head)?, tokens(rows[1], of_keys * head)?);
        let v = tokens(rows[1], of_keys * head)?;
        let mut out = device.zeroed_2d::<T>(heads * head, rows[0])?;
        let stream = device.stream()?;
        let packed = Sequences::new(&stream, &of_query, &of_key)?;
        let attention = Attention::new(*head).window(*before, *behind);
        forward_packed(&stream, &q, &k, &v, &mut out, Nothing, &packed, &attention)
    }

    fn check<T: Half + OperandElement>(&self, device: &Device) -> Result<(), AttentionError> {
        let Case { sequences, heads: [heads, of_keys], head, window } = self;
        let (heads, of_keys, head) = (*heads, *of_keys, *head);
        let (of_query, of_key) = (self.offsets(0), self.offsets(1));
        let (queries, keys) = (of_query[sequences.len()], of_key[sequences.len()]);
        let tokens = |rows: usize, heads: usize, seed| fractions::<T>(rows * heads * head, seed);
        let (q, k, v) = (tokens(queries, heads, 1), tokens(keys, of_keys, 2), tokens(keys, of_keys, 3));
        let (on_q, on_k) = (device.upload_2d(&q, heads * head)?, device.upload_2d(&k, of_keys * head)?);
        let on_v = device.upload_2d(&v, of_keys * head)?;
        let attention = Attention::new(head).window(window[0], window[1]);
        let stream = device.stream()?;
        let packed = Sequences::new(&stream, &of_query, &of_key)?;
        let mut first = device.filled_with_byte_2d::<T>(heads * head, queries, 0xEE)?;
        forward_packed(&stream, &on_q, &on_k, &on_v, &mut first, Nothing, &packed, &attention)?;
        let mut out = device.filled_with_byte_2d::<T>(heads * head, queries, 0xEE)?;
        let mut logarithms = device.filled_with_byte_2d::<f32>(queries, heads, 0xEE)?;
        forward_packed(&stream, &on_q, &on_k, &on_v, &mut out, &mut logarithms, &packed, &attention)?;
        let (first, found, logarithms) = (first.download()?, out.download()?, logarithms.download()?);
        let bytes = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
        assert_eq!(bytes(&first), bytes(&found), "{self:?}: other bits in a second launch");
        // All rows of small results, and of large ones about 300.
        let step = (queries * heads).div_ceil(300).max(1);
        for at in (0..queries * heads).rev().step_by(step) {
            let (row, of) = (at / heads, at % heads);
            // The last sequence that begins no later has the row: empty ones begin where it does.
            let sequence = of_query.partition_point(|start| *start <= row) - 1;
            let [own_queries, own_keys] = sequences[sequence];
            let own_key = (row - of_query[sequence] + own_keys) as i64 - own_queries as i64;
            let score = |key: usize, score: f64| {
                let between = own_key - key as i64;
                let [before, behind] = window.map(|keys| keys.map_or(i64::MAX, |keys| keys as i64));
                (between <= before && -between <= behind).then_some(score)
            };
            let shared = of / (heads / of_keys);
            let key = |key: usize| {
                let start = ((of_key[sequence] + key) * of_keys + shared) * head;
                (&k[start..][..head], &v[start..][..head])
            };
            let expected = softmax_of(&q[at * head..][..head], own_keys, key, score);
            let found = (&found[at * head..][..head], logarithms[of * queries + row]);
            assert_row(found, &expected, &format_args!("{self:?}: row {row} of head {of}"));
        }
        Ok(())
    }
}
