//! `libtilepipe_bench_c.so`: launches our kernels from a program that is not Rust, on its memory
//! and in its stream. `bench/peers/torch_peers.py` calls it beside PyTorch, by way of
//! `torch_libraries.py`.
//!
//! A call that failed says so by its result, and [`tilepipe_error`] says why. No panic leaves the
//! library. Of the machine it needs glibc, and the NVIDIA driver from the first call on.

mod error;
mod kernels;
mod view;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;
use std::slice;

use anyhow::{Context, Result, ensure};
use tilepipe_host::{Module, foreign};

use error::guarded;
use kernels::{Kernels, grid};
pub use view::View;

/// The result of a call that did what was asked.
const DONE: c_int = 0;
/// The result of one that failed.
const FAILED: c_int = 1;

/// Returns why the calling thread's last failed call failed; empty if none has. The text lasts
/// until the thread's next call.
#[unsafe(no_mangle)]
pub extern "C" fn tilepipe_error() -> *const c_char {
    error::text()
}

/// Loads the kernels of a folder that `cargo xtask ptx` or a bundle has written into the context
/// that is the calling thread's: that which PyTorch has made, say. Returns what the other functions
/// take, or null.
///
/// It stays open until the process ends, since captured graphs may have the kernels.
///
/// # Safety
///
/// 0. `folder` is null or a text that ends with a zero.
/// 1. The folder's files are what the builder made of this workspace's kernels.
/// 2. The context lives until the process ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilepipe_open(folder: *const c_char) -> *const Kernels {
    guarded(ptr::null(), || {
        // SAFETY: obligation 0.
        let folder = unsafe { text(folder, "the folder") }?;
        // SAFETY: obligation 1.
        let module = unsafe { Module::read(Path::new(folder)) }?;
        // SAFETY: obligation 2.
        let device = unsafe { foreign::current_device() }?;
        device.load(&module)?;
        Ok(ptr::from_ref(Box::leak(Box::new(Kernels::new(device)))))
    })
}

/// Writes to `blocks` how many blocks a launch of these arguments would have; launches nothing.
/// Returns 0, or 1 if it failed.
///
/// # Safety
///
/// 0. `kernels` is null or from [`tilepipe_open`].
/// 1. `symbol` is null or a text that ends with a zero.
/// 2. At `views` lie `count` views, or `count` is 0.
/// 3. `blocks` is null or the address of a number that nothing else uses meanwhile.
/// 4. At the address of each constant lie its bytes, which nobody writes meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilepipe_blocks(
    kernels: *const Kernels,
    symbol: *const c_char,
    blocks: *mut u32,
    grid_blocks: i64,
    views: *const View,
    count: usize,
) -> c_int {
    guarded(FAILED, || {
        // SAFETY: obligation 0; what `tilepipe_open` returns is never freed or changed.
        let kernels = unsafe { kernels.as_ref() }.context("the handle is null: `tilepipe_open` failed")?;
        // SAFETY: obligation 1.
        let instance = kernels.find(unsafe { text(symbol, "the kernel's name") }?)?;
        // SAFETY: obligation 2.
        let views = unsafe { elements(views, count) }?;
        // SAFETY: obligation 4.
        let views = unsafe { view::checked(views) }?;
        ensure!(!blocks.is_null(), "there is no place for the number of blocks: its address is null");
        let found = foreign::blocks(&kernels.device, grid(grid_blocks)?, instance, &views)?;
        // SAFETY: obligation 3, and it is not null.
        unsafe { blocks.write(found) };
        Ok(DONE)
    })
}

/// Starts a kernel in a stream; it is ordered with that stream's work alone. Returns 0, or 1 if
/// nothing was started.
///
/// `symbol` is an instance's name without its crate's, such as
/// `scale_own__i32_CpAsync_BlockScope_256_2`. A `grid_blocks` of 0 is a block for each tile, and -1
/// as many blocks as run at once (`Grid::tiles()`, `Grid::resident()`). Number, kinds, dimensions,
/// sizes of elements and alignments of the views are checked, and that no output overlaps another
/// view.
///
/// The first launch of an instance may wait for the GPU. Make it before a capture into a graph;
/// every later one only starts the kernel.
///
/// # Safety
///
/// 0. `kernels` is null or from [`tilepipe_open`].
/// 1. `symbol` is null or a text that ends with a zero.
/// 2. At `views` lie `count` views, or `count` is 0.
/// 3. `stream` is a stream of the context that was the calling thread's in [`tilepipe_open`], or
///    null for its default stream.
/// 4. Memory and order are as [`foreign::launch`] demands in 1 to 3.
/// 5. At the address of each constant lie its bytes, which nobody writes meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilepipe_launch(
    kernels: *const Kernels,
    symbol: *const c_char,
    grid_blocks: i64,
    views: *const View,
    count: usize,
    stream: *mut c_void,
) -> c_int {
    guarded(FAILED, || {
        // SAFETY: obligation 0; what `tilepipe_open` returns is never freed or changed.
        let kernels = unsafe { kernels.as_ref() }.context("the handle is null: `tilepipe_open` failed")?;
        // SAFETY: obligation 1.
        let instance = kernels.find(unsafe { text(symbol, "the kernel's name") }?)?;
        // SAFETY: obligation 2.
        let views = unsafe { elements(views, count) }?;
        // SAFETY: obligation 5.
        let views = unsafe { view::checked(views) }?;
        // SAFETY: (0) is obligation 3; (1) to (3) are obligation 4, and that a pitch is at least
        // the width was checked by `view::checked`.
        unsafe { foreign::launch(&kernels.device, stream, grid(grid_blocks)?, instance, &views) }?;
        Ok(DONE)
    })
}

/// Waits for all work in the context. Returns 0, or 1 if a kernel has failed: then the text has the
/// message and the place of its panic.
///
/// # Safety
///
/// `kernels` is null or from [`tilepipe_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilepipe_synchronize(kernels: *const Kernels) -> c_int {
    guarded(FAILED, || {
        // SAFETY: the obligation; what `tilepipe_open` returns is never freed or changed.
        let kernels = unsafe { kernels.as_ref() }.context("the handle is null: `tilepipe_open` failed")?;
        kernels.device.synchronize()?;
        Ok(DONE)
    })
}

/// Reads a text.
///
/// # Safety
///
/// `from` is null or a text that ends with a zero and stays as it is for `'a`.
unsafe fn text<'a>(from: *const c_char, what: &str) -> Result<&'a str> {
    ensure!(!from.is_null(), "{what} is null");
    // SAFETY: not null, so the obligation says that it ends with a zero and stays.
    let text = unsafe { CStr::from_ptr(from) };
    text.to_str().with_context(|| format!("{what} is no UTF-8: {text:?}"))
}

/// Reads views.
///
/// # Safety
///
/// At `from` lie `count` views that stay as they are for `'a`, or `count` is 0.
unsafe fn elements<'a>(from: *const View, count: usize) -> Result<&'a [View]> {
    if count == 0 {
        return Ok(&[]);
    }
    ensure!(!from.is_null(), "the address of {count} views is null");
    ensure!(from.is_aligned(), "the views are not aligned to {} bytes", align_of::<View>());
    // SAFETY: not null and aligned; the obligation says that so many lie there, of any bytes, and
    // stay; memory that exists has no more than `isize::MAX` bytes.
    Ok(unsafe { slice::from_raw_parts(from, count) })
}

#[cfg(test)]
mod tests;
