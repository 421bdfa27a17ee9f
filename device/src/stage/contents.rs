//! What a stage holds, and what it is filled from.

use core::marker::PhantomData;

use crate::element::Element;
use crate::engine::{Completion, CompletionOf, Engine, LandingOf};
use crate::group::Deal;
use crate::memory::{largest, places};
use crate::product::OperandTile;
use crate::scope::Scope;
use crate::stage::presence::Presence;
use crate::tensor::{Extents, Swizzle, TensorBox, TensorTile};
use crate::tile::Tile;
use crate::tile::shape::{Shape, at_least_16};
use crate::view::tile_ref::TileRef;

/// What one stage of a pipeline holds: a tile, a tuple of two to four tiles, or an [`Optional`]
/// tile. Sealed.
///
/// ```text
/// Stages<[f32; 256], 3>                  one tile a stage
/// Stages<([f32; 256], [u8; 1024]), 2>    two tiles of different types and lengths, filled and
///                                        awaited together
/// Stages<Optional<[f32; 256]>, 4>        a stage may be committed empty
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be what a stage holds",
    note = "a stage holds a tile (`[T; LEN]`, `HaloTile`, `Tile2D`, `ColumnTile2D`, `HaloTile2D` of `Element`s), a tuple of two to four tiles, \
            or `Optional<tile>`"
)]
pub trait Contents: 'static + sealed::Contents {}

/// What a stage can be filled from, at a call of `copy`.
///
/// A [`TileRef`] or [`Zeros`] for a tile; a tuple of them for a tuple of tiles; an `Option` of one
/// for an [`Optional`] tile.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't fill a stage that holds `{C}`",
    label = "not a source for this stage",
    note = "a tile is filled from a tile of a view of the same element type and length (`tiles.get(i)`) or from `Zeros`; a stage of \
            several tiles from a tuple, in order: `copy((a.get(i), b.get(i)))`; an `Optional` tile from an `Option`: \
            `copy(Some(a.get(i)))`; a `TensorTile` from a box of a `Tensor` of the same element, extents and swizzle"
)]
pub trait Fill<C: Contents>: sealed::Fill<C> {}

/// Fills a tile with zeros: nothing is read from the view.
///
/// PTX: `cp.async` from 16 bytes of zeros, so that it lands with the other copies of its stage.
#[derive(Clone, Copy, Debug)]
pub struct Zeros;

/// A tile or nothing: what a stage holds that may be committed empty.
///
/// Where nothing is left to fetch, an empty stage keeps the number of committed groups the same. It
/// is filled from an `Option` of a source, and [`Ready::get`](crate::Ready::get) returns `None` for
/// one that was committed empty.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Optional, Shared, Stages, Tiles, TilesMut, kernel};
///
/// /// By hand without an epilogue: the last round commits an empty stage.
/// #[kernel]
/// pub fn double(
///     block: Block<32>,
///     input: Tiles<i32, 32>,
///     mut out: TilesMut<i32, 32>,
///     shared: Shared<Stages<Optional<[i32; 32]>, 2>>,
/// ) {
///     let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
///     let next = |i| if i < tiles.len() { Some(tiles.get(i)) } else { None };
///     let mut pipe = shared.pipeline(&block).acquire().copy(next(0)).commit().weaken();
///     for i in 0..tiles.len() {
///         let (p, tile) = pipe.wait();
///         let p = p.acquire().copy(next(i + 1)).commit();
///         if let Some(tile) = tile.get() {
///             let dst = results.get_mut(i);
///             block.threads(|t| dst.set(&t, 2 * tile[t.rank()]));
///         }
///         pipe = p.release(tile);
///     }
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 5 });
/// # let (input, mut out) = (device.upload(&[21; 100])?, device.zeroed(100)?);
/// # double::launch(&device.stream()?, 1, &input, &mut out)?;
/// # assert_eq!(out.download()?, [42; 100]);
/// # Ok(())
/// # }
/// ```
pub struct Optional<T>(PhantomData<T>);

/// Says that a stage always holds its tile.
#[diagnostic::on_unimplemented(
    message = "a stage of `{Self}` may have been committed empty, and then there is no tile to read",
    label = "this reads it unchecked",
    note = "ask first: `if let Some(tile) = tile.get() {{ .. }}`"
)]
pub trait AlwaysFilled: Contents {}

/// Contents that are one tile: of a view, or of a tensor. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not one tile",
    note = "a tile is `[T; LEN]`, `HaloTile`, `Tile2D`, `HaloTile2D`, or, for the engine `TensorMap`, `TensorTile<T, Extents2<ROWS, \
            COLUMNS>, Swizzle128>`"
)]
pub trait OneTile: AlwaysFilled + Sized + sealed::OneTile {}

impl<T: Tile> Contents for T {}
impl<T: Tile> AlwaysFilled for T {}
impl<T: Tile> OneTile for T {}
impl<T: Element, X: Extents, W: Swizzle> Contents for TensorTile<T, X, W> {}
impl<T: Element, X: Extents, W: Swizzle> AlwaysFilled for TensorTile<T, X, W> {}
impl<T: Element, X: Extents, W: Swizzle> OneTile for TensorTile<T, X, W> {}
impl<T: Element, X: Extents, W: Swizzle> Contents for OperandTile<T, X, W> {}
impl<T: Element, X: Extents, W: Swizzle> AlwaysFilled for OperandTile<T, X, W> {}
impl<T: Element, X: Extents, W: Swizzle> OneTile for OperandTile<T, X, W> {}
impl<T: OneTile> Contents for Optional<T> {}

impl<T: Tile> Fill<T> for TileRef<'_, T> {}
impl<T: Element, X: Extents, W: Swizzle> Fill<TensorTile<T, X, W>> for TensorBox<'_, T, X, W> {}
impl<T: Element, X: Extents, W: Swizzle> Fill<OperandTile<T, X, W>> for TensorBox<'_, T, X, W> {}
impl<T: OneTile> Fill<T> for Zeros {}
impl<T: OneTile, F: Fill<T>> Fill<Optional<T>> for Option<F> {}

pub(crate) mod sealed {
    use crate::engine::{Engine, LandingOf};
    use crate::group::Deal;
    use crate::scope::Scope;
    use crate::stage::presence::Presence;
    use crate::tile::shape::Shape;

    /// The layout of a stage's tiles and the ways to read them.
    #[diagnostic::on_unimplemented(
        message = "`Contents` can't be implemented for `{Self}`: it is sealed",
        label = "not one of tilepipe's contents",
        note = "copies trust what contents say of their layout; a stage holds a tile (`[T; LEN]`, `HaloTile`, `Tile2D`, `HaloTile2D` of \
                `Element`s), a tuple of two to four tiles, or `Optional<tile>`"
    )]
    pub trait Contents {
        /// Bytes in shared memory; a start that is aligned to `ALIGNMENT`, and every multiple of
        /// `BYTES` after it, are aligned as each tile needs.
        const BYTES: usize;
        /// The start's least alignment in bytes, which divides `BYTES`: a power of two, at
        /// most 1024.
        const ALIGNMENT: usize;
        /// Whether threads read the tiles. Those that products of the tensor cores alone read are
        /// handed back by each warp, without a fence between the proxies.
        const READ_BY_THREADS: bool = true;
        /// Where its first two tiles start, in bytes from the stage's start; of one tile alone the
        /// second is no place of a tile.
        const OFFSETS: [usize; 2] = [0; 2];
        /// The shapes of its tiles.
        const SHAPES: &'static [Shape];
        /// What the pipeline remembers of a filled stage.
        type Presence: Presence;
        /// What indexing yields, for contents that can be indexed.
        type Item;
        /// All tiles, to be read.
        type Tiles<'a>;
        /// One part of each tile, to be read.
        type Parts<'a>;

        /// Returns the tiles.
        ///
        /// # Safety
        ///
        /// For `'a` a stage of landed tiles lies at `memory`, which nobody writes.
        unsafe fn tiles<'a>(memory: *const u8) -> Self::Tiles<'a>;

        /// Returns part `part` of `parts` of each tile.
        ///
        /// # Safety
        ///
        /// For `'a` landed parts lie there, which nobody writes, and `part < parts`, which divides
        /// each tile's length.
        unsafe fn parts<'a>(memory: *const u8, part: usize, parts: usize) -> Self::Parts<'a>;
    }

    /// One tile as memory.
    ///
    /// # Safety
    ///
    /// `BYTES` bytes of memory that starts at a multiple of `ALIGNMENT` are a value of this type,
    /// whatever they are.
    pub unsafe trait OneTile: Contents<Presence = ()> {
        /// Its shape.
        const SHAPE: Shape;

        /// Starts to fill the tile with zeros.
        ///
        /// # Safety
        ///
        /// As for [`Fill::fill`].
        unsafe fn zero<E: Engine, G: Deal<S>, S: Scope>(stage: *mut u8, landing: LandingOf<E>);

        /// The bytes that zeros have land at the stage's mbarrier, if they complete so.
        fn zero_bytes<E: Engine>() -> u32;
    }

    /// The copies that fill a stage.
    #[diagnostic::on_unimplemented(
        message = "`Fill` can't be implemented for `{Self}`: it is sealed",
        label = "not one of tilepipe's sources",
        note = "a stage that nobody fills, or fills later, would be read: sources are `TileRef`, `Zeros`, tuples of them, and an `Option` \
                for an `Optional` tile"
    )]
    pub trait Fill<C: super::Contents> {
        /// Starts the copies, in every thread of the group; returns what to remember.
        ///
        /// # Safety
        ///
        /// `stage` is the start of a stage of `C` that no thread reads or writes until the copies
        /// were committed and waited for and the scope synchronised. Where copies complete by
        /// bytes, `landing` is its mbarrier, and the group's first thread announces
        /// [`bytes`](Fill::bytes) there and arrives, after the call.
        unsafe fn fill<E: Engine, G: Deal<S>, S: Scope>(self, stage: *mut u8, landing: LandingOf<E>) -> C::Presence;

        /// The bytes that the copies have land at the stage's mbarrier, if they complete so.
        fn bytes<E: Engine>(&self) -> u32;
    }
}

/// Refuses, at compile time, tiles that don't divide into `parts` equal parts.
pub(crate) const fn check_parts<C: Contents>(parts: usize) {
    let mut index = 0;
    while index < C::SHAPES.len() {
        assert!(
            C::SHAPES[index].has_parts(parts),
            "this tile can't be read by parts: `own` wants a length that is a multiple of the block's threads, `of_warp` one of its \
             warps, and both rows without padding; at `BlockScope` read `tile[i]`"
        );
        index += 1;
    }
}

/// Refuses, at compile time, contents that the engine can't copy for this group and scope.
pub(crate) const fn check<C: Contents, E: Engine, G: Deal<S>, S: Scope>(stages: usize) {
    assert!(
        G::ONE_TEAM || !<CompletionOf<E> as Completion>::BY_BYTES,
        "the engine `Bulk` has one thread that issues for all: a pipeline of the block at `BlockScope`, one between roles, or one of a \
         warp's own (`Replicated` stages at `WarpScope`); at this scope use the engine `CpAsync`"
    );
    let (mut index, parts) = (0, G::PARTS);
    while index < C::SHAPES.len() {
        let shape = &C::SHAPES[index];
        assert!(
            shape.boxed == E::COPIES_BOXES,
            "this tile and the engine don't fit: `TensorMap` copies boxes of a `Tensor` into a `TensorTile`, the other engines tiles of \
             views into `[T; LEN]`, `HaloTile`, `Tile2D` or `HaloTile2D`"
        );
        assert!(
            shape.divides_into(parts),
            "this tile can't be shared out at this scope: at `ThreadScope` its length is a multiple of the block's threads, at \
             `WarpScope` of its warps, and its rows are not padded; use `BlockScope` for other tiles"
        );
        assert!(
            !shape.by_columns || !<CompletionOf<E> as Completion>::BY_BYTES,
            "a `ColumnTile2D` can't be copied by the engine `Bulk`, which copies rows as they lie: use the engine `CpAsync` for it, \
             `Stages<Tile, COUNT>`"
        );
        let fits = shape.unit(parts) >= E::LEAST_UNIT;
        assert!(
            fits || !<CompletionOf<E> as Completion>::BY_BYTES,
            "this tile can't be copied by the engine `Bulk`: the size, a row, a halo or the alignment of the tile is no multiple of \
             16 bytes; use the engine `CpAsync` for it, `Stages<Tile, COUNT>`, or other sizes"
        );
        assert!(
            fits,
            "this tile can't be copied asynchronously: the size or the alignment of what a thread copies is no multiple of 4 \
             bytes; use the engine `LoadStore` for it, `Stages<Tile, COUNT, LoadStore>`, or larger elements"
        );
        index += 1;
    }
    assert!(
        !<CompletionOf<E> as Completion>::BY_BYTES || C::BYTES < 1 << 20,
        "a stage that the engine `Bulk` fills has less than 1 MiB: an mbarrier counts no more bytes"
    );
    assert!(stages <= <C::Presence as Presence>::MOST_STAGES, "a pipeline of `Optional` tiles has at most 32 stages");
}

/// How many of `threads` threads copy a part of a stage, when all of them share a tile: at most the
/// number of units of the largest tile, and at most the engine's number of issuers.
pub(crate) const fn copiers<C: Contents, E: Engine>(threads: usize) -> usize {
    let (mut index, mut most) = (0, 0);
    while index < C::SHAPES.len() {
        let shape = &C::SHAPES[index];
        let width = if E::WIDE_UNITS { shape.unit(1) } else { shape.bytes / shape.len };
        let units = shape.bytes / width;
        most = if units > most { units } else { most };
        index += 1;
    }
    let most = if most < E::MOST_ISSUERS { most } else { E::MOST_ISSUERS };
    if most < threads { most } else { threads }
}

impl<T: Tile> sealed::Contents for T {
    const BYTES: usize = T::BYTES;
    const ALIGNMENT: usize = {
        let (unit, align) = (Shape::of::<T>().unit(1), align_of::<T>());
        if unit > align { unit } else { align }
    };
    type Presence = ();
    type Item = T::Element;
    type Tiles<'a> = &'a T;
    type Parts<'a> = &'a [T::Element];

    const SHAPES: &'static [Shape] = &[Shape::of::<T>()];

    #[inline(always)]
    unsafe fn tiles<'a>(memory: *const u8) -> &'a T {
        // SAFETY: the caller's promise; a stage's start is aligned for its tiles (`ALIGNMENT`).
        unsafe { &*memory.cast::<T>() }
    }

    #[inline(always)]
    unsafe fn parts<'a>(memory: *const u8, part: usize, parts: usize) -> &'a [T::Element] {
        let len = T::LEN / parts;
        // SAFETY: part `part` of `parts` starts `part * len` elements into the tile.
        let first = unsafe { memory.cast::<T::Element>().add(part * len) };
        // SAFETY: the caller's promise; parts are of tiles whose rows have no padding
        // (`check_parts`), so that all elements follow one another.
        unsafe { core::slice::from_raw_parts(first, len) }
    }
}

// SAFETY: a tile is plain data without padding, aligned to at most `ALIGNMENT`.
unsafe impl<T: Tile> sealed::OneTile for T {
    const SHAPE: Shape = Shape::of::<T>();

    #[inline(always)]
    unsafe fn zero<E: Engine, G: Deal<S>, S: Scope>(stage: *mut u8, landing: LandingOf<E>) {
        // SAFETY: the caller's promises.
        unsafe { E::zero::<T, G, S>(stage, landing) };
    }

    #[inline(always)]
    fn zero_bytes<E: Engine>() -> u32 {
        E::bytes::<T>(None)
    }
}

impl<T: OneTile> sealed::Contents for Optional<T> {
    const BYTES: usize = T::BYTES;
    const ALIGNMENT: usize = T::ALIGNMENT;
    const READ_BY_THREADS: bool = T::READ_BY_THREADS;
    type Presence = bool;
    type Item = T::Item;
    type Tiles<'a> = T::Tiles<'a>;
    type Parts<'a> = T::Parts<'a>;

    const SHAPES: &'static [Shape] = T::SHAPES;

    #[inline(always)]
    unsafe fn tiles<'a>(memory: *const u8) -> Self::Tiles<'a> {
        // SAFETY: the caller's promise.
        unsafe { T::tiles(memory) }
    }

    #[inline(always)]
    unsafe fn parts<'a>(memory: *const u8, part: usize, parts: usize) -> Self::Parts<'a> {
        // SAFETY: the caller's promise.
        unsafe { T::parts(memory, part, parts) }
    }
}

impl<T: Tile> sealed::Fill<T> for TileRef<'_, T> {
    #[inline(always)]
    unsafe fn fill<E: Engine, G: Deal<S>, S: Scope>(self, stage: *mut u8, landing: LandingOf<E>) {
        // SAFETY: the caller's promises.
        unsafe { E::copy::<T, G, S>(stage, landing, self) };
    }

    #[inline(always)]
    fn bytes<E: Engine>(&self) -> u32 {
        E::bytes(Some(self))
    }
}

impl<T: OneTile> sealed::Fill<T> for Zeros {
    #[inline(always)]
    unsafe fn fill<E: Engine, G: Deal<S>, S: Scope>(self, stage: *mut u8, landing: LandingOf<E>) {
        // SAFETY: the caller's promises.
        unsafe { T::zero::<E, G, S>(stage, landing) };
    }

    #[inline(always)]
    fn bytes<E: Engine>(&self) -> u32 {
        T::zero_bytes::<E>()
    }
}

impl<T: OneTile, F: Fill<T>> sealed::Fill<Optional<T>> for Option<F> {
    #[inline(always)]
    unsafe fn fill<E: Engine, G: Deal<S>, S: Scope>(self, stage: *mut u8, landing: LandingOf<E>) -> bool {
        let present = self.is_some();
        if let Some(source) = self {
            // SAFETY: the caller's promises.
            unsafe { source.fill::<E, G, S>(stage, landing) };
        }
        present
    }

    #[inline(always)]
    fn bytes<E: Engine>(&self) -> u32 {
        self.as_ref().map_or(0, |source| source.bytes::<E>())
    }
}

/// Tuples: each tile starts after the one before it, at the next multiple of its own alignment,
/// which is at least 16 bytes.
macro_rules! tuples {
    ($($tile:ident $source:ident $number:tt),*) => {
        impl<$($tile: OneTile),*> Contents for ($($tile,)*) {}
        impl<$($tile: OneTile),*> AlwaysFilled for ($($tile,)*) {}

        impl<$($tile: OneTile),*> sealed::Contents for ($($tile,)*) {
            const BYTES: usize = places([$(extent::<$tile>()),*]).1.next_multiple_of(Self::ALIGNMENT);
            const ALIGNMENT: usize = largest([$(extent::<$tile>().1),*]);
            type Presence = ();
            type Item = ();
            type Tiles<'a> = ($($tile::Tiles<'a>,)*);
            type Parts<'a> = ($($tile::Parts<'a>,)*);
            const READ_BY_THREADS: bool = false $(|| $tile::READ_BY_THREADS)*;
            const OFFSETS: [usize; 2] = {
                let [first, second, ..] = places([$(extent::<$tile>()),*]).0;
                [first, second]
            };
            const SHAPES: &'static [Shape] = &[$($tile::SHAPE),*];

            #[inline(always)]
            unsafe fn tiles<'a>(memory: *const u8) -> Self::Tiles<'a> {
                let offsets = const { places([$(extent::<$tile>()),*]).0 };
                // SAFETY: the caller's promise, and each tile lies within the stage at its offset.
                unsafe { ($(<$tile as sealed::Contents>::tiles(memory.add(offsets[$number])),)*) }
            }

            #[inline(always)]
            unsafe fn parts<'a>(memory: *const u8, part: usize, parts: usize) -> Self::Parts<'a> {
                let offsets = const { places([$(extent::<$tile>()),*]).0 };
                // SAFETY: as above.
                unsafe { ($(<$tile as sealed::Contents>::parts(memory.add(offsets[$number]), part, parts),)*) }
            }
        }

        impl<$($tile: OneTile, $source: Fill<$tile>),*> Fill<($($tile,)*)> for ($($source,)*) {}

        impl<$($tile: OneTile, $source: Fill<$tile>),*> sealed::Fill<($($tile,)*)> for ($($source,)*) {
            #[inline(always)]
            unsafe fn fill<E: Engine, G: Deal<S>, S: Scope>(self, stage: *mut u8, landing: LandingOf<E>) {
                let offsets = const { places([$(extent::<$tile>()),*]).0 };
                $(
                    // SAFETY: each tile lies within the stage at its offset.
                    let tile = unsafe { stage.add(offsets[$number]) };
                    // SAFETY: the caller's promises for the stage hold for each of its tiles.
                    unsafe { self.$number.fill::<E, G, S>(tile, landing) };
                )*
            }

            #[inline(always)]
            fn bytes<E: Engine>(&self) -> u32 {
                0 $(+ self.$number.bytes::<E>())*
            }
        }
    };
}
tuples!(A X 0, B Y 1);
tuples!(A X 0, B Y 1, C Z 2);
tuples!(A X 0, B Y 1, C Z 2, D W 3);

/// The bytes of one of several tiles in a stage, and the alignment of its start there.
pub(super) const fn extent<C: Contents>() -> (usize, usize) {
    (C::BYTES, at_least_16(C::ALIGNMENT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Layout;
    use crate::scope::BlockScope;
    use crate::stage::stages::Stages;

    /// Contents that start at multiples of 512 bytes, as swizzled tiles will.
    enum Wide {}

    impl Contents for Wide {}
    impl sealed::Contents for Wide {
        const BYTES: usize = 1536;
        const ALIGNMENT: usize = 512;
        const SHAPES: &'static [Shape] = &[];
        type Presence = ();
        type Item = ();
        type Tiles<'a> = ();
        type Parts<'a> = ();

        unsafe fn tiles<'a>(_: *const u8) -> Self::Tiles<'a> {}
        unsafe fn parts<'a>(_: *const u8, _: usize, _: usize) -> Self::Parts<'a> {}
    }

    type WideStages<const COUNT: usize> = Stages<Wide, COUNT, crate::CpAsync, BlockScope>;

    #[test]
    fn stages_start_at_multiples_of_their_contents_alignment() {
        assert_eq!((WideStages::<3>::STRIDE, <WideStages<3> as Layout>::BYTES), (1536, 3 * 1536));
        assert_eq!(<WideStages<3> as Layout>::ALIGNMENT, 512);
        assert_eq!(<Stages<[u8; 20], 3> as Layout>::ALIGNMENT, 16);
        assert_eq!(<Stages<[u8; 20], 3>>::STRIDE, 32);
        // The second half of a pair starts where its alignment requires, and the pair ends after
        // it.
        type Pair = (Stages<[u8; 20], 1>, WideStages<1>);
        assert_eq!((<Pair as Layout>::BYTES, <Pair as Layout>::ALIGNMENT), (512 + 1536, 512));
    }

    #[test]
    fn several_tiles_start_each_at_its_own_alignment() {
        assert_eq!(places([(20, 16), (8, 16), (64, 16)]), ([0, 32, 48], 112));
        assert_eq!(places([(20, 16), (1536, 512), (4, 16)]), ([0, 512, 2048], 2052));
        assert_eq!(largest([16, 512, 16]), 512);
        assert_eq!(<([u8; 20], [u64; 1]) as sealed::Contents>::BYTES, 48);
        assert_eq!(<([u8; 20], [u64; 1]) as sealed::Contents>::ALIGNMENT, 16);
    }
}
