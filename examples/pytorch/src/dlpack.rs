//! The structures of DLPack, versions 0 and 1, by which arrays go from one library to another.
//!
//! They are those of `dlpack.h`, whose layout is fixed for a major version.

use std::ffi::{c_int, c_void};

/// The name of a capsule with a [`Managed`] that nobody has taken, and of one that was taken.
pub const NAMES: [&std::ffi::CStr; 2] = [c"dltensor", c"used_dltensor"];
/// The same of a [`ManagedVersioned`].
pub const VERSIONED_NAMES: [&std::ffi::CStr; 2] = [c"dltensor_versioned", c"used_dltensor_versioned"];
/// The major version of [`ManagedVersioned`].
pub const MAJOR: u32 = 1;

/// `kDLCPU`.
pub const CPU: c_int = 1;
/// `kDLCUDA`.
pub const CUDA: c_int = 2;
/// `kDLCUDAHost`: page-locked memory of the CPU.
pub const CUDA_HOST: c_int = 3;

/// `kDLFloat`.
pub const FLOAT: u8 = 2;
/// `kDLBfloat`.
pub const BFLOAT: u8 = 4;

/// `DLPACK_FLAG_BITMASK_READ_ONLY`.
pub const READ_ONLY: u64 = 1;
/// `DLPACK_FLAG_BITMASK_IS_COPIED`: what is written to it is lost.
pub const IS_COPIED: u64 = 2;

/// `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    pub kind: c_int,
    pub number: i32,
}

/// `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataType {
    pub code: u8,
    pub bits: u8,
    pub lanes: u16,
}

/// `DLTensor`.
#[repr(C)]
pub struct Tensor {
    pub data: *mut c_void,
    pub device: Device,
    pub dimensions: i32,
    pub element: DataType,
    /// As many extents as there are dimensions.
    pub shape: *const i64,
    /// As many distances, in elements; null for an array without gaps.
    pub strides: *const i64,
    pub byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
pub struct Managed {
    pub tensor: Tensor,
    pub context: *mut c_void,
    pub deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
pub struct ManagedVersioned {
    pub major: u32,
    pub minor: u32,
    pub context: *mut c_void,
    pub deleter: Option<unsafe extern "C" fn(*mut ManagedVersioned)>,
    pub flags: u64,
    pub tensor: Tensor,
}

// What `dlpack.h` lays out on machines of 64 bits.
const _: () = {
    assert!(size_of::<Tensor>() == 48 && std::mem::offset_of!(Tensor, shape) == 24);
    assert!(size_of::<Managed>() == 64 && std::mem::offset_of!(Managed, deleter) == 56);
    assert!(size_of::<ManagedVersioned>() == 80 && std::mem::offset_of!(ManagedVersioned, tensor) == 32);
};
