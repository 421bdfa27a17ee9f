//! What a role does with the sums of its products, row by row.

use core::ops::Range;

use super::super::group::RoleGroup;
use super::super::map::{Warpgroups, sealed};
use crate::isa;
use crate::isa::product::{GROUP_ROWS, WARPGROUP, Width, check_warpgroups, from_first_sum, place_of_sum};
use crate::marker::Uniform;
use crate::product::{OperandElement, RowFactor, RowParts, RowValues, RowValuesMut, SumElement, Sums};
use crate::tensor::TileIndex;
use crate::view::order::Stepped;

/// How many of a thread's sums of a row are taken together at a time: sums that do not depend on
/// one another.
const CHAINS: usize = 2;

impl<'r, R: Warpgroups, const SIZE: usize> RoleGroup<'r, R, SIZE> {
    /// Sums of `W::COLUMNS` columns and 64 rows for each warpgroup that all are `value`: what
    /// [`Product::onto`](crate::role::Product::onto) adds to.
    ///
    /// # Threads
    ///
    /// A role of warpgroups.
    #[inline(always)]
    pub fn sums<W: Width>(&self, value: f32) -> Sums<'r, W, SIZE> {
        const { check_warpgroups(<R as sealed::Role>::MEMBERS) };
        let members = <R as sealed::Role>::MEMBERS;
        let mut sums = isa::Sums::new(members);
        // SAFETY: role-level code of the role whose sums they are.
        unsafe { sums.fill(members, value) };
        // SAFETY: (0) each has a value, and no product is under way; (1) they are this role's.
        unsafe { Sums::new(sums) }
    }

    /// The same number for each row of the role's sums.
    ///
    /// # Threads
    ///
    /// A role of warpgroups.
    #[inline(always)]
    pub fn rows(&self, value: f32) -> RowValues<'r, SIZE> {
        const { check_warpgroups(<R as sealed::Role>::MEMBERS) };
        self.row_values(|_| [value; 2])
    }

    /// `value(row)` for each row of the role's sums: what is read for it, for example.
    ///
    /// # Threads
    ///
    /// A role of warpgroups; `value` runs per thread, in four of them for each row.
    #[inline(always)]
    pub fn rows_with(&self, value: impl Fn(usize) -> f32 + Uniform) -> RowValues<'r, SIZE> {
        const { check_warpgroups(<R as sealed::Role>::MEMBERS) };
        self.row_values(|rank| {
            let (first, _) = place_of_sum(rank, 0);
            [value(first), value(first + from_first_sum(2).0)]
        })
    }

    /// Numbers for the two rows of each thread, from its rank.
    #[inline(always)]
    fn row_values(&self, values: impl Fn(usize) -> [f32; 2]) -> RowValues<'r, SIZE> {
        // SAFETY: role-level code of the role.
        let values = unsafe { isa::PerThread::of_members(<R as sealed::Role>::MEMBERS, values) };
        // SAFETY: they are this role's.
        unsafe { RowValues::new(values) }
    }
}

impl<'r, const SIZE: usize> RowValues<'r, SIZE> {
    /// `value(own)` for each row.
    #[inline(always)]
    pub fn map<R: Warpgroups>(
        &self,
        group: &RoleGroup<'r, R, SIZE>,
        value: impl Fn(f32) -> f32 + Uniform,
    ) -> RowValues<'r, SIZE> {
        group.row_values(|rank| self.values.get(rank).map(&value))
    }

    /// `value(own, other)` for each row.
    #[inline(always)]
    pub fn zip<R: Warpgroups>(
        &self,
        group: &RoleGroup<'r, R, SIZE>,
        other: &RowValues<'r, SIZE>,
        value: impl Fn(f32, f32) -> f32 + Uniform,
    ) -> RowValues<'r, SIZE> {
        group.row_values(|rank| {
            let (own, other) = (self.values.get(rank), other.values.get(rank));
            [value(own[0], other[0]), value(own[1], other[1])]
        })
    }
}

impl<'r, const SIZE: usize> RowValues<'r, SIZE> {
    /// Two numbers for each row: `value(own, other)` where `is_needed(own, other)`, and elsewhere
    /// its own number and `otherwise`. Warps that have no such row skip it.
    ///
    /// A softmax over tiles raises its maxima like this, and finds what the earlier sums are to be
    /// multiplied by, only where they grew: rarely, from the second tile on.
    ///
    /// PTX: `vote.sync.any`.
    #[inline(always)]
    pub fn replace_where<R: Warpgroups>(
        &self,
        group: &RoleGroup<'r, R, SIZE>,
        other: &RowValues<'r, SIZE>,
        is_needed: impl Fn(f32, f32) -> bool + Uniform,
        value: impl Fn(f32, f32) -> [f32; 2] + Uniform,
        otherwise: f32,
    ) -> [RowValues<'r, SIZE>; 2] {
        let _ = group;
        let both = |rank: usize| {
            let (own, other) = (self.values.get(rank), other.values.get(rank));
            let needed = [is_needed(own[0], other[0]), is_needed(own[1], other[1])];
            let mut rows = own.map(|own| [own, otherwise]);
            // SAFETY: all lanes of a role of whole warps come here.
            if unsafe { isa::any_in_warp(needed[0] || needed[1]) } {
                for row in 0..2 {
                    if needed[row] {
                        rows[row] = value(own[row], other[row]);
                    }
                }
            }
            rows
        };
        // SAFETY: role-level code of the role.
        let both = unsafe { isa::PerThread::<_, SIZE>::of_members(<R as sealed::Role>::MEMBERS, both) };
        [0, 1].map(|nth| group.row_values(|rank| both.get(rank).map(|row| row[nth])))
    }
}

impl<'r, const SIZE: usize> RowParts<'r, SIZE> {
    /// The parts times the number of each row, and those of `more` added.
    #[inline(always)]
    pub fn scale_and_add<R: Warpgroups>(
        &self,
        group: &RoleGroup<'r, R, SIZE>,
        factor: &RowValues<'r, SIZE>,
        more: &RowParts<'r, SIZE>,
    ) -> RowParts<'r, SIZE> {
        let RowValues { values, .. } = group.row_values(|rank| {
            let (own, factor, more) = (self.values.get(rank), factor.values.get(rank), more.values.get(rank));
            [own[0] * factor[0] + more[0], own[1] * factor[1] + more[1]]
        });
        // SAFETY: they are this role's.
        unsafe { RowParts::new(values) }
    }

    /// The sum of each row.
    ///
    /// PTX: `shfl.sync.bfly` and `add.f32` twice for each of a thread's two rows.
    #[inline(always)]
    pub fn sum<R: Warpgroups>(self, group: &RoleGroup<'r, R, SIZE>) -> RowValues<'r, SIZE> {
        let _ = group;
        // SAFETY: role-level code of a role of whole warps.
        let values = unsafe { self.values.of_quads(|one, other| one + other) };
        // SAFETY: they are this role's.
        unsafe { RowValues::new(values) }
    }
}

impl<'r, W: Width, const SIZE: usize> Sums<'r, W, SIZE> {
    /// The largest sum of each row; what is no number does not count.
    ///
    /// PTX: `max.f32`, and `shfl.sync.bfly` twice for each of a thread's two rows.
    ///
    /// # Threads
    ///
    /// The role whose sums they are.
    #[inline(always)]
    pub fn row_max<R: Warpgroups>(&self, group: &RoleGroup<'r, R, SIZE>) -> RowValues<'r, SIZE> {
        let own = self.row_reduced(group, f32::NEG_INFINITY, isa::max_f32);
        // SAFETY: role-level code of a role of whole warps.
        let values = unsafe { own.of_quads(isa::max_f32) };
        // SAFETY: they are this role's.
        unsafe { RowValues::new(values) }
    }

    /// The sum of each row's sums, in an order that is the same in each run: those of a thread in
    /// even columns and in odd ones from left to right, both, and then those of the four threads
    /// that share the row.
    ///
    /// PTX: `add.f32`, and `shfl.sync.bfly` twice for each of a thread's two rows.
    ///
    /// # Threads
    ///
    /// The role whose sums they are.
    #[inline(always)]
    pub fn row_sum<R: Warpgroups>(&self, group: &RoleGroup<'r, R, SIZE>) -> RowValues<'r, SIZE> {
        self.row_parts(group).sum(group)
    }

    /// As [`row_sum`](Self::row_sum), what each thread has of it.
    ///
    /// PTX: `add.f32`.
    ///
    /// # Threads
    ///
    /// The role whose sums they are.
    #[inline(always)]
    pub fn row_parts<R: Warpgroups>(&self, group: &RoleGroup<'r, R, SIZE>) -> RowParts<'r, SIZE> {
        let own = self.row_reduced(group, 0.0, |one, other| one + other);
        // SAFETY: they are this role's.
        unsafe { RowParts::new(own) }
    }

    #[inline(always)]
    fn row_reduced<R: Warpgroups>(
        &self,
        group: &RoleGroup<'r, R, SIZE>,
        first: f32,
        combine: impl Fn(f32, f32) -> f32,
    ) -> isa::PerThread<[f32; 2], SIZE> {
        let own = |rank: usize| {
            let mut rows = [[first; CHAINS]; 2];
            for register in 0..W::COLUMNS / 2 {
                let place = &mut rows[register / 2 % 2][register % CHAINS];
                // SAFETY: `of_members` passes the calling thread's rank, and it is one of its sums.
                *place = combine(*place, unsafe { self.get(rank, register) });
            }
            rows.map(|[even, odd]| combine(even, odd))
        };
        let _ = group;
        // SAFETY: role-level code of the role.
        unsafe { isa::PerThread::of_members(<R as sealed::Role>::MEMBERS, own) }
    }

    /// `value(sum)` in place of each sum.
    ///
    /// # Threads
    ///
    /// The role whose sums they are; `value` runs per thread.
    #[inline(always)]
    pub fn map<R: Warpgroups>(
        self,
        group: &RoleGroup<'r, R, SIZE>,
        value: impl Fn(f32) -> f32 + Uniform,
    ) -> Sums<'r, W, SIZE> {
        self.updated(group, |_, _, sum| value(sum))
    }

    /// `value(sum, of_row)` in place of each sum, with the number of its row.
    ///
    /// # Threads
    ///
    /// The role whose sums they are; `value` runs per thread.
    #[inline(always)]
    pub fn map_rows<R: Warpgroups>(
        self,
        group: &RoleGroup<'r, R, SIZE>,
        rows: &RowValues<'r, SIZE>,
        value: impl Fn(f32, f32) -> f32 + Uniform,
    ) -> Sums<'r, W, SIZE> {
        self.updated(group, |rank, register, sum| value(sum, rows.values.get(rank)[register / 2 % 2]))
    }

    /// `value(row, column, sum)` in place of each sum. Rows and columns are those of the sums.
    ///
    /// # Threads
    ///
    /// The role whose sums they are; `value` runs per thread.
    #[inline(always)]
    pub fn map_places<R: Warpgroups>(
        self,
        group: &RoleGroup<'r, R, SIZE>,
        value: impl Fn(usize, usize, f32) -> f32 + Uniform,
    ) -> Sums<'r, W, SIZE> {
        self.updated(group, |rank, register, sum| {
            let (row, column) = place_of_sum(rank, 0);
            let (down, across) = from_first_sum(register);
            value(row + down, column + across, sum)
        })
    }

    /// `value(sum, other)` in place of each sum, with the other product's sum in its place.
    ///
    /// # Threads
    ///
    /// The role whose sums they are; `value` runs per thread.
    #[inline(always)]
    pub fn zip<R: Warpgroups>(
        self,
        group: &RoleGroup<'r, R, SIZE>,
        other: &Sums<'r, W, SIZE>,
        value: impl Fn(f32, f32) -> f32 + Uniform,
    ) -> Sums<'r, W, SIZE> {
        // SAFETY: `updated` passes the calling thread's rank, and a register of its own.
        self.updated(group, |rank, register, sum| value(sum, unsafe { other.get(rank, register) }))
    }

    /// Each sum times the number of its row. Warps of whose rows all numbers are 1 skip it.
    ///
    /// PTX: `vote.sync.any`, `mul.f32`.
    ///
    /// # Threads
    ///
    /// The role whose sums they are.
    #[inline(always)]
    pub fn scale_rows<R: Warpgroups>(
        mut self,
        group: &RoleGroup<'r, R, SIZE>,
        rows: &RowValues<'r, SIZE>,
    ) -> Sums<'r, W, SIZE> {
        let _ = group;
        // SAFETY: role-level code of the role whose sums they are, which have values.
        unsafe { self.values().scale(<R as sealed::Role>::MEMBERS, &rows.values) };
        self
    }

    /// Leaves the sums in the columns `columns(row)` of each row as they are, and makes all others
    /// minus infinity: what a mask does before a softmax. Rows and columns are those of the sums.
    ///
    /// # Threads
    ///
    /// The role whose sums they are; `columns` runs per thread, once for each row of which it has
    /// sums.
    #[inline(always)]
    pub fn keep<R: Warpgroups>(
        self,
        group: &RoleGroup<'r, R, SIZE>,
        columns: impl Fn(usize) -> Range<i32> + Uniform,
    ) -> Sums<'r, W, SIZE> {
        let of_rows = |rank| {
            let (row, _) = place_of_sum(rank, 0);
            let (second, first) = (columns(row + from_first_sum(2).0), columns(row));
            [[first.start, first.end], [second.start, second.end]]
        };
        // SAFETY: role-level code, and the closure is `Uniform`.
        let kept: isa::PerThread<_, SIZE> =
            unsafe { isa::PerThread::of_members(<R as sealed::Role>::MEMBERS, of_rows) };
        self.updated(group, |rank, register, sum| {
            let (column, across) = (place_of_sum(rank, 0).1, from_first_sum(register).1 as i32);
            // From the thread's first column on, so that one comparison with a constant is left.
            let [start, end] = kept.get(rank)[register / 2 % 2].map(|place| place.saturating_sub(column as i32));
            if across >= start && across < end { sum } else { f32::NEG_INFINITY }
        })
    }

    /// The sums rounded to `T`, as the left factor of a product: their columns are along its K.
    ///
    /// To the nearest one, of two the even one. PTX: `cvt.rn.bf16x2.f32`, `cvt.rn.f16x2.f32`; no
    /// sum moves to another thread.
    ///
    /// # Threads
    ///
    /// The role whose sums they are.
    #[inline(always)]
    pub fn into_factor<T, R: Warpgroups>(mut self, group: &RoleGroup<'r, R, SIZE>) -> RowFactor<'r, T, W, SIZE>
    where
        T: OperandElement + SumElement,
    {
        const { check_factor(W::COLUMNS) };
        // SAFETY: role-level code of the role whose sums they are.
        unsafe { self.values().hold() };
        self.factor(group)
    }

    /// As [`into_factor`](Self::into_factor), of sums that are needed further.
    ///
    /// # Threads
    ///
    /// The role whose sums they are.
    #[inline(always)]
    pub fn to_factor<T, R: Warpgroups>(&self, group: &RoleGroup<'r, R, SIZE>) -> RowFactor<'r, T, W, SIZE>
    where
        T: OperandElement + SumElement,
    {
        const { check_factor(W::COLUMNS) };
        self.factor(group)
    }

    /// As [`to_factor`](Self::to_factor), of which the caller has checked the columns.
    #[inline(always)]
    fn factor<T, R: Warpgroups>(&self, group: &RoleGroup<'r, R, SIZE>) -> RowFactor<'r, T, W, SIZE>
    where
        T: OperandElement + SumElement,
    {
        let _ = group;
        let members = <R as sealed::Role>::MEMBERS;
        // SAFETY: role-level code of the role whose sums they are; all have values.
        let mut fragment = unsafe { self.registers().rounded(members, |pair| bytemuck::cast(T::round(pair))) };
        // Here, and not where the factor is needed, which is behind what the user does next.
        // SAFETY: as above.
        unsafe { fragment.hold() };
        // SAFETY: elements of `T`, of this role's threads.
        unsafe { RowFactor::new(fragment) }
    }

    #[inline(always)]
    fn updated<R: Warpgroups>(
        mut self,
        group: &RoleGroup<'r, R, SIZE>,
        value: impl Fn(usize, usize, f32) -> f32,
    ) -> Sums<'r, W, SIZE> {
        let _ = group;
        // SAFETY: role-level code of the role whose sums they are, which have values.
        unsafe { self.values().update(<R as sealed::Role>::MEMBERS, value) };
        self
    }
}

impl<const ROWS: usize, O: Stepped> RowValuesMut<'_, ROWS, O> {
    /// Writes the numbers of the rows of a tile of the block's; those of rows that are not in the
    /// matrix are dropped. The tile is named by its index, or as the
    /// [`TilePlace`](crate::TilePlace) with this index of another output.
    ///
    /// PTX: `st.global.f32`, by one of the four threads that have the number.
    ///
    /// # Threads
    ///
    /// The role whose numbers they are, of 128 threads for each 64 of `ROWS`, or it does not
    /// compile.
    ///
    /// # Panics
    ///
    /// If the block has no such tile, and the output is not empty: the launch fails with both
    /// numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn set<'r, R: Warpgroups, I: TileIndex, const SIZE: usize>(
        &mut self,
        tile: I,
        group: &RoleGroup<'r, R, SIZE>,
        values: &RowValues<'r, SIZE>,
    ) {
        const { check_rows(ROWS, SIZE) };
        if self.is_empty() {
            return;
        }
        let (first, of_matrix) = self.tile(tile);
        let own = |rank: usize| {
            // As the tile's index (`RowValuesMut::tile`).
            let (down, across) = place_of_sum(isa::rank_here(rank) % SIZE, 0);
            for (nth, value) in values.values.get(rank).into_iter().enumerate() {
                let at = down + from_first_sum(2 * nth).0;
                if across == 0 && of_matrix.contains(&at) {
                    // SAFETY: the number of a row of the tile's matrix, which is in the output (0
                    // of `RowValuesMut`). The tile is the block's alone, as those of `O` are; the
                    // rows of a role are below `ROWS` (`check_rows`), and of the four threads that
                    // have a row's number one has its first sum. The role has this output for
                    // itself (1).
                    unsafe { isa::store_global(first.wrapping_add(at), value) };
                }
            }
        };
        let _ = group;
        // SAFETY: role-level code of the role.
        let _ = unsafe { isa::PerThread::<(), SIZE>::of_members(<R as sealed::Role>::MEMBERS, own) };
    }
}

/// Refuses, at compile time, numbers of so many rows of a role of `size` threads.
#[track_caller]
const fn check_rows(rows: usize, size: usize) {
    assert!(
        rows == size / WARPGROUP * GROUP_ROWS,
        "a warpgroup has 64 rows of its sums: a role of 128 threads writes a `RowValuesMut<64>`, one of 256 a `RowValuesMut<128>`"
    );
}

/// Refuses, at compile time, to make a factor of sums of so many columns.
const fn check_factor(columns: usize) {
    assert!(
        columns.is_multiple_of(16),
        "a factor has a multiple of 16 elements along K: the sums that become one have a multiple of 16 columns"
    );
}
