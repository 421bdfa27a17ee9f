//! Integer keys of numbers with an index: where the largest or the smallest of many values is.
//!
//! A reduction by `max` of plain numbers loses the place. A key has both in one `u64`: the number's
//! bits in an order that integers have, above the index. So [`Block::reduce`](crate::Block::reduce)
//! with `u64::max`, and a second launch over the blocks' results, find the place of the largest
//! value, in whatever order they combine the keys: of equal values it is the lowest index, always.
//!
//! The order is that of NumPy's and PyTorch's `argmax` and `argmin`: a NaN is what is looked for,
//! of whatever sign and payload, and -0.0 and 0.0 are equal.
//!
//! Everything here is arithmetic on its arguments, in a thread or in a block: a few integer
//! instructions a key. CUDA: CUB's `ArgMax` and `ArgMin` over `KeyValuePair`, which compare the
//! floats and so pass over NaNs.
//!
//! # Examples
//!
//! ```
//! use tilepipe::{Block, Tiles, TilesMut, kernel, key};
//!
//! /// The index of the largest of 64 numbers.
//! #[kernel]
//! pub fn where_largest(block: Block<64>, input: Tiles<f32, 64>, mut out: TilesMut<u32, 1>) {
//!     let keys = block.map(|t| key::argmax(input.at(t.rank()), t.rank() as u32));
//!     let largest = block.reduce(&keys, u64::max);
//!     let mut results = out.for_block(&block);
//!     let dst = results.get_mut(0);
//!     block.threads(|t| dst.set_each(&t, |_| key::argmax_index(largest)));
//! }
//!
//! # fn main() -> Result<(), tilepipe_host::Error> {
//! # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
//! # let mut values = vec![-1.0_f32; 64];
//! # (values[40], values[41]) = (5.0, 5.0);
//! # let (input, mut out) = (device.upload(&values)?, device.zeroed(1)?);
//! # where_largest::launch(&device.stream()?, 1, &input, &mut out)?;
//! # assert_eq!(out.download()?, [40]);
//! # Ok(())
//! # }
//! ```

/// A number of 32 bits that a key can have: `f32`, `i32` or `u32`. Sealed.
#[diagnostic::on_unimplemented(
    message = "a key has no room for `{Self}`",
    note = "a key's number is an `f32`, `i32` or `u32`: convert a smaller one; the upper half of the key is the number, the lower one its index"
)]
pub trait Keyed: sealed::Keyed {}

mod sealed {
    pub trait Keyed: Copy {
        /// Bits whose order as integers is that of the numbers; of equal numbers the same ones.
        fn ordered(self) -> u32;
        /// The number of these bits.
        fn of_ordered(bits: u32) -> Self;
        /// All ones if nothing is before it, neither among the largest nor among the smallest, and
        /// 0 otherwise: bits, so that a key has no branch.
        fn comes_first(self) -> u32;
    }
}

impl Keyed for u32 {}
impl sealed::Keyed for u32 {
    #[inline(always)]
    fn ordered(self) -> u32 {
        self
    }
    #[inline(always)]
    fn of_ordered(bits: u32) -> Self {
        bits
    }
    #[inline(always)]
    fn comes_first(self) -> u32 {
        0
    }
}

/// The sign bit of 32.
const SIGN: u32 = 1 << 31;

impl Keyed for i32 {}
impl sealed::Keyed for i32 {
    #[inline(always)]
    fn ordered(self) -> u32 {
        self.cast_unsigned() ^ SIGN
    }
    #[inline(always)]
    fn of_ordered(bits: u32) -> Self {
        (bits ^ SIGN).cast_signed()
    }
    #[inline(always)]
    fn comes_first(self) -> u32 {
        0
    }
}

impl Keyed for f32 {}
impl sealed::Keyed for f32 {
    /// A positive number's bits are in its order already, below those of negative ones; a negative
    /// one's are in the opposite order. -0.0 has the bits of 0.0.
    #[inline(always)]
    fn ordered(self) -> u32 {
        let bits = if self.to_bits() == SIGN { 0 } else { self.to_bits() };
        // All ones for a negative number.
        let negative = (bits.cast_signed() >> 31).cast_unsigned();
        bits ^ (negative | SIGN)
    }
    #[inline(always)]
    fn of_ordered(bits: u32) -> Self {
        let positive = (bits.cast_signed() >> 31).cast_unsigned();
        f32::from_bits(bits ^ (!positive | SIGN))
    }
    /// A NaN's bits without the sign are above those of infinity.
    #[inline(always)]
    fn comes_first(self) -> u32 {
        let magnitude = self.to_bits() & !SIGN;
        let below = f32::INFINITY.to_bits().cast_signed() - magnitude.cast_signed();
        (below >> 31).cast_unsigned()
    }
}

/// Returns the key of a value and its index, of which the largest is that of the largest value, at
/// the lowest index among equal ones.
///
/// Reduce keys with `u64::max`. Begin with 0, which no key of a float is below or equals: then the
/// result of no value at all has the index `u32::MAX`.
///
/// A NaN is above all, and all NaNs are equal.
#[inline(always)]
pub fn argmax<T: Keyed>(value: T, index: u32) -> u64 {
    let bits = value.ordered() | value.comes_first();
    u64::from(bits) << 32 | u64::from(!index)
}

/// Returns the index of a key of [`argmax`].
#[inline(always)]
pub fn argmax_index(key: u64) -> u32 {
    !(key as u32)
}

/// Returns the value of a key of [`argmax`]: the same number, 0.0 for -0.0, and some NaN for a NaN.
#[inline(always)]
pub fn argmax_value<T: Keyed>(key: u64) -> T {
    T::of_ordered((key >> 32) as u32)
}

/// Returns the key of a value and its index, of which the smallest is that of the smallest value,
/// at the lowest index among equal ones.
///
/// Reduce keys with `u64::min`. Begin with `u64::MAX`, which no key of a float is above or equals:
/// then the result of no value at all has the index `u32::MAX`.
///
/// A NaN is below all, and all NaNs are equal.
#[inline(always)]
pub fn argmin<T: Keyed>(value: T, index: u32) -> u64 {
    let bits = value.ordered() & !value.comes_first();
    u64::from(bits) << 32 | u64::from(index)
}

/// Returns the index of a key of [`argmin`].
#[inline(always)]
pub fn argmin_index(key: u64) -> u32 {
    key as u32
}

/// Returns the value of a key of [`argmin`]: the same number, 0.0 for -0.0, and some NaN for a NaN.
#[inline(always)]
pub fn argmin_value<T: Keyed>(key: u64) -> T {
    T::of_ordered((key >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Floats of every exponent and both signs, with some mantissas each: zeros, subnormal numbers,
    /// infinities and NaNs among them. They are in the order of their bits.
    fn floats() -> impl Iterator<Item = f32> + Clone {
        let mantissas = [0, 1, 2, 0x2a_aaaa, 0x3f_ffff, 0x40_0000, 0x40_0001, 0x7f_fffe, 0x7f_ffff];
        (0..1_u32 << 9).flat_map(move |top| mantissas.map(|mantissa| f32::from_bits(top << 23 | mantissa)))
    }

    /// Whether the first is what `argmax` of NumPy prefers, or neither.
    fn larger(a: f32, b: f32) -> Option<bool> {
        match (a.is_nan(), b.is_nan()) {
            (true, true) => None,
            (false, false) if a == b => None,
            (a_is_nan, b_is_nan) => Some(a_is_nan || (!b_is_nan && a > b)),
        }
    }

    #[test]
    fn keys_are_in_the_order_of_their_numbers_and_then_of_the_lowest_index() {
        for a in floats() {
            for b in floats() {
                let (first, second) = (argmax(a, 3), argmax(b, 4));
                assert_eq!(first > second, larger(a, b).unwrap_or(true), "{a:?} at 3, {b:?} at 4");
                assert_ne!(first, second);
            }
        }
    }

    #[test]
    fn least_keys_are_in_the_opposite_order_but_for_nans_and_indices() {
        let smaller = |a: f32, b: f32| if a.is_nan() || b.is_nan() { larger(a, b) } else { larger(b, a) };
        for a in floats() {
            for b in floats() {
                let (first, second) = (argmin(a, 3), argmin(b, 4));
                assert_eq!(first < second, smaller(a, b).unwrap_or(true), "{a:?} at 3, {b:?} at 4");
            }
        }
    }

    #[test]
    fn a_key_has_its_value_and_its_index() {
        for value in floats() {
            for index in [0, 1, 77, u32::MAX - 1, u32::MAX] {
                let (most, least) = (argmax(value, index), argmin(value, index));
                assert_eq!((argmax_index(most), argmin_index(least)), (index, index));
                for back in [argmax_value::<f32>(most), argmin_value(least)] {
                    // -0.0 comes back as 0.0, which it equals.
                    let same = if value == 0.0 { 0 } else { value.to_bits() };
                    assert!(back.to_bits() == same || (back.is_nan() && value.is_nan()), "{value:?}: {back:?}");
                }
                assert!(most > 0 && least < u64::MAX, "{value:?}: neither identity is a key");
            }
        }
    }

    #[test]
    fn every_float_has_a_place_between_its_neighbours() {
        // All 2^32 would take a while: every 251st, with the one after it.
        for bits in (0..u32::MAX).step_by(251) {
            let (one, next) = (f32::from_bits(bits), f32::from_bits(bits + 1));
            let (a, b) = (argmax(one, 0) >> 32, argmax(next, 0) >> 32);
            match larger(one, next) {
                None => assert_eq!(a, b, "{bits:x}"),
                Some(is_larger) => assert_eq!(a > b, is_larger, "{bits:x}"),
            }
        }
    }

    #[test]
    fn integers_are_in_their_own_order() {
        let numbers = [i32::MIN, i32::MIN + 1, -7, -1, 0, 1, 7, i32::MAX - 1, i32::MAX];
        for a in numbers {
            assert_eq!(argmax_value::<i32>(argmax(a, 9)), a);
            assert_eq!(argmin_value::<u32>(argmin(a as u32, 9)), a as u32);
            for b in numbers {
                assert_eq!(argmax(a, 3) > argmax(b, 4), a >= b);
                assert_eq!(argmin(a, 3) < argmin(b, 4), a <= b);
                assert_eq!(argmax(a as u32, 3) > argmax(b as u32, 4), a as u32 >= b as u32);
            }
        }
    }

    #[test]
    fn the_largest_of_many_is_the_one_that_a_plain_loop_finds() {
        let values = [3.0, f32::NEG_INFINITY, -0.0, 7.5, 0.0, 7.5, -1e-40, f32::INFINITY, -f32::NAN, f32::NAN];
        // Every set of them, in this order.
        for set in 1..1_u32 << values.len() {
            let kept: Vec<f32> = (0..values.len()).filter(|at| set >> at & 1 == 1).map(|at| values[at]).collect();
            let found =
                |key: fn(f32, u32) -> u64| kept.iter().enumerate().map(move |(at, value)| key(*value, at as u32));
            let first = |before: fn(f32, f32) -> bool| {
                let best = |best: usize, at: usize| {
                    let (old, new) = (kept[best], kept[at]);
                    if !old.is_nan() && (new.is_nan() || before(new, old)) { at } else { best }
                };
                (0..kept.len()).reduce(best).unwrap() as u32
            };
            assert_eq!(argmax_index(found(argmax).max().unwrap()), first(|new, old| new > old), "{kept:?}");
            assert_eq!(argmin_index(found(argmin).min().unwrap()), first(|new, old| new < old), "{kept:?}");
        }
    }
}
