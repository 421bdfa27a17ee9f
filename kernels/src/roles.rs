//! Kernels whose producers and consumers are different threads.

use tilepipe::role::{EvenOdd, FirstThreads, Partitioned, Role1, Role2, WarpRoles, WarpRoles3};
use tilepipe::{Block, Bulk, CpAsync, Engine, F32x4, I32x4, LoadStore, Shared, Stages, Tiles, TilesMut, bf16, kernel};

use crate::compute::{Complex, Compute, Float3, NeighbourSum, Number, Reverse};

/// Threads of even rank copy, those of odd rank compute (the guide's
/// `with_specialized_staging_unified`).
#[kernel(
    instances(T = [i32, I32x4], C = [NeighbourSum], E = [CpAsync], THREADS = [256], TILE = [128], STAGES = [1, 2, 3, 4, 8]),
    instances(T = [u8, f64, bf16, Complex, Float3], C = [NeighbourSum], E = [CpAsync], THREADS = [64], TILE = [32], STAGES = [2, 3]),
    instances(T = [u8, f32], C = [NeighbourSum], E = [LoadStore], THREADS = [64], TILE = [32], STAGES = [1, 2, 4]),
    instances(T = [i32], C = [Reverse], E = [CpAsync], THREADS = [1024], TILE = [512], STAGES = [3]),
    instances(T = [i32], C = [NeighbourSum], E = [Bulk], THREADS = [256], TILE = [128], STAGES = [2, 4]),
)]
pub fn with_specialized_staging_unified<
    T: Number,
    C: Compute<T, TILE>,
    E: Engine,
    const THREADS: usize,
    const TILE: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, TILE>,
    mut out: TilesMut<T, TILE>,
    shared: Shared<Partitioned<Stages<[T; TILE], STAGES, E>>>,
) {
    let batches = input.for_block(&block);
    let _ = block.partition::<EvenOdd<TILE>>().pipeline(shared).map_tiles(&batches, &mut out, |odd, tile, dst| {
        odd.threads(|t| dst.set(&t, C::compute(tile, t.rank())));
    });
}

/// The first `PRODUCERS` threads copy, the others compute; both are whole warps.
#[kernel(
    instances(
        T = [i32, I32x4],
        C = [NeighbourSum],
        E = [CpAsync],
        THREADS = [256],
        PRODUCERS = [128],
        CONSUMERS = [128],
        STAGES = [1, 2, 3, 4, 8],
    ),
    instances(
        T = [i32, f32, F32x4],
        C = [NeighbourSum],
        E = [CpAsync],
        THREADS = [288],
        PRODUCERS = [32],
        CONSUMERS = [256],
        STAGES = [2, 4],
    ),
    instances(
        T = [u8, f64, bf16, Complex, Float3],
        C = [NeighbourSum],
        E = [CpAsync],
        THREADS = [96],
        PRODUCERS = [64],
        CONSUMERS = [32],
        STAGES = [2, 3],
    ),
    instances(
        T = [u8, i32],
        C = [Reverse],
        E = [LoadStore],
        THREADS = [96],
        PRODUCERS = [32],
        CONSUMERS = [64],
        STAGES = [1, 2, 4],
    ),
    instances(
        T = [i32],
        C = [NeighbourSum],
        E = [Bulk],
        THREADS = [160],
        PRODUCERS = [32],
        CONSUMERS = [128],
        STAGES = [2, 4],
    ),
)]
pub fn with_specialized_staging_warps<
    T: Number,
    C: Compute<T, CONSUMERS>,
    E: Engine,
    const THREADS: usize,
    const PRODUCERS: usize,
    const CONSUMERS: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, CONSUMERS>,
    mut out: TilesMut<T, CONSUMERS>,
    shared: Shared<Partitioned<Stages<[T; CONSUMERS], STAGES, E>>>,
) {
    let batches = input.for_block(&block);
    let roles = block.partition::<WarpRoles<PRODUCERS, CONSUMERS>>();
    let _ = roles.pipeline(shared).map_tiles(&batches, &mut out, |consumers, tile, dst| {
        consumers.threads(|t| dst.set(&t, C::compute(tile, t.rank())));
    });
}

/// The first `PRODUCERS` threads copy, the others compute, by hand; neither need be whole warps
/// (the guide's `producer_count`).
#[kernel(
    instances(
        T = [i32],
        C = [NeighbourSum],
        E = [CpAsync],
        THREADS = [256],
        PRODUCERS = [128],
        CONSUMERS = [128],
        STAGES = [2, 4],
    ),
    instances(
        T = [i32, F32x4],
        C = [NeighbourSum, Reverse],
        E = [CpAsync, LoadStore],
        THREADS = [40],
        PRODUCERS = [7],
        CONSUMERS = [33],
        STAGES = [1, 3],
    ),
    instances(
        T = [i32],
        C = [NeighbourSum],
        E = [Bulk],
        THREADS = [52],
        PRODUCERS = [20],
        CONSUMERS = [32],
        STAGES = [1, 3],
    ),
)]
pub fn with_producer_count<
    T: Number,
    C: Compute<T, CONSUMERS>,
    E: Engine,
    const THREADS: usize,
    const PRODUCERS: usize,
    const CONSUMERS: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, CONSUMERS>,
    mut out: TilesMut<T, CONSUMERS>,
    shared: Shared<Partitioned<Stages<[T; CONSUMERS], STAGES, E>>>,
) {
    let batches = input.for_block(&block);
    let _ = block
        .partition::<FirstThreads<PRODUCERS, CONSUMERS>>()
        .pipeline(shared)
        .role((), |_, mut producer, ()| {
            for batch in 0..batches.len() {
                let Ok(stage) = producer.acquire() else { return };
                producer = stage.copy(batches.get(batch)).commit();
            }
        })
        .role(&mut out, |consumers, mut consumer, out| {
            let mut results = out.for_role(&consumers);
            let mut batch = 0;
            while let Ok(tile) = consumer.wait() {
                let dst = results.get_mut(batch);
                consumers.threads(|t| dst.set(&t, C::compute(&tile, t.rank())));
                consumer = tile.release();
                batch += 1;
            }
        })
        .run();
}

/// The sum of the block's tiles: one warp copies, the others add, each thread every `CONSUMERS`-th
/// element of a tile, and then their sums.
#[kernel(
    instances(T = [i32, f32], E = [CpAsync], THREADS = [288], CONSUMERS = [256], LEN = [1024], STAGES = [2, 4]),
    instances(T = [f64], E = [CpAsync], THREADS = [64], CONSUMERS = [32], LEN = [256], STAGES = [3]),
    instances(T = [i32], E = [CpAsync], THREADS = [256], CONSUMERS = [224], LEN = [896], STAGES = [8]),
    instances(T = [i32], E = [Bulk], THREADS = [288], CONSUMERS = [256], LEN = [1024, 4096], STAGES = [2, 4]),
)]
pub fn producer_consumer_sum<
    T: Number,
    E: Engine,
    const THREADS: usize,
    const CONSUMERS: usize,
    const LEN: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, 1>,
    shared: Shared<Partitioned<Stages<[T; LEN], STAGES, E>>>,
) {
    let tiles = input.for_block(&block);
    let ((), total) = block
        .partition::<WarpRoles<32, CONSUMERS>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            // The consumers take every tile, so this ends behind the last one.
            let _ = producer.for_each(tiles.len(), |stage, i| stage.copy(tiles.get(i)));
        })
        .role((), |consumers, consumer, ()| {
            let mut sums = consumers.map(|_| T::ZERO);
            consumer.for_each(|tile, _| {
                consumers.update(&mut sums, |t, sum| {
                    for nth in 0..LEN / CONSUMERS {
                        *sum = sum.plus(tile[t.rank() + nth * CONSUMERS]);
                    }
                });
            });
            consumers.reduce(&sums, T::plus)
        })
        .run()
        .0;
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| {
        if t.rank() == 0 {
            dst.set_nth(&t, 0, total);
        }
    });
}

/// What the first role passes to the second, and what that passes to the third.
type LoadedAndComputed<T, E, const TILE: usize, const STAGES: usize> =
    (Partitioned<Stages<[T; TILE], STAGES, E>>, Partitioned<Stages<[T; TILE], STAGES, LoadStore>>);

/// Three roles: the first loads tiles, the second computes new ones from them, the third stores
/// those.
#[kernel(
    instances(T = [i32, f32], C = [NeighbourSum], E = [CpAsync, Bulk], THREADS = [192], TILE = [128], STAGES = [2, 4]),
    instances(T = [u8, f64, Float3], C = [Reverse], E = [CpAsync], THREADS = [192], TILE = [128], STAGES = [1, 3]),
)]
pub fn load_compute_store<
    T: Number,
    C: Compute<T, TILE>,
    E: Engine,
    const THREADS: usize,
    const TILE: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, TILE>,
    mut out: TilesMut<T, TILE>,
    shared: Shared<LoadedAndComputed<T, E, TILE, STAGES>>,
) {
    let (loaded, computed) = shared.split();
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<WarpRoles3<32, 128, 32>>()
        .pipeline(loaded)
        .pipeline_between(Role1, Role2, computed)
        .role((), |_, (producer, ()), ()| {
            let _ = producer.for_each(tiles.len(), |stage, i| stage.copy(tiles.get(i)));
        })
        .role((), |computers, (mut consumer, mut producer), ()| {
            while let Ok(tile) = consumer.wait() {
                let Ok(stage) = producer.acquire() else { return };
                producer = stage.fill(&computers, |_, element| C::compute(&tile, element)).commit();
                consumer = tile.release();
            }
        })
        .role(&mut out, |storers, ((), consumer), out| {
            let mut results = out.for_role(&storers);
            consumer.for_each(|tile, i| {
                let dst = results.get_mut(i);
                storers.threads(|t| dst.set_each(&t, |element| tile[element]));
            });
        })
        .run();
}
