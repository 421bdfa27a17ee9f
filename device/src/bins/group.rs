//! The threads that bins belong to.

use crate::group::block::Block;
use crate::group::filling::FillingGroup;

/// The threads that clear bins, publish them and read them together: a [`Block`], or a
/// [`RoleGroup`](crate::role::RoleGroup) of whole warps. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't make or publish bins",
    label = "not a block, or a role of whole warps",
    note = "all threads that add to bins meet before they are read: that is a step of the block, outside of `block.threads(..)` and \
            `block.warps(..)`, or of a role of `WarpRoles`; roles that share a warp have no barrier, and add to bins that the block has made"
)]
pub trait BinsGroup: FillingGroup {}

impl<const THREADS: usize> BinsGroup for Block<'_, THREADS> {}
