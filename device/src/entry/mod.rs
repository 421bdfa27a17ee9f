//! The way into a kernel: what the code that `#[kernel]` generates calls. Not for users.
//!
//! That code makes one `unsafe` call for each instance: [`instance`] on the host, [`enter`] on the
//! GPU. Both take the kernel function itself, and all that a launch relies on follows from its type
//! here: a crate that redefines a path of the generated code can pass another function, but can't
//! describe one wrongly.

pub(crate) mod contract;
mod function;
mod module;
mod parameter;
mod value;

use core::marker::PhantomData;

use crate::engine;
use crate::fault;
use crate::group::block::Block;
use crate::isa;
use crate::marker::{BlockLevel, Brand};
use crate::memory::{Layout, Shared};

pub use crate::isa::{RawRows, RawTensor};
pub use function::{KernelFunction, bounds, enter};
#[cfg(not(target_arch = "nvptx64"))]
pub use function::{instance, instance_without_cpu};
pub use module::{AnotherModule, IsKernelModule, KernelModule, check_module};
pub use parameter::Parameter;
#[cfg(not(target_arch = "nvptx64"))]
pub use parameter::is_parameter;
pub use value::{Scalar, VALUE_ALIGNMENT};

/// The most bytes of a parameter but a [`Constant`](crate::Constant).
pub const PARAMETER_BYTES: usize = 192;
/// A parameter's largest alignment.
pub const PARAMETER_ALIGNMENT: usize = 128;
/// The most bytes of all parameters of a kernel: what a launch carries on every GPU.
pub const LAUNCH_BYTES: usize = 4096;

/// One argument as it is passed to a kernel on the CPU: the first bytes are those of the
/// parameter's [`Raw`](Parameter::Raw), the others are zero. Of a [`Constant`](crate::Constant)
/// they are a [`RawConstant`], which says where those bytes lie.
#[repr(C, align(128))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawParameter {
    bytes: [u8; PARAMETER_BYTES],
}

impl RawParameter {
    /// Makes the argument of a value.
    pub fn of<T: bytemuck::NoUninit>(value: T) -> Self {
        const { assert!(size_of::<T>() <= PARAMETER_BYTES && align_of::<T>() <= PARAMETER_ALIGNMENT) };
        let mut bytes = [0; PARAMETER_BYTES];
        bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        RawParameter { bytes }
    }

    /// Returns the argument's first bytes as a value.
    pub fn get<T: bytemuck::AnyBitPattern>(&self) -> T {
        bytemuck::pod_read_unaligned(&self.bytes[..size_of::<T>()])
    }

    /// Returns the address of the bytes, for the code that passes them on.
    pub fn as_ptr(&self) -> *const u8 {
        self.bytes.as_ptr()
    }
}

/// Where the bytes of a [`Constant`](crate::Constant) lie, on the CPU.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct RawConstant {
    /// The first byte's address, a multiple of 16.
    pub address: u64,
}

/// A view of elements in a row as it is passed to the kernel: the address of its first element and
/// its length in elements.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct RawElements {
    /// The first element's address.
    pub address: u64,
    /// The number of elements.
    pub len: u64,
}

/// Runs one kernel body: hands out its block, its parameters and its shared memory under a lifetime
/// of their own, and waits for all asynchronous copies before it returns.
///
/// The lifetime is generative: a body that compiles here compiles for every lifetime, so a kernel
/// can't keep a view, a token or a tile beyond its own run.
///
/// # Safety
///
/// Called once by every thread of a block at its entry point (on the CPU: once per block, with the
/// block's context in place), and `body` makes one block, one shared memory and one of each
/// parameter of its [`Entry`].
#[inline(always)]
pub unsafe fn run(body: impl for<'k> FnOnce(Entry<'k>)) {
    body(Entry { brand: PhantomData, level: PhantomData });
    engine::drain_all();
}

/// One run of one kernel in one block.
pub struct Entry<'k> {
    brand: Brand<'k>,
    level: BlockLevel,
}

impl<'k> Entry<'k> {
    /// Makes the kernel's block.
    ///
    /// # Safety
    ///
    /// Called once, at the entry point, in a launch of `THREADS` threads per block, with scratch
    /// memory after the kernel's own shared memory if the entry's contract asks for it.
    #[inline(always)]
    pub unsafe fn block<const THREADS: usize>(&self) -> Block<'k, THREADS> {
        // SAFETY: at the entry point all threads are converged, and block-level code keeps them so
        // (R1 to R4); the block size, the uniqueness and the scratch memory are the caller's
        // promise.
        unsafe { Block::assume_converged() }
    }

    /// Makes a parameter from its bytes.
    ///
    /// # Safety
    ///
    /// Called once for each parameter; at `raw` lies what the launch checked for a parameter of
    /// type `P`, aligned for its `Raw`, and it holds for the whole launch.
    #[inline(always)]
    pub unsafe fn parameter<P: Parameter<'k>>(&self, raw: *const u8) -> P {
        // SAFETY: the caller's promise.
        unsafe { P::from_raw(raw.cast()) }
    }

    /// Makes the kernel's shared memory.
    ///
    /// # Safety
    ///
    /// Called once, in a launch with `L::BYTES` bytes of dynamic shared memory.
    #[inline(always)]
    pub unsafe fn shared<L: Layout>(&self) -> Shared<'k, L> {
        const { assert!(L::ALIGNMENT <= isa::SHARED_ALIGNMENT, "shared memory is aligned to at most 1024 bytes") };
        // The declaration asks for an alignment of 1024 bytes. The code checks whether the driver
        // has honoured it where the layout needs more than copies need.
        if L::ALIGNMENT > 16 && !isa::shared_address().is_multiple_of(L::ALIGNMENT) {
            fault::misaligned_shared_memory(isa::shared_address(), L::ALIGNMENT);
        }
        // SAFETY: the whole of the block's shared memory that is the kernel's own, from its start,
        // which is aligned as the layout asks; given out once.
        unsafe { Shared::new(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{Schedule, run_body};

    struct Aligned<const BYTES: usize>;

    // SAFETY: the sizes used below are powers of two of at most 1024, and nobody touches the
    // memory.
    unsafe impl<const BYTES: usize> Layout for Aligned<BYTES> {
        const BYTES: usize = BYTES;
        const ALIGNMENT: usize = BYTES;
        const STORES: bool = false;
    }

    #[test]
    fn shared_memory_starts_where_its_layout_wants_it() {
        let kernel = |entry: Entry<'_>| {
            // SAFETY: the one shared memory of this run, of that many bytes.
            let (first, second) = unsafe { entry.shared::<(Aligned<32>, Aligned<1024>)>() }.split();
            assert_eq!((first.offset(), second.offset()), (0, 1024));
            assert!(second.base().addr().is_multiple_of(1024));
        };
        // SAFETY: the one entry of this run.
        let body = || unsafe { run(kernel) };
        for _ in 0..8 {
            assert_eq!(run_body(body, 2048, 1, 0, Schedule::Lazy), Ok(()));
        }
    }
}
