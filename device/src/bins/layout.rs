//! The memory of bins.

use core::marker::PhantomData;

use crate::element::Element;
use crate::memory::Layout;
use crate::output::reduction::AtomicOperation;

/// `LEN` bins in shared memory, to which threads add values `T` by the operation `O`.
///
/// With `COPIES` copies of all bins warps add to different ones, and
/// [`publish`](crate::OpenBins::publish) combines them: where most values fall into few bins, adds
/// of the same bin wait for each other. A copy takes as much shared memory as the bins.
///
/// [`Shared::bins`](crate::Shared::bins) makes them usable. Too many for the shared memory of a
/// block are an error of the launch, as too many stages are.
///
/// CUDA: `__shared__ unsigned bins[LEN]` and `atomicAdd`.
///
/// # Examples
///
/// ```
/// use tilepipe::reduce::Add;
/// use tilepipe::{Bins, Block, Input, Shared, TilesMut, kernel};
///
/// /// How often each of 64 letters occurs among them. The two warps add to different copies.
/// #[kernel]
/// pub fn occurrences(
///     block: Block<64>,
///     letters: Input<u8>,
///     mut out: TilesMut<u32, 64>,
///     shared: Shared<Bins<u32, 256, Add, 2>>,
/// ) {
///     let letter = block.map(|t| usize::from(letters.at(t.rank())));
///     let bins = shared.bins(&block);
///     block.threads(|t| bins.add(&t, letter.get(&t), 1));
///     let counts = bins.publish(&block); // the sums of both copies, for all threads to read
///     let mut results = out.for_block(&block);
///     let result = results.get_mut(0);
///     block.threads(|t| result.set(&t, counts[letter.get(&t)]));
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let (letters, mut out) = (device.upload(&b"abacabad".repeat(8))?, device.zeroed(64)?);
/// # occurrences::launch(&device.stream()?, 1, &letters, &mut out)?;
/// # assert_eq!(out.download()?, [32, 16, 32, 8, 32, 16, 32, 8].repeat(8));
/// # Ok(())
/// # }
/// ```
pub struct Bins<T: Element, const LEN: usize, O: AtomicOperation<T>, const COPIES: usize = 1>(PhantomData<(T, O)>);

impl<T: Element, const LEN: usize, O: AtomicOperation<T>, const COPIES: usize> Bins<T, LEN, O, COPIES> {
    /// The bins of all copies.
    pub(super) const ALL: usize = {
        assert!(LEN >= 1, "there is at least one bin");
        assert!(COPIES >= 1, "there is at least one copy of the bins");
        assert!(LEN <= u32::MAX as usize / size_of::<T>() / COPIES, "the bins fit in 4 GiB");
        LEN * COPIES
    };
    /// Pieces of 16 bytes that they take.
    pub(super) const PIECES: usize = (Self::ALL * size_of::<T>()).div_ceil(16);
}

// SAFETY: 16 is a power of two; all bins lie in that many pieces of 16 bytes from the start on.
unsafe impl<T: Element, const LEN: usize, O: AtomicOperation<T>, const COPIES: usize> Layout
    for Bins<T, LEN, O, COPIES>
{
    const BYTES: usize = 16 * Self::PIECES;
    const ALIGNMENT: usize = 16;
    const STORES: bool = false;
}
