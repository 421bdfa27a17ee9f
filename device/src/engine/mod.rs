//! Copy engines: what moves a tile from global to shared memory.
//!
//! The engine is a type that the kernel's author picks in [`Stages`](crate::Stages); none is ever
//! replaced silently. An engine is a choice of three things:
//!
//! - what it reads: linear views ([`sealed::Linear`]), or tensors by their maps
//!   ([`sealed::Boxes`]);
//! - who issues its copies: at most [`MOST_ISSUERS`](sealed::Engine::MOST_ISSUERS) threads of the
//!   group;
//! - how they complete: its [`Completion`].
//!
//! What pipelines do follows from the completion: none of them names an instruction of an engine.

mod bulk;
mod completion;
mod cp_async;
mod load_store;
mod tensor_map;
mod units;

pub use bulk::Bulk;
pub use completion::Completion;
pub(crate) use completion::{drain_all, drain_stores};
pub use cp_async::CpAsync;
pub use load_store::LoadStore;
pub use tensor_map::TensorMap;

/// A copy engine. Sealed: [`CpAsync`], [`LoadStore`], [`Bulk`] and [`TensorMap`].
///
/// A kernel that is generic over it uses the drivers, roles, or
/// [`Shared::with_pipeline`](crate::Shared::with_pipeline); for steps by hand elsewhere it asks for
/// [`ByHand`].
pub trait Engine: sealed::Linear + sealed::Boxes + StepsIn<InScope> + 'static {}

impl Engine for CpAsync {}
impl Engine for LoadStore {}
impl Engine for Bulk {}
impl Engine for TensorMap {}

/// An engine of a pipeline whose steps are taken by hand wherever it is: [`CpAsync`] and
/// [`LoadStore`]. A kernel that is generic over these asks for it.
///
/// Those of a pipeline of [`Bulk`] are taken inside
/// [`Shared::with_pipeline`](crate::Shared::with_pipeline), which every [`Engine`] has.
#[diagnostic::on_unimplemented(
    message = "a copy of `{Self}` is started by a driver, or inside `shared.with_pipeline(&block, |pipe| ..)`",
    label = "single copies and queues are for `CpAsync` and `LoadStore`",
    note = "the copy engine must not write the memory of a block that has ended, so somebody waits for it: `with_pipeline` does, and so \
            do the drivers `map_tiles`, `for_each_tile` and `for_each` of `shared.pipeline(&block)`"
)]
pub trait ByHand: Engine {}

/// Says that an engine's commit makes ordinary stores visible. Only that of [`LoadStore`] does.
#[diagnostic::on_unimplemented(
    message = "a stage of the engine `{Self}` can't be computed: its commit waits for asynchronous copies only",
    label = "who reads the stage would not wait for these stores",
    note = "make the stages `Stages<[T; LEN], COUNT, LoadStore>`, or `copy` a tile"
)]
pub trait OrdinaryStores: Engine {}
impl OrdinaryStores for LoadStore {}

/// Says that a pipeline of this engine can be taken step by step where it was made: in `Place`.
#[diagnostic::on_unimplemented(
    message = "the steps of a pipeline of `{Self}` by hand are taken inside `shared.with_pipeline(&block, |pipe| ..)`",
    label = "this pipeline was made by `shared.pipeline(&block)`",
    note = "the copy engine must not write the memory of a block that has ended, so somebody waits for it: `with_pipeline` does, and so \
            do the drivers `map_tiles`, `for_each_tile` and `for_each` of `shared.pipeline(&block)`"
)]
pub trait StepsIn<Place> {}

/// The place of a pipeline that its owner may drop at any step.
pub enum Anywhere {}
/// The place of a pipeline inside a function that waits for its copies, whatever becomes of it.
pub enum InScope {}

impl<E: ByHand> StepsIn<Anywhere> for E {}
impl<E: sealed::Engine> StepsIn<InScope> for E {}

/// The completion of an engine.
pub(crate) type CompletionOf<E> = <E as sealed::Engine>::Completion;
/// Where the copies of an engine into a stage complete.
pub(crate) type LandingOf<E> = <CompletionOf<E> as Completion>::Landing;
/// Bytes that are left to announce of an engine's copies.
pub(crate) type UnannouncedOf<E> = <CompletionOf<E> as Completion>::Unannounced;

pub(crate) mod sealed {
    use super::{Completion, LandingOf};
    use crate::element::Element;
    use crate::group::Deal;
    use crate::scope::Scope;
    use crate::tensor::{Extents, Swizzle, TensorBox};
    use crate::tile::Tile;
    use crate::view::tile_ref::TileRef;

    /// What is the same for all stages that an engine fills.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no copy engine: `Engine` is sealed",
        label = "not one of tilepipe's engines",
        note = "a pipeline trusts its engine to say when copies have landed: take `CpAsync`, `LoadStore`, `Bulk` or `TensorMap`"
    )]
    pub trait Engine {
        /// How its copies complete.
        type Completion: Completion;
        /// The most threads of a group that issue copies.
        const MOST_ISSUERS: usize;
        /// The least unit of a copy in bytes: a tile's size and alignment are multiples of it.
        const LEAST_UNIT: usize;
        /// Whether a unit is as wide as the tile's alignment allows; if not it is an element.
        const WIDE_UNITS: bool;
        /// Whether it copies boxes of tensors, and not tiles of linear views.
        const COPIES_BOXES: bool = false;
    }

    /// The copies of an engine that finds boxes of tensors by their maps.
    pub trait Boxes: Engine + Sized {
        /// Starts to copy a box to `destination`, by the first thread of `G`. What lies beyond the
        /// tensor is zero, and counts.
        ///
        /// # Safety
        ///
        /// As for [`copy`](Linear::copy), of a tile that starts at a multiple of its alignment; all
        /// bytes of the box were announced.
        unsafe fn copy_box<T: Element, X: Extents, W: Swizzle, G: Deal<S>, S: Scope>(
            destination: *mut u8,
            landing: LandingOf<Self>,
            source: TensorBox<'_, T, X, W>,
        ) {
            let _ = (destination, landing, source);
            const { panic!("the engine of a pipeline of tensor tiles is `TensorMap`") }
        }

        /// Starts to fill a box's room of `bytes` bytes with zeros.
        ///
        /// # Safety
        ///
        /// As for [`copy_box`](Self::copy_box).
        unsafe fn zero_box<G: Deal<S>, S: Scope>(destination: *mut u8, landing: LandingOf<Self>, bytes: usize) {
            let _ = (destination, landing, bytes);
            const { panic!("the engine of a pipeline of tensor tiles is `TensorMap`") }
        }
    }

    impl Boxes for super::CpAsync {}
    impl Boxes for super::LoadStore {}
    impl Boxes for super::Bulk {}

    /// The copies of an engine that reads linear views, one call per group of threads.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no copy engine: `Engine` is sealed",
        label = "not one of tilepipe's engines",
        note = "a pipeline trusts its engine to say when copies have landed: take `CpAsync`, `LoadStore`, `Bulk` or `TensorMap`"
    )]
    pub trait Linear: Engine + Sized {
        /// Starts to copy `source` to `destination` by the threads of `G`, as scope `S` deals it
        /// out. Bytes of the tile beyond the view are zero.
        ///
        /// # Safety
        ///
        /// 0. `destination` is the start of a tile `T` of a stage in shared memory, aligned as
        ///    `Contents::ALIGNMENT` says.
        /// 1. No thread reads or writes that stage until the copy was committed and waited for and
        ///    the scope synchronised, and no thread may still be reading it from before.
        /// 2. Called by threads of the group, which has the number of threads that its type says,
        ///    and by each thread that a unit of the tile is dealt out to.
        /// 3. Where copies complete by bytes `landing` is the stage's mbarrier: valid, and the
        ///    group's first thread announces the bytes of the stage and arrives, after the call.
        unsafe fn copy<T: Tile, G: Deal<S>, S: Scope>(
            destination: *mut u8,
            landing: LandingOf<Self>,
            source: TileRef<'_, T>,
        );
        /// Starts to fill a tile with zeros.
        ///
        /// # Safety
        ///
        /// As for [`copy`](Linear::copy).
        unsafe fn zero<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8, landing: LandingOf<Self>);
        /// The bytes that [`copy`](Linear::copy) of this source, or [`zero`](Linear::zero), has
        /// land at the stage's mbarrier: at most `u32::MAX`.
        #[inline(always)]
        fn bytes<T: Tile>(_: Option<&TileRef<'_, T>>) -> u32 {
            0
        }
    }
}
