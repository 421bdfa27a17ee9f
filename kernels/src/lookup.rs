//! Elements of a table, wherever they lie.

use tilepipe::{Block, Element, Input, Runs, Tiles, TilesMut, kernel};

/// Elements that a thread reads and writes at once.
const PIECE: usize = 4;

/// Writes for each index the table's element of that number: `out[i] = table[indices[i]]`. Past the
/// last index the output is zero.
///
/// A thread takes `PIECES` pieces of four indices of each tile. It reads all of them before the
/// first element, and all elements before it writes, so that as many reads are under way at once.
/// The last tile, if it is no whole one, is read index by index.
///
/// # Panics
///
/// If the table has no element of such a number.
#[kernel(instances(T = [i32, f32], THREADS = [128, 256], PIECES = [1, 2, 4], LEN = [4 * PIECES * THREADS]))]
pub fn gather<T: Element, const THREADS: usize, const PIECES: usize, const LEN: usize>(
    block: Block<THREADS>,
    indices: Tiles<u32, LEN>,
    table: Input<T>,
    mut out: TilesMut<T, LEN, Runs<PIECE>>,
) {
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = LEN * results.number(i);
        let result = results.get_mut(i);
        if result.len() == LEN && indices.len() >= first + LEN {
            block.threads(|t| {
                let places: [[u32; PIECE]; PIECES] =
                    core::array::from_fn(|nth| indices.run(first / PIECE + nth * THREADS + t.rank()).0);
                let values = places.map(|piece| piece.map(|place| table.at(place as usize)));
                result.set_own(&t, |nth| values[nth / PIECE][nth % PIECE]);
            });
        } else {
            block.threads(|t| {
                result.set_each(&t, |element| match indices.get(first + element) {
                    Some(place) => table.at(place as usize),
                    None => T::zeroed(),
                });
            });
        }
    }
}
