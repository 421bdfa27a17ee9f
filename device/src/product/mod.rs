//! Matrix products by tensor cores.
//!
//! A [`Warpgroups`](crate::role::Warpgroups) role multiplies what a pipeline brings: stages of two
//! [`OperandTile`]s, which the copy engine fills from [`Tensor`](crate::Tensor)s and nobody but the
//! tensor cores reads. [`RoleGroup::multiply`](crate::role::RoleGroup::multiply) is the loop over
//! such stages; what it returns, [`Sums`], lies in the registers of the role's threads, and is
//! written through a ring of output stages
//! ([`OutputRing::store_sums`](crate::OutputRing::store_sums)). Sums are also factors of other
//! products: in registers ([`Sums::into_factor`]), or in shared memory
//! ([`FactorRoom`](crate::role::FactorRoom)).
//!
//! | step | PTX |
//! |---|---|
//! | a stage of both operands | `cp.async.bulk.tensor.2d` |
//! | its product | `wgmma.fence`, `.mma_async` for each 32 bytes along K, `.commit_group` |
//! | the stage before it goes back | `wgmma.wait_group 1`, `mbarrier.arrive` of each warp |
//! | the sums are there | `wgmma.wait_group 0` |
//!
//! For GPUs of the architecture sm_90a.

mod operand;
mod output;
mod rows;
mod sums;

pub use crate::isa::product::{Columns, Factor, Width};
pub(crate) use operand::sealed;
pub use operand::{Operand, OperandElement, OperandTile};
pub use output::RowValuesMut;
pub use rows::{RowFactor, RowParts, RowValues, exp2_approximate, reciprocal_approximate};
pub use sums::{SumElement, Sums};
