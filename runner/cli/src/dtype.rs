//! The names of the element types.

use std::fmt::{self, Display};
use std::str::FromStr;

/// The name of an element type, as `--dtype` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    /// `u8`
    U8,
    /// `i8`
    I8,
    /// `u16`
    U16,
    /// `i16`
    I16,
    /// `i32`
    I32,
    /// `u32`
    U32,
    /// `i64`
    I64,
    /// `u64`
    U64,
    /// `i128`
    I128,
    /// `u128`
    U128,
    /// `f16`, CUDA's `__half`.
    F16,
    /// `bf16`, CUDA's `__nv_bfloat16`.
    BF16,
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
    /// Three `f32` in 12 bytes, CUDA's `float3`.
    Float3,
    /// A complex number of two `f32`, a struct of the kernel crate.
    Complex,
}

/// What is known of one element type.
struct Facts {
    dtype: DType,
    name: &'static str,
    bytes: usize,
    lanes: usize,
    numpy: Option<&'static str>,
}

/// All element types. Where lanes share a NumPy type with a number, an array has one dimension
/// more; a complex number has a NumPy type of its own.
const FACTS: [Facts; 19] = {
    const fn facts(dtype: DType, name: &'static str, bytes: usize, lanes: usize, numpy: &'static str) -> Facts {
        Facts { dtype, name, bytes, lanes, numpy: Some(numpy) }
    }
    const fn unknown_to_numpy(dtype: DType, name: &'static str, bytes: usize) -> Facts {
        Facts { dtype, name, bytes, lanes: 1, numpy: None }
    }
    [
        facts(DType::U8, "u8", 1, 1, "|u1"),
        facts(DType::I8, "i8", 1, 1, "|i1"),
        facts(DType::U16, "u16", 2, 1, "<u2"),
        facts(DType::I16, "i16", 2, 1, "<i2"),
        facts(DType::I32, "i32", 4, 1, "<i4"),
        facts(DType::U32, "u32", 4, 1, "<u4"),
        facts(DType::I64, "i64", 8, 1, "<i8"),
        facts(DType::U64, "u64", 8, 1, "<u8"),
        unknown_to_numpy(DType::I128, "i128", 16),
        unknown_to_numpy(DType::U128, "u128", 16),
        facts(DType::F16, "f16", 2, 1, "<f2"),
        unknown_to_numpy(DType::BF16, "bf16", 2),
        facts(DType::F32, "f32", 4, 1, "<f4"),
        facts(DType::F64, "f64", 8, 1, "<f8"),
        facts(DType::I32x4, "i32x4", 16, 4, "<i4"),
        facts(DType::U32x4, "u32x4", 16, 4, "<u4"),
        facts(DType::F32x4, "f32x4", 16, 4, "<f4"),
        facts(DType::Float3, "float3", 12, 3, "<f4"),
        facts(DType::Complex, "complex", 8, 2, "<c8"),
    ]
};

impl DType {
    /// Every element type.
    pub const ALL: [DType; FACTS.len()] = {
        let mut all = [DType::U8; FACTS.len()];
        let mut index = 0;
        while index < FACTS.len() {
            all[index] = FACTS[index].dtype;
            // `FACTS` is indexed by the type.
            assert!(all[index] as usize == index);
            index += 1;
        }
        all
    };

    const fn facts(self) -> &'static Facts {
        const TABLE: &[Facts] = &FACTS;
        &TABLE[self as usize]
    }

    /// The name, in lower case.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// One element's size in bytes.
    pub const fn bytes(self) -> usize {
        self.facts().bytes
    }

    /// Numbers in one element: 1, or more for a vector or a complex number.
    pub const fn lanes(self) -> usize {
        self.facts().lanes
    }

    /// NumPy's spelling of the type of an array of such elements, and the array's last dimension if
    /// a vector has one of its own. `None` for `i128`, `u128` and `bf16`, which NumPy does not
    /// have.
    pub fn numpy(self) -> Option<(&'static str, Option<usize>)> {
        let lanes = (self.lanes() > 1 && self != DType::Complex).then_some(self.lanes());
        self.facts().numpy.map(|descriptor| (descriptor, lanes))
    }
}

impl Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Lower or upper case. A kernel's generic argument may also be a path, and be spelled `Vec4<i32>`
/// or `[f32; 3]`.
impl FromStr for DType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let last = text.rsplit("::").next().unwrap_or(text);
        let mut name: String = last.to_ascii_lowercase().split_whitespace().collect();
        if let Some(lane) = name.strip_prefix("vec4<").and_then(|rest| rest.strip_suffix('>')) {
            name = format!("{lane}x4");
        } else if name == "[f32;3]" {
            name = DType::Float3.name().to_owned();
        }
        DType::ALL.into_iter().find(|dtype| dtype.name() == name).ok_or_else(|| {
            let known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
            format!("unknown element type `{text}`; choose one of {}", known.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_arguments_spell_types_in_several_ways() {
        assert_eq!("I32x4".parse::<DType>(), Ok(DType::I32x4));
        assert_eq!("Vec4<f32>".parse::<DType>(), Ok(DType::F32x4));
        assert_eq!("[f32;3]".parse::<DType>(), Ok(DType::Float3));
        assert_eq!("[f32; 3]".parse::<DType>(), Ok(DType::Float3));
        assert_eq!("compute::Complex".parse::<DType>(), Ok(DType::Complex));
        assert!("f8".parse::<DType>().unwrap_err().contains("f32x4"));
    }

    #[test]
    fn numpy_has_a_dimension_for_the_lanes_of_a_vector() {
        assert_eq!(DType::Float3.numpy(), Some(("<f4", Some(3))));
        assert_eq!(DType::Complex.numpy(), Some(("<c8", None)));
        assert_eq!(DType::U8.numpy(), Some(("|u1", None)));
        assert_eq!(DType::BF16.numpy(), None);
    }
}
