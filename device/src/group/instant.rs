//! Moments of the device's clock.

use core::ops::Add;
use core::time::Duration;

use crate::group::block::Block;
use crate::isa;

/// A moment on the device's clock, the same for all threads of a group that asked for it together.
///
/// PTX: `%globaltimer`, in nanoseconds; how often the clock advances depends on the GPU (about
/// every microsecond on recent ones). On the CPU the clock is the executor's own and advances with
/// the block's steps.
///
/// CUDA: `cuda::std::chrono::system_clock::time_point` on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant {
    nanoseconds: u64,
}

impl Instant {
    #[inline(always)]
    pub(crate) fn from_nanoseconds(nanoseconds: u64) -> Self {
        Instant { nanoseconds }
    }

    /// The calling thread's own reading of the clock.
    #[inline(always)]
    pub(crate) fn read() -> Self {
        Instant { nanoseconds: isa::clock() }
    }

    /// Returns the time from `earlier` until this moment, or zero if `earlier` is the later one.
    #[inline(always)]
    pub fn saturating_duration_since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.nanoseconds.saturating_sub(earlier.nanoseconds))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// The moment `duration` later, or the clock's last one.
    #[inline(always)]
    fn add(self, duration: Duration) -> Instant {
        let nanoseconds =
            duration.as_secs().saturating_mul(1_000_000_000).saturating_add(duration.subsec_nanos().into());
        Instant { nanoseconds: self.nanoseconds.saturating_add(nanoseconds) }
    }
}

impl<const THREADS: usize> Block<'_, THREADS> {
    /// Returns the time, as the block's first thread reads it: the same in all threads. It costs
    /// two `bar.sync`. PTX: `%globaltimer`.
    ///
    /// CUDA: `cuda::std::chrono::system_clock::now()`, which differs from thread to thread.
    #[inline(always)]
    pub fn now(&self) -> Instant {
        let clocks = self.map_of(|_| isa::clock());
        Instant::from_nanoseconds(self.broadcast(&clocks, 0))
    }
}
