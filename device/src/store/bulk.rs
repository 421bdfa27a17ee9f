//! Tiles of elements in a row on their way to global memory.

use super::draft::{Draft, Together, write_piece};
use super::group::StoringGroup;
use super::outputs::sealed::StoredTile as _;
use crate::element::Element;
use crate::marker::Uniform;
use crate::output::bulk::{BulkTilesMut, PIECE};
use crate::view::order::Stepped;

impl<T: Element, const LEN: usize, O: Stepped, const COUNT: usize, G: StoringGroup>
    Draft<'_, BulkTilesMut<'_, T, LEN, O>, COUNT, G>
{
    /// Writes the tile: `value(index)` for each element of it, those beyond the view's end
    /// included, which are dropped. A thread computes 16 bytes at a time, and neighbouring threads
    /// neighbouring ones.
    ///
    /// PTX: `st.shared.v4`, `fence.proxy.async.shared::cta`, `bar.sync`; in the first thread
    /// `cp.async.bulk.wait_group.read` before the barrier, and `cp.async.bulk` and
    /// `cp.async.bulk.commit_group` after it. With one output stage there is another barrier
    /// before. What of the view's last tile is no whole 16 bytes the first thread stores by itself.
    ///
    /// # Threads
    ///
    /// The group that the ring was made for; `value` runs per thread.
    #[inline(always)]
    pub fn fill(self, group: &G, value: impl Fn(usize) -> T + Uniform) {
        // The number of elements in a piece is a constant of the type, which no array's length can
        // be.
        match const { PIECE / size_of::<T>() } {
            16 => self.fill_pieces::<16>(group, value),
            8 => self.fill_pieces::<8>(group, value),
            4 => self.fill_pieces::<4>(group, value),
            2 => self.fill_pieces::<2>(group, value),
            _ => self.fill_pieces::<1>(group, value),
        }
    }

    #[inline(always)]
    fn fill_pieces<const N: usize>(self, group: &G, value: impl Fn(usize) -> T + Uniform) {
        self.publish::<Together>(group, <[T; LEN]>::PIECES, |piece, stage| {
            let values = core::array::from_fn(|lane| value(piece * N + lane));
            // SAFETY: a stage (`publish`), and a piece of it, which is this thread's alone: it is
            // part `piece`.
            unsafe { write_piece::<T, N>(stage, <[T; LEN]>::piece(piece), values) };
        });
    }
}
