//! The rows of a left factor of several products.

use core::marker::PhantomData;

use super::super::group::RoleGroup;
use super::super::map::Warpgroups;
use super::by_hand::{Fresh, Product, TileFactor, check, operand, sealed_factor};
use crate::isa;
use crate::marker::{Brand, Uniform};

/// The rows of a left factor, which each warpgroup has found for itself
/// ([`RoleGroup::factor_rows`](crate::role::RoleGroup::factor_rows)).
///
/// [`Product::of_rows`] takes them. A product that is added to sums ([`Product::onto`]) takes the
/// tile itself.
///
/// # Invariants
///
/// 0. `rows` are those of `factor`, found by the warpgroups of the role that the brand says.
#[must_use = "rows do nothing by themselves: `Product::of_rows` multiplies them"]
pub struct FactorRows<'r, 'a, A, const SIZE: usize> {
    factor: &'a A,
    rows: isa::LeftRows,
    brand: Brand<'r>,
}

impl<A, const SIZE: usize> !Uniform for FactorRows<'_, '_, A, SIZE> {}

impl<'r, 'a, A: TileFactor<'r>, B: TileFactor<'r, Element = A::Element>> Product<Fresh, &'a A, B> {
    /// As [`of`](Self::of), of rows that were found before: those of a left factor of several
    /// products.
    ///
    /// PTX: nothing.
    #[inline(always)]
    #[track_caller]
    pub fn of_rows<R: Warpgroups, const SIZE: usize>(
        group: &RoleGroup<'r, R, SIZE>,
        rows: &FactorRows<'r, 'a, A, SIZE>,
        b: B,
    ) -> Self {
        use sealed_factor::TileFactor as Factor;
        let _ = group;
        const { check([<A as Factor>::ROWS, SIZE], [<A as Factor>::DEEP, <B as Factor>::DEEP]) };
        // SAFETY: role-level code of the role whose rows they are (`'r`), which is one of
        // warpgroups; the operands lie in shared memory, and start at whole periods.
        let operands = unsafe { isa::Operands::of_rows(rows.rows, operand(&b)) };
        Product { sums: Fresh { operands }, a: rows.factor, b }
    }
}

impl<'r, R: Warpgroups, const SIZE: usize> RoleGroup<'r, R, SIZE> {
    /// Finds, for each warpgroup, its rows of a left factor that is multiplied several times.
    ///
    /// [`Product::of`] finds them anew for each product. Found once they are in a register all
    /// along: which is faster is to be measured.
    ///
    /// PTX: `shfl.sync.idx`.
    ///
    /// # Threads
    ///
    /// As for [`product`](Self::product).
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::product::OperandTile;
    /// use tilepipe::role::{Partitioned, Product, WarpRoles};
    /// use tilepipe::{
    ///     Block, Extents2, Outputs, Panels2, Shared, Stages, Swizzle128, Tensor, TensorMap,
    ///     TensorMut, TensorTile, bf16, kernel,
    /// };
    ///
    /// type Tile = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;
    /// type Panel = Panels2<64, 64, 32>;
    ///
    /// /// Writes `A * B^T`, of a matrix A of 64 rows and a matrix B of any number.
    /// #[kernel(min_blocks = 1)]
    /// pub fn rows_of_one_tile(
    ///     block: Block<256>,
    ///     a: Tensor<bf16, Extents2<64, 64>, Swizzle128>,
    ///     b: Tensor<bf16, Extents2<64, 64>, Swizzle128>,
    ///     out: TensorMut<f32, Panel, Swizzle128>,
    ///     shared: Shared<(
    ///         (Partitioned<Stages<Tile, 1, TensorMap>>, Partitioned<Stages<Tile, 2, TensorMap>>),
    ///         Outputs<TensorTile<f32, Panel, Swizzle128>, 2>,
    ///     )>,
    /// ) {
    ///     let (stages, outputs) = shared.split();
    ///     let (of_a, of_b) = stages.split();
    ///     let places = out.tile_places(&block);
    ///     block
    ///         .partition::<WarpRoles<128, 128>>()
    ///         .pipeline(of_a)
    ///         .pipeline(of_b)
    ///         .role((), |_, (of_a, mut of_b), ()| {
    ///             let Ok(stage) = of_a.acquire() else { return };
    ///             let _ = stage.copy(a.at(0, 0)).commit();
    ///             for tile in places {
    ///                 let Ok(stage) = of_b.acquire() else { return };
    ///                 of_b = stage.copy(b.at(64 * tile.get().1 as i32, 0)).commit();
    ///             }
    ///         })
    ///         .role((out, outputs), |group, (of_a, mut of_b), (out, outputs)| {
    ///             let mut ring = outputs.outputs(&group, out);
    ///             let Ok(factor) = of_a.wait() else { return };
    ///             let (_, factor) = factor.hold();
    ///             let rows = group.factor_rows(&factor);
    ///             for tile in places {
    ///                 let Ok(columns) = of_b.wait() else { return };
    ///                 let (end, columns) = columns.hold();
    ///                 let product = Product::of_rows(&group, &rows, columns);
    ///                 let (sums, _, columns) = group.product(product);
    ///                 of_b = end.release(columns);
    ///                 ring.store_sums(tile, &group, &sums, |_, _, sum| sum);
    ///             }
    ///         })
    ///         .run_last();
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let factor = device.upload_2d(&[bf16::from_f32(2.0); 64 * 64], 64)?;
    /// # let other = device.upload_2d(&[bf16::from_f32(2.0); 64 * 192], 64)?;
    /// # let mut out = device.zeroed_2d::<f32>(192, 64)?;
    /// # rows_of_one_tile::launch(&device.stream()?, 1, &factor, &other, &mut out)?;
    /// # assert_eq!(out.download()?, [4.0 * 64.0; 64 * 192]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn factor_rows<'a, A: TileFactor<'r>>(&self, factor: &'a A) -> FactorRows<'r, 'a, A, SIZE> {
        use sealed_factor::TileFactor as Factor;
        const { check([<A as Factor>::ROWS, SIZE], [<A as Factor>::DEEP; 2]) };
        // SAFETY: role-level code of a role of warpgroups; the operand lies in shared memory, and
        // starts at a whole period.
        let rows = unsafe { isa::LeftRows::new(self.members(), operand(factor)) };
        FactorRows { factor, rows, brand: PhantomData }
    }
}
