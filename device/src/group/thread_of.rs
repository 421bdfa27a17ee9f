//! One thread of a group, by its token.

use super::InBlock;
use super::block::Thread;

/// One thread of the group `G`, by its token [`Thread`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no thread of this pipeline's block",
    label = "not a thread of the block",
    note = "elements are a thread's own: read them inside of `block.threads(|t| ..)`, with `&t` of the block whose pipeline it is"
)]
pub trait ThreadOf<G>: sealed::ThreadOf<G> {}

impl<'b, const THREADS: usize> ThreadOf<InBlock<'b, THREADS>> for Thread<'_, 'b, THREADS> {}
impl<'b, const THREADS: usize> sealed::ThreadOf<InBlock<'b, THREADS>> for Thread<'_, 'b, THREADS> {
    #[inline(always)]
    fn rank_in_group(&self) -> usize {
        // Below THREADS: `Thread`, 0.
        self.rank()
    }
}

mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no thread of this pipeline's block",
        label = "not a thread of the block",
        note = "read elements inside of `block.threads(|t| ..)`, with `&t`"
    )]
    pub trait ThreadOf<G> {
        /// The calling thread's rank in the group, below its number of threads.
        fn rank_in_group(&self) -> usize;
    }
}
