//! Elements of an output tile that are computed at one time and stored at a later one.

use super::super::arrangement::Arrangement;
use super::super::unrolled::unrolled;
use super::TileMut;
use crate::element::Element;
use crate::group::block::Thread;

impl<'b, T: Element, A: Arrangement, const LEN: usize, const THREADS: usize> TileMut<'_, 'b, [T; LEN], THREADS, A> {
    /// Computes the calling thread's elements for [`set_own`](Self::set_own): `value(e)` for each
    /// element `e` of the tile that it owns and that lies in the view. What remains of the array is
    /// zeros; an array of less than [`PER_THREAD`](Self::PER_THREAD) elements has the first ones.
    #[inline(always)]
    pub(crate) fn computed<const N: usize>(
        &self,
        thread: &Thread<'_, 'b, THREADS>,
        value: impl Fn(usize) -> T,
    ) -> [T; N] {
        let mut values = [T::zeroed(); N];
        unrolled::<N>(|nth| {
            if nth >= Self::PER_THREAD || !nth.is_multiple_of(Self::LANES) {
                return;
            }
            // `LANES` elements follow one another: all of them are asked for at once, so that they
            // are read at once.
            let element = self.element(thread, nth);
            let values = values.iter_mut().skip(nth).take(Self::LANES).enumerate();
            if element + Self::LANES <= self.len() {
                values.for_each(|(lane, to)| *to = value(element + lane));
            } else {
                let there = values.filter(|(lane, _)| element + lane < self.len());
                there.for_each(|(lane, to)| *to = value(element + lane));
            }
        });
        values
    }
}
