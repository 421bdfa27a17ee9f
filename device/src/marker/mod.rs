//! What types say about themselves, for all others to ask: who may capture a value, whose brand it
//! has, and in which code it is.

mod role_shared;
mod uniform;

use core::marker::PhantomData;

pub use role_shared::RoleShared;
pub use uniform::Uniform;

/// An invariant lifetime: two brands of different lifetimes are different types.
pub(crate) type Brand<'b> = PhantomData<fn(&'b ()) -> &'b ()>;
/// Keeps the holder on its OS thread and in block-level code: neither `Send` nor `Sync`, nor
/// `Uniform` (which each holder denies once more by name, so that messages name it).
pub(crate) type BlockLevel = PhantomData<*mut ()>;
