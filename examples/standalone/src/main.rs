//! A whole program: it opens a device, runs one kernel on it and checks the result.
#![forbid(unsafe_code)]

use standalone_kernels::slope;
use tilepipe_host::{Device, Error, Module, built_kernels};

/// What `build.rs` built.
static KERNELS: Module = built_kernels!();

fn main() -> Result<(), Error> {
    let device = Device::open()?;
    device.load(&KERNELS)?;
    let stream = device.stream()?;

    let signal: Vec<f32> = (0..100_003_u32).map(|i| (i as f32 * 0.001).sin()).collect();
    let input = device.upload(&signal)?;
    let mut out = device.zeroed::<f32>(signal.len())?;
    slope::launch::<256>(&stream, 64, &input, &mut out)?;
    let slopes = out.download()?;

    let at = |i: usize| signal.get(i).copied().unwrap_or(0.0);
    for (i, slope) in slopes.iter().enumerate() {
        let before = if i == 0 { 0.0 } else { at(i - 1) };
        assert_eq!(slope.to_bits(), ((at(i + 1) - before) / 2.0).to_bits(), "element {i}");
    }
    println!("{} slopes are right on {}", slopes.len(), device.name());
    Ok(())
}
