//! The matrix product by tensor cores.

use tilepipe::product::{Operand, OperandElement, OperandTile, SumElement};
use tilepipe::role::{Channel, Partitioned, Producer, Role0, Role2, RoleShared, WarpRoles3};
use tilepipe::{
    Block, Element, Extents2, Fill, Grouped, MatrixExtents, Outputs, Panels2, Shared, Stages, SumPlace, Swizzle,
    Swizzle128, Tensor, TensorBox, TensorMap, TensorMut, TensorTile, TilePlaces, Uniform, bf16, f16, kernel,
};

mod fused;
mod parts;

#[cfg(not(target_arch = "nvptx64"))]
mod multiply;

pub use fused::{Activation, Linear, Silu, gemm_fused, gemm_fused_with_matrix};
#[cfg(not(target_arch = "nvptx64"))]
pub use multiply::{
    Epilogue, Matrix, MatrixView, MatrixViewMut, MultiplyError, instances, multiply, multiply_fused, multiply_in_parts,
    parts_of_product,
};
#[doc(hidden)]
#[cfg(not(target_arch = "nvptx64"))]
pub use multiply::{parts_for, tiles_and_blocks};
pub use parts::{gemm_join, gemm_parts};

/// Elements along K of a stage.
const DEEP: usize = 64;

/// How a factor lies in memory: with its rows [`Along`] K, or [`Across`] it.
pub trait Layout: 'static {
    /// The extents of a tile with `ROWS` rows or columns of the product.
    type Extents<const ROWS: usize>: Factor;
}

/// A row in memory is along K: of A as it is, of B transposed.
pub enum Along {}
/// A row in memory is across K: of A transposed, of B as it is.
pub enum Across {}

impl Layout for Along {
    type Extents<const ROWS: usize> = Extents2<ROWS, DEEP>;
}
impl Layout for Across {
    type Extents<const ROWS: usize> = Panels2<DEEP, ROWS, 64>;
}

/// The extents of a factor's tiles.
pub trait Factor: MatrixExtents {
    /// How long K is.
    fn deep<T: Element, W: Swizzle>(factor: &Tensor<'_, T, Self, W>) -> usize;

    /// How many rows or columns of the product are of this factor.
    fn of_product<T: Element, W: Swizzle>(factor: &Tensor<'_, T, Self, W>) -> usize;

    /// The tile that begins at a row or column of the product, and at `along` along K.
    fn tile<'k, T: Element, W: Swizzle>(
        factor: &Tensor<'k, T, Self, W>,
        first: i32,
        along: i32,
    ) -> TensorBox<'k, T, Self, W>;
}

impl<const ROWS: usize> Factor for Extents2<ROWS, DEEP> {
    #[inline(always)]
    fn deep<T: Element, W: Swizzle>(factor: &Tensor<'_, T, Self, W>) -> usize {
        factor.columns()
    }

    #[inline(always)]
    fn of_product<T: Element, W: Swizzle>(factor: &Tensor<'_, T, Self, W>) -> usize {
        factor.rows()
    }

    #[inline(always)]
    fn tile<'k, T: Element, W: Swizzle>(
        factor: &Tensor<'k, T, Self, W>,
        first: i32,
        along: i32,
    ) -> TensorBox<'k, T, Self, W> {
        factor.at(first, along)
    }
}

impl<const ROWS: usize> Factor for Panels2<DEEP, ROWS, 64> {
    #[inline(always)]
    fn deep<T: Element, W: Swizzle>(factor: &Tensor<'_, T, Self, W>) -> usize {
        factor.rows()
    }

    #[inline(always)]
    fn of_product<T: Element, W: Swizzle>(factor: &Tensor<'_, T, Self, W>) -> usize {
        factor.columns()
    }

    #[inline(always)]
    fn tile<'k, T: Element, W: Swizzle>(
        factor: &Tensor<'k, T, Self, W>,
        first: i32,
        along: i32,
    ) -> TensorBox<'k, T, Self, W> {
        factor.at(along, first)
    }
}

/// A tile of a factor.
pub type Tile<T, L, const ROWS: usize> = OperandTile<T, <L as Layout>::Extents<ROWS>, Swizzle128>;

/// Stages of a tile of each factor, and output stages for panels of the product.
pub type Products<T, A, B, W, const COLUMNS: usize, const PANEL: usize, const STAGES: usize, const OUT: usize> = (
    Partitioned<Stages<(Tile<T, A, 128>, Tile<T, B, COLUMNS>), STAGES, TensorMap>>,
    Outputs<TensorTile<T, Panels2<128, COLUMNS, PANEL>, W>, OUT>,
);

/// Writes `A * B` of `f16` or `bf16`, summed up in `f32`. A is `m` by `k` and B is `k` by `n`, each
/// as it is or transposed (`Along`, `Across`).
///
/// The first warp has the copy engine load tiles; two warpgroups multiply, 64 rows each, and store
/// what they get through output stages while the next tile is loaded. (Three warps do nothing: the
/// warpgroups begin at a multiple of 128 threads.) Launch a block for each multiprocessor, or
/// fewer: [`multiply`] does.
#[kernel(
    instances(T = [bf16, f16], A = [Along], B = [Along], COLUMNS = [64], PANEL = [64], W = [Swizzle128], STAGES = [8], OUT = [2]),
    instances(T = [bf16, f16], A = [Along], B = [Along], COLUMNS = [128], PANEL = [64], W = [Swizzle128], STAGES = [6], OUT = [2]),
    instances(T = [bf16, f16], A = [Along], B = [Along], COLUMNS = [160], PANEL = [64], W = [Swizzle128], STAGES = [5], OUT = [2]),
    instances(T = [bf16, f16], A = [Along], B = [Along], COLUMNS = [168], PANEL = [64], W = [Swizzle128], STAGES = [5], OUT = [2]),
    instances(T = [bf16, f16], A = [Along], B = [Along], COLUMNS = [176], PANEL = [64], W = [Swizzle128], STAGES = [5], OUT = [2]),
    instances(T = [bf16, f16], A = [Along], B = [Along], COLUMNS = [192], PANEL = [64], W = [Swizzle128], STAGES = [4], OUT = [2]),
    instances(T = [bf16, f16], A = [Along], B = [Along], COLUMNS = [208], PANEL = [64], W = [Swizzle128], STAGES = [4], OUT = [2]),
    instances(T = [bf16, f16], A = [Along], B = [Along], COLUMNS = [224], PANEL = [64], W = [Swizzle128], STAGES = [4], OUT = [2]),
    instances(T = [bf16, f16], A = [Along], B = [Along], COLUMNS = [256], PANEL = [64], W = [Swizzle128], STAGES = [4], OUT = [2]),
    instances(T = [bf16, f16], A = [Along], B = [Across], COLUMNS = [128], PANEL = [64], W = [Swizzle128], STAGES = [6], OUT = [2]),
    instances(T = [bf16, f16], A = [Along], B = [Across], COLUMNS = [256], PANEL = [64], W = [Swizzle128], STAGES = [4], OUT = [2]),
    instances(T = [bf16, f16], A = [Across], B = [Along, Across], COLUMNS = [128], PANEL = [64], W = [Swizzle128], STAGES = [6], OUT = [2]),
    instances(T = [bf16, f16], A = [Across], B = [Along, Across], COLUMNS = [256], PANEL = [64], W = [Swizzle128], STAGES = [4], OUT = [2]),
    min_blocks = 1
)]
pub fn gemm<
    T: OperandElement + SumElement,
    A: Layout,
    B: Layout,
    W: Swizzle,
    const COLUMNS: usize,
    const PANEL: usize,
    const STAGES: usize,
    const OUT: usize,
>(
    block: Block<384>,
    a: Tensor<T, <A as Layout>::Extents<128>, Swizzle128>,
    b: Tensor<T, <B as Layout>::Extents<COLUMNS>, Swizzle128>,
    out: TensorMut<T, Panels2<128, COLUMNS, PANEL>, W, Grouped<8>>,
    shared: Shared<Products<T, A, B, W, COLUMNS, PANEL, STAGES, OUT>>,
) where
    Tile<T, A, 128>: Operand<Element = T>,
    Tile<T, B, COLUMNS>: Operand<Element = T>,
{
    product::<T, A, B, _, _, _, _, _>(block, a, b, out, shared, |_, sums| sums);
}

/// Products of so many stages at most let the next kernel start early. Longer ones lose more by
/// blocks in another order than they gain.
const SHORT: usize = 32;

/// The body of a product's kernel: writes `finish(place, sums)` for each two elements side by
/// side, of which the first one's column is even.
///
/// For a kernel of one's own with other parameters, which `finish` captures: `gemm` is this with
/// the sums as they are, `gemm_fused` does more with vectors that the copy engine brings.
#[inline(always)]
pub fn product<
    T: OperandElement + SumElement,
    A: Layout,
    B: Layout,
    W: Swizzle,
    const COLUMNS: usize,
    const PANEL: usize,
    const STAGES: usize,
    const OUT: usize,
>(
    block: Block<'_, 384>,
    a: Tensor<'_, T, A::Extents<128>, Swizzle128>,
    b: Tensor<'_, T, B::Extents<COLUMNS>, Swizzle128>,
    out: TensorMut<'_, T, Panels2<128, COLUMNS, PANEL>, W, Grouped<8>>,
    shared: Shared<'_, Products<T, A, B, W, COLUMNS, PANEL, STAGES, OUT>>,
    finish: impl Fn(SumPlace, [f32; 2]) -> [f32; 2] + Copy + Uniform + RoleShared,
) where
    Tile<T, A, 128>: Operand<Element = T>,
    Tile<T, B, COLUMNS>: Operand<Element = T>,
{
    let (stages, outputs) = shared.split();
    let places = out.tile_places(&block);
    if steps(&a) <= SHORT {
        block.launch_dependents();
    }
    block
        .partition::<WarpRoles3<32, 96, 256>>()
        .pipeline_between(Role0, Role2, stages)
        .role((), |_, producer, ()| copy_factors(producer, (&a, &b), places, COLUMNS))
        .role((), |_, (), ()| {})
        .role((out, outputs), |group, mut consumer, (out, outputs)| {
            let mut ring = outputs.outputs(&group, out);
            let factors = group.stage_factors(&consumer);
            for tile in places {
                let sums;
                (consumer, sums) = group.multiply_by(&factors, consumer, steps(&a));
                let Ok(sums) = sums else { return };
                ring.store_pairs_of_sums(tile, &group, &sums, finish);
            }
        })
        .run_last();
}

/// Copies the tiles of both factors for all tiles of the product, in the order in which they are
/// multiplied.
#[inline(always)]
fn copy_factors<'a, 'b, K: Channel, T: Element, A: Factor, B: Factor>(
    mut producer: Producer<'_, K>,
    (a, b): (&Tensor<'a, T, A, Swizzle128>, &Tensor<'b, T, B, Swizzle128>),
    places: TilePlaces,
    columns: usize,
) where
    (TensorBox<'a, T, A, Swizzle128>, TensorBox<'b, T, B, Swizzle128>): Fill<K::Contents>,
{
    for tile in places {
        let (row, column) = tile.get();
        let (row, column) = ((row * 128) as i32, (column * columns) as i32);
        for step in 0..steps(a) {
            let along = (step * DEEP) as i32;
            let Ok(stage) = producer.acquire() else { return };
            producer = stage.copy((Factor::tile(a, row, along), Factor::tile(b, column, along))).commit();
        }
    }
}

/// Stages for each tile of the product.
#[inline(always)]
fn steps<T: Element, A: Factor>(a: &Tensor<'_, T, A, Swizzle128>) -> usize {
    Factor::deep(a).div_ceil(DEEP)
}
