//! Products one after the other, each of the one before, which has not ended when it starts.

use tilepipe::bf16;
use tilepipe_host::{Buffer2D, Device, Stream};
use tilepipe_kernels::{Matrix, MultiplyError, multiply, multiply_in_parts};

use super::numbers;

/// The most rows of a matrix: more tiles than a GPU has multiprocessors.
const MOST_ROWS: usize = 1160;

/// How the products of a chain follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// In one stream, through `multiply`.
    OneStream,
    /// As above, every other one through `multiply_in_parts`, whose second kernel is one for all
    /// GPUs.
    WithParts,
    /// In two streams by turns, so that each waits for an event.
    TwoStreams,
}

/// Multiplies a matrix by a permutation again and again, back and forth between two buffers, and
/// compares what it becomes with its columns in their order. A kernel that reads its factor too
/// early, or writes its product too early, leaves other columns there. Returns how many products
/// there were.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element is another one.
pub fn check(device: &Device, sides: &[usize], length: usize) -> Result<usize, MultiplyError> {
    let mut products = 0;
    for (&side, seed) in sides.iter().zip(1..) {
        for order in [Order::OneStream, Order::WithParts, Order::TwoStreams] {
            // Both numbers of products, so that both buffers are looked at.
            for length in [length, length + 1] {
                chain(device, [side.min(MOST_ROWS), side], order, length, seed)?;
                products += length;
            }
        }
    }
    Ok(products)
}

fn chain(
    device: &Device,
    [rows, side]: [usize; 2],
    order: Order,
    length: usize,
    seed: u64,
) -> Result<(), MultiplyError> {
    let values: Vec<bf16> = numbers(rows * side, seed, 256).map(|number| bf16::from_f32(number as f32)).collect();
    let from = permutation(side, seed);
    let mut moves = vec![bf16::from_f32(0.0); side * side];
    from.iter().enumerate().for_each(|(column, from)| moves[column * side + from] = bf16::from_f32(1.0));
    let moves = device.upload_2d(&moves, side)?;
    // All that is computed is put into the streams at once.
    let mut buffers = [device.upload_2d(&values, side)?, device.filled_with_byte_2d(side, rows, 0xEE)?];
    // In two parts of K, if there are stages for both.
    let parts = side.div_ceil(64).min(2);
    let mut room = device.filled_with_byte_2d::<f32>(side, parts * rows.next_multiple_of(128), 0xFF)?;
    let streams = [device.stream()?, device.stream()?];
    for step in 0..length {
        let [even, odd] = &mut buffers;
        let (given, product) = if step % 2 == 0 { (even, odd) } else { (odd, even) };
        let stream = &streams[if order == Order::TwoStreams { step % 2 } else { 0 }];
        let room = (order == Order::WithParts && step % 2 == 0).then_some(&mut room);
        one(stream, given, &moves, room, product)?;
    }
    let found = buffers[length % 2].download()?;
    let mut place: Vec<usize> = (0..side).collect();
    for _ in 0..length {
        place = from.iter().map(|from| place[*from]).collect();
    }
    for (row, (found, given)) in found.chunks(side).zip(values.chunks(side)).enumerate() {
        let wanted: Vec<bf16> = place.iter().map(|place| given[*place]).collect();
        assert!(found == wanted, "row {row} of {rows} x {side} after {length} products, {order:?}");
    }
    Ok(())
}

fn one(
    stream: &Stream,
    given: &Buffer2D<bf16>,
    moves: &Buffer2D<bf16>,
    room: Option<&mut Buffer2D<f32>>,
    product: &mut Buffer2D<bf16>,
) -> Result<(), MultiplyError> {
    let (left, right) = (Matrix::of(given), Matrix::transposed(moves));
    match room {
        Some(room) => multiply_in_parts(stream, left, right, room, product),
        None => multiply(stream, left, right, product),
    }
}

/// Numbers below `count` in a random order.
fn permutation(count: usize, seed: u64) -> Vec<usize> {
    let mut numbers: Vec<(u32, usize)> = numbers(count, seed + 100, u32::MAX).zip(0..).collect();
    numbers.sort_unstable();
    numbers.into_iter().map(|(_, place)| place).collect()
}
