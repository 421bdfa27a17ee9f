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
pub struct Unordered<O>(PhantomData<O>);
