//! Which keys the queries of a tile see.

use core::ops::Range;

use tilepipe::{Input, Uniform};

/// How many keys a query sees before its own and behind it, for masks: the last query's own key is
/// the last one.
#[derive(Clone, Copy, Debug, PartialEq, tilepipe::Element)]
#[repr(C)]
pub struct Band {
    /// Before it.
    pub before: i32,
    /// Behind it.
    pub behind: i32,
}

/// Where a query of packed sequences has its keys.
#[derive(Clone, Copy, Debug, PartialEq, tilepipe::Element)]
#[repr(C)]
pub struct Place {
    /// The first key of its sequence.
    pub start: i32,
    /// Where those end.
    pub end: i32,
    /// Its own key, which may lie before the first one.
    pub own: i32,
}

/// A query sees all keys.
pub(super) const ALL: u32 = 0;
/// It sees the keys up to its own.
pub(super) const CAUSAL: u32 = 1;
/// It sees those of a [`Band`].
pub(super) const WINDOW: u32 = 2;

/// Which keys the queries of a tile see. Neither where a query's keys start nor where they end is
/// before that of an earlier query.
pub(super) trait Sees: Copy + Uniform {
    /// Whether every query sees the first key, if any.
    const FROM_FIRST: bool;
    /// Whether every query sees all keys.
    const ALL: bool = false;

    /// The keys that a query sees, by its place in the tile. They are none if the end is not behind
    /// the start.
    fn by(self, row: i32) -> Range<i32>;

    /// The place of the last query.
    fn last(self) -> i32;

    /// The key of the first query.
    fn own(self) -> i32;

    /// The tiles of so many keys that some query sees a part of, one at least.
    #[inline(always)]
    fn tiles(self, of: usize) -> Range<usize> {
        let (first, last) = (self.by(0).start as usize / of, self.by(self.last()).end.max(1) as usize);
        let end = last.div_ceil(of);
        first.min(end - 1)..end
    }

    /// The tiles of so many keys that every query sees all of.
    #[inline(always)]
    fn whole_tiles(self, of: usize) -> Range<usize> {
        let (start, end) = (self.by(self.last()).start, self.by(0).end);
        (start.max(0) as usize).div_ceil(of)..end.max(0) as usize / of
    }

    /// Of [`tiles`](Self::tiles) those that some query in these rows sees a part of, one at least.
    /// There are such queries.
    #[inline(always)]
    fn tiles_of(self, rows: Range<usize>, of: usize) -> Range<usize> {
        let (first, last) = (self.by(rows.start as i32), self.by(rows.end as i32 - 1));
        let end = (last.end.max(1) as usize).div_ceil(of);
        (first.start as usize / of).min(end - 1)..end
    }

    /// The tiles of so many keys that every query in these rows sees all of.
    #[inline(always)]
    fn whole_tiles_of(self, rows: Range<usize>, of: usize) -> Range<usize> {
        let (start, end) = (self.by(rows.end as i32 - 1).start, self.by(rows.start as i32).end);
        (start.max(0) as usize).div_ceil(of)..end.max(0) as usize / of
    }

    /// What a query sees of a tile of so many keys.
    #[inline(always)]
    fn of_tile(self, row: usize, tile: usize, of: usize) -> Range<i32> {
        let (Range { start, end }, first) = (self.by(row as i32), (tile * of) as i32);
        if Self::FROM_FIRST { 0..end - first } else { start - first..end - first }
    }
}

/// The keys of a sequence that begins with the first one.
#[derive(Clone, Copy)]
pub(super) struct Seen<const MASK: u32, const ROWS: usize> {
    /// The key of the tile's first query.
    own: i32,
    /// How many keys there are.
    keys: i32,
    band: Band,
}

impl<const MASK: u32, const ROWS: usize> Seen<MASK, ROWS> {
    /// Of a tile that begins at this row.
    #[inline(always)]
    pub(super) fn new(first: i32, queries: usize, keys: usize, band: Band) -> Self {
        Seen { own: first + keys as i32 - queries as i32, keys: keys as i32, band }
    }
}

impl<const MASK: u32, const ROWS: usize> Sees for Seen<MASK, ROWS> {
    const FROM_FIRST: bool = MASK != WINDOW;
    const ALL: bool = MASK == ALL;

    #[inline(always)]
    fn by(self, row: i32) -> Range<i32> {
        let own = self.own + row;
        match MASK {
            ALL => 0..self.keys,
            CAUSAL => 0..(own + 1).min(self.keys),
            _ => (own - self.band.before).max(0)..(own + self.band.behind + 1).min(self.keys),
        }
    }

    #[inline(always)]
    fn last(self) -> i32 {
        ROWS as i32 - 1
    }

    #[inline(always)]
    fn own(self) -> i32 {
        self.own
    }
}

/// The keys of several sequences, one after the other, of which a tile has queries of any.
#[derive(Clone, Copy)]
pub(super) struct SeenOfPacked<'k, 'l, const ROWS: usize> {
    places: &'l Input<'k, Place>,
    /// The tile's first query.
    first: usize,
    band: Band,
}

impl<'k, 'l, const ROWS: usize> SeenOfPacked<'k, 'l, ROWS> {
    #[inline(always)]
    pub(super) fn new(tile: usize, places: &'l Input<'k, Place>, band: Band) -> Self {
        SeenOfPacked { places, first: tile * ROWS, band }
    }
}

impl<const ROWS: usize> Sees for SeenOfPacked<'_, '_, ROWS> {
    const FROM_FIRST: bool = false;

    #[inline(always)]
    fn by(self, row: i32) -> Range<i32> {
        let Some(Place { start, end, own }) = self.places.get(self.first + row as usize) else { return 0..0 };
        // Kept within the sequence, so that they do not fall where one has more queries than keys.
        let within = |key: i32| key.max(start).min(end);
        within(own - self.band.before)..within(own + self.band.behind + 1)
    }

    #[inline(always)]
    fn last(self) -> i32 {
        (self.places.len() - self.first).min(ROWS) as i32 - 1
    }

    #[inline(always)]
    fn own(self) -> i32 {
        self.places.get(self.first).map_or(0, |place| place.own)
    }
}
