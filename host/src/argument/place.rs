//! Where the elements of a view lie, and which bytes they are.

use std::ops::Range;

use tilepipe::launch::ParameterInfo;

#[cfg(feature = "cudarc")]
use crate::argument::lent::Lent;
use crate::argument::{Bound, Value};
use crate::buffer::Memory;
use crate::device::Device;

/// Whose memory the elements of a view are.
#[derive(Clone)]
pub(crate) enum Place<'a> {
    /// A buffer's: it stays alive and in order by itself.
    Buffer(Memory),
    /// The same of a buffer that is borrowed: a handle of the memory's own would cost a launch two
    /// atomic operations.
    Borrowed(&'a Memory),
    /// Somebody's who promised to keep it, and everybody else off it, for `'a` and as long as the
    /// launch runs. It is memory of the device.
    Foreign(&'a Device),
    /// cudarc's, in the order of its events.
    #[cfg(feature = "cudarc")]
    Lent(Lent<'a>),
    /// cudarc's, of which the launch has found that it is of its device, and where it lies.
    #[cfg(feature = "cudarc")]
    Found,
}

impl Place<'_> {
    /// Says whether it is memory of this device, opened by the same call. The launch asks cudarc
    /// itself for what is cudarc's.
    pub(crate) fn is_of(&self, device: &Device) -> bool {
        match self {
            Place::Buffer(memory) => memory.is_of(device),
            Place::Borrowed(memory) => memory.is_of(device),
            Place::Foreign(owner) => owner.is(device),
            #[cfg(feature = "cudarc")]
            Place::Lent(_) | Place::Found => true,
        }
    }

    /// Returns the device that it is of, if it is known before the launch asks for it.
    pub(crate) fn device(&self) -> Option<Device> {
        match self {
            Place::Buffer(memory) => Some(memory.device()),
            Place::Borrowed(memory) => Some(memory.device()),
            Place::Foreign(owner) => Some((*owner).clone()),
            #[cfg(feature = "cudarc")]
            Place::Lent(_) | Place::Found => None,
        }
    }

    /// The memory, of a buffer's.
    pub(crate) fn memory(&self) -> Option<&Memory> {
        match self {
            Place::Buffer(memory) => Some(memory),
            Place::Borrowed(memory) => Some(memory),
            Place::Foreign(_) => None,
            #[cfg(feature = "cudarc")]
            Place::Lent(_) | Place::Found => None,
        }
    }
}

impl Bound<'_> {
    /// The bytes from the first element's start to the last one's end, of a view.
    pub(crate) fn bytes(&self, info: &ParameterInfo) -> Option<Range<u64>> {
        self.place.as_ref()?;
        self.value.bytes(info.element_bytes)
    }
}

impl Value {
    /// The bytes from the first element's start to the last one's end, of a view of elements of so
    /// many bytes.
    pub(crate) fn bytes(&self, element_bytes: usize) -> Option<Range<u64>> {
        // Saturating: what a caller says of foreign memory may be nonsense.
        let (address, elements) = match self {
            Value::Scalar(_) | Value::Constant(_) => return None,
            Value::Elements(elements) => (elements.value.address, elements.value.len.max(1)),
            Value::Rows(rows) => {
                let last = rows.height.saturating_sub(1).saturating_mul(rows.pitch);
                (rows.address, last.saturating_add(rows.width.max(1)))
            }
            Value::Array(array) => {
                let apart = [1].into_iter().chain(array.pitches);
                let last = array.extents.iter().zip(apart).fold(0_u64, |last, (extent, apart)| {
                    last.saturating_add(extent.saturating_sub(1).saturating_mul(apart))
                });
                (array.address, last.saturating_add(1))
            }
        };
        let bytes = elements.saturating_mul(element_bytes as u64);
        Some(address..address.saturating_add(bytes))
    }
}

#[cfg(test)]
mod tests {
    use tilepipe::launch::{RawElements, RawRows};

    use super::*;
    use crate::argument::{Array, Padded};

    #[test]
    fn the_bytes_of_a_view_end_with_its_last_element() {
        let elements = |address, len| Value::Elements(Padded::new(RawElements { address, len }));
        assert_eq!(elements(4096, 10).bytes(4), Some(4096..4136));
        // The last row ends after 2 * 12 + 10 elements.
        let rows = Value::Rows(RawRows { address: 256, width: 10, height: 3, pitch: 12 });
        assert_eq!(rows.bytes(2), Some(256..324));
        let (extents, pitches) = ([4, 3, 2, 1, 1], [8, 32, 64, 64]);
        let array = Value::Array(Box::new(Array { address: 0, dimensions: 3, extents, pitches }));
        assert_eq!(array.bytes(1), Some(0..32 + 2 * 8 + 4));
        assert_eq!(elements(8, u64::MAX).bytes(8), Some(8..u64::MAX));
        assert_eq!(Value::scalar(&[1]).bytes(4), None);
    }
}
