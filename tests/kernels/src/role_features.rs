//! Small kernels of roles for what the guide's kernels do not use: what they write depends on no
//! moment, so tests can compare the backends.

#![expect(clippy::type_complexity, reason = "shared memory is laid out by its type")]

use tilepipe::role::{EvenOdd, FirstThreads, Partitioned, Role0, Role1, Role2, Role3, WarpRoles, WarpRoles4};
use tilepipe::{Block, Bulk, CpAsync, Engine, LoadStore, Optional, Shared, Stages, Tiles, TilesMut, Zeros, kernel};

use crate::features::Affine;
use tilepipe_kernel_elements::Number;

/// What [`gaps_between_roles`](fn@gaps_between_roles) writes where there is no tile.
pub const GAP: u8 = 251;

/// Each tile backwards; of a block's tiles every third is left out ([`GAP`]), and of the others
/// every seventh is zeros.
#[kernel(instances(T = [u8, i32], E = [CpAsync, LoadStore, Bulk], STAGES = [1, 3]))]
pub fn gaps_between_roles<T: Number + From<u8>, E: Engine, const STAGES: usize>(
    block: Block<40>,
    input: Tiles<T, 96>,
    mut out: TilesMut<T, 96>,
    shared: Shared<Partitioned<Stages<Optional<[T; 96]>, STAGES, E>>>,
) {
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<FirstThreads<7, 33>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let _ = producer.for_each(tiles.len(), |stage, i| match i {
                _ if i % 3 == 1 => stage.copy(None::<Zeros>),
                _ if i % 7 == 3 => stage.copy(Some(Zeros)),
                _ => stage.copy(Some(tiles.get(i))),
            });
        })
        .role(&mut out, |group, consumer, out| {
            let mut results = out.for_role(&group);
            consumer.for_each(|tile, i| {
                let dst = results.get_mut(i);
                match tile.get() {
                    Some(tile) => group.threads(|t| dst.set_each(&t, |element| tile[95 - element])),
                    None => group.threads(|t| dst.set_each(&t, |_| T::from(GAP))),
                }
            });
        })
        .run();
}

/// Two tiles of different types in a stage: `left + 256 * right`, with the right one backwards.
#[kernel(instances(E = [CpAsync, LoadStore, Bulk], STAGES = [1, 2]))]
pub fn pairs_between_roles<E: Engine, const STAGES: usize>(
    block: Block<96>,
    left: Tiles<u32, 128>,
    right: Tiles<u8, 128>,
    mut out: TilesMut<u32, 128>,
    shared: Shared<Partitioned<Stages<([u32; 128], [u8; 128]), STAGES, E>>>,
) {
    let (lefts, rights) = (left.for_block(&block), right.for_block(&block));
    let roles = block.partition::<WarpRoles<32, 64>>().pipeline(shared);
    let _ = roles.map_tiles((&lefts, &rights), &mut out, |group, tiles, dst| {
        let (left, right) = tiles.tiles();
        group.threads(|t| dst.set_each(&t, |e| left[e].wrapping_add(u32::from(right[127 - e]) << 8)));
    });
}

/// Four roles in a chain: one loads, one triples, one turns each tile about, one stores.
#[kernel(instances(T = [u8, u32], STAGES = [1, 2]))]
pub fn four_roles<T: Number, const STAGES: usize>(
    block: Block<160>,
    input: Tiles<T, 64>,
    mut out: TilesMut<T, 64>,
    shared: Shared<(
        Partitioned<Stages<[T; 64], STAGES>>,
        (Partitioned<Stages<[T; 64], STAGES, LoadStore>>, Partitioned<Stages<[T; 64], 2, LoadStore>>),
    )>,
) {
    let (loaded, rest) = shared.split();
    let (tripled, turned) = rest.split();
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<WarpRoles4<32, 64, 32, 32>>()
        .pipeline(loaded)
        .pipeline_between(Role1, Role2, tripled)
        .pipeline_between(Role2, Role3, turned)
        .role((), |_, (producer, (), ()), ()| {
            let _ = producer.for_each(tiles.len(), |stage, i| stage.copy(tiles.get(i)));
        })
        .role((), |group, (mut consumer, mut producer, ()), ()| {
            while let Ok(tile) = consumer.wait() {
                let Ok(stage) = producer.acquire() else { return };
                producer = stage.fill(&group, |_, element| tile[element].triple()).commit();
                consumer = tile.release();
            }
        })
        .role((), |group, ((), mut consumer, mut producer), ()| {
            while let Ok(tile) = consumer.wait() {
                let Ok(stage) = producer.acquire() else { return };
                producer = stage.fill(&group, |_, element| tile[63 - element]).commit();
                consumer = tile.release();
            }
        })
        .role(&mut out, |group, ((), (), consumer), out| {
            let mut results = out.for_role(&group);
            consumer.for_each(|tile, i| {
                let dst = results.get_mut(i);
                group.threads(|t| dst.set_each(&t, |element| tile[element]));
            });
        })
        .run();
}

/// Three pipelines that load at once, in a block of four roles: the first role fills stages of the
/// third and of the last one, the second role those of another one of the third, which hands its
/// results on.
///
/// Writes 3 times each element, 5 times its mirror image in the block's tile that is as far from
/// the last one, and 7 times the same place of the block's next tile (of the first one behind the
/// last).
#[kernel(instances(E = [CpAsync, Bulk], STAGES = [1, 2, 3]))]
pub fn three_loads<E: Engine, const STAGES: usize>(
    block: Block<160>,
    input: Tiles<u32, 64>,
    mut out: TilesMut<u32, 64>,
    shared: Shared<(
        (Partitioned<Stages<[u32; 64], STAGES, E>>, Partitioned<Stages<[u32; 64], 2, E>>),
        (Partitioned<Stages<[u32; 64], STAGES, E>>, Partitioned<Stages<[u32; 64], STAGES, LoadStore>>),
    )>,
) {
    let (loaded, rest) = shared.split();
    let ((near, far), (next, sums)) = (loaded.split(), rest.split());
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<WarpRoles4<32, 32, 64, 32>>()
        .pipeline_between(Role0, Role2, near)
        .pipeline_between(Role1, Role2, far)
        .pipeline_between(Role0, Role3, next)
        .pipeline_between(Role2, Role3, sums)
        .role((), |_, (mut near, (), mut next, ()), ()| {
            for i in 0..tiles.len() {
                let Ok(stage) = near.acquire() else { return };
                near = stage.copy(tiles.get(i)).commit();
                let Ok(stage) = next.acquire() else { return };
                next = stage.copy(tiles.get((i + 1) % tiles.len())).commit();
            }
        })
        .role((), |_, ((), far, (), ()), ()| {
            let _ = far.for_each(tiles.len(), |stage, i| stage.copy(tiles.get(tiles.len() - 1 - i)));
        })
        .role((), |group, (mut near, mut far, (), mut sums), ()| {
            while let (Ok(tile), Ok(other)) = (near.wait(), far.wait()) {
                let Ok(stage) = sums.acquire() else { return };
                let sum = |element: usize| tile[element].triple().plus(other[63 - element].wrapping_mul(5));
                sums = stage.fill(&group, |_, element| sum(element)).commit();
                (near, far) = (tile.release(), other.release());
            }
        })
        .role(&mut out, |group, ((), (), mut next, mut sums), out| {
            let mut results = out.for_role(&group);
            for i in 0..results.len() {
                let (Ok(other), Ok(sum)) = (next.wait(), sums.wait()) else { return };
                let dst = results.get_mut(i);
                group.threads(|t| dst.set_each(&t, |element| sum[element].plus(other[element].wrapping_mul(7))));
                (next, sums) = (other.release(), sum.release());
            }
        })
        .run();
}

/// Two pipelines in opposite directions: one role loads and stores, the other one computes each
/// tile backwards, tripled.
#[kernel(instances(T = [u8, i32], THERE = [1, 3], BACK = [1, 2]))]
pub fn there_and_back<T: Number, const THERE: usize, const BACK: usize>(
    block: Block<56>,
    input: Tiles<T, 48>,
    mut out: TilesMut<T, 48>,
    shared: Shared<(Partitioned<Stages<[T; 48], THERE>>, Partitioned<Stages<[T; 48], BACK, LoadStore>>)>,
) {
    let (there, back) = shared.split();
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<FirstThreads<16, 40>>()
        .pipeline(there)
        .pipeline_between(Role1, Role0, back)
        .role(&mut out, |group, (mut producer, mut consumer), out| {
            let mut results = out.for_role(&group);
            // A tile ahead: the other role computes one while this one stores the one before.
            for i in 0..=tiles.len() {
                if i < tiles.len() {
                    let Ok(stage) = producer.acquire() else { return };
                    producer = stage.copy(tiles.get(i)).commit();
                }
                if i > 0 {
                    let Ok(tile) = consumer.wait() else { return };
                    let dst = results.get_mut(i - 1);
                    group.threads(|t| dst.set_each(&t, |element| tile[element]));
                    consumer = tile.release();
                }
            }
        })
        .role((), |group, (mut consumer, mut producer), ()| {
            while let Ok(tile) = consumer.wait() {
                let Ok(stage) = producer.acquire() else { return };
                producer = stage.fill(&group, |_, element| tile[47 - element].triple()).commit();
                consumer = tile.release();
            }
        })
        .run();
}

/// One memory for three pipelines one after the other: the consumers keep sums for their second
/// one, and the third has other roles.
///
/// Writes each element and the block's sum, in which an element counts as often as its place modulo
/// 64 says, and once more.
#[kernel(instances(E = [CpAsync, LoadStore, Bulk], STAGES = [1, 2, 5]))]
pub fn three_passes<E: Engine, const STAGES: usize>(
    block: Block<96>,
    input: Tiles<u32, 128>,
    mut out: TilesMut<u32, 128>,
    shared: Shared<Partitioned<Stages<[u32; 128], STAGES, E>>>,
) {
    let tiles = input.for_block(&block);
    let first = block.partition::<WarpRoles<32, 64>>().pipeline(shared);
    let (kept, shared) = first.for_each_tile(&tiles, (), |group, run, ()| {
        let mut sums = group.map(|_| 0_u32);
        run.for_each(|tile, _| {
            group.update(&mut sums, |t, sum| *sum = sum.plus(tile[t.rank()]).plus(tile[t.rank() + 64]));
        });
        group.keep(sums)
    });
    let (((), total), shared) = block
        .partition::<WarpRoles<32, 64>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let _ = producer.for_each(tiles.len(), |stage, i| stage.copy(tiles.get(i)));
        })
        .role(kept, |group, consumer, kept| {
            let sums = group.resume(kept);
            let mut weighted = group.map(|t| sums.get(&t).wrapping_mul(t.rank() as u32));
            consumer.for_each(|tile, _| {
                group.update(&mut weighted, |t, sum| *sum = sum.plus(tile[t.rank()]).plus(tile[t.rank() + 64]));
            });
            group.reduce(&weighted, u32::plus)
        })
        .run();
    let third = block.partition::<EvenOdd<48>>().pipeline(shared);
    let _ = third.map_tiles(&tiles, &mut out, |group, tile, dst| {
        group.threads(|t| dst.set_each(&t, |element| tile[element].plus(total)));
    });
}

/// The collectives of a role in one number for each tile, as those of a block in
/// [`collectives_of_blocks`](fn@crate::features::collectives_of_blocks), while the other role has
/// collectives of its own.
#[kernel(
    instances(THREADS = [128], PRODUCERS = [32], CONSUMERS = [96]),
    instances(THREADS = [96], PRODUCERS = [64], CONSUMERS = [32]),
)]
pub fn collectives_of_roles<const THREADS: usize, const PRODUCERS: usize, const CONSUMERS: usize>(
    block: Block<THREADS>,
    input: Tiles<u32, CONSUMERS>,
    mut out: TilesMut<u32, CONSUMERS>,
    shared: Shared<Partitioned<Stages<[u32; CONSUMERS], 2>>>,
) {
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<WarpRoles<PRODUCERS, CONSUMERS>>()
        .pipeline(shared)
        .role((), |producers, mut producer, ()| {
            let ranks = producers.map(|t| t.rank() as u32);
            for i in 0..tiles.len() {
                let Ok(stage) = producer.acquire() else { return };
                let sum = producers.reduce(&ranks, u32::plus) as usize;
                let last = producers.broadcast(&ranks, PRODUCERS - 1) as usize;
                // Where these are wrong, tiles are missing.
                if sum != PRODUCERS * (PRODUCERS - 1) / 2 || last != PRODUCERS - 1 {
                    return;
                }
                producer = stage.copy(tiles.get(i)).commit();
            }
        })
        .role(&mut out, |group, consumer, out| {
            let mut results = out.for_role(&group);
            consumer.for_each(|tile, i| {
                let dst = results.get_mut(i);
                let own = group.map(|t| tile[t.rank()]);
                let is_small = group.map(|t| own.get(&t) < 1 << 24);
                let is_large = group.map(|t| own.get(&t) > 1 << 24);
                let votes = u32::from(group.any(&is_small)) + 2 * u32::from(group.all(&is_large));
                let last = group.broadcast(&own, CONSUMERS - 1);
                let maps = group.map(|t| Affine { scale: own.get(&t) | 1, shift: t.rank() as u32 });
                let composed = group.reduce(&maps, Affine::then);
                let result = composed.scale.wrapping_add(composed.shift).wrapping_mul(4).wrapping_add(votes) ^ last;
                group.threads(|t| dst.set(&t, result.wrapping_add(t.rank() as u32)));
            });
        })
        .run();
}

/// To each element the sum of those before it in its tile and of all of its warp's 32: a scan of
/// the role, and its warps.
#[kernel(instances(THREADS = [96], CONSUMERS = [64]))]
pub fn scans_of_roles<const THREADS: usize, const CONSUMERS: usize>(
    block: Block<THREADS>,
    input: Tiles<u32, CONSUMERS>,
    mut out: TilesMut<u32, CONSUMERS>,
    shared: Shared<Partitioned<Stages<[u32; CONSUMERS], 3>>>,
) {
    let tiles = input.for_block(&block);
    let roles = block.partition::<WarpRoles<32, CONSUMERS>>().pipeline(shared);
    let _ = roles.map_tiles(&tiles, &mut out, |group, tile, dst| {
        let own = group.map(|t| tile[t.rank()]);
        let sums = group.scan(&own, u32::plus);
        group.sync();
        group.warps(|warp| {
            let own = warp.map(|lane| tile[lane.thread().rank()]);
            let sum = warp.reduce(&own, u32::plus);
            warp.lanes(|lane| dst.set(lane.thread(), sums.get(lane.thread()).plus(sum)));
        });
    });
}

/// All collectives of a group several times in a row, without any other barrier between them, in
/// one number. The warps take different times to get from one to the next.
macro_rules! in_a_row {
    ($group:expr, $threads:expr, $own:expr) => {{
        let (group, mut own, mut result) = ($group, $own, 1_u32);
        for round in 0..3_usize {
            group.update(&mut own, |t, value| {
                for _ in 0..(t.rank() / 32 * 11 + round * 5) % 29 {
                    *value = value.wrapping_mul(0x9E37_79B1).rotate_left(7);
                }
            });
            let sum = group.reduce(&own, u32::plus);
            let maps = group.map(|t| Affine { scale: own.get(&t) | 1, shift: sum ^ t.rank() as u32 });
            let (composed, all) = group.scan_with_total(&maps, Affine::then);
            let (before, next) = group.exclusive_scan(&own, all.shift, u32::plus);
            let mixed = group.reduce(&group.map(|t| composed.get(&t).shift ^ before.get(&t)), u32::plus);
            let one = group.broadcast(&own, mixed as usize % $threads);
            let other = group.broadcast(&before, next as usize % $threads);
            let sums = group.scan(&own, u32::plus);
            let twisted = group.map(|t| sums.get(&t).rotate_left(t.rank() as u32 % 32));
            let (_, total) = group.scan_with_total(&twisted, u32::plus);
            result = result.wrapping_mul(31) ^ sum ^ mixed ^ one ^ other ^ total;
        }
        result
    }};
}

/// Collectives of the block, then of its two roles side by side, then of the block again.
#[kernel(
    instances(THREADS = [128], FIRST = [32], SECOND = [96]),
    instances(THREADS = [1024], FIRST = [768], SECOND = [256]),
)]
pub fn collectives_in_a_row<const THREADS: usize, const FIRST: usize, const SECOND: usize>(
    block: Block<THREADS>,
    input: Tiles<u32, THREADS>,
    mut out: TilesMut<u32, THREADS>,
) {
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = (block.index() + i * block.grid()) * THREADS;
        let own = block.map(|t| input.get(first + t.rank()).unwrap_or(1));
        let before = in_a_row!(&block, THREADS, block.map(|t| own.get(&t)));
        let ((one, other), ()) = block
            .partition::<WarpRoles<FIRST, SECOND>>()
            .role((), |group, (), ()| {
                in_a_row!(&group, FIRST, group.map(|t| input.get(first + t.rank()).unwrap_or(2) ^ before))
            })
            .role((), |group, (), ()| {
                in_a_row!(&group, SECOND, group.map(|t| input.get(first + FIRST + t.rank()).unwrap_or(3) ^ before))
            })
            .run();
        let result = in_a_row!(&block, THREADS, block.map(|t| own.get(&t) ^ one.wrapping_mul(3) ^ other));
        let dst = results.get_mut(i);
        block.threads(|t| dst.set(&t, result.wrapping_add(t.rank() as u32)));
    }
}
