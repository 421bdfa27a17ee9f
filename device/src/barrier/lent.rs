//! The state of an end, lent to it by the scope function.

use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use super::protocol::EndState;

/// A `&'r mut EndState` without a niche.
///
/// An enum around a reference keeps its discriminant in the null-pointer niche. The compiler for
/// the GPU then loses track of where the reference points, and the state stays in local memory
/// instead of registers. For the same reason the ends, and the types that hold one, are `repr(C)`
/// with the end after 8 bytes of other fields. So the variants of
/// `Result<Ready, Unready<Consumer>>` have the end at the same offset, after the tag of `Unready`.
///
/// # Invariants
///
/// 0. `state` was made from a `&'r mut EndState`, of which this is the only use.
pub(crate) struct Lent<'r> {
    state: *mut EndState,
    frame: PhantomData<&'r mut EndState>,
}

impl<'r> Lent<'r> {
    #[inline(always)]
    pub(crate) fn new(state: &'r mut EndState) -> Self {
        Lent { state, frame: PhantomData }
    }
}

impl Deref for Lent<'_> {
    type Target = EndState;

    #[inline(always)]
    fn deref(&self) -> &EndState {
        // SAFETY: valid for `'r`, and not written while `self` is borrowed (0).
        unsafe { &*self.state }
    }
}

impl DerefMut for Lent<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut EndState {
        // SAFETY: valid for `'r`, and not used otherwise while `self` is borrowed (0).
        unsafe { &mut *self.state }
    }
}
