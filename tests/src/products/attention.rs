//! Attention, against sums in `f64`.

use tilepipe::product::OperandElement;
use tilepipe::{bf16, f16};
use tilepipe_host::Device;
use tilepipe_kernels::attention::{Attention, AttentionError, forward};

use super::{Half, numbers};

/// Queries and keys, heads of both, elements of a head, and whether a query sees the keys up to its
/// own.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    queries: usize,
    keys: usize,
    heads: [usize; 2],
    head: usize,
    causal: bool,
}

impl Case {
    const fn new(queries: usize, keys: usize, heads: [usize; 2], head: usize, causal: bool) -> Self {
        Case { queries, keys, heads, head, causal }
    }
}

/// A tile in all and less, tiles that end anywhere, fewer keys than queries, and shared heads.
pub const SMALL: [Case; 8] = [
    Case::new(1, 1, [1, 1], 64, true),
    Case::new(192, 128, [1, 1], 64, false),
    Case::new(200, 300, [2, 1], 64, false),
    Case::new(200, 300, [2, 2], 64, true),
    Case::new(250, 210, [1, 1], 128, true),
    Case::new(100, 170, [4, 2], 128, false),
    Case::new(390, 241, [2, 1], 128, true),
    Case::new(1100, 60, [1, 1], 64, true),
];

/// Several tiles for each block of a GPU, in both orders.
pub const LARGE: [Case; 7] = [
    Case::new(1000, 1500, [40, 8], 64, false),
    Case::new(1300, 1300, [50, 10], 64, true),
    Case::new(1111, 900, [37, 37], 128, false),
    Case::new(1500, 1600, [24, 8], 128, true),
    Case::new(4100, 700, [14, 7], 128, false),
    Case::new(4100, 4200, [8, 8], 128, true),
    Case::new(700, 800, [60, 60], 64, true),
];

/// Checks attention of both types at these sizes: each element, or of many some, and that a second
/// launch writes the same bits. Returns how many launches there were.
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
        let Case { queries, keys, heads: [heads, of_keys], head, causal } = self;
        let tokens = |rows: usize, heads: usize, seed| {
            let values = numbers(rows * heads * head, seed, 4001).map(|number| number as f32 / 1000.0 - 2.0);
            values.map(T::of).collect::<Vec<_>>()
        };
        let (q, k, v) = (tokens(queries, heads, 1), tokens(keys, of_keys, 2), tokens(keys, of_keys, 3));
        let (on_q, on_k) = (device.upload_2d(&q, heads * head)?, device.upload_2d(&k, of_keys * head)?);
        let on_v = device.upload_2d(&v, of_keys * head)?;
        let attention = if causal { Attention::new(head).causal() } else { Attention::new(head) };
        let stream = device.stream()?;
        let run = || {
            let mut out = device.filled_with_byte_2d::<T>(heads * head, queries, 0xEE)?;
            forward(&stream, &on_q, &on_k, &on_v, &mut out, attention)?;
            Ok::<_, AttentionError>(out.download()?)
        };
        let (found, again) = (run()?, run()?);
        let bytes = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
        assert_eq!(bytes(&found), bytes(&again), "{self:?}: other bits in a second launch");
        // All rows of small results, and of large ones about 200, the last one too.
        let step = (queries * heads).div_ceil(200).max(1);
        for at in (0..queries * heads).rev().step_by(step) {
            let (query, of) = (at / heads, at % heads);
            let own = &q[at * head..][..head];
            let seen = if causal { (query + 1 + keys).saturating_sub(queries).min(keys) } else { keys };
            let shared = of / (heads / of_keys);
            let (sums, size) = softmax_of(own, seen, |key| {
                let start = (key * of_keys + shared) * head;
                (&k[start..][..head], &v[start..][..head])
            });
            for (found, sum) in found[at * head..][..head].iter().zip(sums) {
                let found: f64 = (*found).into();
                // Each weight is rounded to half a unit of its last place, and is relative to an
                // approximate power; the result is rounded once more.
                let bound = (size + sum.abs()) * 2.0_f64.powi(-T::FRACTION) + 1e-5;
                let error = (found - sum).abs();
                assert!(error <= bound, "{self:?}: query {query} of head {of}: {found} in place of {sum}");
            }
        }
        Ok(())
    }
}

/// A row of attention, and the weighted mean of the values' magnitudes, the largest of a column.
fn softmax_of<'a, T: Half>(own: &[T], seen: usize, token: impl Fn(usize) -> (&'a [T], &'a [T])) -> (Vec<f64>, f64) {
    let scores: Vec<f64> = (0..seen)
        .map(|key| {
            let terms = own.iter().zip(token(key).0);
            terms.map(|(x, y)| (*x).into() * (*y).into()).sum::<f64>() / (own.len() as f64).sqrt()
        })
        .collect();
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let total = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let (mut sums, mut sizes) = (vec![0.0; own.len()], vec![0.0_f64; own.len()]);
    for (key, weight) in weights.iter().enumerate() {
        for ((sum, size), value) in sums.iter_mut().zip(&mut sizes).zip(token(key).1) {
            let term: f64 = weight / total * (*value).into();
            *sum += term;
            *size += term.abs();
        }
    }
    (sums, sizes.into_iter().fold(0.0, f64::max))
}
