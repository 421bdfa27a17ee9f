//! Plain values as parameters: small ones by value, others as constants in the launch's parameters.

use super::parameter::{Parameter, ParameterLayout, sealed};
use crate::element::Element;
use crate::view::constant::Constant;

/// The most bytes of a parameter that is passed by value.
const BY_VALUE_BYTES: usize = 16;
/// The largest alignment of a value in bytes.
pub const VALUE_ALIGNMENT: usize = 16;

/// A plain value that a kernel can take by value, if it has at most 16 bytes: every [`Element`]
/// (integers, floats, arrays of them, structs with `#[derive(Element)]`), `bool`, `usize` and
/// `isize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be passed to a kernel as a value",
    note = "a value is a number, a `bool`, an array of elements, or a struct of your own with `#[repr(C)]` and \
            `#[derive(Clone, Copy, tilepipe::Element)]`; pass a `char` or an enum as a number"
)]
pub trait Scalar: Copy + Send + Sync + 'static + values::Sealed {
    /// What is passed of it.
    type Raw: bytemuck::Pod;

    /// How the contract names it.
    #[doc(hidden)]
    const KIND: &'static str;

    /// Returns what is passed of the value.
    #[doc(hidden)]
    fn into_raw(self) -> Self::Raw;

    /// Returns the value that this was passed of.
    #[doc(hidden)]
    fn of_raw(raw: Self::Raw) -> Self;
}

mod values {
    /// Keeps [`Scalar`](super::Scalar) to elements and to the types listed here.
    pub trait Sealed {}
}

impl<T: Element> values::Sealed for T {}
impl<T: Element> Scalar for T {
    type Raw = T;
    const KIND: &'static str = "value";

    #[inline(always)]
    fn into_raw(self) -> T {
        self
    }

    #[inline(always)]
    fn of_raw(raw: T) -> T {
        raw
    }
}

macro_rules! of_the_machine {
    ($($size:ty)*) => {$(
        impl values::Sealed for $size {}
        impl Scalar for $size {
            type Raw = $size;
            const KIND: &'static str = "value";

            #[inline(always)]
            fn into_raw(self) -> $size {
                self
            }

            #[inline(always)]
            fn of_raw(raw: $size) -> $size {
                raw
            }
        }
    )*};
}
of_the_machine!(usize isize);

impl values::Sealed for bool {}
/// Passed as a word, and `true` if the word is not 0: whatever the bits are, there is a `bool`.
impl Scalar for bool {
    type Raw = u32;
    const KIND: &'static str = "bool";

    #[inline(always)]
    fn into_raw(self) -> u32 {
        u32::from(self)
    }

    #[inline(always)]
    fn of_raw(raw: u32) -> bool {
        raw != 0
    }
}

/// The layout of a value, of which an `R` is passed.
const fn layout<T, R>(kind: &'static str) -> ParameterLayout {
    ParameterLayout {
        kind,
        element: "",
        size: size_of::<T>(),
        element_alignment: align_of::<T>(),
        dimensions: 2,
        extents: [1; crate::isa::DIMENSIONS],
        alignment: 1,
        row_alignment: 0,
        passed: [size_of::<R>(), align_of::<R>()],
    }
}

/// Refuses values that nothing can be passed of.
const fn check<R>() {
    assert!(size_of::<R>() > 0, "a parameter of no bytes can't be passed to a kernel: leave it out");
    assert!(align_of::<R>() <= VALUE_ALIGNMENT, "a parameter that is a value is aligned to at most 16 bytes");
}

impl<V: Scalar> sealed::Sealed for V {}

#[diagnostic::do_not_recommend]
impl<'k, V: Scalar> Parameter<'k> for V {
    type At<'x> = V;
    type Raw = V::Raw;
    const LAYOUT: ParameterLayout = {
        check::<V::Raw>();
        assert!(
            size_of::<V::Raw>() <= BY_VALUE_BYTES,
            "a value of more than 16 bytes can't be a parameter: take a `Constant` of its type and pass `&value`"
        );
        layout::<V, V::Raw>(V::KIND)
    };

    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo =
        crate::launch::ParameterInfo::of::<V>(crate::launch::ParameterKind::Scalar, 1);

    #[inline(always)]
    unsafe fn from_raw(raw: *const Self::Raw) -> Self {
        // SAFETY: readable (the caller's promise), and plain data.
        V::of_raw(unsafe { raw.read() })
    }
}

impl<T: Element> sealed::Sealed for Constant<'_, T> {}

impl<'k, T: Element> Parameter<'k> for Constant<'k, T> {
    type At<'x> = Constant<'x, T>;
    type Raw = T;
    const LAYOUT: ParameterLayout = {
        check::<T>();
        layout::<T, T>("constant")
    };

    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo =
        crate::launch::ParameterInfo::of::<T>(crate::launch::ParameterKind::Constant, 1);

    #[inline(always)]
    unsafe fn from_raw(raw: *const T) -> Self {
        // SAFETY: a value of plain data lies there, aligned, readable and written by nobody for all
        // of `'k` (the caller's promise).
        let value = unsafe { &*raw };
        // SAFETY: it is the parameter itself: of the launch, hence at one address for all threads
        // (PTX "Parameter State Space": the parameters of a kernel are shared by its whole grid),
        // and unwritten (just said).
        unsafe { Constant::new(value) }
    }
}
