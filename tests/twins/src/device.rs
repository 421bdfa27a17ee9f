//! The instructions, and the arithmetic of tiles that the twins have in common.

use core::arch::asm;

use tilepipe::entry::RawElements;

unsafe extern "C" {
    safe fn tilepipe_thread_rank() -> u32;
    safe fn tilepipe_block_index() -> u32;
    safe fn tilepipe_grid_blocks() -> u32;
    safe fn tilepipe_shared_base() -> *mut u8;
    safe fn tilepipe_cp_async_commit_group();
    safe fn tilepipe_cp_async_wait_all();
    fn tilepipe_barrier();
    fn tilepipe_barrier_unaligned();
    fn tilepipe_warp_barrier();
    fn tilepipe_cp_async_4(to: *mut u8, from: *const u8, valid: u32);
    fn tilepipe_cp_async_16(to: *mut u8, from: *const u8, valid: u32);
    fn tilepipe_cp_async_whole_4(to: *mut u8, from: *const u8);
    fn tilepipe_cp_async_whole_16(to: *mut u8, from: *const u8);
    fn tilepipe_store_global_4(to: *mut u8, from: *const u8);
    fn tilepipe_store_global_16(to: *mut u8, from: *const u8);
}

unsafe extern "C" {
    safe fn tilepipe_shared_origin() -> u32;
    pub fn tilepipe_mbarrier_init(barrier: u32, arrivals: u32);
    pub fn tilepipe_mbarrier_inval(barrier: u32);
    pub fn tilepipe_mbarrier_arrive(barrier: u32);
    pub fn tilepipe_cp_async_mbarrier_arrive(barrier: u32);
    pub fn tilepipe_mbarrier_wait(barrier: u32, parity: u32);
    pub fn tilepipe_mbarrier_arrive_expect_tx(barrier: u32, bytes: u32);
    pub fn tilepipe_bulk_copy(to: *mut u8, from: *const u8, bytes: u32, barrier: u32);
    pub safe fn tilepipe_fence_mbarrier_init();
    pub safe fn tilepipe_fence_proxy_async();
}

/// Threads of a block and elements of a tile.
pub const THREADS: usize = 256;

/// Four numbers that are moved in one access.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct I32x4(pub [i32; 4]);

/// Global memory of `len` elements, aligned to 16 bytes, of which this block has every `stride`-th
/// tile of `TILE` elements from `first` on, those below `end`.
#[derive(Clone, Copy)]
pub struct View<T, const TILE: usize = THREADS> {
    pub base: *mut T,
    pub len: usize,
    first: usize,
    stride: usize,
    pub end: usize,
}

impl<T, const TILE: usize> View<T, TILE> {
    /// The view that a launch passes.
    #[inline(always)]
    pub fn new(raw: RawElements) -> Self {
        let (base, len) = (raw.address as *mut T, raw.len as usize);
        let (first, stride) = (block_index(), grid_blocks());
        View { base, len, first, stride, end: (len + (TILE - 1)) / TILE }
    }

    /// The number of the block's tiles.
    #[inline(always)]
    pub fn tiles(&self) -> usize {
        self.tiles_below(self.end)
    }

    /// The number of the block's tiles whose numbers among all of the view's are below `end`.
    #[inline(always)]
    pub fn tiles_below(&self, end: usize) -> usize {
        if self.first >= end {
            return 0;
        }
        let others = (end - 1 - self.first) / self.stride;
        // SAFETY: no overflow: at most `end - 1`.
        unsafe { others.unchecked_add(1) }
    }

    /// The number of the view's tiles, those of other blocks included.
    #[inline(always)]
    pub fn all(&self) -> usize {
        self.end
    }

    /// The number among all of the view's tiles of the block's tile `index`.
    #[inline(always)]
    pub fn number(&self, index: usize) -> usize {
        self.first + index * self.stride
    }

    /// Whether the block has a tile `index`.
    #[inline(always)]
    pub fn has(&self, index: usize) -> bool {
        self.number(index) < self.end
    }

    /// Whether the block has a tile `index` whose number is below `end`.
    #[inline(always)]
    pub fn has_below(&self, index: usize, end: usize) -> bool {
        self.number(index) < end
    }

    /// All tiles with lower numbers lie within the view as a whole.
    #[inline(always)]
    pub fn whole_below(&self) -> usize {
        self.len / TILE
    }

    /// Whether the block has tiles, and all their numbers are below `limit`.
    #[inline(always)]
    pub fn lies_below(&self, limit: usize) -> bool {
        if self.first >= self.end {
            return false;
        }
        let highest = self.end - 1;
        self.end <= limit || highest - (highest - self.first) % self.stride < limit
    }

    /// The first element of the block's tile `index`, and how many elements of it lie in the view.
    #[inline(always)]
    pub fn tile(&self, index: usize) -> (*mut T, usize) {
        let start = self.number(index) * TILE;
        let rest = self.len - start;
        (self.base.wrapping_add(start), if rest < TILE { rest } else { TILE })
    }

    /// The first element of the block's tile `index`, and how many bytes of it lie in the view.
    #[inline(always)]
    pub fn source(&self, index: usize) -> (*const T, u32) {
        let start = self.number(index) * TILE;
        let rest = self.len - start;
        let bytes = if rest < TILE { rest * size_of::<T>() } else { TILE * size_of::<T>() };
        (self.base.wrapping_add(start), bytes as u32)
    }

    /// As [`tile`](Self::tile). Ends the launch if the block has no tile `index`, unless that tile
    /// is known to be there and `WHOLE`.
    #[inline(always)]
    pub fn checked_tile<const WHOLE: bool>(&self, index: usize) -> (*mut T, usize) {
        if !WHOLE && index >= self.tiles() {
            out_of_range(index, self.tiles());
        }
        let (first, len) = self.tile(index);
        (first, if WHOLE { TILE } else { len })
    }
}

/// Whether the views have as many tiles, the block has some of them, and each of these lies within
/// its view as a whole.
#[inline(always)]
pub fn all_whole<T>(input: &View<T>, out: &View<T>) -> bool {
    out.end == input.end && input.lies_below(input.whole_below().min(out.whole_below()))
}

/// Ends the launch if the block has fewer tiles of the output than of the input.
#[inline(always)]
pub fn check_tiles<T, const TILE: usize>(input: &View<T, TILE>, out: &View<T, TILE>) {
    if out.tiles() < input.tiles() {
        out_of_range(out.tiles(), input.tiles());
    }
}

/// A number of tiles that fits 32 bits, in which a loop's counter costs less.
#[inline(always)]
pub fn counted_in_32_bits(tiles: usize) -> u32 {
    let limit = u32::MAX as usize;
    if tiles > limit {
        out_of_range(tiles, limit);
    }
    tiles as u32
}

/// Ends the launch. The numbers are what a report shows.
#[cold]
#[inline(never)]
pub fn out_of_range(index: usize, limit: usize) -> ! {
    // SAFETY: ends the whole grid; nothing follows.
    unsafe { asm!("// {} {}", "trap;", "exit;", in(reg64) index, in(reg64) limit, options(noreturn, nostack)) }
}

/// `%tid.x`.
#[inline(always)]
pub fn rank() -> usize {
    let rank = tilepipe_thread_rank() as usize;
    // SAFETY: the twins' entries require blocks of THREADS threads.
    unsafe { core::hint::assert_unchecked(rank < THREADS) };
    rank
}

/// `%ctaid.x`.
#[inline(always)]
pub fn block_index() -> usize {
    tilepipe_block_index() as usize
}

/// `%nctaid.x`.
#[inline(always)]
pub fn grid_blocks() -> usize {
    tilepipe_grid_blocks() as usize
}

/// The block's dynamic shared memory.
#[inline(always)]
pub fn shared_base() -> *mut u8 {
    tilepipe_shared_base()
}

/// The address of the barrier at so many bytes of the block's dynamic shared memory, as
/// instructions take it.
#[inline(always)]
pub fn barrier_address(offset: usize) -> u32 {
    tilepipe_shared_origin().wrapping_add(offset as u32)
}

/// Threads of a block: `first` and every `stride`-th one behind it, `count` in all.
#[derive(Clone, Copy)]
pub struct Members {
    pub first: usize,
    pub stride: usize,
    pub count: usize,
}

impl Members {
    /// Whether the calling thread is one of them.
    #[inline(always)]
    pub fn has_caller(self) -> bool {
        let offset = (tilepipe_thread_rank() as usize).wrapping_sub(self.first);
        offset < self.count * self.stride && offset.is_multiple_of(self.stride)
    }

    /// The calling thread's rank among them.
    ///
    /// # Safety
    ///
    /// The calling thread is one of them.
    #[inline(always)]
    pub unsafe fn rank(self) -> usize {
        let thread = tilepipe_thread_rank() as usize;
        // SAFETY: the caller's promise.
        unsafe {
            core::hint::assert_unchecked(thread >= self.first);
            core::hint::assert_unchecked(thread < self.first + self.count * self.stride);
            let rank = (thread - self.first) / self.stride;
            core::hint::assert_unchecked(rank < self.count);
            rank
        }
    }
}

/// `cp.async.commit_group`.
#[inline(always)]
pub fn commit() {
    tilepipe_cp_async_commit_group();
}

/// `cp.async.wait_group PENDING`.
#[inline(always)]
pub fn wait_group<const PENDING: usize>() {
    // SAFETY: no effect but the order of the calling thread's copies and what follows.
    unsafe { asm!("cp.async.wait_group {pending};", pending = const PENDING, options(nostack)) };
}

/// `cp.async.wait_all`.
#[inline(always)]
pub fn wait_all() {
    tilepipe_cp_async_wait_all();
}

/// `bar.sync 0`.
///
/// # Safety
///
/// All threads of the block make this call.
#[inline(always)]
pub unsafe fn barrier() {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_barrier() };
}

/// `barrier.sync 0`, and `bar.warp.sync` behind it: threads of a warp may come from different
/// places.
///
/// # Safety
///
/// All threads of the block make this call.
#[inline(always)]
pub unsafe fn barrier_of_roles() {
    // SAFETY: the caller's promise.
    unsafe {
        tilepipe_barrier_unaligned();
        tilepipe_warp_barrier();
    }
}

/// `cp.async` of a tile, 16 bytes at a time by the block's first threads. If the tile is `WHOLE`
/// all of it is read, else its first `bytes` bytes; the others become zero.
///
/// # Safety
///
/// 0. `from` is global memory, aligned to 16, and valid for reads of so many bytes until the copy
///    was waited for.
/// 1. `to` is a stage of `THREADS` elements of `T` in shared memory, aligned to 16, that nobody
///    accesses until then.
#[inline(always)]
pub unsafe fn copy_tile<T, const WHOLE: bool>(to: *mut u8, (from, bytes): (*const T, u32)) {
    // SAFETY: the caller's promise; all threads of the block take part.
    unsafe { copy_tile_as::<T, THREADS, THREADS, WHOLE>(rank(), to, (from, bytes)) };
}

/// As [`copy_tile`] for a tile of `TILE` elements, by the thread of rank `rank` among the `TEAM`
/// threads that copy it.
///
/// # Safety
///
/// As for [`copy_tile`], with a stage of `TILE` elements; `rank < TEAM`.
#[inline(always)]
pub unsafe fn copy_tile_as<T, const TILE: usize, const TEAM: usize, const WHOLE: bool>(
    rank: usize,
    to: *mut u8,
    (from, bytes): (*const T, u32),
) {
    let mut unit = rank;
    while unit < TILE * size_of::<T>() / 16 {
        // SAFETY: the unit lies in the tile (0, 1), and both addresses are aligned to 16.
        unsafe {
            let offset = unit * 16;
            let (to, from) = (to.add(offset), from.cast::<u8>().wrapping_add(offset));
            if WHOLE {
                tilepipe_cp_async_whole_16(to, from);
            } else {
                tilepipe_cp_async_16(to, from, bytes.saturating_sub(offset as u32).min(16));
            }
        }
        unit += TEAM;
    }
}

/// `cp.async` of 16 bytes, or if `WIDE` is false of 4. If they lie in a `WHOLE` tile all of them
/// are read, else the first `bytes`; the others become zero.
///
/// # Safety
///
/// As for [`copy_tile`], with as many bytes of a stage and of global memory, both aligned to as
/// many.
#[inline(always)]
pub unsafe fn copy_unit<const WIDE: bool, const WHOLE: bool>(to: *mut u8, from: *const u8, bytes: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        match (WIDE, WHOLE) {
            (true, true) => tilepipe_cp_async_whole_16(to, from),
            (true, false) => tilepipe_cp_async_16(to, from, bytes),
            (false, true) => tilepipe_cp_async_whole_4(to, from),
            (false, false) => tilepipe_cp_async_4(to, from, bytes),
        }
    }
}

/// `cp.async` of the calling thread's own element of a tile.
///
/// # Safety
///
/// As for [`copy_tile`].
#[inline(always)]
pub unsafe fn copy_own<const WHOLE: bool>(to: *mut u8, (from, bytes): (*const i32, u32)) {
    let offset = rank() * 4;
    // SAFETY: the element lies in the tile (0, 1), and both addresses are aligned to 4.
    unsafe {
        let (to, from) = (to.add(offset), from.cast::<u8>().wrapping_add(offset));
        if WHOLE {
            tilepipe_cp_async_whole_4(to, from);
        } else {
            tilepipe_cp_async_4(to, from, bytes.saturating_sub(offset as u32).min(4));
        }
    }
}

/// An element that is stored to global memory in one access.
pub trait Store: Copy {
    /// `st.global`.
    ///
    /// # Safety
    ///
    /// `to` is global memory, aligned and valid for writes of the value.
    unsafe fn store(self, to: *mut Self);

    /// `3 * self + next`.
    fn neighbour_sum(self, next: Self) -> Self;
}

impl Store for i32 {
    #[inline(always)]
    unsafe fn store(self, to: *mut Self) {
        // SAFETY: the caller's promise; `self` is a local variable.
        unsafe { tilepipe_store_global_4(to.cast(), (&raw const self).cast()) };
    }

    #[inline(always)]
    fn neighbour_sum(self, next: Self) -> Self {
        self.wrapping_mul(3).wrapping_add(next)
    }
}

impl Store for I32x4 {
    #[inline(always)]
    unsafe fn store(self, to: *mut Self) {
        // SAFETY: the caller's promise; `self` is a local variable.
        unsafe { tilepipe_store_global_16(to.cast(), (&raw const self).cast()) };
    }

    #[inline(always)]
    fn neighbour_sum(self, next: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, next.0);
        I32x4([a.neighbour_sum(e), b.neighbour_sum(f), c.neighbour_sum(g), d.neighbour_sum(h)])
    }
}

/// Writes `3 * tile[rank] + tile[rank + 1]` to the calling thread's element of an output tile of
/// `len` elements, if it has that many.
///
/// # Safety
///
/// `tile` is a landed tile of `THREADS` elements in shared memory that nobody writes; `to` is valid
/// for writes of `len` elements, which no other thread writes at this thread's rank.
#[inline(always)]
pub unsafe fn write_neighbour_sum<T: Store>(tile: *const T, to: *mut T, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { write_neighbour_sum_as::<T, THREADS>(rank(), tile, to, len) };
}

/// As [`write_neighbour_sum`] for a tile of `TILE` elements, by the thread of rank `rank` among as
/// many threads.
///
/// # Safety
///
/// As for [`write_neighbour_sum`], with a tile of `TILE` elements; `rank < TILE`, and no other
/// thread has this rank.
#[inline(always)]
pub unsafe fn write_neighbour_sum_as<T: Store, const TILE: usize>(rank: usize, tile: *const T, to: *mut T, len: usize) {
    let next = (rank + 1) % TILE;
    if rank < len {
        // SAFETY: both ranks are below TILE, and `rank` is below `len`.
        unsafe { (*tile.add(rank)).neighbour_sum(*tile.add(next)).store(to.add(rank)) };
    }
}
