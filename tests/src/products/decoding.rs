//! Attention of few queries to the keys of a cache, against sums in `f64`.

use tilepipe::product::OperandElement;
use tilepipe::{bf16, f16};
use tilepipe_host::{Buffer, Device};
use tilepipe_kernels::attention::{Attention, AttentionError, Cache, decode};
use tilepipe_runner::reference::attention::{Row, softmax_of};

use super::{Half, fractions};

/// Queries of a sequence, the keys of each sequence, heads of queries and of keys, elements of a
/// head, parts, and the tokens of a page if there are pages.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    queries: usize,
    lengths: &'static [u32],
    heads: [usize; 2],
    head: usize,
    parts: usize,
    page: Option<usize>,
}

/// One key and none, parts without keys, tiles that end anywhere, and pages out of order.
pub const SMALL: [Case; 8] = [
    Case { queries: 1, lengths: &[1], heads: [1, 1], head: 64, parts: 1, page: None },
    Case { queries: 1, lengths: &[200, 0, 63], heads: [4, 2], head: 64, parts: 3, page: None },
    Case { queries: 1, lengths: &[300, 500], heads: [8, 1], head: 128, parts: 5, page: None },
    Case { queries: 3, lengths: &[300, 2], heads: [4, 2], head: 128, parts: 2, page: None },
    Case { queries: 1, lengths: &[100, 130], heads: [64, 1], head: 80, parts: 2, page: None },
    Case { queries: 1, lengths: &[200, 1, 64], heads: [4, 2], head: 64, parts: 2, page: Some(64) },
    Case { queries: 2, lengths: &[500, 300], heads: [6, 2], head: 128, parts: 3, page: Some(128) },
    Case { queries: 1, lengths: &[400], heads: [5, 5], head: 8, parts: 40, page: Some(192) },
];

/// More tiles than a GPU has multiprocessors.
pub const LARGE: [Case; 4] = [
    Case { queries: 1, lengths: &[5000, 10, 9000, 7777], heads: [64, 8], head: 128, parts: 16, page: None },
    Case { queries: 4, lengths: &[3000, 4000], heads: [32, 8], head: 128, parts: 7, page: Some(64) },
    Case { queries: 1, lengths: &[20000], heads: [64, 8], head: 64, parts: 33, page: Some(256) },
    Case { queries: 2, lengths: &[900; 30], heads: [16, 16], head: 96, parts: 1, page: None },
];

/// Checks decoding of both types at these sizes: each element, or of many some, and that a second
/// launch writes the same bits, in which a full cache is said to have more keys than that. Returns
/// how many times it was done.
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

impl Case {
    fn check<T: Half + OperandElement>(self, device: &Device) -> Result<(), AttentionError> {
        let Case { queries, lengths, heads: [heads, of_keys], head, parts, page } = self;
        let tokens = |rows: usize, heads: usize, seed| fractions::<T>(rows * heads * head, seed);
        let sequences = lengths.len();
        let longest = lengths.iter().copied().max().unwrap_or(0) as usize;
        // The place of a key in the cache: those of pages lie in the order of another number.
        let of_page = page.unwrap_or(longest);
        let pages = longest.div_ceil(of_page);
        let count = sequences * pages;
        let step = (1..).map(|step| 2 * step + 1).find(|step| count % step != 0 || count == 1).unwrap_or(1);
        let number = |sequence: usize, page: usize| (sequence * pages + page) * step % count;
        let is_scattered = page.is_some()
            && (0..count).map(|at| at * step % count).collect::<std::collections::BTreeSet<_>>().len() == count;
        let page_of =
            |sequence: usize, page: usize| if is_scattered { number(sequence, page) } else { sequence * pages + page };
        let table: Vec<u32> = (0..count).map(|at| page_of(at / pages, at % pages) as u32).collect();

        let rows = count * of_page;
        let (q, k, v) = (tokens(sequences * queries, heads, 1), tokens(rows, of_keys, 2), tokens(rows, of_keys, 3));
        let (on_q, on_k) = (device.upload_2d(&q, heads * head)?, device.upload_2d(&k, of_keys * head)?);
        let (on_v, on_lengths, on_table) =
            (device.upload_2d(&v, of_keys * head)?, device.upload(lengths)?, device.upload(&table)?);
        let (stream, attention) = (device.stream()?, Attention::new(head));
        let shared = heads / of_keys;
        let run = |on_lengths: &Buffer<u32>| {
            let all = sequences * queries;
            let mut out = device.filled_with_byte_2d::<T>(heads * head, all, 0xEE)?;
            let mut results = device.filled_with_byte_2d::<f32>(heads * head, all * parts, 0xEE)?;
            let mut logarithms = device.filled_with_byte_2d::<f32>(shared, all * parts * of_keys, 0xEE)?;
            let pages: Option<(&Buffer<u32>, usize)> = page.map(|page| (&on_table, page));
            let cache = Cache { keys: &on_k, values: &on_v, lengths: on_lengths, pages };
            decode(&stream, &on_q, cache, &mut out, (&mut results, &mut logarithms), &attention)?;
            Ok::<_, AttentionError>(out.download()?)
        };
        // What has no row counts for none.
        let room = (pages * of_page) as u32;
        let beyond: Vec<u32> = lengths.iter().map(|keys| if *keys == room { u32::MAX - keys } else { *keys }).collect();
        let (found, again) = (run(&on_lengths)?, run(&device.upload(&beyond)?)?);
        let bytes = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
        assert_eq!(bytes(&found), bytes(&again), "{self:?}: other bits in a second launch");
        let all = sequences * queries * heads;
        for at in (0..all).rev().step_by(all.div_ceil(100).max(1)) {
            let (row, of) = (at / heads, at % heads);
            let (sequence, query) = (row / queries, row % queries);
            let seen = (lengths[sequence] as usize).saturating_sub(queries - 1 - query);
            let key = |key: usize| {
                let token = page_of(sequence, key / of_page) * of_page + key % of_page;
                let start = (token * of_keys + of / shared) * head;
                (&k[start..][..head], &v[start..][..head])
            };
            let Row { sums, size, .. } = softmax_of(&q[at * head..][..head], seen, key, |_, score| Some(score));
            for (found, sum) in found[at * head..][..head].iter().zip(sums) {
                let found: f64 = (*found).into();
                let bound = (size + sum.abs()) * 2.0_f64.powi(-T::FRACTION) + 1e-5;
                assert!((found - sum).abs() <= bound, "{self:?}: query {row} of head {of}: {found} in place of {sum}");
            }
        }
        Ok(())
    }
}
