//! The maps by which the copy engine finds the boxes of a tensor.

use std::ffi::c_void;

use tilepipe::launch::{Boxes, ElementKind, Instance, ParameterInfo, ParameterKind, RawTensor};
use tilepipe::{
    Element, Extents1, Extents2, Extents3, Extents4, Extents5, Operation, Panels4, Swizzle, Tensor, TensorMut,
    TileReduction,
};

use crate::argument::{Argument, Array, Bound, ToBind, sealed};
use crate::buffer::{Buffer, BufferNd, DIMENSIONS, Slice, SliceMut, SliceNd, SliceNdMut};
use crate::error::Error;
use crate::gpu::context::Context;

/// The most rows and elements of a row of a tensor: a box's coordinates are 32-bit integers, and a
/// box, its halo included, may begin before the tensor and reach beyond it.
const MOST: u64 = i32::MAX as u64 - 512;
/// What the bytes of a tensor's rows, from one's start to the next one's, are below.
const PITCH_LIMIT: u64 = 1 << 40;

/// What may be passed for tensors of so many dimensions.
macro_rules! tensors_of {
    ($($extents:ident<$($extent:ident),+>: $input:ty, $output:ty;)+) => {$(
        impl<T: Element, $(const $extent: usize,)+ W: Swizzle> Argument<Tensor<'_, T, $extents<$($extent),+>, W>> for $input {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                self.bound(ParameterKind::Input)
            }
        }

        impl<T: Element, $(const $extent: usize,)+ W: Swizzle, O> Argument<TensorMut<'_, T, $extents<$($extent),+>, W, O>>
            for $output
        {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                self.bound(ParameterKind::Output)
            }
        }

        impl<T: Element, O: Operation<T>, $(const $extent: usize,)+ W: Swizzle>
            Argument<TileReduction<'_, T, O, $extents<$($extent),+>, W>> for $output
        {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                self.bound(ParameterKind::Output)
            }
        }
    )+};
}
tensors_of! {
    Extents1<COLUMNS>: &Buffer<T>, &mut Buffer<T>;
    Extents1<COLUMNS>: Slice<'_, T>, SliceMut<'_, T>;
    Extents1<COLUMNS>: &BufferNd<T, 1>, &mut BufferNd<T, 1>;
    Extents1<COLUMNS>: SliceNd<'_, T, 1>, SliceNdMut<'_, T, 1>;
    Extents2<ROWS, COLUMNS>: &BufferNd<T, 2>, &mut BufferNd<T, 2>;
    Extents2<ROWS, COLUMNS>: SliceNd<'_, T, 2>, SliceNdMut<'_, T, 2>;
    Extents3<PLANES, ROWS, COLUMNS>: &BufferNd<T, 3>, &mut BufferNd<T, 3>;
    Extents3<PLANES, ROWS, COLUMNS>: SliceNd<'_, T, 3>, SliceNdMut<'_, T, 3>;
    Extents4<FOURTH, PLANES, ROWS, COLUMNS>: &BufferNd<T, 4>, &mut BufferNd<T, 4>;
    Extents4<FOURTH, PLANES, ROWS, COLUMNS>: SliceNd<'_, T, 4>, SliceNdMut<'_, T, 4>;
    Panels4<ROWS, COLUMNS, PANEL>: &BufferNd<T, 4>, &mut BufferNd<T, 4>;
    Panels4<ROWS, COLUMNS, PANEL>: SliceNd<'_, T, 4>, SliceNdMut<'_, T, 4>;
    Extents5<FIFTH, FOURTH, PLANES, ROWS, COLUMNS>: &BufferNd<T, 5>, &mut BufferNd<T, 5>;
    Extents5<FIFTH, FOURTH, PLANES, ROWS, COLUMNS>: SliceNd<'_, T, 5>, SliceNdMut<'_, T, 5>;
}

impl<T, P, const N: usize> sealed::Sealed<P> for &BufferNd<T, N> {}
impl<T, P, const N: usize> sealed::Sealed<P> for &mut BufferNd<T, N> {}
impl<T, P, const N: usize> sealed::Sealed<P> for SliceNd<'_, T, N> {}
impl<T, P, const N: usize> sealed::Sealed<P> for SliceNdMut<'_, T, N> {}

/// Makes the tensors of a launch, in the order of its parameters; `encode` makes a map of an array
/// for these boxes.
///
/// # Errors
///
/// [`Error::TensorMap`] if one is too large, and what `encode` returns.
pub(crate) fn tensors(
    instance: &Instance,
    arguments: &[Bound<'_>],
    encode: impl Fn(&'static str, &Array, &ParameterInfo, Boxes) -> Result<[u64; 16], Error>,
) -> Result<Vec<RawTensor>, Error> {
    let mut all = Vec::new();
    for ((parameter, info), argument) in instance.parameters().zip(arguments) {
        let Some(boxes) = info.boxes else { continue };
        let Some(array) = argument.value.array() else { continue };
        let extents = &array.extents[..array.dimensions];
        let pitches = bytes_apart(&array, info);
        let pitches = &pitches[..array.dimensions - 1];
        let far = pitches.iter().any(|pitch| *pitch >= PITCH_LIMIT);
        if extents.iter().any(|extent| *extent > MOST) || far {
            let reason = format!(
                "it has {}; a tensor has at most {MOST} rows of {MOST} elements, as many of each further dimension, and less than \
                 {PITCH_LIMIT} bytes from one to the next",
                described(&array, pitches)
            );
            return Err(Error::TensorMap { kernel: instance.kernel(), parameter, reason });
        }
        let map = encode(parameter, &array, info, boxes)?;
        // All are below 2^31: just checked.
        let [columns, rows, outer @ ..] = array.extents.map(|extent| extent as u32);
        all.push(RawTensor { map, rows, columns, outer, reserved: [0; 11] });
    }
    Ok(all)
}

/// Bytes from one row of an array to the next one, from one plane to the next one, and so on; one
/// number less than there are dimensions counts.
fn bytes_apart(array: &Array, info: &ParameterInfo) -> [u64; DIMENSIONS - 1] {
    array.pitches.map(|pitch| pitch.saturating_mul(info.element_bytes as u64))
}

/// The extents and pitches of an array, in words.
fn described(array: &Array, pitches: &[u64]) -> String {
    match (array.dimensions, array.extents) {
        (1, [len, ..]) => format!("{len} elements"),
        (2, [width, height, ..]) => format!("{height} rows of {width} elements, {} bytes apart", pitches[0]),
        (dimensions, _) => {
            let outermost_first: Vec<u64> = array.extents[..dimensions].iter().rev().copied().collect();
            let apart: Vec<u64> = pitches.iter().rev().copied().collect();
            format!("extents {outermost_first:?}, {apart:?} bytes apart")
        }
    }
}

/// The map of the CPU's copy engine: where the rows lie.
pub(crate) fn on_cpu(_: &'static str, array: &Array, info: &ParameterInfo, _: Boxes) -> Result<[u64; 16], Error> {
    let mut map = [0; 16];
    map[0] = array.address;
    let dimensions = array.dimensions;
    map[1..dimensions].copy_from_slice(&bytes_apart(array, info)[..dimensions - 1]);
    Ok(map)
}

/// A map as the driver writes it.
#[repr(C, align(64))]
struct Encoded([u64; 16]);

/// The driver's map.
pub(crate) fn on_gpu(
    context: &Context,
    (kernel, parameter): (&'static str, &'static str),
    array: &Array,
    info: &ParameterInfo,
    boxes: Boxes,
) -> Result<[u64; 16], Error> {
    // Elements are copied as they are, whatever they mean: unsigned integers of their size. What is
    // reduced to is of its own type.
    let data_type = match (boxes.element, info.element_bytes) {
        (ElementKind::Bits, 1) => 0,
        (ElementKind::Bits, 2) => 1,
        (ElementKind::Bits | ElementKind::U32, 4) | (ElementKind::U32, _) => 2,
        (ElementKind::I32, _) => 3,
        (ElementKind::Bits | ElementKind::U64, _) => 4,
        (ElementKind::I64, _) => 5,
        (ElementKind::F16, _) => 6,
        (ElementKind::F32, _) => 7,
        (ElementKind::F64, _) => 8,
        (ElementKind::Bf16, _) => 9,
    };
    let (extents, extents_of_box, element_strides) = (array.extents, boxes.extents, [1; 5]);
    let pitches = bytes_apart(array, info);
    let swizzle = match boxes.swizzle {
        0 => 0,
        32 => 1,
        64 => 2,
        _ => 3,
    };
    /// `CU_TENSOR_MAP_L2_PROMOTION_L2_128B`.
    const PROMOTION: i32 = 2;
    let mut map = Encoded([0; 16]);
    // SAFETY: the map is writable and aligned to 64, and each array has as many numbers as a tensor
    // of so many dimensions needs, the pitches one less; the address is not read through.
    let status = unsafe {
        context.driver.tensor_map_encode(
            (&raw mut map).cast::<c_void>(),
            data_type,
            array.dimensions as u32,
            array.address as *mut c_void,
            extents.as_ptr(),
            pitches.as_ptr(),
            extents_of_box.as_ptr(),
            element_strides.as_ptr(),
            0,
            swizzle,
            PROMOTION,
            0,
        )
    };
    if status != crate::gpu::driver::Status::SUCCESS {
        let extents_of_box: Vec<u32> = boxes.extents[..array.dimensions].iter().rev().copied().collect();
        let reason = format!(
            "the driver refuses {} of {} bytes each, at {:#x}, in boxes of {extents_of_box:?} with a swizzle of {} bytes (error {})",
            described(array, &pitches[..array.dimensions - 1]),
            info.element_bytes,
            array.address,
            boxes.swizzle,
            status.0
        );
        return Err(Error::TensorMap { kernel, parameter, reason });
    }
    Ok(map.0)
}
