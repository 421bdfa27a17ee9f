//! Tensors as both backends see them: what is passed of one, what a copy of a box depends on, and
//! where the copy engine puts the pieces of a box.

/// A tensor as it is passed to the kernel: the map by which the copy engine finds its boxes, and
/// its extents.
///
/// On a GPU `map` is the driver's `CUtensorMap`, which is opaque. On the CPU its first words are
/// the address of the first element and the bytes from one row's start to the next one's.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct RawTensor {
    /// The map.
    pub map: [u64; 16],
    /// Rows.
    pub rows: u32,
    /// Elements of a row.
    pub columns: u32,
    /// Zeros.
    pub reserved: [u64; 7],
}

/// What a copy of a box depends on: its extents in bytes and rows, and its swizzle. On the GPU the
/// map says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(target_arch = "nvptx64", allow(dead_code))]
pub struct BoxShape {
    /// Rows of the box.
    pub(crate) rows: u32,
    /// Elements of a row.
    pub(crate) columns: u32,
    /// Bytes of an element.
    pub(crate) element: u32,
    /// The swizzle's mask.
    pub(crate) mask: u32,
}

/// Where byte `offset` of a tile lies after the swizzle of this mask, in bytes from the tile's
/// start: the number of the 128-byte line, masked, is added without carry to that of the 16-byte
/// piece. The engine does so with addresses; a tile starts at a multiple of a whole period, so that
/// offsets have the same bits.
#[inline(always)]
pub(crate) const fn swizzled(offset: usize, mask: usize) -> usize {
    offset ^ (((offset >> 7) & mask) << 4)
}

/// What the copy engine takes an element for: it matters to its reductions alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementKind {
    /// Bits, which are copied as they are.
    Bits,
    /// `u32`
    U32,
    /// `i32`
    I32,
    /// `u64`
    U64,
    /// `i64`
    I64,
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// `f16`
    F16,
    /// `bf16`
    Bf16,
}

impl ElementKind {
    /// Its name in a contract, after a colon; nothing for bits.
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            ElementKind::Bits => "",
            ElementKind::U32 => ":u32",
            ElementKind::I32 => ":i32",
            ElementKind::U64 => ":u64",
            ElementKind::I64 => ":i64",
            ElementKind::F32 => ":f32",
            ElementKind::F64 => ":f64",
            ElementKind::F16 => ":f16",
            ElementKind::Bf16 => ":bf16",
        }
    }
}

/// What the copy engine does with a tile's elements and those of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(target_arch = "nvptx64", allow(dead_code))]
pub enum Reduce {
    /// The sum.
    Add,
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// Bit by bit.
    And,
    /// Bit by bit.
    Or,
    /// Bit by bit.
    Xor,
}

/// An operation as a type.
pub trait ReduceCode {
    /// The operation.
    const CODE: Reduce;
}

macro_rules! codes {
    ($($code:ident: $operation:ident),*) => {$(
        /// An operation as a type.
        pub enum $code {}
        impl ReduceCode for $code {
            const CODE: Reduce = Reduce::$operation;
        }
    )*};
}
codes!(ReduceAdd: Add, ReduceMin: Min, ReduceMax: Max, ReduceAnd: And, ReduceOr: Or, ReduceXor: Xor);
