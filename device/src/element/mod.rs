//! Plain-data element types.

pub mod key;
pub mod math;
pub mod reduce;

use crate::marker::{RoleShared, Uniform};

/// A type that tiles are made of: plain data without padding, for which any bit pattern is valid,
/// of 1 to 16 bytes and aligned to at most 16.
///
/// | elements | bytes | CUDA |
/// |---|---|---|
/// | `u8` `u16` `u32` `u64` `u128` | 1 to 16 | `unsigned char` .. `unsigned __int128` |
/// | `i8` `i16` `i32` `i64` `i128` | 1 to 16 | `signed char` .. `__int128` |
/// | `f32` `f64` | 4, 8 | `float`, `double` |
/// | [`f16`](crate::f16), [`bf16`](crate::bf16) | 2 | `__half`, `__nv_bfloat16` |
/// | [`Vec4<T>`](Vec4) of a 4-byte [`VectorLane`] | 16 | `int4`, `uint4`, `float4` |
/// | `[T; N]` of an element | `N` times as many | a struct of `N` values, such as `float3` |
/// | a struct with `#[derive(tilepipe::Element)]` | the sum of its fields | the same struct |
///
/// An array is aligned as its element is: `[f32; 4]` to 4 bytes where `Vec4<f32>` is to 16, so a
/// thread reads it in four accesses. Arrays and structs of more than 16 bytes are elements by type,
/// for a [`Constant`](crate::Constant); a tile of them does not compile.
///
/// These are not elements: `usize` and `isize`, whose size depends on the machine (use `u32` or
/// `u64`); `bool` and `char`, for which most bit patterns are invalid (use `u8` or `u32` and
/// compare).
///
/// # Examples
///
/// ```
/// use tilepipe::Element;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// struct Body {
///     position: [f32; 3],
///     mass: f32,
/// }
///
/// fn bytes_of_a_tile<T: Element, const LEN: usize>() -> usize {
///     size_of::<[T; LEN]>()
/// }
/// assert_eq!(bytes_of_a_tile::<Body, 128>(), 2048);
/// assert_eq!(bytes_of_a_tile::<tilepipe::f16, 128>(), 256);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be an element of a tile",
    note = "an element is plain data (no padding, no reference, no `Drop`, any bit pattern valid): an integer or float of 1 \
            to 16 bytes (`u32` or `u64` for `usize`, `u8` for `bool`), `Vec4`, or an array of elements",
    note = "to make a struct of your own an element, put `#[derive(Clone, Copy, tilepipe::Element)]` and `#[repr(C)]` on it"
)]
pub trait Element: bytemuck::Pod + Uniform + RoleShared + Send + Sync {}

/// An element of `BYTES` bytes. Four of a `VectorLane<4>` make a [`Vec4`].
///
/// Implemented for the integers and floats, for the arrays that fill 4 bytes (`[f16; 2]`,
/// `[u8; 4]`), and by `#[derive(tilepipe::Element)]`.
///
/// # Examples
///
/// ```
/// use tilepipe::{Element, Vec4};
///
/// /// One pixel; a vector of four is copied in one access.
/// #[derive(Clone, Copy, Element)]
/// #[repr(C)]
/// struct Pixel {
///     rgba: [u8; 4],
/// }
///
/// fn is_element<T: Element>() {}
/// is_element::<Vec4<Pixel>>();
/// ```
///
/// # Safety
///
/// `size_of::<Self>() == BYTES`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no lane of {BYTES} bytes",
    note = "a lane of a `Vec4` is an element of 4 bytes, such as `f32`, `[f16; 2]`, `[u8; 4]` or a struct with \
            `#[derive(tilepipe::Element)]`"
)]
pub unsafe trait VectorLane<const BYTES: usize>: Element {}

impl Element for u8 {}
impl Element for i8 {}
impl Element for u16 {}
impl Element for i16 {}
impl Element for u32 {}
impl Element for i32 {}
impl Element for u64 {}
impl Element for i64 {}
impl Element for u128 {}
impl Element for i128 {}
impl Element for f32 {}
impl Element for f64 {}
impl Element for half::f16 {}
impl Element for half::bf16 {}
impl<T: Element, const N: usize> Element for [T; N] {}

macro_rules! scalar_lanes {
    ($($scalar:ty),*) => {$(
        // A struct of elements has the same layout on the GPU and on the host only if these have
        // the same alignment on both; both compile this line.
        const _: () = assert!(align_of::<$scalar>() == size_of::<$scalar>());
        // SAFETY: the size is what `size_of` says.
        unsafe impl VectorLane<{ size_of::<$scalar>() }> for $scalar {}
    )*};
}
scalar_lanes!(u8, i8, u16, i16, u32, i32, u64, i64, u128, i128, f32, f64, half::f16, half::bf16);

// SAFETY: four times one byte; an array has no padding (Rust Reference, "Array layout").
unsafe impl<T: VectorLane<1>> VectorLane<4> for [T; 4] {}
// SAFETY: two times two bytes; an array has no padding (Rust Reference, "Array layout").
unsafe impl<T: VectorLane<2>> VectorLane<4> for [T; 2] {}

/// A vector of four 4-byte elements (CUDA's `int4`, `uint4`, `float4`): 16 bytes, copied and read
/// in one access.
///
/// It is an [`Element`] if `T` is a [`VectorLane`] of 4 bytes; `Vec4<[f16; 2]>` holds eight
/// half-precision floats.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec4<T>(pub [T; 4]);

impl<T> From<[T; 4]> for Vec4<T> {
    #[inline(always)]
    fn from(lanes: [T; 4]) -> Self {
        Vec4(lanes)
    }
}

impl<T> From<Vec4<T>> for [T; 4] {
    #[inline(always)]
    fn from(vector: Vec4<T>) -> Self {
        vector.0
    }
}

/// Four `i32`, CUDA's `int4`.
pub type I32x4 = Vec4<i32>;
/// Four `u32`, CUDA's `uint4`.
pub type U32x4 = Vec4<u32>;
/// Four `f32`, CUDA's `float4`.
pub type F32x4 = Vec4<f32>;

// SAFETY: all zeros is a valid value of four plain-data lanes (`VectorLane` implies `Pod`).
unsafe impl<T: VectorLane<4>> bytemuck::Zeroable for Vec4<T> {}
// SAFETY: `VectorLane<4>` promises lanes of 4 bytes, so four of them fill the 16 bytes and there is
// no padding: a size is a multiple of its alignment, so the lane's divides 4 and adds nothing to
// `align(16)`. Lanes are plain data, so any bit pattern is valid, nothing can be written through a
// shared reference, and there is no pointer; `Vec4` is `Copy` and `'static` as they are, and
// `repr(C)`.
unsafe impl<T: VectorLane<4>> bytemuck::Pod for Vec4<T> {}
impl<T: VectorLane<4>> Element for Vec4<T> {}
