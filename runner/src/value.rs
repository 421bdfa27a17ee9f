//! Element types as the runner sees them: lanes of plain numbers with the arithmetic of the references.

use std::fmt::{self, Debug, Display};
use std::str::FromStr;

use ndarray_npy::{ReadableElement, WritableElement};
use tilepipe::{Element, Vec4};

/// The name of an element type, as `--dtype` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    /// `i32`
    I32,
    /// `u32`
    U32,
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// Four `i32` in 16 bytes.
    I32x4,
    /// Four `u32` in 16 bytes.
    U32x4,
    /// Four `f32` in 16 bytes.
    F32x4,
}

impl DType {
    /// Every element type.
    pub const ALL: [DType; 7] =
        [DType::I32, DType::U32, DType::F32, DType::F64, DType::I32x4, DType::U32x4, DType::F32x4];

    /// The name, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            DType::I32 => "i32",
            DType::U32 => "u32",
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::I32x4 => "i32x4",
            DType::U32x4 => "u32x4",
            DType::F32x4 => "f32x4",
        }
    }

    /// One element's size in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            DType::I32 | DType::U32 | DType::F32 => 4,
            DType::F64 => 8,
            DType::I32x4 | DType::U32x4 | DType::F32x4 => 16,
        }
    }

    /// Numbers in one element: 1, or 4 for a vector.
    pub const fn lanes(self) -> usize {
        match self {
            DType::I32 | DType::U32 | DType::F32 | DType::F64 => 1,
            DType::I32x4 | DType::U32x4 | DType::F32x4 => 4,
        }
    }
}

impl Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Lower or upper case; a kernel's generic argument may also be spelled `Vec4<i32>`.
impl FromStr for DType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.to_ascii_lowercase();
        let vector = name.strip_prefix("vec4<").and_then(|rest| rest.strip_suffix('>')).map(|lane| format!("{lane}x4"));
        let name = vector.unwrap_or(name);
        DType::ALL.into_iter().find(|dtype| dtype.name() == name).ok_or_else(|| {
            let known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
            format!("unknown element type `{text}`; choose one of {}", known.join(", "))
        })
    }
}

/// A number: one lane of an element.
pub trait Scalar:
    Copy + Debug + Display + Send + Sync + PartialEq + ReadableElement + WritableElement + 'static
{
    /// Zero, which stands for every element beyond the ends of the data.
    const ZERO: Self;

    /// Makes a number from 64 random bits. Integers use their whole range, floats lie between -1000 and 1000.
    fn generate(bits: u64) -> Self;

    /// `3 * own + next`; integers wrap, floats round after the product and after the sum.
    fn neighbour_sum(own: Self, next: Self) -> Self;

    /// The sum of two numbers; integers wrap.
    fn plus(self, other: Self) -> Self;

    /// A sum over the window divided by its size: integers truncate, floats multiply by the rounded reciprocal.
    fn mean_of_window(sum: Self, taps: u32) -> Self;

    /// Whether both are the same bits, or both are NaN.
    fn same(self, other: Self) -> bool;
}

/// An element: plain data that kernels take, seen as [`Scalar`] lanes.
pub trait Value: Element + Copy + Debug + Send + Sync {
    /// The type of each lane.
    type Lane: Scalar;

    /// This type's name.
    const DTYPE: DType;

    /// Makes an element from its lanes; lane indices run from 0 to [`DType::lanes`].
    fn from_lanes(lane: impl FnMut(usize) -> Self::Lane) -> Self;

    /// Returns lane `index`.
    ///
    /// # Panics
    ///
    /// If the element has no such lane.
    fn lane(&self, index: usize) -> Self::Lane;

    /// Whether all lanes are the same bits, or NaN in both.
    fn same(&self, other: &Self) -> bool {
        (0..Self::DTYPE.lanes()).all(|lane| self.lane(lane).same(other.lane(lane)))
    }

    /// The element as text: `7`, or `[1, 2, 3, 4]`.
    fn text(&self) -> String {
        let lanes: Vec<String> = (0..Self::DTYPE.lanes()).map(|lane| format!("{:?}", self.lane(lane))).collect();
        if lanes.len() == 1 { lanes.concat() } else { format!("[{}]", lanes.join(", ")) }
    }
}

macro_rules! integer {
    ($($number:ty),*) => {$(
        impl Scalar for $number {
            const ZERO: Self = 0;

            fn generate(bits: u64) -> Self {
                (bits >> 32) as $number
            }

            fn neighbour_sum(own: Self, next: Self) -> Self {
                own.wrapping_mul(3).wrapping_add(next)
            }

            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn mean_of_window(sum: Self, taps: u32) -> Self {
                sum / taps as $number
            }

            fn same(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}

macro_rules! float {
    ($($number:ty),*) => {$(
        impl Scalar for $number {
            const ZERO: Self = 0.0;

            fn generate(bits: u64) -> Self {
                let unit = (bits >> 11) as f64 / (1u64 << 53) as f64;
                (unit * 2000.0 - 1000.0) as $number
            }

            fn neighbour_sum(own: Self, next: Self) -> Self {
                let product = 3.0 * own;
                product + next
            }

            fn plus(self, other: Self) -> Self {
                self + other
            }

            fn mean_of_window(sum: Self, taps: u32) -> Self {
                sum * (1.0 / taps as $number)
            }

            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }
        }
    )*};
}

macro_rules! value {
    ($($number:ty, $scalar:ident, $vector:ident;)*) => {$(
        impl Value for $number {
            type Lane = $number;
            const DTYPE: DType = DType::$scalar;

            fn from_lanes(mut lane: impl FnMut(usize) -> $number) -> Self {
                lane(0)
            }

            fn lane(&self, index: usize) -> $number {
                [*self][index]
            }
        }

        impl Value for Vec4<$number> {
            type Lane = $number;
            const DTYPE: DType = DType::$vector;

            fn from_lanes(lane: impl FnMut(usize) -> $number) -> Self {
                Vec4(std::array::from_fn(lane))
            }

            fn lane(&self, index: usize) -> $number {
                self.0[index]
            }
        }
    )*};
}

integer!(i32, u32);
float!(f32, f64);
value! {
    i32, I32, I32x4;
    u32, U32, U32x4;
    f32, F32, F32x4;
}

impl Value for f64 {
    type Lane = f64;
    const DTYPE: DType = DType::F64;

    fn from_lanes(mut lane: impl FnMut(usize) -> f64) -> Self {
        lane(0)
    }

    fn lane(&self, index: usize) -> f64 {
        [*self][index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sizes_agree_with_the_types() {
        fn check<T: Value>() {
            assert_eq!(size_of::<T>(), T::DTYPE.bytes());
            assert_eq!(size_of::<T::Lane>() * T::DTYPE.lanes(), T::DTYPE.bytes());
            assert_eq!(T::DTYPE.name().parse::<DType>(), Ok(T::DTYPE));
        }
        check::<i32>();
        check::<u32>();
        check::<f32>();
        check::<f64>();
        check::<Vec4<i32>>();
        check::<Vec4<u32>>();
        check::<Vec4<f32>>();
    }

    #[test]
    fn generic_arguments_spell_vectors_in_several_ways() {
        assert_eq!("I32x4".parse::<DType>(), Ok(DType::I32x4));
        assert_eq!("Vec4<f32>".parse::<DType>(), Ok(DType::F32x4));
        assert!("f16".parse::<DType>().unwrap_err().contains("f32x4"));
    }

    #[test]
    fn sameness_is_by_bits_but_for_nan() {
        assert!(!Scalar::same(0.0f32, -0.0));
        assert!(Scalar::same(f32::NAN, f32::from_bits(0x7fc0_1234)));
        assert!(!Scalar::same(f64::NAN, 1.0));
        assert!(!Vec4([1, 2, 3, 4]).same(&Vec4([1, 2, 3, 5])));
    }
}
