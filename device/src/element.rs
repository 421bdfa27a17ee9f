//! Plain-data element types.

use crate::uniform::Uniform;

/// A type of which tiles are made: plain data without padding, any bit pattern valid, 1 to 16 bytes.
///
/// Implemented for the integer and float types of 4 and 8 bytes and for [`Vec4`]; any other [`bytemuck::Pod`] type of a
/// power-of-two size can implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be an element of a tile",
    note = "elements are plain data (`bytemuck::Pod`): no padding, no reference, no `Drop`, any bit pattern valid; \
            implement `tilepipe::Element` for your own `Pod` types"
)]
pub trait Element: bytemuck::Pod + Uniform + Send + Sync {}

impl Element for i32 {}
impl Element for u32 {}
impl Element for i64 {}
impl Element for u64 {}
impl Element for f32 {}
impl Element for f64 {}

/// A vector of four 4-byte elements (CUDA's `int4`, `uint4`, `float4`): 16 bytes, copied and read in one access.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec4<T>(pub [T; 4]);

/// Four `i32`, CUDA's `int4`.
pub type I32x4 = Vec4<i32>;
/// Four `u32`, CUDA's `uint4`.
pub type U32x4 = Vec4<u32>;
/// Four `f32`, CUDA's `float4`.
pub type F32x4 = Vec4<f32>;

macro_rules! vec4_element {
    ($($lane:ty),*) => {$(
        const _: () = assert!(size_of::<Vec4<$lane>>() == 16 && size_of::<$lane>() == 4);
        // SAFETY: all zeros is a valid value of four plain lanes.
        unsafe impl bytemuck::Zeroable for Vec4<$lane> {}
        // SAFETY: four 4-byte plain-data lanes fill the 16 bytes (asserted above), so there is no padding and any bit
        // pattern is valid; the type is `Copy` and `'static`.
        unsafe impl bytemuck::Pod for Vec4<$lane> {}
        impl Element for Vec4<$lane> {}
    )*};
}
vec4_element!(i32, u32, f32);
