//! The products of a warpgroup, and what it makes of scores.

use core::mem::MaybeUninit;

use super::instance::{GROWTH, Instance, LEAST, ROW_BYTES, SLICE, STEP, UNIT, WARPGROUP, WINDOW};
use super::instructions::{
    tilepipe_exp2, tilepipe_fma_f32, tilepipe_product_commit, tilepipe_product_fence, tilepipe_rank_here,
    tilepipe_role_barrier, tilepipe_rounded_bf16, tilepipe_shuffle_across, tilepipe_thread_rank, tilepipe_warp_any,
};
use super::places::{Places, Seen, Turn};
use crate::device::{tilepipe_mbarrier_arrive, tilepipe_mbarrier_wait};

/// A warpgroup's products, and where it is.
pub(super) struct Group<I: Instance> {
    pub(super) places: Places,
    /// Its number, and whether the thread is its first one.
    pub(super) number: u32,
    pub(super) is_first: bool,
    pub(super) scale: f32,
    pub(super) scores: *mut f32,
    pub(super) weights: *mut u32,
    pub(super) sums: *mut f32,
    /// The first stages of keys and of values.
    pub(super) of_keys: u64,
    pub(super) of_values: u64,
    /// Where the next tile of keys is, and the next one of values: that of the tile of keys before.
    pub(super) keys: Turn,
    pub(super) values: Turn,
    /// Of the thread's two rows the score that their weights are relative to, what is added to each
    /// scaled score therefore, and the sums of the weights.
    pub(super) largest: [f32; 2],
    pub(super) offset: [f32; 2],
    pub(super) total: [f32; 2],
    pub(super) instance: core::marker::PhantomData<I>,
}

impl<I: Instance> Group<I> {
    /// Starts the product of the queries with the next tile of keys.
    ///
    /// # Safety
    ///
    /// All threads of the warpgroup, which have waited for both and fenced.
    #[inline(always)]
    pub(super) unsafe fn start_scores(&self, queries: u64) {
        let keys = self.of_keys + u64::from(self.keys.stage * (I::KEY_BYTES / UNIT));
        for step in 0..I::HEAD / STEP {
            let (panel, in_panel) = (step / 4, u64::from(step % 4 * 2));
            let from_queries = queries + u64::from(panel * I::ROWS * ROW_BYTES / UNIT) + in_panel;
            let from_keys = keys + u64::from(panel * I::KEYS * ROW_BYTES / UNIT) + in_panel;
            // SAFETY: the caller's promises.
            unsafe {
                match step {
                    0 => I::score(self.scores, from_queries, from_keys),
                    _ => I::score_more(self.scores, from_queries, from_keys),
                }
            }
        }
        tilepipe_product_commit();
    }

    /// Starts the product of the weights with the next tile of values.
    ///
    /// # Safety
    ///
    /// As for `start_scores`.
    #[inline(always)]
    pub(super) unsafe fn start_values(&self) {
        let values = self.of_values + u64::from(self.values.stage * (I::KEY_BYTES / UNIT));
        for step in 0..I::KEYS / STEP {
            let from_values = values + u64::from(step * STEP * ROW_BYTES / UNIT);
            // SAFETY: the caller's promises; the step's four registers.
            unsafe {
                let first = self.weights.add(4 * step as usize);
                let weights = [*first, *first.add(1), *first.add(2), *first.add(3)];
                I::add_values(self.sums, weights, from_values);
            }
        }
        tilepipe_product_commit();
    }

    /// Gives back the stage of keys that was read last.
    ///
    /// # Safety
    ///
    /// The product that reads it is complete.
    #[inline(always)]
    pub(super) unsafe fn give_back_keys(&self) {
        if self.is_first {
            // SAFETY: the caller's promise.
            unsafe { tilepipe_mbarrier_arrive(self.places.key_empty::<I>(self.keys.stage)) };
        }
    }

    /// The same of values.
    ///
    /// # Safety
    ///
    /// As for `give_back_keys`.
    #[inline(always)]
    pub(super) unsafe fn give_back_values(&self) {
        if self.is_first {
            // SAFETY: the caller's promise.
            unsafe { tilepipe_mbarrier_arrive(self.places.value_empty::<I>(self.values.stage)) };
        }
    }

    /// Goes on to the next stages.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        self.values = self.keys;
        self.keys = self.keys.after(I::STAGES);
    }

    /// Gives back tiles that none of the warpgroup's queries sees.
    ///
    /// # Safety
    ///
    /// All threads of the warpgroup.
    #[inline(always)]
    pub(super) unsafe fn skip(&mut self, tiles: u32) {
        for _ in 0..tiles {
            // SAFETY: all of the warpgroup's warps have seen the stages full before the first
            // thread gives them back: else they could be filled again first, and a warp that looks
            // then would wait for the wrong phase.
            unsafe {
                self.values = self.keys;
                tilepipe_mbarrier_wait(self.places.key_full::<I>(self.keys.stage), self.keys.parity);
                tilepipe_mbarrier_wait(self.places.value_full::<I>(self.values.stage), self.values.parity);
                tilepipe_role_barrier(1 + self.number, WARPGROUP);
                self.give_back_keys();
                self.give_back_values();
                self.advance();
            }
        }
    }

    /// Makes the scores of a tile minus infinity where a row does not see the key.
    ///
    /// # Safety
    ///
    /// The scores are complete.
    #[inline(always)]
    pub(super) unsafe fn mask(&self, seen: &Seen, tile: u32) {
        let (row, column) = first_sum();
        let (row, first) = (self.number * SLICE + row, (tile * I::KEYS + column) as i32);
        let start = [row, row + 8].map(|row| seen.start::<I>(row) - first);
        let end = [row, row + 8].map(|row| seen.end::<I>(row) - first);
        for at in 0..I::KEYS / 2 {
            let (nth, column) = ((at / 2 % 2) as usize, (at / 4 * 8 + at % 2) as i32);
            let is_seen = match I::MASK {
                // One comparison: what is before the start is above all numbers.
                WINDOW => ((column - start[nth]) as u32) < (end[nth] - start[nth]).max(0) as u32,
                _ => column < end[nth],
            };
            // SAFETY: one of the thread's registers.
            unsafe {
                let score = self.scores.add(at as usize);
                *score = if is_seen { *score } else { f32::NEG_INFINITY };
            }
        }
    }

    /// The largest scores of the thread's rows, in all their columns.
    ///
    /// # Safety
    ///
    /// The scores are complete.
    #[inline(always)]
    pub(super) unsafe fn largest(&self) -> [f32; 2] {
        // SAFETY: registers of the thread.
        let score = |at: u32| unsafe { *self.scores.add(at as usize) };
        let (mut even, mut odd) = ([score(0), score(2)], [score(1), score(3)]);
        for at in 2..I::KEYS / 4 {
            let nth = (at % 2) as usize;
            even[nth] = even[nth].max(score(2 * at));
            odd[nth] = odd[nth].max(score(2 * at + 1));
        }
        [0, 1].map(|nth| of_quad(even[nth].max(odd[nth]), f32::max))
    }

    /// Has weights be relative to these scores from here on.
    #[inline(always)]
    pub(super) fn relate(&mut self, largest: [f32; 2]) {
        self.largest = largest;
        self.offset = largest.map(|largest| -(largest * self.scale));
    }

    /// Makes weights of the scores, and adds them to the sums of their rows.
    ///
    /// # Safety
    ///
    /// The scores are complete.
    #[inline(always)]
    pub(super) unsafe fn weigh(&mut self) {
        let mut odd = [0.0; 2];
        for at in 0..I::KEYS / 2 {
            let nth = (at / 2 % 2) as usize;
            // SAFETY: one of the thread's registers.
            unsafe {
                let place = self.scores.add(at as usize);
                let weight = tilepipe_exp2(tilepipe_fma_f32(*place, self.scale, self.offset[nth]));
                *place = weight;
                match at % 2 {
                    0 => self.total[nth] += weight,
                    _ if at < 4 => odd[nth] = weight,
                    _ => odd[nth] += weight,
                }
            }
        }
        self.total = [self.total[0] + odd[0], self.total[1] + odd[1]];
    }

    /// Rounds the weights, as the left factor of the next product.
    ///
    /// # Safety
    ///
    /// The product that reads the ones before is complete.
    #[inline(always)]
    pub(super) unsafe fn round(&self) {
        // SAFETY: registers of the thread.
        unsafe {
            for pair in 0..I::KEYS as usize / 4 {
                *self.weights.add(pair) =
                    tilepipe_rounded_bf16(*self.scores.add(2 * pair), *self.scores.add(2 * pair + 1));
            }
        }
    }

    /// Multiplies the sums of the thread's two rows by two numbers.
    ///
    /// # Safety
    ///
    /// The sums are complete.
    #[inline(always)]
    pub(super) unsafe fn scale_sums(&self, by: [f32; 2]) {
        for at in 0..I::HEAD as usize / 2 {
            // SAFETY: one of the thread's registers.
            unsafe { *self.sums.add(at) *= by[at / 2 % 2] };
        }
    }

    /// The first tile of keys that the warpgroup sees: its scores and weights alone.
    ///
    /// # Safety
    ///
    /// All threads of the warpgroup, which have waited for the queries.
    #[inline(always)]
    pub(super) unsafe fn begin(&mut self, queries: u64, seen: &Seen, tile: u32) {
        // SAFETY: the caller's promises; the stage goes back when its product is complete.
        unsafe {
            tilepipe_mbarrier_wait(self.places.key_full::<I>(self.keys.stage), self.keys.parity);
            tilepipe_product_fence();
            self.start_scores(queries);
            I::wait_for_first(self.scores);
            self.give_back_keys();
            self.advance();
            self.mask(seen, tile);
            self.relate(self.largest().map(|largest| largest.max(LEAST)));
            self.total = [0.0; 2];
            self.weigh();
            self.round();
            for at in 0..I::HEAD as usize / 2 {
                *self.sums.add(at) = 0.0;
            }
        }
    }

    /// A further one: its scores are computed beside the values of the one before, and weights of
    /// them while those are on their way.
    ///
    /// # Safety
    ///
    /// As for `begin`, which came before.
    #[inline(always)]
    pub(super) unsafe fn go_on<const MASKED: bool>(&mut self, queries: u64, seen: &Seen, tile: u32) {
        // SAFETY: the caller's promises; stages go back when their products are complete.
        unsafe {
            tilepipe_mbarrier_wait(self.places.key_full::<I>(self.keys.stage), self.keys.parity);
            tilepipe_mbarrier_wait(self.places.value_full::<I>(self.values.stage), self.values.parity);
            I::hold_sums(self.sums);
            I::hold_weights(self.weights);
            tilepipe_product_fence();
            self.start_scores(queries);
            self.start_values();
            I::wait_for_scores(self.scores);
            self.give_back_keys();
            if MASKED {
                self.mask(seen, tile);
            }
            let largest = self.largest();
            let exceeds = |nth: usize| tilepipe_fma_f32(largest[nth], self.scale, self.offset[nth]) > GROWTH;
            let has_grown = tilepipe_warp_any(u32::from(exceeds(0) || exceeds(1))) != 0;
            let mut by = MaybeUninit::uninit();
            if has_grown {
                let before = self.offset;
                self.relate([0, 1].map(|nth| self.largest[nth].max(largest[nth])));
                let by = by.write([0, 1].map(|nth| tilepipe_exp2(self.offset[nth] - before[nth])));
                self.total = [self.total[0] * by[0], self.total[1] * by[1]];
            }
            self.weigh();
            I::wait_for_all(self.sums);
            I::hold_scores(self.scores);
            I::hold_weights(self.weights);
            self.give_back_values();
            self.advance();
            self.round();
            if has_grown {
                self.scale_sums(by.assume_init());
            }
        }
    }

    /// The values of the last one.
    ///
    /// # Safety
    ///
    /// As for `go_on`.
    #[inline(always)]
    pub(super) unsafe fn end(&mut self) {
        // SAFETY: as there.
        unsafe {
            tilepipe_mbarrier_wait(self.places.value_full::<I>(self.values.stage), self.values.parity);
            I::hold_sums(self.sums);
            I::hold_weights(self.weights);
            tilepipe_product_fence();
            self.start_values();
            self.total = self.total.map(|total| of_quad(total, |one, other| one + other));
            I::wait_for_all(self.sums);
            I::hold_weights(self.weights);
            self.give_back_values();
        }
    }
}

/// The row and the column of the calling thread's first sum in its warpgroup's. They are worked out
/// where this is, so that they take no register elsewhere.
#[inline(always)]
pub(super) fn first_sum() -> (u32, u32) {
    let rank = tilepipe_rank_here(tilepipe_thread_rank());
    (rank % WARPGROUP / 32 * 16 + rank % 32 / 4, rank % 4 * 2)
}

/// `combine` of the values of four lanes side by side, in all of them.
#[inline(always)]
pub(super) fn of_quad(value: f32, combine: impl Fn(f32, f32) -> f32) -> f32 {
    let step = |value: f32, bits: u32| {
        // SAFETY: all lanes are here.
        combine(value, f32::from_bits(unsafe { tilepipe_shuffle_across(u32::MAX, value.to_bits(), bits) }))
    };
    step(step(value, 1), 2)
}
