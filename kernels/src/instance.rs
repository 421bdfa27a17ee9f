//! What the launches of kernels with many instances share: which one, and for what matrices.

use tilepipe::launch::Instance;
use tilepipe_host::{Bound, Stream};

/// Rows and columns of what was bound for a matrix.
pub fn extents(matrix: &Bound<'_>) -> [usize; 2] {
    // A view of two dimensions takes nothing else.
    matrix.extents_2d().unwrap_or_default()
}

/// Whether a generic parameter of an instance is this value, or the type of this name: paths do not
/// count.
pub fn has(instance: &Instance, parameter: &str, wanted: &str) -> bool {
    instance.generic(parameter).is_some_and(|value| value.rsplit("::").next() == Some(wanted))
}

/// Whether an instance's elements, its parameter `T`, are these.
pub fn has_elements<T>(instance: &Instance) -> bool {
    core::any::type_name::<T>().rsplit("::").next().is_some_and(|element| has(instance, "T", element))
}

/// The multiprocessors of a stream's device; 1 on the CPU.
pub fn multiprocessors(stream: &Stream) -> usize {
    stream.device().multiprocessors().map_or(1, |count| count as usize)
}

/// Blocks for so many tiles of a kernel of which one block runs on a multiprocessor at a time.
pub fn blocks(stream: &Stream, tiles: usize) -> u32 {
    tiles.min(multiprocessors(stream)) as u32
}

/// Blocks for so many tiles of a kernel of which many run there.
pub fn small_blocks(stream: &Stream, tiles: usize) -> u32 {
    tiles.min(16 * multiprocessors(stream)) as u32
}
