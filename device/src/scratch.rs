//! Tiles of shared memory that threads compute and then read.
//!
//! | step | PTX |
//! |---|---|
//! | `fill`, `update`: reads of what was there are done | `bar.sync` |
//! | each thread writes its own elements | `st.shared` |
//! | what all threads wrote is visible to each | `bar.sync` |
//!
//! There is no typestate. `fill` begins with a barrier whatever came before it, so a guard that was
//! forgotten, or a return out of a loop, leaves nothing behind but memory to be filled again.

use core::marker::PhantomData;
use core::ops::Deref;

use crate::element::Element;
use crate::group::filling::{FillingGroup, write_each};
use crate::marker::{BlockLevel, Brand, RoleShared, Uniform};
use crate::memory::{Layout, Shared};
use crate::tile::Tile;
use crate::tile::shape::at_least_16;
use crate::tile::tile2d::Tile2D;

/// Shared memory for one tile of shape `S` that the threads of a group compute and then read:
/// `[T; LEN]`, or `Tile2D<T, ROWS, COLUMNS, PAD>`.
///
/// A kernel asks for it in its `Shared` parameter, beside its stages if it has some
/// (`Shared<(Stages<..>, Scratch<[f32; 256]>)>`), and [`Shared::scratch`] makes a [`ScratchTile`]
/// of it. `Replicated<Scratch<[f32; 256]>, THREADS>` is a tile of each warp's own.
///
/// CUDA: `__shared__ float scratch[256];`.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Input2D, Scratch, Shared, Tile2D, TilesMut2D, kernel};
///
/// /// Transposes a matrix. With a padding of one element the reads of columns have no bank
/// /// conflicts.
/// #[kernel]
/// pub fn transpose(
///     block: Block<256>,
///     input: Input2D<u32>,
///     mut out: TilesMut2D<u32, 16, 16>,
///     shared: Shared<Scratch<Tile2D<u32, 16, 16, 1>>>,
/// ) {
///     let mut scratch = shared.scratch(&block);
///     let mut results = out.for_block(&block);
///     let places = results.places();
///     for i in 0..results.len() {
///         let (down, across) = places.get(i);
///         let tile = scratch.fill(&block, |_, row, column| {
///             input.get(16 * across + row, 16 * down + column).unwrap_or(0)
///         });
///         let result = results.get_mut(i);
///         block.threads(|t| result.set_each(&t, |row, column| tile[(column, row)]));
///     }
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let input = device.upload_2d(&Vec::from_iter(0..600), 30)?; // 20 rows of 30 elements
/// # let mut out = device.zeroed_2d(20, 30)?;
/// # transpose::launch(&device.stream()?, 2, &input, &mut out)?;
/// # assert_eq!(out.download()?, Vec::from_iter((0..600).map(|i| i % 20 * 30 + i / 20)));
/// # Ok(())
/// # }
/// ```
pub struct Scratch<S>(PhantomData<S>);

// SAFETY: a tile is what the handle touches. Its alignment is a power of two of at most 16 (an
// element's), and 16 is larger or equal; the size is rounded up to it.
unsafe impl<S: Tile> Layout for Scratch<S> {
    const BYTES: usize = S::BYTES.next_multiple_of(Self::ALIGNMENT);
    const ALIGNMENT: usize = at_least_16(align_of::<S>());
    const STORES: bool = false;
}

/// A tile of shared memory that the threads of the group `G` compute together and then read.
///
/// [`fill`](Self::fill) has each thread write its own elements, and lends the tile to be read. It
/// can be filled any number of times.
///
/// The tile belongs to the block, or to the role, that [`Shared::scratch`] was called by. No
/// closure can capture it: a role gets the memory handed over, and makes the tile itself.
///
/// # Invariants
///
/// 0. `tile` is valid for a tile of shape `S` in shared memory that belongs to this value alone. No
///    copy into it or from it is in flight. Threads of the group may still be reading it, and
///    nobody else is.
/// 1. `offset` is where it lies from the start of the block's shared memory.
#[must_use = "a tile without elements: call `fill`"]
pub struct ScratchTile<'s, S, P, G> {
    tile: *mut S,
    offset: usize,
    memory: Brand<'s>,
    position: PhantomData<P>,
    group: PhantomData<fn(G) -> G>,
    level: BlockLevel,
}

impl<S, P, G> !Uniform for ScratchTile<'_, S, P, G> {}

impl<'s, S: Tile, P> Shared<'s, Scratch<S>, P> {
    /// Makes a tile of this memory, for the group to fill and read. It emits nothing.
    ///
    /// # Threads
    ///
    /// The block, or a role of whole warps to which the memory was handed.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Input, Scratch, Shared, TilesMut, kernel};
    ///
    /// /// Each tile of 64 elements from back to front.
    /// #[kernel]
    /// pub fn reversed_tiles(
    ///     block: Block<64>,
    ///     input: Input<u32>,
    ///     mut out: TilesMut<u32, 64>,
    ///     shared: Shared<Scratch<[u32; 64]>>,
    /// ) {
    ///     let mut scratch = shared.scratch(&block);
    ///     let mut results = out.for_block(&block);
    ///     for i in 0..results.len() {
    ///         let first = 64 * results.number(i);
    ///         let tile = scratch.fill(&block, |_, i| input.get(first + i).unwrap_or(0));
    ///         let dst = results.get_mut(i);
    ///         block.threads(|t| dst.set(&t, tile[63 - t.rank()]));
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let input = device.upload(&Vec::from_iter(0..256))?;
    /// # let mut out = device.zeroed(256)?;
    /// # reversed_tiles::launch(&device.stream()?, 2, &input, &mut out)?;
    /// # let expected = Vec::from_iter((0..4).flat_map(|tile| (64 * tile..64 * tile + 64).rev()));
    /// # assert_eq!(out.download()?, expected);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn scratch<G: FillingGroup>(self, group: &G) -> ScratchTile<'s, S, P, G> {
        let _ = group;
        // The memory is the tile's from here on, aligned for it (`Layout`); no copy into it is in
        // flight, and nobody reads it (`Shared`, 0).
        ScratchTile {
            tile: self.base().cast(),
            offset: self.offset(),
            memory: PhantomData,
            position: PhantomData,
            group: PhantomData,
            level: PhantomData,
        }
    }
}

impl<'s, S: Tile, P, G: FillingGroup> ScratchTile<'s, S, P, G> {
    /// Gives the memory back when all threads of the group have read it.
    ///
    /// PTX: `bar.sync`. At the end of a kernel it is not needed.
    ///
    /// # Threads
    ///
    /// The group that the tile was made for.
    #[inline(always)]
    pub fn finish(self, group: &G) -> Shared<'s, Scratch<S>, P> {
        let _ = group;
        // SAFETY: the tile is its group's, all of whose threads run this code (R2): the brand in
        // `G` is theirs, and the tile can't be captured. This is code at the group's own level.
        unsafe { G::meet() };
        // SAFETY: the memory that `scratch` took: nobody reads it after the barrier, and no copy
        // into it was ever made (0 and 1 of `Shared`, by 0 and 1).
        unsafe { Shared::new(self.offset) }
    }
}

impl<T: Element, const LEN: usize, P, G: FillingGroup> ScratchTile<'_, [T; LEN], P, G> {
    /// Writes the whole tile, `value(thread, index)` for each element, and lends it to be read. A
    /// thread computes the elements `rank`, `rank + THREADS`, and so forth.
    ///
    /// `value` is a per-thread closure; it may read the thread's own
    /// [`PerThread`](crate::PerThread) values, views, stages that have landed, and other scratch
    /// tiles.
    ///
    /// PTX: `bar.sync`, `st.shared`, `bar.sync`; in a role `barrier.sync` of the role. The first
    /// one waits for reads of what was there.
    ///
    /// # Threads
    ///
    /// The group that the tile was made for.
    #[inline(always)]
    pub fn fill<F>(&mut self, group: &G, value: F) -> Filled<'_, [T; LEN], G>
    where
        F: Fn(G::Thread<'_>, usize) -> T + Uniform,
    {
        // SAFETY: the tile is this value's (0), which is its group's, all of whose threads run this
        // code at the group's own level (R2): the brand in `G` is theirs, and no closure captures
        // the tile. It is borrowed while `Filled` exists.
        unsafe { write::<[T; LEN], G, false>(group, self.tile, |thread, index, _| value(thread, index)) };
        // SAFETY: just filled; as above.
        unsafe { Filled::new(self.tile) }
    }
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, const PAD: usize, P, G: FillingGroup>
    ScratchTile<'_, Tile2D<T, ROWS, COLUMNS, PAD>, P, G>
{
    /// Writes the whole tile, `value(thread, row, column)` for each element, and lends it to be
    /// read. Elements are counted row by row, and a thread computes the elements `rank`,
    /// `rank + THREADS`, and so forth.
    ///
    /// PTX as for a tile of one row.
    ///
    /// # Threads
    ///
    /// The group that the tile was made for.
    #[inline(always)]
    pub fn fill<F>(&mut self, group: &G, value: F) -> Filled<'_, Tile2D<T, ROWS, COLUMNS, PAD>, G>
    where
        F: Fn(G::Thread<'_>, usize, usize) -> T + Uniform,
    {
        // SAFETY: as for a tile of one row.
        unsafe {
            write::<Tile2D<T, ROWS, COLUMNS, PAD>, G, false>(group, self.tile, |thread, index, _| {
                value(thread, index / COLUMNS, index % COLUMNS)
            });
        }
        // SAFETY: just filled; as above.
        unsafe { Filled::new(self.tile) }
    }
}

/// A tile of shared memory that all threads of the group `G` have filled, to be read by all of
/// them: `tile[index]`, or `tile[(row, column)]`.
///
/// Closures of any level may capture it. While it exists the tile cannot be filled again.
///
/// # Invariants
///
/// 0. `tile` is valid for reads of a whole tile of shape `S` in shared memory, which belongs to
///    this value while it exists. All of its elements were written, and what was written is visible
///    to all threads of the group. Nobody writes it but by [`update`](Self::update).
pub struct Filled<'a, S, G> {
    tile: *mut S,
    borrow: PhantomData<&'a mut ()>,
    group: PhantomData<fn(G) -> G>,
}

// SAFETY: the tile can only be read through a shared reference (0), and reading is no collective
// operation. What writes takes it by `&mut`.
unsafe impl<S: Tile, G> Uniform for Filled<'_, S, G> {}
// SAFETY: nothing can be written through a shared reference (0).
unsafe impl<S: Tile, G> RoleShared for Filled<'_, S, G> {}

impl<S: Tile, G> Filled<'_, S, G> {
    /// Makes the guard of a filled tile.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds for the borrow's lifetime.
    #[inline(always)]
    unsafe fn new(tile: *mut S) -> Self {
        Filled { tile, borrow: PhantomData, group: PhantomData }
    }
}

impl<S: Tile, G> Deref for Filled<'_, S, G> {
    type Target = S;

    #[inline(always)]
    fn deref(&self) -> &S {
        // SAFETY: valid for reads, and nobody writes it while `self` is borrowed (0).
        unsafe { &*self.tile }
    }
}

impl<T: Element, const LEN: usize, G: FillingGroup> Filled<'_, [T; LEN], G> {
    /// Replaces each element: `value(thread, index, old)` gets what the element is now, and runs in
    /// the thread that computed it. Other elements are out of its reach.
    ///
    /// PTX: `bar.sync`, `ld.shared` and `st.shared`, `bar.sync`. The first one waits for reads of
    /// what was there.
    ///
    /// # Threads
    ///
    /// The group that the tile was made for.
    #[inline(always)]
    pub fn update<F>(&mut self, group: &G, value: F)
    where
        F: Fn(G::Thread<'_>, usize, T) -> T + Uniform,
    {
        // SAFETY: the tile is this value's (0), borrowed by `&mut`; all threads of its group run
        // this code at the group's own level (R2), since `&mut` and the group's token can't be
        // captured.
        unsafe { write::<[T; LEN], G, true>(group, self.tile, |thread, index, old| value(thread, index, old)) };
    }
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, const PAD: usize, G: FillingGroup>
    Filled<'_, Tile2D<T, ROWS, COLUMNS, PAD>, G>
{
    /// Replaces each element: `value(thread, row, column, old)` gets what the element is now, and
    /// runs in the thread that computed it; see [`update`](Filled::update) of a tile of one row.
    ///
    /// # Threads
    ///
    /// The group that the tile was made for.
    #[inline(always)]
    pub fn update<F>(&mut self, group: &G, value: F)
    where
        F: Fn(G::Thread<'_>, usize, usize, T) -> T + Uniform,
    {
        // SAFETY: as for a tile of one row.
        unsafe {
            write::<Tile2D<T, ROWS, COLUMNS, PAD>, G, true>(group, self.tile, |thread, index, old| {
                value(thread, index / COLUMNS, index % COLUMNS, old)
            });
        }
    }
}

/// Has the group's threads write a tile, between two barriers: see [`write_each`].
///
/// # Safety
///
/// 0. `tile` is valid for writes, and if it `READS` for reads, of a tile in shared memory, which
///    nobody but the group's threads accesses. No copy into it or from it is in flight.
/// 1. All threads of the group make this call, at the group's own level.
#[inline(always)]
unsafe fn write<S: Tile, G: FillingGroup, const READS: bool>(
    group: &G,
    tile: *mut S,
    value: impl Fn(G::Thread<'_>, usize, S::Element) -> S::Element,
) {
    // SAFETY: the caller's promise (1).
    unsafe { G::meet() };
    // SAFETY: the caller's promises. All threads have read what was there, since they passed the
    // barrier before, and none reads what is written before it passes the one after.
    unsafe { write_each::<S, G, READS>(group, tile, value) };
    // SAFETY: the caller's promise (1).
    unsafe { G::meet() };
}
