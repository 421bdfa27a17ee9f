//! The kernel of `tilepipe_test_kernels::memory::parts`, compared with a plain loop.

use tilepipe_host::{Device, Error};
use tilepipe_test_kernels::memory::parts::sums_through_parts;

use crate::case::random_bits;

/// Elements of a tile.
const LEN: usize = 64;

/// Checks it, and returns the number of launches.
///
/// # Errors
///
/// Those of the launches.
///
/// # Panics
///
/// If an element is wrong.
pub fn check(device: &Device) -> Result<usize, Error> {
    let lengths = [1, LEN, 7 * LEN + 5];
    for len in lengths {
        let bytes = random_bits::<u8>(len, 3);
        let words = random_bits::<u16>(len, 5);
        let longs = random_bits::<u64>(len, 7);
        let (b, w, l) = (device.upload(&bytes)?, device.upload(&words)?, device.upload(&longs)?);
        let mut out = device.filled_with_byte::<u64>(len, 0xEE)?;
        sums_through_parts::launch(&device.stream()?, 3, &b, &w, &l, &mut out)?;
        let expected = |at: usize| {
            let (first, rank) = (at / LEN * LEN, at % LEN);
            let byte = |e: usize| u64::from(bytes.get(first + e).copied().unwrap_or(0));
            let long = |e: usize| longs.get(first + e).copied().unwrap_or(0);
            let square = byte(rank % 63) * byte(rank % 63 + 1);
            let seven = 7 * (rank / 4) as u64;
            [byte(rank), u64::from(words[at]), 63 - rank as u64, seven, square, long(63 - rank) / 2, long(rank)]
                .into_iter()
                .fold(0, |sum: u64, value| sum.wrapping_mul(31).wrapping_add(value))
        };
        assert_eq!(out.download()?, (0..len).map(expected).collect::<Vec<_>>(), "{len}");
    }
    Ok(lengths.len())
}
