//! Small kernels for what the guide's kernels do not use: one for each feature, so that tests can
//! compare the backends.

#![expect(clippy::type_complexity, reason = "shared memory is laid out by its type")]

use tilepipe::math::{self, Float};
use tilepipe::{
    Block, Blocked, ByHand, CpAsync, Element, I32x4, LoadStore, Optional, Shared, Stages, ThreadScope, Tiles, TilesMut,
    Zeros, kernel,
};
use tilepipe_kernel_elements::Complex;

use tilepipe_kernel_elements::Number;

/// The sum of each element and all before it in its tile.
#[kernel(
    instances(T = [u8, i32, f32, I32x4, Complex], THREADS = [48, 128, 1024]),
    instances(T = [i64], THREADS = [48, 128]),
)]
pub fn sums_in_tiles<T: Number, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<Stages<[T; THREADS], 2>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        let own = block.map(|t| tile[t.rank()]);
        let sums = block.scan(&own, T::plus);
        block.threads(|t| dst.set(&t, sums.get(&t)));
    });
}

/// An affine map `x -> scale * x + shift` of wrapping numbers: maps are composed in an order that
/// matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Element)]
#[repr(C)]
pub struct Affine {
    /// The factor.
    pub scale: u32,
    /// What is added.
    pub shift: u32,
}

impl Affine {
    /// Returns the map that applies `self` first and `next` after it.
    #[inline(always)]
    pub fn then(self, next: Affine) -> Affine {
        Affine {
            scale: self.scale.wrapping_mul(next.scale),
            shift: self.shift.wrapping_mul(next.scale).wrapping_add(next.shift),
        }
    }
}

/// The collectives of a block in one number for each tile: any, all, a broadcast, and a reduction
/// in order.
#[kernel(instances(THREADS = [48, 128, 256, 1024]))]
pub fn collectives_of_blocks<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<u32, THREADS>,
    mut out: TilesMut<u32, THREADS>,
    shared: Shared<Stages<[u32; THREADS], 2>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        let own = block.map(|t| tile[t.rank()]);
        let is_small = block.map(|t| own.get(&t) < 1 << 24);
        let is_large = block.map(|t| own.get(&t) > 1 << 24);
        let votes = u32::from(block.any(&is_small)) + 2 * u32::from(block.all(&is_large));
        let last = block.broadcast(&own, THREADS - 1);
        let maps = block.map(|t| Affine { scale: own.get(&t) | 1, shift: t.rank() as u32 });
        let composed = block.reduce(&maps, Affine::then);
        let result = composed.scale.wrapping_add(composed.shift).wrapping_mul(4).wrapping_add(votes) ^ last;
        block.threads(|t| dst.set(&t, result.wrapping_add(t.rank() as u32)));
    });
}

/// The collectives of a warp in one number for each lane: any, all, a broadcast, a reduction and a
/// scan in order.
#[kernel(instances(THREADS = [64, 256]))]
pub fn collectives_of_warps<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<u32, THREADS>,
    mut out: TilesMut<u32, THREADS>,
    shared: Shared<Stages<[u32; THREADS], 3>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        let parity = block.map_warps(|warp| warp.rank() as u32 % 2);
        block.warps(|warp| {
            let own = warp.map(|lane| tile[lane.thread().rank()]);
            let is_small = warp.map(|lane| own.get(&lane) < 1 << 27);
            let votes = u32::from(warp.any(&is_small)) + 2 * u32::from(warp.all(&is_small));
            let fifth = warp.broadcast(&own, 5);
            let maps = warp.map(|lane| Affine { scale: own.get(&lane) | 1, shift: lane.rank() as u32 });
            let (composed, scanned) = (warp.reduce(&maps, Affine::then), warp.scan(&maps, Affine::then));
            warp.lanes(|lane| {
                let own = scanned.get(&lane);
                let result = own.scale ^ own.shift ^ composed.shift ^ fifth;
                dst.set(lane.thread(), result.wrapping_mul(8).wrapping_add(2 * votes + parity.get(lane.thread())));
            });
        });
    });
}

/// Stages of zeros and stages that may be empty: zeros instead of every second tile, and nothing
/// instead of every third.
#[kernel(instances(T = [u8, i32, I32x4], E = [CpAsync, LoadStore], THREADS = [128]))]
pub fn zeros_and_gaps<T: Number, E: ByHand, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<(Stages<[T; THREADS], 2, E>, Stages<Optional<[T; THREADS]>, 2, E>)>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let (zeros, gaps) = shared.split();
    let (mut zeros, mut gaps) = (zeros.pipeline(&block).weaken(), gaps.pipeline(&block).weaken());
    for i in 0..tiles.len() {
        let acquired = zeros.acquire();
        let filled = if i % 2 == 1 { acquired.copy(Zeros) } else { acquired.copy(tiles.get(i)) };
        let (z, zero) = filled.commit().wait();
        let (g, gap) = gaps.acquire().copy((i % 3 != 2).then(|| tiles.get(i))).commit().wait();
        let dst = results.get_mut(i);
        match gap.get() {
            Some(tile) => block.threads(|t| dst.set(&t, zero[t.rank()].triple().plus(tile[THREADS - 1 - t.rank()]))),
            None => block.threads(|t| dst.set(&t, zero[THREADS - 1 - t.rank()])),
        }
        (zeros, gaps) = (z.release(zero), g.release(gap));
    }
}

/// Three times each element: every thread copies, reads and writes four elements in a row.
#[kernel(instances(T = [u8, i32, f64, Complex], THREADS = [64], LEN = [256], STAGES = [1, 3]))]
pub fn slices_of_threads<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<[T; LEN], STAGES, CpAsync, ThreadScope>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| {
            if let [a, b, c, d] = *tile.own(&t) {
                dst.set_all(&t, [a.triple(), b.triple(), c.triple(), d.triple()]);
            }
        });
    });
}

/// Three tiles of different types in a stage: `a + b * c`, written to two output tiles at a time,
/// the later one first.
#[kernel(instances(THREADS = [96]))]
pub fn three_inputs<const THREADS: usize>(
    block: Block<THREADS>,
    a: Tiles<f64, THREADS>,
    b: Tiles<u8, THREADS>,
    c: Tiles<i32, THREADS>,
    mut out: TilesMut<f64, THREADS>,
    shared: Shared<Stages<([f64; THREADS], [u8; THREADS], [i32; THREADS]), 3>>,
) {
    let (a, b, c) = (a.for_block(&block), b.for_block(&block), c.for_block(&block));
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each_tile((&a, &b, &c), |tiles, i| {
        let (a, b, c) = tiles.tiles();
        let value = block.map(|t| a[t.rank()] + f64::from(b[t.rank()]) * f64::from(c[t.rank()]));
        if i % 2 == 0 && i + 1 < results.len() {
            let [later, own] = results.get_disjoint_mut([i + 1, i]);
            block.threads(|t| {
                later.set(&t, -1.0); // the next round replaces it
                own.set(&t, value.get(&t));
            });
        } else {
            let own = results.get_mut(i);
            block.threads(|t| own.set(&t, value.get(&t)));
        }
    });
}

/// Function `number` of `math` of the arguments of the thread `rank` of
/// [`functions`](fn@functions).
#[inline(always)]
pub fn function_of_math<T: Float>(number: u32, x: T, y: T, rank: usize) -> T {
    match number {
        0 => math::fma(x, y, x),
        1 => math::sqrt(x),
        2 => math::rsqrt(x),
        3 => math::exp(x),
        4 => math::min(x, y),
        5 => math::max(x, y),
        6 => math::abs(x),
        7 => math::floor(x),
        8 => math::round(x),
        9 => math::round_ties_even(x),
        10 => math::rsqrt_fast(x),
        11 => math::powi(x, rank as i32 - 64),
        12 => math::exp2(x),
        13 => math::exp_fast(x),
        14 => math::log(x),
        15 => math::log2(x),
        16 => math::sin(x),
        17 => math::cos(x),
        _ => math::tanh(x),
    }
}

/// The functions of `math`, one for each `F`. `powi` has another exponent in each thread.
#[kernel(instances(
    T = [f32, f64],
    F = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18],
    THREADS = [128],
))]
pub fn functions<T: Float + Element, const F: u32, const THREADS: usize>(
    block: Block<THREADS>,
    left: Tiles<T, THREADS>,
    right: Tiles<T, THREADS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<Stages<([T; THREADS], [T; THREADS]), 2>>,
) {
    let (lefts, rights) = (left.for_block(&block), right.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles((&lefts, &rights), &mut out.for_block(&block), |tiles, dst| {
        let (left, right) = tiles.tiles();
        block.threads(|t| {
            let (x, y) = (left[t.rank()], right[t.rank()]);
            dst.set(&t, function_of_math(F, x, y, t.rank()));
        });
    });
}
