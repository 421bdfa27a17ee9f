//! Whether the data fits in this machine's memory, asked before it is filled.

use anyhow::{Result, bail};

use crate::plan::Configuration;

/// Arrays of the full size that the CPU holds at once: input, expected and downloaded output.
const HOST_ARRAYS: u128 = 3;
/// The same where the device's two buffers are in the same memory.
const CPU_DEVICE_ARRAYS: u128 = 5;

/// Checks that arrays of `elements` elements of the largest type chosen fit in memory.
///
/// # Errors
///
/// How much is wanted, how much there is, and what to do.
pub fn check(configurations: &[Configuration], elements: usize, gpu: bool) -> Result<()> {
    let Some(dtype) = configurations.iter().map(|one| one.variant.dtype).max_by_key(|dtype| dtype.bytes()) else {
        return Ok(());
    };
    let array = elements as u128 * dtype.bytes() as u128;
    let wanted = array * if gpu { HOST_ARRAYS } else { CPU_DEVICE_ARRAYS };
    match available() {
        _ if array > isize::MAX as u128 => {
            bail!("{elements} elements of {dtype} are {array} bytes, which overflows the address space; {ADVICE}")
        }
        Some(available) if wanted > u128::from(available) => bail!(
            "{elements} elements of {dtype} need {} of memory and {} are free; {ADVICE}",
            mebibytes(wanted),
            mebibytes(u128::from(available))
        ),
        _ => Ok(()),
    }
}

const ADVICE: &str = "choose fewer with --elements";

fn mebibytes(bytes: u128) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

/// Bytes that can be had, if the operating system says: the machine's and the control group's, whichever is less.
fn available() -> Option<u64> {
    [machine(), control_group()].into_iter().flatten().min()
}

fn machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

fn control_group() -> Option<u64> {
    let read = |name| std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse::<u64>().ok();
    Some(read("memory.max")?.saturating_sub(read("memory.current")?))
}
