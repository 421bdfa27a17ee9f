//! From the name of an element type to the type.

use tilepipe::launch::Instance;
use tilepipe::{F32x4, I32x4, U32x4, bf16, f16};
use tilepipe_kernel_elements::{Complex, Float3};

use crate::value::Value;

pub use tilepipe_runner_cli::DType;

/// Something to do with elements whose type is known at run time.
pub trait ForType {
    /// What comes of it.
    type Output;

    /// Does it.
    fn call<T: Value>(self) -> Self::Output;
}

/// Calls `body` with the type of that name.
pub fn with_type<B: ForType>(dtype: DType, body: B) -> B::Output {
    match dtype {
        DType::U8 => body.call::<u8>(),
        DType::I8 => body.call::<i8>(),
        DType::U16 => body.call::<u16>(),
        DType::I16 => body.call::<i16>(),
        DType::I32 => body.call::<i32>(),
        DType::U32 => body.call::<u32>(),
        DType::I64 => body.call::<i64>(),
        DType::U64 => body.call::<u64>(),
        DType::I128 => body.call::<i128>(),
        DType::U128 => body.call::<u128>(),
        DType::F16 => body.call::<f16>(),
        DType::BF16 => body.call::<bf16>(),
        DType::F32 => body.call::<f32>(),
        DType::F64 => body.call::<f64>(),
        DType::I32x4 => body.call::<I32x4>(),
        DType::U32x4 => body.call::<U32x4>(),
        DType::F32x4 => body.call::<F32x4>(),
        DType::Float3 => body.call::<Float3>(),
        DType::Complex => body.call::<Complex>(),
    }
}

/// Returns an instance's element type: its generic argument `T`, or that of its first view where it
/// has none; `None` if it is not one of the runner's.
pub fn of_instance(instance: &Instance) -> Option<DType> {
    let of_first_view = || instance.parameters().next().map(|(_, info)| (info.element_name)());
    instance.generic("T").or_else(of_first_view)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Agrees(DType);

    impl ForType for Agrees {
        type Output = ();

        fn call<T: Value>(self) {
            assert_eq!(T::DTYPE, self.0);
            assert_eq!(size_of::<T>(), T::DTYPE.bytes());
            assert_eq!(size_of::<T::Lane>() * T::DTYPE.lanes(), T::DTYPE.bytes());
            assert_eq!(T::DTYPE.name().parse::<DType>(), Ok(T::DTYPE));
        }
    }

    #[test]
    fn names_and_sizes_agree_with_the_types() {
        for dtype in DType::ALL {
            with_type(dtype, Agrees(dtype));
        }
    }
}
