//! Small kernels over views of rows, which have what views of one row have. Each writes three times
//! the number that it reads.

use core::array::from_fn;

use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{
    Arrangement, Block, Blocked, Bulk, ByHand, CpAsync, Engine, Input2D, LoadStore, Runs, Shared, Stages, Striped,
    ThreadScope, Tile2D, Tiles2D, TilesMut2D, WarpRows, WarpScope, hoist_bounds, kernel,
};

/// Rows of the tiles.
const ROWS: usize = 8;
/// Columns of the tiles.
const COLUMNS: usize = 32;
/// A tile.
type Tile = Tile2D<u32, ROWS, COLUMNS>;

/// The driver, in both arrangements.
#[kernel(instances(E = [CpAsync, LoadStore, Bulk], A = [Striped, Blocked], THREADS = [96, 128], STAGES = [1, 3]))]
pub fn mapped_rows<E: Engine, A: Arrangement, const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles2D<u32, ROWS, COLUMNS>,
    mut out: TilesMut2D<u32, ROWS, COLUMNS, A>,
    shared: Shared<Stages<Tile, STAGES, E>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| tile[(row, column)].wrapping_mul(3)));
    });
}

/// The driver, a thread's elements in runs in several rows.
#[kernel(instances(THREADS = [32, 64]))]
pub fn rows_in_runs<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles2D<u32, ROWS, COLUMNS>,
    mut out: TilesMut2D<u32, ROWS, COLUMNS, Runs<4>>,
    shared: Shared<Stages<Tile, 2>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| tile[(row, column)].wrapping_mul(3)));
    });
}

/// Without stages, a thread's runs one by one.
#[kernel(
    instances(A = [Runs<4>], N = [4], THREADS = [32, 64]),
    instances(A = [Runs<8>], N = [8], THREADS = [32]),
    instances(A = [WarpRows<1>], N = [1], THREADS = [64]),
)]
pub fn rows_by_runs<A: Arrangement, const N: usize, const THREADS: usize>(
    block: Block<THREADS>,
    input: Input2D<u32>,
    mut out: TilesMut2D<u32, ROWS, COLUMNS, A>,
) {
    let mut results = out.for_block(&block);
    let places = results.places();
    for i in 0..results.len() {
        let (down, right) = places.get(i);
        let dst = results.get_mut(i);
        block.threads(|t| {
            for nth in 0..ROWS * COLUMNS / (N * THREADS) {
                let (row, column) = dst.place(&t, nth * N);
                let (row, column) = (down * ROWS + row, right * COLUMNS + column);
                let value = |lane| input.get(row, column + lane).unwrap_or(0).wrapping_mul(3);
                dst.set_run(&t, nth, from_fn::<_, N, _>(value));
            }
        });
    }
}

/// Each thread copies, reads and writes elements in a row of its own.
#[kernel(instances(E = [CpAsync, LoadStore], STAGES = [1, 2]))]
pub fn rows_of_threads<E: Engine, const STAGES: usize>(
    block: Block<64>,
    input: Tiles2D<u32, ROWS, COLUMNS>,
    mut out: TilesMut2D<u32, ROWS, COLUMNS, Blocked>,
    shared: Shared<Stages<Tile, STAGES, E, ThreadScope>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| {
            let own = tile.own(&t);
            dst.set_all(&t, [own[0], own[1], own[2], own[3]].map(|number| number.wrapping_mul(3)));
        });
    });
}

/// Each warp copies elements in a row, which its lanes read and write.
#[kernel(instances(E = [CpAsync, LoadStore], STAGES = [1, 2]))]
pub fn rows_of_warps<E: Engine, const STAGES: usize>(
    block: Block<128>,
    input: Tiles2D<u32, ROWS, COLUMNS>,
    mut out: TilesMut2D<u32, ROWS, COLUMNS, Blocked>,
    shared: Shared<Stages<Tile, STAGES, E, WarpScope>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| {
            let (warp, lane) = (tile.of_warp(&t), t.rank() % 32);
            dst.set_all(&t, [2 * lane, 2 * lane + 1].map(|element| warp[element].wrapping_mul(3)));
        });
    });
}

/// By hand with bounds that are checked once, two tiles at a time while there are two.
#[kernel(instances(E = [CpAsync, LoadStore]))]
pub fn pairs_of_rows<E: ByHand>(
    block: Block<128>,
    input: Tiles2D<u32, ROWS, COLUMNS>,
    mut out: TilesMut2D<u32, ROWS, COLUMNS>,
    shared: Shared<Stages<(Tile, Tile), 1, E>>,
) {
    hoist_bounds((input.for_block(&block), out.for_block(&block)), |(tiles, mut results)| {
        let mut pipe = shared.pipeline(&block).weaken();
        let mut first = 0;
        while first < tiles.len() {
            let second = if first + 1 < tiles.len() { first + 1 } else { first };
            let (p, pair) = pipe.acquire().copy((tiles.get(first), tiles.get(second))).commit().wait();
            let (left, right) = pair.tiles();
            if second > first {
                let [one, two] = results.get_disjoint_mut([first, second]);
                block.threads(|t| {
                    one.set_each(&t, |row, column| left[(row, column)].wrapping_mul(3));
                    two.set_each(&t, |row, column| right[(row, column)].wrapping_mul(3));
                });
            } else {
                let one = results.get_mut(first);
                block.threads(|t| one.set_each(&t, |row, column| left[(row, column)].wrapping_mul(3)));
            }
            pipe = p.release(pair);
            first += 2;
        }
    });
}

/// The driver between two roles.
#[kernel(instances(E = [CpAsync, LoadStore, Bulk], A = [Striped, Blocked], STAGES = [1, 3]))]
pub fn rows_between_roles<E: Engine, A: Arrangement, const STAGES: usize>(
    block: Block<96>,
    input: Tiles2D<u32, ROWS, COLUMNS>,
    mut out: TilesMut2D<u32, ROWS, COLUMNS, A>,
    shared: Shared<Partitioned<Stages<Tile, STAGES, E>>>,
) {
    let tiles = input.for_block(&block);
    let pipeline = block.partition::<WarpRoles<32, 64>>().pipeline(shared);
    let _ = pipeline.map_tiles(&tiles, &mut out, |group, tile, dst| {
        group.threads(|t| dst.set_each(&t, |row, column| tile[(row, column)].wrapping_mul(3)));
    });
}
