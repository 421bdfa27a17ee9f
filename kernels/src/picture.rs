//! Pictures: a blur whose tiles the copy engine finds and stores by maps, and one without stages.

use tilepipe::{
    Block, Extents2, Halo2, NoSwizzle, Outputs, Runs, Shared, Stages, Tensor, TensorMap, TensorMut, TensorTile,
    Tiles2D, TilesMut2D, kernel,
};

/// The box around a tile of `ROWS` rows of `COLUMNS` bytes, with what is around it that the blur
/// reaches.
type Around<const ROWS: usize, const COLUMNS: usize> = Halo2<ROWS, COLUMNS, 2, OWN>;
/// Stages of such boxes, and the tiles that become of them.
type Memory<const ROWS: usize, const COLUMNS: usize, const STAGES: usize, const COUNT: usize> = (
    Stages<TensorTile<u8, Around<ROWS, COLUMNS>, NoSwizzle>, STAGES, TensorMap>,
    Outputs<TensorTile<u8, Extents2<ROWS, COLUMNS>, NoSwizzle>, COUNT>,
);

/// Pixels on either side that each one depends on.
const REACH: i32 = 2;
/// Rows above and below that each one depends on.
const ABOVE: usize = REACH as usize;
/// Bytes of a row of a thread, which it writes at once: the copy engine begins boxes at their
/// multiples, so a box has as many on either side.
const OWN: usize = 16;
/// Rows of a thread.
const DOWN: usize = 4;
/// Bytes before a thread's own of those that it looks at, at least `REACH` pixels.
const BEFORE: usize = 8;
/// Words of a row that it looks at.
const WORDS: usize = 8;
/// The first and the third of four bytes.
const EVEN: u32 = 0x00FF_00FF;

/// Blurs a picture of `CHANNELS` bytes a pixel: each becomes the mean of the 5 x 5 pixels around
/// it, weighted 1, 4, 6, 4, 1 in both directions and rounded to the nearest. Beyond its borders the
/// picture goes on with the pixels of the border.
///
/// A row is `CHANNELS` bytes for each pixel. Boxes that reach beyond a border have zeros there,
/// which pixels of the border replace. What is computed for pixels that are none is dropped.
#[kernel(instances(CHANNELS = [1, 3], THREADS = [224], ROWS = [64], COLUMNS = [224], STAGES = [2], COUNT = [2]))]
pub fn blur<
    const CHANNELS: usize,
    const THREADS: usize,
    const ROWS: usize,
    const COLUMNS: usize,
    const STAGES: usize,
    const COUNT: usize,
>(
    block: Block<THREADS>,
    picture: Tensor<u8, Around<ROWS, COLUMNS>, NoSwizzle>,
    out: TensorMut<u8, Extents2<ROWS, COLUMNS>, NoSwizzle>,
    shared: Shared<Memory<ROWS, COLUMNS, STAGES, COUNT>>,
) {
    const { assert!(2 * CHANNELS <= BEFORE && BEFORE <= OWN) };
    let (stages, outputs) = shared.split();
    let boxes = picture.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    let places = results.places();
    let _ = stages.pipeline(&block).for_each(
        places.len(),
        |stage, i| stage.copy(boxes.get(i)),
        |tile, i| {
            let (row, column) = places.get(i);
            let rows = Side { own: (row * ROWS) as i32, all: picture.rows() as i32 };
            let columns = Side { own: (column * COLUMNS) as i32, all: picture.columns() as i32 };
            results.tile(i).fill_patches(&block, |row, column| {
                // The thread's own column, and how far it is to the right border.
                let (own, left) = (columns.own + column as i32, columns.all - columns.own - column as i32);
                blurred::<CHANNELS>(|down| {
                    // The box begins `REACH` rows above the tile.
                    let row = (rows.nearest((row + down) as i32 - REACH) + REACH) as usize;
                    let mut line = words(tile, row, column);
                    let pixel = |column| pixel::<CHANNELS>(|channel| tile[(row, column + channel)]);
                    if own == 0 {
                        put(&mut line, pixel(OWN), BEFORE as i32 - 2 * CHANNELS as i32);
                    }
                    if 0 < left && left < (4 * WORDS - BEFORE) as i32 {
                        put(&mut line, pixel(column + OWN + left as usize - CHANNELS), BEFORE as i32 + left);
                    }
                    line
                })
            });
        },
    );
}

/// [`blur`](fn@crate::blur) without stages: a thread has 16 bytes of each of `ROWS` rows, of which
/// it adds up the columns first, and keeps what the rows below depend on too. It reads what it
/// needs where it lies.
#[kernel(instances(CHANNELS = [1], THREADS = [64], ROWS = [16], COLUMNS = [16 * THREADS]))]
pub fn blur_reads<const CHANNELS: usize, const THREADS: usize, const ROWS: usize, const COLUMNS: usize>(
    block: Block<THREADS>,
    picture: Tiles2D<u8, ROWS, COLUMNS>,
    mut out: TilesMut2D<u8, ROWS, COLUMNS, Runs<OWN>>,
) {
    const { assert!(2 * CHANNELS <= BEFORE && BEFORE <= OWN && COLUMNS == OWN * THREADS && ROWS == 4 * DOWN) };
    let (height, width) = (picture.height(), picture.width());
    let is_small = height.max(width) <= u32::MAX as usize;
    let mut results = out.for_block(&block);
    let places = results.places();
    for i in 0..results.len() {
        let (down, right) = places.get(i);
        let dst = results.get_mut(i);
        block.threads(|t| {
            // The first row that it reads, which wraps above the first one, and its own piece.
            let (top, piece) = ((down * ROWS).wrapping_sub(ABOVE), right * THREADS + t.rank());
            // One check for all reads, which then are under way together.
            // Of numbers of 32 bits the compiler sees that the sums don't wrap.
            let (near, own) = (top as u32 as usize, piece as u32 as usize);
            let is_inside = is_small
                && dst.rows() == ROWS
                && dst.columns() == COLUMNS
                && down > 0
                && near + (ROWS + 2 * ABOVE - 1) < height
                && own > 0
                && own < width / OWN
                && 2 * own + 2 < width / BEFORE;
            if is_inside {
                let four = |down| four_lines::<CHANNELS, ROWS, COLUMNS>(&picture, near + down, own);
                let store = |row, above: &[Across; DOWN], below: &[Across; DOWN]| {
                    let ([a, b, c, d], [e, f, g, h]) = (above, below);
                    dst.set_run(&t, row, bytes_of(&added([a, b, c, d, e])));
                    dst.set_run(&t, row + 1, bytes_of(&added([b, c, d, e, f])));
                    dst.set_run(&t, row + 2, bytes_of(&added([c, d, e, f, g])));
                    dst.set_run(&t, row + 3, bytes_of(&added([d, e, f, g, h])));
                };
                let (first, second) = (four(0), four(DOWN));
                store(0, &first, &second);
                let third = four(2 * DOWN);
                store(DOWN, &second, &third);
                let fourth = four(3 * DOWN);
                store(2 * DOWN, &third, &fourth);
                store(3 * DOWN, &fourth, &four(4 * DOWN));
                return;
            }
            // One line at a time: this is seldom.
            let column = OWN * piece;
            let [mut a, mut b, mut c, mut d] = [[0; OWN / 2]; 4];
            for line in 0..ROWS + 2 * ABOVE {
                let row = (down * ROWS + line).saturating_sub(ABOVE).min(height - 1);
                let mut words = words_of(&picture, row, piece, (2 * piece).wrapping_sub(1));
                let pixel =
                    |column| pixel::<CHANNELS>(|channel| picture.get(row, column + channel).unwrap_or_default());
                if column == 0 {
                    put(&mut words, pixel(0), BEFORE as i32 - 2 * CHANNELS as i32);
                }
                if column < width && width < column + 4 * WORDS - BEFORE {
                    put(&mut words, pixel(width - CHANNELS), (BEFORE + width - column) as i32);
                }
                let e = across::<CHANNELS>(&words);
                if let Some(row) = line.checked_sub(2 * ABOVE) {
                    dst.set_run(&t, row, bytes_of(&added([&a, &b, &c, &d, &e])));
                }
                (a, b, c, d) = (b, c, d, e);
            }
        });
    }
}

/// The sums of four rows of a picture around a thread's piece, which is neither the first one nor
/// the last one of a row: [`across`]. All are read before one is used.
#[inline(always)]
fn four_lines<const CHANNELS: usize, const ROWS: usize, const COLUMNS: usize>(
    picture: &Tiles2D<'_, u8, ROWS, COLUMNS>,
    row: usize,
    piece: usize,
) -> [Across; DOWN] {
    let line = |down| words_of(picture, row + down, piece, 2 * piece - 1);
    let (a, b, c, d) = (line(0), line(1), line(2), line(3));
    [across::<CHANNELS>(&a), across::<CHANNELS>(&b), across::<CHANNELS>(&c), across::<CHANNELS>(&d)]
}

/// The words of a piece of 16 bytes of a row of a picture, with the 8 bytes `before` it, by their
/// number, and as many behind it. Beyond the row's ends there are zeros.
#[inline(always)]
fn words_of<const ROWS: usize, const COLUMNS: usize>(
    picture: &Tiles2D<'_, u8, ROWS, COLUMNS>,
    row: usize,
    piece: usize,
    before: usize,
) -> [u32; WORDS] {
    let half = |nth: usize| u64::from_le_bytes(picture.run::<BEFORE>(row, nth).0);
    words_between(half(before), u128::from_le_bytes(picture.run::<OWN>(row, piece).0), half(2 * piece + 2))
}

/// Where a tile lies in one of the picture's directions.
#[derive(Clone, Copy)]
struct Side {
    /// Its first element in the picture.
    own: i32,
    /// Elements of the picture.
    all: i32,
}

impl Side {
    /// The picture's element nearest to the tile's element `at`, counted from the tile on.
    #[inline(always)]
    fn nearest(self, at: i32) -> i32 {
        at.max(-self.own).min(self.all - 1 - self.own)
    }
}

/// A pixel of these bytes, twice.
#[inline(always)]
fn pixel<const CHANNELS: usize>(byte: impl Fn(usize) -> u8) -> u64 {
    let mut pixel = 0;
    for channel in 0..CHANNELS {
        pixel |= u64::from(byte(channel)) << (8 * channel);
    }
    pixel | pixel << (8 * CHANNELS)
}

/// Puts bytes in a line's place from byte `at` on, where it has zeros.
#[inline(always)]
fn put(line: &mut [u32; WORDS], bytes: u64, at: i32) {
    #[expect(clippy::needless_range_loop, reason = "an iterator would keep the line in local memory")]
    for word in 0..WORDS {
        line[word] |= match 8 * at - 32 * word as i32 {
            after @ 0..32 => (bytes << after) as u32,
            before @ -63..0 => (bytes >> -before) as u32,
            _ => 0,
        };
    }
}

/// The bytes of a row of a box from `BEFORE` before the tile's `column` on.
#[inline(always)]
fn words<const ROWS: usize, const COLUMNS: usize>(
    tile: &TensorTile<u8, Around<ROWS, COLUMNS>, NoSwizzle>,
    row: usize,
    column: usize,
) -> [u32; WORDS] {
    let piece = |nth: usize| u128::from_le_bytes(tile.vector(row, column + nth * OWN));
    words_between((piece(0) >> 64) as u64, piece(1), piece(2) as u64)
}

/// The words of bytes, and of those before and after them.
#[inline(always)]
fn words_between(before: u64, own: u128, after: u64) -> [u32; WORDS] {
    let word = |piece: u128, nth: usize| (piece >> (32 * nth)) as u32;
    let half = |half: u64, nth: usize| (half >> (32 * nth)) as u32;
    [
        half(before, 0),
        half(before, 1),
        word(own, 0),
        word(own, 1),
        word(own, 2),
        word(own, 3),
        half(after, 0),
        half(after, 1),
    ]
}

/// Sums of a row's columns, two in a number: no sum has more than 16 bits. Of four columns in a row
/// the first and the third are in one number, the second and the fourth in the next.
type Pairs = [u32; 2 * WORDS];

/// The blurred bytes of a thread: of `DOWN` rows, which depend on four more. `line` returns the
/// words of one of them.
///
/// Those are added up column by column first.
#[inline(always)]
fn blurred<const CHANNELS: usize>(line: impl Fn(usize) -> [u32; WORDS]) -> [[u8; OWN]; DOWN] {
    let mut pairs = [[0; 2 * WORDS]; DOWN];
    // By hand, so that no sum lies in local memory.
    let mut add = |down: usize| add_line(&mut pairs, line(down), down);
    add(0);
    add(1);
    add(2);
    add(3);
    add(4);
    add(5);
    add(6);
    add(7);
    [
        means::<CHANNELS>(&pairs[0]),
        means::<CHANNELS>(&pairs[1]),
        means::<CHANNELS>(&pairs[2]),
        means::<CHANNELS>(&pairs[3]),
    ]
}

/// Adds a row, the one that is `REACH` rows above row `down`, to the sums of the rows that depend
/// on it, by its weight in each.
#[inline(always)]
fn add_line(pairs: &mut [Pairs; DOWN], line: [u32; WORDS], down: usize) {
    for word in 0..WORDS {
        let two = [line[word] & EVEN, line[word] >> 8 & EVEN];
        #[expect(clippy::needless_range_loop, reason = "an iterator would keep the sums in local memory")]
        for row in 0..DOWN {
            let weight = match down.wrapping_sub(row) {
                0 | 4 => 1,
                1 | 3 => 4,
                2 => 6,
                _ => 0,
            };
            pairs[row][2 * word] += weight * two[0];
            pairs[row][2 * word + 1] += weight * two[1];
        }
    }
}

/// The bytes of a row of a thread, from the sums of its columns.
#[inline(always)]
fn means<const CHANNELS: usize>(pairs: &Pairs) -> [u8; OWN] {
    // 256 times the means of the bytes `own` and `own + 2`, each half a unit more.
    let two = |own: usize| {
        let pair = |tap: usize| {
            let column = BEFORE + own + tap * CHANNELS - 2 * CHANNELS;
            let at = column / 4 * 2 + column % 2;
            if column % 4 < 2 { pairs[at] } else { pairs[at] >> 16 | pairs[at + 2] << 16 }
        };
        pair(0) + pair(4) + 4 * (pair(1) + pair(3)) + 6 * pair(2) + 0x0080_0080
    };
    let four = |first: usize| {
        let ([_, one, _, three], [_, two, _, four]) = (two(first).to_le_bytes(), two(first + 1).to_le_bytes());
        u128::from(u32::from_le_bytes([one, two, three, four])) << (8 * first)
    };
    (four(0) | four(4) | four(8) | four(12)).to_le_bytes()
}

/// Sums of a thread's bytes of a row, two in a number, as in [`Pairs`].
type Across = [u32; OWN / 2];

/// Half of what all weights of 5 x 5 pixels are together, twice.
const HALVES: u32 = 0x0080_0080;

/// A line's weighted sums of five pixels in a row, those around each of a thread's bytes.
#[inline(always)]
fn across<const CHANNELS: usize>(line: &[u32; WORDS]) -> Across {
    // The bytes `own` and `own + 2`, and all that they depend on.
    let two = |own: usize| {
        let pair = |tap: usize| {
            let column = BEFORE + own + tap * CHANNELS - 2 * CHANNELS;
            let pairs = |word: usize| line[word] >> (column % 2 * 8) & EVEN;
            let word = column / 4;
            if column % 4 < 2 { pairs(word) } else { pairs(word) >> 16 | pairs(word + 1) << 16 }
        };
        pair(0) + pair(4) + 4 * (pair(1) + pair(3)) + 6 * pair(2)
    };
    [two(0), two(1), two(4), two(5), two(8), two(9), two(12), two(13)]
}

/// The weighted sums of five rows, and half a unit more.
#[inline(always)]
fn added([one, two, three, four, five]: [&Across; 5]) -> Across {
    let sum = |nth| one[nth] + five[nth] + 4 * (two[nth] + four[nth]) + 6 * three[nth] + HALVES;
    [sum(0), sum(1), sum(2), sum(3), sum(4), sum(5), sum(6), sum(7)]
}

/// The bytes of a row of a thread, from 256 times as much.
#[inline(always)]
fn bytes_of(sums: &Across) -> [u8; OWN] {
    let four = |first: usize| {
        let at = first / 2;
        let ([_, one, _, three], [_, two, _, four]) = (sums[at].to_le_bytes(), sums[at + 1].to_le_bytes());
        u128::from(u32::from_le_bytes([one, two, three, four])) << (8 * first)
    };
    (four(0) | four(4) | four(8) | four(12)).to_le_bytes()
}
