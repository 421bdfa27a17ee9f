//! The CPU as a device: its memory, and the executor that runs a kernel's blocks in parallel.

use std::alloc::{self, Layout};
use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rayon::{ThreadPool, ThreadPoolBuilder};
use tilepipe::cpu::{KernelPanic, Schedule, run_block};
use tilepipe::launch::{Instance, RawParameter};

use crate::access::Access;
use crate::error::Error;

/// The CPU model's shared memory in bytes per block: as much as an H100's block can have.
pub(crate) const SHARED_LIMIT: usize = 227 << 10;
/// The CPU model's threads per block, as on every GPU.
pub(crate) const THREADS_LIMIT: u32 = 1024;
/// Alignment of CPU buffers in bytes.
const ALIGNMENT: usize = 128;

/// The CPU, opened as a device.
pub(crate) struct CpuDevice {
    pub(crate) schedule: Schedule,
    pub(crate) name: String,
    /// The first kernel panic's message: from then on the device is unusable, as a GPU is.
    lost: OnceLock<String>,
}

impl CpuDevice {
    pub(crate) fn new(schedule: Schedule) -> CpuDevice {
        let schedule_name = match schedule {
            Schedule::Eager => "eager".to_owned(),
            Schedule::Lazy => "lazy".to_owned(),
            Schedule::Random { seed } => format!("random, seed {seed}"),
        };
        CpuDevice { schedule, name: format!("CPU ({schedule_name})"), lost: OnceLock::new() }
    }

    /// Fails if a kernel has panicked on this device.
    pub(crate) fn enter(&self) -> Result<(), Error> {
        self.lost.get().map_or(Ok(()), |first| Err(Error::DeviceLost { first: first.clone() }))
    }

    fn lose(&self, kernel: KernelPanic) -> Error {
        let KernelPanic { message, file, line, column, block, thread } = kernel;
        let error = Error::KernelPanicked { message, file, line, column, block, thread };
        // A failure that came first, on another stream, stays the one to be told.
        let _ = self.lost.set(error.to_string());
        error
    }
}

/// Memory of a CPU buffer: plain bytes, always initialised.
///
/// # Invariants
///
/// 0. `base` is the start of `layout.size()` initialised bytes of the global allocator, allocated
///    with `layout`, until `Drop`.
/// 1. Nobody writes the bytes without the lock held for writing, or reads them without it held.
pub(crate) struct CpuMemory {
    device: Arc<CpuDevice>,
    base: NonNull<u8>,
    layout: Layout,
    lock: RwLock<()>,
}

// SAFETY: the memory is owned by this value, and the allocator takes it back from any thread.
unsafe impl Send for CpuMemory {}
// SAFETY: invariant 1.
unsafe impl Sync for CpuMemory {}

impl CpuMemory {
    /// Allocates `bytes` bytes, at least 1, filled with `byte`.
    pub(crate) fn filled(device: &Arc<CpuDevice>, bytes: usize, byte: u8) -> Result<CpuMemory, Error> {
        device.enter()?;
        let available = memory_information("MemAvailable:");
        let out_of_memory = || Error::OutOfMemory { device: device.name.clone(), wanted: bytes, free: available };
        // Linux grants more than it has, and ends the program later.
        if available.is_some_and(|available| bytes as u64 > available) {
            return Err(out_of_memory());
        }
        let layout = Layout::from_size_align(bytes, ALIGNMENT).map_err(|_| out_of_memory())?;
        assert!(bytes > 0, "the caller rejects empty buffers");
        // SAFETY: the layout's size is not zero (asserted).
        let base = unsafe { alloc::alloc_zeroed(layout) };
        let base = NonNull::new(base).ok_or_else(out_of_memory)?;
        if byte != 0 {
            // SAFETY: the whole of the fresh allocation, which nobody else knows yet.
            unsafe { base.write_bytes(byte, bytes) };
        }
        Ok(CpuMemory { device: Arc::clone(device), base, layout, lock: RwLock::new(()) })
    }

    /// Returns the device that it is of.
    pub(crate) fn device(&self) -> &Arc<CpuDevice> {
        &self.device
    }

    /// Returns the address of the first byte, for a kernel's argument.
    pub(crate) fn address(&self) -> u64 {
        self.base.as_ptr().expose_provenance() as u64
    }

    /// Replaces the first `data.len()` bytes, once no kernel uses them.
    pub(crate) fn write(&self, data: &[u8]) -> Result<(), Error> {
        outside_of_kernels()?;
        self.device.enter()?;
        assert!(data.len() <= self.layout.size(), "the caller compares the lengths");
        let _exclusive = self.write_lock();
        // SAFETY: within the allocation (asserted; invariant 0), and exclusive while the lock is
        // held (invariant 1).
        let memory = unsafe { slice::from_raw_parts_mut(self.base.as_ptr(), data.len()) };
        memory.copy_from_slice(data);
        Ok(())
    }

    /// Copies the first `data.len()` bytes out, once no kernel writes them.
    pub(crate) fn read(&self, data: &mut [u8]) -> Result<(), Error> {
        outside_of_kernels()?;
        self.device.enter()?;
        assert!(data.len() <= self.layout.size(), "the caller compares the lengths");
        let _shared = self.read_lock();
        // SAFETY: within the allocation (asserted; invariant 0), initialised, and unwritten while
        // the lock is held (invariant 1).
        let memory = unsafe { slice::from_raw_parts(self.base.as_ptr(), data.len()) };
        data.copy_from_slice(memory);
        Ok(())
    }

    fn read_lock(&self) -> RwLockReadGuard<'_, ()> {
        self.lock.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_lock(&self) -> RwLockWriteGuard<'_, ()> {
        self.lock.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CpuMemory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout (invariant 0); the last handle goes, and a launch
        // holds one while it runs.
        unsafe { alloc::dealloc(self.base.as_ptr(), self.layout) };
    }
}

/// A lock on one allocation for the time of a launch.
enum Held<'a> {
    Shared { _guard: RwLockReadGuard<'a, ()> },
    Exclusive { _guard: RwLockWriteGuard<'a, ()> },
}

/// Runs all blocks of a launch, and returns when they are done.
///
/// Blocks start in the order of their index on one thread a core; after a panic no further block
/// starts, so the error is that of the lowest block that panics. Where the result depends on the
/// blocks' order they run one after another, in an order that the schedule's seed chooses, so that
/// a seed has one result. Buffers in conflict with a launch on another thread wait for it.
///
/// # Safety
///
/// 0. `parameters` match `instance.parameters()` in number, kinds and element types. The bytes of a
///    constant lie where its parameter says until this returns, and nobody writes them.
/// 1. `accesses` name every allocation into which an address in `parameters` points, `Write` where
///    the parameter is written ([`ParameterKind::writes`]); none that is written occurs twice.
pub(crate) unsafe fn launch(
    device: &CpuDevice,
    grid: u32,
    instance: &Instance,
    parameters: Vec<RawParameter>,
    accesses: &[(&CpuMemory, Access)],
) -> Result<(), Error> {
    let pool = workers()?;
    if inside_of_kernel() {
        return Err(Error::NestedLaunch { kernel: instance.kernel() });
    }
    if !tilepipe::cpu::prepare() {
        return Err(Error::WhilePanicking { kernel: instance.kernel() });
    }
    let _held = lock_all(accesses);
    device.enter()?;
    let unordered = instance.parameters().any(|(_, info)| info.unordered);
    let run = Arc::new(Run {
        instance: *instance,
        parameters,
        grid,
        schedule: device.schedule,
        order: if unordered { Order::of(device.schedule, grid) } else { Order::BY_INDEX },
        next: AtomicU32::new(0),
        cancelled: AtomicBool::new(false),
        panic: Mutex::new(None),
    });
    let (done, all_done) = mpsc::channel::<()>();
    let workers = if unordered { 1 } else { pool.current_num_threads().min(grid as usize) };
    for _ in 0..workers {
        let (run, done) = (Arc::clone(&run), done.clone());
        pool.spawn(move || {
            // SAFETY: passed on to the caller of `launch`, which returns only after `done` has been
            // dropped.
            unsafe { run.work(pool, done) };
        });
    }
    drop(done);
    // Fails once every worker has dropped its end. Waiting here, unlike in rayon's own scopes,
    // never runs another job on this thread, which might want the locks that this thread holds.
    while all_done.recv().is_ok() {}
    let panic = run.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
    panic.map_or(Ok(()), |panic| Err(device.lose(panic)))
}

/// Refuses to wait for a buffer inside of a kernel, whose own launch may hold it.
fn outside_of_kernels() -> Result<(), Error> {
    if inside_of_kernel() { Err(Error::InsideKernel) } else { Ok(()) }
}

/// Whether a kernel waits for the calling OS thread, maybe: it runs a block, or a job that a block
/// gave to rayon, which runs on the same workers. Workers that were never started run none.
fn inside_of_kernel() -> bool {
    let is_worker = || matches!(POOL.get(), Some(Ok(pool)) if pool.current_thread_index().is_some());
    tilepipe::cpu::in_kernel() || is_worker()
}

/// Locks every allocation of a launch, in the order of their addresses so that two launches cannot
/// wait for each other.
fn lock_all<'a>(accesses: &[(&'a CpuMemory, Access)]) -> Vec<Held<'a>> {
    let mut accesses = accesses.to_vec();
    accesses.sort_by_key(|(memory, _)| memory.base);
    // An input may be passed twice; a thread must not lock it twice.
    accesses.dedup_by_key(|(memory, _)| memory.base);
    let lock = |(memory, access): (&'a CpuMemory, Access)| match access {
        Access::Read => Held::Shared { _guard: memory.read_lock() },
        Access::Write => Held::Exclusive { _guard: memory.write_lock() },
    };
    accesses.into_iter().map(lock).collect()
}

/// The order in which blocks start: `step * place + first`, modulo their number.
///
/// # Invariants
///
/// 0. `step` and the number of blocks that it was made for have no common divisor: every block has
///    one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Order {
    step: u32,
    first: u32,
}

impl Order {
    /// Block after block.
    const BY_INDEX: Order = Order { step: 1, first: 0 };

    /// The order of `grid` blocks under a schedule: by index, or one that the seed chooses.
    fn of(schedule: Schedule, grid: u32) -> Order {
        let Schedule::Random { seed } = schedule else { return Order::BY_INDEX };
        // The steps of SplitMix64, which spread the bits of small seeds.
        let mixed = (seed.wrapping_add(0x9E37_79B9_7F4A_7C15) ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let below = |number: u64| (number % u64::from(grid.max(1))) as u32;
        let divisor = |mut a: u32, mut b: u32| {
            while b > 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        // One is found below `grid`, or before `start`: 1 fits every grid.
        let (start, first) = (below(mixed >> 32), below(mixed & 0xFFFF_FFFF));
        let step = (start..grid).chain(1..start).find(|step| divisor(grid, *step) == 1).unwrap_or(1);
        Order { step, first }
    }

    /// The block at a place, both below `grid`.
    fn block(self, place: u32, grid: u32) -> u32 {
        // No overflow: each factor is below 2^32, and the sum of 2^32 - 1 squared and as much again
        // is below 2^64.
        ((u64::from(self.step) * u64::from(place) + u64::from(self.first)) % u64::from(grid)) as u32
    }
}

/// One launch, as its workers share it.
struct Run {
    instance: Instance,
    parameters: Vec<RawParameter>,
    grid: u32,
    schedule: Schedule,
    order: Order,
    next: AtomicU32,
    cancelled: AtomicBool,
    panic: Mutex<Option<KernelPanic>>,
}

impl Run {
    /// Runs blocks until none is left or one has panicked, and then drops `done`.
    ///
    /// # Safety
    ///
    /// As for [`launch`], whose locks are held until `done` is dropped.
    unsafe fn work(self: Arc<Self>, pool: &'static ThreadPool, done: Sender<()>) {
        if tilepipe::cpu::in_kernel() {
            // A kernel that waits for a job of rayon's own has this worker take up others
            // meanwhile: not blocks inside of its block. An idle worker may steal the job from
            // here; this one takes it up again and again until the kernel ends. SAFETY: passed on
            // to the caller.
            return pool.spawn(move || unsafe { self.work(pool, done) });
        }
        while !self.cancelled.load(Ordering::Relaxed) {
            // At most the pool's size beyond the grid, which is below 2^31.
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            if place >= self.grid {
                break;
            }
            let block = self.order.block(place, self.grid);
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
                // SAFETY: the parameters match the instance and name locked memory (passed on to
                // the caller); each place is drawn once, and different places are of different
                // blocks (`Order`, 0), so no two calls have the same.
                unsafe { run_block(&self.instance, &self.parameters, self.grid, block, self.schedule) }
            }));
            let panicked = match outcome {
                Ok(Ok(())) => continue,
                Ok(Err(panicked)) => panicked,
                Err(payload) => {
                    let panicked = executor_panic(&self.instance, block, payload.as_ref());
                    // Its destructor may panic in turn.
                    std::mem::forget(payload);
                    panicked
                }
            };
            self.cancelled.store(true, Ordering::Relaxed);
            let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|first| panicked.block < first.block) {
                *first = Some(panicked);
            }
        }
        drop(done);
    }
}

/// Reports a panic that did not come from the kernel's own code.
fn executor_panic(instance: &Instance, block: u32, payload: &(dyn Any + Send)) -> KernelPanic {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    let message = format!("the CPU executor failed on kernel `{}`: {text}", instance.kernel());
    KernelPanic { message, file: "unknown".to_owned(), line: 0, column: 0, block, thread: None }
}

/// The workers, once the first launch has started them; or why they could not be started.
static POOL: OnceLock<Result<ThreadPool, String>> = OnceLock::new();

/// Returns the threads that run kernels, one a core or as many as `RAYON_NUM_THREADS` says, started
/// on the first call.
///
/// They are a pool of their own: a program may launch from its own rayon jobs.
fn workers() -> Result<&'static ThreadPool, Error> {
    let pool = POOL.get_or_init(|| {
        let builder = ThreadPoolBuilder::new().thread_name(|index| format!("tilepipe-cpu-{index}"));
        builder.build().map_err(|error| error.to_string())
    });
    pool.as_ref().map_err(|reason| Error::NoThreads { reason: reason.clone() })
}

/// Returns how many blocks run at once: one on each of those threads.
pub(crate) fn blocks_at_once() -> Result<u32, Error> {
    Ok(u32::try_from(workers()?.current_num_threads()).unwrap_or(u32::MAX))
}

/// Returns a line of `/proc/meminfo` in bytes, where there is one.
pub(crate) fn memory_information(line: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let value = text.lines().find_map(|text| text.strip_prefix(line))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_has_each_block_once_and_seeds_differ() {
        for grid in (1..40).chain([97, 128, 1000]) {
            for schedule in
                [Schedule::Eager, Schedule::Lazy].into_iter().chain((0..20).map(|seed| Schedule::Random { seed }))
            {
                let order = Order::of(schedule, grid);
                let mut blocks: Vec<_> = (0..grid).map(|place| order.block(place, grid)).collect();
                if !matches!(schedule, Schedule::Random { .. }) {
                    assert!(blocks.is_sorted(), "{schedule:?}");
                }
                blocks.sort_unstable();
                assert!(blocks.into_iter().eq(0..grid), "{schedule:?}, {grid} blocks");
            }
        }
        let orders: Vec<_> = (0..20).map(|seed| Order::of(Schedule::Random { seed }, 97)).collect();
        assert!(orders.iter().skip(1).any(|order| *order != orders[0]));
        assert_eq!(Order::of(Schedule::Random { seed: 3 }, 97), Order::of(Schedule::Random { seed: 3 }, 97));
    }

    #[test]
    fn the_largest_grid_has_an_order() {
        let grid = i32::MAX as u32;
        let order = Order::of(Schedule::Random { seed: 1 }, grid);
        assert!(order.block(grid - 1, grid) < grid);
        assert_ne!(order.block(0, grid), order.block(grid - 1, grid));
    }
}
