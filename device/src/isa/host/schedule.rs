//! When copies land.

/// When an asynchronous copy lands in the model of the CPU backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Schedule {
    /// As soon as it is issued.
    Eager,
    /// As late as the waits and barriers allow.
    #[default]
    Lazy,
    /// At any allowed moment, drawn from this seed and the block's index.
    Random {
        /// The seed; the same seed gives the same order.
        seed: u64,
    },
}
