//! Pictures: a blur whose tiles the copy engine finds and stores by maps.

use tilepipe::{
    Block, Extents2, Halo2, NoSwizzle, Outputs, Shared, Stages, Tensor, TensorMap, TensorMut, TensorTile, kernel,
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
                    if own == 0 {
                        let first = pixel::<CHANNELS, ROWS, COLUMNS>(tile, row, OWN);
                        put(&mut line, first, BEFORE as i32 - 2 * CHANNELS as i32);
                    }
                    if 0 < left && left < (4 * WORDS - BEFORE) as i32 {
                        let last = pixel::<CHANNELS, ROWS, COLUMNS>(tile, row, column + OWN + left as usize - CHANNELS);
                        put(&mut line, last, BEFORE as i32 + left);
                    }
                    line
                })
            });
        },
    );
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

/// The pixel at a place of a box, twice.
#[inline(always)]
fn pixel<const CHANNELS: usize, const ROWS: usize, const COLUMNS: usize>(
    tile: &TensorTile<u8, Around<ROWS, COLUMNS>, NoSwizzle>,
    row: usize,
    column: usize,
) -> u64 {
    let mut pixel = 0;
    for channel in 0..CHANNELS {
        pixel |= u64::from(tile[(row, column + channel)]) << (8 * channel);
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
    let (before, own, after) = (piece(0), piece(1), piece(2));
    let word = |piece: u128, nth: usize| (piece >> (32 * nth)) as u32;
    [
        word(before, 2),
        word(before, 3),
        word(own, 0),
        word(own, 1),
        word(own, 2),
        word(own, 3),
        word(after, 0),
        word(after, 1),
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
