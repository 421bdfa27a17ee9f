//! Products of the tensor cores as both backends see them.

use super::{Instructions, Members, SharedOrigin};

/// The number of columns of a product as a type.
pub enum Columns<const N: usize> {}

/// A number of columns that a product can have.
pub trait Width: Instructions + 'static {
    /// The number.
    const COLUMNS: usize;
}

/// Calls a macro with all widths that the instruction has.
macro_rules! for_all_widths {
    ($with:ident) => {
        $with! {
            8 16 24 32 40 48 56 64 72 80 88 96 104 112 120 128 136 144 152 160 168 176 184 192 200 208 216 224 232 240 248 256
        }
    };
}
#[cfg(target_arch = "nvptx64")]
pub(super) use for_all_widths;

macro_rules! widths {
    ($($columns:literal)*) => {$(
        impl Width for Columns<$columns> {
            const COLUMNS: usize = $columns;
        }
    )*};
}
for_all_widths!(widths);

/// Threads that multiply together: a warpgroup.
pub(crate) const WARPGROUP: usize = 128;
/// The barrier of a block's first warpgroup; the next one's is the next one. There are eight, and
/// roles have others.
#[cfg(target_arch = "nvptx64")]
pub(super) const WARPGROUP_BARRIERS: u32 = 8;
/// Bytes that a descriptor of an operand counts in.
pub(crate) const UNIT: usize = 16;
/// Rows of the sums of a warpgroup.
pub(crate) const GROUP_ROWS: usize = 64;

/// What the elements of both operands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// `f16`
    F16,
    /// `bf16`
    Bf16,
}

/// A place in the block's dynamic shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// Where that memory begins.
    pub(crate) origin: SharedOrigin,
    /// Bytes from there.
    pub(crate) offset: u32,
}

/// An operand in shared memory, of 16-bit elements, swizzled: its rows are along K or across it, in
/// panels of as many columns as a row has room for, one behind the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    /// Its first byte in the first stage, or in the only place: aligned to a whole period.
    pub(crate) start: Start,
    /// How far behind it is, in [`UNIT`]s.
    pub(crate) further: u32,
    /// Of A the rows of the sums, of B their columns.
    pub(crate) rows: usize,
    /// Elements along K.
    pub(crate) deep: usize,
    /// Whether rows are across K.
    pub(crate) across: bool,
    /// Bytes of a row, which are the swizzle's span: 32, 64 or 128.
    pub(crate) row_bytes: usize,
}

/// Where a thread's sum of this number lies, in rows and columns of the group's sums, for the
/// thread of rank `rank` in its group: two neighbours in each of two rows, eight apart, for each
/// eight columns (PTX, "Register fragments and shared memory matrix layouts" of wgmma).
#[inline(always)]
pub(crate) const fn place_of_sum(rank: usize, register: usize) -> (usize, usize) {
    let (group, warp, lane) = (rank / WARPGROUP, rank % WARPGROUP / super::WARP, rank % super::WARP);
    let (down, across) = from_first_sum(register);
    (GROUP_ROWS * group + 16 * warp + lane / 4 + down, lane % 4 * 2 + across)
}

/// At which row and column of the group's sums the part of a row begins whose place the thread of
/// rank `rank` gives to `store_matrices`, for its warp's sums of 16 columns from `column` on.
#[inline(always)]
pub(crate) const fn row_of_matrix(rank: usize, column: usize) -> (usize, usize) {
    let (group, warp, lane) = (rank / WARPGROUP, rank % WARPGROUP / super::WARP, rank % super::WARP);
    (GROUP_ROWS * group + 16 * warp + lane % 16, column + lane / 16 * 8)
}

/// How many rows and columns a sum of this number is from the thread's first one.
#[inline(always)]
pub(crate) const fn from_first_sum(register: usize) -> (usize, usize) {
    (register / 2 % 2 * 8, register / 4 * 8 + register % 2)
}

/// Where the sum in this row and column lies among a warpgroup's sums in the order in which its
/// threads have them: four of each thread after those of the one before, and then the next four.
#[inline(always)]
pub(crate) const fn held_place(row: usize, column: usize) -> usize {
    let (row, four, across) = (row % GROUP_ROWS, column / 8, column % 8);
    let rank = row / 16 * super::WARP + row % 8 * 4 + across / 2;
    (four * WARPGROUP + rank) * 4 + row % 16 / 8 * 2 + across % 2
}

/// What a product does with the sums that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Onto {
    /// They are overwritten.
    Nothing,
    /// The product is added to them.
    Sums,
}

/// Refuses, at compile time, a role that is no warpgroups.
pub(crate) const fn check_warpgroups(members: Members) {
    assert!(
        members.stride == 1 && members.first.is_multiple_of(WARPGROUP) && members.count.is_multiple_of(WARPGROUP),
        "a role that multiplies by tensor cores is made of warpgroups: it begins at a multiple of 128 threads of the block and has a \
         multiple of 128, as the second role of `WarpRoles<128, 256>` does"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_matrices_are_where_the_sums_of_a_warp_lie() {
        let rank_of = |warp: usize, lane: usize| 32 * warp + lane;
        for (warp, lane, first) in
            (0..8).flat_map(|warp| (0..32).flat_map(move |lane| [(warp, lane, 0), (warp, lane, 24)]))
        {
            for matrix in 0..4 {
                // A lane's pair of a matrix, and the row of the matrix that it is of.
                let (row, column) = place_of_sum(rank_of(warp, lane), first + 2 * matrix);
                let (of_matrix, from) = row_of_matrix(rank_of(warp, 8 * matrix + lane / 4), 2 * first);
                assert_eq!((row, column), (of_matrix, from + 2 * (lane % 4)));
                assert_eq!(row / GROUP_ROWS, rank_of(warp, lane) / WARPGROUP, "a warpgroup writes its own slice");
            }
        }
    }
}
