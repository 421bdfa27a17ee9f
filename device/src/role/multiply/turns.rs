//! Turns in which the warpgroups of a role start their products.

use super::super::group::RoleGroup;
use super::super::map::{Warpgroups, sealed};
use crate::group::block::Block;
use crate::isa;
use crate::isa::product::WARPGROUP;
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::memory::{Layout, Shared};
use core::marker::PhantomData;

/// Shared memory for the turns of `GROUPS` warpgroups, all those of a role: 8 bytes for each.
///
/// [`Shared::turns`] makes [`InTurn`] of it, or where warpgroups run [`Apart`](crate::role::Apart)
/// the block [prepares](Shared::prepare) it and [`PreparedTurns::turns`] does. Of no warpgroups,
/// `Turns<0>`, there are no turns, and no instructions for them: for a kernel of which some
/// instances take turns.
pub struct Turns<const GROUPS: usize>(());

// SAFETY: an mbarrier for each warpgroup, 8 bytes and aligned to 8, is all that is used.
unsafe impl<const GROUPS: usize> Layout for Turns<GROUPS> {
    const BYTES: usize = 8 * GROUPS;
    const ALIGNMENT: usize = 8;
    const STORES: bool = false;
}

/// Turns in which the warpgroups of a role start products
/// ([`RoleGroup::products_in_turn`](crate::role::RoleGroup::products_in_turn)).
///
/// Without turns warpgroups that compute for as long as tensor cores multiply for them fall into
/// some order, or wait for the tensor cores all at once. With turns one computes while those of the
/// others are multiplied for. Which is faster is to be measured.
///
/// CUDA: `OrderedSequenceBarrier` of CUTLASS, and the scheduler barriers of FlashAttention 3.
///
/// # Examples
///
/// ```
/// use tilepipe::product::OperandTile;
/// use tilepipe::role::{Partitioned, Product, Turns, WarpRoles};
/// use tilepipe::{
///     Block, Extents2, Outputs, Panels2, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorMut,
///     TensorTile, bf16, kernel,
/// };
///
/// type Rows = OperandTile<bf16, Extents2<128, 64>, Swizzle128>;
/// type Columns = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;
/// type Panel = Panels2<128, 64, 32>;
///
/// /// Writes `A * B^T`, of a matrix A of 128 rows and a matrix B of 128, in two products.
/// #[kernel(min_blocks = 1)]
/// pub fn both(
///     block: Block<384>,
///     a: Tensor<bf16, Extents2<128, 64>, Swizzle128>,
///     b: Tensor<bf16, Extents2<64, 64>, Swizzle128>,
///     out: TensorMut<f32, Panel, Swizzle128>,
///     shared: Shared<(
///         (Partitioned<Stages<Rows, 1, TensorMap>>, Partitioned<Stages<Columns, 2, TensorMap>>),
///         (Outputs<TensorTile<f32, Panel, Swizzle128>, 2>, Turns<2>),
///     )>,
/// ) {
///     let (stages, others) = shared.split();
///     let ((rows, columns), (outputs, turns)) = (stages.split(), others.split());
///     block
///         .partition::<WarpRoles<128, 256>>()
///         .pipeline(rows)
///         .pipeline(columns)
///         .role((), |_, (rows, mut columns), ()| {
///             let Ok(stage) = rows.acquire() else { return };
///             let _ = stage.copy(a.at(0, 0)).commit();
///             for first in [0, 64] {
///                 let Ok(stage) = columns.acquire() else { return };
///                 columns = stage.copy(b.at(first, 0)).commit();
///             }
///         })
///         .role((out, outputs, turns), |group, (rows, columns), (out, outputs, turns)| {
///             let (mut ring, mut turns) = (outputs.outputs(&group, out), turns.turns(&group));
///             let (Ok(rows), Ok(first)) = (rows.wait(), columns.wait()) else { return };
///             let ((_, rows), (end, first)) = (rows.hold(), first.hold());
///             let Ok((_, second)) = end.wait() else { return };
///             let [first, second] = [first, second].map(|tile| Product::of(&group, &rows, tile));
///             let mut store = |tile, sums: &_| ring.store_sums(tile, &group, sums, |_, _, it| it);
///             let ((), (sums, ..)) =
///                 group.products_in_turn(&mut turns, first, second, |(sums, ..)| store(0, &sums));
///             store(1, &sums);
///         })
///         .run_last();
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let twos = device.upload_2d(&[bf16::from_f32(2.0); 128 * 64], 64)?;
/// # let mut out = device.zeroed_2d::<f32>(128, 128)?;
/// # both::launch(&device.stream()?, 1, &twos, &twos, &mut out)?;
/// # assert_eq!(out.download()?, [4.0 * 64.0; 128 * 128]);
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
///
/// 0. `turns` are those of the role that the brand says, all of whose threads have met since their
///    barriers were made, and this value alone takes them.
#[must_use = "turns are taken by `group.products_in_turn(&mut turns, ..)`"]
pub struct InTurn<'r, const GROUPS: usize> {
    turns: Option<isa::Turns>,
    brand: Brand<'r>,
    level: BlockLevel,
}

impl<const GROUPS: usize> !Uniform for InTurn<'_, GROUPS> {}

/// Turns whose barriers the block has made, for a role whose warpgroups run
/// [`Apart`](crate::role::Apart): they don't meet at its start. Any role of so many warpgroups
/// takes it.
///
/// # Examples
///
/// ```
/// use tilepipe::product::OperandTile;
/// use tilepipe::role::{Apart, Partitioned, Product, Turns, WarpRoles};
/// use tilepipe::{
///     Block, Extents2, Outputs, Panels2, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorMut,
///     TensorTile, bf16, kernel,
/// };
///
/// type Rows = OperandTile<bf16, Extents2<128, 64>, Swizzle128>;
/// type Columns = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;
/// type Panel = Panels2<128, 64, 32>;
///
/// /// Writes twice the first 64 rows of `A * B^T`, of two products, and zeros.
/// #[kernel(min_blocks = 1)]
/// pub fn half(
///     block: Block<384>,
///     a: Tensor<bf16, Extents2<128, 64>, Swizzle128>,
///     b: Tensor<bf16, Extents2<64, 64>, Swizzle128>,
///     out: TensorMut<f32, Panel, Swizzle128>,
///     shared: Shared<(
///         (Partitioned<Stages<Rows, 1, TensorMap>>, Partitioned<Stages<Columns, 1, TensorMap>>),
///         (Outputs<TensorTile<f32, Panel, Swizzle128>, 1>, Turns<2>),
///     )>,
/// ) {
///     let (stages, others) = shared.split();
///     let ((rows, columns), (outputs, turns)) = (stages.split(), others.split());
///     let turns = turns.prepare(&block);
///     block
///         .partition::<Apart<WarpRoles<128, 256>>>()
///         .pipeline(rows)
///         .pipeline(columns)
///         .role((), |_, (rows, columns), ()| {
///             let Ok(stage) = rows.acquire() else { return };
///             let _ = stage.copy(a.at(0, 0)).commit();
///             let Ok(stage) = columns.acquire() else { return };
///             let _ = stage.copy(b.at(0, 0)).commit();
///         })
///         .role((out, outputs, turns), |group, (rows, columns), (out, outputs, turns)| {
///             let (mut ring, mut turns) = (outputs.outputs(&group, out), turns.turns(&group));
///             let Ok(rows) = rows.wait() else { return };
///             let Ok(columns) = columns.wait() else { return };
///             let ((_, rows), (_, columns)) = (rows.hold(), columns.hold());
///             let sums = if group.own_rows().start == 0 {
///                 let of = || Product::of(&group, &rows, &columns);
///                 let (older, (younger, ..)) =
///                     group.products_in_turn(&mut turns, of(), of(), |(sums, ..)| sums);
///                 older.zip(&group, &younger, |one, other| one + other)
///             } else {
///                 turns.pass(&group);
///                 group.sums(0.0)
///             };
///             ring.store_sums(0, &group, &sums, |_, _, it| it);
///         })
///         .run_last();
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let twos = device.upload_2d(&[bf16::from_f32(2.0); 128 * 64], 64)?;
/// # let few = device.upload_2d(&[bf16::from_f32(2.0); 64 * 64], 64)?;
/// # let mut out = device.zeroed_2d::<f32>(64, 128)?;
/// # half::launch(&device.stream()?, 1, &twos, &few, &mut out)?;
/// # let wanted = [[2.0 * 4.0 * 64.0; 64 * 64], [0.0; 64 * 64]];
/// # assert_eq!(out.download()?, wanted.as_flattened());
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
///
/// 0. In block-level code the barriers of `GROUPS` warpgroups were made in `memory`.
#[must_use = "it is handed to a role, which makes turns of it: `turns.turns(&group)`"]
pub struct PreparedTurns<'s, const GROUPS: usize, P> {
    memory: Shared<'s, Turns<GROUPS>, P>,
}

impl<P, const GROUPS: usize> PreparedTurns<'_, GROUPS, P> {
    /// Makes the turns: the first one is the first warpgroup's.
    ///
    /// PTX: none, but for what says which warpgroup the calling one is.
    ///
    /// # Threads
    ///
    /// A role of `GROUPS` warpgroups, to which this was handed, or of any number if `GROUPS` is 0.
    #[inline(always)]
    pub fn turns<'r, R: Warpgroups, const SIZE: usize>(self, group: &RoleGroup<'r, R, SIZE>) -> InTurn<'r, GROUPS> {
        const { check_groups(GROUPS, SIZE) };
        let _ = group;
        let mut turns = None;
        if const { GROUPS > 0 } {
            // SAFETY: (0) role-level code of a role of warpgroups (`RoleGroup`). The block made the
            // barriers (0), and all roles begin behind a barrier of the block; (1) `Shared` owns
            // this memory, and is gone; (2) such a role waits for a while where its warpgroups run
            // apart (`InTurn::wait`).
            turns = Some(unsafe { isa::Turns::of(self.memory.offset(), <R as sealed::Role>::MEMBERS) });
        }
        InTurn { turns, brand: PhantomData, level: PhantomData }
    }
}

/// Refuses turns of another number of warpgroups than a role of so many threads has.
const fn check_groups(groups: usize, threads: usize) {
    assert!(
        groups == 0 || groups == threads / WARPGROUP,
        "all warpgroups of a role take turns: a role of 256 threads takes `Turns<2>`, or `Turns<0>` for none"
    );
}

impl<'s, P, const GROUPS: usize> Shared<'s, Turns<GROUPS>, P> {
    /// Makes the barriers of this memory, for a role whose warpgroups run
    /// [`Apart`](crate::role::Apart).
    ///
    /// PTX: `mbarrier.init` for each warpgroup.
    ///
    /// # Threads
    ///
    /// The block.
    #[inline(always)]
    pub fn prepare<const THREADS: usize>(self, block: &Block<THREADS>) -> PreparedTurns<'s, GROUPS, P> {
        let _ = block;
        // SAFETY: (0) block-level code, of which one thread runs this; (1) `Shared` owns this
        // memory, and the result keeps it.
        isa::for_first_member(isa::Members::FIRST, || unsafe { isa::Turns::init(self.offset(), GROUPS) });
        PreparedTurns { memory: self }
    }

    /// Makes turns of this memory: the first one is the first warpgroup's.
    ///
    /// PTX: `mbarrier.init` for each warpgroup, `barrier.sync` of the role.
    ///
    /// # Threads
    ///
    /// A role of `GROUPS` warpgroups, to which the memory was handed, or of any number if `GROUPS`
    /// is 0.
    #[inline(always)]
    pub fn turns<'r, R: Warpgroups, const SIZE: usize>(self, group: &RoleGroup<'r, R, SIZE>) -> InTurn<'r, GROUPS> {
        const {
            check_groups(GROUPS, SIZE);
            assert!(
                GROUPS == 0 || !R::APART,
                "the warpgroups of an `Apart` role don't meet at its start: have the block make the barriers, \
                 `let turns = turns.prepare(&block)`, and hand that over"
            );
        }
        let _ = group;
        let mut turns = None;
        if const { GROUPS > 0 } {
            let (offset, members) = (self.offset(), <R as sealed::Role>::MEMBERS);
            // SAFETY: (0) role-level code of a role of warpgroups (`RoleGroup`), of which one
            // thread runs this; (1) `Shared` owns this memory, and is gone.
            isa::for_first_member(members, || unsafe { isa::Turns::init(offset, GROUPS) });
            // SAFETY: (0) there is a barrier between this and the waits; (1) as above.
            turns = Some(unsafe { isa::Turns::of(offset, members) });
            // SAFETY: role-level code of a role of whole warps, all of whose threads make the call.
            unsafe { isa::role_barrier(<R as sealed::Role>::BARRIER_ID, members) };
        }
        InTurn { turns, brand: PhantomData, level: PhantomData }
    }
}

impl InTurn<'_, 0> {
    /// No turns.
    #[inline(always)]
    pub(super) fn none() -> Self {
        InTurn { turns: None, brand: PhantomData, level: PhantomData }
    }
}

impl<'r, const GROUPS: usize> InTurn<'r, GROUPS> {
    /// Waits for the warpgroup's turn and passes it on: for a round that the warpgroup leaves out.
    ///
    /// In an [`Apart`](crate::role::Apart) role each warpgroup takes or passes the same number of
    /// turns. No result depends on that: where a turn does not come, because another warpgroup has
    /// left or takes fewer, it is taken as come after 4096 tries.
    ///
    /// PTX: `mbarrier.try_wait.parity` in a loop, `mbarrier.arrive` for each warp.
    ///
    /// # Threads
    ///
    /// The role that made the turns.
    #[inline(always)]
    pub fn pass<R: Warpgroups, const SIZE: usize>(&mut self, group: &RoleGroup<'r, R, SIZE>) {
        let _ = group;
        // SAFETY: role-level code of the role whose turns they are (`'r`); the turn is passed
        // below.
        unsafe { self.wait::<R>() };
        // SAFETY: as above.
        unsafe { self.hand_on::<R>() };
    }

    /// Waits for the warpgroup's turn.
    ///
    /// # Safety
    ///
    /// All threads of the role, or of the warpgroup where these run apart, make this call, and then
    /// [`hand_on`](Self::hand_on).
    #[inline(always)]
    pub(super) unsafe fn wait<R: Warpgroups>(&self) {
        let Some(turns) = &self.turns else { return };
        if R::APART {
            // SAFETY: the caller's promise.
            unsafe { turns.wait_a_while() };
        } else {
            // SAFETY: the caller's promise; the role's code is the same in all warpgroups.
            unsafe { turns.wait() };
        }
    }

    /// Passes the turn on to the next warpgroup.
    ///
    /// # Safety
    ///
    /// All threads of the role, or of the warpgroup, make this call, behind [`wait`](Self::wait).
    #[inline(always)]
    pub(super) unsafe fn hand_on<R: Warpgroups>(&mut self) {
        if let Some(turns) = &mut self.turns {
            // SAFETY: the caller's promise.
            unsafe { turns.pass(<R as sealed::Role>::MEMBERS) };
        }
    }
}
