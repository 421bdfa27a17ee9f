//! One stage, while it is being filled.

use core::marker::PhantomData;

use super::contents::Fill;
use super::{PresenceOf, StageSet};
use crate::engine::{Completion, CompletionOf, LandingOf, UnannouncedOf};
use crate::group::filling::{FillingGroup, write_each};
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::tile::Tile;

/// An acquired stage, empty and to be filled.
///
/// # Invariants
///
/// 0. `memory` is the start of a stage of `K`. No copy into it is in flight, all reads of what it
///    held before have ended, and until its copies were committed and waited for nobody reads it
///    and nobody else writes it.
/// 1. The value is in code of the level of `K::Group`, which runs as one: all of its threads
///    execute it or, under a driver of roles, those among the first that have a part of a tile to
///    copy. A thread with a higher rank would copy nothing.
/// 2. Where copies complete by bytes `landing` is the stage's mbarrier, whose phase in progress
///    counts an arrival of the group's first thread that has not happened yet. No bytes were
///    announced to it. Who arrives is what `arrival` says.
#[must_use = "an acquired stage is to be filled: call `copy`"]
pub struct Stage<'x, K: StageSet> {
    memory: *mut u8,
    landing: LandingOf<K::Engine>,
    arrival: Arrival,
    brand: Brand<'x>,
    level: BlockLevel,
    stages: PhantomData<K>,
}

/// Where copies complete by bytes: how a stage's bytes are announced, and who arrives.
#[derive(Clone, Copy)]
pub(crate) enum Arrival {
    /// The phase counts one arrival, which is made with the announcement when the copies have been
    /// started: unified pipelines.
    WithCopies,
    /// The announcement follows the copies, and arrivals come later: roles by hand, which may leave
    /// a stage that they have filled to whoever settles their end.
    Later,
    /// Whoever was given the filled stage announces its bytes with the phase's one arrival: drivers
    /// of roles.
    WithAnnouncement,
}

/// The proof that a [`Stage`] was filled.
#[must_use = "return the filled stage from the closure that was given the empty one"]
pub struct StageFilled<'x, K: StageSet> {
    present: PresenceOf<K>,
    /// The bytes that are left to announce.
    unannounced: UnannouncedOf<K::Engine>,
    brand: Brand<'x>,
    level: BlockLevel,
}

impl<K: StageSet> !Uniform for Stage<'_, K> {}
impl<K: StageSet> !Uniform for StageFilled<'_, K> {}

impl<'x, K: StageSet> Stage<'x, K> {
    /// Makes the stage at `memory`.
    ///
    /// # Safety
    ///
    /// The invariants 0 to 2 hold.
    #[inline(always)]
    pub(crate) unsafe fn new(memory: *mut u8, landing: LandingOf<K::Engine>, arrival: Arrival) -> Self {
        Stage { memory, landing, arrival, brand: PhantomData, level: PhantomData, stages: PhantomData }
    }

    /// Starts to copy a tile, or zeros, into the stage; several tiles as a tuple, an optional one
    /// as an `Option`. Bytes beyond the end of a tile's view are zero.
    ///
    /// CUDA: `cuda::memcpy_async(group, ..)`.
    #[inline(always)]
    pub fn copy<F: Fill<K::Contents>>(self, source: F) -> StageFilled<'x, K> {
        let bytes = source.bytes::<K::Engine>();
        // SAFETY: nobody reads or writes the stage until the copies were committed and waited for
        // (0), and the filled stage has no way to its memory. Each thread of the group that a part
        // of the tile is dealt out to makes the call (1). The bytes are announced below, or by
        // whoever arrives (2).
        let present = unsafe { source.fill::<K::Engine, K::Group, K::Scope>(self.memory, self.landing) };
        let mut unannounced = CompletionOf::<K::Engine>::unannounced(0);
        if CompletionOf::<K::Engine>::BY_BYTES {
            match self.arrival {
                // SAFETY: (2), (1); this is the stage's only announcement, and its copies have been
                // started.
                Arrival::WithCopies => unsafe {
                    CompletionOf::<K::Engine>::arrive_expecting::<K::Group, K::Scope>(self.landing, bytes);
                },
                // SAFETY: (2), (1); this is the stage's only announcement.
                Arrival::Later if bytes > 0 => unsafe {
                    CompletionOf::<K::Engine>::expect::<K::Group, K::Scope>(self.landing, bytes);
                },
                Arrival::Later => {}
                Arrival::WithAnnouncement => unannounced = CompletionOf::<K::Engine>::unannounced(bytes),
            }
        }
        StageFilled { present, unannounced, brand: PhantomData, level: PhantomData }
    }
}

impl<'x, S: Tile, K: StageSet<Contents = S>> Stage<'x, K> {
    /// Has the threads of a group write the tile, each the elements from its rank on.
    ///
    /// # Safety
    ///
    /// The stage's group is `G`, all of whose threads make this call, at the group's level. The
    /// engine's commit makes ordinary stores visible, and all threads have met before one of them
    /// reads the tile.
    #[inline(always)]
    pub(crate) unsafe fn compute<G: FillingGroup>(
        self,
        group: &G,
        value: impl Fn(G::Thread<'_>, usize) -> S::Element,
    ) -> StageFilled<'x, K> {
        let each = |thread: G::Thread<'_>, element, _| value(thread, element);
        // SAFETY: nobody reads or writes the stage until it was committed and waited for (0), which
        // is aligned for its tile; the caller's promise.
        unsafe { write_each::<S, G, false>(group, self.memory.cast(), each) };
        StageFilled {
            present: (),
            unannounced: CompletionOf::<K::Engine>::unannounced(0),
            brand: PhantomData,
            level: PhantomData,
        }
    }
}

impl<K: StageSet> StageFilled<'_, K> {
    /// What to remember of the stage.
    #[inline(always)]
    pub(crate) fn present(&self) -> PresenceOf<K> {
        self.present
    }

    /// The bytes that are to be announced with the arrival ([`Arrival::WithAnnouncement`]).
    #[inline(always)]
    pub(crate) fn unannounced(&self) -> UnannouncedOf<K::Engine> {
        self.unannounced
    }
}
