//! One tile on its way to global memory.

use core::marker::PhantomData;

use super::group::StoringGroup;
use super::outputs::StoredTile;
use super::outputs::sealed::StoredTile as _;
use super::slots::{ButForTheNext, ButForThisOne, Slots};
use super::view::{Stored, is_tight};
use crate::element::Element;
use crate::engine::{Completion, CompletionOf, drain_stores};
use crate::group::InBlock;
use crate::group::block::{Block, Thread};
use crate::isa;
use crate::marker::{BlockLevel, Uniform};
use crate::output::bulk::PIECE;
use crate::pipeline::{Ready, Setup};
use crate::tensor::{OutputExtents, Swizzle, TensorTile};

/// One box of a [`TensorMut`](crate::TensorMut), or one tile of a
/// [`BulkTilesMut`](crate::BulkTilesMut), to be written by all threads of the ring's group.
///
/// `fill` and [`fill_patches`](Self::fill_patches) compute every element into an output stage and
/// have the engine store it; `store` has it store a tile that was loaded, as it is. A draft that is
/// dropped writes nothing.
///
/// # Invariants
///
/// 0. `slots` are those of a ring of these types, valid and not used otherwise while this value
///    exists; `place` is that of a tile of its view that the block may write, of index `index`; or
///    of a part of one, without an index, and stores to it before are complete.
#[must_use = "a tile is written by `fill`, `fill_patches` or `store`"]
pub struct Draft<'v, V: Stored, const COUNT: usize, G> {
    slots: *mut Slots<COUNT>,
    place: V::Place,
    index: Option<usize>,
    ring: PhantomData<&'v mut ()>,
    group: PhantomData<fn(G) -> G>,
    level: BlockLevel,
    view: PhantomData<V>,
}

impl<V: Stored, const COUNT: usize, G> !Uniform for Draft<'_, V, COUNT, G> {}

impl<V: Stored, const COUNT: usize, G: StoringGroup> Draft<'_, V, COUNT, G> {
    /// Makes the draft.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds.
    #[inline(always)]
    pub(super) unsafe fn new(slots: *mut Slots<COUNT>, place: V::Place, index: Option<usize>) -> Self {
        Draft { slots, place, index, ring: PhantomData, group: PhantomData, level: PhantomData, view: PhantomData }
    }

    /// Writes the tile: `values(rank)` returns the `N` elements from `rank * N` on.
    #[inline(always)]
    pub(crate) fn fill_by_rank<T: Element, const N: usize>(self, group: &G, values: impl Fn(usize) -> [T; N])
    where
        V::Tile: StoredTile<Element = T>,
    {
        const {
            assert!(
                N * size_of::<T>() == PIECE && G::THREADS == V::Tile::PIECES,
                "`fill_own` writes 16 bytes a thread, which together are the tile: it has `16 / size_of::<T>() * THREADS` elements; `fill` \
                 takes any number"
            )
        };
        // There are as many parts as threads, so that a part is a rank.
        self.publish::<Together>(group, G::THREADS, |rank, stage| {
            // SAFETY: a stage (`publish`), and piece `rank` of the tile, which is this thread's
            // alone.
            unsafe { write_piece(stage, V::Tile::piece(rank), values(rank)) };
        });
    }

    /// Has each thread fill its share of `parts` parts of the next output stage, whose first byte
    /// `fill` gets, and the engine store it. All parts together are the whole stage; each is
    /// written by one thread, to shared memory, through the generic proxy. Of a view that is stored
    /// in slices a warpgroup's threads write their own slice alone.
    #[inline(always)]
    pub(super) fn publish<M: Meeting>(self, group: &G, parts: usize, fill: impl Fn(usize, *mut u8)) {
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
        if COUNT <= M::LATE {
            // SAFETY: a draft is its group's, all of whose threads run this code, at its own level
            // (R2). A wait is no collective step.
            unsafe { M::first::<G>(isa::bulk_wait_group_read::<ButForThisOne<COUNT>>) };
            // SAFETY: as above.
            unsafe { M::meet::<G>() };
        }
        // The engine has read the stage, and each thread knows (`Slots`, 2; with few stages, by the
        // barrier above: `COUNT - 1` stores were committed since that of the stage).
        let stage = slots.stage();
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
        if COUNT > M::LATE {
            // SAFETY: as above.
            unsafe { M::first::<G>(isa::bulk_wait_group_read::<ButForTheNext<COUNT>>) };
        }
        // SAFETY: as above. With it `Slots`, 2 holds for the next stage: `COUNT - 1` stores were
        // committed since the one of that stage, so it was not among the youngest `COUNT - 2`.
        unsafe { M::meet::<G>() };
        let again = self.index.is_some_and(|index| slots.again(index));
        // SAFETY: the stage, or a warpgroup's slice of it, is initialised by the writes of the
        // threads that have met, and each of them has fenced before. Nobody writes it before the
        // ring comes round to it, after the wait for its group, and the kernel's end waits for the
        // rest (`Layout::STORES`). The place is one for a store (0).
        unsafe { Self::store_from::<M>(stage, self.place, slots.slice(), again) };
        slots.advance(const { V::Tile::STRIDE }, V::IN_SLICES && !is_tight::<V, G>());
    }

    /// Writes the tile: the one at `memory`, which is read when the call returns in the first
    /// thread.
    ///
    /// # Safety
    ///
    /// A tile of these types lies there, in shared memory, aligned as it needs; the engine wrote
    /// it, or for the end of a partial tile threads did, and fenced, and each thread of the group
    /// has waited for all of it at its stage's mbarrier. The memory is
    /// used otherwise only after a step of the group's first thread that follows, or behind a
    /// barrier or an mbarrier that this thread arrives at later.
    #[inline(always)]
    pub(crate) unsafe fn store_at(self, memory: *const u8) {
        // SAFETY: valid, and used by nobody else (0).
        let slots = unsafe { &mut *self.slots };
        let again = self.index.is_some_and(|index| slots.again(index));
        // SAFETY: the caller's promises, a place for a store (0), and the wait below.
        unsafe { Self::store_from::<Together>(memory, self.place, None, again) };
        // SAFETY: a draft is its group's, all of whose threads make this call (R2). A wait is no
        // collective step.
        unsafe { G::first(drain_stores) };
    }

    /// Has the first thread store a tile, in a group of its own, or that of each warpgroup a slice;
    /// if the place was stored to before, it waits for that first.
    ///
    /// # Safety
    ///
    /// As `Stored::store`, in that thread. All threads of the group make this call, with the same
    /// values.
    #[inline(always)]
    unsafe fn store_from<M: Meeting>(from: *const u8, to: V::Place, own: Option<u32>, again: bool) {
        let issue = |slice, from| {
            if again && V::IN_ORDER {
                isa::bulk_wait_all();
            }
            // SAFETY: the caller's promises.
            unsafe { V::store(to, from, slice) };
            isa::bulk_commit_group();
        };
        if const { V::MANY_COORDINATES || M::HERE } {
            // SAFETY: a draft is its group's, all of whose threads make this call (R2). `issue`
            // takes no collective step.
            unsafe { M::first_from::<G, true>(None, from, issue) };
        } else {
            // SAFETY: as above.
            unsafe { M::first_from::<G, false>(own, from, issue) };
        }
    }
}

/// Who meets before a stage is stored, and whose first thread stores it. All stages of a ring are
/// stored in the same way, that of its view (`IN_SLICES`): what one store leaves known
/// of the next stage is what the next one relies on (`Slots`, 2).
pub(super) trait Meeting {
    /// With so many stages or fewer the threads meet before they fill one as well, when the engine
    /// has read it. With more, they know that by the barrier before the last store.
    const LATE: usize;

    /// Whether no register is left for the number of a warpgroup.
    const HERE: bool = false;

    /// # Safety
    ///
    /// As `StoringGroup::first_of_warpgroups`.
    unsafe fn first<G: StoringGroup>(issue: impl Fn());
    /// # Safety
    ///
    /// As `StoringGroup::first_of_warpgroups_from`.
    unsafe fn first_from<G: StoringGroup, const ASKED_HERE: bool>(
        number: Option<u32>,
        from: *const u8,
        issue: impl Fn(usize, *const u8),
    );
    /// # Safety
    ///
    /// As `StoringGroup::meet_in_warpgroups`.
    unsafe fn meet<G: StoringGroup>();
}

/// The whole group, whose first thread stores the tile.
pub(super) enum Together {}
/// Each warpgroup for itself, whose first thread stores its slice: for a group of as many whole
/// warpgroups as a tile has slices.
pub(super) enum InWarpgroups<const HERE: bool> {}

impl Meeting for Together {
    const LATE: usize = 1;

    #[inline(always)]
    unsafe fn first<G: StoringGroup>(issue: impl Fn()) {
        // SAFETY: the caller's promise.
        unsafe { G::first(issue) };
    }

    #[inline(always)]
    unsafe fn first_from<G: StoringGroup, const ASKED_HERE: bool>(
        _: Option<u32>,
        from: *const u8,
        issue: impl Fn(usize, *const u8),
    ) {
        // SAFETY: the caller's promise.
        unsafe { G::first(|| issue(0, from)) };
    }

    #[inline(always)]
    unsafe fn meet<G: StoringGroup>() {
        // SAFETY: the caller's promise.
        unsafe { G::meet() };
    }
}

impl<const HERE: bool> Meeting for InWarpgroups<HERE> {
    const HERE: bool = HERE;

    /// Of two stages one would have to be read right after its store was started, which takes
    /// longer than the barrier.
    const LATE: usize = 2;

    #[inline(always)]
    unsafe fn first<G: StoringGroup>(issue: impl Fn()) {
        // SAFETY: the caller's promise.
        unsafe { G::first_of_warpgroups(issue) };
    }

    #[inline(always)]
    unsafe fn first_from<G: StoringGroup, const ASKED_HERE: bool>(
        number: Option<u32>,
        from: *const u8,
        issue: impl Fn(usize, *const u8),
    ) {
        // SAFETY: the caller's promises.
        unsafe { G::first_of_warpgroups_from::<ASKED_HERE>(number, from, issue) };
    }

    #[inline(always)]
    unsafe fn meet<G: StoringGroup>() {
        // SAFETY: the caller's promise.
        unsafe { G::meet_in_warpgroups() };
    }
}

impl<V, T: Element, X: OutputExtents, W: Swizzle, const COUNT: usize, G: StoringGroup> Draft<'_, V, COUNT, G>
where
    V: Stored<Tile = TensorTile<T, X, W>>,
{
    /// 16-byte pieces of a row.
    const PIECES_OF_A_ROW: usize = TensorTile::<T, X, W>::COLUMNS * size_of::<T>() / PIECE;

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
        self.publish::<Together>(group, pieces, |piece, stage| {
            let (row, column) = (piece / Self::PIECES_OF_A_ROW, piece % Self::PIECES_OF_A_ROW * N);
            let values = core::array::from_fn(|lane| value(row, column + lane));
            // SAFETY: a stage (`publish`), and a piece of a row, which is this thread's alone: it
            // is part `piece`.
            unsafe { write_piece::<T, N>(stage, TensorTile::<T, X, W>::offset(row, column), values) };
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
        self.publish::<Together>(group, down * across, |patch, stage| {
            // Neighbouring threads take patches on a diagonal: their rows differ as their columns
            // do, so that both the pieces that they read and those that they write lie in different
            // banks.
            let place = patch % across;
            let (row, column) = ((patch / across + place) % down * DOWN, place * N);
            let rows = value(row, column);
            // Not by an iterator, which would keep the rows in local memory.
            #[expect(clippy::needless_range_loop, reason = "as the line above says")]
            for below in 0..DOWN {
                // SAFETY: a stage, and a piece of a row, which is this thread's alone: different
                // patches have different pieces. (For each `place` the rows go once around.)
                unsafe { write_piece(stage, TensorTile::<T, X, W>::offset(row + below, column), rows[below]) };
            }
        });
    }
}

impl<'b, V: Stored, const COUNT: usize, const THREADS: usize> Draft<'_, V, COUNT, Block<'b, THREADS>> {
    /// Writes the tile: `values(thread)` returns the thread's own elements, the `N` from `rank * N`
    /// on, counted row by row. They are 16 bytes, and all threads' elements are the whole tile, or
    /// it does not compile. For what threads have in [`PerThread`](crate::PerThread).
    ///
    /// PTX as for `fill`.
    ///
    /// # Threads
    ///
    /// The block; `values` runs per thread.
    #[inline(always)]
    pub fn fill_own<T: Element, const N: usize>(
        self,
        block: &Block<'b, THREADS>,
        values: impl for<'t> Fn(Thread<'t, 'b, THREADS>) -> [T; N] + Uniform,
    ) where
        V::Tile: StoredTile<Element = T>,
    {
        // SAFETY: `fill_by_rank` passes the calling thread's rank in the block, whose brand is
        // `'b`.
        self.fill_by_rank(block, |rank| values(unsafe { Thread::new(rank) }));
    }

    /// Writes the tile: a loaded one as it is, which the engine reads where it has landed. The call
    /// returns in the first thread when that is done, so that the tile may be released.
    ///
    /// PTX in the first thread: `cp.async.bulk.tensor` or `cp.async.bulk`,
    /// `cp.async.bulk.commit_group`, `cp.async.bulk.wait_group.read 0`.
    ///
    /// # Threads
    ///
    /// The block.
    #[inline(always)]
    pub fn store<U: Setup<Contents = V::Tile, Group = InBlock<'b, THREADS>>>(self, tile: &Ready<'_, U, U::View>) {
        const { assert!(CompletionOf::<U::Engine>::BY_BYTES, "the copy engine stores what it has loaded") };
        // SAFETY: the engine wrote the tile, and each thread has waited for it at the stage's
        // mbarrier. The stage is filled again, or its memory used otherwise, only after `tile` is
        // released, by the block's first thread, or behind a barrier of the block.
        unsafe { self.store_at(tile.memory()) };
    }
}

/// Writes the `N` elements of 16 bytes that lie `offset` bytes into an output stage.
///
/// # Safety
///
/// The stage is one for a tile, in shared memory and aligned to 16. `N` elements have 16 bytes, the
/// offset is that of a piece of the tile, and the piece is the calling thread's until the next
/// barrier.
#[inline(always)]
pub(super) unsafe fn write_piece<T: Element, const N: usize>(stage: *mut u8, offset: usize, values: [T; N]) {
    // SAFETY: a place in the tile.
    let to = unsafe { stage.add(offset) };
    // SAFETY: shared memory that is this thread's. The piece is aligned to 16: a stage's start is,
    // and a swizzle permutes whole pieces.
    unsafe { isa::store_shared_row(to.cast::<T>(), values) };
}
