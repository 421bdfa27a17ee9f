//! What leaves a role's closure.

use core::marker::PhantomData;

use super::group::RoleGroup;
use super::map::{Role, sealed as map};
use crate::barrier::Closed;
use crate::element::Element;
use crate::group::block::PerThread;
use crate::group::scratch::Scratch;
use crate::isa::{self, ROLES, WARPS};

/// What a role's closure can return: `()`, or plain data that all threads of the block get (an
/// element, `usize`, `bool`, or `Result<(), Closed>`, for closures that use `?`), or [`Kept`]
/// values. Sealed.
#[diagnostic::on_unimplemented(
    message = "the closure of a role can't return `{Self}`",
    label = "this leaves the role",
    note = "a role returns `()`, plain data of 1 to 16 bytes (an `Element`, `usize`, `bool`, `Result<(), Closed>`), which the whole block gets, or \
            values that its threads keep for another run of the role: `group.keep(values)`"
)]
pub trait RoleResult<R>: sealed::RoleResult<R> {}

pub(crate) mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is nothing that leaves a role: `RoleResult` is sealed",
        label = "not `()`, an `Element` or `Kept` values",
        note = "the block gets one thread's value, through 16 bytes of shared memory: derive `Element` for plain data of one's own"
    )]
    pub trait RoleResult<R>: Sized {
        /// Puts the result where all threads of the block find it.
        ///
        /// # Safety
        ///
        /// Called in role-level code of the role, once, before a barrier of the block.
        unsafe fn publish(&self);

        /// The result in every thread of the block, given that of its own role.
        ///
        /// # Safety
        ///
        /// Called by all threads of the block after that barrier and another one, and before a
        /// partition that follows.
        unsafe fn collect(own: Option<Self>) -> Self;
    }
}

impl<R: Role> RoleResult<R> for () {}
impl<R: Role> sealed::RoleResult<R> for () {
    #[inline(always)]
    unsafe fn publish(&self) {}
    #[inline(always)]
    unsafe fn collect(_: Option<()>) {}
}

impl<R: Role, T: Element> RoleResult<R> for T {}
impl<R: Role, T: Element> sealed::RoleResult<R> for T {
    #[inline(always)]
    unsafe fn publish(&self) {
        let slot = Scratch::<T>::of_result(slot::<R>());
        // SAFETY: the slot is this role's own and no collective's, so no slower thread of the role
        // still reads it; the other threads read it after the barrier.
        isa::for_first_member(<R as map::Role>::MEMBERS, || unsafe { slot.write_result(*self) });
    }

    #[inline(always)]
    unsafe fn collect(_: Option<T>) -> T {
        let slot = Scratch::<T>::of_result(slot::<R>());
        // SAFETY: written before the barriers by `publish`; the slot is used for nothing else, and
        // the next partition uses it only after the barrier with which it begins. (One barrier
        // would suffice, but compute-sanitizer's racecheck misses some single ones:
        // docs/decisions/29.)
        unsafe { slot.read_result() }
    }
}

/// Results that travel as an element.
macro_rules! as_elements {
    ($($result:ty as $element:ty: $to:expr, $from:expr;)*) => {$(
        impl<R: Role> RoleResult<R> for $result {}
        impl<R: Role> sealed::RoleResult<R> for $result {
            #[inline(always)]
            unsafe fn publish(&self) {
                let element: $element = $to(*self);
                // SAFETY: the caller's promise.
                unsafe { <$element as sealed::RoleResult<R>>::publish(&element) };
            }

            #[inline(always)]
            unsafe fn collect(own: Option<Self>) -> Self {
                // SAFETY: the caller's promise.
                $from(unsafe { <$element as sealed::RoleResult<R>>::collect(own.map($to)) })
            }
        }
    )*};
}
as_elements! {
    usize as u64: |count| count as u64, |count| count as usize;
    bool as u32: u32::from, |word| word != 0;
    Result<(), Closed> as u32: |result: Result<(), Closed>| u32::from(result.is_err()), |word| if word == 0 { Ok(()) } else { Err(Closed) };
}

/// The slot of what leaves the role. It lies after those of its collectives' results, which slower
/// threads may still be reading.
const fn slot<R: Role>() -> usize {
    WARPS + 1 + ROLES + <R as map::Role>::INDEX as usize
}

/// One `T` for each thread of a role, between two runs of that role: made by [`RoleGroup::keep`],
/// read by [`RoleGroup::resume`].
///
/// It stays in the role's registers; the other threads of the block have zeros in its place, so
/// only the same role of the same map gets it back.
pub struct Kept<R, T, const SIZE: usize> {
    values: isa::PerThread<T, SIZE>,
    role: PhantomData<R>,
}

impl<R: Role, T: Element, const SIZE: usize> RoleResult<R> for Kept<R, T, SIZE> {}
impl<R: Role, T: Element, const SIZE: usize> sealed::RoleResult<R> for Kept<R, T, SIZE> {
    #[inline(always)]
    unsafe fn publish(&self) {}

    #[inline(always)]
    unsafe fn collect(own: Option<Self>) -> Self {
        own.unwrap_or_else(|| Kept { values: isa::PerThread::filled(T::zeroed()), role: PhantomData })
    }
}

impl<'r, R: Role, const SIZE: usize> RoleGroup<'r, R, SIZE> {
    /// Takes values that each thread of the role has one of out of the role's closure. They can be
    /// handed to the same role of another partition by the same map. It lowers to nothing.
    #[inline(always)]
    pub fn keep<T: Element>(&self, values: PerThread<'r, T, SIZE>) -> Kept<R, T, SIZE> {
        Kept { values: values.values, role: PhantomData }
    }

    /// Returns the values that each thread of the role has kept.
    #[inline(always)]
    pub fn resume<T: Element>(&self, kept: Kept<R, T, SIZE>) -> PerThread<'r, T, SIZE> {
        PerThread::from_values(kept.values)
    }
}
