//! Sums as a factor of another product in shared memory, where all warpgroups of a role read them.

use core::marker::PhantomData;

use super::super::group::RoleGroup;
use super::super::map::Warpgroups;
use crate::group::scratch::CollectiveGroup;
use crate::isa;
use crate::isa::product::{Start, Width, place_of_sum, row_of_matrix};
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::memory::{Layout, Shared};
use crate::product::sealed::BoxOperand;
use crate::product::{OperandElement, OperandTile, SumElement, Sums};
use crate::stage::contents::sealed::Contents;
use crate::tensor::{Extents, Swizzle, TensorTile};

/// Shared memory for one [`OperandTile`] `C`, which a role writes from the sums of a product and
/// reads as a factor of others.
///
/// [`Shared::factor_room`] makes the room of it. An [`OperandTile`] in a stage is what the copy
/// engine brings; this one is made in the block.
pub struct SharedFactor<C>(PhantomData<C>);

// SAFETY: an operand tile's size is a multiple of its alignment, a power of two of at most 1024;
// the room touches the tile alone.
unsafe impl<T: OperandElement, X: Extents, W: Swizzle> Layout for SharedFactor<OperandTile<T, X, W>> {
    const BYTES: usize = <OperandTile<T, X, W> as Contents>::BYTES;
    const ALIGNMENT: usize = <OperandTile<T, X, W> as Contents>::ALIGNMENT;
    const STORES: bool = false;
}

/// Room in shared memory for the sums of a product, of all warpgroups of a role, as a factor of
/// another one.
///
/// Sums in registers ([`Sums::into_factor`]) multiply from the left, each warpgroup's its own 64
/// rows. In shared memory they are a factor on either side, along K or [`Across`] it, and every
/// warpgroup reads those of the others: the transposed of a product, or a sum over what the
/// warpgroups share out.
///
/// CUDA: a tile that threads write by `stmatrix`, with `fence.proxy.async` and a named barrier
/// before `wgmma` reads it, as `dS` in FlashAttention's backward pass.
///
/// # Examples
///
/// ```
/// use tilepipe::product::OperandTile;
/// use tilepipe::role::{Across, Partitioned, Product, Role0, Role1, SharedFactor, WarpRoles};
/// use tilepipe::{
///     Block, Extents2, Outputs, Panels2, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorMut,
///     TensorTile, bf16, kernel,
/// };
///
/// type Rows = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;
/// type Panel = Panels2<64, 64, 32>;
///
/// /// Writes `A^T * (A * B^T)`, of matrices of 64 rows and columns.
/// #[kernel(min_blocks = 1)]
/// pub fn there_and_back(
///     block: Block<160>,
///     a: Tensor<bf16, Extents2<64, 64>, Swizzle128>,
///     b: Tensor<bf16, Extents2<64, 64>, Swizzle128>,
///     out: TensorMut<f32, Panel, Swizzle128>,
///     shared: Shared<(
///         (Partitioned<Stages<Rows, 1, TensorMap>>, Partitioned<Stages<Rows, 1, TensorMap>>),
///         (SharedFactor<Rows>, Outputs<TensorTile<f32, Panel, Swizzle128>, 2>),
///     )>,
/// ) {
///     let (stages, others) = shared.split();
///     let ((lefts, rights), (room, outputs)) = (stages.split(), others.split());
///     block
///         .partition::<WarpRoles<128, 32>>()
///         .pipeline_between(Role1, Role0, lefts)
///         .pipeline_between(Role1, Role0, rights)
///         .role((out, outputs, room), |group, (lefts, rights), (out, outputs, room)| {
///             let (mut ring, mut room) = (outputs.outputs(&group, out), room.factor_room(&group));
///             let (Ok(a), Ok(b)) = (lefts.wait(), rights.wait()) else { return };
///             let ((_, a), (_, b)) = (a.hold(), b.hold());
///             let (sums, ..) = group.product(Product::of(&group, &a, &b));
///             // 64 rows, as many as A has: the second product goes along them.
///             let between = room.write(&group, &sums);
///             let (sums, ..) = group.product(Product::of(&group, Across(&a), Across(&between)));
///             ring.store_sums(0, &group, &sums, |_, _, sum| sum);
///         })
///         .role((), |_, (lefts, rights), ()| {
///             let (Ok(left), Ok(right)) = (lefts.acquire(), rights.acquire()) else { return };
///             let _ = (left.copy(a.at(0, 0)).commit(), right.copy(b.at(0, 0)).commit());
///         })
///         .run_last();
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let twos = device.upload_2d(&[bf16::from_f32(2.0); 64 * 64], 64)?;
/// # let mut out = device.zeroed_2d::<f32>(64, 64)?;
/// # there_and_back::launch(&device.stream()?, 1, &twos, &twos, &mut out)?;
/// # assert_eq!(out.download()?, [2.0 * 64.0 * (4.0 * 64.0); 64 * 64]);
/// # Ok(())
/// # }
/// ```
///
/// [`Across`]: crate::role::Across
///
/// # Invariants
///
/// 0. From `first` on, which is `start`, lie the bytes of a tile `C` in shared memory, aligned as
///    it needs, which this room alone accesses, and products that read what it has written.
/// 1. The room is in role-level code with the brand `'r`.
#[must_use = "a room holds nothing by itself: `write` puts sums into it"]
pub struct FactorRoom<'r, C> {
    first: *mut u8,
    start: Start,
    brand: Brand<'r>,
    level: BlockLevel,
    tile: PhantomData<C>,
}

/// Sums that were written to a [`FactorRoom`]: a factor of products, like a
/// [`HeldTile`](crate::role::HeldTile). The room is borrowed meanwhile.
///
/// # Invariants
///
/// 0. A tile `C` lies at `start`, initialised, as the room's: all threads of the role have written
///    it, with a fence between the proxies, and met. Nobody writes it while the value exists.
#[must_use = "it is a factor: pass it to a product"]
pub struct WrittenFactor<'a, C> {
    start: Start,
    room: PhantomData<&'a mut C>,
    level: BlockLevel,
}

impl<C> !Uniform for FactorRoom<'_, C> {}
impl<C> !Uniform for WrittenFactor<'_, C> {}

impl<C, P> Shared<'_, SharedFactor<C>, P>
where
    SharedFactor<C>: Layout,
{
    /// Makes the room of this memory.
    ///
    /// # Threads
    ///
    /// A role of warpgroups, to which the memory was handed.
    #[inline(always)]
    pub fn factor_room<'r, R: Warpgroups, const SIZE: usize>(
        self,
        group: &RoleGroup<'r, R, SIZE>,
    ) -> FactorRoom<'r, C> {
        let _ = group;
        let start = Start { origin: None, offset: self.offset() as u32 };
        FactorRoom { first: self.base(), start, brand: PhantomData, level: PhantomData, tile: PhantomData }
    }
}

impl<'r, T, X, W> FactorRoom<'r, OperandTile<T, X, W>>
where
    T: OperandElement + SumElement,
    X: Extents,
    W: Swizzle,
    OperandTile<T, X, W>: BoxOperand,
{
    /// Writes all sums of a product, rounded to `T`, and returns them as a factor.
    ///
    /// The sums are as many as the tile has elements, 64 rows for each warpgroup of the role, or it
    /// does not compile. What was written before is gone: the factor of it must be gone, too, which
    /// the borrow checker sees to.
    ///
    /// PTX: `barrier.sync` of the role, `stmatrix` of 16 columns at a time,
    /// `fence.proxy.async.shared::cta`, `barrier.sync`.
    ///
    /// # Threads
    ///
    /// The role.
    #[inline(always)]
    pub fn write<N: Width, R: Warpgroups, const SIZE: usize>(
        &mut self,
        group: &RoleGroup<'r, R, SIZE>,
        sums: &Sums<'r, N, SIZE>,
    ) -> WrittenFactor<'_, OperandTile<T, X, W>> {
        const { check_tile(<OperandTile<T, X, W> as BoxOperand>::EXTENTS, [rows_of(SIZE), N::COLUMNS]) };
        let _ = group;
        let first = self.first;
        // Each thread has waited for its products that read the tile before (their factor is gone,
        // and a product is complete when its function returns); now it knows that of the others.
        // SAFETY: role-level code of the role (`RoleGroup`), all of whose threads make this call.
        unsafe { <R as CollectiveGroup>::sync() };
        // SAFETY: the room's tile (0), which nobody accesses now; role-level code of the role.
        unsafe { write_sums::<T, X, W, N, R, SIZE>(first, sums) };
        // SAFETY: as for the first one.
        unsafe { <R as CollectiveGroup>::sync() };
        WrittenFactor { start: self.start, room: PhantomData, level: PhantomData }
    }
}

/// Writes all sums of a product to a tile, rounded to its elements, and orders the writes before
/// the reads of tensor cores that follow a barrier.
///
/// # Safety
///
/// A tile of these types is to lie from `first` on, in shared memory that is aligned as it needs,
/// with as many rows and columns as the sums; nobody else accesses it. All threads of the role
/// whose sums they are make this call.
#[inline(always)]
pub(super) unsafe fn write_sums<T, X, W, N, R, const SIZE: usize>(first: *mut u8, sums: &Sums<'_, N, SIZE>)
where
    T: OperandElement + SumElement,
    X: Extents,
    W: Swizzle,
    N: Width,
    R: Warpgroups,
{
    let write = |rank: usize| {
        let offset = |(row, column)| offset_of::<T, X, W>(row, column);
        // The places are computed here: a loop has no registers to keep them from round to
        // round.
        let here = isa::rank_here(rank) % SIZE;
        // SAFETY: `for_each_member` passes the calling thread's rank in the role whose sums they
        // are (the caller's promise), and there are so many pairs.
        let pair = |nth: usize| (place_of_sum(here, 2 * nth), T::round(unsafe { sums.pair(rank, nth) }));
        for four in 0..N::COLUMNS / 16 {
            let own = [pair(4 * four), pair(4 * four + 1), pair(4 * four + 2), pair(4 * four + 3)];
            let row = first.wrapping_add(offset(row_of_matrix(here, 16 * four)));
            let to = own.map(|(place, _)| first.wrapping_add(offset(place)).cast());
            // SAFETY: all threads of the role make this call, which is whole warps. Four matrices
            // of the warp's sums lie in places of the tile that no other warp writes, in whole
            // pieces of rows; `row_of_matrix` says where each row is.
            unsafe { isa::store_matrices(to, row, own.map(|(_, pair)| bytemuck::cast(pair))) };
        }
    };
    // SAFETY: the calling thread is a member of the role.
    unsafe { isa::for_each_member(<R as CollectiveGroup>::MEMBERS, write) };
    isa::fence_proxy_async();
}

/// Where an element lies in a tile, in bytes: panels follow each other.
#[inline(always)]
fn offset_of<T: OperandElement, X: Extents, W: Swizzle>(row: usize, column: usize) -> usize {
    let of_panel = X::BOX[1];
    column / of_panel * TensorTile::<T, X, W>::BYTES + TensorTile::<T, X, W>::offset(row, column % of_panel)
}

impl<C> WrittenFactor<'_, C> {
    /// Where the tile begins: that far, and no [`UNIT`](isa::product::UNIT)s further.
    #[inline(always)]
    pub(super) fn place(&self) -> (Start, u32) {
        (self.start, 0)
    }
}

/// The rows of sums of a role of so many threads.
pub(super) const fn rows_of(size: usize) -> usize {
    size / isa::product::WARPGROUP * isa::product::GROUP_ROWS
}

/// Refuses, at compile time, sums that are not the tile.
pub(super) const fn check_tile(tile: [usize; 2], sums: [usize; 2]) {
    assert!(
        tile[1].is_multiple_of(16),
        "a tile of operands has a multiple of 16 columns, as many as its swizzle's span has room for"
    );
    assert!(
        tile[0] == sums[0] && tile[1] == sums[1],
        "a room for a factor takes sums of its own rows and columns: a role of 256 threads writes the 128 by 64 sums of a product to a \
         `SharedFactor<OperandTile<bf16, Panels2<128, 64, 64>, Swizzle128>>`"
    );
}
