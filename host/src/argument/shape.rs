//! The extents of what is bound, and the same memory seen in another way.

use tilepipe::launch::ParameterKind;

use super::{Bound, Value, matrices, matrices_of_rows};

impl Bound<'_> {
    /// Returns the number of elements of what has one dimension.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Bound, Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// let input = device.upload(&[1, 2, 3])?;
    /// assert_eq!(Bound::input(&input).extent_1d(), Some(3));
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    pub fn extent_1d(&self) -> Option<usize> {
        let array = self.value.array().filter(|array| array.dimensions == 1)?;
        Some(array.extents[0] as usize)
    }

    /// Returns the rows, and the elements of a row, of what has two dimensions.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Bound, Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// let input = device.upload_2d(&[1, 2, 3, 4, 5, 6], 3)?;
    /// assert_eq!(Bound::input_2d(&input).extents_2d(), Some([2, 3]));
    /// assert_eq!(Bound::scalar(1_u32).extents_2d(), None);
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    pub fn extents_2d(&self) -> Option<[usize; 2]> {
        let array = self.value.array().filter(|array| array.dimensions == 2)?;
        let [width, height, ..] = array.extents;
        Some([height as usize, width as usize])
    }

    /// The same view of an output for a kernel that reads it: of a later launch, since one launch
    /// does not both write and read it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Bound, Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// let mut between = device.zeroed::<i32>(3)?;
    /// let written = Bound::output(&mut between);
    /// let read = written.to_input();
    /// # let _ = read;
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    #[must_use]
    pub fn to_input(&self) -> Self {
        let kind = if self.kind.writes() { ParameterKind::Input } else { self.kind };
        Bound { kind, ..self.clone() }
    }

    /// The rows as an array of four dimensions, of matrices of so many rows and columns, which are
    /// parts of these rows and of their elements: for a tensor of
    /// [`Panels4`](tilepipe::Panels4). The heads of attention lie so in a matrix with a row for
    /// each token, and several sequences one after the other.
    ///
    /// `None` of what are no rows, and of rows that are not divided so without a rest.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Bound, Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// // Two sequences of 5 tokens with three heads of 64 elements.
    /// let tokens = device.zeroed_2d::<u16>(3 * 64, 2 * 5)?;
    /// assert!(Bound::input_2d(&tokens).in_matrices([5, 64]).is_some());
    /// assert!(Bound::input_2d(&tokens).in_matrices([4, 64]).is_none());
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    pub fn in_matrices(self, [rows, columns]: [usize; 2]) -> Option<Self> {
        let Value::Rows(all) = self.value else { return None };
        // What follows the elements of a matrix's row are mostly those of another matrix.
        let padding = if all.width == columns as u64 { self.padding } else { 0 };
        Some(Bound { value: matrices(all, [rows as u64, columns as u64])?, padding, ..self })
    }

    /// The rows as an array of four dimensions whose fourth one is the rows: each row is so many
    /// matrices side by side, with a row of `columns` elements behind the other. The heads of
    /// attention that share one lie so in the row of a token.
    ///
    /// `None` of what are no rows, and of rows that are not divided so without a rest.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Bound, Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// // 5 tokens with 6 heads of 64 elements, of which three share one of keys.
    /// let tokens = device.zeroed_2d::<u16>(6 * 64, 5)?;
    /// assert!(Bound::input_2d(&tokens).rows_in_matrices([3, 64]).is_some());
    /// assert!(Bound::input_2d(&tokens).rows_in_matrices([4, 64]).is_none());
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    pub fn rows_in_matrices(self, [rows, columns]: [usize; 2]) -> Option<Self> {
        let Value::Rows(all) = self.value else { return None };
        Some(Bound { value: matrices_of_rows(all, [rows as u64, columns as u64])?, padding: 0, ..self })
    }
}
