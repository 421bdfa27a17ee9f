//! The gradient of attention, against sums in `f64`.

use tilepipe::product::OperandElement;
use tilepipe::{bf16, f16};
use tilepipe_host::Device;
use tilepipe_kernels::attention::{
    Attention, AttentionError, COLUMNS_OF_SUMS, backward, backward_unordered, forward_with_logarithms, rows_of_room,
    rows_of_sums,
};

use super::{Half, numbers};

/// Queries and keys of a sequence, heads of both, elements of a head, sequences, and the keys that
/// a query sees before its own and behind it.
#[derive(Clone, Debug)]
pub struct Case {
    queries: usize,
    keys: usize,
    heads: [usize; 2],
    head: usize,
    sequences: usize,
    window: [Option<usize>; 2],
    cap: Option<f32>,
    has_slopes: bool,
}

const ALL: [Option<usize>; 2] = [None, None];
const CAUSAL: [Option<usize>; 2] = [None, Some(0)];

impl Case {
    const fn new(
        tokens: [usize; 2],
        heads: [usize; 2],
        head: usize,
        sequences: usize,
        window: [Option<usize>; 2],
    ) -> Self {
        Case { queries: tokens[0], keys: tokens[1], heads, head, sequences, window, cap: None, has_slopes: false }
    }

    const fn shaped(self, cap: Option<f32>, has_slopes: bool) -> Self {
        Case { cap, has_slopes, ..self }
    }
}

/// A tile in all and less, tiles that end anywhere, shared heads, and queries that see nothing.
pub const SMALL: [Case; 19] = [
    Case::new([1, 1], [1, 1], 64, 1, ALL),
    Case::new([128, 128], [1, 1], 128, 1, ALL),
    Case::new([150, 200], [2, 1], 64, 1, ALL),
    Case::new([150, 200], [2, 2], 64, 1, CAUSAL),
    Case::new([200, 90], [2, 1], 128, 1, CAUSAL),
    // So many keys that their tiles are taken in groups.
    Case::new([60, 2100], [1, 1], 64, 1, CAUSAL),
    Case::new([70, 150], [2, 2], 80, 2, ALL),
    Case::new([160, 140], [1, 1], 8, 2, CAUSAL),
    Case::new([300, 280], [1, 1], 64, 1, [Some(40), Some(10)]),
    // Scores that are more than products.
    Case::new([150, 200], [4, 2], 64, 1, CAUSAL).shaped(Some(1.5), true),
    Case::new([140, 90], [2, 1], 128, 2, ALL).shaped(None, true),
    Case::new([90, 170], [2, 2], 96, 1, [Some(60), Some(30)]).shaped(Some(1.0), true),
    Case::new([70, 70], [1, 1], 64, 1, ALL).shaped(Some(0.5), false),
    // Heads whose keys and values have a kernel each. No query sees the first keys of the third.
    Case::new([40, 150], [2, 1], 256, 1, ALL),
    Case::new([150, 140], [1, 1], 136, 2, CAUSAL),
    Case::new([40, 200], [1, 1], 200, 1, [Some(30), Some(0)]),
    Case::new([140, 90], [2, 2], 256, 1, [Some(40), Some(10)]),
    Case::new([50, 140], [2, 1], 256, 1, CAUSAL).shaped(Some(1.5), true),
    Case::new([60, 50], [1, 1], 144, 2, ALL).shaped(None, true),
];

/// Several tiles for each block of a GPU.
pub const LARGE: [Case; 13] = [
    Case::new([700, 900], [40, 8], 64, 1, ALL),
    Case::new([1300, 1300], [20, 10], 64, 1, CAUSAL),
    Case::new([900, 800], [20, 20], 128, 2, ALL),
    Case::new([1100, 1100], [12, 4], 128, 3, CAUSAL),
    Case::new([600, 700], [9, 3], 96, 5, ALL),
    Case::new([300, 2200], [6, 3], 128, 1, CAUSAL),
    Case::new([1500, 1500], [10, 5], 128, 2, [Some(300), Some(0)]),
    Case::new([1100, 1200], [12, 4], 128, 1, CAUSAL).shaped(Some(1.5), true),
    Case::new([800, 700], [20, 10], 64, 2, ALL).shaped(Some(1.0), true),
    Case::new([900, 800], [20, 10], 256, 2, ALL),
    Case::new([1100, 1100], [12, 4], 256, 3, CAUSAL),
    Case::new([1500, 1400], [10, 5], 200, 2, [Some(300), Some(0)]),
    Case::new([800, 900], [16, 8], 256, 2, CAUSAL).shaped(Some(1.5), true),
];

/// Checks the gradients of both types at these sizes: each element, or of many some, and that a
/// second launch writes the same bits; and so those that are added up in any order. Returns how
/// often they were computed.
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

/// Checks that keys beyond the last one add nothing to the gradient of the queries, where all
/// scores are so low that such keys, of zeros, would weigh infinitely much. Returns how often
/// gradients were computed.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element is another one.
pub fn check_low_scores(device: &Device) -> Result<usize, AttentionError> {
    let sizes = [[70, 150], [64, 100], [200, 300]];
    for [queries, keys] in sizes {
        let near = |rows: usize, value: f32, seed| {
            let values = numbers(rows * 128, seed, 101).map(|number| value + number as f32 / 1000.0);
            device.upload_2d(&values.map(bf16::from_f32).collect::<Vec<_>>(), 128)
        };
        let (on_q, on_k, on_v, on_d) =
            (near(queries, 1.0, 1)?, near(keys, -1.0, 2)?, near(keys, 0.5, 3)?, near(queries, -0.2, 4)?);
        let (stream, attention) = (device.stream()?, Attention::new(128).scale(1.0));
        let zeros = |rows: usize| device.zeroed_2d::<bf16>(128, rows);
        let (mut out, mut logarithms) = (zeros(queries)?, device.zeroed_2d::<f32>(queries, 1)?);
        forward_with_logarithms(&stream, &on_q, &on_k, &on_v, &mut out, &mut logarithms, &attention)?;
        assert!(logarithms.download()?.iter().all(|logarithm| *logarithm < -100.0));
        let (mut room, mut sums) = (
            device.zeroed_2d::<f32>(queries, rows_of_room(1, 1))?,
            device.zeroed_2d(COLUMNS_OF_SUMS, rows_of_sums(1, 1, queries))?,
        );
        let (of, result) = ((&on_q, &on_k, &on_v), (&out, &logarithms));
        let (mut dq, mut dk, mut dv) = (zeros(queries)?, zeros(keys)?, zeros(keys)?);
        backward(&stream, of, result, &on_d, (&mut dq, &mut dk, &mut dv), &mut room, &attention)?;
        let wanted = dq.download()?;
        let gradients = (&mut dq, &mut dk, &mut dv);
        backward_unordered(&stream, of, result, &on_d, gradients, (&mut room, &mut sums), &attention)?;
        let largest = wanted.iter().map(|one| one.to_f32().abs()).fold(0.0, f32::max);
        assert!(largest > 0.0 && largest.is_finite());
        for (found, wanted) in dq.download()?.iter().zip(&wanted) {
            // A rounding of each of both, and sums in another order.
            let apart = (found.to_f32() - wanted.to_f32()).abs();
            assert!(apart <= largest / 64.0, "{queries} and {keys}: {found} in place of {wanted}");
        }
    }
    Ok(2 * sizes.len())
}

/// Rows of a head in a matrix of tokens, as `f64`.
struct Head<'a, T> {
    elements: &'a [T],
    heads: usize,
    size: usize,
}

impl<T: Half> Head<'_, T> {
    fn row(&self, token: usize, head: usize) -> Vec<f64> {
        let first = (token * self.heads + head) * self.size;
        self.elements[first..][..self.size].iter().map(|element| (*element).into()).collect()
    }
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(x, y)| x * y).sum()
}

/// Adds `factor` times a row, and to the second sums the magnitudes.
fn add(sums: &mut [f64], sizes: &mut [f64], factor: f64, row: &[f64]) {
    for ((sum, size), x) in sums.iter_mut().zip(sizes).zip(row) {
        *sum += factor * x;
        *size += (factor * x).abs();
    }
}

impl Case {
    fn check<T: Half + OperandElement>(&self, device: &Device) -> Result<(), AttentionError> {
        let Case { queries, keys, heads: [heads, of_keys], head, sequences, window, cap, has_slopes } = *self;
        let tokens = |rows: usize, heads: usize, seed| {
            let values =
                numbers(sequences * rows * heads * head, seed, 4001).map(|number| number as f32 / 2000.0 - 1.0);
            values.map(T::of).collect::<Vec<_>>()
        };
        let (q, k, v) = (tokens(queries, heads, 1), tokens(keys, of_keys, 2), tokens(keys, of_keys, 3));
        let d = tokens(queries, heads, 4);
        let upload = |elements: &[T], heads: usize| device.upload_2d(elements, heads * head);
        let (on_q, on_k, on_v, on_d) =
            (upload(&q, heads)?, upload(&k, of_keys)?, upload(&v, of_keys)?, upload(&d, heads)?);
        let lowered_by: Vec<f32> = (0..heads).map(|of| 0.25_f32.powi(1 + of as i32)).collect();
        let mut attention = Attention::new(head).window(window[0], window[1]).sequences(sequences);
        if let Some(cap) = cap {
            attention = attention.soft_cap(cap);
        }
        if has_slopes {
            attention = attention.slopes(&lowered_by);
        }
        let stream = device.stream()?;
        let poisoned =
            |rows: usize, heads: usize| device.filled_with_byte_2d::<T>(heads * head, sequences * rows, 0xEE);
        let mut out = poisoned(queries, heads)?;
        let mut logarithms = device.filled_with_byte_2d::<f32>(queries, sequences * heads, 0xEE)?;
        forward_with_logarithms(&stream, &on_q, &on_k, &on_v, &mut out, &mut logarithms, &attention)?;
        let run = || {
            let (mut dq, mut dk, mut dv) =
                (poisoned(queries, heads)?, poisoned(keys, of_keys)?, poisoned(keys, of_keys)?);
            let mut room = device.filled_with_byte_2d::<f32>(queries, rows_of_room(sequences, heads), 0xEE)?;
            let (of, result, gradients) = ((&on_q, &on_k, &on_v), (&out, &logarithms), (&mut dq, &mut dk, &mut dv));
            backward(&stream, of, result, &on_d, gradients, &mut room, &attention)?;
            Ok::<_, AttentionError>([dq.download()?, dk.download()?, dv.download()?])
        };
        let (found, again) = (run()?, run()?);
        let bytes = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
        for (one, other) in found.iter().zip(&again) {
            assert_eq!(bytes(one), bytes(other), "{self:?}: other bits in a second launch");
        }
        let unordered = || {
            let (mut dq, mut dk, mut dv) =
                (poisoned(queries, heads)?, poisoned(keys, of_keys)?, poisoned(keys, of_keys)?);
            let mut room = device.filled_with_byte_2d::<f32>(queries, rows_of_room(sequences, heads), 0xEE)?;
            let mut sums = device.zeroed_2d::<f32>(COLUMNS_OF_SUMS, rows_of_sums(sequences, heads, queries))?;
            let (of, result, gradients) = ((&on_q, &on_k, &on_v), (&out, &logarithms), (&mut dq, &mut dk, &mut dv));
            backward_unordered(&stream, of, result, &on_d, gradients, (&mut room, &mut sums), &attention)?;
            Ok::<_, AttentionError>([dq.download()?, dk.download()?, dv.download()?])
        };
        let is_refused = !(72..=128).contains(&head) || cap.is_some() || has_slopes;
        let unordered = match unordered() {
            Err(AttentionError::Without { .. }) if is_refused => None,
            other => Some(other?),
        };
        assert_eq!(unordered.is_none(), is_refused, "{self:?}");
        if let Some([_, of_k, of_v]) = &unordered {
            assert_eq!(bytes(of_k), bytes(&found[1]), "{self:?}: other bits of the keys' gradient");
            assert_eq!(bytes(of_v), bytes(&found[2]), "{self:?}: other bits of the values' gradient");
        }

        let scale = 1.0 / (head as f64).sqrt();
        let (q, d) = (Head { elements: &q, heads, size: head }, Head { elements: &d, heads, size: head });
        let (k, v) =
            (Head { elements: &k, heads: of_keys, size: head }, Head { elements: &v, heads: of_keys, size: head });
        let is_seen = |query: usize, key: usize| {
            let between = (query + keys) as i64 - queries as i64 - key as i64;
            let [before, behind] = window.map(|keys| keys.map_or(i64::MAX, |keys| keys as i64));
            between <= before && -between <= behind
        };
        // A score of a scaled product, and how much it changes with that.
        let shaped = |of: usize, query: usize, key: usize, x: f64| {
            let (score, steepness) = match cap.map(f64::from) {
                Some(cap) => (cap * (x / cap).tanh(), 1.0 - (x / cap).tanh().powi(2)),
                None => (x, 1.0),
            };
            let between = ((query + keys) as f64 - queries as f64 - key as f64).abs();
            (if has_slopes { score - f64::from(lowered_by[of]) * between } else { score }, steepness)
        };
        // Weights, gradients of the scaled products, and the magnitude of what these are
        // differences of, of one query of a head.
        let of_query = |sequence: usize, of: usize, query: usize| {
            let (row, shared) = (sequence * queries + query, of / (heads / of_keys));
            let (own, gradient) = (q.row(row, of), d.row(row, of));
            let seen: Vec<usize> = (0..keys).filter(|key| is_seen(query, *key)).collect();
            let score =
                |key: &usize| shaped(of, query, *key, product(&own, &k.row(sequence * keys + key, shared)) * scale);
            let (scores, steepness): (Vec<f64>, Vec<f64>) = seen.iter().map(score).unzip();
            let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
            let total: f64 = weights.iter().sum();
            let weights: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
            let of_weights: Vec<f64> =
                seen.iter().map(|key| product(&gradient, &v.row(sequence * keys + key, shared))).collect();
            let mean = product(&weights, &of_weights);
            let largest = of_weights.iter().fold(mean.abs(), |largest, one| largest.max(one.abs()));
            let slopes: Vec<f64> = weights
                .iter()
                .zip(&of_weights)
                .zip(&steepness)
                .map(|((weight, of), steep)| weight * (of - mean) * steep)
                .collect();
            (seen, weights, slopes, largest)
        };
        let unit = 2.0_f64.powi(-T::FRACTION);
        let compare = |what: &str, found: &[T], sums: &[f64], sizes: &[f64]| {
            let size = sizes.iter().copied().fold(0.0, f64::max);
            for (found, sum) in found.iter().zip(sums) {
                let found: f64 = (*found).into();
                assert!(
                    (found - sum).abs() <= (size + sum.abs()) * unit + 1e-5,
                    "{self:?}: {what}: {found} in place of {sum}, {size}"
                );
            }
        };
        let every = |count: usize| (0..count).rev().step_by(count.div_ceil(100).max(1));
        for at in every(sequences * heads * queries) {
            let (of, row) = (at % heads, at / heads);
            let (seen, weights, slopes, largest) = of_query(row / queries, of, row % queries);
            let (mut sums, mut sizes) = (vec![0.0; head], vec![0.0; head]);
            for ((key, weight), slope) in seen.iter().zip(&weights).zip(&slopes) {
                let key = k.row(row / queries * keys + key, of / (heads / of_keys));
                add(&mut sums, &mut vec![0.0; head], slope * scale, &key);
                // The result was rounded, and its product with the gradient is off by as much.
                add(&mut vec![0.0; head], &mut sizes, (slope.abs() + weight * largest) * scale, &key);
            }
            for one in [Some(&found), unordered.as_ref()].into_iter().flatten() {
                compare(&format!("query {row} of head {of}"), &one[0][at * head..][..head], &sums, &sizes);
            }
        }
        for at in (0..sequences * of_keys * keys).rev().step_by((sequences * of_keys * keys).div_ceil(12).max(1)) {
            let (of, row) = (at % of_keys, at / of_keys);
            let (sequence, key) = (row / keys, row % keys);
            let (mut of_key, mut key_sizes) = (vec![0.0; head], vec![0.0; head]);
            let (mut of_value, mut value_sizes) = (vec![0.0; head], vec![0.0; head]);
            for shared in of * (heads / of_keys)..(of + 1) * (heads / of_keys) {
                for query in (0..queries).filter(|query| is_seen(*query, key)) {
                    let (seen, weights, slopes, largest) = of_query(sequence, shared, query);
                    let Ok(place) = seen.binary_search(&key) else { continue };
                    let (own, gradient) =
                        (q.row(sequence * queries + query, shared), d.row(sequence * queries + query, shared));
                    add(&mut of_key, &mut vec![0.0; head], slopes[place] * scale, &own);
                    add(
                        &mut vec![0.0; head],
                        &mut key_sizes,
                        (slopes[place].abs() + weights[place] * largest) * scale,
                        &own,
                    );
                    add(&mut of_value, &mut value_sizes, weights[place], &gradient);
                }
            }
            compare(&format!("key {row} of head {of}"), &found[1][at * head..][..head], &of_key, &key_sizes);
            compare(&format!("value {row} of head {of}"), &found[2][at * head..][..head], &of_value, &value_sizes);
        }
        Ok(())
    }
}
