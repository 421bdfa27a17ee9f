//! Attention, a row at a time, in `f64`.

/// A row of attention.
pub struct Row {
    /// The sums of the values, each times its weight, divided by the sum of the weights.
    pub sums: Vec<f64>,
    /// The weighted mean of the values' magnitudes, the largest of a column.
    pub size: f64,
    /// Of the sum of the weights.
    pub logarithm: f64,
}

/// A row of attention over so many keys, of which `score` is the score that a product makes, if the
/// key is seen.
pub fn softmax_of<'a, T: Copy + Into<f64> + 'a>(
    own: &[T],
    keys: usize,
    token: impl Fn(usize) -> (&'a [T], &'a [T]),
    score: impl Fn(usize, f64) -> Option<f64>,
) -> Row {
    let product = |key: usize| {
        let terms = own.iter().zip(token(key).0);
        terms.map(|(x, y)| (*x).into() * (*y).into()).sum::<f64>() / (own.len() as f64).sqrt()
    };
    let scores: Vec<(usize, f64)> = (0..keys).filter_map(|key| Some((key, score(key, product(key))?))).collect();
    let largest = scores.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<(usize, f64)> = scores.iter().map(|(key, score)| (*key, (score - largest).exp())).collect();
    let total = weights.iter().map(|(_, weight)| *weight).sum::<f64>();
    let (mut sums, mut sizes) = (vec![0.0; own.len()], vec![0.0_f64; own.len()]);
    for (key, weight) in &weights {
        for ((sum, size), value) in sums.iter_mut().zip(&mut sizes).zip(token(*key).1) {
            let term: f64 = weight / total.max(f64::MIN_POSITIVE) * (*value).into();
            *sum += term;
            *size += term.abs();
        }
    }
    Row { sums, size: sizes.into_iter().fold(0.0, f64::max), logarithm: total.ln() + largest }
}
