//! Pictures: a blur whose tiles the copy engine finds by a map.

use tilepipe::{Block, Blocked, Halo2, NoSwizzle, Shared, Stages, Tensor, TensorMap, TensorTile, TilesMut2D, kernel};

/// The box around a tile of `ROWS` rows of `COLUMNS` bytes, with what is around it that the blur
/// reaches. Beside it there are more bytes than that, so that those of a thread and all that they
/// depend on lie in two accesses of 16 bytes.
type Around<const ROWS: usize, const COLUMNS: usize> = Halo2<ROWS, COLUMNS, 2, BESIDE>;

/// Pixels on either side that each one depends on.
const REACH: u32 = 2;
/// Bytes of a box on either side of its own, at least `REACH` pixels.
const BESIDE: usize = 8;
/// Bytes of a thread, which it stores at once.
const OWN: usize = 16;
/// The first and the third of four bytes.
const EVEN: u32 = 0x00FF_00FF;

/// Blurs a picture of `CHANNELS` bytes a pixel: each becomes the mean of the 5 x 5 pixels around
/// it, weighted 1, 4, 6, 4, 1 in both directions and rounded to the nearest. Beyond its borders the
/// picture goes on with the pixels of the border.
///
/// A row is `CHANNELS` bytes for each pixel; a tile begins with a pixel, since `COLUMNS` is a
/// multiple of `CHANNELS`. The zeros of boxes that reach beyond a border are not read.
#[kernel(instances(CHANNELS = [1, 3], THREADS = [480], ROWS = [32], COLUMNS = [240], STAGES = [1, 2]), max_registers = 48)]
pub fn blur<
    const CHANNELS: usize,
    const THREADS: usize,
    const ROWS: usize,
    const COLUMNS: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    picture: Tensor<u8, Around<ROWS, COLUMNS>, NoSwizzle>,
    mut out: TilesMut2D<u8, ROWS, COLUMNS, Blocked>,
    shared: Shared<Stages<TensorTile<u8, Around<ROWS, COLUMNS>, NoSwizzle>, STAGES, TensorMap>>,
) {
    const { assert!(COLUMNS.is_multiple_of(CHANNELS) && 2 * CHANNELS <= BESIDE) };
    let boxes = picture.for_block(&block);
    let places = boxes.places();
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each(
        places.len(),
        |stage, i| stage.copy(boxes.get(i)),
        |tile, i| {
            let (row, column) = places.get(i);
            let rows = Side { own: (row * ROWS) as u32, step: 1, all: picture.rows() as u32 };
            let columns = Side { own: (column * COLUMNS) as u32, step: CHANNELS as u32, all: picture.columns() as u32 };
            let dst = results.get_mut(i);
            let is_whole = dst.rows() == ROWS && dst.columns() == COLUMNS;
            if is_whole && rows.is_inside(ROWS as u32) && columns.is_inside(COLUMNS as u32) {
                block.threads(|t| {
                    let (row, column) = dst.place(&t, 0);
                    // So it is in a whole tile; said here, it costs no code for a part of one.
                    if row < ROWS && column + OWN <= COLUMNS {
                        dst.set_all(&t, blurred_inside::<CHANNELS, ROWS, COLUMNS>(tile, row, column));
                    }
                });
            } else {
                block.threads(|t| {
                    for nth in 0..OWN {
                        let (row, column) = dst.place(&t, nth);
                        // The box of a tile begins before it.
                        let value = mean(|down, right| {
                            let row = rows.extended(row as u32, down) + REACH - rows.own;
                            let column = columns.extended(column as u32, right) + BESIDE as u32 - columns.own;
                            tile[(row as usize, column as usize)]
                        });
                        dst.set_nth(&t, nth, value);
                    }
                });
            }
        },
    );
}

/// Where a tile lies in one of the picture's directions.
#[derive(Clone, Copy)]
struct Side {
    /// Its first element in the picture.
    own: u32,
    /// Elements from one pixel to the next.
    step: u32,
    /// Elements of the picture.
    all: u32,
}

impl Side {
    /// Whether all pixels that those of a tile of `len` elements depend on are the picture's own.
    #[inline(always)]
    fn is_inside(self, len: u32) -> bool {
        let reach = REACH * self.step;
        self.own >= reach && self.own + len + reach <= self.all
    }

    /// Which of the picture's elements stands for the one that is `tap - REACH` pixels after the
    /// tile's element `at`: beyond a border the border's own one of the same channel.
    ///
    /// For an element of the tile that lies beyond the picture it is one of the box all the same.
    #[inline(always)]
    fn extended(self, at: u32, tap: u32) -> u32 {
        // From `reach` before the picture on, so that nothing is negative.
        let reach = REACH * self.step;
        let from = self.own + at + tap * self.step;
        let from = if from < reach { reach + from % self.step } else { from };
        let end = self.all + reach;
        let within = if from < end { from } else { from - ((from - end) / self.step + 1) * self.step };
        within.saturating_sub(reach)
    }
}

/// The weighted mean of what `pixel` says of 5 rows and 5 columns. The weights of both directions
/// together have the sum 256.
#[inline(always)]
fn mean(pixel: impl Fn(u32, u32) -> u8) -> u8 {
    let weight = |tap| match tap {
        0 | 4 => 1,
        1 | 3 => 4,
        _ => 6,
    };
    let mut sum = 128;
    for down in 0..5 {
        for right in 0..5 {
            sum += weight(down) * weight(right) * u32::from(pixel(down, right));
        }
    }
    (sum >> 8) as u8
}

/// Sums of a box's columns, two in a number: no sum has more than 16 bits. Of four columns in a row
/// the first and the third are in one number, the second and the fourth in the next.
type Pairs = [u32; OWN];

/// The blurred bytes of a tile from `column` of `row` on, where all around are the picture's own.
///
/// They depend on 32 bytes of each row of the box. Those are added up column by column first.
#[inline(always)]
fn blurred_inside<const CHANNELS: usize, const ROWS: usize, const COLUMNS: usize>(
    tile: &TensorTile<u8, Around<ROWS, COLUMNS>, NoSwizzle>,
    row: usize,
    column: usize,
) -> [u8; OWN] {
    let mut pairs = [0; OWN];
    let mut add = |down: usize, weight: u32| {
        add_row(&mut pairs, u128::from_le_bytes(tile.vector(row + down, column)), 0, weight);
        add_row(&mut pairs, u128::from_le_bytes(tile.vector(row + down, column + OWN)), OWN / 2, weight);
    };
    add(0, 1);
    add(1, 4);
    add(2, 6);
    add(3, 4);
    add(4, 1);
    let four = |first: usize| {
        let (even, odd) = (means::<CHANNELS>(&pairs, first), means::<CHANNELS>(&pairs, first + 1));
        u128::from(even >> 8 & EVEN | odd & !EVEN) << (8 * first)
    };
    (four(0) | four(4) | four(8) | four(12)).to_le_bytes()
}

/// Adds `weight` times 16 bytes to the sums of their columns, which begin at `first`.
#[inline(always)]
fn add_row(pairs: &mut Pairs, bytes: u128, first: usize, weight: u32) {
    for word in 0..OWN / 4 {
        let four = (bytes >> (32 * word)) as u32;
        pairs[first + 2 * word] += weight * (four & EVEN);
        pairs[first + 2 * word + 1] += weight * (four >> 8 & EVEN);
    }
}

/// 256 times the means of a thread's bytes `own` and `own + 2`, each half a unit more.
#[inline(always)]
fn means<const CHANNELS: usize>(pairs: &Pairs, own: usize) -> u32 {
    let pair = |tap: usize| {
        let column = BESIDE + own + tap * CHANNELS - 2 * CHANNELS;
        let at = column / 4 * 2 + column % 2;
        if column % 4 < 2 { pairs[at] } else { pairs[at] >> 16 | pairs[at + 2] << 16 }
    };
    pair(0) + pair(4) + 4 * (pair(1) + pair(3)) + 6 * pair(2) + 0x0080_0080
}
