//! What a pipeline remembers of how a stage was filled.

/// What a pipeline remembers of a filled stage: nothing, or whether there is a tile.
pub trait Presence: Copy {
    /// The most stages that a ring can have.
    const MOST_STAGES: usize;
    /// One for each stage of a ring.
    type Ring: Copy;
    /// A ring of empty stages.
    const EMPTY: Self::Ring;
    /// Remembers it for stage `index`.
    fn mark(self, ring: &mut Self::Ring, index: u32);
    /// What was remembered for stage `index`.
    fn of(ring: &Self::Ring, index: u32) -> Self;

    /// Whether producers have to tell the consumers, who have no ring in common with them.
    const TOLD: bool;
    /// The word that says it.
    fn to_word(self) -> u32;
    /// What the word says.
    fn from_word(word: u32) -> Self;
}

impl Presence for () {
    const MOST_STAGES: usize = usize::MAX;
    type Ring = ();
    const EMPTY: () = ();
    #[inline(always)]
    fn mark(self, (): &mut (), _: u32) {}
    #[inline(always)]
    fn of((): &(), _: u32) {}
    const TOLD: bool = false;
    #[inline(always)]
    fn to_word(self) -> u32 {
        1
    }
    #[inline(always)]
    fn from_word(_: u32) {}
}

/// A ring of at most 32 stages, one bit each.
impl Presence for bool {
    const MOST_STAGES: usize = 32;
    type Ring = u32;
    const EMPTY: u32 = 0;
    #[inline(always)]
    fn mark(self, ring: &mut u32, index: u32) {
        *ring = *ring & !(1 << index) | u32::from(self) << index;
    }
    #[inline(always)]
    fn of(ring: &u32, index: u32) -> bool {
        ring >> index & 1 != 0
    }
    const TOLD: bool = true;
    #[inline(always)]
    fn to_word(self) -> u32 {
        u32::from(self)
    }
    #[inline(always)]
    fn from_word(word: u32) -> bool {
        word != 0
    }
}
