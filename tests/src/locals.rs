//! The kernels of `tilepipe_test_kernels::locals`: what their threads wrote.

use tilepipe_host::{Device, Error};
use tilepipe_test_kernels::locals;

/// What the threads of a block or of a role wrote, block by block.
pub struct Addresses {
    /// Where the local variable is.
    pub of: &'static str,
    /// How many threads of a block wrote.
    pub threads: usize,
    /// What they wrote.
    pub written: Vec<u64>,
}

impl Addresses {
    /// Returns the first block in which not all threads wrote the same address, with what they
    /// wrote.
    pub fn first_difference(&self) -> Option<(usize, &[u64])> {
        let mut blocks = self.written.chunks(self.threads).enumerate();
        blocks.find(|(_, block)| block[0] == 0 || block.iter().any(|address| *address != block[0]))
    }
}

/// Launches the kernels in `grid` blocks, with one tile for each block.
///
/// # Errors
///
/// Those of the launches.
pub fn addresses(device: &Device, grid: u32) -> Result<Vec<Addresses>, Error> {
    let (stream, blocks) = (device.stream()?, grid as usize);
    let (mut in_block, mut in_function) = (device.zeroed::<u64>(128 * blocks)?, device.zeroed::<u64>(128 * blocks)?);
    locals::addresses_of_locals::launch(&stream, grid, &mut in_block, &mut in_function)?;
    let (mut in_first, mut in_second) = (device.zeroed::<u64>(32 * blocks)?, device.zeroed::<u64>(96 * blocks)?);
    locals::addresses_of_locals_in_roles::launch(&stream, grid, &mut in_first, &mut in_second)?;
    [
        ("the block", 128, in_block),
        ("a function", 128, in_function),
        ("the first role", 32, in_first),
        ("the second role", 96, in_second),
    ]
    .into_iter()
    .map(|(of, threads, buffer)| Ok(Addresses { of, threads, written: buffer.download()? }))
    .collect()
}

/// Checks in `grid` blocks that all threads of a block, or of a role, see the same addresses.
///
/// # Panics
///
/// If two of them differ, or a launch fails: with the block.
pub fn check(device: &Device, grid: u32) {
    for addresses in addresses(device, grid).unwrap_or_else(|error| panic!("{}: {error}", device.name())) {
        if let Some((block, written)) = addresses.first_difference() {
            panic!("addresses of a local of {} in block {block} on {}: {written:x?}", addresses.of, device.name());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_with_an_address_of_its_own_or_without_one_is_found() {
        let of = |written: &[u64]| Addresses { of: "", threads: 2, written: written.to_vec() };
        assert_eq!(of(&[8, 8, 16, 16]).first_difference(), None);
        assert_eq!(of(&[8, 8, 16, 24]).first_difference(), Some((1, &[16, 24][..])));
        assert_eq!(of(&[0, 0, 16, 16]).first_difference(), Some((0, &[0, 0][..])));
    }
}
