//! What is opened: a device, and the instances of all kernels by name.

use std::collections::HashMap;

use anyhow::{Context, Result, bail};
use tilepipe::launch::Instance;
use tilepipe_host::{Device, Grid};

/// The `grid` that is a block for each tile.
const TILES: i64 = 0;
/// That of as many blocks as run at once.
const RESIDENT: i64 = -1;

/// Our kernels on one GPU.
pub struct Kernels {
    /// The GPU.
    pub device: Device,
    instances: HashMap<&'static str, &'static Instance>,
}

impl Kernels {
    /// Lists all kernels, which a device has if they were loaded there.
    pub fn new(device: Device) -> Kernels {
        // The registry has those whose results are the same bits on all devices.
        let all = tilepipe_kernels::registry()
            .into_iter()
            .flatten()
            .chain(tilepipe_kernels::tensor_cores::instances())
            .chain(tilepipe_kernels::attention::instances());
        Kernels { device, instances: all.map(|instance| (instance.name(), instance)).collect() }
    }

    /// Finds an instance by its name without its crate's.
    ///
    /// # Errors
    ///
    /// There is none; with one of the same kernel, which shows how such a name is made.
    pub fn find(&self, name: &str) -> Result<&'static Instance> {
        if let Some(instance) = self.instances.get(name) {
            return Ok(instance);
        }
        let kernel = name.split("__").next().unwrap_or_default();
        let others = self.instances.values().filter(|other| other.kernel() == kernel);
        match others.map(|other| other.name()).min() {
            None => bail!("there is no kernel `{kernel}`, whose instance `{name}` would be"),
            Some(other) => bail!("kernel `{kernel}` has no instance `{name}`; it has `{other}`, say"),
        }
    }
}

/// Reads the number that stands for a grid.
///
/// # Errors
///
/// A number that is none.
pub fn grid(blocks: i64) -> Result<Grid> {
    match blocks {
        TILES => Ok(Grid::tiles()),
        RESIDENT => Ok(Grid::resident()),
        blocks => {
            let blocks = u32::try_from(blocks).ok().with_context(|| {
                format!("a grid of {blocks} blocks: it is a number of them, {TILES} for a block for each tile, or {RESIDENT} for as many as run at once")
            })?;
            Ok(Grid::from(blocks))
        }
    }
}
