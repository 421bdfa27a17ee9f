//! Tensors as both backends see them: what is passed of one, what a copy of a box depends on, and
//! where the copy engine puts the pieces of a box.

/// The most dimensions of a tensor.
pub(crate) const DIMENSIONS: usize = 5;

/// A place in a tensor: a column, a row, a plane and so on; 0 where there are not so many
/// dimensions.
pub(crate) type Corner = [i32; DIMENSIONS];

/// A view with rows as it is passed to the kernel: the address of its first element, and sizes in
/// elements.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct RawRows {
    /// The first element's address.
    pub address: u64,
    /// Elements of a row.
    pub width: u64,
    /// Rows.
    pub height: u64,
    /// Elements from one row's start to the next one's.
    pub pitch: u64,
}
/// A tensor as it is passed to the kernel: the map by which the copy engine finds its boxes, and
/// its extents.
///
/// On a GPU `map` is the driver's `CUtensorMap`, which is opaque. On the CPU its first words are
/// the address of the first element, and for each further dimension the bytes from one row's start
/// to the next one's, from one plane's to the next one's, and so on.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct RawTensor {
    /// The map.
    pub map: [u64; 16],
    /// Rows.
    pub rows: u32,
    /// Elements of a row.
    pub columns: u32,
    /// Planes, and the extents of the fourth and the fifth dimension; 1 where there are not so
    /// many.
    pub outer: [u32; DIMENSIONS - 2],
    /// Zeros.
    pub reserved: [u32; 11],
}

/// What a copy of a box depends on: its extents, and its swizzle. On the GPU the map says so, but
/// for the number of dimensions, which is part of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(target_arch = "nvptx64", allow(dead_code))]
pub struct BoxShape {
    /// Dimensions, 1 to 5.
    pub(crate) dimensions: u32,
    /// Elements of a row, rows, planes and so on; 1 where there are not so many.
    pub(crate) extents: [u32; DIMENSIONS],
    /// Bytes of an element.
    pub(crate) element: u32,
    /// The swizzle's mask.
    pub(crate) mask: u32,
}

#[cfg(not(target_arch = "nvptx64"))]
impl BoxShape {
    /// Elements of a row.
    pub(super) fn columns(&self) -> u32 {
        self.extents[0]
    }

    /// Rows, of all planes.
    pub(super) fn rows(&self) -> u32 {
        self.extents[1..].iter().product()
    }

    /// Bytes of the box.
    pub(super) fn bytes(&self) -> usize {
        (self.rows() * self.columns() * self.element) as usize
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl RawTensor {
    /// On the CPU: the address of column 0 of a row of the tensor, the one that is row `row` of the
    /// box that begins at `corner`, with the rows of all planes counted through; `None` if it lies
    /// outside of the tensor.
    pub(super) fn line(&self, corner: Corner, shape: BoxShape, row: u32) -> Option<u64> {
        let [address, pitches @ ..] = self.map;
        let [planes, fourth, fifth] = self.outer;
        let (mut rest, mut line) = (row, address);
        let dimensions = corner[1..].iter().zip(&shape.extents[1..]).zip(pitches);
        for (((first, extent), pitch), there) in dimensions.zip([self.rows, planes, fourth, fifth]) {
            let at = i64::from(*first) + i64::from(rest % extent);
            rest /= extent;
            if !(0..i64::from(there)).contains(&at) {
                return None;
            }
            line += at as u64 * pitch;
        }
        Some(line)
    }
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
