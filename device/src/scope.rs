//! Scopes: whose copies a `wait` covers, and so what a waited-for tile lets a thread read.

/// The threads that a pipeline synchronises. Sealed: [`ThreadScope`], [`WarpScope`] and
/// [`BlockScope`].
///
/// | scope | `wait` adds | a thread may read |
/// |---|---|---|
/// | [`ThreadScope`] | nothing | the elements that it copied itself: [`Ready::own`] |
/// | [`WarpScope`] | `bar.warp.sync` | what its warp copied: [`Ready::of_warp`] |
/// | [`BlockScope`] | `bar.sync` | the whole tile |
///
/// [`Ready::own`]: crate::Ready::own
/// [`Ready::of_warp`]: crate::Ready::of_warp
///
/// At the narrower scopes each thread copies elements of its own: thread `r` of a block of
/// `THREADS` copies the elements from `r * LEN / THREADS` up to `(r + 1) * LEN / THREADS`, and a
/// warp copies those of its 32 threads.
///
/// CUDA: `cuda::thread_scope`.
pub trait Scope: 'static + sealed::Sealed {}

/// The calling thread alone (CUDA's `thread_scope_thread`): `wait` has no barrier.
pub enum ThreadScope {}

/// The 32 threads of a warp: `wait` ends with `bar.warp.sync` (CUDA: a thread-scope pipeline with
/// `__syncwarp()`).
pub enum WarpScope {}

/// All threads of a block (CUDA's `thread_scope_block`): `wait` ends with `bar.sync`, and every
/// thread may read the whole tile.
pub enum BlockScope {}

impl Scope for ThreadScope {}
impl Scope for WarpScope {}
impl Scope for BlockScope {}

mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no scope: `Scope` is sealed",
        label = "not one of tilepipe's scopes",
        note = "a pipeline trusts its scope to say who waits for whom: take `ThreadScope`, `WarpScope` or `BlockScope`"
    )]
    pub trait Sealed {}
    impl Sealed for super::ThreadScope {}
    impl Sealed for super::WarpScope {}
    impl Sealed for super::BlockScope {}
}

/// Says that each thread waits for its own copies alone, so that publishing has an effect.
#[diagnostic::on_unimplemented(
    message = "at `{Self}` a tile can't be published",
    label = "only a tile of a pipeline at `ThreadScope` is published",
    note = "at `BlockScope` all threads may read the tile behind `wait`: leave `publish` out; at `WarpScope` read \
            `tile.of_warp(&t)`, or make the stages `Stages<.., ThreadScope>` or `Stages<.., BlockScope>`"
)]
#[cfg_attr(doc, doc(hidden))]
pub trait ThreadsAlone: Scope {}
impl ThreadsAlone for ThreadScope {}

/// Says that a scope takes in at least a warp.
#[diagnostic::on_unimplemented(
    message = "at `{Self}` a thread may read only the elements that it copied itself",
    label = "this reads what other threads of the warp copied",
    note = "their copies may not have landed: read `tile.own(&t)`, or make the stages `Stages<.., WarpScope>`"
)]
#[cfg_attr(doc, doc(hidden))]
pub trait AtLeastWarp: Scope {}
impl AtLeastWarp for WarpScope {}
impl AtLeastWarp for BlockScope {}
