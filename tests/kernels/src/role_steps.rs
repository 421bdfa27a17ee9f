//! More small kernels of roles, for the steps themselves: who leaves when and how, who is slow, and
//! what comes in time.
//!
//! What they write depends on no moment either.

#![expect(clippy::type_complexity, reason = "shared memory is laid out by its type")]
#![expect(clippy::forget_non_drop, reason = "no end has a destructor: that it matters neither way is what is tested")]

use core::mem::forget;
use core::time::Duration;

use tilepipe::role::{
    Channel, Closed, Consumer, EvenOdd, FirstThreads, Partitioned, Producer, Role0, Role1, Unready, WarpRoles,
};
use tilepipe::{Block, Bulk, CpAsync, Engine, LoadStore, Shared, Stages, Tiles, TilesMut, kernel};

/// How many ways there are to leave a pipeline, for
/// [`quits_at_every_step`](fn@quits_at_every_step).
pub const WAYS: usize = 7;
/// The numbers of stages that a role passes before it leaves, from 0 up, for
/// [`quits_at_every_step`](fn@quits_at_every_step).
pub const STEPS: usize = 5;
/// The length of the tiles of [`quits_at_every_step`](fn@quits_at_every_step).
pub const LEN: usize = 64;

/// Commits the input's first tile `count` times and leaves in the way `way`, or as soon as the
/// consumers have left; returns how many it committed.
#[inline(always)]
pub fn commits_and_leaves<'r, K: Channel<Contents = [u32; LEN]>>(
    mut producer: Producer<'r, K>,
    input: &Tiles<'_, u32, LEN>,
    count: usize,
    way: usize,
) -> u32 {
    for committed in 0..count {
        let Ok(stage) = producer.acquire() else { return committed as u32 };
        producer = stage.copy(input.tile(0)).commit();
    }
    match way {
        0 => drop(producer),
        1 => producer.quit(),
        2 => forget(producer),
        3 => drop(producer.acquire()),
        4 => forget(producer.acquire()),
        _ => {
            if let Ok(stage) = producer.acquire() {
                let filled = stage.copy(input.tile(0));
                if way == 5 { drop(filled) } else { forget(filled) }
            }
        }
    }
    count as u32
}

/// Releases `count` stages and leaves in the way `way`, or as soon as the producers have left;
/// returns how many tiles it got.
#[inline(always)]
pub fn releases_and_leaves<'r, K: Channel<Contents = [u32; LEN]>>(
    mut consumer: Consumer<'r, K>,
    count: usize,
    way: usize,
) -> u32 {
    for released in 0..count {
        let Ok(tile) = consumer.wait() else { return released as u32 };
        consumer = tile.release();
    }
    let last = match way {
        0 => return count as u32,
        1 => {
            consumer.quit();
            return count as u32;
        }
        2 => {
            forget(consumer);
            return count as u32;
        }
        _ => consumer.wait(),
    };
    let got = count as u32 + u32::from(last.is_ok());
    match (last, way) {
        (Err(Closed), _) => {}
        (Ok(tile), 3) => drop(tile),
        (Ok(tile), 4) => forget(tile),
        (Ok(tile), 5) => tile.release().quit(),
        (Ok(tile), _) => forget(tile.release()),
    }
    got
}

/// Both roles leave after every number of steps and in every way, one pair after the other in the
/// same memory: per pair of ways, a number made of all counts.
#[kernel(instances(E = [CpAsync, Bulk], STAGES = [1, 2]))]
pub fn quits_at_every_step<E: Engine, const STAGES: usize>(
    block: Block<40>,
    input: Tiles<u32, LEN>,
    mut out: TilesMut<u32, LEN>,
    shared: Shared<Partitioned<Stages<[u32; LEN], STAGES, E>>>,
) {
    let mut shared = shared;
    let mut results = out.for_block(&block);
    if results.len() == 0 {
        return;
    }
    let dst = results.get_mut(0);
    for pair in 0..WAYS * WAYS {
        let mut number = 0_u32;
        for counts in 0..STEPS * STEPS {
            let (commits, releases) = (counts / STEPS, counts % STEPS);
            let ((committed, got), memory) = block
                .partition::<FirstThreads<7, 33>>()
                .pipeline(shared)
                .role((), |_, producer, ()| commits_and_leaves(producer, &input, commits, pair / WAYS))
                .role((), |_, consumer, ()| releases_and_leaves(consumer, releases, pair % WAYS))
                .run();
            shared = memory;
            number = number.wrapping_mul(31).wrapping_add(16 * committed + got);
        }
        block.threads(|t| {
            if t.rank() == pair % 40 {
                dst.set_nth(&t, pair / 40, number);
            }
        });
    }
}

/// Takes a time that depends on the thread and the lap, and returns a number that depends on them
/// alone.
#[inline(always)]
pub fn dawdle(rank: usize, lap: usize) -> u32 {
    let mut number = (rank * 977 + lap * 331 + 1) as u32;
    for _ in 0..(rank * 7 + lap * 13) % 97 {
        number ^= number << 13;
        number ^= number >> 17;
        number ^= number << 5;
    }
    number
}

/// Threads that fill stages and threads that read them each take their own time in every lap:
/// `tile ^ slow ^ slow'`.
macro_rules! slow_threads {
    ($name:ident, $map:ty, $threads:literal, $about:literal) => {
        #[doc = $about]
        #[kernel(instances(E = [CpAsync, Bulk], STAGES = [1, 2, 4]))]
        pub fn $name<E: Engine, const STAGES: usize>(
            block: Block<$threads>,
            input: Tiles<u32, LEN>,
            mut out: TilesMut<u32, LEN>,
            shared: Shared<(
                Partitioned<Stages<[u32; LEN], STAGES, E>>,
                Partitioned<Stages<[u32; LEN], STAGES, LoadStore>>,
            )>,
        ) {
            let (copied, written) = shared.split();
            let tiles = input.for_block(&block);
            let _ = block
                .partition::<$map>()
                .pipeline(copied)
                .pipeline(written)
                .role((), |group, (mut copier, mut writer), ()| {
                    for lap in 0..tiles.len() {
                        let Ok(stage) = copier.acquire() else { return };
                        copier = stage.copy(tiles.get(lap)).commit();
                        let Ok(stage) = writer.acquire() else { return };
                        writer = stage.fill(&group, |_, element| dawdle(element, lap)).commit();
                    }
                })
                .role(&mut out, |group, (mut copied, mut written), out| {
                    let mut results = out.for_role(&group);
                    let mut lap = 0;
                    while let (Ok(tile), Ok(slow)) = (copied.wait(), written.wait()) {
                        let dst = results.get_mut(lap);
                        group.threads(|t| dst.set_each(&t, |e| tile[LEN - 1 - e] ^ slow[e] ^ dawdle(e, lap + 1)));
                        (copied, written) = (tile.release(), slow.release());
                        lap += 1;
                    }
                })
                .run();
        }
    };
}
slow_threads!(slow_warps, WarpRoles<32, 64>, 96, "Slow threads in roles of whole warps.");
slow_threads!(slow_halves, EvenOdd<48>, 96, "Slow threads of which every second one is a producer.");
slow_threads!(slow_few, FirstThreads<1, 63>, 64, "Slow threads of which the first one alone is a producer.");

/// Consumers wait in every timed way for tiles that only come when they have waited in vain: each
/// element, and 1000 times how often no tile came in time, which is once a tile.
#[kernel(instances(E = [CpAsync, Bulk], STAGES = [1, 3]))]
pub fn waits_in_vain<E: Engine, const STAGES: usize>(
    block: Block<96>,
    input: Tiles<u32, LEN>,
    mut out: TilesMut<u32, LEN>,
    shared: Shared<(Partitioned<Stages<[u32; LEN], STAGES, E>>, Partitioned<Stages<[u32; 1], 1, LoadStore>>)>,
) {
    let (data, go) = shared.split();
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<WarpRoles<32, 64>>()
        .pipeline(data)
        .pipeline_between(Role1, Role0, go)
        .role((), |_, (mut producer, go), ()| {
            let mut go = go;
            for i in 0..tiles.len() {
                let Ok(told) = go.wait() else { return };
                go = told.release();
                let Ok(stage) = producer.acquire() else { return };
                producer = stage.copy(tiles.get(i)).commit();
            }
        })
        .role(&mut out, |group, (mut consumer, mut go), out| {
            let mut results = out.for_role(&group);
            for i in 0..results.len() {
                let waited = match i % 3 {
                    0 => consumer.try_wait(),
                    1 => consumer.wait_for(Duration::from_micros(3)),
                    _ => consumer.wait_until(group.now() + Duration::from_micros(2)),
                };
                let Err(Unready::TimedOut(end)) = waited else { return };
                let in_vain = i as u32 + 1;
                let Ok(stage) = go.acquire() else { return };
                go = stage.fill(&group, |_, _| 1).commit();
                let Ok(tile) = end.wait() else { return };
                let dst = results.get_mut(i);
                group.threads(|t| dst.set(&t, tile[t.rank()].wrapping_add(1000 * in_vain)));
                consumer = tile.release();
            }
        })
        .run();
}

/// Producers fill every stage and ask for one more in every timed way before they let the consumers
/// begin: each element, and 1000 times how often there was no stage in time, which is three times a
/// block.
#[kernel(instances(E = [CpAsync, Bulk], STAGES = [1, 2, 4]))]
pub fn acquires_in_vain<E: Engine, const STAGES: usize>(
    block: Block<64>,
    input: Tiles<u32, LEN>,
    mut out: TilesMut<u32, LEN>,
    shared: Shared<(Partitioned<Stages<[u32; LEN], STAGES, E>>, Partitioned<Stages<[u32; 1], 1, LoadStore>>)>,
) {
    let (data, go) = shared.split();
    let (tiles, start) = (input.for_block(&block), block.now());
    let _ = block
        .partition::<FirstThreads<31, 33>>()
        .pipeline(data)
        .pipeline(go)
        .role((), |group, (mut producer, go), ()| {
            let mut in_vain = 0_u32;
            // Stages beyond the block's tiles are filled with its last one, which nobody reads.
            for i in 0..STAGES {
                let Ok(stage) = producer.acquire() else { return };
                producer = stage.copy(input.tile(i.min(input.tiles() - 1))).commit();
            }
            for way in 0..3 {
                let acquired = match way {
                    0 => producer.try_acquire(),
                    1 => producer.acquire_for(Duration::from_micros(3)),
                    _ => producer.acquire_until(start + Duration::from_micros(10)),
                };
                let Err(Unready::TimedOut(end)) = acquired else { return };
                (producer, in_vain) = (end, in_vain + 1);
            }
            let Ok(stage) = go.acquire() else { return };
            let _ = stage.fill(&group, |_, _| in_vain).commit();
            let _ = producer.for_each(tiles.len(), |stage, i| stage.copy(tiles.get(i)));
        })
        .role(&mut out, |group, (mut consumer, go), out| {
            let mut results = out.for_role(&group);
            let Ok(told) = go.wait() else { return };
            for _ in 0..STAGES {
                let Ok(tile) = consumer.wait() else { return };
                consumer = tile.release();
            }
            consumer.for_each(|tile, i| {
                let dst = results.get_mut(i);
                group.threads(|t| dst.set_each(&t, |e| tile[e].wrapping_add(1000 * told[0])));
            });
        })
        .run();
}
