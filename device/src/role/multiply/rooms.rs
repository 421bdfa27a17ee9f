//! Sums as factors in rooms that warpgroups write and read without meeting.

use core::marker::PhantomData;

use super::super::group::RoleGroup;
use super::super::map::Warpgroups;
use super::room::{check_tile, rows_of, write_sums};
use crate::group::scratch::CollectiveGroup;
use crate::isa;
use crate::isa::product::{Start, Width};
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::memory::{Layout, Shared};
use crate::product::sealed::BoxOperand;
use crate::product::{OperandElement, OperandTile, SumElement, Sums};
use crate::stage::contents::sealed::Contents;
use crate::tensor::{Extents, Swizzle};

/// Shared memory for `COUNT` operand tiles `C`, which a role writes from the sums of products and
/// reads as factors of others, again and again: 1, 2, 4 or another power of two.
///
/// [`Shared::factor_rooms`] makes an [`EmptyRoom`] of each.
pub struct SharedFactors<C, const COUNT: usize>(PhantomData<C>);

// SAFETY: an operand tile's size is a multiple of its alignment, a power of two of at least 8 and
// at most 1024; the rooms touch `COUNT` tiles and two mbarriers for each behind them.
unsafe impl<T: OperandElement, X: Extents, W: Swizzle, const COUNT: usize> Layout
    for SharedFactors<OperandTile<T, X, W>, COUNT>
{
    const BYTES: usize = COUNT * (<OperandTile<T, X, W> as Contents>::BYTES + 2 * BARRIER);
    const ALIGNMENT: usize = <OperandTile<T, X, W> as Contents>::ALIGNMENT;
    const STORES: bool = false;
}

/// Bytes of an mbarrier.
const BARRIER: usize = 8;

/// A room in shared memory for the sums of a product, of all warpgroups of a role, as a factor of
/// another one: empty, or about to be.
///
/// A [`FactorRoom`](crate::role::FactorRoom) has all threads of the role meet before and behind
/// each write. Here a warpgroup writes its part and goes on ([`write`](Self::write)), and waits for
/// the others' parts when it takes the factor ([`FullRoom::wait`]): if that is one product later,
/// it finds them. With two rooms it writes the next sums meanwhile, so that the tensor cores have
/// work while a warpgroup is behind. A room goes round: `write`, `wait`, a product,
/// [`release`](RoomFactor::release), and each step takes what the one before returned.
///
/// CUDA: a ring of tiles that consumers write by `stmatrix`, with mbarriers for full and empty
/// tiles at which all of them arrive.
///
/// # Examples
///
/// ```
/// use tilepipe::product::OperandTile;
/// use tilepipe::role::{
///     Across, FullRoom, Partitioned, Product, Role0, Role1, SharedFactors, WarpRoles,
/// };
/// use tilepipe::{
///     Block, Extents2, Outputs, Panels2, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorMut,
///     TensorTile, bf16, kernel,
/// };
///
/// type Rows = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;
/// type Panel = Panels2<64, 64, 32>;
///
/// /// Writes `A^T * (A * B^T)` of each 64 rows B, of matrices with 64 columns.
/// #[kernel(min_blocks = 1)]
/// pub fn there_and_back(
///     block: Block<160>,
///     a: Tensor<bf16, Extents2<64, 64>, Swizzle128>,
///     b: Tensor<bf16, Extents2<64, 64>, Swizzle128>,
///     out: TensorMut<f32, Panel, Swizzle128>,
///     shared: Shared<(
///         (Partitioned<Stages<Rows, 1, TensorMap>>, Partitioned<Stages<Rows, 2, TensorMap>>),
///         (SharedFactors<Rows, 2>, Outputs<TensorTile<f32, Panel, Swizzle128>, 2>),
///     )>,
/// ) {
///     let (stages, others) = shared.split();
///     let ((lefts, rights), (rooms, outputs)) = (stages.split(), others.split());
///     let tiles = b.rows() / 64;
///     block
///         .partition::<WarpRoles<128, 32>>()
///         .pipeline_between(Role1, Role0, lefts)
///         .pipeline_between(Role1, Role0, rights)
///         .role((out, outputs, rooms), |group, (lefts, mut rights), (out, outputs, rooms)| {
///             let mut ring = outputs.outputs(&group, out);
///             let [mut room, other] = rooms.factor_rooms(&group);
///             let Ok(a) = lefts.wait() else { return };
///             let (_, a) = a.hold();
///             // The room of the round before, if there was one.
///             let mut before: Result<FullRoom<'_, Rows, 2>, _> = Err(other);
///             for tile in 0..tiles {
///                 let Ok(b) = rights.wait() else { return };
///                 let (end, b) = b.hold();
///                 let (sums, _, b) = group.product(Product::of(&group, &a, b));
///                 rights = end.release(b);
///                 let full = room.write(&group, &sums);
///                 room = match before {
///                     Ok(full) => {
///                         let factor = full.wait(&group);
///                         let product = Product::of(&group, Across(&a), Across(factor));
///                         let (sums, _, Across(factor)) = group.product(product);
///                         ring.store_sums(tile - 1, &group, &sums, |_, _, sum| sum);
///                         factor.release(&group)
///                     }
///                     Err(other) => other,
///                 };
///                 before = Ok(full);
///             }
///             if let Ok(full) = before {
///                 let product = Product::of(&group, Across(&a), Across(full.wait(&group)));
///                 let (sums, ..) = group.product(product);
///                 ring.store_sums(tiles - 1, &group, &sums, |_, _, sum| sum);
///             }
///         })
///         .role((), |_, (lefts, mut rights), ()| {
///             let Ok(stage) = lefts.acquire() else { return };
///             let _ = stage.copy(a.at(0, 0)).commit();
///             for tile in 0..tiles {
///                 let Ok(stage) = rights.acquire() else { return };
///                 rights = stage.copy(b.at((64 * tile) as i32, 0)).commit();
///             }
///         })
///         .run_last();
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let twos = |rows: usize| device.upload_2d(&vec![bf16::from_f32(2.0); rows * 64], 64);
/// # let mut out = device.zeroed_2d::<f32>(64, 3 * 64)?;
/// # there_and_back::launch(&device.stream()?, 1, &twos(64)?, &twos(3 * 64)?, &mut out)?;
/// # assert_eq!(out.download()?, [2.0 * 64.0 * (4.0 * 64.0); 3 * 64 * 64]);
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
///
/// 0. The invariants of `Room`, and the calling warp has arrived for the factor before, if there
///    was one, at the barrier for releases.
#[must_use = "a room holds nothing by itself: `write` puts sums into it"]
pub struct EmptyRoom<'r, C, const COUNT: usize>(Room<'r, C, COUNT>);

/// A room to which the calling warpgroup has written its part of the sums.
///
/// # Invariants
///
/// 0. The invariants of `Room`, and the calling warp has arrived for this factor at the barrier
///    for writes.
#[must_use = "it is a factor when all warpgroups have written it: `wait` for that"]
pub struct FullRoom<'r, C, const COUNT: usize>(Room<'r, C, COUNT>);

/// Sums that all warpgroups have written to a room: a factor of products, like a
/// [`HeldTile`](crate::role::HeldTile), until it is [released](Self::release).
///
/// # Invariants
///
/// 0. The invariants of `Room`, and its tile is initialised: all threads of the role have written
///    it, with a fence between the proxies, and the calling thread has waited for that. Nobody
///    writes it while the value exists.
#[must_use = "it is a factor: pass it to a product, and release it behind that"]
pub struct RoomFactor<'r, C, const COUNT: usize>(Room<'r, C, COUNT>);

/// Where a room is, and how often it went round.
///
/// # Invariants
///
/// 0. From `offset` bytes into shared memory on are `COUNT` tiles `C`, aligned as they need, and
///    the memory of `barriers`. The tile of this room, number `lap % COUNT`, is accessed by this
///    value alone, and by products that read a [`RoomFactor`] made of it.
/// 1. The room is in role-level code with the brand `'r`, in the same state in all of its threads.
/// 2. `lap / COUNT` factors were written to the room, waited for and released, in numbers that
///    wrap. For each of them the warps of the role arrive once at barrier `lap % COUNT` when they
///    have written it, and once at barrier `COUNT + lap % COUNT` when they have released it.
struct Room<'r, C, const COUNT: usize> {
    offset: usize,
    lap: u32,
    barriers: isa::Rooms,
    brand: Brand<'r>,
    level: BlockLevel,
    tile: PhantomData<C>,
}

impl<C, const COUNT: usize> !Uniform for EmptyRoom<'_, C, COUNT> {}
impl<C, const COUNT: usize> !Uniform for FullRoom<'_, C, COUNT> {}
impl<C, const COUNT: usize> !Uniform for RoomFactor<'_, C, COUNT> {}

impl<T, X, W, P, const COUNT: usize> Shared<'_, SharedFactors<OperandTile<T, X, W>, COUNT>, P>
where
    T: OperandElement,
    X: Extents,
    W: Swizzle,
{
    /// Makes the rooms of this memory.
    ///
    /// PTX: two `mbarrier.init` for each room, `barrier.sync` of the role.
    ///
    /// # Threads
    ///
    /// A role of warpgroups, to which the memory was handed.
    #[inline(always)]
    pub fn factor_rooms<'r, R: Warpgroups, const SIZE: usize>(
        self,
        group: &RoleGroup<'r, R, SIZE>,
    ) -> [EmptyRoom<'r, OperandTile<T, X, W>, COUNT>; COUNT] {
        const {
            assert!(
                COUNT.is_power_of_two(),
                "there are 1, 2, 4 or another power of two rooms for factors: `SharedFactors<C, 2>`"
            );
        }
        let _ = group;
        let tiles = const { COUNT * <OperandTile<T, X, W> as Contents>::BYTES };
        // SAFETY: (0) role-level code of a role of warpgroups (`RoleGroup`), with a barrier below;
        // (1) `Shared` owns this memory, which has room for them behind the tiles, and is gone.
        let barriers = unsafe {
            isa::Rooms::new(self.offset() + tiles, const { 2 * COUNT as u32 }, <R as CollectiveGroup>::MEMBERS)
        };
        // SAFETY: role-level code of the role, all of whose threads make this call.
        unsafe { <R as CollectiveGroup>::sync() };
        core::array::from_fn(|room| {
            EmptyRoom(Room {
                offset: self.offset(),
                lap: room as u32,
                barriers: barriers.clone(),
                brand: PhantomData,
                level: PhantomData,
                tile: PhantomData,
            })
        })
    }
}

impl<C: Contents, const COUNT: usize> Room<'_, C, COUNT> {
    /// The number of the room.
    #[inline(always)]
    fn number(&self) -> u32 {
        self.lap % const { COUNT as u32 }
    }

    /// The parity of the phases in which the next factor is written and released.
    #[inline(always)]
    fn parity(&self) -> u32 {
        self.lap / const { COUNT as u32 } % 2
    }

    /// Where the tile begins in shared memory, in bytes.
    #[inline(always)]
    fn place(&self) -> usize {
        self.offset + self.number() as usize * C::BYTES
    }
}

impl<'r, T, X, W, const COUNT: usize> EmptyRoom<'r, OperandTile<T, X, W>, COUNT>
where
    T: OperandElement + SumElement,
    X: Extents,
    W: Swizzle,
    OperandTile<T, X, W>: BoxOperand,
{
    /// Writes all sums of a product, rounded to `T`.
    ///
    /// The sums are as many as the tile has elements, 64 rows for each warpgroup of the role, or it
    /// does not compile. A warpgroup waits until all have released what was in the room, and for
    /// nothing else.
    ///
    /// PTX: `mbarrier.try_wait.parity`, `stmatrix` of 16 columns at a time,
    /// `fence.proxy.async.shared::cta`, `bar.warp.sync`, `mbarrier.arrive` of each warp.
    ///
    /// # Threads
    ///
    /// The role.
    #[inline(always)]
    pub fn write<N: Width, R: Warpgroups, const SIZE: usize>(
        self,
        group: &RoleGroup<'r, R, SIZE>,
        sums: &Sums<'r, N, SIZE>,
    ) -> FullRoom<'r, OperandTile<T, X, W>, COUNT> {
        const { check_tile(<OperandTile<T, X, W> as BoxOperand>::EXTENTS, [rows_of(SIZE), N::COLUMNS]) };
        let _ = group;
        let room = self.0;
        // The phase before the first one counts as complete.
        // SAFETY: (0) role-level code of the role; (2) the room's barrier for releases, of the
        // factor before, for which this warp has arrived (`EmptyRoom`, 0).
        unsafe { room.barriers.wait(COUNT as u32 + room.number(), room.parity() ^ 1) };
        // SAFETY: the room's tile (0). All warps of the role have released the factor in it, behind
        // the products that read it, as the wait above says. Role-level code of the role.
        unsafe { write_sums::<T, X, W, N, R, SIZE>(isa::shared_base().wrapping_add(room.place()), sums) };
        // SAFETY: (0) as above; (2) the room's barrier for writes, whose phase before is complete:
        // this warp has waited for that, or there is none.
        unsafe { room.barriers.arrive(room.number(), <R as CollectiveGroup>::MEMBERS) };
        FullRoom(room)
    }
}

impl<'r, C: Contents, const COUNT: usize> FullRoom<'r, C, COUNT> {
    /// Waits until all warpgroups have written their parts.
    ///
    /// PTX: `mbarrier.try_wait.parity`.
    ///
    /// # Threads
    ///
    /// The role.
    #[inline(always)]
    pub fn wait<R: Warpgroups, const SIZE: usize>(self, group: &RoleGroup<'r, R, SIZE>) -> RoomFactor<'r, C, COUNT> {
        let _ = group;
        let room = self.0;
        // SAFETY: (0) role-level code of the role; (2) the room's barrier for writes, of the factor
        // for which this warp has arrived (`FullRoom`, 0).
        unsafe { room.barriers.wait(room.number(), room.parity()) };
        RoomFactor(room)
    }
}

impl<'r, C: Contents, const COUNT: usize> RoomFactor<'r, C, COUNT> {
    /// Gives the factor back, and returns the room: it is written again when all warpgroups have
    /// given it back.
    ///
    /// A product that was made of the factor itself returns it when it is complete; one that was
    /// made of a reference is complete when its function returns.
    ///
    /// PTX: `bar.warp.sync`, `mbarrier.arrive` of each warp.
    ///
    /// # Threads
    ///
    /// The role.
    #[inline(always)]
    pub fn release<R: Warpgroups, const SIZE: usize>(self, group: &RoleGroup<'r, R, SIZE>) -> EmptyRoom<'r, C, COUNT> {
        let _ = group;
        let mut room = self.0;
        // Products that read it are complete, since they own or borrow the factor until then.
        // SAFETY: (0) role-level code of the role; (2) the room's barrier for releases, of a factor
        // that all warps have written, for which they have waited until the phase before was
        // complete.
        unsafe { room.barriers.arrive(COUNT as u32 + room.number(), <R as CollectiveGroup>::MEMBERS) };
        room.lap = room.lap.wrapping_add(COUNT as u32);
        EmptyRoom(room)
    }

    /// Where the tile begins: that far, and no [`UNIT`](isa::product::UNIT)s further.
    #[inline(always)]
    pub(super) fn place(&self) -> (Start, u32) {
        (Start { origin: None, offset: self.0.place() as u32 }, 0)
    }
}
