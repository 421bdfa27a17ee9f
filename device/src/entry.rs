//! The way into a kernel: what the code that `#[kernel]` generates calls. Not for users.

use core::marker::PhantomData;

use crate::block::Block;
use crate::element::Element;
use crate::isa;
use crate::output::{Arrangement, TilesMut};
use crate::output2d::TilesMut2D;
use crate::shared::{Layout, Shared};
use crate::tile::{BlockLevel, Brand, Tile};
use crate::view::TileView;
use crate::view2d::TileView2D;

/// One argument as it travels to the kernel: four 64-bit words, passed by value.
///
/// A view is its base address in bytes and its length in elements; a scalar is its own bytes, first word first.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawParameter {
    /// The argument's words.
    pub words: [u64; 4],
}

/// Runs one kernel body: hands out its block, its parameters and its shared memory under a lifetime of their own, and
/// waits for all asynchronous copies before it returns.
///
/// The lifetime is generative: a body that compiles here compiles for every lifetime, so a kernel can't keep a view, a
/// token or a tile beyond its own run.
///
/// # Safety
///
/// Called once by every thread of a block at its entry point (on the CPU: once a block, with the block's context in
/// place), and `body` makes one block, one shared memory and one of each parameter of its [`Entry`].
#[inline(always)]
pub unsafe fn run(body: impl for<'k> FnOnce(Entry<'k>)) {
    body(Entry { brand: PhantomData, level: PhantomData });
    isa::cp_async_wait_all();
}

/// One run of one kernel in one block.
pub struct Entry<'k> {
    brand: Brand<'k>,
    level: BlockLevel,
}

impl<'k> Entry<'k> {
    /// Makes the kernel's block.
    ///
    /// # Safety
    ///
    /// Called once, at the entry point, in a launch of `THREADS` threads a block.
    #[inline(always)]
    pub unsafe fn block<const THREADS: usize>(&self) -> Block<'k, THREADS> {
        // SAFETY: at the entry point all threads are converged, and block-level code keeps them so (R1 to R4); the block
        // size and the uniqueness are the caller's promise.
        unsafe { Block::assume_converged() }
    }

    /// Makes a parameter from its words.
    ///
    /// # Safety
    ///
    /// Called once for each parameter; `raw` is what the launch checked for a parameter of type `P` and holds for the
    /// whole launch.
    #[inline(always)]
    pub unsafe fn parameter<P: Parameter<'k>>(&self, raw: RawParameter) -> P {
        // SAFETY: the caller's promise.
        unsafe { P::from_raw(raw) }
    }

    /// Makes the kernel's shared memory.
    ///
    /// # Safety
    ///
    /// Called once, in a launch with `L::BYTES` bytes of dynamic shared memory.
    #[inline(always)]
    pub unsafe fn shared<L: Layout>(&self) -> Shared<'k, L> {
        // SAFETY: the whole of the block's shared memory, from its start, which is aligned to 128 bytes; given out once.
        unsafe { Shared::new(0) }
    }
}

/// A type that a kernel can take as a parameter beside its block and its shared memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a parameter of a kernel",
    note = "a kernel takes `Block<THREADS>` first, then views (`Tiles`, `Halos`, `Tiles2D`, `TilesMut`, ..) and scalars, then at most one \
            `Shared`"
)]
pub trait Parameter<'k>: Sized + sealed::Sealed {
    /// What a launch checks the argument against.
    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo;

    /// Makes the parameter from its words.
    ///
    /// # Safety
    ///
    /// `raw` holds what `INFO` says, valid for `'k`, which lasts no longer than the launch.
    unsafe fn from_raw(raw: RawParameter) -> Self;
}

mod sealed {
    /// Keeps [`Parameter`](super::Parameter) to this crate's types: a launch trusts what it says.
    pub trait Sealed {}
}

impl<S: Tile> sealed::Sealed for TileView<'_, S> {}
impl<S: Tile> sealed::Sealed for TileView2D<'_, S> {}
impl<T: Element, const LEN: usize, A: Arrangement> sealed::Sealed for TilesMut<'_, T, LEN, A> {}
impl<T: Element, const ROWS: usize, const COLUMNS: usize> sealed::Sealed for TilesMut2D<'_, T, ROWS, COLUMNS> {}

impl<'k, S: Tile> Parameter<'k> for TileView<'k, S> {
    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo =
        crate::launch::ParameterInfo::of::<S::Element>(crate::launch::ParameterKind::Input, 16);

    #[inline(always)]
    unsafe fn from_raw(raw: RawParameter) -> Self {
        // SAFETY: the launch checked that an input of this element type, aligned to 16, stands behind the words and that
        // nobody writes it meanwhile.
        unsafe { TileView::new(raw.words[0] as *const S::Element, raw.words[1] as usize) }
    }
}

impl<'k, T: Element, const LEN: usize, A: Arrangement> Parameter<'k> for TilesMut<'k, T, LEN, A> {
    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo =
        crate::launch::ParameterInfo::of::<T>(crate::launch::ParameterKind::Output, 16);

    #[inline(always)]
    unsafe fn from_raw(raw: RawParameter) -> Self {
        // SAFETY: the launch checked that an output of this element type stands behind the words, that only this launch
        // touches it, and each block makes one view of it.
        unsafe { TilesMut::new(raw.words[0] as *mut T, raw.words[1] as usize) }
    }
}

impl<'k, S: Tile> Parameter<'k> for TileView2D<'k, S> {
    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo =
        crate::launch::ParameterInfo::two_dimensional::<S::Element>(crate::launch::ParameterKind::Input, S::ALIGNMENT);

    #[inline(always)]
    unsafe fn from_raw(raw: RawParameter) -> Self {
        let [base, width, height, pitch] = raw.words;
        // SAFETY: the launch checked that an input of this element type with these rows, aligned to 16 and at a pitch of a
        // multiple of ALIGNMENT bytes, stands behind the words and that nobody writes it meanwhile.
        unsafe { TileView2D::new(base as *const S::Element, width as usize, height as usize, pitch as usize) }
    }
}

impl<'k, T: Element, const ROWS: usize, const COLUMNS: usize> Parameter<'k> for TilesMut2D<'k, T, ROWS, COLUMNS> {
    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo =
        crate::launch::ParameterInfo::two_dimensional::<T>(crate::launch::ParameterKind::Output, 1);

    #[inline(always)]
    unsafe fn from_raw(raw: RawParameter) -> Self {
        let [base, width, height, pitch] = raw.words;
        // SAFETY: the launch checked that an output of this element type with these rows stands behind the words, that only
        // this launch touches it, and each block makes one view of it.
        unsafe { TilesMut2D::new(base as *mut T, width as usize, height as usize, pitch as usize) }
    }
}

macro_rules! scalars {
    ($($scalar:ty),*) => {$(
        impl sealed::Sealed for $scalar {}
        impl<'k> Parameter<'k> for $scalar {
            #[cfg(not(target_arch = "nvptx64"))]
            const INFO: crate::launch::ParameterInfo =
                crate::launch::ParameterInfo::of::<$scalar>(crate::launch::ParameterKind::Scalar, 1);

            #[inline(always)]
            unsafe fn from_raw(raw: RawParameter) -> Self {
                let mut bytes = [0; size_of::<$scalar>()];
                bytes.copy_from_slice(&raw.words[0].to_le_bytes()[..size_of::<$scalar>()]);
                <$scalar>::from_le_bytes(bytes)
            }
        }
    )*};
}
scalars!(u32, i32, u64, i64, f32, f64, usize);

/// What a kernel function's type says about its launch.
#[diagnostic::on_unimplemented(
    message = "a function with these parameters can't be a kernel",
    label = "not the parameters of a kernel",
    note = "a kernel takes `Block<THREADS>` first, then up to eight views (`Tiles`, `Halos`, `Tiles2D`, `TilesMut`, ..) and scalars, \
            then at most one `Shared`, each of a valid type"
)]
pub trait KernelFunction<Arguments> {
    /// Threads a block.
    const THREADS: u32;
    /// Bytes of shared memory.
    const SHARED_BYTES: usize;
    /// Alignment of the shared memory in bytes.
    const SHARED_ALIGNMENT: usize;
    /// The parameters beside the block and the shared memory.
    #[cfg(not(target_arch = "nvptx64"))]
    const PARAMETERS: &'static [crate::launch::ParameterInfo];
}

macro_rules! kernel_functions {
    ($($argument:ident)*) => {
        impl<'k, F, const THREADS: usize, $($argument: Parameter<'k>),*>
            KernelFunction<(Block<'k, THREADS>, $($argument,)*)> for F
        where
            F: Fn(Block<'k, THREADS>, $($argument),*),
        {
            const THREADS: u32 = THREADS as u32;
            const SHARED_BYTES: usize = 0;
            const SHARED_ALIGNMENT: usize = 1;
            #[cfg(not(target_arch = "nvptx64"))]
            const PARAMETERS: &'static [crate::launch::ParameterInfo] = &[$($argument::INFO),*];
        }

        impl<'k, F, const THREADS: usize, L: Layout, $($argument: Parameter<'k>),*>
            KernelFunction<(Block<'k, THREADS>, $($argument,)* Shared<'k, L>)> for F
        where
            F: Fn(Block<'k, THREADS>, $($argument,)* Shared<'k, L>),
        {
            const THREADS: u32 = THREADS as u32;
            const SHARED_BYTES: usize = L::BYTES;
            const SHARED_ALIGNMENT: usize = L::ALIGNMENT;
            #[cfg(not(target_arch = "nvptx64"))]
            const PARAMETERS: &'static [crate::launch::ParameterInfo] = &[$($argument::INFO),*];
        }
    };
}
kernel_functions!();
kernel_functions!(A);
kernel_functions!(A B);
kernel_functions!(A B C);
kernel_functions!(A B C D);
kernel_functions!(A B C D E);
kernel_functions!(A B C D E G);
kernel_functions!(A B C D E G H);
kernel_functions!(A B C D E G H I);

/// The block size of a kernel function.
pub const fn threads<F: KernelFunction<A>, A>(_: &F) -> u32 {
    F::THREADS
}

/// The shared memory of a kernel function: bytes and alignment.
pub const fn shared<F: KernelFunction<A>, A>(_: &F) -> (usize, usize) {
    (F::SHARED_BYTES, F::SHARED_ALIGNMENT)
}

/// The parameters of a kernel function.
#[cfg(not(target_arch = "nvptx64"))]
pub const fn parameters<F: KernelFunction<A>, A>(_: &F) -> &'static [crate::launch::ParameterInfo] {
    F::PARAMETERS
}
