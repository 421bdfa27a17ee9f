//! One tile on its way to global memory.

use core::marker::PhantomData;

use super::group::StoringGroup;
use super::slots::{ButForTheNext, Slots, stride};
use super::view::Stored;
use crate::element::Element;
use crate::engine::{Completion, CompletionOf, drain_stores};
use crate::group::InBlock;
use crate::group::block::{Block, Thread};
use crate::isa::{self, Corner, RawTensor};
use crate::marker::{BlockLevel, Uniform};
use crate::pipeline::{Ready, Setup};
use crate::tensor::{OutputExtents, Swizzle, TensorTile};

/// Bytes that a thread stores at once.
const PIECE: usize = 16;

/// One box of a [`TensorMut`](crate::TensorMut), to be written by all threads of the ring's group.
///
/// [`fill`](Self::fill) and [`fill_patches`](Self::fill_patches) compute every element into an
/// output stage and have the engine store it; `store` has it store a tile that was loaded, as it
/// is. A draft that is dropped writes nothing.
///
/// # Invariants
///
/// 0. `slots` are those of a ring of these types, valid and not used otherwise while this value
///    exists; `map` is the map of its tensor, and `at` begins a box of it that the block may write,
///    of index `index`: in the tensor, and at whole pieces, of which a box's row is made.
#[must_use = "a box is written by `fill`, `fill_patches` or `store`"]
pub struct Draft<'v, V: Stored, const COUNT: usize, G> {
    slots: *mut Slots<COUNT>,
    map: *const RawTensor,
    at: Corner,
    index: usize,
    ring: PhantomData<&'v mut ()>,
    group: PhantomData<fn(G) -> G>,
    level: BlockLevel,
    view: PhantomData<V>,
}

impl<V: Stored, const COUNT: usize, G> !Uniform for Draft<'_, V, COUNT, G> {}

impl<V, T: Element, X: OutputExtents, W: Swizzle, const COUNT: usize, G: StoringGroup> Draft<'_, V, COUNT, G>
where
    V: Stored<Element = T, Extents = X, Swizzle = W>,
{
    /// 16-byte pieces of a row.
    const PIECES_OF_A_ROW: usize = TensorTile::<T, X, W>::COLUMNS * size_of::<T>() / PIECE;

    /// Makes the draft.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds.
    #[inline(always)]
    pub(super) unsafe fn new(slots: *mut Slots<COUNT>, map: *const RawTensor, at: Corner, index: usize) -> Self {
        Draft { slots, map, at, index, ring: PhantomData, group: PhantomData, level: PhantomData, view: PhantomData }
    }

    /// Writes the box: `value(row, column)` for each element of it, those beyond the tensor's edges
    /// included, which are dropped. A thread computes 16 bytes of a row at a time, and neighbouring
    /// threads neighbouring ones.
    ///
    /// PTX: `st.shared.v4`, `fence.proxy.async.shared::cta`, `bar.sync`; in the first thread
    /// `cp.async.bulk.wait_group.read` before the barrier, and `cp.async.bulk.tensor` and
    /// `cp.async.bulk.commit_group` after it. With one output stage there is another barrier
    /// before.
    ///
    /// # Threads
    ///
    /// The group that the ring was made for; `value` runs per thread.
    #[inline(always)]
    pub fn fill(self, group: &G, value: impl Fn(usize, usize) -> T + Uniform) {
        // The number of elements in a piece is a constant of the type, which no array's length can
        // be.
        match const { PIECE / size_of::<T>() } {
            16 => self.fill_pieces::<16>(group, value),
            8 => self.fill_pieces::<8>(group, value),
            4 => self.fill_pieces::<4>(group, value),
            _ => self.fill_pieces::<2>(group, value),
        }
    }

    #[inline(always)]
    fn fill_pieces<const N: usize>(self, group: &G, value: impl Fn(usize, usize) -> T + Uniform) {
        let pieces = TensorTile::<T, X, W>::ROWS * Self::PIECES_OF_A_ROW;
        self.publish(group, pieces, |piece, stage: Room<T, X, W>| {
            let (row, column) = (piece / Self::PIECES_OF_A_ROW, piece % Self::PIECES_OF_A_ROW * N);
            // SAFETY: a piece of a row, which is this thread's alone: it is part `piece`.
            unsafe { stage.write::<N>(row, column, core::array::from_fn(|lane| value(row, column + lane))) };
        });
    }

    /// Writes the box in patches of `DOWN` rows of `N` elements, where `N` elements are 16 bytes:
    /// `value(row, column)` returns the rows of the one that begins there, at multiples of `DOWN`
    /// and of `N`. For a transpose, by [`transposed`](TensorTile::transposed) of a patch of the
    /// input: threads meet no bank conflict where rows have 128 bytes and both tiles are swizzled.
    /// For a stencil: a thread uses most of what it reads more than once.
    ///
    /// The box's rows are a multiple of `DOWN`, or it does not compile. PTX as for
    /// [`fill`](Self::fill).
    ///
    /// # Threads
    ///
    /// The group that the ring was made for; `value` runs per thread.
    #[inline(always)]
    pub fn fill_patches<const DOWN: usize, const N: usize>(
        self,
        group: &G,
        value: impl Fn(usize, usize) -> [[T; N]; DOWN] + Uniform,
    ) {
        const {
            assert!(
                N * size_of::<T>() == PIECE,
                "a patch has 16 bytes in a row: `fill_patches::<DOWN, N>` with `N` of `16 / size_of::<T>()`"
            );
            assert!(
                DOWN > 0 && TensorTile::<T, X, W>::ROWS.is_multiple_of(DOWN),
                "`fill_patches::<DOWN, N>` fills `DOWN` rows at a time: the box's rows are a multiple of `DOWN`; `fill` takes any \
                 number"
            );
        };
        let (down, across) = (const { TensorTile::<T, X, W>::ROWS / DOWN }, Self::PIECES_OF_A_ROW);
        self.publish(group, down * across, |patch, stage: Room<T, X, W>| {
            // Neighbouring threads take patches on a diagonal: their rows differ as their columns
            // do, so that both the pieces that they read and those that they write lie in different
            // banks.
            let place = patch % across;
            let (row, column) = ((patch / across + place) % down * DOWN, place * N);
            let rows = value(row, column);
            // Not by an iterator, which would keep the rows in local memory.
            #[expect(clippy::needless_range_loop, reason = "as the line above says")]
            for below in 0..DOWN {
                // SAFETY: a piece of a row, which is this thread's alone: different patches have
                // different pieces. (For each `place` the rows go once around.)
                unsafe { stage.write::<N>(row + below, column, rows[below]) };
            }
        });
    }

    /// Writes the box: `values(rank)` returns the `N` elements from `rank * N` on.
    #[inline(always)]
    pub(crate) fn fill_by_rank<const N: usize>(self, group: &G, values: impl Fn(usize) -> [T; N]) {
        const {
            assert!(
                N * size_of::<T>() == PIECE
                    && N * G::THREADS == TensorTile::<T, X, W>::ROWS * TensorTile::<T, X, W>::COLUMNS,
                "`fill_own` writes 16 bytes a thread, which together are the box: it has `16 / size_of::<T>() * THREADS` elements; `fill` \
                 takes any number"
            )
        };
        // There are as many parts as threads, so that a part is a rank.
        self.publish(group, G::THREADS, |rank, stage: Room<T, X, W>| {
            let first = rank * N;
            let (row, column) = (first / TensorTile::<T, X, W>::COLUMNS, first % TensorTile::<T, X, W>::COLUMNS);
            // SAFETY: piece `rank` of the box, which is this thread's alone; rows are whole pieces.
            unsafe { stage.write::<N>(row, column, values(rank)) };
        });
    }

    /// Has each thread fill its share of `parts` parts of the next output stage, and the engine
    /// store it. All parts together are the whole stage.
    #[inline(always)]
    fn publish(self, group: &G, parts: usize, fill: impl Fn(usize, Room<T, X, W>)) {
        const {
            assert!(
                COUNT > 0,
                "there is no output stage to fill: `Outputs<.., COUNT>` with a `COUNT` of 1 or more; without one, `store` stores \
                 what was loaded"
            )
        };
        let _ = group;
        // SAFETY: valid, and used by nobody else (0).
        let slots = unsafe { &mut *self.slots };
        if COUNT == 1 {
            Self::first(isa::bulk_wait_group_read::<ButForTheNext<COUNT>>);
            // SAFETY: a draft is its group's, all of whose threads run this code, at its own level
            // (R2).
            unsafe { G::meet() };
        }
        // The engine has read the stage, and each thread knows (`Slots`, 2; with one stage, by the
        // barrier above).
        let stage = Room { first: slots.stage(), shape: PhantomData };
        let run = |rank: usize| {
            for nth in 0..parts.div_ceil(G::THREADS) {
                let part = rank + nth * G::THREADS;
                if parts.is_multiple_of(G::THREADS) || part < parts {
                    fill(part, stage);
                }
            }
        };
        // SAFETY: as above.
        unsafe { G::each(run) };
        isa::fence_proxy_async();
        if COUNT > 1 {
            Self::first(isa::bulk_wait_group_read::<ButForTheNext<COUNT>>);
        }
        // SAFETY: as above. With it `Slots`, 2 holds for the next stage: `COUNT - 1` stores were
        // committed since the one of that stage, so it was not among the youngest `COUNT - 2`.
        unsafe { G::meet() };
        // SAFETY: the stage is a whole tile, initialised by the threads' writes of all its pieces,
        // and each of them has fenced before the barrier. Nobody writes it before the ring comes
        // round to it, after the wait for its group, and the kernel's end waits for the rest
        // (`Layout::STORES`). The box is one for a store (0).
        unsafe { Self::store_from(stage.first, self.map, self.at, slots.again(self.index)) };
        slots.advance(const { stride::<T, X, W>() });
    }

    /// Writes the box: the tile at `memory`, which is read when the call returns in the first
    /// thread.
    ///
    /// # Safety
    ///
    /// A tile of these types lies there, in shared memory, aligned as it needs; the engine wrote
    /// it, and each thread of the group has waited for it at its stage's mbarrier. The memory is
    /// used otherwise only after a step of the group's first thread that follows, or behind a
    /// barrier or an mbarrier that this thread arrives at later.
    #[inline(always)]
    pub(crate) unsafe fn store_at(self, memory: *const u8) {
        // SAFETY: valid, and used by nobody else (0).
        let slots = unsafe { &mut *self.slots };
        let again = slots.again(self.index);
        // SAFETY: the caller's promises, a box for a store (0), and the wait below.
        unsafe { Self::store_from(memory, self.map, self.at, again) };
        Self::first(drain_stores);
    }

    /// Has the first thread store a tile, in a group of its own; if the box was stored before, it
    /// waits for that first.
    ///
    /// # Safety
    ///
    /// As `Stored::store`, in that thread, of a box that the block may write in the tensor of
    /// `map`. All threads of the group make this call.
    #[inline(always)]
    unsafe fn store_from(from: *const u8, map: *const RawTensor, at: Corner, again: bool) {
        Self::first(|| {
            if again && V::IN_ORDER {
                isa::bulk_wait_all();
            }
            // SAFETY: the caller's promises.
            unsafe { V::store(map, at, from, const { TensorTile::<T, X, W>::SHAPE }) };
            isa::bulk_commit_group();
        });
    }

    /// Runs `issue` in the group's first thread: a bulk store, or a wait for some.
    #[inline(always)]
    fn first(issue: impl FnOnce()) {
        // SAFETY: a draft is its group's, all of whose threads make this call (R2). `issue` takes
        // no collective step.
        unsafe { G::first(issue) };
    }
}

impl<'b, V, T: Element, X: OutputExtents, W: Swizzle, const COUNT: usize, const THREADS: usize>
    Draft<'_, V, COUNT, Block<'b, THREADS>>
where
    V: Stored<Element = T, Extents = X, Swizzle = W>,
{
    /// Writes the box: `values(thread)` returns the thread's own elements, the `N` from `rank * N`
    /// on, counted row by row. They are 16 bytes, and all threads' elements are the whole box, or
    /// it does not compile. For what threads have in [`PerThread`](crate::PerThread).
    ///
    /// PTX as for [`fill`](Self::fill).
    ///
    /// # Threads
    ///
    /// The block; `values` runs per thread.
    #[inline(always)]
    pub fn fill_own<const N: usize>(
        self,
        block: &Block<'b, THREADS>,
        values: impl for<'t> Fn(Thread<'t, 'b, THREADS>) -> [T; N] + Uniform,
    ) {
        // SAFETY: `fill_by_rank` passes the calling thread's rank in the block, whose brand is
        // `'b`.
        self.fill_by_rank(block, |rank| values(unsafe { Thread::new(rank) }));
    }

    /// Writes the box: a loaded tile as it is, which the engine reads where it has landed. The call
    /// returns in the first thread when that is done, so that the tile may be released.
    ///
    /// PTX in the first thread: `cp.async.bulk.tensor`, `cp.async.bulk.commit_group`,
    /// `cp.async.bulk.wait_group.read 0`.
    ///
    /// # Threads
    ///
    /// The block.
    #[inline(always)]
    pub fn store<U: Setup<Contents = TensorTile<T, X, W>, Group = InBlock<'b, THREADS>>>(
        self,
        tile: &Ready<'_, U, U::View>,
    ) {
        const { assert!(CompletionOf::<U::Engine>::BY_BYTES, "the copy engine stores what it has loaded") };
        // SAFETY: the engine wrote the tile, and each thread has waited for it at the stage's
        // mbarrier. The stage is filled again, or its memory used otherwise, only after `tile` is
        // released, by the block's first thread, or behind a barrier of the block.
        unsafe { self.store_at(tile.memory()) };
    }
}

/// An output stage that threads fill.
///
/// # Invariants
///
/// 0. `first` is the start of a tile in shared memory, valid for writes and aligned as it needs.
struct Room<T, X, W> {
    first: *mut u8,
    shape: PhantomData<(T, X, W)>,
}

impl<T, X, W> Clone for Room<T, X, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, X, W> Copy for Room<T, X, W> {}

impl<T: Element, X: OutputExtents, W: Swizzle> Room<T, X, W> {
    /// Writes the `N` elements of 16 bytes from this row and column on.
    ///
    /// # Safety
    ///
    /// `N` elements have 16 bytes, the tile has the row and the columns, `column` is a multiple of
    /// `N`, and the piece is the calling thread's until the next barrier.
    #[inline(always)]
    unsafe fn write<const N: usize>(self, row: usize, column: usize, values: [T; N]) {
        // SAFETY: a place in the tile (0).
        let to = unsafe { self.first.add(TensorTile::<T, X, W>::offset(row, column)) };
        // SAFETY: shared memory that is this thread's. The piece is aligned to 16: a tile's start
        // is, and a swizzle permutes whole pieces.
        unsafe { isa::store_shared_row(to.cast::<T>(), values) };
    }
}
