//! Numbers that look random, the same ones for the same seed.

/// SplitMix64.
pub struct Random(u64);

impl Random {
    /// Begins a sequence.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns the next number, below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    /// Puts the numbers below `count` in random order.
    pub fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_each_number_once_and_is_another_one_for_another_seed() {
        let of = |seed| Random::new(seed).order(20);
        for seed in 0..50 {
            let mut sorted = of(seed);
            sorted.sort_unstable();
            assert_eq!(sorted, (0..20).collect::<Vec<_>>());
        }
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        // Each number comes to each place.
        for (number, place) in (0..3).flat_map(|number| (0..3).map(move |place| (number, place))) {
            assert!((0..50).any(|seed| Random::new(seed).order(3)[place] == number), "{number} at {place}");
        }
        assert_eq!(Random::new(0).order(0), [0; 0]);
    }
}
