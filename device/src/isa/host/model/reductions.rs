//! The model of the copy engine's operations on elements of global memory.

use std::sync::Mutex;

use half::{bf16, f16};

use crate::isa::{ElementKind, Reduce};

/// Blocks run on several OS threads: one piece at a time is combined.
static ENGINE: Mutex<()> = Mutex::new(());

/// Combines the elements of `data` with those at `to`.
///
/// # Safety
///
/// As many bytes at `to` are valid for reads and writes, and whoever else accesses them meanwhile
/// calls this function.
pub(super) unsafe fn combine(to: *mut u8, data: &[u8], reduce: Reduce, kind: ElementKind) {
    let _engine = ENGINE.lock();
    // SAFETY: the caller's promise; one thread at a time is here.
    let there = unsafe { std::slice::from_raw_parts_mut(to, data.len()) };
    combined(there, data, reduce, kind);
}

/// Combines the elements of `data` with as many others.
pub(in crate::isa::host) fn combined(there: &mut [u8], data: &[u8], reduce: Reduce, kind: ElementKind) {
    match kind {
        ElementKind::U32 => {
            each(there, data, |a, b| integer(reduce, u32::from_le_bytes(a), u32::from_le_bytes(b)).to_le_bytes())
        }
        ElementKind::I32 => {
            each(there, data, |a, b| integer(reduce, i32::from_le_bytes(a), i32::from_le_bytes(b)).to_le_bytes())
        }
        ElementKind::U64 => {
            each(there, data, |a, b| integer(reduce, u64::from_le_bytes(a), u64::from_le_bytes(b)).to_le_bytes())
        }
        ElementKind::I64 => {
            each(there, data, |a, b| integer(reduce, i64::from_le_bytes(a), i64::from_le_bytes(b)).to_le_bytes())
        }
        ElementKind::F32 => each(there, data, |a, b| (f32::from_le_bytes(a) + f32::from_le_bytes(b)).to_le_bytes()),
        ElementKind::F64 => each(there, data, |a, b| (f64::from_le_bytes(a) + f64::from_le_bytes(b)).to_le_bytes()),
        // As if rounded once. The sum of two halves need not be exact in an `f32`, but its 24 bits
        // are twice those of a half and two more: rounding to them first changes nothing.
        ElementKind::F16 => each(there, data, |a, b| {
            f16::from_f32(f16::from_le_bytes(a).to_f32() + f16::from_le_bytes(b).to_f32()).to_le_bytes()
        }),
        // Here it need not be exact; in an `f64` it is, and `from_f64` rounds once.
        ElementKind::Bf16 => each(there, data, |a, b| {
            bf16::from_f64(bf16::from_le_bytes(a).to_f64() + bf16::from_le_bytes(b).to_f64()).to_le_bytes()
        }),
        ElementKind::Bits => unreachable!("bits are copied"),
    }
}

/// Combines elements of `N` bytes.
fn each<const N: usize>(there: &mut [u8], data: &[u8], combined: impl Fn([u8; N], [u8; N]) -> [u8; N]) {
    for (there, new) in there.as_chunks_mut::<N>().0.iter_mut().zip(data.as_chunks::<N>().0) {
        *there = combined(*there, *new);
    }
}

/// What both kinds of integers have.
trait Integer: Ord + Copy {
    fn plus(self, other: Self) -> Self;
    fn bits(self, other: Self, operation: fn(u64, u64) -> u64) -> Self;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Integer for $integer {
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn bits(self, other: Self, operation: fn(u64, u64) -> u64) -> Self {
                operation(self as u64, other as u64) as $integer
            }
        }
    )*};
}
integers!(u32, i32, u64, i64);

fn integer<I: Integer>(reduce: Reduce, a: I, b: I) -> I {
    match reduce {
        Reduce::Add => a.plus(b),
        Reduce::Min => a.min(b),
        Reduce::Max => a.max(b),
        Reduce::And => a.bits(b, |a, b| a & b),
        Reduce::Or => a.bits(b, |a, b| a | b),
        Reduce::Xor => a.bits(b, |a, b| a ^ b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combined<const N: usize>(mut there: [u8; N], new: [u8; N], reduce: Reduce, kind: ElementKind) -> [u8; N] {
        // SAFETY: an array of this test.
        unsafe { combine(there.as_mut_ptr(), &new, reduce, kind) };
        there
    }

    #[test]
    fn integers_wrap_and_compare_as_what_they_are() {
        use ElementKind::{I32, I64, U32, U64};
        let of =
            |a: i32, b: i32, reduce, kind| i32::from_le_bytes(combined(a.to_le_bytes(), b.to_le_bytes(), reduce, kind));
        assert_eq!(of(i32::MAX, 2, Reduce::Add, I32), i32::MIN + 1);
        assert_eq!((of(-1, 3, Reduce::Min, I32), of(-1, 3, Reduce::Max, I32)), (-1, 3));
        assert_eq!((of(-1, 3, Reduce::Min, U32), of(-1, 3, Reduce::Max, U32)), (3, -1));
        assert_eq!([Reduce::And, Reduce::Or, Reduce::Xor].map(|reduce| of(-4, 6, reduce, I32)), [4, -2, -6]);
        let of =
            |a: i64, b: i64, reduce, kind| i64::from_le_bytes(combined(a.to_le_bytes(), b.to_le_bytes(), reduce, kind));
        assert_eq!((of(-1, 3, Reduce::Min, I64), of(-1, 3, Reduce::Min, U64)), (-1, 3));
        assert_eq!(of(-1 << 40, 1 << 40, Reduce::Add, U64), 0);
        assert_eq!(of(-1 << 40, 1 << 40, Reduce::Xor, I64), (-1 << 40) ^ (1 << 40));
    }

    #[test]
    fn sums_of_floats_are_rounded_once_and_keep_subnormal_numbers() {
        let f32s = |a: f32, b: f32| {
            f32::from_le_bytes(combined(a.to_le_bytes(), b.to_le_bytes(), Reduce::Add, ElementKind::F32))
        };
        assert_eq!(f32s(1.5, 2.25), 3.75);
        assert_eq!(f32s(f32::from_bits(1), f32::from_bits(2)), f32::from_bits(3));
        assert_eq!(f32s(f32::MIN_POSITIVE * 1.5, -f32::MIN_POSITIVE), f32::MIN_POSITIVE / 2.0);
        let f64s = |a: f64, b: f64| {
            f64::from_le_bytes(combined(a.to_le_bytes(), b.to_le_bytes(), Reduce::Add, ElementKind::F64))
        };
        assert_eq!(f64s(1.5, 2.25), 3.75);
        assert_eq!(f64s(f64::from_bits(1), f64::from_bits(2)), f64::from_bits(3));
        let halves = |a: f16, b: f16| {
            f16::from_le_bytes(combined(a.to_le_bytes(), b.to_le_bytes(), Reduce::Add, ElementKind::F16))
        };
        assert_eq!(halves(f16::from_f32(2048.0), f16::from_f32(1.0)), f16::from_f32(2048.0));
        assert_eq!(halves(f16::from_bits(1), f16::from_bits(1)), f16::from_bits(2));
        // The `f32` in between is rounded, too.
        let (greatest, least) = (f16::MAX, f16::from_bits(1));
        assert_eq!((halves(greatest, least), halves(greatest, -least)), (greatest, greatest));
        let brains = |a: bf16, b: bf16| {
            bf16::from_le_bytes(combined(a.to_le_bytes(), b.to_le_bytes(), Reduce::Add, ElementKind::Bf16))
        };
        assert_eq!(brains(bf16::from_f32(256.0), bf16::from_f32(3.0)), bf16::from_f32(260.0));
    }

    /// A finite half as a multiple of the least one.
    fn multiple(half: f16) -> i64 {
        let (exponent, digits) = (half.to_bits() >> 10 & 0x1F, i64::from(half.to_bits() & 0x3FF));
        let size = if exponent == 0 { digits } else { (digits | 0x400) << (exponent - 1) };
        if half.is_sign_negative() { -size } else { size }
    }

    /// The bits, without a sign, of the half next to this multiple of the least one; of two the
    /// even one.
    fn nearest(multiple: i64) -> u16 {
        let size = multiple.unsigned_abs();
        let cut = (64 - size.leading_zeros()).saturating_sub(11);
        let (kept, rest, tie) = (size >> cut, size & ((1 << cut) - 1), (1 << cut) / 2);
        let up = cut > 0 && (rest > tie || rest == tie && kept & 1 == 1);
        // The first of eleven digits is that by which the exponent grows, from the last one to
        // infinity.
        ((u64::from(cut) << 10) + kept + u64::from(up)).min(0x7C00) as u16
    }

    #[test]
    fn every_half_and_those_at_the_borders_have_the_sum_of_whole_numbers_rounded_to_even() {
        let borders =
            [0, 1, 2, 0x3FF, 0x400, 0x401, 0x7FF, 0x800, 0x1400, 0x3BFF, 0x3C00, 0x3C01, 0x6800, 0x7BFE, 0x7BFF];
        for a in (0..=u16::MAX).map(f16::from_bits).filter(|half| half.is_finite()) {
            for b in borders.into_iter().flat_map(|bits| [bits, bits | 0x8000]).map(f16::from_bits) {
                let sum = f16::from_le_bytes(combined(a.to_le_bytes(), b.to_le_bytes(), Reduce::Add, ElementKind::F16));
                let exact = multiple(a) + multiple(b);
                // Zeros of one sign keep it.
                let negative = exact < 0 || exact == 0 && a.is_sign_negative() && b.is_sign_negative();
                assert_eq!(sum.to_bits(), nearest(exact) | u16::from(negative) << 15, "{a:e} and {b:e}");
            }
        }
    }
}
