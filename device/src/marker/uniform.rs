//! Which values a per-thread closure may capture.

use core::cell::UnsafeCell;

/// A value that is the same in every thread of a block and stays so while per-thread closures run.
///
/// All that a per-thread closure captures must be `Uniform`. That is how a closure can neither let
/// a thread-dependent value out (through a `Cell`, an atomic, a `&mut` or a raw pointer) nor reach
/// a collective operation (through the [`Block`](crate::Block), a pipeline or a stage that is being
/// filled). It is an auto trait: types made of uniform parts are uniform; the exceptions are listed
/// here.
///
/// # Safety
///
/// An implementation promises three things of the type:
///
/// 0. nothing in it can be written through a shared reference, except storage that belongs to one
///    thread and is reached with that thread's [`Thread`](crate::Thread) token, or by commutative
///    updates of memory that nobody can read while a shared reference exists;
/// 1. no collective operation can be called through a shared reference to it;
/// 2. it can be used on another OS thread than the one that made it, as long as only one uses it at
///    a time: on the CPU each role of a block runs on an OS thread of its own. A type that is bound
///    to its OS thread (the guard of a lock, a handle to a thread-local) mostly holds a raw pointer
///    or a cell, and is denied for that reason. A type that holds neither, such as a token with
///    nothing but `impl !Send`, must say `impl !Uniform` as well.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be captured by a closure that runs per thread, per warp or per role",
    label = "captured here, but every thread, warp or role runs a closure for itself",
    note = "threads, warps and roles take different paths through a closure: a collective operation (a sync, a pipeline step) would \
            hang there, and a value written there would differ from one to the other",
    note = "do collective steps outside of the closure: the block's outside `block.threads(..)`, `block.warps(..)` and `.role(..)`, a \
            warp's outside `warp.lanes(..)`, a role's outside `group.threads(..)`; carry one value a thread in `PerThread` (`block.map`, \
            `block.update`); write results through a `TileMut`; what a role works out is its closure's result, and its output is handed to \
            it, `.role(&mut out, ..)`"
)]
pub unsafe auto trait Uniform {}

impl<T: ?Sized> !Uniform for UnsafeCell<T> {}
impl<T: ?Sized> !Uniform for &mut T {}
impl<T: ?Sized> !Uniform for *const T {}
impl<T: ?Sized> !Uniform for *mut T {}

// These are denied by what they are made of. They are named here so that error messages name them.
// (Atomics can't be named: newer compilers make them aliases of one generic type.)
impl<T: ?Sized> !Uniform for core::cell::Cell<T> {}
impl<T: ?Sized> !Uniform for core::cell::RefCell<T> {}
impl<T> !Uniform for core::cell::OnceCell<T> {}
impl !Uniform for core::fmt::Arguments<'_> {}

// SAFETY: (0) a shared iterator yields nothing and can't be advanced without `&mut`, and the items
// that a clone of it yields are `&T` of a uniform `T`; (1) it has no collective operation. Its raw
// pointers are why the auto trait alone does not cover it.
unsafe impl<T: Uniform> Uniform for core::slice::Iter<'_, T> {}
