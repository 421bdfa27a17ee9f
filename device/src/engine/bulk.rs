//! Copies by the copy engine.

use super::completion::Bytes;
use super::sealed;
use crate::group::Deal;
use crate::isa::{self, BULK_ZEROS, Mbarrier};
use crate::scope::Scope;
use crate::tile::Tile;
use crate::view::tile_ref::TileRef;

/// Copies by the copy engine (the Tensor Memory Accelerator): one thread issues one `cp.async.bulk`
/// for a tile, or for each row of one, and the others have nothing to do.
///
/// The copies complete by their bytes, at an mbarrier of each stage. They need sm_90, at block
/// scope or in pipelines of warps. A tile whose size, rows or alignment are not multiples of 16
/// bytes does not compile.
///
/// What lies beyond the view is filled with zeros by the engine too. Where a view ends between two
/// multiples of 16 bytes, the issuing thread writes those 16 bytes itself.
///
/// By hand a unified pipeline of this engine exists inside
/// [`Shared::with_pipeline`](crate::Shared::with_pipeline) alone: a block must not end while the
/// engine still writes its shared memory, and that function waits, whatever becomes of the
/// pipeline.
///
/// PTX: in the group's first thread `cp.async.bulk` for each tile or row of a stage, and one
/// `mbarrier.arrive.expect_tx` for its bytes (between roles by hand `mbarrier.expect_tx`, and
/// `mbarrier.arrive` in `commit`); in each thread that reads it `mbarrier.try_wait`, and
/// `fence.proxy.async.shared::cta` before the barrier or arrival after which the stage is filled
/// again. A launch on a GPU below sm_90 is an error that names both.
///
/// CUDA: `cuda::memcpy_async` with a `cuda::barrier` in shared memory, or
/// `cuda::ptx::cp_async_bulk`. `cuda::pipeline` never uses the copy engine.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Bulk, CpAsync, Engine, Shared, Stages, Tiles, TilesMut, kernel};
///
/// /// Half of each element. The engine is a parameter: `CpAsync` is for GPUs below sm_90.
/// #[kernel(instances(E = [CpAsync, Bulk]))]
/// pub fn halves<E: Engine>(
///     block: Block<64>,
///     input: Tiles<f32, 512>,
///     mut out: TilesMut<f32, 512>,
///     shared: Shared<Stages<[f32; 512], 2, E>>,
/// ) {
///     let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
///     let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, result| {
///         block.threads(|t| result.set_each(&t, |i| tile[i] / 2.0));
///     });
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 8 });
/// # let (input, mut out) = (device.upload(&[3.0; 2000])?, device.zeroed(2000)?);
/// # halves::launch::<Bulk>(&device.stream()?, 2, &input, &mut out)?;
/// # assert_eq!(out.download()?, [1.5; 2000]);
/// # Ok(())
/// # }
/// ```
pub enum Bulk {}

impl sealed::Engine for Bulk {
    type Completion = Bytes;
    const MOST_ISSUERS: usize = 1;
    const LEAST_UNIT: usize = 16;
    const WIDE_UNITS: bool = true;
}

/// Bytes that a copy is a multiple of.
const UNIT: usize = 16;

/// Bytes of a row of a tile.
const fn row<T: Tile>() -> usize {
    T::COLUMNS * size_of::<T::Element>()
}

impl sealed::Linear for Bulk {
    #[inline(always)]
    unsafe fn copy<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8, landing: Mbarrier, source: TileRef<'_, T>) {
        let issue = || {
            // Of a tile of one row that is not known to be whole the loop below is as short.
            if source.is_whole() || (T::ROWS > 1 && source.lies_within()) {
                for row in 0..T::ROWS {
                    // SAFETY: row `row` of the tile starts there, so by (0) it stays in the stage.
                    let to = unsafe { destination.add(row * T::PITCH * size_of::<T::Element>()) };
                    // SAFETY: `to` and the source's row are aligned to 16 (the check of contents:
                    // all of a tile's units are), which divides a row; (0) and (1) for the
                    // destination, (3) for the mbarrier. All rows lie in the view, as a whole.
                    unsafe { isa::bulk_copy(to, source.address(row, 0), self::row::<T>() as u32, landing) };
                }
                return;
            }
            for row in 0..T::ROWS {
                // SAFETY: as above.
                let to = unsafe { destination.add(row * T::PITCH * size_of::<T::Element>()) };
                // SAFETY: as above, for the row.
                unsafe { part_of_row::<T>(to, landing, source, row) };
            }
            if ragged(&source) > 0 {
                // The stores of `part_of_row` come before the next copy into the stage.
                isa::fence_proxy_async();
            }
        };
        // SAFETY: (2); `issue` starts copies, and writes what nobody reads before the arrival of
        // the calling thread that follows.
        unsafe { G::first(issue) };
    }

    #[inline(always)]
    unsafe fn zero<T: Tile, G: Deal<S>, S: Scope>(destination: *mut u8, landing: Mbarrier) {
        let issue = || {
            for row in 0..T::ROWS {
                // SAFETY: row `row` of the tile starts there, so by (0) it stays in the stage.
                let to = unsafe { destination.add(row * T::PITCH * size_of::<T::Element>()) };
                // SAFETY: as in `copy`; a row is a multiple of 16 bytes.
                unsafe { zeros(to, landing, self::row::<T>()) };
            }
        };
        // SAFETY: (2); `issue` starts copies, and nothing else.
        unsafe { G::first(issue) };
    }

    #[inline(always)]
    fn bytes<T: Tile>(source: Option<&TileRef<'_, T>>) -> u32 {
        let all = const { T::ROWS * row::<T>() };
        let stored = match source {
            Some(source) if !source.is_whole() && ragged(source) > 0 => UNIT * source.rows_in_view(),
            _ => 0,
        };
        (all - stored) as u32
    }
}

/// The bytes that are left of a row of the view behind the last multiple of 16.
#[inline(always)]
fn ragged<T: Tile>(source: &TileRef<'_, T>) -> usize {
    let (before, end) = source.part_of_rows();
    (end - before) % UNIT
}

/// Copies what lies in the view of one row of a tile, and fills the rest of it with zeros: by bulk
/// copies, but for the 16 bytes in which the view ends, if it ends within some.
///
/// # Safety
///
/// As for [`sealed::Linear::copy`], in the issuing thread, for row `row` of the tile, which starts
/// at `to`.
#[inline(always)]
unsafe fn part_of_row<T: Tile>(to: *mut u8, landing: Mbarrier, source: TileRef<'_, T>, row: usize) {
    if !source.has_row(row) {
        // SAFETY: the caller's promises; a row is a multiple of 16 bytes.
        return unsafe { zeros(to, landing, self::row::<T>()) };
    }
    let (before, end) = source.part_of_rows();
    // SAFETY: the caller's promises; a halo before the view is a multiple of 16 bytes
    // (`TileRef`, 1).
    unsafe { zeros(to, landing, before) };
    let whole = (end - before) / UNIT * UNIT;
    let behind = before + whole;
    if whole > 0 {
        // SAFETY: the row's part in the view starts `before` bytes into it (0).
        let to = unsafe { to.add(before) };
        // SAFETY: the caller's promises; `whole` bytes from there on lie in the view, and both
        // addresses and `whole` are multiples of 16.
        unsafe { isa::bulk_copy(to, source.address(row, before), whole as u32, landing) };
    }
    let left = end - behind;
    let mut rest = behind;
    if left > 0 {
        rest += UNIT;
        let store = |offset| {
            // SAFETY: these 16 bytes end within the row, which is a multiple of 16 bytes.
            let to = unsafe { to.add(behind + offset) };
            let from = source.address(row, behind + offset);
            // SAFETY: `to` is in the stage (0), and nobody else accesses it before the arrival that
            // follows; no bulk copy is made to it. The first `left` bytes lie in the view, and are
            // a multiple of a part, as an element is. The part is aligned in both, since these 16
            // bytes are and `offset` is a multiple of its size.
            unsafe { copy_part::<T::Element>(to, from, offset < left) };
        };
        let bytes = const { part::<T::Element>() };
        for index in 0..UNIT / bytes {
            store(index * bytes);
        }
    }
    // SAFETY: it is at most the row's end, of which it is a multiple of 16 bytes away.
    let to = unsafe { to.add(rest) };
    // SAFETY: the caller's promises.
    unsafe { zeros(to, landing, self::row::<T>() - rest) };
}

/// Bytes of the largest number that elements are made of: the largest power of two that divides
/// their size, at most 8.
const fn part<E>() -> usize {
    let size = size_of::<E>();
    if size.is_multiple_of(8) { 8 } else { 1 << size.trailing_zeros() }
}

/// Copies one [`part`] of an element through a register, or stores as many zeros.
///
/// # Safety
///
/// As for [`isa::copy_through_register`] with a number of that size.
#[inline(always)]
unsafe fn copy_part<E>(to: *mut u8, from: *const u8, valid: bool) {
    match const { part::<E>() } {
        // SAFETY: the caller's promises.
        1 => unsafe { isa::copy_through_register::<u8>(to, from, valid) },
        // SAFETY: the caller's promises.
        2 => unsafe { isa::copy_through_register::<u16>(to.cast(), from.cast(), valid) },
        // SAFETY: the caller's promises.
        4 => unsafe { isa::copy_through_register::<u32>(to.cast(), from.cast(), valid) },
        // SAFETY: the caller's promises.
        _ => unsafe { isa::copy_through_register::<u64>(to.cast(), from.cast(), valid) },
    }
}

/// Fills `bytes` bytes with zeros, by bulk copies.
///
/// # Safety
///
/// As for [`isa::bulk_copy`] with these bytes.
#[inline(always)]
pub(super) unsafe fn zeros(to: *mut u8, landing: Mbarrier, bytes: usize) {
    let mut done = 0;
    while done < bytes {
        let piece = (bytes - done).min(BULK_ZEROS);
        // SAFETY: `done < bytes`.
        let to = unsafe { to.add(done) };
        // SAFETY: the caller's promises; `piece` is a multiple of 16, as are `bytes` and
        // BULK_ZEROS, and so many zeros are readable.
        unsafe { isa::bulk_copy(to, isa::bulk_zeros(), piece as u32, landing) };
        done += piece;
    }
}
