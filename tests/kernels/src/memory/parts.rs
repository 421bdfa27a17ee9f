//! A small kernel whose shared memory has several parts.

use tilepipe::{Block, Scratch, Shared, Stages, Tiles, TilesMut, kernel};

/// Three parts.
pub type Three = (Stages<[u8; 64], 1>, Scratch<[u32; 63]>, Stages<[u64; 64], 2>);
/// Four parts.
pub type Four = (Scratch<[u8; 21]>, Stages<[u16; 64], 1>, Scratch<[u64; 64]>, Scratch<[u8; 64]>);

/// Sums of what goes through seven parts of shared memory, all of which are in use at the same
/// time. After each tile they are given back, joined, and split again.
#[kernel]
pub fn sums_through_parts(
    block: Block<64>,
    bytes: Tiles<u8, 64>,
    words: Tiles<u16, 64>,
    longs: Tiles<u64, 64>,
    mut out: TilesMut<u64, 64>,
    shared: Shared<(Three, Four)>,
) {
    let (bytes, words, longs) = (bytes.for_block(&block), words.for_block(&block), longs.for_block(&block));
    let mut results = out.for_block(&block);
    let mut shared = shared;
    for i in 0..results.len() {
        let (three, four) = shared.split();
        let (of_bytes, from_bytes, of_longs) = three.split();
        let (few, of_words, from_longs, ranks) = four.split();
        let (pipe_b, byte) = of_bytes.pipeline(&block).acquire().copy(bytes.get(i)).commit().wait();
        let (pipe_w, word) = of_words.pipeline(&block).acquire().copy(words.get(i)).commit().wait();
        let (pipe_l, long) = of_longs.pipeline(&block).acquire().copy(longs.get(i)).commit().wait();
        let (mut few, mut ranks) = (few.scratch(&block), ranks.scratch(&block));
        let (mut from_bytes, mut from_longs) = (from_bytes.scratch(&block), from_longs.scratch(&block));
        let ranked = ranks.fill(&block, |t, _| t.rank() as u8);
        let sevens = few.fill(&block, |_, e| 7 * e as u8);
        let squares = from_bytes.fill(&block, |_, e| u32::from(byte[e]) * u32::from(byte[e + 1]));
        let halves = from_longs.fill(&block, |_, e| long[63 - e] / 2);
        let dst = results.get_mut(i);
        block.threads(|t| {
            let rank = t.rank();
            let small = [u64::from(byte[rank]), u64::from(word[rank]), u64::from(ranked[63 - rank])];
            let large = [u64::from(sevens[rank / 4]), u64::from(squares[rank % 63]), halves[rank], long[rank]];
            let sum =
                small.into_iter().chain(large).fold(0, |sum: u64, value| sum.wrapping_mul(31).wrapping_add(value));
            dst.set(&t, sum);
        });
        let (few, ranks) = (few.finish(&block), ranks.finish(&block));
        let (from_bytes, from_longs) = (from_bytes.finish(&block), from_longs.finish(&block));
        let of_bytes = pipe_b.release(byte).finish();
        let (of_words, of_longs) = (pipe_w.release(word).finish(), pipe_l.release(long).finish());
        let (three, four) =
            (Shared::join_three(of_bytes, from_bytes, of_longs), Shared::join_four(few, of_words, from_longs, ranks));
        shared = Shared::join(three, four);
    }
}
