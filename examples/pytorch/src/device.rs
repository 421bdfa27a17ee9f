//! The devices that the kernels run on, each opened once.

use std::sync::{Mutex, OnceLock, PoisonError};

use tilepipe_host::{Device, Error, Module, Schedule, built_kernels};

/// What `build.rs` built.
static KERNELS: Module = built_kernels!();

/// The CPU.
pub fn cpu() -> &'static Device {
    static CPU: OnceLock<Device> = OnceLock::new();
    CPU.get_or_init(|| Device::cpu(Schedule::default()))
}

/// A GPU in its primary context, which is PyTorch's, with the kernels.
///
/// # Errors
///
/// Those of [`Device::primary`] and [`Device::load`].
pub fn cuda(gpu: u32) -> Result<Device, Error> {
    static OPENED: Mutex<Vec<(u32, Device)>> = Mutex::new(Vec::new());
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, device)) = opened.iter().find(|(number, _)| *number == gpu) {
        return Ok(device.clone());
    }
    let device = Device::primary(gpu)?;
    device.load(&KERNELS)?;
    opened.push((gpu, device.clone()));
    Ok(device)
}
