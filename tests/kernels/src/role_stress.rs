//! Kernels whose roles leave, wait and forget at random: for long runs that look for a lost tile, a
//! wrong element or a hang.
//!
//! What a role does next is drawn from a seed, the block's index and its own steps, the same in all
//! of its threads; what comes of it depends on time. [`check`] says what must hold all the same.

#![expect(clippy::forget_non_drop, reason = "no end has a destructor: that it matters neither way is what is tested")]

use core::mem::forget;
use core::time::Duration;

use tilepipe::role::{
    Channel, Closed, Consumer, EvenOdd, FirstThreads, Partitioned, Producer, Role, RoleGroup, Unready, WarpRoles,
};
use tilepipe::{
    Block, BlockTiles, Bulk, CpAsync, Engine, LoadStore, PerThread, Shared, Stages, Tiles, TilesMut, kernel,
};

/// Elements of a tile.
pub const LEN: usize = 96;
/// Pipelines that a block runs one after the other in the same memory.
pub const EPISODES: usize = 4;
/// Consumers of every kernel here: elements of the output that counts wrong elements, for each
/// block and episode.
pub const CONSUMERS: usize = 64;

/// The input's element at `index`.
#[inline(always)]
pub fn element(index: usize) -> u32 {
    (index as u32 ^ 0x5EED).wrapping_mul(0x9E37_79B1)
}

/// Why a role's end came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// There was nothing left to do.
    Finished = 0,
    /// It left by its own choice, with no stage in its hands.
    Left = 1,
    /// It left by its own choice, with a stage in its hands.
    LeftHolding = 2,
    /// The other end had left.
    Closed = 3,
}

/// How many stages a role has committed or got, and why it stopped, in one number.
#[inline(always)]
fn outcome(stages: usize, why: Why) -> u32 {
    (stages << 2) as u32 | why as u32
}

/// The two parts of such a number.
pub fn parts(outcome: u32) -> (usize, Why) {
    let why = [Why::Finished, Why::Left, Why::LeftHolding, Why::Closed][outcome as usize & 3];
    (outcome as usize >> 2, why)
}

/// Checks the outcomes of the producers and the consumers of one episode, for `tiles` tiles and
/// `stages` stages.
///
/// # Errors
///
/// The rule that does not hold.
pub fn check(produced: u32, consumed: u32, tiles: usize, stages: usize) -> Result<(), &'static str> {
    let ((committed, producers), (got, consumers)) = (parts(produced), parts(consumed));
    let released = got - usize::from(consumers == Why::LeftHolding);
    let rules = [
        (committed <= tiles, "more stages were committed than there are tiles"),
        (got <= committed, "consumers got a tile that was not committed"),
        (committed <= released + stages, "more stages were filled than there are"),
        (producers != Why::Finished || committed == tiles, "producers finished early"),
        (consumers != Why::Finished, "consumers have no end but those of a pipeline"),
        (consumers != Why::Closed || got == committed, "consumers lost a committed tile"),
        (producers != Why::Closed || committed == released + stages, "producers were stopped while a stage was free"),
        (producers != Why::Closed || consumers != Why::Closed, "each end had left before the other"),
    ];
    rules.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, rule)| Err(rule))
}

/// A row of random numbers, the same in all threads.
#[derive(Clone, Copy)]
struct Draws {
    state: u32,
    /// One of so many steps is the last.
    patience: u32,
}

impl Draws {
    #[inline(always)]
    fn new(seed: u32, block: usize, episode: usize, role: u32) -> Self {
        let place = (block * EPISODES + episode) as u32 * 2 + role;
        let mut draws = Draws { state: seed.wrapping_mul(0x85EB_CA6B) ^ place.wrapping_mul(0xC2B2_AE35), patience: 0 };
        draws.patience = 2 << draws.below(11);
        draws
    }

    /// A number below `bound`. (The finaliser of MurmurHash3, over a counter.)
    #[inline(always)]
    fn below(&mut self, bound: u32) -> u32 {
        self.state = self.state.wrapping_add(0x9E37_79B9);
        let mut number = self.state;
        number = (number ^ number >> 16).wrapping_mul(0x85EB_CA6B);
        number = (number ^ number >> 13).wrapping_mul(0xC2B2_AE35);
        (number ^ number >> 16) % bound
    }

    #[inline(always)]
    fn gives_up(&mut self) -> bool {
        self.below(self.patience) == 0
    }

    /// Up to 20 microseconds.
    #[inline(always)]
    fn duration(&mut self) -> Duration {
        Duration::from_nanos(u64::from(self.below(20_001)))
    }
}

#[inline(always)]
fn produce<'r, K: Channel<Contents = [u32; LEN]>>(
    mut producer: Producer<'r, K>,
    tiles: &BlockTiles<'_, [u32; LEN]>,
    mut draws: Draws,
) -> u32 {
    let mut committed = 0;
    while committed < tiles.len() {
        if draws.gives_up() {
            match draws.below(3) {
                0 => producer.quit(),
                1 => forget(producer),
                _ => drop(producer),
            }
            return outcome(committed, Why::Left);
        }
        let acquired = match draws.below(4) {
            0 => producer.try_acquire().map_err(Unready::end),
            1 => producer.acquire_for(draws.duration()).map_err(Unready::end),
            _ => producer.acquire().map_err(|Closed| None),
        };
        producer = match acquired {
            Err(None) => return outcome(committed, Why::Closed),
            Err(Some(end)) => end,
            Ok(stage) => {
                if draws.gives_up() {
                    match draws.below(4) {
                        0 => drop(stage),
                        1 => forget(stage),
                        2 => drop(stage.copy(tiles.get(committed))),
                        _ => forget(stage.copy(tiles.get(committed))),
                    }
                    return outcome(committed, Why::LeftHolding);
                }
                let filled = stage.copy(tiles.get(committed));
                committed += 1;
                filled.commit()
            }
        };
    }
    outcome(committed, Why::Finished)
}

/// The elements of the input that a block's tiles hold.
#[derive(Clone, Copy)]
struct Share {
    first: usize,
    stride: usize,
    elements: usize,
}

impl Share {
    /// What stands at `place` of the block's tile `tile`.
    #[inline(always)]
    fn expected(self, tile: usize, place: usize) -> u32 {
        let index = (self.first + tile * self.stride) * LEN + place;
        if index < self.elements { element(index) } else { 0 }
    }
}

#[inline(always)]
fn consume<'r, K: Channel<Contents = [u32; LEN]>, R: Role, const SIZE: usize>(
    group: &RoleGroup<'r, R, SIZE>,
    mut consumer: Consumer<'r, K>,
    share: Share,
    wrong: &mut PerThread<'r, u32, SIZE>,
    mut draws: Draws,
) -> u32 {
    let mut got = 0;
    loop {
        if draws.gives_up() {
            match draws.below(3) {
                0 => consumer.quit(),
                1 => forget(consumer),
                _ => drop(consumer),
            }
            return outcome(got, Why::Left);
        }
        let waited = match draws.below(4) {
            0 => consumer.try_wait().map_err(Unready::end),
            1 => consumer.wait_for(draws.duration()).map_err(Unready::end),
            _ => consumer.wait().map_err(|Closed| None),
        };
        consumer = match waited {
            Err(None) => return outcome(got, Why::Closed),
            Err(Some(end)) => end,
            Ok(tile) => {
                group.update(wrong, |t, wrong| {
                    for place in (t.rank()..LEN).step_by(SIZE) {
                        *wrong += u32::from(tile[place] != share.expected(got, place));
                    }
                });
                got += 1;
                if draws.gives_up() {
                    if draws.below(2) == 0 {
                        drop(tile)
                    } else {
                        forget(tile)
                    }
                    return outcome(got, Why::LeftHolding);
                }
                tile.release()
            }
        };
    }
}

macro_rules! random_quits {
    ($($name:ident, $map:ty, $threads:literal, $about:literal;)*) => {$(
        #[doc = $about]
        ///
        /// For each block and episode `wrong` gets the wrong elements that each consumer saw, and
        /// `outcomes` what came of either role.
        #[kernel(
            instances(E = [CpAsync], STAGES = [1, 2, 3, 4]),
            instances(E = [LoadStore], STAGES = [2]),
            instances(E = [Bulk], STAGES = [1, 2, 3, 4]),
        )]
        pub fn $name<E: Engine, const STAGES: usize>(
            block: Block<$threads>,
            input: Tiles<u32, LEN>,
            seed: u32,
            mut wrong: TilesMut<u32, CONSUMERS>,
            mut outcomes: TilesMut<u32, 2>,
            shared: Shared<Partitioned<Stages<[u32; LEN], STAGES, E>>>,
        ) {
            let (tiles, index, mut shared) = (input.for_block(&block), block.index(), shared);
            let share = Share { first: index, stride: block.grid(), elements: input.len() };
            for episode in 0..EPISODES {
                let ((produced, consumed), memory) = block
                    .partition::<$map>()
                    .pipeline(shared)
                    .role((), |_, producer, ()| produce(producer, &tiles, Draws::new(seed, index, episode, 0)))
                    .role(&mut wrong, |group, consumer, wrong| {
                        let mut counts = group.map(|_| 0);
                        let draws = Draws::new(seed, index, episode, 1);
                        let consumed = consume(&group, consumer, share, &mut counts, draws);
                        let mut results = wrong.for_role(&group);
                        let dst = results.get_mut(episode);
                        group.threads(|t| dst.set(&t, counts.get(&t)));
                        consumed
                    })
                    .run();
                shared = memory;
                let mut results = outcomes.for_block(&block);
                let dst = results.get_mut(episode);
                block.threads(|t| {
                    if t.rank() < 2 {
                        dst.set_nth(&t, 0, if t.rank() == 0 { produced } else { consumed });
                    }
                });
            }
        }
    )*};
}
random_quits! {
    random_quits_of_first_threads, FirstThreads<17, 64>, 81, "Roles of threads in a row, not whole warps.";
    random_quits_by_parity, EvenOdd<64>, 128, "Every second thread is a producer.";
    random_quits_of_warps, WarpRoles<32, 64>, 96, "Roles of whole warps.";
}
