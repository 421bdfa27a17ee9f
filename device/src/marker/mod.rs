//! What types say about themselves: who may capture a value, which brand it has, and in which level
//! of code it lives. Every other module may ask.

mod role_shared;
mod uniform;

use core::marker::PhantomData;

pub use role_shared::RoleShared;
pub use uniform::Uniform;

/// An invariant lifetime: two brands of different lifetimes are different types.
pub(crate) type Brand<'b> = PhantomData<fn(&'b ()) -> &'b ()>;
/// Keeps the holder on its OS thread and in block-level code: it is neither `Send` nor `Sync`, nor
/// `Uniform`. (Each holder denies `Uniform` once more by name, so that messages name the holder.)
pub(crate) type BlockLevel = PhantomData<*mut ()>;

/// Seals the traits that exist for their messages about indexing: a type that implemented one could
/// index what is not to be indexed, so no type does.
pub trait NoPosition {}

/// Types that a type's name has, but that it holds no value of: no auto trait asks for theirs.
pub(crate) type Named<T> = PhantomData<fn() -> T>;
