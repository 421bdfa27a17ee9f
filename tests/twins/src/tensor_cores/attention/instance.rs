//! What an instance says of itself.

/// Threads of a warpgroup, and the queries that it computes.
pub(super) const WARPGROUP: u32 = 128;
pub(super) const SLICE: u32 = 64;
/// Columns of a panel, and bytes of a row of it and of the rows of a warpgroup.
pub(super) const PANEL: u32 = 64;
pub(super) const ROW_BYTES: u32 = 2 * PANEL;
pub(super) const SLICE_BYTES: u32 = SLICE * ROW_BYTES;
/// Elements along K of one instruction.
pub(super) const STEP: u32 = 16;
/// What addresses count in in a descriptor.
pub(super) const UNIT: u32 = 16;
/// Rows of tiles that are walked down before the next head, where all tiles take as long.
pub(super) const GROUP: u32 = 1024;
/// What maxima begin with: less than any score, and a number.
pub(super) const LEAST: f32 = -1e30;
/// By how many powers of two scores may exceed the maximum that weights are relative to.
pub(super) const GROWTH: f32 = 8.0;
/// How long the cache keeps what was copied: queries are read once, keys and values by many.
pub(super) const READ_ONCE: u64 = 0x12F0_0000_0000_0000;
pub(super) const READ_AGAIN: u64 = 0x14F0_0000_0000_0000;

/// A query sees all keys.
pub(super) const ALL: u32 = 0;
/// It sees the keys up to its own.
pub(super) const CAUSAL: u32 = 1;
/// It sees those of a band around its own.
pub(super) const WINDOW: u32 = 2;

/// How many keys a query sees before its own and behind it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Band {
    pub(super) before: i32,
    pub(super) behind: i32,
}

/// An instance: its sizes, and the instructions of its products.
pub(super) trait Instance {
    /// Which keys a query sees.
    const MASK: u32;
    /// Whether tiles are counted back from the last query, so that it is the first one that may
    /// have fewer, by all of a warpgroup or of two.
    const FROM_END: bool;
    /// Elements of a head, and keys of a tile.
    const HEAD: u32;
    const KEYS: u32;
    /// Queries of a tile, 64 for each warpgroup that multiplies.
    const ROWS: u32;
    /// Stages of queries, and of keys and of values each.
    const QUERIES: u32;
    const STAGES: u32;

    const WARPGROUPS: u32 = Self::ROWS / SLICE;
    const QUERY_BYTES: u32 = 2 * Self::HEAD * Self::ROWS;
    const KEY_BYTES: u32 = 2 * Self::HEAD * Self::KEYS;
    const SHARED_BYTES: u32 = 2 * Self::STAGES * Self::KEY_BYTES
        + Self::QUERIES * Self::QUERY_BYTES
        + 8 * (4 * Self::STAGES + 2 * Self::QUERIES);

    /// A thread's registers: scores, their weights as a factor, and sums of values.
    type Scores;
    type Weights;
    type Sums;

    unsafe fn score(scores: *mut f32, queries: u64, keys: u64);
    unsafe fn score_more(scores: *mut f32, queries: u64, keys: u64);
    unsafe fn add_values(sums: *mut f32, weights: [u32; 4], values: u64);
    unsafe fn wait_for_first(scores: *mut f32);
    unsafe fn wait_for_scores(scores: *mut f32);
    unsafe fn wait_for_all(sums: *mut f32);
    /// No instructions: what was done to these registers stays before.
    unsafe fn hold_scores(scores: *mut f32);
    unsafe fn hold_weights(weights: *mut u32);
    unsafe fn hold_sums(sums: *mut f32);
}
