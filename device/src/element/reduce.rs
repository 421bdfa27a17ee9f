//! Operations by which values are combined with what an array or a bin holds, for
//! [`Reduction`](crate::Reduction) and [`Bins`](crate::Bins) (by threads) and for
//! [`TileReduction`](crate::TileReduction) (by the copy engine).
//!
//! Which of them exist of which elements is said by
//! [`AtomicOperation`](crate::AtomicOperation) and by [`Operation`](crate::Operation).

use core::marker::PhantomData;

/// The sum; of integers it wraps.
pub enum Add {}
/// The lesser.
pub enum Min {}
/// The greater.
pub enum Max {}
/// Bit by bit, and.
pub enum And {}
/// Bit by bit, or.
pub enum Or {}
/// Bit by bit, exclusive or.
pub enum Xor {}

/// An operation whose result depends on the order in which values come: sums of floats, which
/// round. A launch may return another result than the one before.
///
/// Subnormal numbers are kept, but for `f32` in a [`Reduction`](crate::Reduction): there they count
/// as zeros.
///
/// # Examples
///
/// ```
/// use tilepipe::reduce::{Add, Unordered};
/// use tilepipe::{Block, Reduction, Tiles, f16, kernel};
///
/// /// The sum of all numbers.
/// #[kernel]
/// fn sum(block: Block<64>, numbers: Tiles<f16, 64>, out: Reduction<f16, Unordered<Add>>) {
///     let first = 64 * block.index();
///     block.threads(|t| {
///         if let Some(number) = numbers.get(first + t.rank()) {
///             out.add(&t, 0, number);
///         }
///     });
/// }
///
/// fn main() -> Result<(), tilepipe_host::Error> {
///     let device = tilepipe_host::Device::cpu(Default::default());
///     // All sums of some of these are multiples of a quarter below 512, which an `f16` has.
///     let input = device.upload(&[f16::from_f32(1.25); 200])?;
///     let mut out = device.zeroed::<f16>(1)?;
///     sum::launch(&device.stream()?, 4, &input, &mut out)?;
///     assert_eq!(out.download()?, [f16::from_f32(250.0)]);
///     Ok(())
/// }
/// ```
pub struct Unordered<O>(PhantomData<O>);
