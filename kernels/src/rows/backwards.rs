//! An array from its end to its start.

use tilepipe::{Block, Element, Input, Runs, TilesMut, kernel};

/// Elements that a thread reads and writes at once.
const PIECE: usize = 4;

/// Writes the input from its end to its start: `out[i] = input[len - 1 - i]`.
///
/// A thread reads `PIECES` pieces of four elements of each tile, all before it writes the first.
/// Where the input's length is no multiple of four, a piece of the output lies across two of the
/// input, and elements are read one by one. Past the input's length the output is zero.
#[kernel(instances(T = [i32, f32], THREADS = [128, 256], PIECES = [1, 2, 4], LEN = [4 * PIECES * THREADS]))]
pub fn reverse<T: Element, const THREADS: usize, const PIECES: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Input<T>,
    mut out: TilesMut<T, LEN, Runs<PIECE>>,
) {
    let len = input.len();
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = LEN * results.number(i);
        let result = results.get_mut(i);
        if len.is_multiple_of(PIECE) {
            // Past the first piece the numbers wrap: there is no such piece, which reads as zeros.
            let last = (len / PIECE).wrapping_sub(1 + first / PIECE);
            block.threads(|t| {
                let pieces: [[T; PIECE]; PIECES] = core::array::from_fn(|nth| {
                    let (values, _) = input.run::<PIECE>(last.wrapping_sub(nth * THREADS + t.rank()));
                    core::array::from_fn(|lane| values[PIECE - 1 - lane])
                });
                result.set_own(&t, |nth| pieces[nth / PIECE][nth % PIECE]);
            });
        } else {
            let last = len.wrapping_sub(1 + first);
            block.threads(|t| {
                result.set_each(&t, |element| input.get(last.wrapping_sub(element)).unwrap_or_else(T::zeroed));
            });
        }
    }
}
