//! The loop of a matrix product: stages of two operands, multiplied by tensor cores.

pub(super) mod by_hand;
mod epilogue;
pub(super) mod factor_rows;
pub(super) mod room;
pub(super) mod rooms;
mod rows;
pub(super) mod turns;

use super::channel::Channel;
use super::end::Consumer;
use super::group::RoleGroup;
use super::map::{Warpgroups, sealed};
use crate::barrier::{Closed, ConsumerBarriers, EndBarriers};
use crate::fault;
use crate::isa::product::{GROUP_ROWS, WARPGROUP, check_warpgroups};
use crate::isa::{self, PendingGroups};
use crate::product::{Operand, Sums};
use crate::stage::contents::sealed::Contents as _;
use crate::stage::{self, StageSet};

/// How many products may still be in flight after a wait.
enum InFlight<const N: usize> {}
impl<const N: usize> PendingGroups for InFlight<N> {
    const GROUPS: usize = N;
}

impl<'r, R: Warpgroups, const SIZE: usize> RoleGroup<'r, R, SIZE> {
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
        mut consumer: Consumer<'r, K>,
        steps: usize,
    ) -> (Consumer<'r, K>, Result<Sums<'r, B::Width, SIZE>, Closed>)
    where
        K: Channel<To = R> + StageSet<Contents = (A, B)>,
        A: Operand,
        B: Operand<Element = A::Element>,
        (A, B): crate::stage::contents::Contents,
    {
        const {
            check_warpgroups(<R as sealed::Role>::MEMBERS);
            assert!(
                A::ROWS == SIZE / WARPGROUP * GROUP_ROWS,
                "each warpgroup multiplies 64 rows of A's tile: a role of 256 threads takes tiles of 128 rows"
            );
            assert!(A::DEEP == B::DEEP, "the tiles of both operands have the same number of elements along K");
            assert!(
                !<K::Contents as crate::stage::contents::sealed::Contents>::READ_BY_THREADS,
                "both tiles of the stage are `OperandTile`s"
            );
            assert!(K::COUNT >= 2, "a stage is multiplied while the one before it is still read: two stages at least");
        }
        // A loop counts in one register.
        let Some(steps) = u32::try_from(steps).ok().filter(|steps| *steps > 0) else {
            fault::out_of_range("a product of {} steps: there is {} at least, and fewer than 2^32", steps, 1);
        };
        let (memory, members) = (consumer.memory(), <R as sealed::Role>::MEMBERS);
        let barriers = ConsumerBarriers(memory);
        let mut state = *consumer.state();
        let mut sums = isa::Sums::<B::Width>::new(members);
        let [a, b] = const { K::Contents::OFFSETS };
        let (a, b) = (operand::<A>(memory.start(a)), operand::<B>(memory.start(b)));
        // SAFETY: role-level code of a role of warpgroups; the operands lie in shared memory.
        let operands = unsafe { isa::Operands::of_stages(members, [a, b]) };
        let mut done = 0;
        while done < steps {
            let Ok(number) = state.take_another(&barriers, u32::from(done > 0)) else { break };
            let first = memory.stage(number);
            // SAFETY: the consumers have the stage, and hand it back below, behind a wait for its
            // product.
            unsafe { isa::stage_multiplied(first, stage::bytes::<K>(), memory.empty(number)) };
            let factor = <A::Element as crate::product::sealed::OperandElement>::FACTOR;
            // SAFETY: role-level code of a role of warpgroups. Each thread has waited for the
            // stage, whose bulk copies have landed; its tiles start at whole periods
            // (`Contents::ALIGNMENT`). It is handed back behind the wait for this product, and the
            // sums stay where they are.
            unsafe {
                sums.multiply(factor, &operands, number * const { (K::STRIDE / isa::product::UNIT) as u32 }, done > 0)
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
