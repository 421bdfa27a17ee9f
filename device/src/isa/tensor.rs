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
pub(crate) struct BoxShape {
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
