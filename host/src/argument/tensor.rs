//! The maps by which the copy engine finds the boxes of a tensor.

use std::ffi::c_void;

use tilepipe::launch::{Boxes, ElementKind, Instance, ParameterInfo, RawRows, RawTensor};
use tilepipe::{Element, Extents, Operation, OutputExtents, Swizzle, Tensor, TensorMut, TileReduction};

use crate::argument::{Argument, Bound, Value};
use crate::buffer::{Buffer2D, Rows, RowsMut};
use crate::error::Error;
use crate::gpu::context::Context;

/// The most rows and elements of a row of a tensor: a box's coordinates are 32-bit integers, and a
/// box, its halo included, may begin before the tensor and reach beyond it.
const MOST: u64 = i32::MAX as u64 - 512;
/// What the bytes of a tensor's rows, from one's start to the next one's, are below.
const PITCH_LIMIT: u64 = 1 << 40;

impl<T: Element, X: Extents, W: Swizzle> Argument<Tensor<'_, T, X, W>> for &Buffer2D<T> {
    fn bind(self) -> Bound {
        Bound::input_2d(self)
    }
}

impl<T: Element, X: Extents, W: Swizzle> Argument<Tensor<'_, T, X, W>> for Rows<'_, T> {
    fn bind(self) -> Bound {
        Bound::input_rows(self)
    }
}

impl<T: Element, X: OutputExtents, W: Swizzle> Argument<TensorMut<'_, T, X, W>> for &mut Buffer2D<T> {
    fn bind(self) -> Bound {
        Bound::output_2d(self)
    }
}

impl<T: Element, X: OutputExtents, W: Swizzle> Argument<TensorMut<'_, T, X, W>> for RowsMut<'_, T> {
    fn bind(self) -> Bound {
        Bound::output_rows(self)
    }
}

impl<T: Element, O: Operation<T>, X: OutputExtents, W: Swizzle> Argument<TileReduction<'_, T, O, X, W>>
    for &mut Buffer2D<T>
{
    fn bind(self) -> Bound {
        Bound::output_2d(self)
    }
}

impl<T: Element, O: Operation<T>, X: OutputExtents, W: Swizzle> Argument<TileReduction<'_, T, O, X, W>>
    for RowsMut<'_, T>
{
    fn bind(self) -> Bound {
        Bound::output_rows(self)
    }
}

/// Makes the tensors of a launch, in the order of its parameters; `encode` makes a map of rows for
/// these boxes of elements of so many bytes.
///
/// # Errors
///
/// [`Error::TensorMap`] if one is too large, and what `encode` returns.
pub(crate) fn tensors(
    instance: &Instance,
    arguments: &[Bound],
    encode: impl Fn(&'static str, &RawRows, &ParameterInfo, Boxes) -> Result<[u64; 16], Error>,
) -> Result<Vec<RawTensor>, Error> {
    let mut all = Vec::new();
    for ((parameter, info), argument) in instance.parameters().zip(arguments) {
        let (Some(boxes), Value::Rows(rows)) = (info.boxes, &argument.value) else { continue };
        let pitch = rows.pitch * info.element_bytes as u64;
        if rows.width > MOST || rows.height > MOST || pitch >= PITCH_LIMIT {
            let reason = format!(
                "it has {} rows of {} elements, {pitch} bytes apart; a tensor has at most {MOST} rows of {MOST} elements, less than \
                 {PITCH_LIMIT} bytes apart",
                rows.height, rows.width
            );
            return Err(Error::TensorMap { kernel: instance.kernel(), parameter, reason });
        }
        let map = encode(parameter, rows, info, boxes)?;
        // Both are below 2^31: just checked.
        let (rows, columns) = (rows.height as u32, rows.width as u32);
        all.push(RawTensor { map, rows, columns, reserved: [0; 7] });
    }
    Ok(all)
}

/// The map of the CPU's copy engine: where the rows lie.
pub(crate) fn on_cpu(_: &'static str, rows: &RawRows, info: &ParameterInfo, _: Boxes) -> Result<[u64; 16], Error> {
    let mut map = [0; 16];
    map[0] = rows.address;
    map[1] = rows.pitch * info.element_bytes as u64;
    Ok(map)
}

/// A map as the driver writes it.
#[repr(C, align(64))]
struct Encoded([u64; 16]);

/// The driver's map.
pub(crate) fn on_gpu(
    context: &Context,
    (kernel, parameter): (&'static str, &'static str),
    rows: &RawRows,
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
    let extents = [rows.width, rows.height];
    let pitches = [rows.pitch * info.element_bytes as u64];
    let (extents_of_box, element_strides) = ([boxes.columns, boxes.rows], [1, 1]);
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
    // of two dimensions needs; the address is not read through.
    let status = unsafe {
        context.driver.tensor_map_encode(
            (&raw mut map).cast::<c_void>(),
            data_type,
            2,
            rows.address as *mut c_void,
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
        let reason = format!(
            "the driver refuses {} rows of {} elements of {} bytes, {} bytes apart, at {:#x}, in boxes of {} by {} with a swizzle of {} \
             bytes (error {})",
            rows.height,
            rows.width,
            info.element_bytes,
            pitches[0],
            rows.address,
            boxes.rows,
            boxes.columns,
            boxes.swizzle,
            status.0
        );
        return Err(Error::TensorMap { kernel, parameter, reason });
    }
    Ok(map.0)
}
