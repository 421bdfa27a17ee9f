//! Drivers: both roles of one pipeline run the same number of stages.
//!
//! Both loops belong to the driver, so neither role can leave early, and nobody reads the closing
//! word of a stage.

mod elements;

use super::capture::Handed;
use super::channel::{Between, Channel};
use super::end::Ready;
use super::group::RoleGroup;
use super::links::{Ends, Link};
use super::map::sealed::Role as _;
use super::map::{Of, Role, Role0, Role1, RoleMap, Roles, sealed};
use super::outputs::RoleDestination;
use super::partition::{Partition, begin, end};
use super::result::RoleResult;
use super::run::{Run, fill_all, fill_tiles};
use crate::barrier::Memory;
use crate::fault;
use crate::isa::{self, Part};
use crate::marker::{RoleShared, Uniform};
use crate::memory::Shared;
use crate::output::destination::sealed::Destination as _;
use crate::stage::batches::Batches;
use crate::stage::{Stage, StageFilled, StageSet};
use crate::view::order::{SameOrder, check_same};

/// The pipeline of a partition in two roles.
type Pipe<L, M, P> = Between<L, Of<M, Role0>, Of<M, Role1>, P>;
/// Its memory.
type MemoryOf<'s, L, M, P> = Shared<'s, <Pipe<L, M, P> as StageSet>::Layout, <Pipe<L, M, P> as StageSet>::Position>;

impl<'b, 's, M, L, P, const THREADS: usize> Partition<'b, M, Link<'s, Pipe<L, M, P>>, (), THREADS>
where
    M: RoleMap + sealed::RoleMap<Count = Roles<2>>,
    Of<M, Role0>: Role,
    Of<M, Role1>: Role,
    Pipe<L, M, P>: Channel,
{
    /// Runs `count` stages from the first role to the second: `fill(stage, i)` fills each in the
    /// first one's threads; `body` is the closure of the second, as for [`role`](Self::role), and
    /// reads them by [`Run::for_each`].
    ///
    /// Both roles take the same number of steps by construction. Returns what `body` returned, and
    /// the pipeline's memory.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::role::{Partitioned, WarpRoles};
    /// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
    ///
    /// /// Each block writes the sum of its tiles.
    /// #[kernel]
    /// pub fn sums(
    ///     block: Block<96>,
    ///     input: Tiles<u32, 128>,
    ///     mut out: TilesMut<u32, 1>,
    ///     shared: Shared<Partitioned<Stages<[u32; 128], 3>>>,
    /// ) {
    ///     let tiles = input.for_block(&block);
    ///     let pipeline = block.partition::<WarpRoles<32, 64>>().pipeline(shared);
    ///     let (total, _) = pipeline.for_each_tile(&tiles, (), |group, run, ()| {
    ///         let mut sums = group.map(|_| 0);
    ///         run.for_each(|tile, _| {
    ///             group.update(&mut sums, |t, sum| *sum += tile[t.rank()] + tile[t.rank() + 64]);
    ///         });
    ///         group.reduce(&sums, |a, b| a + b)
    ///     });
    ///     let mut results = out.for_block(&block);
    ///     let dst = results.get_mut(0);
    ///     block.threads(|t| if t.rank() == 0 { dst.set_nth(&t, 0, total) });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let (input, mut out) = (device.upload(&[1; 128 * 7])?, device.zeroed(2)?);
    /// # sums::launch(&device.stream()?, 2, &input, &mut out)?;
    /// # assert_eq!(out.download()?, [512, 384]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn for_each<H, F, O>(
        self,
        count: usize,
        fill: impl for<'x> Fn(Stage<'x, Pipe<L, M, P>>, usize) -> StageFilled<'x, Pipe<L, M, P>> + Uniform + RoleShared,
        hand: H,
        body: F,
    ) -> (O, MemoryOf<'s, L, M, P>)
    where
        H: Handed<Of<M, Role1>>,
        F: for<'r> FnOnce(<Of<M, Role1> as Role>::Group<'r>, Run<'r, Pipe<L, M, P>>, H) -> O,
        F: Uniform + RoleShared,
        O: RoleResult<Of<M, Role1>>,
    {
        self.drive(count, |memory| fill_all::<_, true>(memory, count, &fill), |group, run| body(group, run, hand))
    }

    /// As [`for_each`](Self::for_each) with the block's tiles of a view, or of several as a tuple.
    #[inline(always)]
    pub fn for_each_tile<B, H, F, O>(self, batches: B, hand: H, body: F) -> (O, MemoryOf<'s, L, M, P>)
    where
        B: Batches<<Pipe<L, M, P> as StageSet>::Contents>,
        H: Handed<Of<M, Role1>>,
        F: for<'r> FnOnce(<Of<M, Role1> as Role>::Group<'r>, Run<'r, Pipe<L, M, P>>, H) -> O,
        F: Uniform + RoleShared,
        O: RoleResult<Of<M, Role1>>,
    {
        let count = batches.numbers().count();
        self.drive(count, |memory| fill_tiles(memory, batches, count), |group, run| body(group, run, hand))
    }

    /// Computes each of the block's output tiles from the input tile of the same number (or from
    /// several inputs, as a tuple): the first role copies, `body(group, tile, out)` in the second
    /// one reads the one and writes the other.
    ///
    /// Thread `r` of the second role owns the elements of an output tile that thread `r` of a block
    /// with that number of threads would own. In place of `&mut out` of a view `(outputs, out)`,
    /// memory of [`Outputs`](crate::Outputs) and a [`TensorMut`](crate::TensorMut) or a
    /// [`BulkTilesMut`](crate::BulkTilesMut), has the copy engine store them: `body` gets a
    /// [`Draft`](crate::Draft).
    ///
    /// The second role hands a stage back when `body` has returned.
    /// [`map_elements`](Self::map_elements) hands it back before the results are stored.
    ///
    /// CUDA: `with_specialized_staging_unified` of the programming guide.
    ///
    /// # Panics
    ///
    /// If there are fewer output tiles than input tiles, in an order other than
    /// [`Cyclic`](crate::Cyclic) if there are more or fewer.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::role::{EvenOdd, Partitioned};
    /// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
    ///
    /// /// Threads of even rank copy, those of odd rank compute.
    /// #[kernel]
    /// pub fn negate(
    ///     block: Block<64>,
    ///     input: Tiles<i32, 32>,
    ///     mut out: TilesMut<i32, 32>,
    ///     shared: Shared<Partitioned<Stages<[i32; 32], 2>>>,
    /// ) {
    ///     let tiles = input.for_block(&block);
    ///     let pipeline = block.partition::<EvenOdd<32>>().pipeline(shared);
    ///     let _ = pipeline.map_tiles(&tiles, &mut out, |odd, tile, dst| {
    ///         odd.threads(|t| dst.set(&t, -tile[t.rank()]));
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 6 });
    /// # let (input, mut out) = (device.upload(&[3; 100])?, device.zeroed(100)?);
    /// # negate::launch(&device.stream()?, 2, &input, &mut out)?;
    /// # assert_eq!(out.download()?, [-3; 100]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn map_tiles<B, D, F, const SIZE: usize>(self, batches: B, out: D, body: F) -> MemoryOf<'s, L, M, P>
    where
        Of<M, Role1>: for<'r> Role<Group<'r> = RoleGroup<'r, Of<M, Role1>, SIZE>>,
        B: Batches<<Pipe<L, M, P> as StageSet>::Contents>,
        D: RoleDestination<Of<M, Role1>, SIZE>,
        B::Order: SameOrder<D::Order>,
        F: for<'r, 'v> Fn(&RoleGroup<'r, Of<M, Role1>, SIZE>, &Ready<'r, Pipe<L, M, P>>, D::Tile<'v, 'r>),
        F: Uniform + RoleShared,
    {
        let numbers = batches.numbers();
        let count = numbers.count();
        let ((), memory) = self.drive(
            count,
            |memory| fill_tiles(memory, batches, count),
            |group, run| {
                let mut results = out.results(&group);
                check_same::<B::Order>(numbers, results.numbers());
                // The call is in one place, before the branch. If it were in one arm only, ptxas
                // would have the role's threads reconverge only at the partition's end, and the
                // time of a handover depends on where they reconverge (docs/decisions/32).
                let (there, wanted) = (results.count(), run.len());
                if there < wanted {
                    fault::too_few_results(there, wanted);
                }
                if numbers.counted_lies_below(run.len(), results.whole_below()) {
                    // SAFETY: the driver reads tiles of the share only, and the output tiles of
                    // these numbers are there and whole. `body` can't keep one of them: it takes
                    // them for every lifetime. The results stay where they are.
                    run.for_each(|tile, index| body(&group, tile, unsafe { D::whole(&mut results, index) }));
                } else {
                    // SAFETY: the driver reads tiles below `count` only, and that many output tiles
                    // are there. As above.
                    run.read::<false>(|tile, index| body(&group, tile, unsafe { D::tile(&mut results, index) }));
                }
            },
        );
        memory
    }

    /// Runs `produce` in the first role and `consume` in the second, which between them pass
    /// `count` stages.
    #[inline(always)]
    fn drive<O: RoleResult<Of<M, Role1>>>(
        self,
        count: usize,
        produce: impl FnOnce(Memory<Pipe<L, M, P>>),
        consume: impl for<'r> FnOnce(<Of<M, Role1> as Role>::Group<'r>, Run<'r, Pipe<L, M, P>>) -> O,
    ) -> (O, MemoryOf<'s, L, M, P>) {
        const {
            assert!(
                M::REGISTERS.is_none(),
                "the roles of a driver have the registers that the launch gave them: with a `Budget` give each role its closure, `.role(hand, closure)`"
            );
            assert!(
                !Of::<M, Role1>::APART,
                "the warpgroups of a driver's second role take the same steps: of an `Apart` map give each role its closure, `.role(hand, closure)`"
            );
        };
        let links = self.into_links();
        let memory = links.memory();
        // Only threads that copy take part in filling. The barriers do not count the others, which
        // have nothing to do.
        let copiers = Memory::<Pipe<L, M, P>>::COPIERS;
        // Neither end leaves early here, or waits for a limited time: the stages' barriers are all
        // that they use. SAFETY: one thread, before the others use the barriers (`begin`). The
        // link's memory is its own.
        let init = || unsafe { memory.init_stages(copiers) };
        // SAFETY: a partition exists in block-level code only (R2).
        unsafe { begin::<Link<'s, Pipe<L, M, P>>>(init) };
        let fill = || produce(memory);
        let read = || {
            let mut state = <Link<'s, Pipe<L, M, P>> as Ends<Role1>>::state();
            let mut left = count;
            // SAFETY: this is role-level code of the second role.
            let group = unsafe { Of::<M, Role1>::group() };
            // SAFETY: this is role-level code of the second role; the state is new, and there is no
            // other end.
            let consumer = unsafe { <Link<'s, Pipe<L, M, P>> as Ends<Role1>>::ends(&links, &mut state, None) };
            let result = consume(group, Run { consumer, count, left: &mut left });
            // The run was dropped or forgotten: its stages come nevertheless.
            // SAFETY: the run is gone with its end.
            let mut rest = unsafe { <Link<'s, Pipe<L, M, P>> as Ends<Role1>>::ends(&links, &mut state, None) };
            for _ in 0..left {
                rest = rest.wait_open().release();
            }
            // SAFETY: the block synchronises next.
            unsafe { result.publish() };
            result
        };
        let fill = Part { members: copiers, apart: false, body: fill };
        let read = Part { members: Of::<M, Role1>::MEMBERS, apart: false, body: read };
        // SAFETY: all threads of the block call this, and then `reconverge`. What the closures
        // capture is `Uniform` (the public functions ask for it), handed to one of them, or the
        // link's address.
        let (_, result) = unsafe { isa::divide((fill, read)) };
        // SAFETY: each thread of the block has been in one role, and all make this call.
        unsafe { isa::reconverge::<THREADS>() };
        // SAFETY: one thread; no thread uses the barriers any more: every stage was filled and
        // read, so that all arrivals have happened.
        let inval = |_: &_| unsafe { memory.inval_stages() };
        // SAFETY: this is after the block's barrier, and all copies have landed.
        let memory = unsafe { end(links, inval) };
        // SAFETY: this is after both barriers.
        (unsafe { O::collect(result) }, memory)
    }
}
