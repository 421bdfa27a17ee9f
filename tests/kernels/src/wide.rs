//! Small kernels whose threads have several elements of a tile each, in a row. But for
//! [`wide_own`](fn@wide_own) each element becomes three times itself plus the next one of its tile,
//! the last one's next being the first.

use tilepipe::role::{EvenOdd, Partitioned, WarpRoles};
use tilepipe::{
    Arrangement, Block, Blocked, Bulk, BulkTilesMut, CpAsync, Engine, LoadStore, Outputs, Runs, Shared, Stages,
    Striped, ThreadScope, Tiles, TilesMut, hoist_bounds, kernel,
};
use tilepipe_kernel_elements::{Complex, Number};

/// The driver.
#[kernel(
    instances(T = [i32], E = [CpAsync, LoadStore], THREADS = [96, 256], LEN = [4 * THREADS, 8 * THREADS], STAGES = [1, 2, 3]),
    instances(T = [i32, u8], E = [Bulk], THREADS = [96], LEN = [16 * THREADS], STAGES = [1, 2, 3]),
    instances(T = [u8], E = [CpAsync], THREADS = [128], LEN = [16 * THREADS, 24 * THREADS, 3 * THREADS], STAGES = [2]),
    instances(T = [i64, f64, Complex], E = [CpAsync], THREADS = [128], LEN = [2 * THREADS, 4 * THREADS, 5 * THREADS], STAGES = [2]),
)]
pub fn wide_tiles<T: Number, E: Engine, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<[T; LEN], STAGES, E>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |i| tile[i].triple().plus(tile[(i + 1) % LEN])));
    });
}

/// Stages of tiles, and output stages of the same tiles.
type WithOutputs<T, E, const LEN: usize, const STAGES: usize, const COUNT: usize> =
    (Stages<[T; LEN], STAGES, E>, Outputs<[T; LEN], COUNT>);

/// The driver, through output stages that the copy engine stores.
#[kernel(
    instances(T = [i32, u8, Complex], E = [CpAsync, Bulk], THREADS = [96], LEN = [16 * THREADS], STAGES = [2], COUNT = [1, 3]),
    instances(T = [f64], E = [LoadStore], THREADS = [64], LEN = [50], STAGES = [1], COUNT = [2]),
)]
pub fn wide_stored<
    T: Number,
    E: Engine,
    const THREADS: usize,
    const LEN: usize,
    const STAGES: usize,
    const COUNT: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    out: BulkTilesMut<T, LEN>,
    shared: Shared<WithOutputs<T, E, LEN, STAGES, COUNT>>,
) {
    let (stages, outputs) = shared.split();
    let tiles = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&tiles, &mut results, |tile, draft| {
        draft.fill(&block, |i| tile[i].triple().plus(tile[(i + 1) % LEN]));
    });
}

/// The driver, a thread's elements in several runs.
#[kernel(
    instances(T = [i32], RUN = [4], E = [CpAsync, Bulk], THREADS = [96], LEN = [4 * THREADS, 16 * THREADS], STAGES = [1, 3]),
    instances(T = [u8], RUN = [16, 12], E = [CpAsync], THREADS = [128], LEN = [48 * THREADS], STAGES = [2]),
    instances(T = [i64, Complex], RUN = [2], E = [CpAsync], THREADS = [128], LEN = [6 * THREADS], STAGES = [2]),
)]
pub fn wide_runs<
    T: Number,
    const RUN: usize,
    E: Engine,
    const THREADS: usize,
    const LEN: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Runs<RUN>>,
    shared: Shared<Stages<[T; LEN], STAGES, E>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |i| tile[i].triple().plus(tile[(i + 1) % LEN])));
    });
}

/// The driver at thread scope: each thread reads what it copied itself, and writes three times
/// that.
#[kernel(instances(T = [i32, f64], THREADS = [256], LEN = [4 * THREADS], STAGES = [1, 2]))]
pub fn wide_own<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<[T; LEN], STAGES, CpAsync, ThreadScope>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| {
            let own = tile.own(&t);
            dst.set_each(&t, |i| own[i % (LEN / THREADS)].triple());
        });
    });
}

/// By hand, with bounds that are checked once.
#[kernel(instances(T = [i32, f64], THREADS = [128], LEN = [4 * THREADS]))]
pub fn wide_by_hand<T: Number, const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<[T; LEN], 2>>,
) {
    hoist_bounds((input.for_block(&block), out.for_block(&block)), |(tiles, mut results)| {
        if tiles.len() == 0 {
            return;
        }
        let mut pipe = shared.pipeline(&block).acquire().copy(tiles.get(0)).commit().weaken();
        for next in 1..tiles.len() {
            let (p, tile) = pipe.wait();
            let p = p.acquire().copy(tiles.get(next)).commit();
            let dst = results.get_mut(next - 1);
            block.threads(|t| dst.set_each(&t, |i| tile[i].triple().plus(tile[(i + 1) % LEN])));
            pipe = p.release(tile);
        }
        let (p, tile) = pipe.wait();
        let dst = results.get_mut(tiles.len() - 1);
        block.threads(|t| dst.set_each(&t, |i| tile[i].triple().plus(tile[(i + 1) % LEN])));
        let _ = p.release(tile);
    });
}

/// Between two roles.
#[kernel(instances(T = [i32, u8], THREADS = [96], CONSUMERS = [64], LEN = [16 * CONSUMERS], STAGES = [2]))]
pub fn wide_between_roles<
    T: Number,
    const THREADS: usize,
    const CONSUMERS: usize,
    const LEN: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Partitioned<Stages<[T; LEN], STAGES>>>,
) {
    let tiles = input.for_block(&block);
    let pipeline = block.partition::<WarpRoles<32, CONSUMERS>>().pipeline(shared);
    let _ = pipeline.map_tiles(&tiles, &mut out, |group, tile, dst| {
        group.threads(|t| dst.set_each(&t, |i| tile[i].triple().plus(tile[(i + 1) % LEN])));
    });
}

/// Between threads of even rank and of odd rank, whose results are stored after the stage was
/// handed back; the number of a thread's elements is a power of two or not, and the last ones of a
/// tile may be fewer.
#[kernel(
    instances(T = [i32], A = [Blocked], THREADS = [64], HALF = [32], LEN = [128, 96], STAGES = [1, 2]),
    instances(T = [u8], A = [Runs<8>], THREADS = [64], HALF = [32], LEN = [512], STAGES = [2]),
    instances(T = [f64, Complex], A = [Striped], THREADS = [64], HALF = [32], LEN = [100], STAGES = [3]),
)]
pub fn elements_between_roles<
    T: Number,
    A: Arrangement,
    const THREADS: usize,
    const HALF: usize,
    const LEN: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, A>,
    shared: Shared<Partitioned<Stages<[T; LEN], STAGES>>>,
) {
    let tiles = input.for_block(&block);
    let pipeline = block.partition::<EvenOdd<HALF>>().pipeline(shared);
    let _ = pipeline.map_elements(&tiles, &mut out, |tile, i| tile[i].triple().plus(tile[(i + 1) % LEN]));
}
