//! The loop of a matrix product: stages of two operands, multiplied by tensor cores.

pub(super) mod by_hand;
mod epilogue;
pub(super) mod factor_rows;
pub(super) mod room;
pub(super) mod rooms;
mod rows;
pub(super) mod turns;

use core::marker::PhantomData;

use super::channel::Channel;
use super::end::Consumer;
use super::group::RoleGroup;
use super::map::{Warpgroups, sealed};
use crate::barrier::{Closed, ConsumerBarriers, EndBarriers};
use crate::fault;
use crate::isa::product::{GROUP_ROWS, WARPGROUP, check_warpgroups};
use crate::isa::{self, Members, PendingGroups};
use crate::marker::{Brand, Uniform};
use crate::product::{Operand, Sums};
use crate::stage::contents::sealed::Contents as _;
use crate::stage::{self, StageSet};

/// How many products may still be in flight after a wait.
enum InFlight<const N: usize> {}
impl<const N: usize> PendingGroups for InFlight<N> {
    const GROUPS: usize = N;
}

/// Where the operands in a pipeline's stages lie for each warpgroup
/// ([`RoleGroup::stage_factors`](crate::role::RoleGroup::stage_factors)).
///
/// # Invariants
///
/// 0. `operands` are those in the stages of a pipeline `K` whose memory begins at `place`, found by
///    the warpgroups of the role that the brand says.
#[must_use = "factors do nothing by themselves: `group.multiply_by(&factors, ..)` multiplies them"]
pub struct StageFactors<'r, K> {
    operands: isa::Operands,
    place: u32,
    brand: Brand<'r>,
    pipeline: PhantomData<fn(K) -> K>,
}

impl<K> !Uniform for StageFactors<'_, K> {}

impl<'r, R: Warpgroups, const SIZE: usize> RoleGroup<'r, R, SIZE> {
    /// Finds, for each warpgroup, where the operands in a pipeline's stages lie: for several
    /// products, by [`multiply_by`](Self::multiply_by). [`multiply`](Self::multiply) finds them for
    /// each product, between its first wait and its start.
    ///
    /// PTX: `shfl.sync.idx`.
    ///
    /// # Threads
    ///
    /// As for [`multiply`](Self::multiply).
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::product::OperandTile;
    /// use tilepipe::role::{Partitioned, WarpRoles};
    /// use tilepipe::{
    ///     Block, Extents2, Outputs, Panels2, Shared, Stages, Swizzle128, Tensor, TensorMap,
    ///     TensorMut, TensorTile, bf16, kernel,
    /// };
    ///
    /// type Rows = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;
    /// type Panel = Panels2<64, 64, 32>;
    ///
    /// /// Writes `A * B^T`, of matrices with 64 columns.
    /// #[kernel(min_blocks = 1)]
    /// pub fn product(
    ///     block: Block<256>,
    ///     a: Tensor<bf16, Extents2<64, 64>, Swizzle128>,
    ///     b: Tensor<bf16, Extents2<64, 64>, Swizzle128>,
    ///     out: TensorMut<f32, Panel, Swizzle128>,
    ///     shared: Shared<(
    ///         Partitioned<Stages<(Rows, Rows), 2, TensorMap>>,
    ///         Outputs<TensorTile<f32, Panel, Swizzle128>, 2>,
    ///     )>,
    /// ) {
    ///     let (stages, outputs) = shared.split();
    ///     let places = out.tile_places(&block);
    ///     block
    ///         .partition::<WarpRoles<128, 128>>()
    ///         .pipeline(stages)
    ///         .role((), |_, mut producer, ()| {
    ///             for tile in places {
    ///                 let (row, column) = tile.get();
    ///                 let [row, column] = [row, column].map(|tile| 64 * tile as i32);
    ///                 let Ok(stage) = producer.acquire() else { return };
    ///                 producer = stage.copy((a.at(row, 0), b.at(column, 0))).commit();
    ///             }
    ///         })
    ///         .role((out, outputs), |group, mut consumer, (out, outputs)| {
    ///             let mut ring = outputs.outputs(&group, out);
    ///             let factors = group.stage_factors(&consumer);
    ///             for tile in places {
    ///                 let sums;
    ///                 (consumer, sums) = group.multiply_by(&factors, consumer, 1);
    ///                 let Ok(sums) = sums else { return };
    ///                 ring.store_sums(tile, &group, &sums, |_, _, sum| sum);
    ///             }
    ///         })
    ///         .run_last();
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let twos = |rows: usize| device.upload_2d(&vec![bf16::from_f32(2.0); rows * 64], 64);
    /// # let mut out = device.zeroed_2d::<f32>(192, 128)?;
    /// # product::launch(&device.stream()?, 2, &twos(128)?, &twos(192)?, &mut out)?;
    /// # assert_eq!(out.download()?, [4.0 * 64.0; 128 * 192]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn stage_factors<K, A, B>(&self, consumer: &Consumer<'r, K>) -> StageFactors<'r, K>
    where
        K: Channel<To = R> + StageSet<Contents = (A, B)>,
        A: Operand,
        B: Operand<Element = A::Element>,
        (A, B): crate::stage::contents::Contents,
    {
        const { check_multiplied::<K, A, B>(<R as sealed::Role>::MEMBERS, SIZE) };
        self.found(consumer)
    }

    /// [`stage_factors`](Self::stage_factors), of what was checked.
    #[inline(always)]
    fn found<K, A, B>(&self, consumer: &Consumer<'r, K>) -> StageFactors<'r, K>
    where
        K: Channel<To = R> + StageSet<Contents = (A, B)>,
        A: Operand,
        B: Operand<Element = A::Element>,
        (A, B): crate::stage::contents::Contents,
    {
        let memory = consumer.memory();
        let [a, b] = const { K::Contents::OFFSETS };
        let (a, b) = (operand::<A>(memory.start(a)), operand::<B>(memory.start(b)));
        // SAFETY: role-level code of a role of warpgroups; the operands lie in shared memory.
        let operands = unsafe { isa::Operands::of_stages(<R as sealed::Role>::MEMBERS, [a, b]) };
        StageFactors { operands, place: memory.start(0).offset, brand: PhantomData, pipeline: PhantomData }
    }

    /// Multiplies the operands of the next `steps` stages and adds the products up: the sums are
    /// `A * B^T`, where `A` is all first tiles side by side along K, and `B` all second ones. Rows
    /// in memory may lie across K too ([`Operand`]).
    ///
    /// The next stage is multiplied while the one before it is still read, which then goes back: a
    /// pipeline has two stages at least, and better four. All is complete when this returns. Each
    /// sum is of `f32`, in an order along K that is the same in each run.
    ///
    /// PTX for each stage: `mbarrier.try_wait`, `wgmma.fence`, `wgmma.mma_async` for each 32 bytes
    /// of a row, `wgmma.commit_group`, `wgmma.wait_group 1`, and for the stage before
    /// `bar.warp.sync` and `mbarrier.arrive` of one thread of each warp.
    ///
    /// CUDA: CUTLASS' `CollectiveMma` for `MainloopSm90TmaGmmaWarpSpecialized`.
    ///
    /// # Threads
    ///
    /// A role of warpgroups: four warps for each 64 rows of A's tile.
    ///
    /// # Errors
    ///
    /// [`Closed`] if the producers left before.
    ///
    /// # Panics
    ///
    /// If `steps` is 0.
    #[inline(always)]
    #[track_caller]
    pub fn multiply<K, A, B>(
        &self,
        consumer: Consumer<'r, K>,
        steps: usize,
    ) -> (Consumer<'r, K>, Result<Sums<'r, B::Width, SIZE>, Closed>)
    where
        K: Channel<To = R> + StageSet<Contents = (A, B)>,
        A: Operand,
        B: Operand<Element = A::Element>,
        (A, B): crate::stage::contents::Contents,
    {
        const { check_multiplied::<K, A, B>(<R as sealed::Role>::MEMBERS, SIZE) };
        let factors = self.found(&consumer);
        self.multiplied(&factors, consumer, steps)
    }

    /// As [`multiply`](Self::multiply), of operands whose places were found before: those of a
    /// pipeline with several products.
    ///
    /// # Threads
    ///
    /// As for [`multiply`](Self::multiply).
    ///
    /// # Errors
    ///
    /// [`Closed`] if the producers left before.
    ///
    /// # Panics
    ///
    /// If `steps` is 0, or the factors are those of another pipeline.
    #[inline(always)]
    #[track_caller]
    pub fn multiply_by<K, A, B>(
        &self,
        factors: &StageFactors<'r, K>,
        consumer: Consumer<'r, K>,
        steps: usize,
    ) -> (Consumer<'r, K>, Result<Sums<'r, B::Width, SIZE>, Closed>)
    where
        K: Channel<To = R> + StageSet<Contents = (A, B)>,
        A: Operand,
        B: Operand<Element = A::Element>,
        (A, B): crate::stage::contents::Contents,
    {
        const { check_multiplied::<K, A, B>(<R as sealed::Role>::MEMBERS, SIZE) };
        self.multiplied(factors, consumer, steps)
    }

    /// [`multiply_by`](Self::multiply_by), of what was checked.
    #[inline(always)]
    #[track_caller]
    fn multiplied<K, A, B>(
        &self,
        factors: &StageFactors<'r, K>,
        mut consumer: Consumer<'r, K>,
        steps: usize,
    ) -> (Consumer<'r, K>, Result<Sums<'r, B::Width, SIZE>, Closed>)
    where
        K: Channel<To = R> + StageSet<Contents = (A, B)>,
        A: Operand,
        B: Operand<Element = A::Element>,
        (A, B): crate::stage::contents::Contents,
    {
        // A loop counts in one register.
        let Some(steps) = u32::try_from(steps).ok().filter(|steps| *steps > 0) else {
            fault::out_of_range("a product of {} steps: there is {} at least, and fewer than 2^32", steps, 1);
        };
        let (memory, members) = (consumer.memory(), <R as sealed::Role>::MEMBERS);
        let barriers = ConsumerBarriers(memory);
        let mut state = *consumer.state();
        let mut sums = isa::Sums::<B::Width>::new(members);
        // The type says where a pipeline's memory is, and both numbers are constants.
        let place = memory.start(0).offset;
        if factors.place != place {
            let given = factors.place as usize;
            fault::out_of_range("factors of the pipeline at byte {} for the one at byte {}", given, place as usize);
        }
        let mut done = 0;
        while done < steps {
            let Ok(number) = state.take_another(&barriers, u32::from(done > 0)) else { break };
            let first = memory.stage(number);
            // SAFETY: the consumers have the stage, and hand it back below, behind a wait for its
            // product.
            unsafe { isa::stage_multiplied(first, stage::bytes::<K>(), memory.empty(number)) };
            let factor = <A::Element as crate::product::sealed::OperandElement>::FACTOR;
            // SAFETY: role-level code of the role of warpgroups that has found the operands, which
            // are those of this pipeline's first stage (`StageFactors`, 0; just checked). Each
            // thread has waited for the stage, whose bulk copies have landed; its tiles start at
            // whole periods (`Contents::ALIGNMENT`). It is handed back behind the wait for this
            // product, and the sums stay where they are.
            unsafe {
                sums.multiply(
                    factor,
                    &factors.operands,
                    number * const { (K::STRIDE / isa::product::UNIT) as u32 },
                    done > 0,
                )
            };
            // SAFETY: role-level code of the role whose sums they are.
            unsafe { sums.wait::<InFlight<1>>() };
            if done > 0 {
                // The stage before, whose product is complete.
                state.pass_oldest::<ConsumerBarriers<K>>(2, |stage| barriers.pass(stage));
            }
            done += 1;
        }
        // SAFETY: as above.
        unsafe { sums.wait::<InFlight<0>>() };
        if done > 0 {
            state.pass_oldest::<ConsumerBarriers<K>>(1, |stage| barriers.pass(stage));
        }
        *consumer.state() = state;
        // SAFETY: all products are complete, of which there was one at least.
        (consumer, if done == steps { Ok(unsafe { Sums::new(sums) }) } else { Err(Closed) })
    }
}

/// Refuses, at compile time, a role of so many threads that can't multiply the stages of `K`.
const fn check_multiplied<K, A, B>(members: Members, threads: usize)
where
    K: Channel + StageSet<Contents = (A, B)>,
    A: Operand,
    B: Operand,
    (A, B): crate::stage::contents::Contents,
{
    check_warpgroups(members);
    assert!(
        A::ROWS == threads / WARPGROUP * GROUP_ROWS,
        "each warpgroup multiplies 64 rows of A's tile: a role of 256 threads takes tiles of 128 rows"
    );
    assert!(A::DEEP == B::DEEP, "the tiles of both operands have the same number of elements along K");
    assert!(
        !<K::Contents as crate::stage::contents::sealed::Contents>::READ_BY_THREADS,
        "both tiles of the stage are `OperandTile`s"
    );
    assert!(K::COUNT >= 2, "a stage is multiplied while the one before it is still read: two stages at least");
}

/// The operand that begins there.
#[inline(always)]
fn operand<O: Operand>(start: isa::product::Start) -> isa::product::Operand {
    isa::product::Operand {
        start,
        further: 0,
        rows: O::ROWS,
        deep: O::DEEP,
        across: O::ACROSS,
        row_bytes: O::ROW_BYTES,
    }
}
