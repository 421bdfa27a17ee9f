//! The drivers that know a block's tiles.
//!
//! A block runs its tiles that lie within their views as a whole first, in a loop whose copies and
//! stores have no bounds checks. What is left, in most blocks nothing, takes a second loop with the
//! checks (measured: docs/decisions/51).

use super::for_each::Drained;
use super::ready::Ready;
use super::setup::Setup;
use super::steps::Idle;
use crate::fault;
use crate::output::destination::Destination;
use crate::stage::batches::Batches;
use crate::view::order::{SameOrder, check_same};

impl<'s, U: Setup, const STAGES: usize> Idle<'s, U, STAGES> {
    /// Runs the block's tiles of a view (or of several, as a tuple) through the pipeline in order:
    /// each stage is filled with the next tile ahead of time, `consume(tile, i)` reads it.
    ///
    /// [`for_each`](Self::for_each) with the fill written out; `consume` runs at the pipeline's own
    /// level.
    ///
    /// # Panics
    ///
    /// As `for_each`.
    #[inline(always)]
    #[track_caller]
    pub fn for_each_tile<B: Batches<U::Contents>>(
        self,
        batches: B,
        mut consume: impl for<'x> FnMut(&Ready<'x, U, U::View>, usize),
    ) -> Drained<'s, U, STAGES> {
        let numbers = batches.numbers();
        let whole = numbers.below(batches.whole_below());
        let (drained, next, number) = self.drive::<false>(
            whole,
            0,
            // SAFETY: the driver asks for stages of these numbers only. They are whole, and so the
            // share's: `whole_below` is at most its end.
            |stage, index| stage.copy(unsafe { batches.whole(index) }),
            &mut consume,
        );
        if B::ALL_WHOLE || number >= numbers.end() {
            return drained;
        }
        // SAFETY: the pipeline was idle, and the driver began with index 0.
        let idle = unsafe { drained.idle_after(next) };
        let (drained, ..) = idle.drive::<false>(
            numbers,
            next,
            // SAFETY: the driver asks for stages of the share only.
            |stage, index| stage.copy(unsafe { batches.source(index) }),
            consume,
        );
        drained
    }

    /// Computes each of the block's output tiles from the input tile of the same number (or from
    /// several inputs, as a tuple): `body(tile, out)` reads the one and writes the other.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
    ///
    /// /// `left + right`, in tiles of 64 elements with four stages of both.
    /// #[kernel]
    /// pub fn add(
    ///     block: Block<64>,
    ///     left: Tiles<f32, 64>,
    ///     right: Tiles<f32, 64>,
    ///     mut out: TilesMut<f32, 64>,
    ///     shared: Shared<Stages<([f32; 64], [f32; 64]), 4>>,
    /// ) {
    ///     let (lefts, rights) = (left.for_block(&block), right.for_block(&block));
    ///     let mut results = out.for_block(&block);
    ///     let pipeline = shared.pipeline(&block);
    ///     let _ = pipeline.map_tiles((&lefts, &rights), &mut results, |tiles, dst| {
    ///         let (left, right) = tiles.tiles();
    ///         block.threads(|t| dst.set(&t, left[t.rank()] + right[t.rank()]));
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let (left, right) = (device.upload(&[1.5; 1000])?, device.upload(&[2.0; 1000])?);
    /// # let mut out = device.zeroed(1000)?;
    /// # add::launch(&device.stream()?, 3, &left, &right, &mut out)?;
    /// # assert_eq!(out.download()?, [3.5; 1000]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// As `for_each`; or if there are fewer output tiles than input tiles, in an order other than
    /// [`Cyclic`](crate::Cyclic) if there are more or fewer.
    #[inline(always)]
    #[track_caller]
    pub fn map_tiles<B, D>(
        self,
        batches: B,
        results: &mut D,
        mut body: impl for<'x, 'v> FnMut(&Ready<'x, U, U::View>, D::Tile<'v>),
    ) -> Drained<'s, U, STAGES>
    where
        B: Batches<U::Contents>,
        D: Destination,
        B::Order: SameOrder<D::Order>,
    {
        let numbers = batches.numbers();
        check_same::<B::Order>(numbers, results.numbers());
        let whole = numbers.below(batches.whole_below().min(results.whole_below()));
        let (drained, next, number) = self.drive::<false>(
            whole,
            0,
            // SAFETY: the driver asks for stages of these numbers only. They are whole, and so the
            // share's: `whole_below` is at most its end.
            |stage, index| stage.copy(unsafe { batches.whole(index) }),
            // SAFETY: the driver reads tiles of these numbers only, whose output tiles exist and
            // are whole. `body` can't keep one of them: it takes them for every lifetime.
            |tile, index| body(tile, unsafe { results.whole(index) }),
        );
        if number >= numbers.end() {
            return drained;
        }
        let results_end = results.numbers().end();
        // Where all are whole, the first loop ended at the end of one of both.
        if B::ALL_WHOLE && D::ALL_WHOLE || numbers.has_beyond(results_end) {
            fault::results_end_early(results_end, numbers.end());
        }
        // SAFETY: the pipeline was idle, and the driver began with index 0.
        let idle = unsafe { drained.idle_after(next) };
        let (drained, ..) = idle.drive::<false>(
            numbers,
            next,
            // SAFETY: the driver asks for stages of the share only.
            |stage, index| stage.copy(unsafe { batches.source(index) }),
            // SAFETY: the driver reads tiles of the share only, and that many output tiles exist.
            // As above.
            |tile, index| body(tile, unsafe { results.tile(index) }),
        );
        drained
    }
}
