//! How many blocks a contestant is launched with.

use anyhow::{Context, Result};
use tilepipe::launch::Instance;
use tilepipe_host::Device;

/// A number of blocks, or what it follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// So many.
    Of(u32),
    /// One for each tile (`Grid::tiles()` of the host crate).
    Tiles,
    /// As many as run at once, and no more than there are tiles (`Grid::resident()`).
    Resident,
}

impl Blocks {
    /// Says it, for people.
    pub fn text(self) -> String {
        match self {
            Blocks::Of(blocks) => format!("{blocks} blocks"),
            Blocks::Tiles => "a block a tile".to_owned(),
            Blocks::Resident => "resident blocks".to_owned(),
        }
    }

    /// Returns how many there are for so many tiles.
    ///
    /// # Errors
    ///
    /// A device without multiprocessors, or an instance that is not in its modules.
    pub fn number(self, device: &Device, instance: &Instance, tiles: usize) -> Result<u32> {
        let tiles = u32::try_from(tiles).unwrap_or(u32::MAX).clamp(1, i32::MAX as u32);
        match self {
            Blocks::Of(blocks) => Ok(blocks),
            Blocks::Tiles => Ok(tiles),
            Blocks::Resident => Ok(at_once(device, instance)?.min(tiles)),
        }
    }
}

/// The largest grid all of whose blocks run at once: a block that had to wait for another would end
/// long after the others.
///
/// # Errors
///
/// As for [`Blocks::number`].
pub fn at_once(device: &Device, instance: &Instance) -> Result<u32> {
    let (resources, multiprocessors) = (device.resources(instance)?, device.multiprocessors());
    resources.zip(multiprocessors).map(|(one, count)| one.blocks * count).context("this needs a GPU")
}
