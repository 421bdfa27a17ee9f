//! The consumers' end of a pipeline between roles with several stages in hand.

use core::marker::PhantomData;
use core::ops::Deref;
use core::time::Duration;

use super::super::channel::Channel;
use super::consumer::check_together;
use super::{Consumer, Ready};
use crate::barrier::{Closed, ConsumerBarriers, EndBarriers, Lent, Memory};
use crate::fault;
use crate::group::instant::Instant;
use crate::isa;
use crate::isa::product::{Start, UNIT};
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::pipeline::{Held, Increment};
use crate::stage::contents::{AlwaysFilled, OneTile, Optional, sealed};
use crate::stage::{self, PresenceOf};

/// The consumers' end with `H` stages in hand, [`Held<1>`](Held) or more: it waits for the next
/// stage before it gives the oldest one back.
///
/// [`Ready::hold`] makes it, with the tile of its one stage; each [`wait`](Self::wait) adds a tile,
/// and [`release`](Self::release) takes the oldest one. For work on two stages at once: a stencil
/// over consecutive tiles, or tensor cores that still read one stage while the next one is issued.
/// As long as tiles are in hand, the producers have so many stages less to fill.
///
/// When the role's closure returns, the oldest stage in hand is passed as closed. One of
/// [`OperandTile`](crate::product::OperandTile)s is not passed: the producers learn that it does
/// not come back.
///
/// CUDA: none; a `cuda::pipeline` releases the stage that it waited for before it waits again.
///
/// # Examples
///
/// ```
/// use tilepipe::role::{Partitioned, WarpRoles};
/// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
///
/// /// The differences of consecutive tiles.
/// #[kernel]
/// pub fn differences(
///     block: Block<64>,
///     input: Tiles<i32, 32>,
///     mut out: TilesMut<i32, 32>,
///     shared: Shared<Partitioned<Stages<[i32; 32], 3>>>,
/// ) {
///     let tiles = input.for_block(&block);
///     let _ = block
///         .partition::<WarpRoles<32, 32>>()
///         .pipeline(shared)
///         .role((), |_, producer, ()| {
///             let _ = producer.for_each(tiles.len(), |stage, i| stage.copy(tiles.get(i)));
///         })
///         .role(&mut out, |group, consumer, out| {
///             let mut results = out.for_role(&group);
///             let Ok(first) = consumer.wait() else { return };
///             let (mut end, mut before) = first.hold();
///             for i in 0.. {
///                 let Ok((two, tile)) = end.wait() else { return };
///                 let dst = results.get_mut(i);
///                 group.threads(|t| dst.set(&t, tile[t.rank()] - before[t.rank()]));
///                 (end, before) = (two.release(before), tile);
///             }
///         })
///         .run();
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 3 });
/// # let input: Vec<i32> = (0..128).map(|at| at / 32 * (at / 32)).collect();
/// # let (input, mut out) = (device.upload(&input)?, device.zeroed(96)?);
/// # differences::launch(&device.stream()?, 1, &input, &mut out)?;
/// # let expected: Vec<i32> = [1, 3, 5].into_iter().flat_map(|x| [x; 32]).collect();
/// # assert_eq!(out.download()?, expected);
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
///
/// 0. The end has as many stages in hand as `H` says, those of the state.
#[must_use = "an end that is dropped is left when its role's closure returns"]
#[repr(C)] // `Lent`
pub struct Holding<'r, K: Channel, H> {
    memory: Memory<K>,
    state: Lent<'r>,
    brand: Brand<'r>,
    level: BlockLevel,
    held: PhantomData<H>,
}

/// A tile that has landed, of an end that holds several: all threads of the role may read all of it
/// until it is released.
///
/// Reads are those of [`Ready`].
///
/// # Invariants
///
/// 0. The consumers have the stage `number`, and each of them may read all of it (`LandedStage`,
///    0). No other value of this kind is of this stage while they have it.
/// 1. If `present` says that the stage was committed empty, nothing of it may be read.
#[must_use = "the stage stays taken: give it back with `release`"]
pub struct HeldTile<'r, K: Channel> {
    number: u32,
    memory: Memory<K>,
    present: PresenceOf<K>,
    brand: Brand<'r>,
    level: BlockLevel,
}

impl<K: Channel, H> !Uniform for Holding<'_, K, H> {}
// SAFETY: (0) the tile is plain data that nobody writes while the value exists; (1) `release` takes
// the value.
unsafe impl<K: Channel> Uniform for HeldTile<'_, K> {}

/// The end that is left when the oldest of `Self` stages was released: a [`Consumer`], or a
/// [`Holding`] end with one stage less. Sealed.
pub trait ReleaseOne<'r, K: Channel>: sealed_release::ReleaseOne<'r, K> {}

mod sealed_release {
    use super::*;

    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no number of stages in hand: `ReleaseOne` is sealed",
        label = "not `Held<1>` to `Held<8>`",
        note = "an end holds at most 8 stages"
    )]
    pub trait ReleaseOne<'r, K: Channel>: Sized {
        /// How many stages these are.
        const HELD: u32;
        /// The end.
        type End;
        /// Makes it of an end whose state has one stage less in hand than its type says.
        fn end(end: Holding<'r, K, Self>) -> Self::End;
    }
}

impl<'r, K: Channel> ReleaseOne<'r, K> for Held<1> {}
impl<'r, K: Channel> sealed_release::ReleaseOne<'r, K> for Held<1> {
    const HELD: u32 = 1;
    type End = Consumer<'r, K>;

    #[inline(always)]
    fn end(end: Holding<'r, K, Self>) -> Consumer<'r, K> {
        Consumer::of_parts(end.memory, end.state)
    }
}

macro_rules! release_one {
    ($($more:literal => $less:literal),*) => {$(
        impl<'r, K: Channel> ReleaseOne<'r, K> for Held<$more> {}
        impl<'r, K: Channel> sealed_release::ReleaseOne<'r, K> for Held<$more> {
            const HELD: u32 = $more;
            type End = Holding<'r, K, Held<$less>>;

            #[inline(always)]
            fn end(end: Holding<'r, K, Self>) -> Self::End {
                Holding::new(end.memory, end.state)
            }
        }
    )*};
}
release_one!(2 => 1, 3 => 2, 4 => 3, 5 => 4, 6 => 5, 7 => 6, 8 => 7);

/// What a step that waits gives an end that holds `H` stages: the end with one more, and its tile.
type OneMore<'r, K, H> = (Holding<'r, K, <H as Increment>::More>, HeldTile<'r, K>);

/// Why an end with stages in hand has no further stage. The end comes back: its tiles can still be
/// read, and released.
pub enum NoMore<End> {
    /// No stage came in time. The end is unchanged.
    TimedOut(End),
    /// The producers have left. To release tiles has no effect any more.
    Closed(End),
}

impl<End> NoMore<End> {
    /// Returns the end.
    #[inline(always)]
    pub fn end(self) -> End {
        match self {
            NoMore::TimedOut(end) | NoMore::Closed(end) => end,
        }
    }
}

impl<'r, K: Channel, H> Holding<'r, K, H> {
    #[inline(always)]
    fn new(memory: Memory<K>, state: Lent<'r>) -> Self {
        Holding { memory, state, brand: PhantomData, level: PhantomData, held: PhantomData }
    }

    /// Waits for the next committed stage, whose tiles have landed, and holds it too.
    ///
    /// A pipeline of `COUNT` stages gives at most `COUNT` of them at a time: with `COUNT` in hand
    /// this does not compile. PTX: as [`Consumer::wait`].
    ///
    /// # Errors
    ///
    /// [`NoMore::Closed`] after the last stage, if the producers have left.
    #[inline(always)]
    pub fn wait(mut self) -> Result<OneMore<'r, K, H>, NoMore<Self>>
    where
        H: StagesHeld,
    {
        const { check_left::<K, H>() };
        match self.state.take_another(&ConsumerBarriers(self.memory), H::HELD as u32) {
            Err(Closed) => Err(NoMore::Closed(self)),
            // SAFETY: `take_another` has waited for this stage.
            Ok(stage) => Ok(unsafe { self.another(stage) }),
        }
    }

    /// As [`wait`](Self::wait) if the next stage has landed by now; see [`Consumer::try_wait`].
    ///
    /// # Errors
    ///
    /// [`NoMore::TimedOut`] if it has not; [`NoMore::Closed`] as for `wait`.
    #[inline(always)]
    pub fn try_wait(self) -> Result<OneMore<'r, K, H>, NoMore<Self>>
    where
        H: StagesHeld,
    {
        self.wait_while(|| false)
    }

    /// As [`wait`](Self::wait), for at most `duration` from the first poll on; see
    /// [`Consumer::wait_for`].
    ///
    /// # Errors
    ///
    /// [`NoMore::TimedOut`] if no stage came within that time; [`NoMore::Closed`] as for `wait`.
    #[inline(always)]
    pub fn wait_for(self, duration: Duration) -> Result<OneMore<'r, K, H>, NoMore<Self>>
    where
        H: StagesHeld,
    {
        let mut deadline = None;
        self.wait_while(|| Instant::read() < *deadline.get_or_insert_with(|| Instant::read() + duration))
    }

    #[inline(always)]
    fn wait_while(mut self, keep_polling: impl FnMut() -> bool) -> Result<OneMore<'r, K, H>, NoMore<Self>>
    where
        H: StagesHeld,
    {
        const {
            check_left::<K, H>();
            check_together::<K>();
        };
        match self.state.take_another_while(&ConsumerBarriers(self.memory), H::HELD as u32, keep_polling) {
            None => Err(NoMore::TimedOut(self)),
            Some(Err(Closed)) => Err(NoMore::Closed(self)),
            // SAFETY: `take_another_while` has waited for this stage.
            Some(Ok(stage)) => Ok(unsafe { self.another(stage) }),
        }
    }

    /// Gives the oldest stage in hand back to the producers: that of `tile`.
    ///
    /// PTX: as [`Ready::release`].
    ///
    /// # Panics
    ///
    /// If the tile is not the oldest one in hand.
    #[inline(always)]
    #[track_caller]
    pub fn release(mut self, tile: HeldTile<'r, K>) -> <H as sealed_release::ReleaseOne<'r, K>>::End
    where
        H: ReleaseOne<'r, K>,
    {
        let oldest = self.state.oldest();
        if tile.number != oldest {
            fault::out_of_range(
                "the tile of stage {} is not the oldest one in hand, which is of stage {}: release tiles in the order in which they came",
                tile.number as usize,
                oldest as usize,
            );
        }
        let barriers = ConsumerBarriers(self.memory);
        if const { !<K::Contents as sealed::Contents>::READ_BY_THREADS } {
            // SAFETY: the consumers have the stage, and hand it back here.
            unsafe { isa::stage_multiplied(tile.memory(), stage::bytes::<K>(), self.memory.empty(tile.number)) };
        }
        self.state.pass_oldest::<ConsumerBarriers<K>>(H::HELD, |stage| barriers.pass(stage));
        H::end(self)
    }

    /// The end with the stage that it has waited for.
    ///
    /// # Safety
    ///
    /// The consumers have the stage `number`: they have waited for it, and no other value says so.
    #[inline(always)]
    unsafe fn another(self, number: u32) -> OneMore<'r, K, H>
    where
        H: StagesHeld,
    {
        // SAFETY: an end exists in its role's threads only, so this is a consumer's; the consumers
        // have the stage by the caller's promise.
        let present = unsafe { self.memory.presence(number) };
        // SAFETY: the consumers have the stage.
        unsafe { self.memory.stage_to_read(number) };
        let tile = HeldTile { number, memory: self.memory, present, brand: PhantomData, level: PhantomData };
        (Holding::new(self.memory, self.state), tile)
    }
}

/// A number of stages in hand. Sealed.
#[diagnostic::on_unimplemented(
    message = "an end of a pipeline holds at most 8 stages, not `{Self}`",
    note = "release the oldest tile before the next `wait`"
)]
pub trait StagesHeld: Increment + sealed_held::StagesHeld {}

mod sealed_held {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no number of stages in hand: `StagesHeld` is sealed",
        label = "not `Held<1>` to `Held<7>`",
        note = "an end holds at most 8 stages"
    )]
    pub trait StagesHeld {
        /// How many.
        const HELD: usize;
    }
}

macro_rules! held {
    ($($held:literal)*) => {$(
        impl StagesHeld for Held<$held> {}
        impl sealed_held::StagesHeld for Held<$held> {
            const HELD: usize = $held;
        }
    )*};
}
held!(1 2 3 4 5 6 7);

/// Refuses, at compile time, to wait for a stage that can't come.
const fn check_left<K: Channel, H: StagesHeld>() {
    assert!(
        H::HELD < K::COUNT,
        "all stages of this pipeline are in hand, so no further one can come: release the oldest tile before this `wait`, or give the \
         pipeline more stages"
    );
}

impl<'r, K: Channel> Ready<'r, K> {
    /// Keeps the stage in hand while its end goes on: the end waits for further stages, and this
    /// one is released later, in its turn. See [`Holding`].
    #[inline(always)]
    pub fn hold(self) -> (Holding<'r, K, Held<1>>, HeldTile<'r, K>) {
        let (present, memory, state) = self.into_parts();
        let number = state.oldest();
        let tile = HeldTile { number, memory, present, brand: PhantomData, level: PhantomData };
        (Holding::new(memory, state), tile)
    }
}

impl<K: Channel> HeldTile<'_, K> {
    /// The stage's first byte.
    #[inline(always)]
    fn memory(&self) -> *const u8 {
        self.memory.stage(self.number)
    }

    /// Where the pipeline's first stage begins, and how far behind it this one does, in
    /// [`UNIT`]s. A sum of a pointer is one of each thread; of these two the assembler computes
    /// descriptors once for a warp.
    #[inline(always)]
    pub(in crate::role) fn place(&self) -> (Start, u32) {
        const { assert!(K::STRIDE.is_multiple_of(UNIT)) };
        (self.memory.start(0), self.number * (K::STRIDE / UNIT) as u32)
    }

    /// Returns all tiles of the stage: `&T`, or a tuple of references where a stage holds several.
    #[inline(always)]
    pub fn tiles(&self) -> <K::Contents as sealed::Contents>::Tiles<'_>
    where
        K::Contents: AlwaysFilled,
    {
        // SAFETY: all threads of the role may read all of the stage (0).
        unsafe { <K::Contents as sealed::Contents>::tiles(self.memory()) }
    }
}

impl<K: Channel<Contents = Optional<T>>, T: OneTile> HeldTile<'_, K> {
    /// Returns the tile, or `None` if the stage was committed empty. All threads of the role get
    /// the same answer.
    #[inline(always)]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: all threads of the role may read all of the stage (0), if it holds a tile (1).
        // The tile is aligned, and not written while `self` is borrowed.
        self.present.then(|| unsafe { &*self.memory().cast::<T>() })
    }
}

impl<K: Channel> Deref for HeldTile<'_, K>
where
    K::Contents: OneTile,
{
    type Target = K::Contents;

    #[inline(always)]
    fn deref(&self) -> &K::Contents {
        // SAFETY: all threads of the role may read all of the stage (0); its tile is aligned, any
        // bytes are one (`sealed::OneTile`), and it is not written while `self` is borrowed.
        unsafe { &*self.memory().cast() }
    }
}
