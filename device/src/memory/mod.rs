//! Shared memory: typed, handed out once, given back when its user is finished.

use core::marker::PhantomData;

use crate::engine::{Anywhere, InScope};
use crate::isa;
use crate::marker::{BlockLevel, Brand, Uniform};

/// What a kernel keeps in shared memory: [`Stages`](crate::Stages) and what else is for one user,
/// or a tuple of two to four layouts.
///
/// # Safety
///
/// `BYTES` is a multiple of `ALIGNMENT`, a power of two of at most 1024, and what the layout's user
/// touches lies within `BYTES` bytes of its start.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says nothing of what is in shared memory",
    label = "no layout of shared memory",
    note = "shared memory holds `Stages<..>`, `Partitioned<Stages<..>>`, `Replicated<..>`, `Scratch<..>`, `Bins<..>`, `Outputs<..>`, or a \
            tuple of two to four of these: `Shared<(Stages<..>, Scratch<..>)>`"
)]
pub unsafe trait Layout {
    /// The layout's size in bytes.
    const BYTES: usize;
    /// The alignment of its start in bytes.
    const ALIGNMENT: usize;
    /// Whether the copy engine reads from it for stores, so that a kernel waits for these reads at
    /// its end.
    const STORES: bool;
}

/// The position of a kernel's whole shared memory.
pub enum Whole {}
/// The position of the first half of what was at `P`.
pub struct First<P>(PhantomData<P>);
/// The position of the second half of what was at `P`.
pub struct Second<P>(PhantomData<P>);

/// The position of part `INDEX` of `COUNT` parts of what was at `P`, three or four.
pub struct Part<P, const INDEX: usize, const COUNT: usize>(PhantomData<P>);

/// The position of memory whose pipeline [`Shared::with_pipeline`] waits for.
pub struct Scoped<P>(PhantomData<P>);

/// A position in a kernel's shared memory. Sealed: [`Whole`], [`First`], [`Second`], [`Part`] and
/// [`Scoped`].
pub trait Position: sealed::Position {
    /// Where the steps of a pipeline there may be taken by hand.
    type Place;
}

mod sealed {
    pub trait Position {}
}

impl sealed::Position for Whole {}
impl<P> sealed::Position for First<P> {}
impl<P> sealed::Position for Second<P> {}
impl<P, const INDEX: usize, const COUNT: usize> sealed::Position for Part<P, INDEX, COUNT> {}
impl<P> sealed::Position for Scoped<P> {}

impl Position for Whole {
    type Place = Anywhere;
}
impl<P> Position for First<P> {
    type Place = Anywhere;
}
impl<P> Position for Second<P> {
    type Place = Anywhere;
}
impl<P, const INDEX: usize, const COUNT: usize> Position for Part<P, INDEX, COUNT> {
    type Place = Anywhere;
}
impl<P> Position for Scoped<P> {
    type Place = InScope;
}

/// A block's shared memory, laid out as `L`.
///
/// A kernel takes at most one, as its last parameter; the launch reserves what the type says. `'s`
/// and the position `P` distinguish every piece by its type, so that a tile of one pipeline can't
/// be released into another.
///
/// CUDA: `extern __shared__`.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Scratch, Shared, Stages, Tiles, TilesMut, kernel};
///
/// /// Shared memory for a pipeline of two stages, and for a tile that threads compute.
/// type Memory = (Stages<[u32; 64], 2>, Scratch<[u32; 64]>);
///
/// /// The sum of the squares of each element and of the next one in its tile.
/// #[kernel]
/// pub fn squares(
///     block: Block<64>,
///     input: Tiles<u32, 64>,
///     mut out: TilesMut<u32, 64>,
///     shared: Shared<Memory>,
/// ) {
///     let (stages, scratch) = shared.split();
///     let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
///     let mut scratch = scratch.scratch(&block);
///     let _ = stages.pipeline(&block).map_tiles(&tiles, &mut results, |tile, result| {
///         let squares = scratch.fill(&block, |_, i| tile[i] * tile[i]);
///         block.threads(|t| result.set(&t, squares[t.rank()] + squares[(t.rank() + 1) % 64]));
///     });
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 3 });
/// # let (input, mut out) = (device.upload(&[3, 4].repeat(96))?, device.zeroed(192)?);
/// # squares::launch(&device.stream()?, 2, &input, &mut out)?;
/// # assert_eq!(out.download()?, [25; 192]);
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
///
/// 0. `L::BYTES` bytes of the block's shared memory from byte `offset` on belong to this value
///    alone, no copy into them is in flight, and no thread reads them.
/// 1. `offset` is a multiple of `L::ALIGNMENT`.
#[must_use = "without its shared memory a kernel has no pipeline: call `pipeline` or `split`"]
pub struct Shared<'s, L, P = Whole> {
    offset: usize,
    brand: Brand<'s>,
    level: BlockLevel,
    layout: PhantomData<(L, P)>,
}

impl<L, P> !Uniform for Shared<'_, L, P> {}

impl<'s, L: Layout, P> Shared<'s, L, P> {
    /// Makes the shared memory that starts `offset` bytes into the block's.
    ///
    /// # Safety
    ///
    /// The invariants 0 and 1 hold.
    pub(crate) unsafe fn new(offset: usize) -> Self {
        Shared { offset, brand: PhantomData, level: PhantomData, layout: PhantomData }
    }

    /// Where the memory starts, in bytes from the start of the block's.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// The address of the memory's first byte.
    #[inline(always)]
    pub(crate) fn base(&self) -> *mut u8 {
        // SAFETY: `Shared` reaches no further than the block's shared memory (0).
        unsafe { isa::shared_base().add(self.offset) }
    }
}

impl<'s, A: Layout, B: Layout, P> Shared<'s, (A, B), P> {
    /// Splits the memory in two.
    pub fn split(self) -> (Shared<'s, A, First<P>>, Shared<'s, B, Second<P>>) {
        // SAFETY: the first `A::BYTES` bytes of what `self` owned; `self` is gone (0). Its start is
        // aligned to the larger of both alignments (1).
        let first = unsafe { Shared::new(self.offset) };
        // SAFETY: `B::BYTES` bytes after the first half, within `<(A, B)>::BYTES` (0), rounded up
        // to its alignment (1).
        let second = unsafe { Shared::new(self.offset + A::BYTES.next_multiple_of(B::ALIGNMENT)) };
        (first, second)
    }

    /// Joins the two halves again.
    pub fn join(first: Shared<'s, A, First<P>>, second: Shared<'s, B, Second<P>>) -> Self {
        let _ = second;
        // SAFETY: both halves are given up, and halves of this brand and position come from one
        // `split` (0, 1).
        unsafe { Shared::new(first.offset) }
    }
}

/// The layout of several parts.
macro_rules! layout {
    ($($layout:ident),+) => {
        // SAFETY: each part starts after the one before, at a multiple of its alignment, and the
        // sum is rounded up to the largest alignment; all are powers of two of at most 1024.
        unsafe impl<$($layout: Layout),+> Layout for ($($layout,)+) {
            const BYTES: usize =
                places([$(($layout::BYTES, $layout::ALIGNMENT)),+]).1.next_multiple_of(Self::ALIGNMENT);
            const ALIGNMENT: usize = largest([$($layout::ALIGNMENT),+]);
            const STORES: bool = $($layout::STORES)||+;
        }
    };
}
layout!(A, B);

/// Memory of three or four parts.
macro_rules! parts {
    ($count:literal, $words:literal, $join:ident: $($layout:ident $part:ident $index:literal),+) => {
        layout!($($layout),+);

        impl<'s, $($layout: Layout,)+ P> Shared<'s, ($($layout,)+), P> {
            #[doc = concat!("Splits the memory into its ", $words, " parts.")]
            pub fn split(self) -> ($(Shared<'s, $layout, Part<P, $index, $count>>,)+) {
                let starts = const { places([$(($layout::BYTES, $layout::ALIGNMENT)),+]).0 };
                // SAFETY: the parts lie one after the other in what `self` owned, and `self` is
                // gone (0). Its start is aligned to the largest of the alignments, and each part
                // starts at a multiple of its own from there (1).
                ($(unsafe { Shared::<'s, $layout, Part<P, $index, $count>>::new(self.offset + starts[$index]) },)+)
            }

            #[doc = concat!("Joins the ", $words, " parts again.")]
            pub fn $join($($part: Shared<'s, $layout, Part<P, $index, $count>>),+) -> Self {
                let offset = [$($part.offset),+][0];
                // SAFETY: all parts are given up, and parts of this brand and position come from
                // one `split` (0), whose first part starts where the whole did (1).
                unsafe { Shared::new(offset) }
            }
        }
    };
}
parts!(3, "three", join_three: A first 0, B second 1, C third 2);
parts!(4, "four", join_four: A first 0, B second 1, C third 2, D fourth 3);

/// Where each of several parts starts that lie one after the other, and where the last one ends,
/// given the bytes and the alignment of each.
pub(crate) const fn places<const N: usize>(extents: [(usize, usize); N]) -> ([usize; N], usize) {
    let (mut starts, mut end, mut index) = ([0; N], 0_usize, 0);
    while index < N {
        let (bytes, alignment) = extents[index];
        starts[index] = end.next_multiple_of(alignment);
        end = starts[index] + bytes;
        index += 1;
    }
    (starts, end)
}

/// The largest of several alignments.
pub(crate) const fn largest<const N: usize>(alignments: [usize; N]) -> usize {
    let (mut largest, mut index) = (1, 0);
    while index < N {
        largest = if alignments[index] > largest { alignments[index] } else { largest };
        index += 1;
    }
    largest
}
