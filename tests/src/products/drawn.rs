//! Attention of shapes drawn at random.

use tilepipe::product::OperandElement;
use tilepipe::{bf16, f16};
use tilepipe_host::Device;
use tilepipe_kernels::attention::AttentionError;

use super::{Half, attention, fractions, numbers, packed};

/// What attention is computed of.
pub(super) trait Checked {
    /// Launches it for the first of these elements, which are enough, and looks at nothing.
    fn launch<T: Half + OperandElement>(&self, device: &Device, elements: &[T]) -> Result<(), AttentionError>;

    /// Launches it and checks some rows, or all.
    fn check<T: Half + OperandElement>(&self, device: &Device) -> Result<(), AttentionError>;
}

/// Launches attention of so many shapes drawn at random, of at most so many queries and keys in a
/// sequence, half of them of packed sequences, and checks one of each `of`, an odd number. Returns
/// how many were checked.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element is another one.
pub fn check(device: &Device, launches: usize, most: usize, of: usize) -> Result<usize, AttentionError> {
    // Three sequences of nine heads of 256 elements; no more are drawn.
    let count = 3 * most * 9 * 256;
    let (bf16s, f16s) = (fractions::<bf16>(count, 1), fractions::<f16>(count, 1));
    let mut draws = numbers(8 * launches, 2, u32::MAX).map(|number| number as usize);
    for nth in 0..launches {
        let draw = core::array::from_fn(|_| draws.next().expect("eight for each launch"));
        let is_checked = nth.is_multiple_of(of);
        let result = match nth % 4 {
            0 => one(device, &attention::Case::drawn(most, draw), &bf16s, is_checked),
            1 => one(device, &packed::Case::drawn(most, draw), &bf16s, is_checked),
            2 => one(device, &attention::Case::drawn(most, draw), &f16s, is_checked),
            _ => one(device, &packed::Case::drawn(most, draw), &f16s, is_checked),
        };
        result?;
    }
    Ok(launches.div_ceil(of))
}

fn one<T: Half + OperandElement>(
    device: &Device,
    case: &impl Checked,
    elements: &[T],
    is_checked: bool,
) -> Result<(), AttentionError> {
    if is_checked { case.check::<T>(device) } else { case.launch::<T>(device, elements) }
}
