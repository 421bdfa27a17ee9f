//! Buffers that launches use one after another, so many that none is in the cache when its turn
//! comes again.

use anyhow::{Context, Result, ensure};
use cudarc::driver::result;
use cudarc::driver::sys::{CUdevice_attribute, CUresult, cuCtxGetDevice};
use tilepipe_host::foreign::{Shape, View};
use tilepipe_runner::data::POISON;

use super::graph::Stream;
use crate::copy::Memory;

/// Launches of a graph.
pub const LAUNCHES: usize = 100;
/// A ring has so many times the bytes of the L2 cache.
const TIMES_CACHE: u64 = 3;
/// The L2 cache of an H200, in bytes; another GPU may say that it has a larger one.
const CACHE: u64 = 60_000_000;

/// How many buffers there are, and which graph uses which.
///
/// Graphs are replayed one after another, the first after the last, whosever they are. So a buffer
/// comes up again after all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Buffers, each an input and an output.
    pub buffers: usize,
    /// Graphs of each contestant, which together use every buffer at least once.
    pub graphs: usize,
}

impl Layout {
    /// Plans a ring of `ring` bytes at least, of buffers of `buffer` bytes with input and output.
    pub fn new(buffer: u64, ring: u64) -> Layout {
        let least = ring.div_ceil(buffer).max(1) as usize;
        if least > LAUNCHES {
            let graphs = least.div_ceil(LAUNCHES);
            return Layout { buffers: graphs * LAUNCHES, graphs };
        }
        // A graph ends with the last buffer: so the next one's first is not used twice in a row.
        let is_whole = |count: &usize| LAUNCHES.is_multiple_of(*count);
        Layout { buffers: (least..=LAUNCHES).find(is_whole).unwrap_or(LAUNCHES), graphs: 1 }
    }

    /// Returns the buffer of a launch of a graph.
    pub fn buffer(self, graph: usize, launch: usize) -> usize {
        (graph * LAUNCHES + launch) % self.buffers
    }
}

/// Returns how many bytes a ring must have on the GPU of the calling thread's context.
///
/// # Errors
///
/// A call of the driver that failed.
pub fn bytes() -> Result<u64> {
    let mut device = 0;
    // SAFETY: writes one handle, which is there.
    let status = unsafe { cuCtxGetDevice(&mut device) };
    ensure!(status == CUresult::CUDA_SUCCESS, "cuCtxGetDevice failed: {status:?}");
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE;
    // SAFETY: the driver has returned the device.
    let cache = unsafe { result::device::get_attribute(device, attribute) }.context("cuDeviceGetAttribute failed")?;
    Ok(TIMES_CACHE * CACHE.max(u64::try_from(cache).unwrap_or(0)))
}

/// The buffers.
pub struct Ring {
    inputs: Memory,
    outputs: Memory,
    /// Ints of one input, and of one output.
    len: usize,
    layout: Layout,
}

impl Ring {
    /// Makes a ring of inputs of `len` ints, which are those of `data`, one after another.
    ///
    /// # Errors
    ///
    /// Too little memory, or a call of the driver that failed.
    pub fn new(layout: Layout, len: usize, data: &[i32]) -> Result<Ring> {
        ensure!(data.len() == len * layout.buffers, "{} ints for {} buffers of {len}", data.len(), layout.buffers);
        let inputs = Memory::filled(bytemuck::cast_slice(data))?;
        Ok(Ring { inputs, outputs: Memory::allocate(size_of_val(data))?, len, layout })
    }

    /// Returns input and output of a launch of a graph.
    pub fn views(&self, graph: usize, launch: usize) -> [View; 2] {
        let offset = (self.layout.buffer(graph, launch) * self.len * size_of::<i32>()) as u64;
        let view = |memory: &Memory, is_output| View {
            address: memory.address() + offset,
            shape: Shape::Row { len: self.len as u64 },
            element_bytes: size_of::<i32>(),
            is_output,
        };
        [view(&self.inputs, false), view(&self.outputs, true)]
    }

    /// Fills all outputs, in the stream's order, with what no result is.
    ///
    /// # Errors
    ///
    /// A call of the driver that failed.
    pub fn poison(&self, stream: &Stream<'_>) -> Result<()> {
        let bytes = self.layout.buffers * self.len * size_of::<i32>();
        // SAFETY: the allocation has so many bytes, and stays until the stream is done: freeing
        // waits for it. The stream is of the same context.
        unsafe { result::memset_d8_async(self.outputs.address(), POISON, bytes, stream.raw()) }
            .context("cuMemsetD8Async failed")
    }

    /// Reads all outputs, after all that is in the stream.
    ///
    /// # Errors
    ///
    /// A call of the driver that failed, a kernel that trapped among them.
    pub fn read(&self, stream: &Stream<'_>, into: &mut [i32]) -> Result<()> {
        ensure!(into.len() == self.layout.buffers * self.len, "room for {} ints", into.len());
        stream.synchronize()?;
        // SAFETY: the allocation has as many bytes as `into`, and nothing writes them now.
        unsafe { result::memcpy_dtoh_sync(into, self.outputs.address()) }.context("cuMemcpyDtoH failed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RING: u64 = TIMES_CACHE * CACHE;

    #[test]
    fn a_ring_is_as_small_as_the_cache_allows() {
        let of = |bytes_log2: u32| Layout::new(2 << bytes_log2, RING);
        assert_eq!(of(16), Layout { buffers: 1400, graphs: 14 });
        assert_eq!(of(18), Layout { buffers: 400, graphs: 4 });
        assert_eq!(of(20), Layout { buffers: 100, graphs: 1 });
        assert_eq!(of(22), Layout { buffers: 25, graphs: 1 });
        assert_eq!(of(24), Layout { buffers: 10, graphs: 1 });
        assert_eq!(of(40), Layout { buffers: 1, graphs: 1 });
    }

    #[test]
    fn between_two_uses_of_a_buffer_all_others_are_used() {
        for bytes_log2 in [16_u32, 18, 20, 22, 24] {
            let layout = Layout::new(2 << bytes_log2, RING);
            assert!(layout.buffers as u64 * (2 << bytes_log2) >= RING);
            // Graphs one after another, from the first one on, and once more around.
            let graphs = (0..3 * layout.graphs).map(|turn| turn % layout.graphs);
            let used: Vec<usize> =
                graphs.flat_map(|graph| (0..LAUNCHES).map(move |launch| layout.buffer(graph, launch))).collect();
            for window in used.windows(layout.buffers) {
                let mut window = window.to_vec();
                window.sort_unstable();
                assert!(window.into_iter().eq(0..layout.buffers), "{layout:?}");
            }
        }
    }
}
