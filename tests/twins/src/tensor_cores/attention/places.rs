//! Where tiles, stages and barriers lie.

use tilepipe::entry::RawTensor;

use super::instance::{ALL, Band, CAUSAL, GROUP, Instance, SLICE, UNIT, WINDOW};
use crate::device::{block_index, grid_blocks};

/// The maps of a launch.
#[derive(Clone, Copy)]
pub(super) struct Maps {
    pub(super) queries: *const RawTensor,
    pub(super) keys: *const RawTensor,
    pub(super) values: *const RawTensor,
    pub(super) out: *const RawTensor,
}

/// The block's tiles of queries, in the order in which it computes them.
#[derive(Clone, Copy)]
pub(super) struct Tiles {
    /// Rows of tiles, and heads of all sequences.
    pub(super) down: u32,
    pub(super) across: u32,
    pub(super) block: u32,
    pub(super) grid: u32,
    /// Heads that are walked through from the last row to the first before the next ones, and which
    /// rounds of the grid go backwards, those of even index or of odd. (If not all tiles take as
    /// long.)
    pub(super) section: u32,
    pub(super) backwards: u32,
}

impl Tiles {
    #[inline(always)]
    pub(super) fn new<I: Instance>(queries: u32, across: u32) -> Self {
        let (block, grid) = (block_index() as u32, grid_blocks() as u32);
        let down = queries.div_ceil(I::ROWS);
        let rounds = 2 * grid;
        let section = (rounds >> down.trailing_zeros().min(rounds.trailing_zeros())).min(across).max(1);
        Tiles { down, across, block, grid, section, backwards: quotient(down * across + grid - 1, grid) % 2 }
    }

    /// Whether the block has a tile in this round.
    #[inline(always)]
    pub(super) fn has(&self, round: u32) -> bool {
        round * self.grid + self.block < self.down * self.across
    }

    /// The row of tiles and the head of the block's tile in this round.
    #[inline(always)]
    pub(super) fn place<I: Instance>(&self, round: u32) -> (u32, u32) {
        let first = round * self.grid;
        if I::MASK == ALL {
            return grouped(first + self.block, GROUP, self.down, self.across);
        }
        let of_round = if round % 2 == self.backwards { self.grid - 1 - self.block } else { self.block };
        let (head, up) = grouped(first + of_round, self.section, self.across, self.down);
        (self.down - 1 - up, head)
    }
}

/// The row and the column of tile `number` of `down` rows of `across` tiles, of which `group` at a
/// time are counted column by column.
#[inline(always)]
pub(super) fn grouped(number: u32, group: u32, down: u32, across: u32) -> (u32, u32) {
    let of_group = group * across;
    let nth = quotient(number, of_group);
    let rest = number - nth * of_group;
    let rows = (down - nth * group).min(group);
    let column = quotient(rest, rows);
    (nth * group + (rest - column * rows), column)
}

/// A quotient by a number that is not 0.
#[inline(always)]
pub(super) fn quotient(dividend: u32, divisor: u32) -> u32 {
    // SAFETY: a grid has blocks, and a matrix has rows and heads.
    unsafe { dividend.checked_div(divisor).unwrap_unchecked() }
}

/// What the queries of a tile see: `own` is the first one's own key.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub(super) own: i32,
    pub(super) keys: i32,
    pub(super) band: Band,
}

impl Seen {
    /// The first key that a query of the tile sees.
    #[inline(always)]
    pub(super) fn start<I: Instance>(&self, row: u32) -> i32 {
        if I::MASK == WINDOW { (self.own + row as i32 - self.band.before).max(0) } else { 0 }
    }

    /// Where the keys end that it sees; they are none if it is not behind the start.
    #[inline(always)]
    pub(super) fn end<I: Instance>(&self, row: u32) -> i32 {
        match I::MASK {
            ALL => self.keys,
            CAUSAL => (self.own + row as i32 + 1).min(self.keys),
            _ => (self.own + row as i32 + self.band.behind + 1).min(self.keys),
        }
    }

    /// The tiles of keys of which these rows see a part: the first one, and their end. There is one
    /// at least.
    #[inline(always)]
    pub(super) fn tiles<I: Instance>(&self, first: u32, last: u32) -> (u32, u32) {
        let end = (self.end::<I>(last).max(1) as u32).div_ceil(I::KEYS);
        ((self.start::<I>(first) as u32 / I::KEYS).min(end - 1), end)
    }

    /// The same of tiles that all of these rows see as a whole. They may be none.
    #[inline(always)]
    pub(super) fn whole_tiles<I: Instance>(&self, first: u32, last: u32) -> (u32, u32) {
        ((self.start::<I>(last) as u32).div_ceil(I::KEYS), self.end::<I>(first).max(0) as u32 / I::KEYS)
    }
}

/// Where a role is in a ring of stages.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) stage: u32,
    pub(super) parity: u32,
}

impl Turn {
    #[inline(always)]
    pub(super) fn after(self, stages: u32) -> Self {
        let Turn { stage, parity } = self;
        match stages {
            2 => Turn { stage: stage ^ 1, parity: parity ^ stage },
            _ if stage + 1 == stages => Turn { stage: 0, parity: parity ^ 1 },
            _ => Turn { stage: stage + 1, parity },
        }
    }
}

/// Where things lie in shared memory: keys from its start on, then values, queries, and mbarriers.
/// Each stage has two of these, for what is full and what is empty.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub(super) origin: u32,
}

impl Places {
    #[inline(always)]
    pub(super) fn values<I: Instance>() -> u32 {
        I::STAGES * I::KEY_BYTES
    }

    #[inline(always)]
    pub(super) fn queries<I: Instance>() -> u32 {
        2 * I::STAGES * I::KEY_BYTES
    }

    #[inline(always)]
    pub(super) fn barriers<I: Instance>(self) -> u32 {
        self.origin + Self::queries::<I>() + I::QUERIES * I::QUERY_BYTES
    }

    #[inline(always)]
    pub(super) fn key_full<I: Instance>(self, stage: u32) -> u32 {
        self.barriers::<I>() + 8 * stage
    }

    #[inline(always)]
    pub(super) fn key_empty<I: Instance>(self, stage: u32) -> u32 {
        self.key_full::<I>(stage) + 8 * I::STAGES
    }

    #[inline(always)]
    pub(super) fn value_full<I: Instance>(self, stage: u32) -> u32 {
        self.key_full::<I>(stage) + 16 * I::STAGES
    }

    #[inline(always)]
    pub(super) fn value_empty<I: Instance>(self, stage: u32) -> u32 {
        self.key_full::<I>(stage) + 24 * I::STAGES
    }

    #[inline(always)]
    pub(super) fn query_full<I: Instance>(self, stage: u32) -> u32 {
        self.barriers::<I>() + 32 * I::STAGES + 8 * stage
    }

    #[inline(always)]
    pub(super) fn query_empty<I: Instance>(self, stage: u32) -> u32 {
        self.query_full::<I>(stage) + 8 * I::QUERIES
    }
}

/// The descriptor of an operand with rows of 128 bytes that begins there, and whose panels are so
/// many bytes apart. Of operands along K that is not read.
#[inline(always)]
pub(super) fn descriptor(address: u32, panel: u32) -> u64 {
    u64::from((address & 0x3_FFFF) / UNIT) | u64::from(panel / UNIT) << 16 | 64 << 32 | 1 << 62
}

/// What the kernel is told of the matrices.
#[derive(Clone, Copy)]
pub(super) struct Extents {
    pub(super) tiles: Tiles,
    pub(super) queries: u32,
    pub(super) keys: u32,
    pub(super) heads: u32,
}

impl Extents {
    /// # Safety
    ///
    /// The maps are parameters of the kernel.
    #[inline(always)]
    pub(super) unsafe fn new<I: Instance>(maps: Maps) -> Self {
        // SAFETY: the caller's promise.
        let (queries, keys, heads, sequences) =
            unsafe { ((*maps.queries).rows, (*maps.keys).rows, (*maps.queries).outer[0], (*maps.queries).outer[1]) };
        Extents { tiles: Tiles::new::<I>(queries, heads * sequences), queries, keys, heads }
    }

    /// The first query of the tiles in a row of tiles; some may lie in front of the matrix.
    #[inline(always)]
    pub(super) fn first<I: Instance>(&self, row: u32) -> i32 {
        let more = self.tiles.down * I::ROWS - self.queries;
        let in_front = if I::FROM_END { more / SLICE * SLICE } else { 0 };
        (row * I::ROWS) as i32 - in_front as i32
    }

    /// What the queries of a tile see.
    #[inline(always)]
    pub(super) fn seen<I: Instance>(&self, row: u32, band: Band) -> Seen {
        let own = self.first::<I>(row) + self.keys as i32 - self.queries as i32;
        Seen { own, keys: self.keys as i32, band }
    }
}
