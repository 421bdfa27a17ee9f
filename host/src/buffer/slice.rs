//! Parts of a buffer, as arguments of a launch.

use std::fmt;
use std::ops::{Bound, Range, RangeBounds};

use tilepipe::Element;

use super::Buffer;
use crate::error::Error;

/// Part of a [`Buffer`], to be read by a kernel: what is passed for `Tiles` and `Halos` in place of
/// the whole buffer.
///
/// Made by [`Buffer::slice`]. The kernel's view ends where the slice ends: what lies past it reads
/// as zero, as past the end of a buffer. A copy that is filled up with zeros reads no byte past the
/// end, by the definition of `cp.async`; compute-sanitizer counts it as a read of the whole 16-byte
/// unit, which always lies in the buffer's allocation.
///
/// # Invariants
///
/// 0. `elements` is not empty and lies within `buffer`.
#[derive(Clone, Copy)]
pub struct Slice<'a, T> {
    buffer: &'a Buffer<T>,
    elements: Part,
}

/// Part of a [`Buffer`], to be written by a kernel: what is passed for `TilesMut` in place of the
/// whole buffer.
///
/// Made by [`Buffer::slice_mut`]. The launch writes nothing outside of the slice, and still counts
/// as a use of the whole buffer: it may have no other argument in the same buffer, even one that
/// does not overlap, and launches that conflict on the buffer run one after the other.
///
/// # Invariants
///
/// 0. `elements` is not empty and lies within `buffer`.
pub struct SliceMut<'a, T> {
    buffer: &'a mut Buffer<T>,
    elements: Part,
}

/// Places in a row, at least one: `len` of them, from `start` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) start: usize,
    pub(super) len: usize,
}

impl<T: Element> Buffer<T> {
    /// Returns part of the buffer for a kernel to read; the range is in elements.
    ///
    /// A kernel that copies asynchronously wants the part to start at a multiple of 16 bytes: every
    /// 4th element of 4 bytes. An output whose elements are `Striped` starts anywhere. The launch
    /// checks it.
    ///
    /// # Errors
    ///
    /// [`Error::BadSlice`] if the range is empty or does not lie in the buffer.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
    /// use tilepipe_host::{Device, Schedule};
    ///
    /// #[kernel]
    /// pub fn negate(
    ///     block: Block<128>,
    ///     input: Tiles<i32, 128>,
    ///     mut out: TilesMut<i32, 128>,
    ///     shared: Shared<Stages<[i32; 128], 1>>,
    /// ) {
    ///     let tiles = input.for_block(&block);
    ///     let mut results = out.for_block(&block);
    ///     let _ = shared.pipeline(&block).for_each(
    ///         tiles.len(),
    ///         |stage, i| stage.copy(tiles.get(i)),
    ///         |tile, i| {
    ///             let result = results.get_mut(i);
    ///             block.threads(|t| result.set(&t, -tile[t.rank()]));
    ///         },
    ///     );
    /// }
    ///
    /// fn main() -> Result<(), tilepipe_host::Error> {
    ///     let device = Device::cpu(Schedule::Lazy);
    ///     let input = device.upload(&[1, 2, 3, 4, 5, 6, 7, 8])?;
    ///     let mut out = device.zeroed(8)?;
    ///     // The elements 4 and 5 of the input go to the elements 0 and 1 of the output.
    ///     negate::launch(&device.stream()?, 1, input.slice(4..6)?, out.slice_mut(..2)?)?;
    ///     assert_eq!(out.download()?, [-5, -6, 0, 0, 0, 0, 0, 0]);
    ///     assert!(input.slice(4..9).is_err());
    ///     Ok(())
    /// }
    /// ```
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'_, T>, Error> {
        let elements = part(&range, self.len())?;
        Ok(Slice { buffer: self, elements })
    }

    /// Returns part of the buffer for a kernel to write; the range is in elements, and starts where
    /// [`Buffer::slice`] says.
    ///
    /// # Errors
    ///
    /// [`Error::BadSlice`] if the range is empty or does not lie in the buffer.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<SliceMut<'_, T>, Error> {
        let elements = part(&range, self.len())?;
        Ok(SliceMut { buffer: self, elements })
    }
}

impl<'a, T: Element> Slice<'a, T> {
    /// Returns the number of elements, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "no slice is empty")]
    pub fn len(&self) -> usize {
        self.elements.len
    }

    /// Returns the buffer of which this is part, the first element's index there, and how many
    /// there are.
    pub(crate) fn parts(self) -> (&'a Buffer<T>, usize, usize) {
        (self.buffer, self.elements.start, self.elements.len)
    }
}

impl<'a, T: Element> SliceMut<'a, T> {
    /// Returns the number of elements, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "no slice is empty")]
    pub fn len(&self) -> usize {
        self.elements.len
    }

    /// Returns the buffer of which this is part, the first element's index there, and how many
    /// there are.
    pub(crate) fn parts(self) -> (&'a Buffer<T>, usize, usize) {
        (self.buffer, self.elements.start, self.elements.len)
    }
}

impl Part {
    /// The places of `range`, unless there is none or they do not lie among the first `len`.
    pub(super) fn of(range: &Range<usize>, len: usize) -> Option<Part> {
        let valid = range.start < range.end && range.end <= len;
        valid.then(|| Part { start: range.start, len: range.len() })
    }

    fn range(self) -> Range<usize> {
        self.start..self.start + self.len
    }
}

impl<T> fmt::Debug for Slice<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("Slice");
        text.field("buffer", self.buffer).field("elements", &self.elements.range()).finish()
    }
}

impl<T> fmt::Debug for SliceMut<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("SliceMut");
        text.field("buffer", self.buffer).field("elements", &self.elements.range()).finish()
    }
}

/// Returns the elements that `range` names of a buffer of `len`.
fn part(range: &impl RangeBounds<usize>, len: usize) -> Result<Part, Error> {
    let range = bounds(range, len);
    Part::of(&range, len).ok_or(Error::BadSlice { start: range.start, end: range.end, len })
}

/// Returns the range with both of its ends, of which a range of `len` places may lack either.
pub(super) fn bounds(range: &impl RangeBounds<usize>, len: usize) -> Range<usize> {
    // A bound beyond `usize::MAX` is out of range as `usize::MAX` is: no buffer has so many
    // elements.
    let start = match range.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(end) => *end,
        Bound::Unbounded => len,
    };
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_names_the_elements_that_it_names_of_a_slice() {
        let elements: Vec<usize> = (0..8).collect();
        let cases: [(Bound<usize>, Bound<usize>); 5] = [
            (Bound::Unbounded, Bound::Unbounded),
            (Bound::Included(2), Bound::Excluded(5)),
            (Bound::Excluded(2), Bound::Included(7)),
            (Bound::Included(7), Bound::Included(7)),
            (Bound::Unbounded, Bound::Excluded(1)),
        ];
        for range in cases {
            let named = &elements[range];
            assert_eq!(part(&range, 8).unwrap(), Part { start: named[0], len: named.len() }, "{range:?}");
        }
    }

    #[test]
    fn no_range_that_is_empty_reversed_or_too_long_is_a_part() {
        let cases = [
            (Bound::Included(3), Bound::Excluded(3)),
            (Bound::Included(5), Bound::Excluded(3)),
            (Bound::Included(0), Bound::Excluded(9)),
            (Bound::Included(8), Bound::Unbounded),
            (Bound::Unbounded, Bound::Included(usize::MAX)),
            (Bound::Excluded(usize::MAX), Bound::Unbounded),
        ];
        for range in cases {
            assert!(matches!(part(&range, 8), Err(Error::BadSlice { len: 8, .. })), "{range:?}");
        }
    }
}
