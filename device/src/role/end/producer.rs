//! The producers' end of a pipeline between roles.

use core::marker::PhantomData;
use core::time::Duration;

use super::super::channel::Channel;
use super::super::group::RoleGroup;
use super::{Spent, Unready};
use crate::barrier::{Closed, EndBarriers, EndState, Lent, Memory, ProducerBarriers};
use crate::element::Element;
#[cfg(doc)]
use crate::engine::LoadStore;
use crate::engine::OrdinaryStores;
use crate::group::block::Thread;
use crate::group::instant::Instant;
use crate::isa;
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::stage::contents::Fill;
use crate::stage::{self, Arrival, PresenceOf, Stage, StageFilled};

/// The end of a pipeline at which a role fills stages: `acquire`, `copy`, `commit`.
///
/// Each step takes the end and the last one gives it back, so a step out of order does not compile.
/// When the role's closure returns, however it does, the scope function leaves for it: consumers
/// get [`Closed`] after the last committed stage.
///
/// CUDA: a `cuda::pipeline` made with `pipeline_role::producer`.
#[must_use = "an end that is dropped is left when its role's closure returns; `quit` leaves at once"]
#[repr(C)] // `Lent`
pub struct Producer<'r, K: Channel> {
    memory: Memory<K>,
    state: Lent<'r>,
    brand: Brand<'r>,
    level: BlockLevel,
}

/// A producer's end with an empty stage, to be filled.
///
/// # Invariants
///
/// 0. The producers have the stage `stage`: it is theirs to fill, and nobody else reads or writes
///    it.
#[must_use = "an acquired stage is to be filled: call `copy`"]
#[repr(C)]
pub struct Acquired<'r, K: Channel> {
    stage: u32,
    end: Producer<'r, K>,
}

/// A producer's end with a filled stage, to be committed.
#[must_use = "a filled stage is to be committed: call `commit`"]
pub struct Filled<'r, K: Channel> {
    end: Producer<'r, K>,
    present: PresenceOf<K>,
}

impl<K: Channel> !Uniform for Producer<'_, K> {}
impl<K: Channel> !Uniform for Acquired<'_, K> {}
impl<K: Channel> !Uniform for Filled<'_, K> {}

impl<'r, K: Channel> Producer<'r, K> {
    /// Makes the end.
    ///
    /// # Safety
    ///
    /// This is role-level code of the role that fills the channel, `memory` is the channel's, whose
    /// barriers are valid, and `state` the producer's, of which there is no other end.
    #[inline(always)]
    pub(in crate::role) unsafe fn new(memory: Memory<K>, state: &'r mut EndState) -> Self {
        Producer { memory, state: Lent::new(state), brand: PhantomData, level: PhantomData }
    }

    /// Waits for a stage that all consumers have released.
    ///
    /// PTX: `mbarrier.try_wait.parity` on the stage's `empty` barrier, `ld.shared` of its closing
    /// word.
    ///
    /// In a pipeline of [`OperandTile`](crate::product::OperandTile)s there is one such word, which
    /// is read only while the stage does not come.
    ///
    /// CUDA: `pipeline.producer_acquire()`.
    ///
    /// # Errors
    ///
    /// [`Closed`] if the consumers have left: there is nobody to fill stages for.
    #[inline(always)]
    pub fn acquire(mut self) -> Result<Acquired<'r, K>, Closed> {
        let barriers = ProducerBarriers::of_role(self.memory);
        let stage = self.state.take(&barriers)?;
        // SAFETY: this end has waited for this stage.
        Ok(unsafe { self.acquired(stage) })
    }

    /// As [`acquire`](Self::acquire) if a stage is free now. (CUDA has no such call.)
    ///
    /// The role's first thread polls, and all threads of the role get its answer. PTX:
    /// `mbarrier.test_wait.parity`, then a word and an mbarrier of the role's own.
    ///
    /// # Errors
    ///
    /// [`Unready::TimedOut`] with the end if there is none; [`Unready::Closed`] as for `acquire`.
    #[inline(always)]
    pub fn try_acquire(self) -> Result<Acquired<'r, K>, Unready<Self>> {
        self.acquire_while(|| false)
    }

    /// As [`acquire`](Self::acquire), for at most `duration` from the first poll on. It polls at
    /// least once.
    ///
    /// # Errors
    ///
    /// [`Unready::TimedOut`] with the end, unharmed, if no stage became free within that time;
    /// [`Unready::Closed`] as for `acquire`.
    #[inline(always)]
    pub fn acquire_for(self, duration: Duration) -> Result<Acquired<'r, K>, Unready<Self>> {
        let mut deadline = None;
        self.acquire_while(|| Instant::read() < *deadline.get_or_insert_with(|| Instant::read() + duration))
    }

    /// As [`acquire`](Self::acquire), until `deadline`. It polls at least once.
    ///
    /// # Errors
    ///
    /// As for [`acquire_for`](Self::acquire_for).
    #[inline(always)]
    pub fn acquire_until(self, deadline: Instant) -> Result<Acquired<'r, K>, Unready<Self>> {
        self.acquire_while(|| Instant::read() < deadline)
    }

    /// Fills `count` stages, or fewer if the consumers leave earlier: `fill(stage, i)` each.
    ///
    /// # Errors
    ///
    /// [`Closed`] if the consumers left before.
    #[inline(always)]
    pub fn for_each(
        mut self,
        count: usize,
        mut fill: impl for<'x> FnMut(Stage<'x, K>, usize) -> StageFilled<'x, K>,
    ) -> Result<Self, Closed> {
        for index in 0..count {
            let Acquired { end, stage } = self.acquire()?;
            // SAFETY: the end has just acquired it, and the `Acquired` is taken apart.
            self = unsafe { end.fill_stage(stage, index, &mut fill) }.commit();
        }
        Ok(self)
    }

    /// Leaves the pipeline: waits for this role's copies and for a free stage, and passes that as
    /// closed. Of [`OperandTile`](crate::product::OperandTile)s it passes none, and waits for its
    /// copies alone.
    ///
    /// The consumers get [`Closed`] after the last committed stage. Without `quit` the same happens
    /// when the role's closure returns.
    ///
    /// CUDA: `pipeline.quit()`, after which the others hang there.
    #[inline(always)]
    pub fn quit(mut self) {
        let barriers = ProducerBarriers::of_role(self.memory);
        barriers.drain();
        self.state.leave(&barriers);
    }

    #[inline(always)]
    fn acquire_while(mut self, keep_polling: impl FnMut() -> bool) -> Result<Acquired<'r, K>, Unready<Self>> {
        match self.state.take_while(&ProducerBarriers::of_role(self.memory), keep_polling) {
            None => Err(Unready::TimedOut(self)),
            Some(Err(Closed)) => Err(Unready::Closed(Spent { end: self })),
            // SAFETY: `take_while` has waited for this stage.
            Some(Ok(stage)) => Ok(unsafe { self.acquired(stage) }),
        }
    }

    /// Has a stage filled.
    ///
    /// # Safety
    ///
    /// This end has the stage, and no `Acquired` or `Filled` of it is left.
    #[inline(always)]
    unsafe fn fill_stage(
        self,
        stage: u32,
        index: usize,
        fill: &mut impl for<'x> FnMut(Stage<'x, K>, usize) -> StageFilled<'x, K>,
    ) -> Filled<'r, K> {
        // SAFETY: this end has the stage, and all threads of the role run this code. The brand is
        // the closure's own, so this stage is the one that comes back filled.
        let filled =
            fill(unsafe { Stage::new(self.memory.stage(stage), self.memory.landing(stage), Arrival::Later) }, index);
        Filled { present: filled.present(), end: self }
    }

    /// The end with the stage that it has waited for.
    ///
    /// # Safety
    ///
    /// This end has the stage, and no other value says so.
    #[inline(always)]
    unsafe fn acquired(self, stage: u32) -> Acquired<'r, K> {
        // SAFETY: the caller's promise.
        unsafe { isa::stage_acquired(self.memory.stage(stage), stage::bytes::<K>()) };
        Acquired { end: self, stage }
    }
}

impl<'r, K: Channel> Acquired<'r, K> {
    /// Starts to copy a tile, or zeros, into the stage; several tiles as a tuple, an optional one
    /// as an `Option`. Bytes beyond the end of a tile's view are zero. The role's threads share the
    /// copy out among them.
    ///
    /// PTX: `cp.async`, or with [`LoadStore`] `ld.global` and `st.shared`.
    ///
    /// CUDA: `cuda::memcpy_async(group, .., pipeline)`.
    #[inline(always)]
    pub fn copy<F: Fill<K::Contents>>(self, source: F) -> Filled<'r, K> {
        let (first, landing) = (self.end.memory.stage(self.stage), self.end.memory.landing(self.stage));
        // SAFETY: the producers have the stage (0), all threads of the role make this call, and the
        // acquired one is given up.
        let filled = unsafe { Stage::<K>::new(first, landing, Arrival::Later) }.copy(source);
        Filled { present: filled.present(), end: self.end }
    }

    /// Writes the tile from values that the role's threads compute: `value(&thread, e)` for each
    /// element `e`. Thread `r` of the role writes the elements `r`, `r + SIZE`, `r + 2 * SIZE`, ..
    ///
    /// For a pipeline of stages `Stages<[T; LEN], COUNT, LoadStore>`, whose `commit` makes ordinary
    /// stores visible to the consumers. PTX: `st.shared`.
    #[inline(always)]
    pub fn fill<T, F, const LEN: usize, const SIZE: usize>(
        self,
        group: &RoleGroup<'r, K::From, SIZE>,
        value: F,
    ) -> Filled<'r, K>
    where
        K: Channel<Contents = [T; LEN]>,
        K::Engine: OrdinaryStores,
        T: Element,
        F: for<'t> Fn(&Thread<'t, 'r, SIZE>, usize) -> T + Uniform,
    {
        let first = self.end.memory.stage(self.stage).cast::<T>();
        group.each(|thread| {
            for round in 0..LEN.div_ceil(SIZE) {
                let element = thread.rank() + round * SIZE;
                if element < LEN {
                    let value = value(&thread, element);
                    // SAFETY: `element < LEN`, so the address lies in the stage's tile.
                    let to = unsafe { first.add(element) };
                    // SAFETY: the stage is aligned for its tile; the producers have it (0), and the
                    // element is this thread's alone: its token is of this run of the role (`'r`),
                    // with a rank below SIZE that no other thread has (`Thread`, 0).
                    unsafe { isa::store_shared(to, value) };
                }
            }
        });
        Filled { present: (), end: self.end }
    }
}

impl<'r, K: Channel> Filled<'r, K> {
    /// Hands the stage to the consumers once its copies have landed, without waiting for them.
    ///
    /// PTX: one `cp.async.mbarrier.arrive.noinc` per thread on the stage's `full` barrier; with
    /// [`LoadStore`] one `mbarrier.arrive`. [`Optional`](crate::Optional) contents take one word
    /// and one arrival more per stage.
    ///
    /// CUDA: `pipeline.producer_commit()`.
    #[inline(always)]
    pub fn commit(mut self) -> Producer<'r, K> {
        let barriers = ProducerBarriers::of_role(self.end.memory);
        self.end.state.pass_told(&barriers, |stage| barriers.tell(stage, self.present));
        self.end
    }
}
