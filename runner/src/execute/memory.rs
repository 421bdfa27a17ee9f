//! Whether the data fits in this machine's memory, asked before it is filled.

use anyhow::{Result, bail};

use crate::stdout::counted;

use crate::plan::Configuration;
use crate::source::Source;
use crate::value::DType;

/// Checks that the arrays of the largest configuration fit in memory: inputs, and what was expected
/// and what came out. On the CPU the device's buffers are in the same memory.
///
/// # Errors
///
/// How much is wanted, how much there is, and what to do.
pub fn check(configurations: &[Configuration], source: &Source, gpu: bool) -> Result<()> {
    let bytes = |one: &Configuration| {
        let kind = one.variant.work.kind;
        let elements = match source {
            Source::Generated { elements } => *elements,
            Source::Files(_) | Source::Picture(_) => source.shape(one.variant.dtype, kind.dimensions()).elements(),
        };
        let array = elements as u128 * one.variant.dtype.bytes() as u128;
        // Indices have 4 bytes each, as the elements have of kernels that take some.
        let inputs = kind.inputs() + usize::from(kind.takes_indices());
        let arrays = if gpu { inputs + 2 } else { 2 * inputs + 3 };
        (array * arrays as u128, elements, one.variant.dtype)
    };
    let Some((wanted, elements, dtype)) = configurations.iter().map(bytes).max() else {
        return Ok(());
    };
    let advice = match source {
        Source::Picture(_) => "take a smaller picture",
        _ => "choose fewer with --elements",
    };
    check_bytes(wanted, elements as u128, dtype, advice)
}

/// Checks that `wanted` bytes are free for what is done with so many elements of that type.
///
/// # Errors
///
/// As for [`check`], with this advice.
pub fn check_bytes(wanted: u128, elements: u128, dtype: DType, advice: &str) -> Result<()> {
    let array = elements * dtype.bytes() as u128;
    match available() {
        _ if array > isize::MAX as u128 => {
            bail!("{elements} elements of {dtype} are {array} bytes, which overflow the address space; {advice}")
        }
        Some(available) if wanted > u128::from(available) => bail!(
            "{} of {dtype} need {} of memory and {} are free; {advice}",
            counted(elements, "element"),
            mebibytes(wanted),
            mebibytes(u128::from(available))
        ),
        _ => Ok(()),
    }
}

fn mebibytes(bytes: u128) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

/// Bytes that can be had, if the operating system says: the machine's and the control group's,
/// whichever is less.
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
