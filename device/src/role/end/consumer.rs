//! The consumers' end of a pipeline between roles.

use core::marker::PhantomData;
use core::ops::Deref;
use core::time::Duration;

use super::super::channel::Channel;
use super::{Spent, Unready};
use crate::barrier::{Closed, ConsumerBarriers, EndState, Lent, Memory};
use crate::group::instant::Instant;
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::stage::contents::{AlwaysFilled, OneTile, Optional, sealed};
use crate::stage::{LandedStage, PresenceOf};

/// The end of a pipeline at which a role reads stages: `wait`, then read the [`Ready`] tile and
/// `release` it.
///
/// Each step takes the end and the last one gives it back. When the role's closure returns, however
/// it does, the scope function leaves for it: producers get [`Closed`] instead of a stage that
/// nobody would read.
///
/// CUDA: a `cuda::pipeline` made with `pipeline_role::consumer`.
#[must_use = "an end that is dropped is left when its role's closure returns; `quit` leaves at once"]
#[repr(C)] // `Lent`
pub struct Consumer<'r, K: Channel> {
    memory: Memory<K>,
    state: Lent<'r>,
    brand: Brand<'r>,
    level: BlockLevel,
}

/// A tile that has landed, with the end that waited for it: all threads of the role may read all of
/// it until `release`.
///
/// A single tile derefs to its type; of several tiles [`tiles`](Self::tiles) returns references,
/// and an [`Optional`] one is read by [`get`](Self::get).
///
/// # Invariants
///
/// 0. The consumers have the stage, and each of them may read all of it (`LandedStage`, 0).
/// 1. If `present` says that the stage was committed empty, nothing of it may be read.
#[must_use = "the stage stays taken: give it back with `release`"]
#[repr(C)]
pub struct Ready<'r, K: Channel> {
    stage: LandedStage<K::Contents>,
    end: Consumer<'r, K>,
    present: PresenceOf<K>,
}

impl<K: Channel> !Uniform for Consumer<'_, K> {}
// SAFETY: (0) the tile is plain data that nobody writes, and the end is reached by value only; (1)
// `release` takes the value.
unsafe impl<K: Channel> Uniform for Ready<'_, K> {}

impl<'r, K: Channel> Consumer<'r, K> {
    /// Makes the end.
    ///
    /// # Safety
    ///
    /// This is role-level code of the role that reads the channel, `memory` is the channel's, whose
    /// barriers are valid, and `state` the consumer's, of which there is no other end.
    #[inline(always)]
    pub(in crate::role) unsafe fn new(memory: Memory<K>, state: &'r mut EndState) -> Self {
        Consumer { memory, state: Lent::new(state), brand: PhantomData, level: PhantomData }
    }

    /// Waits for the next committed stage, whose tiles have landed.
    ///
    /// PTX: `mbarrier.try_wait.parity` on the stage's `full` barrier, `ld.shared` of its closing
    /// word. In a pipeline of [`OperandTile`](crate::product::OperandTile)s there is one such word,
    /// which is read only while the stage does not come.
    ///
    /// CUDA: `pipeline.consumer_wait()`.
    ///
    /// # Errors
    ///
    /// [`Closed`] after the last stage, if the producers have left.
    #[inline(always)]
    pub fn wait(mut self) -> Result<Ready<'r, K>, Closed> {
        let stage = self.state.take(&ConsumerBarriers(self.memory))?;
        // SAFETY: `take` has waited for this stage.
        Ok(unsafe { self.ready(stage) })
    }

    /// As [`wait`](Self::wait) if the next stage has landed by now. (CUDA has no such call.)
    ///
    /// The role's first thread polls, and all threads of the role get its answer. PTX:
    /// `mbarrier.test_wait.parity`, then a word and an mbarrier of the role's own.
    ///
    /// # Errors
    ///
    /// [`Unready::TimedOut`] with the end if it has not; [`Unready::Closed`] as for `wait`.
    #[inline(always)]
    pub fn try_wait(self) -> Result<Ready<'r, K>, Unready<Self>> {
        self.wait_while(|| false)
    }

    /// As [`wait`](Self::wait), for at most `duration` from the first poll on. It polls at least
    /// once.
    ///
    /// CUDA: `pipeline.consumer_wait_for(duration)`, which tells each thread its own outcome.
    ///
    /// # Errors
    ///
    /// [`Unready::TimedOut`] with the end, unharmed, if no stage came within that time;
    /// [`Unready::Closed`] as for `wait`.
    ///
    /// # Examples
    ///
    /// ```
    /// use core::time::Duration;
    /// use tilepipe::role::{FirstThreads, Partitioned, Unready};
    /// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
    ///
    /// /// Writes how many tiles came in time.
    /// #[kernel]
    /// pub fn in_time(
    ///     block: Block<32>,
    ///     input: Tiles<i32, 16>,
    ///     mut out: TilesMut<u32, 32>,
    ///     shared: Shared<Partitioned<Stages<[i32; 16], 2>>>,
    /// ) {
    ///     let tiles = input.for_block(&block);
    ///     let (((), came), _) = block
    ///         .partition::<FirstThreads<16, 16>>()
    ///         .pipeline(shared)
    ///         .role((), |_, producer, ()| {
    ///             let _ = producer.for_each(tiles.len(), |stage, i| stage.copy(tiles.get(i)));
    ///         })
    ///         .role((), |_, mut consumer, ()| {
    ///             let mut came = 0;
    ///             loop {
    ///                 match consumer.wait_for(Duration::from_secs(1)) {
    ///                     Ok(tile) => (consumer, came) = (tile.release(), came + 1),
    ///                     Err(Unready::TimedOut(_) | Unready::Closed(_)) => return came,
    ///                 }
    ///             }
    ///         })
    ///         .run();
    ///     let mut results = out.for_block(&block);
    ///     let dst = results.get_mut(0);
    ///     block.threads(|t| dst.set(&t, came));
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 4 });
    /// # let (input, mut out) = (device.upload(&[1; 16 * 5])?, device.zeroed(32)?);
    /// # in_time::launch(&device.stream()?, 1, &input, &mut out)?;
    /// # assert_eq!(out.download()?, [5; 32]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn wait_for(self, duration: Duration) -> Result<Ready<'r, K>, Unready<Self>> {
        let mut deadline = None;
        self.wait_while(|| Instant::read() < *deadline.get_or_insert_with(|| Instant::read() + duration))
    }

    /// As [`wait`](Self::wait), until `deadline`. It polls at least once, so a stage that has
    /// landed is taken after the deadline too.
    ///
    /// CUDA: `pipeline.consumer_wait_until(time_point)`.
    ///
    /// # Errors
    ///
    /// As for [`wait_for`](Self::wait_for).
    #[inline(always)]
    pub fn wait_until(self, deadline: Instant) -> Result<Ready<'r, K>, Unready<Self>> {
        self.wait_while(|| Instant::read() < deadline)
    }

    /// Reads all stages until the producers have left, in order: `consume(tile, i)` each. Returns
    /// how many there were.
    #[inline(always)]
    pub fn for_each(mut self, mut consume: impl FnMut(&Ready<'r, K>, usize)) -> usize {
        let mut index = 0;
        while let Ok(tile) = self.wait() {
            consume(&tile, index);
            self = tile.release();
            index += 1;
        }
        index
    }

    /// Leaves the pipeline: waits until the producers commit the next stage or leave, reads nothing
    /// of it and passes it back as closed. Of [`OperandTile`](crate::product::OperandTile)s it
    /// waits for nothing and passes nothing.
    ///
    /// The producers get [`Closed`] when they would fill that stage again. Without `quit` the same
    /// happens when the role's closure returns.
    ///
    /// CUDA: `pipeline.quit()`, after which the others hang there.
    #[inline(always)]
    pub fn quit(mut self) {
        const {
            assert!(
                !K::APART,
                "a warpgroup of an `Apart` role that leaves gives back what still comes until the producers have left, so it can't go on: it \
                 leaves when its closure returns"
            );
        }
        self.state.leave(&ConsumerBarriers(self.memory));
    }

    #[inline(always)]
    fn wait_while(mut self, keep_polling: impl FnMut() -> bool) -> Result<Ready<'r, K>, Unready<Self>> {
        const { check_together::<K>() };
        match self.state.take_while(&ConsumerBarriers(self.memory), keep_polling) {
            None => Err(Unready::TimedOut(self)),
            Some(Err(Closed)) => Err(Unready::Closed(Spent { end: self })),
            // SAFETY: `take_while` has waited for this stage.
            Some(Ok(stage)) => Ok(unsafe { self.ready(stage) }),
        }
    }

    /// Waits for the next stage of a pipeline whose producers don't leave.
    #[inline(always)]
    pub(in crate::role) fn wait_open(mut self) -> Ready<'r, K> {
        let stage = self.state.take_open(&ConsumerBarriers(self.memory));
        // SAFETY: `take_open` has waited for this stage.
        unsafe { self.ready(stage) }
    }

    /// The tile of the stage that this end has waited for.
    ///
    /// # Safety
    ///
    /// The consumers have the stage: they have waited for the phase of its `full` barrier that
    /// ended with its copies, and have not released it since. No other value says so.
    #[inline(always)]
    pub(super) unsafe fn ready(self, stage: u32) -> Ready<'r, K> {
        // SAFETY: an end exists in its role's threads only, so this is a consumer's; the consumers
        // have the stage by the caller's promise.
        let present = unsafe { self.memory.presence(stage) };
        // SAFETY: the consumers have the stage.
        let first = unsafe { self.memory.stage_to_read(stage) };
        // SAFETY: the phase ended with the stage's copies, which are visible to each thread that
        // waited for it; the producers fill it again only once the value made here has released it.
        let stage = unsafe { LandedStage::new(first) };
        Ready { stage, present, end: self }
    }

    /// Its memory.
    #[inline(always)]
    pub(in crate::role) fn memory(&self) -> Memory<K> {
        self.memory
    }

    /// Its state, for a step of this crate that takes it from one such state to the next.
    #[inline(always)]
    pub(in crate::role) fn state(&mut self) -> &mut EndState {
        &mut self.state
    }

    /// The end whose state and memory these are.
    #[inline(always)]
    pub(super) fn of_parts(memory: Memory<K>, state: Lent<'r>) -> Self {
        Consumer { memory, state, brand: PhantomData, level: PhantomData }
    }
}

/// Refuses, at compile time, waits for a limited time where no thread decides for all.
pub(super) const fn check_together<K: Channel>() {
    assert!(
        !K::APART,
        "a wait for a limited time is one decision of the whole role, and the warpgroups of an `Apart` role go different ways: take `wait`"
    );
}

impl<'r, K: Channel> Ready<'r, K> {
    /// What it is made of.
    #[inline(always)]
    pub(super) fn into_parts(self) -> (PresenceOf<K>, Memory<K>, Lent<'r>) {
        (self.present, self.end.memory, self.end.state)
    }

    /// The stage's first byte.
    #[inline(always)]
    pub(in crate::role) fn memory(&self) -> *const u8 {
        self.stage.memory()
    }

    /// Gives the stage back to the producers.
    ///
    /// PTX: one `mbarrier.arrive` per thread on the stage's `empty` barrier.
    ///
    /// CUDA: `pipeline.consumer_release()`.
    #[inline(always)]
    pub fn release(mut self) -> Consumer<'r, K> {
        self.end.state.pass(&ConsumerBarriers(self.end.memory));
        self.end
    }

    /// Returns all tiles of the stage: `&T`, or a tuple of references where a stage holds several.
    #[inline(always)]
    pub fn tiles(&self) -> <K::Contents as sealed::Contents>::Tiles<'_>
    where
        K::Contents: AlwaysFilled,
    {
        // SAFETY: all threads of the role may read all of the stage (0).
        unsafe { self.stage.tiles() }
    }
}

impl<K: Channel<Contents = Optional<T>>, T: OneTile> Ready<'_, K> {
    /// Returns the tile, or `None` if the stage was committed empty. All threads of the role get
    /// the same answer.
    #[inline(always)]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: all threads of the role may read all of the stage (0), if it holds a tile (1).
        unsafe { self.stage.get(self.present) }
    }
}

impl<K: Channel> Deref for Ready<'_, K>
where
    K::Contents: OneTile,
{
    type Target = K::Contents;

    #[inline(always)]
    fn deref(&self) -> &K::Contents {
        // SAFETY: all threads of the role may read all of the stage (0).
        unsafe { self.stage.tile() }
    }
}
