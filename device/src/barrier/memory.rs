//! Where the stages, barriers and words of a pipeline between two groups lie in shared memory.

use core::marker::PhantomData;
use core::num::NonZeroU32;
use core::ptr;

use super::Handover;
use crate::engine::{Completion, CompletionOf, LandingOf};
use crate::isa::product::{Start, check_warpgroups};
use crate::isa::{self, Mbarrier, Members, Phase, SharedOrigin};
use crate::memory::Layout;
use crate::stage::PresenceOf;
use crate::stage::contents::{self, sealed::Contents};
use crate::stage::presence::Presence;

/// Bytes of the barriers and words of a pipeline of this number of stages: two barriers and three
/// words per stage, and a barrier and two words per end.
///
/// A single stage has too few words for what a pipeline of products has in place of those of a
/// second one.
pub(crate) const fn control_bytes(stages: usize) -> usize {
    (stages * (2 * 8 + 3 * 4) + 2 * (8 + 2 * 4)).next_multiple_of(16) + if stages == 1 { 16 } else { 0 }
}

/// Bytes of the words by which ends leave: two per stage. In a pipeline of products there are two
/// in all, and a barrier behind them.
const fn closed_bytes(stages: usize) -> usize {
    2 * 4 * if stages == 1 { 2 } else { stages }
}

/// The memory of a pipeline between two groups.
///
/// # Invariants
///
/// 0. Of `place` the lower half is where `K::Layout::BYTES` bytes of the block's shared memory
///    start, aligned to 16, that belong to this pipeline.
///
/// The number has the type of a pointer. Results that have an end in either way lay it over the
/// pointer to the end's state, and LLVM keeps the state in local memory where that pointer is an
/// integer in one of the ways.
pub(crate) struct Memory<K> {
    /// No pointer, but a number: the offset into the block's shared memory, and in the upper half
    /// where that starts, 0 or a [`SharedOrigin`].
    place: *const (),
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
    /// Where consumers of operand tiles arrive when they have left, and producers with copies on
    /// their way: behind both ends' marks.
    const LEFT: usize = Self::CLOSED + 2 * 4;
    const PRESENT: usize = Self::CLOSED + closed_bytes(K::COUNT);
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

    /// What all `members` have alike, in a pipeline of products: the assembler then knows that it
    /// is the same in each warp.
    ///
    /// # Safety
    ///
    /// All `members` make this call.
    #[inline(always)]
    pub(crate) unsafe fn same_in_warps(same: u32, members: Members) -> u32 {
        if !Self::OF_PRODUCTS || !members.are_whole_warps() {
            return same;
        }
        // SAFETY: the caller's promise.
        unsafe { isa::of_first_lane(same) }
    }

    /// Whether tensor cores alone read the stages.
    pub(crate) const OF_PRODUCTS: bool = !<K::Contents as Contents>::READ_BY_THREADS;

    /// Whether producers that leave may have copies on their way which nobody waits for: those into
    /// a stage that they have and do not pass, of which a mark says so.
    const MAY_KEEP: bool = Self::OF_PRODUCTS && CompletionOf::<K::Engine>::BY_BYTES;

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
    pub(crate) unsafe fn new(offset: usize, origin: SharedOrigin) -> Self {
        const { assert!(Self::DECISIONS + 4 * 4 <= K::Layout::BYTES) };
        let origin = origin.map_or(0, NonZeroU32::get);
        // Shared memory has fewer than 2^32 bytes.
        let place = u64::from(origin) << 32 | u64::from(offset as u32);
        Memory { place: ptr::without_provenance(place as usize), channel: PhantomData }
    }

    /// The offset into the block's shared memory.
    #[inline(always)]
    fn offset(self) -> u32 {
        self.place.addr() as u32
    }

    /// Where the block's shared memory starts.
    #[inline(always)]
    fn origin(self) -> SharedOrigin {
        NonZeroU32::new((self.place.addr() as u64 >> 32) as u32)
    }

    /// Makes the barriers and clears the words, for stages that `producers` fill.
    ///
    /// # Safety
    ///
    /// Called by one thread; the others use the memory only after a barrier of the block.
    #[inline(always)]
    pub(crate) unsafe fn init(self, producers: Members) {
        let stages_with_words = if Self::OF_PRODUCTS { 1 } else { K::COUNT as u32 };
        for stage in 0..stages_with_words {
            for end in 0..2 {
                // SAFETY: the word lies in the pipeline's memory, and nobody else uses it yet.
                unsafe { self.closed(end, stage).write(0) };
            }
        }
        if Self::MAY_KEEP {
            // SAFETY: the barrier lies in the pipeline's memory, aligned to 8, and nobody uses it
            // yet.
            unsafe { isa::mbarrier_init(self.left(), Self::EMPTIED + K::PRODUCERS.count as u32) };
            isa::mbarrier_name(self.left(), "left", 1);
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
        if Self::MAY_KEEP {
            // SAFETY: `init` made this one too, and the caller promises that nobody uses it.
            unsafe { isa::mbarrier_inval(self.left()) };
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

    /// Waits for a phase, unless it is marked: whether it is. Stages of several tiles are those of
    /// loops that are peeled, of which each step multiplies one.
    ///
    /// # Safety
    ///
    /// The phase is one of this pipeline's, and all `members` make this call at role level.
    #[inline(always)]
    pub(super) unsafe fn wait_unless_marked(self, phase: Phase, members: Members) -> bool {
        // What a role has found for itself is the same in a warp, which the assembler sees.
        let is_uniform = self.origin().is_some();
        if const { <K::Contents as Contents>::SHAPES.len() > 1 } {
            // SAFETY: the caller's promise.
            unsafe { isa::mbarrier_wait_unless::<true>(phase, is_uniform, members) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { isa::mbarrier_wait_unless::<false>(phase, is_uniform, members) }
        }
    }

    /// The first byte of a stage.
    #[inline(always)]
    pub(crate) fn stage(self, stage: u32) -> *mut u8 {
        self.at(stage as usize * K::STRIDE)
    }

    /// Where so many bytes into the first stage lie.
    #[inline(always)]
    pub(crate) fn start(self, offset: usize) -> Start {
        Start { origin: self.origin(), offset: self.offset() + offset as u32 }
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
        self.mbarrier(Self::FULL + 8 * stage as usize)
    }

    /// Where the copies into a stage complete.
    #[inline(always)]
    pub(crate) fn landing(self, stage: u32) -> LandingOf<K::Engine> {
        CompletionOf::<K::Engine>::landing(|| self.full(stage))
    }

    #[inline(always)]
    pub(crate) fn empty(self, stage: u32) -> Mbarrier {
        self.mbarrier(Self::EMPTY + 8 * stage as usize)
    }

    #[inline(always)]
    fn left(self) -> Mbarrier {
        self.mbarrier(Self::LEFT)
    }

    #[inline(always)]
    fn agree(self, end: u32) -> Mbarrier {
        self.mbarrier(Self::AGREE + 8 * end as usize)
    }

    #[inline(always)]
    fn mbarrier(self, offset: usize) -> Mbarrier {
        isa::mbarrier_from(self.origin(), self.offset() as usize + offset)
    }

    /// The phase in which the end `by` (0: the producers) hands the stage over, with the word by
    /// which it says that it does not.
    #[inline(always)]
    pub(super) fn handed_by(self, by: u32, stage: u32, parity: u32) -> Phase {
        let barrier = if by == 0 { self.full(stage) } else { self.empty(stage) };
        let place = self.offset() + (Self::CLOSED + 4 * by as usize) as u32;
        Phase { barrier, parity, word: self.closed(by, 0), place, stage }
    }

    /// Says that the consumers wait for no phase any more.
    ///
    /// # Safety
    ///
    /// All consumers make this call at role level, once.
    #[inline(always)]
    pub(super) unsafe fn say_left(self) {
        if Self::MAY_KEEP {
            // SAFETY: the barrier counts one arrival of each of their warps, behind the warp's
            // barrier. They are whole warps (`READ_BY_THREADS`).
            unsafe { isa::mbarrier_arrive_warps(self.left(), K::CONSUMERS) };
        }
    }

    /// Waits for the copies into a stage that the producers have, and have marked for this phase.
    ///
    /// # Safety
    ///
    /// All producers make this call at role level, once; nobody has arrived in the phase.
    #[inline(always)]
    pub(super) unsafe fn land_kept(self, stage: u32, parity: u32) {
        if !Self::MAY_KEEP {
            return;
        }
        // SAFETY: the barrier counts one arrival of each producer.
        unsafe { isa::mbarrier_arrive(self.left(), K::PRODUCERS) };
        isa::for_first_member(K::PRODUCERS, || {
            // Consumers that still waited would take the phase for one that came, and producers
            // that waited for the one before would miss it.
            // SAFETY: `init` made the barrier, whose only phase has parity 0.
            unsafe { isa::mbarrier_wait(self.left(), 0) };
            // SAFETY: `init` made the barrier; the caller's promise for the phase.
            unsafe { isa::mbarrier_arrive_for(self.full(stage), Self::filled(K::PRODUCERS)) };
            // SAFETY: `init` made the barrier, and a parity is 0 or 1.
            unsafe { isa::mbarrier_wait(self.full(stage), parity) };
        });
    }

    /// The word by which the end `by` (0: the producers) says that it passed the stage as closed.
    /// In a pipeline of products it has one word, that of stage 0, for its mark, and where those of
    /// stage 1 would be there is a barrier.
    ///
    /// Each end has its own: the first thread of a role that leaves writes it while slower threads
    /// of the same role may still be asking whether the other end has left.
    #[inline(always)]
    pub(crate) fn closed(self, by: u32, stage: u32) -> *mut u32 {
        self.at(Self::CLOSED + 4 * (2 * stage + by) as usize).cast()
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
        unsafe { isa::shared_base().add(self.offset() as usize + offset) }
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
