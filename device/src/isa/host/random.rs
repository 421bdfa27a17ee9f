//! The source of chance of random schedules.

use super::Schedule;

/// A xorshift generator.
///
/// # Invariants
///
/// 0. The state is not 0.
pub(super) struct Random(u64);

impl Random {
    /// The generator of a schedule in a block; what schedules other than `Schedule::Random` draw
    /// does not matter.
    pub(super) fn of(schedule: Schedule, block: u32) -> Self {
        match schedule {
            // Any odd multiplier spreads neighbouring blocks.
            Schedule::Random { seed } => Random::new(seed ^ u64::from(block).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            _ => Random::new(0),
        }
    }

    /// The generator that starts from `seed`.
    pub(super) const fn new(seed: u64) -> Self {
        // Both steps can be undone; they spread the bits of small seeds.
        let mixed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let state = mixed ^ (mixed >> 31);
        Random(if state == 0 { 1 } else { state })
    }

    /// Returns a generator of its own for another user of the same block.
    pub(super) fn fork(&mut self) -> Self {
        // `new` mixes the seed; otherwise both would draw the same sequence.
        Random::new(self.next())
    }

    /// Draws a number below `bound` (0 if that is 0).
    pub(super) fn draw(&mut self, bound: u64) -> u64 {
        let drawn = self.next();
        if bound == 0 { 0 } else { drawn % bound }
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
