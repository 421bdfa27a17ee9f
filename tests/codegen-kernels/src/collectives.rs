//! The collectives of a block and of a warp, one each.

use tilepipe::{Block, Element, I32x4, TilesMut, Vec4, kernel};

registry!(
    block_reduce,
    block_scan,
    block_scan_with_total,
    block_exclusive_scan,
    block_any,
    block_all,
    block_broadcast,
    warp_reduce,
    warp_scan,
    warp_scan_with_total,
    warp_exclusive_scan,
    warp_any,
    warp_all,
    warp_broadcast,
    warp_shift_down,
    warp_shift_up,
    warp_swap,
    warp_sync,
);

/// What the collectives here combine.
pub trait Word: Element {
    /// A value that depends on the rank.
    fn of_rank(rank: usize) -> Self;
    /// The sum of two values.
    fn plus(self, other: Self) -> Self;
}

macro_rules! words {
    ($($integer:ty),*) => {$(
        impl Word for $integer {
            #[inline(always)]
            fn of_rank(rank: usize) -> Self {
                rank as $integer
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    )*};
}
words!(u8, i32, u64);

impl Word for [u32; 3] {
    #[inline(always)]
    fn of_rank(rank: usize) -> Self {
        [rank as u32; 3]
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self, other);
        [a.wrapping_add(d), b.wrapping_add(e), c.wrapping_add(f)]
    }
}

impl Word for I32x4 {
    #[inline(always)]
    fn of_rank(rank: usize) -> Self {
        Vec4([rank as i32; 4])
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Vec4([a.wrapping_add(e), b.wrapping_add(f), c.wrapping_add(g), d.wrapping_add(h)])
    }
}

/// `Block::reduce`.
#[kernel(instances(T = [u8, i32, u64, [u32; 3], I32x4], THREADS = [48, 256]))]
pub fn block_reduce<T: Word, const THREADS: usize>(block: Block<THREADS>, mut out: TilesMut<T, THREADS>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    let total = block.reduce(&block.map(|t| T::of_rank(t.rank())), T::plus);
    block.threads(|t| dst.set(&t, total));
}

/// `Block::scan`.
#[kernel(instances(T = [u8, i32, u64, [u32; 3], I32x4], THREADS = [48, 256]))]
pub fn block_scan<T: Word, const THREADS: usize>(block: Block<THREADS>, mut out: TilesMut<T, THREADS>) {
    let sums = block.scan(&block.map(|t| T::of_rank(t.rank())), T::plus);
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, sums.get(&t)));
}

/// `Block::scan_with_total`.
#[kernel(instances(T = [u8, i32, u64, [u32; 3], I32x4], THREADS = [48, 256]))]
pub fn block_scan_with_total<T: Word, const THREADS: usize>(block: Block<THREADS>, mut out: TilesMut<T, THREADS>) {
    let (sums, total) = block.scan_with_total(&block.map(|t| T::of_rank(t.rank())), T::plus);
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, sums.get(&t).plus(total)));
}

/// `Block::exclusive_scan`.
#[kernel(instances(T = [u8, i32, u64, [u32; 3], I32x4], THREADS = [48, 256]))]
pub fn block_exclusive_scan<T: Word, const THREADS: usize>(
    block: Block<THREADS>,
    initial: usize,
    mut out: TilesMut<T, THREADS>,
) {
    let own = block.map(|t| T::of_rank(t.rank()));
    let (sums, total) = block.exclusive_scan(&own, T::of_rank(initial), T::plus);
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, sums.get(&t).plus(total)));
}

/// `Block::any`.
#[kernel]
pub fn block_any(block: Block<128>, limit: usize, mut out: TilesMut<u32, 128>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    let any = block.any(&block.map(|t| t.rank() > limit));
    block.threads(|t| dst.set(&t, u32::from(any)));
}

/// `Block::all`.
#[kernel]
pub fn block_all(block: Block<128>, limit: usize, mut out: TilesMut<u32, 128>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    let all = block.all(&block.map(|t| t.rank() > limit));
    block.threads(|t| dst.set(&t, u32::from(all)));
}

/// `Block::broadcast`.
#[kernel(instances(T = [u8, i32, u64, [u32; 3], I32x4], THREADS = [48, 256]))]
pub fn block_broadcast<T: Word, const THREADS: usize>(
    block: Block<THREADS>,
    rank: usize,
    mut out: TilesMut<T, THREADS>,
) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    let value = block.broadcast(&block.map(|t| T::of_rank(t.rank())), rank);
    block.threads(|t| dst.set(&t, value));
}

/// `Warp::reduce`.
#[kernel(instances(T = [u8, i32, u64, [u32; 3], I32x4], THREADS = [64, 256]))]
pub fn warp_reduce<T: Word, const THREADS: usize>(block: Block<THREADS>, mut out: TilesMut<T, THREADS>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.warps(|warp| {
        let total = warp.reduce(&warp.map(|lane| T::of_rank(lane.thread().rank())), T::plus);
        warp.lanes(|lane| dst.set(lane.thread(), total));
    });
}

/// `Warp::scan`.
#[kernel(instances(T = [u8, i32, u64, [u32; 3], I32x4], THREADS = [64, 256]))]
pub fn warp_scan<T: Word, const THREADS: usize>(block: Block<THREADS>, mut out: TilesMut<T, THREADS>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.warps(|warp| {
        let sums = warp.scan(&warp.map(|lane| T::of_rank(lane.thread().rank())), T::plus);
        warp.lanes(|lane| dst.set(lane.thread(), sums.get(&lane)));
    });
}

/// `Warp::scan_with_total`.
#[kernel(instances(T = [u8, i32, u64, [u32; 3], I32x4], THREADS = [64, 256]))]
pub fn warp_scan_with_total<T: Word, const THREADS: usize>(block: Block<THREADS>, mut out: TilesMut<T, THREADS>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.warps(|warp| {
        let (sums, total) = warp.scan_with_total(&warp.map(|lane| T::of_rank(lane.thread().rank())), T::plus);
        warp.lanes(|lane| dst.set(lane.thread(), sums.get(&lane).plus(total)));
    });
}

/// `Warp::exclusive_scan`.
#[kernel(instances(T = [u8, i32, u64, [u32; 3], I32x4], THREADS = [64, 256]))]
pub fn warp_exclusive_scan<T: Word, const THREADS: usize>(
    block: Block<THREADS>,
    initial: usize,
    mut out: TilesMut<T, THREADS>,
) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.warps(|warp| {
        let own = warp.map(|lane| T::of_rank(lane.thread().rank()));
        let (sums, total) = warp.exclusive_scan(&own, T::of_rank(initial), T::plus);
        warp.lanes(|lane| dst.set(lane.thread(), sums.get(&lane).plus(total)));
    });
}

/// `Warp::any`.
#[kernel]
pub fn warp_any(block: Block<128>, limit: usize, mut out: TilesMut<u32, 128>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.warps(|warp| {
        let any = warp.any(&warp.map(|lane| lane.rank() > limit));
        warp.lanes(|lane| dst.set(lane.thread(), u32::from(any)));
    });
}

/// `Warp::all`.
#[kernel]
pub fn warp_all(block: Block<128>, limit: usize, mut out: TilesMut<u32, 128>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.warps(|warp| {
        let all = warp.all(&warp.map(|lane| lane.rank() > limit));
        warp.lanes(|lane| dst.set(lane.thread(), u32::from(all)));
    });
}

/// `Warp::broadcast`.
#[kernel(instances(T = [u8, i32, u64, [u32; 3], I32x4], THREADS = [64, 256]))]
pub fn warp_broadcast<T: Word, const THREADS: usize>(
    block: Block<THREADS>,
    lane: usize,
    mut out: TilesMut<T, THREADS>,
) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.warps(|warp| {
        let value = warp.broadcast(&warp.map(|lane| T::of_rank(lane.thread().rank())), lane);
        warp.lanes(|lane| dst.set(lane.thread(), value));
    });
}

/// `Warp::shift_down`.
#[kernel(instances(T = [u8, i32, u64, [u32; 3], I32x4], THREADS = [64, 256]))]
pub fn warp_shift_down<T: Word, const THREADS: usize>(block: Block<THREADS>, mut out: TilesMut<T, THREADS>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.warps(|warp| {
        let values = warp.shift_down::<5, _>(&warp.map(|lane| T::of_rank(lane.thread().rank())));
        warp.lanes(|lane| dst.set(lane.thread(), values.get(&lane)));
    });
}

/// `Warp::shift_up`.
#[kernel(instances(T = [u8, i32, u64, [u32; 3], I32x4], THREADS = [64, 256]))]
pub fn warp_shift_up<T: Word, const THREADS: usize>(block: Block<THREADS>, mut out: TilesMut<T, THREADS>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.warps(|warp| {
        let values = warp.shift_up::<5, _>(&warp.map(|lane| T::of_rank(lane.thread().rank())));
        warp.lanes(|lane| dst.set(lane.thread(), values.get(&lane)));
    });
}

/// `Warp::swap`.
#[kernel(instances(T = [u8, i32, u64, [u32; 3], I32x4], THREADS = [64, 256]))]
pub fn warp_swap<T: Word, const THREADS: usize>(block: Block<THREADS>, mut out: TilesMut<T, THREADS>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.warps(|warp| {
        let values = warp.swap::<5, _>(&warp.map(|lane| T::of_rank(lane.thread().rank())));
        warp.lanes(|lane| dst.set(lane.thread(), values.get(&lane)));
    });
}

/// `Warp::sync`.
#[kernel]
pub fn warp_sync(block: Block<128>) {
    block.warps(|warp| warp.sync());
}
