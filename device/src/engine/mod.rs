//! Copy engines: what moves a tile from global to shared memory.
//!
//! The engine is a type that the kernel's author picks in [`Stages`](crate::Stages); none is ever
//! replaced silently. An engine is a choice of three things:
//!
//! - what it reads: linear views ([`sealed::Linear`]);
//! - who issues its copies: at most [`MOST_ISSUERS`](sealed::Engine::MOST_ISSUERS) threads of the
//!   group;
//! - how they complete: its [`Completion`].
//!
//! What pipelines do follows from the completion: none of them names an instruction of an engine.

mod completion;
mod cp_async;
mod load_store;
mod units;

pub use completion::Completion;
pub(crate) use completion::drain_all;
pub use cp_async::CpAsync;
pub use load_store::LoadStore;

/// A copy engine. Sealed: [`CpAsync`] and [`LoadStore`].
pub trait Engine: sealed::Linear + 'static {}

impl Engine for CpAsync {}
impl Engine for LoadStore {}

/// The completion of an engine.
pub(crate) type CompletionOf<E> = <E as sealed::Engine>::Completion;

pub(crate) mod sealed {
    use super::Completion;
    use crate::group::Deal;
    use crate::scope::Scope;
    use crate::tile::Tile;
    use crate::view::tile_ref::TileRef;

    /// What is the same for all stages that an engine fills.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no copy engine: `Engine` is sealed",
        label = "not one of tilepipe's engines",
        note = "a pipeline trusts its engine to say when copies have landed: take `CpAsync` or `LoadStore`"
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
    }

    /// The copies of an engine that reads linear views, one call per group of threads.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no copy engine: `Engine` is sealed",
        label = "not one of tilepipe's engines",
        note = "a pipeline trusts its engine to say when copies have landed: take `CpAsync` or `LoadStore`"
    )]
    pub trait Linear: Engine {
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
        unsafe fn copy<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8, source: TileRef<'_, T>);
        /// Starts to fill a tile with zeros.
        ///
        /// # Safety
        ///
        /// As for [`copy`](Linear::copy).
        unsafe fn zero<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8);
    }
}
