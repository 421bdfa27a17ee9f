//! Where the stages, barriers and words of a pipeline between two groups lie in shared memory.

use core::marker::PhantomData;

use super::Handover;
use crate::engine::{Completion, CompletionOf, LandingOf};
use crate::isa::product::check_warpgroups;
use crate::isa::{self, Mbarrier, Members};
use crate::memory::Layout;
use crate::stage::PresenceOf;
use crate::stage::contents::{self, sealed::Contents};
use crate::stage::presence::Presence;

/// Bytes of the barriers and words of a pipeline of this number of stages: two barriers and three
/// words per stage, and a barrier and two words per end.
pub(crate) const fn control_bytes(stages: usize) -> usize {
    (stages * (2 * 8 + 3 * 4) + 2 * (8 + 2 * 4)).next_multiple_of(16)
}

/// The memory of a pipeline between two groups.
///
/// # Invariants
///
/// 0. `offset` is where `K::Layout::BYTES` bytes of the block's shared memory start, aligned to 16,
///    that belong to this pipeline.
pub(crate) struct Memory<K> {
    offset: usize,
    channel: PhantomData<K>,
}

impl<K> Clone for Memory<K> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Memory<K> {}

impl<K: Handover> Memory<K> {
    const FULL: usize = K::COUNT * K::STRIDE;
    const EMPTY: usize = Self::FULL + 8 * K::COUNT;
    const AGREE: usize = Self::EMPTY + 8 * K::COUNT;
    const CLOSED: usize = Self::AGREE + 2 * 8;
    const PRESENT: usize = Self::CLOSED + 2 * 4 * K::COUNT;
    const DECISIONS: usize = Self::PRESENT + 4 * K::COUNT;

    /// Whether the word that says whether there is a tile has an arrival of its own after it. (An
    /// asynchronous arrival orders copies alone. The arrival of the thread that issues bulk copies
    /// orders the word too.)
    pub(crate) const TOLD_APART: bool = PresenceOf::<K>::TOLD && !CompletionOf::<K::Engine>::BY_BYTES;

    /// Arrivals that fill a stage: of each producer, and perhaps one more
    /// ([`TOLD_APART`](Self::TOLD_APART)).
    pub(crate) const fn filled(producers: Members) -> u32 {
        producers.count as u32 + Self::TOLD_APART as u32
    }

    /// Arrivals that empty a stage: of each consumer. (One per warp, after a barrier of the warp,
    /// is slower: docs/performance.md.)
    ///
    /// Of stages that products alone read it is one per warp, behind its wait for the product.
    const EMPTIED: u32 =
        if Self::READ_BY_THREADS { K::CONSUMERS.count as u32 } else { (K::CONSUMERS.count / isa::WARP) as u32 };

    /// What all `members` say alike. In a pipeline of products each whole warp says it in common:
    /// the assembler then knows that a loop ends for all of its threads at once, and that the
    /// stage's number is the same in them.
    ///
    /// # Safety
    ///
    /// All `members` make this call.
    #[inline(always)]
    pub(super) unsafe fn said_in_warps(said: bool, members: Members) -> bool {
        if !Self::OF_PRODUCTS || !members.are_whole_warps() {
            return said;
        }
        // SAFETY: the caller's promise.
        unsafe { isa::any_in_warp(said) }
    }

    /// Whether producers ask behind their copies into a stage whether the consumers have left, and
    /// so fill one that was passed closed (docs/decisions/89). Nobody reads it then: a role's
    /// products are complete when it leaves.
    pub(crate) const ASKED_BEHIND_COPIES: bool = Self::OF_PRODUCTS;

    /// Whether tensor cores alone read the stages.
    const OF_PRODUCTS: bool = !<K::Contents as Contents>::READ_BY_THREADS;

    /// Whether threads read the stages. Refuses, at compile time, consumers that can't multiply.
    pub(super) const READ_BY_THREADS: bool = {
        let by_threads = <K::Contents as Contents>::READ_BY_THREADS;
        if !by_threads {
            check_warpgroups(K::CONSUMERS);
        }
        by_threads
    };

    /// Whether the threads of the roles are interleaved, so that a warp has threads of both.
    const INTERLEAVED: bool = K::PRODUCERS.stride > 1;

    /// Whether a warp has threads of both roles: a role that begins within a warp shares it.
    const SHARES_WARPS: bool =
        !(K::PRODUCERS.first.is_multiple_of(isa::WARP) && K::CONSUMERS.first.is_multiple_of(isa::WARP));

    /// Those of the role's threads that take part in filling under a driver: where a tile has fewer
    /// units of a copy than the role has threads, that many of the first threads, since the others
    /// never copy.
    ///
    /// With interleaved roles and more than two stages all of them do: their warps are busy with
    /// the other role anyway, and the handover is a little faster (measured: docs/performance.md).
    pub(crate) const COPIERS: Members = {
        let all = K::PRODUCERS;
        let copiers = contents::copiers::<K::Contents, K::Engine>(all.count);
        let all_wait = Self::INTERLEAVED && K::COUNT > 2 && !CompletionOf::<K::Engine>::BY_BYTES;
        if all_wait { all } else { Members { count: copiers, ..all } }
    };

    /// Whether a driver takes stages in laps, of which each has the code of all stages. Not where
    /// all threads of an interleaved role copy: there one stage a round is faster (measured:
    /// docs/performance.md).
    pub(crate) const LAPS: bool = {
        let producers = K::PRODUCERS.count;
        !(Self::INTERLEAVED && contents::copiers::<K::Contents, K::Engine>(producers) == producers)
    };

    /// # Safety
    ///
    /// Invariant 0 holds.
    #[inline(always)]
    pub(crate) unsafe fn new(offset: usize) -> Self {
        const { assert!(Self::DECISIONS + 4 * 4 <= K::Layout::BYTES) };
        Memory { offset, channel: PhantomData }
    }

    /// Makes the barriers and clears the words, for stages that `producers` fill.
    ///
    /// # Safety
    ///
    /// Called by one thread; the others use the memory only after a barrier of the block.
    #[inline(always)]
    pub(crate) unsafe fn init(self, producers: Members) {
        for stage in 0..K::COUNT as u32 {
            for end in 0..2 {
                // SAFETY: the word lies in the pipeline's memory, and nobody else uses it yet.
                unsafe { self.closed(end, stage).write(0) };
            }
        }
        for (end, members) in [(0, K::PRODUCERS), (1, K::CONSUMERS)] {
            // SAFETY: the barrier lies in the pipeline's memory, aligned to 8, and nobody uses it
            // yet.
            unsafe { isa::mbarrier_init(self.agree(end), members.count as u32) };
            isa::mbarrier_name(self.agree(end), "decided", end);
        }
        // SAFETY: the caller's promise.
        unsafe { self.init_stages(producers) };
    }

    /// Makes the stages' barriers alone. Two ends need nothing else if neither leaves before the
    /// other and neither waits for a limited time.
    ///
    /// # Safety
    ///
    /// As for [`init`](Self::init).
    #[inline(always)]
    pub(crate) unsafe fn init_stages(self, producers: Members) {
        for stage in 0..K::COUNT as u32 {
            // SAFETY: the barrier lies in the pipeline's memory, aligned to 8, and nobody uses it
            // yet.
            unsafe { isa::mbarrier_init(self.full(stage), Self::filled(producers)) };
            // SAFETY: this one too lies there, aligned to 8, and nobody uses it yet.
            unsafe { isa::mbarrier_init(self.empty(stage), Self::EMPTIED) };
            isa::mbarrier_name(self.full(stage), "full", stage);
            isa::mbarrier_name(self.empty(stage), "empty", stage);
        }
        if CompletionOf::<K::Engine>::BY_BYTES {
            isa::fence_mbarrier_init();
        }
    }

    /// Ends the barriers.
    ///
    /// # Safety
    ///
    /// Called by one thread; no thread uses them any more and no arrival is in flight.
    #[inline(always)]
    pub(crate) unsafe fn inval(self) {
        // SAFETY: the caller's promise; `init` made them.
        unsafe { self.inval_stages() };
        for end in 0..2 {
            // SAFETY: `init` made this one too, and the caller promises that nobody uses it.
            unsafe { isa::mbarrier_inval(self.agree(end)) };
        }
    }

    /// Ends the stages' barriers, where there are no others.
    ///
    /// # Safety
    ///
    /// As for [`inval`](Self::inval).
    #[inline(always)]
    pub(crate) unsafe fn inval_stages(self) {
        for stage in 0..K::COUNT as u32 {
            // SAFETY: they were made; the caller's promise.
            unsafe { isa::mbarrier_inval(self.full(stage)) };
            // SAFETY: this one too was made, and the caller promises that nobody uses it.
            unsafe { isa::mbarrier_inval(self.empty(stage)) };
        }
    }

    /// Waits for the phase of this parity of a stage's barrier.
    ///
    /// Where bulk copies go between roles that share warps the thread is suspended briefly, since
    /// the other role's threads of its warp have something to do. In all other pipelines that would
    /// be slower (docs/decisions/62).
    ///
    /// # Safety
    ///
    /// `barrier` is one of this pipeline's, which was made and has not ended; `parity` is 0 or 1.
    #[inline(always)]
    pub(crate) unsafe fn wait_for(barrier: Mbarrier, parity: u32) {
        if CompletionOf::<K::Engine>::BY_BYTES && Self::SHARES_WARPS {
            // SAFETY: the caller's promise.
            unsafe { isa::mbarrier_wait_briefly(barrier, parity) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { isa::mbarrier_wait(barrier, parity) };
        }
    }

    /// The first byte of a stage.
    #[inline(always)]
    pub(crate) fn stage(self, stage: u32) -> *mut u8 {
        self.at(stage as usize * K::STRIDE)
    }

    /// The first byte of a stage that threads of the consumers read from here on: it says so to the
    /// model of copies, if they read such stages at all.
    ///
    /// # Safety
    ///
    /// The consumers have the stage.
    #[inline(always)]
    pub(crate) unsafe fn stage_to_read(self, stage: u32) -> *const u8 {
        let first = self.stage(stage);
        if CompletionOf::<K::Engine>::BY_BYTES && Self::READ_BY_THREADS {
            // SAFETY: the caller's promise.
            unsafe { isa::stage_read(first, crate::stage::bytes::<K>(), self.empty(stage)) };
        }
        first
    }

    /// Says, in one thread, whether the stage holds a tile.
    ///
    /// # Safety
    ///
    /// The calling thread is the producers' first, and they have the stage.
    #[inline(always)]
    pub(crate) unsafe fn write_presence(self, stage: u32, presence: PresenceOf<K>) {
        // SAFETY: the word lies in the pipeline's memory; the consumers read it after the arrival
        // that follows.
        unsafe { self.present(stage).write(presence.to_word()) };
    }

    /// Whether the stage holds a tile.
    ///
    /// # Safety
    ///
    /// The calling thread is a consumer's, and they have the stage.
    #[inline(always)]
    pub(crate) unsafe fn presence(self, stage: u32) -> PresenceOf<K> {
        // A pipeline whose stages always hold their tiles has nothing to read.
        if !PresenceOf::<K>::TOLD {
            return PresenceOf::<K>::from_word(1);
        }
        // SAFETY: as for `write_presence`, before whose arrival the phase could not end.
        PresenceOf::<K>::from_word(unsafe { self.present(stage).read() })
    }

    #[inline(always)]
    pub(crate) fn full(self, stage: u32) -> Mbarrier {
        isa::mbarrier_at(self.offset + Self::FULL + 8 * stage as usize)
    }

    /// Where the copies into a stage complete.
    #[inline(always)]
    pub(crate) fn landing(self, stage: u32) -> LandingOf<K::Engine> {
        CompletionOf::<K::Engine>::landing(|| self.full(stage))
    }

    #[inline(always)]
    pub(crate) fn empty(self, stage: u32) -> Mbarrier {
        isa::mbarrier_at(self.offset + Self::EMPTY + 8 * stage as usize)
    }

    #[inline(always)]
    fn agree(self, end: u32) -> Mbarrier {
        isa::mbarrier_at(self.offset + Self::AGREE + 8 * end as usize)
    }

    /// The word by which the end `by` (0: the producers) says that it passed the stage as closed.
    ///
    /// Each end has its own: the first thread of a role that leaves writes it while slower threads
    /// of the same role may still be asking whether the other end has left.
    #[inline(always)]
    pub(crate) fn closed(self, by: u32, stage: u32) -> *mut u32 {
        // Products' loops compute one offset for the stage's mbarriers and words.
        let offset =
            if Self::OF_PRODUCTS { 8 * stage as usize + 4 * by as usize } else { 4 * (2 * stage + by) as usize };
        self.at(Self::CLOSED + offset).cast()
    }

    #[inline(always)]
    fn present(self, stage: u32) -> *mut u32 {
        self.at(Self::PRESENT + 4 * stage as usize).cast()
    }

    #[inline(always)]
    fn decision(self, end: u32, turn: u32) -> *mut u32 {
        self.at(Self::DECISIONS + 4 * (2 * end + turn) as usize).cast()
    }

    #[inline(always)]
    fn at(self, offset: usize) -> *mut u8 {
        // SAFETY: callers name stages below COUNT, ends and turns below 2, so the offset lies in
        // the pipeline's memory (0).
        unsafe { isa::shared_base().add(self.offset + offset) }
    }

    /// Has the first of `members` decide.
    #[inline(always)]
    pub(crate) fn agree_in(self, members: Members, end: u32, turn: u32, decide: impl FnOnce() -> bool) -> bool {
        let word = self.decision(end, turn);
        isa::for_first_member(members, || {
            let decision = u32::from(decide());
            // SAFETY: the word lies in the pipeline's memory. All members have read the decision
            // that it held, two turns ago, before they arrived for the turn in between, which this
            // thread has waited for.
            unsafe { word.write(decision) };
        });
        // SAFETY: the barrier counts one arrival of each member per turn.
        unsafe { isa::mbarrier_arrive(self.agree(end), members) };
        // SAFETY: `init` made the barrier. Its phases alternate in step with the turns, which are 0
        // or 1.
        unsafe { isa::mbarrier_wait(self.agree(end), turn) };
        // SAFETY: written before the first member's arrival, and written again at the earliest two
        // turns later.
        unsafe { word.read() != 0 }
    }
}
