//! Attention, against sums in `f64`.

use tilepipe::product::OperandElement;
use tilepipe::{bf16, f16};
use tilepipe_host::Device;
use tilepipe_kernels::attention::{Attention, AttentionError, forward, forward_with_logarithms};
use tilepipe_runner::reference::attention::{Row, softmax_of};

use super::drawn::Checked;
use super::{Half, fractions};

/// Queries and keys of a sequence, heads of both, elements of a head, and whether a query sees the
/// keys up to its own.
#[derive(Clone, Debug)]
pub struct Case {
    queries: usize,
    keys: usize,
    heads: [usize; 2],
    head: usize,
    sequences: usize,
    /// Keys that a query sees before its own and behind it.
    window: [Option<usize>; 2],
    cap: Option<f32>,
    has_slopes: bool,
}

impl Case {
    const fn new(queries: usize, keys: usize, heads: [usize; 2], head: usize, causal: bool) -> Self {
        let window = [None, if causal { Some(0) } else { None }];
        Case { queries, keys, heads, head, sequences: 1, window, cap: None, has_slopes: false }
    }

    const fn sequences(self, sequences: usize) -> Self {
        Case { sequences, ..self }
    }

    const fn window(self, before: usize, behind: usize) -> Self {
        Case { window: [Some(before), Some(behind)], ..self }
    }

    const fn shaped(self, cap: Option<f32>, has_slopes: bool) -> Self {
        Case { cap, has_slopes, ..self }
    }
}

/// A tile in all and less, tiles that end anywhere, fewer keys than queries, and shared heads.
pub const SMALL: [Case; 24] = [
    Case::new(1, 1, [1, 1], 64, true),
    Case::new(192, 128, [1, 1], 64, false),
    Case::new(200, 300, [2, 1], 64, false),
    Case::new(200, 300, [2, 2], 64, true),
    Case::new(250, 210, [1, 1], 128, true),
    Case::new(100, 170, [4, 2], 128, false),
    Case::new(390, 241, [2, 1], 128, true),
    Case::new(400, 500, [1, 1], 64, false),
    // So many queries that three warpgroups share a tile.
    Case::new(4100, 60, [1, 1], 64, true),
    Case::new(4100, 140, [1, 1], 64, false),
    Case::new(4100, 140, [1, 1], 64, false).sequences(2),
    // Of these the first tile begins in front of each matrix.
    Case::new(2060, 40, [2, 1], 64, true).sequences(2),
    // So do these, whose warpgroups run apart.
    Case::new(4100, 60, [1, 1], 128, true),
    Case::new(520, 900, [1, 1], 64, false).window(800, 3),
    Case::new(200, 1600, [1, 1], 128, false).window(1540, 5),
    // Several sequences, whose tiles end with them.
    Case::new(130, 70, [2, 1], 64, true).sequences(3),
    Case::new(70, 150, [2, 2], 128, false).sequences(2),
    // Heads that are not as wide as a tile.
    Case::new(90, 100, [3, 1], 80, false).sequences(2),
    Case::new(90, 100, [2, 2], 8, true),
    Case::new(140, 100, [2, 1], 256, true),
    Case::new(60, 200, [1, 1], 160, false),
    // A window, of which some queries see nothing.
    Case::new(550, 400, [1, 1], 64, false).window(50, 20),
    Case::new(300, 300, [2, 1], 128, false).window(0, 0),
    Case::new(200, 333, [2, 2], 64, true).shaped(Some(3.0), true),
];

/// Several tiles for each block of a GPU, in both orders.
pub const LARGE: [Case; 20] = [
    Case::new(1000, 1500, [40, 8], 64, false),
    Case::new(1300, 1300, [50, 10], 64, true),
    Case::new(1111, 900, [37, 37], 128, false),
    Case::new(1500, 1600, [24, 8], 128, true),
    Case::new(4100, 700, [14, 7], 128, false),
    Case::new(4200, 700, [14, 7], 64, false),
    Case::new(4200, 1100, [3, 3], 64, true).sequences(2),
    Case::new(4300, 4100, [8, 8], 64, true),
    Case::new(4100, 4200, [8, 8], 128, true),
    Case::new(700, 800, [60, 60], 64, true),
    Case::new(1000, 1100, [20, 20], 256, false),
    Case::new(1200, 1000, [8, 4], 256, true).sequences(3),
    Case::new(900, 1000, [6, 2], 64, false).sequences(7),
    Case::new(777, 700, [5, 5], 128, true).sequences(9),
    Case::new(600, 700, [9, 3], 96, false).sequences(5),
    Case::new(4500, 4500, [6, 6], 128, false).window(1000, 0),
    Case::new(2500, 3000, [12, 6], 64, false).window(300, 200).sequences(2),
    Case::new(2500, 3000, [12, 6], 64, false).window(2000, 200).sequences(2),
    Case::new(4300, 4500, [6, 3], 128, false).window(3300, 0).sequences(2),
    Case::new(1500, 1600, [8, 8], 128, true).shaped(Some(5.0), true).sequences(2),
];

/// Scores of other shapes, of all sizes of heads.
pub const SHAPED: [Case; 4] = [
    Case::new(250, 300, [2, 1], 64, false).shaped(Some(2.0), false),
    Case::new(150, 300, [2, 1], 128, false).shaped(None, true).window(100, 100),
    Case::new(140, 200, [1, 1], 256, true).shaped(Some(4.0), true),
    Case::new(140, 150, [3, 3], 96, false).shaped(Some(4.0), true).sequences(2),
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
    /// A case of at most so many queries and keys, by these numbers.
    pub(super) fn drawn(most: usize, draw: [usize; 8]) -> Self {
        let [queries, keys, shared, heads, head, sequences, mask, window] = draw;
        let of_keys = 1 + heads % 3;
        let heads = [of_keys * (1 + shared % 3), of_keys];
        let head = [64, 128, 64, 128, 256, 8 * (1 + head / 8 % 32)][head % 6];
        let case = Case::new(1 + queries % most, 1 + keys % most, heads, head, mask.is_multiple_of(3));
        let case = case.sequences(1 + sequences % 3);
        match mask % 6 {
            1 => case.window(window % most, window / most % most),
            2 => case.shaped(Some(3.0), window.is_multiple_of(2)),
            _ => case,
        }
    }

    fn slopes(&self) -> Vec<f32> {
        let slope = |head: usize| if self.has_slopes { 0.5_f32.powi(head as i32 + 1) } else { 0.0 };
        (0..self.heads[0]).map(slope).collect()
    }

    fn attention(&self) -> Attention {
        let [before, behind] = self.window;
        let mut attention = Attention::new(self.head).window(before, behind).sequences(self.sequences);
        if let Some(cap) = self.cap {
            attention = attention.soft_cap(cap);
        }
        if self.has_slopes { attention.slopes(&self.slopes()) } else { attention }
    }
}

impl Checked for Case {
    fn launch<T: Half + OperandElement>(&self, device: &Device, elements: &[T]) -> Result<(), AttentionError> {
        let Case { queries, keys, heads: [heads, of_keys], head, sequences, .. } = *self;
        let tokens =
            |rows: usize, heads: usize| device.upload_2d(&elements[..sequences * rows * heads * head], heads * head);
        let (q, k, v) = (tokens(queries, heads)?, tokens(keys, of_keys)?, tokens(keys, of_keys)?);
        let mut out = device.zeroed_2d::<T>(heads * head, sequences * queries)?;
        forward(&device.stream()?, &q, &k, &v, &mut out, &self.attention())
    }

    fn check<T: Half + OperandElement>(&self, device: &Device) -> Result<(), AttentionError> {
        let Case { queries, keys, heads: [heads, of_keys], head, sequences, window, cap, .. } = *self;
        let tokens = |rows: usize, heads: usize, seed| fractions::<T>(sequences * rows * heads * head, seed);
        let (q, k, v) = (tokens(queries, heads, 1), tokens(keys, of_keys, 2), tokens(keys, of_keys, 3));
        let (on_q, on_k) = (device.upload_2d(&q, heads * head)?, device.upload_2d(&k, of_keys * head)?);
        let on_v = device.upload_2d(&v, of_keys * head)?;
        let (slopes, attention) = (self.slopes(), self.attention());
        let stream = device.stream()?;
        let run = || {
            let mut out = device.filled_with_byte_2d::<T>(heads * head, sequences * queries, 0xEE)?;
            forward(&stream, &on_q, &on_k, &on_v, &mut out, &attention)?;
            Ok::<_, AttentionError>(out.download()?)
        };
        let found = run()?;
        let mut out = device.filled_with_byte_2d::<T>(heads * head, sequences * queries, 0xEE)?;
        let mut logarithms = device.filled_with_byte_2d::<f32>(queries, sequences * heads, 0xEE)?;
        forward_with_logarithms(&stream, &on_q, &on_k, &on_v, &mut out, &mut logarithms, &attention)?;
        let (again, logarithms) = (out.download()?, logarithms.download()?);
        let bytes = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
        assert_eq!(bytes(&found), bytes(&again), "{self:?}: other bits in a second launch");
        // All rows of small results, and of large ones about 200, the last one too.
        let step = (sequences * queries * heads).div_ceil(200).max(1);
        for at in (0..sequences * queries * heads).rev().step_by(step) {
            let (row, of) = (at / heads, at % heads);
            let (sequence, query) = (row / queries, row % queries);
            let own = &q[at * head..][..head];
            let own_key = (query + keys) as i64 - queries as i64;
            let score = |key: usize, score: f64| {
                let between = own_key - key as i64;
                let [before, behind] = window.map(|keys| keys.map_or(i64::MAX, |keys| keys as i64));
                let capped = cap.map_or(score, |cap| f64::from(cap) * (score / f64::from(cap)).tanh());
                let is_seen = between <= before && -between <= behind;
                is_seen.then(|| capped - f64::from(slopes[of]) * between.abs() as f64)
            };
            let shared = of / (heads / of_keys);
            let key = |key: usize| {
                let start = ((sequence * keys + key) * of_keys + shared) * head;
                (&k[start..][..head], &v[start..][..head])
            };
            let expected = softmax_of(own, keys, key, score);
            let found = (&found[at * head..][..head], logarithms[(sequence * heads + of) * queries + query]);
            assert_row(found, &expected, &format_args!("{self:?}: query {row} of head {of}"));
        }
        Ok(())
    }
}

/// Asserts that a row and the logarithm of its weights are these, up to rounding.
pub(super) fn assert_row<T: Half>((found, logarithm): (&[T], f32), expected: &Row, of: &dyn core::fmt::Display) {
    let size = expected.size;
    for (found, sum) in found.iter().zip(&expected.sums) {
        let found: f64 = (*found).into();
        // Each weight is rounded to half a unit of its last place, and is relative to an
        // approximate power; the result is rounded once more.
        let bound = (size + sum.abs()) * 2.0_f64.powi(-T::FRACTION) + 1e-5;
        let error = (found - sum).abs();
        assert!(error <= bound, "{of}: {found} in place of {sum}");
    }
    let (found, logarithm) = (f64::from(logarithm), expected.logarithm);
    let is_it = if logarithm.is_finite() {
        (found - logarithm).abs() < 1e-4 * (1.0 + logarithm.abs())
    } else {
        found == logarithm
    };
    assert!(is_it, "{of}: a logarithm of {found} in place of {logarithm}");
}
